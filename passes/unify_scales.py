"""Give the parts of a concat one scale, so that the concat only copies codes; the sides of a maximum or where, too.

A state has one scale where it is read and where it is given, so that its codes pass from call to call.
What a backend computes with one scale (ledger: "same_scales" of a layer) gets it: inputs and result share their range.

Before                                            After
    x_sq = simulated_quantize(x, tensor="x")          x_sq = simulated_quantize(x, tensor="c")
    y_sq = simulated_quantize(y, tensor="y")          y_sq = simulated_quantize(y, tensor="c")
    c = concat((x_sq, y_sq))                          c = concat((x_sq, y_sq))

Needs     an annotated module.
Leaves    a part that others read as well: the ledger lists it (facts "shared" of the concat, beside the name of
          its "scale"); calibrate lets it keep a scale of its own where the common one would cost it more than
          0.5 dB, and realize rescales its copy.
Numerics  nothing changes here: tensors of one name share their statistics and so their scale.
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq.graph import ops
from tvmq.graph.ledger import require_stage, with_ledger
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.state_pairs import state_variables
from tvmq.graph.view import View, is_const, op_name
from tvmq.passes.families.base import Group
from tvmq.passes.partition import integer_groups


def unify_scales(mod: tvm.IRModule) -> tvm.IRModule:
    """Give the parts of a concat one scale; the sides of a maximum or where, too."""
    ledger = require_stage(mod, "unify_scales", ("annotated",))
    view = View(mod)
    groups = {group.output: group for group in integer_groups(ledger.layers)}
    union = _Union()
    for group in groups.values():
        if not group.joins:
            continue
        sources = {name: _scale_of(name, groups) for name in group.inputs}
        shared = sorted({s for s in sources.values() if _has_other_readers(view, s, groups, group)})
        ledger.layers[group.output]["facts"]["shared"] = shared
        for source in sources.values():
            if source not in shared:
                union.join(group.output, source)
    for group in groups.values():
        if ledger.layers[group.output].get("same_scales"):
            for name in group.inputs:
                union.join(group.output, _scale_of(name, groups))
    for _, param, result in state_variables(view):
        if not is_const(result):
            union.join(_scale_of(_skip_rounding(view, result.name), groups), param.name)
    for name, group in groups.items():
        if group.joins:
            ledger.layers[name]["facts"]["scale"] = union.find(name)
    renamed = {name: union.find(name) for name in union.members()}

    def visit(_rewriter: Rewriter, _var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        if op_name(value) != "tvmq.simulated_quantize" or value.attrs.tensor not in renamed:
            return None
        return _with_tensor(value, renamed[value.attrs.tensor])

    return with_ledger(rewrite(mod, visit), ledger)


def _skip_rounding(view: View, name: str) -> str:
    """The tensor behind a simulated_quantize; of others the tensor itself."""
    value = view.value.get(name)
    if value is None or op_name(value) != "tvmq.simulated_quantize":
        return name
    return str(value.args[0].name)


def _scale_of(name: str, groups: dict[str, Group]) -> str:
    """The tensor whose scale `name` has: back through operators that only move codes; a concat stands for itself."""
    while name in groups and groups[name].passes and not groups[name].joins:
        name = groups[name].inputs[0]
    return name


def _has_other_readers(view: View, source: str, groups: dict[str, Group], concat: Group) -> bool:
    """True if the codes of `source` reach anything but this concat."""
    waiting = [source]
    while waiting:
        moved = _code_movers(view, waiting.pop(), groups, concat)
        if moved is None:
            return True
        waiting += moved
    return False


def _code_movers(view: View, source: str, groups: dict[str, Group], concat: Group) -> list[str] | None:
    """Operators that move the codes of `source`; None if anything else but this concat reads them."""
    watched = [r for r in view.readers[source] if op_name(view.value[r]) == "tvmq.simulated_quantize"]
    readers = [r for w in watched or [source] for r in view.readers[w] if r not in watched]
    if any(view.is_output(name) for name in (*watched, source)):
        return None
    movers: list[str] = []
    for reader in readers:
        if reader == concat.output:
            continue
        moved = groups.get(reader)
        if moved is None or not moved.passes or moved.joins:
            return None
        movers.append(reader)
    return movers


def _with_tensor(call: relax.Call, tensor: str) -> relax.Call:
    attrs = call.attrs
    return ops.simulated_quantize(
        *call.args,
        kind=attrs.kind,
        tensor=tensor,
        dtype=attrs.dtype,
        bits=attrs.bits,
        symmetric=attrs.symmetric,
        axis=attrs.axis,
    )


class _Union:
    """Which tensors share a scale: union-find, the smallest insertion order names the set."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def find(self, name: str) -> str:
        self._parent.setdefault(name, name)
        while self._parent[name] != name:  # the way becomes half as long
            name = self._parent[name] = self._parent[self._parent[name]]
        return name

    def join(self, a: str, b: str) -> None:
        self._parent[self.find(b)] = self.find(a)

    def members(self) -> list[str]:
        return list(self._parent)
