"""Decoding of boxes stays float: all between the last products and a concat at the end, or an ordering of scores.

    conv -> reshape -> softmax -> conv by 0..15 -> anchors, products with strides -> concat -> result       YOLOv8
    conv -> sigmoid -> products with anchors, strides -> concat -> topk -> gather -> result                 end to end

In 8 bits a coordinate up to 640 has steps of 2.5 pixels, and scores that TopK sorts have 256 different ones. As floats
these operators cost little: they are few values, the convolutions before give floats straight from their accumulators,
and a concat of codes would bring its parts to one scale. The mean of bins behind a softmax, a convolution with one
filter, is decoding as well: its products are hardly any work. Pools are not: they read more than they give.

Tests: tests/passes/partition/test_decoding.py
"""

from __future__ import annotations

from collections.abc import Iterable

from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import BROADCAST, GATHER, ORDER, RESHAPE, SLICE, TRANSPOSE
from tvmq.graph.view import View, op_name, sizes_of, used_vars
from tvmq.passes.families.base import Group

DECODED = "default: decoding behind the last products; as floats it costs next to nothing"
# An argmax of maps reads as many values as the network computes: resizing them in float would cost
ORDERING = where(kind=ORDER, elementwise=False, commutes_with_quantize=False) - frozenset(("argmax", "argmin"))
MOVED = where(form=(RESHAPE, TRANSPOSE, SLICE, BROADCAST, GATHER))
MEANS = ("mean", "masked_mean")
SOFTMAX = frozenset(("tvmq.softmax", "nn.softmax"))


def leave_decoding_float(view: View, groups: dict[str, Group], reasons: dict[str, str], joined: Iterable[str]) -> None:
    """Remove the groups of decoding, in place.

    joined  concats at the end of the network, which are float already
    """
    orderings = [var.name for var, value in view.bindings if op_name(value) in ORDERING]
    waiting = list(dict.fromkeys([*joined, *_concats_at_the_end(view, groups), *orderings]))
    if not waiting:
        return
    home = {member: key for key, group in groups.items() for member in (key, *group.members)}
    bins = {key for key, group in groups.items() if _is_mean_of_bins(view, group)}
    works = {key for key, group in groups.items() if group.strategy.anchor or _is_pool(view, group)}
    products = works - bins
    before = _before_products(view, home, products)
    seen = set(waiting)
    while waiting:
        for name in used_vars(view.value[waiting.pop()]):
            key = home.get(name)
            if name in seen or name not in view.value or name in before or key in products:
                continue
            seen.add(name)
            waiting.append(name)
            if key is not None and key in groups:
                reasons[groups.pop(key).root] = DECODED


def _is_pool(view: View, group: Group) -> bool:
    """True for pools and means, which read maps; the highest score of each place is no pool."""
    return "pool" in op_name(view.value[group.root]) or group.family in MEANS


def _concats_at_the_end(view: View, groups: dict[str, Group]) -> list[str]:
    """Concats that results are made of, behind moves; those with a constant part have no integer form."""
    concats = []
    for name in view.outputs:
        while op_name(view.value.get(name)) in MOVED and isinstance(view.value[name].args[0], relax.Var):
            name = view.value[name].args[0].name
        if op_name(view.value.get(name)) == "concat" and name not in groups:
            concats.append(name)
    return concats


def _before_products(view: View, home: dict[str, str], products: set[str]) -> set[str]:
    """Variables that a product reads, directly or behind other operators."""
    before: set[str] = set()
    for var, _ in reversed(view.bindings):
        if any(home.get(reader) in products or reader in before for reader in view.readers[var.name]):
            before.add(var.name)
    return before


def _is_mean_of_bins(view: View, group: Group) -> bool:
    """True for a convolution with one filter of one place that reads a softmax, or a product of one column."""
    value = view.value[group.root]
    if not group.strategy.anchor or not isinstance(value, relax.Call) or len(value.args) < 2:
        return False
    weight = sizes_of(value.args[1])
    columns = weight[-1:] if op_name(value) == "matmul" else (weight[0], *weight[2:])
    if any(size != 1 for size in columns):
        return False
    name = group.inputs[0]
    while op_name(view.value.get(name)) in MOVED and isinstance(view.value[name].args[0], relax.Var):
        name = view.value[name].args[0].name
    return op_name(view.value.get(name)) in SOFTMAX
