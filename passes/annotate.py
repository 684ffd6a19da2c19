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

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce

import numpy as np
import tvm
from tvm import relax

from tvmq.graph import ops
from tvmq.graph.ledger import Ledger, require_stage, with_ledger
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.state_pairs import state_variables
from tvmq.graph.view import View, is_const, used_vars
from tvmq.graph.walk import reachable
from tvmq.numerics.spec import QuantSpec
from tvmq.options.config import QConfig, recorded_options
from tvmq.passes.families.base import Group
from tvmq.passes.families.weights import weight_axis
from tvmq.passes.partition import integer_groups
from tvmq.passes.partition.residual_streams import int16_tensors, is_int16_residual

# kinds of readers: float operators, groups, groups of a residual stream
FLOAT, CODES, RESIDUAL = "float", "narrow", "wide"


def annotate(mod: tvm.IRModule) -> tvm.IRModule:
    """Insert simulated_quantize at activations and weights, with the specs of the configuration partition recorded."""
    ledger = require_stage(mod, "annotate", ("partitioned",))
    groups = integer_groups(ledger.layers)
    config = recorded_options(ledger.config)
    ends = [(param.name, result.name) for _, param, result in state_variables(View(mod)) if not is_const(result)]
    specs = activation_specs(ledger, groups, config, ends)
    weighted = [group for group in groups if group.strategy.has_weight(group)]
    roots = {group.root: group for group in weighted}
    int16_specs = int16_tensors(groups)
    readers = {member: RESIDUAL if is_int16_residual(group) else CODES for group in groups for member in group.members}
    rewriter = Rewriter(mod)
    readings = _Readings(rewriter, specs, int16_specs)
    states = {param for param, _ in ends}  # whose floats are codes of the last call
    for param in rewriter.params:
        readings.watch(param, param, "input", always_plain=param.name not in states)
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        readings.choose(readers.get(var.name, FLOAT), used_vars(value))
        value = rewriter.substitute(value)
        if var.name in roots:
            value = _with_weight(rewriter, ledger, roots[var.name], value, config.weight_spec)
        new = rewriter.emit(value, var.name)
        rewriter.bind(var, new)
        readings.watch(var, new, "activation", always_plain=var.name not in readers)
    readings.choose(FLOAT, rewriter.view.outputs)
    result = rewriter.finish()
    ledger.stage = "annotated"
    return with_ledger(result, ledger)


class _Readings:
    """Forms of each tensor for three kinds of readers: float operators and results, groups, groups of int16 residuals.

    A tensor that is float in the integer module too is read by float operators without rounding.
    """

    def __init__(
        self, rewriter: Rewriter, specs: Mapping[str, QuantSpec], int16_specs: Mapping[str, tuple[str, QuantSpec]]
    ) -> None:
        self._rewriter, self._specs, self._int16_specs = rewriter, specs, int16_specs
        self._known: dict[str, dict[str, relax.Var]] = {}

    def watch(self, old: relax.Var, new: relax.Var, kind: str, *, always_plain: bool) -> None:
        """`old` is now `new`, behind a simulated_quantize for those who read codes of it."""
        name, versions = old.name, {FLOAT: new}
        if name in self._int16_specs:  # first: what is there in 16 bits can be brought to 8
            tensor, spec = self._int16_specs[name]
            versions[RESIDUAL] = _watch(self._rewriter, new, name, "stream", spec, tensor=tensor)
        if name in self._specs:
            versions[CODES] = _watch(self._rewriter, new, name, kind, self._specs[name])
        if len(versions) == 1:
            return
        versions.setdefault(RESIDUAL, versions.get(CODES, new))
        if not always_plain:
            versions[FLOAT] = versions[RESIDUAL]
        self._known[name] = versions

    def choose(self, reader: str, names: Iterable[str]) -> None:
        """Bind these old variables to the versions that this kind of reader reads."""
        for name in self._known.keys() & set(names):
            versions = self._known[name]
            self._rewriter.bind(self._rewriter.view.var[name], versions.get(reader, versions[RESIDUAL]))


def activation_specs(
    ledger: Ledger, groups: list[Group], config: QConfig, states: Iterable[tuple[str, str]] = ()
) -> dict[str, QuantSpec]:
    """{tensor: spec} of all activations that need a scale of their own.

    states  (parameter, result) of what is handed to the next call
    """
    passing = {group.output: group for group in groups if group.passes}
    specs: dict[str, QuantSpec] = {}
    known: set[str] = set()  # moved tensors whose owners have a spec
    for group in groups:
        layer_specs = ledger.layers[group.output].get("specs", {})
        chosen = layer_specs.get("activations")
        spec = QuantSpec.from_dict(chosen) if chosen else config.activation_spec
        spec = _spec_of_8_bits(config) if spec.dtype == "int16" else spec
        sources = [name for name in group.inputs if not is_int16_residual(group) or _moves_8_bits(name, passing)]
        for name in owners(sources, passing, set() if chosen else known):
            if name not in specs or chosen:
                specs[name] = common_spec(spec, specs.get(name)) if layer_specs.get("described") else spec
        if group.facts.needs_output_codes and not is_int16_residual(group):
            specs.setdefault(group.output, _spec_of_8_bits(config))
    _share(specs, ledger, groups, passing, states)
    return specs


def _share(
    specs: dict[str, QuantSpec],
    ledger: Ledger,
    groups: list[Group],
    passing: Mapping[str, Group],
    states: Iterable[tuple[str, str]],
) -> None:
    """Give tensors of one scale a common spec, codes that are among those of all of them: those that a backend computes
    with one, and both ends of a state."""
    keeping = [group for group in groups if ledger.layers[group.output].get("same_scales")]
    joined = [[n for n in (*owners(group.inputs, passing, set()), group.output) if n in specs] for group in keeping]
    joined += [[n for n in owners(pair, passing, set()) if n in specs] for pair in states]
    changed = True
    while changed:  # bits become fewer each time
        changed = False
        for names in joined:
            if len({specs[name].dtype for name in names}) != 1:
                continue
            common = reduce(common_spec, (specs[name] for name in names))
            changed = changed or any(specs[name] != common for name in names)
            specs.update(dict.fromkeys(names, common))


def common_spec(spec: QuantSpec, other: QuantSpec | None) -> QuantSpec:
    """Codes that are among those of both specs: the fewer bits, symmetric if one is. Other storages do not meet.

    >>> common_spec(QuantSpec("int8", 4), QuantSpec("int8", symmetric=True))
    QuantSpec(dtype='int8', bits=4, symmetric=True, per_channel=False)
    """
    if other is None or other.dtype != spec.dtype:
        return spec
    return replace(spec, bits=min(spec.bits, other.bits), symmetric=spec.symmetric or other.symmetric)


def _spec_of_8_bits(config: QConfig) -> QuantSpec:
    """Spec of 8 bits, for tensors that are not read in 16."""
    if config.dtype_input != "int16":
        return config.activation_spec
    return QuantSpec("int8", symmetric=True) if config.scheme == "symmetric" else QuantSpec()


def _moves_8_bits(name: str, passing: Mapping[str, Group]) -> bool:
    """True for codes of 8 bits that an operator has moved; a residual stream reads them as they are."""
    return name in passing and not is_int16_residual(passing[name])


def owners(names: Iterable[str], passing: Mapping[str, Group], known: set[str]) -> list[str]:
    """The tensors whose scales these have: back through operators that only move codes, but none of `known`, which
    those met are added to."""
    met = reachable(names, lambda name: passing[name].inputs if name in passing and name not in known else ())
    known.update(name for name in met if name in passing)
    return [name for name in met if name not in passing]


def _watch(
    rewriter: Rewriter, x: relax.Expr, name: str, kind: str, spec: QuantSpec, *, tensor: str | None = None
) -> relax.Var:
    unknown, zero = relax.const(np.float32(0)), relax.const(np.int32(0))
    call = ops.simulated_quantize(
        x, unknown, zero, kind=kind, tensor=tensor or name, dtype=spec.dtype, bits=spec.bits, symmetric=spec.symmetric
    )
    return rewriter.emit(call, f"{name}_{'wide' if kind == 'stream' else 'sq'}", rewriter.view.sources(name))


def _with_weight(rewriter: Rewriter, ledger: Ledger, group: Group, value: relax.Expr, usual: QuantSpec) -> relax.Expr:
    """The root with its weight behind a simulated_quantize."""
    chosen = ledger.layers[group.output].get("specs", {}).get("weights")
    spec = QuantSpec.from_dict(chosen) if chosen else usual
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
