"""Which operators have an integer form, and the groups that they begin; what has none gets a reason.

Leaky relu inside the requantize of the convolution or product before it: one rounding instead of two.

Before                                            After
    c = conv2d(x, w) + bias                           one group, facts: negative_slope
    y = leakyrelu(c, alpha), a table of c's codes

Needs     0 <= alpha <= 1, and c read by nothing else.
Numerics  numerics.requantize with negative_slope; without this the result of c is rounded to 8 bits, then the table's.

Tests: tests/passes/partition/test_leaky_relu.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvm
from tvm import relax

from tvmq.graph.view import View, dtype_of, is_const, op_name, sizes_of
from tvmq.options.config import QConfig
from tvmq.passes import OPS, OPTIONAL, load
from tvmq.passes.extensions import families_by_operator
from tvmq.passes.families import embedding, shape, table
from tvmq.passes.families.base import Draft, Group

# Conversions of a model that is quantized already: they are no layers.
CONVERSIONS = ("tvmq.simulated_quantize", "tvmq.quantize", "tvmq.dequantize")


def find_groups(draft: Draft) -> None:
    """Groups keyed by their output, and the reasons of the operators that stay float, keyed by variable."""
    view, groups, reasons = draft.view, draft.groups, draft.reasons
    config = QConfig(operators=draft.config.operators) if draft.is_prequantized else draft.config
    owners: dict[str, str] = {}
    chains: dict[str, str] = {}
    own = families_by_operator(config.operators)
    for var, value in view.bindings:
        if var.name in owners or op_name(value) in CONVERSIONS:
            continue
        source = None if op_name(value) in own else table.function_of(value, chains, owners)
        if source is not None and _is_function(var, view.var[source]):
            chains[var.name] = source
            continue
        group = _group_of(view, var, value, config, own)
        if isinstance(group, str):
            reasons[var.name] = group
            continue
        for member in group.members:  # sums in front of a softmax, which are there before it
            reasons.pop(member, None)
            if member in groups and set(groups[member].members) <= set(group.members):
                del groups[member]
        groups[group.output] = group
        owners.update(dict.fromkeys(group.members, group.output))
    for name in chains:
        if name not in owners and not table.is_internal(view, name, chains):
            groups[name] = table.FAMILY.chain_group(view, name, chains, owners)


def _is_function(result: relax.Var, source: relax.Var) -> bool:
    """True for a result of the shape of its source, which must be float32."""
    return dtype_of(source) == "float32" and sizes_of(result) == sizes_of(source)


def _group_of(view: View, var: relax.Var, value: relax.Expr, config: QConfig, own: Mapping[str, Any]) -> Group | str:
    if isinstance(value, relax.TupleGetItem):
        return Group(shape.FAMILY.name, var.name, [var.name], [value.tuple_value.name], passes=True)
    name = op_name(value)
    if name not in own and name not in OPS:
        return f"limit: {name or 'this expression'} has no integer form"
    if name not in own and not getattr(config, OPTIONAL.get(name, ""), True):
        return f"default: its integer form is asked for by {OPTIONAL[name]}=True"
    if _is_empty(var) or any(map(_is_empty, value.args)):
        return "limit: a tensor without values"
    # a condition comes before what it chooses from, a constant before what is subtracted from it
    second = name == "where" or (name in ("subtract", "divide") and is_const(value.args[0]))
    data = value.args[1 if second else 0]
    if isinstance(data.ty, relax.TensorType) and dtype_of(data) != "float32":
        return f"limit: the input is {dtype_of(data)}, not float32"
    if name in own:
        return own[name].group(view, var, value)
    if is_const(data) and name == "take":
        return embedding.FAMILY.group(view, var, value)
    if is_const(data) and name != "where":
        return "limit: the input is a constant"
    return load(OPS[name]).group(view, var, value)


def _is_empty(expr: relax.Expr) -> bool:
    """True for a tensor of which a dimension is 0."""
    shape = getattr(expr.ty, "shape", None) if isinstance(expr.ty, relax.TensorType) else None
    return any(isinstance(dim, tvm.tirx.IntImm) and int(dim) == 0 for dim in shape or ())


def absorb_slopes(draft: Draft) -> None:
    """Join each group of one leaky relu to the group it reads; only requantize in floats has slopes."""
    view, groups = draft.view, draft.groups
    if draft.config.requantize != "float":
        return
    for name, group in list(groups.items()):
        slope = group.strategy.slope(view, group)
        source = groups.get(group.inputs[0]) if slope is not None else None
        if source is None or not source.strategy.weighted or not _is_plain(view, source):
            continue
        del groups[source.output]
        source.members.append(name)
        source.facts.negative_slope = slope
        groups[name] = source


def _is_plain(view: View, source: Group) -> bool:
    """True if nothing but one variable reads the sums, and no clip or slope follows them yet."""
    facts = source.facts
    unbounded = not facts.is_bounded and not facts.bounds and facts.negative_slope is None
    return unbounded and view.only_reader(source.output) is not None
