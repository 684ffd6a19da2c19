"""Insert simulated_quantize where the integer module will hold codes: at activations and at weights.

Before                                            After
    c = conv2d(x, w)                                  x_sq = simulated_quantize(x, 0, 0, kind="input")
    r = relu(c)                                       w_sq = simulated_quantize(w, 0, 0, kind="weight", axis=0)
    d = conv2d(r, w2)                                 c = conv2d(x_sq, w_sq)
                                                      r = relu(c)
                                                      r_sq = simulated_quantize(r, 0, 0, kind="activation")
                                                      d = conv2d(r_sq, ...)

Needs     a partitioned module.
Leaves    operators that move codes (pooling by maximum, reshapes, concat): their results need no scale of their own.
Numerics  nothing changes: an uncalibrated simulated_quantize (scale 0) is the identity.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tvm
from tvm import relax

from tvmq.config import QConfig
from tvmq.graph import ops
from tvmq.graph.ledger import Ledger, require_stage, with_ledger
from tvmq.graph.rewrite import Rewriter
from tvmq.passes.ops.base import Group
from tvmq.passes.ops.weights import weight_axis
from tvmq.passes.partition import SEEDS, integer_groups
from tvmq.spec import QuantSpec


def annotate(mod: tvm.IRModule) -> tvm.IRModule:
    """See the head of this file; specs come from the configuration that partition recorded."""
    ledger = require_stage(mod, "annotate", ("partitioned",))
    groups = integer_groups(ledger.layers)
    specs = activation_specs(ledger, groups)
    weighted = [group for group in groups if group.family in SEEDS and group.facts.get("weight", True)]
    roots = {group.root: group for group in weighted}
    integer = {member for group in groups for member in group.members}
    rewriter = Rewriter(mod)
    floats = _Floats(rewriter)
    for param in rewriter.params:
        if param.name in specs:
            floats.add(param, param, _watch(rewriter, param, param.name, "input", specs[param.name]))
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        floats.choose(rounded=var.name in integer)
        value = rewriter.substitute(value)
        if var.name in roots:
            value = _with_weight(rewriter, ledger, roots[var.name], value)
        new = rewriter.emit(value, var.name)
        rewriter.bind(var, new)
        if var.name in specs:
            rounded = _watch(rewriter, new, var.name, "activation", specs[var.name])
            rewriter.bind(var, rounded)
            if var.name not in integer:
                floats.add(var, new, rounded)
    floats.choose(rounded=False)
    result = rewriter.finish()
    ledger.stage = "annotated"
    return with_ledger(result, ledger)


class _Floats:
    """Tensors that are floats in the integer module too: float operators and results read them without rounding."""

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self._known: list[tuple[relax.Var, relax.Var, relax.Var]] = []

    def add(self, old: relax.Var, plain: relax.Var, rounded: relax.Var) -> None:
        """`old` is now `plain`, and `rounded` behind its simulated_quantize."""
        self._known.append((old, plain, rounded))

    def choose(self, *, rounded: bool) -> None:
        """From now on the old variables mean the rounded tensors, or the plain ones."""
        for old, plain, watched in self._known:
            self._rewriter.bind(old, watched if rounded else plain)


def activation_specs(ledger: Ledger, groups: list[Group]) -> dict[str, QuantSpec]:
    """{tensor: spec} of all activations that need a scale of their own."""
    config = QConfig.from_dict({**ledger.config, "rules": []})
    passing = {group.output: group for group in groups if group.passes}
    specs: dict[str, QuantSpec] = {}
    for group in groups:
        chosen = ledger.layers[group.output].get("specs", {}).get("activations")
        spec = QuantSpec.from_dict(chosen) if chosen else config.activation_spec
        for name in [owner for source in group.inputs for owner in _owners(source, passing)]:
            if name not in specs or chosen:
                specs[name] = spec
        if group.facts.get("needs_output_codes"):
            specs.setdefault(group.output, config.activation_spec)
    return specs


def _owners(name: str, passing: Mapping[str, Group]) -> list[str]:
    """The tensors whose scales `name` has: back through operators that only move codes."""
    if name not in passing:
        return [name]
    return [owner for source in passing[name].inputs for owner in _owners(source, passing)]


def _watch(rewriter: Rewriter, x: relax.Expr, name: str, kind: str, spec: QuantSpec) -> relax.Var:
    unknown, zero = relax.const(np.float32(0)), relax.const(np.int32(0))
    call = ops.simulated_quantize(
        x, unknown, zero, kind=kind, tensor=name, dtype=spec.dtype, bits=spec.bits, symmetric=spec.symmetric
    )
    return rewriter.emit(call, f"{name}_sq", rewriter.view.sources(name))


def _with_weight(rewriter: Rewriter, ledger: Ledger, group: Group, value: relax.Expr) -> relax.Expr:
    """The root with its weight behind a simulated_quantize."""
    config = QConfig.from_dict({**ledger.config, "rules": []})
    chosen = ledger.layers[group.output].get("specs", {}).get("weights")
    spec = QuantSpec.from_dict(chosen) if chosen else config.weight_spec
    data, weight, *rest = value.args
    axis = weight_axis(value) if spec.per_channel else -1
    shape = (int(weight.ty.shape[axis]),) if spec.per_channel else ()
    call = ops.simulated_quantize(
        weight,
        relax.const(np.zeros(shape, np.float32)),
        relax.const(np.zeros(shape, np.int32)),
        kind="weight",
        tensor=f"{group.root}_weight",
        dtype=spec.dtype,
        bits=spec.bits,
        symmetric=spec.symmetric,
        axis=axis,
    )
    watched = rewriter.emit(call, f"{group.root}_weight_sq")
    return relax.Call(value.op, [data, watched, *rest], value.attrs, value.ty_args, value.span)
