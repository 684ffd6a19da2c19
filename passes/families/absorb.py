"""Constants and bounds behind the root of a group that the group absorbs: a bias, a relu or clip, bounds of channels.

Tests: tests/passes/families/test_facts.py, tests/passes/test_partition.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tvm import relax

from tvmq.graph.names import merge
from tvmq.graph.view import View, const_value, is_const, op_name
from tvmq.passes.families.base import Group


def absorb_bias(view: View, name: str, is_bias: Callable[[np.ndarray], bool]) -> str | None:
    """The variable add(name, constant) if that is the only reader of `name` and the constant is a bias."""
    reader = view.only_reader(name)
    if reader is None or op_name(view.value[reader]) != "add":
        return None
    a, b = view.value[reader].args
    if is_const(a) or not is_const(b) or not is_bias(const_value(b)):
        return None
    return reader


def is_channel_constant(array: np.ndarray, rank: int, axis: int, channels: int) -> bool:
    """True for a single number, or for values that vary along `axis` of a tensor of that rank only."""
    if array.size == 1:
        return True
    expected = [1] * rank
    expected[axis] = channels
    return [1] * (rank - array.ndim) + list(array.shape) == expected


def absorb_clip(view: View, name: str) -> tuple[str, float, float] | None:
    """The relu or clip that alone reads `name`: its variable and bounds. Bounds without 0 stay a table: 0 needs
    a code."""
    reader = view.only_reader(name)
    if reader is None:
        return None
    bounds = clip_bounds(view.value[reader], op_name(view.value[reader]))
    return (reader, *bounds) if bounds and bounds[0] <= 0.0 <= bounds[1] else None


def absorb_channel_bounds(view: View, name: str, rank: int, axis: int, channels: int) -> list[str]:
    """The variables maximum(name, constant) and minimum(., constant) that each alone read the one before; a constant
    varies along the channels only and is one bound a channel."""
    readers: list[str] = []
    for wanted in ("maximum", "minimum"):
        reader = view.only_reader(readers[-1] if readers else name)
        if reader is None or op_name(view.value[reader]) != wanted:
            continue
        a, b = view.value[reader].args
        if not is_const(a) and is_const(b) and is_channel_constant(const_value(b), rank, axis, channels):
            readers.append(reader)
    return readers


def clip_bounds(call: relax.Expr, name: str) -> tuple[float, float] | None:
    """(low, high) of relu and clip (relu6 is a clip in Relax); None for other operators."""
    if name == "nn.relu":
        return 0.0, float("inf")
    if name == "clip":
        return float(call.args[1].value), float(call.args[2].value)
    return None


def group_names(view: View, group: Group) -> tuple[str, ...]:
    """Source names of all members of a group."""
    return merge(*(view.sources(name) for name in group.members))
