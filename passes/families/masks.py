"""Attention masks as integers: a float function of an integer tensor that is linear and moves values.

m = astype(mask, "float32")                   m stays integers: expand_dims(mask)
m = multiply(1 - expand_dims(m), -10000)      facts: 10000 * mask - 10000
w = where(condition, -inf, 0)                 astype(condition, "int32"), and -inf * w + 0

Tests: tests/passes/families/test_integer_softmax.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import BROADCAST, RESHAPE, TRANSPOSE
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, sizes_of
from tvmq.passes.families.base import Draft, Facts, Group, Realizer

MOVES = where(form=(RESHAPE, TRANSPOSE, BROADCAST))
# what stands for infinity, so that sums of real numbers stay numbers
LARGEST = 1e38


@dataclass
class Mask:
    """The real values factor * source + summand of an integer or boolean tensor.

    source    variable of integers or booleans
    moves     variables of the operators that move its values, in order
    chain     variables of all that is computed in float
    """

    source: str
    factor: float = 1.0
    summand: float = 0.0
    moves: list[str] = field(default_factory=list)
    chain: list[str] = field(default_factory=list)


@dataclass
class MaskFacts(Facts):
    """Facts of a group that reads masks, {member: mask}."""

    def __post_init__(self) -> None:
        known: dict[str, Mask | dict[str, Any]] = self.masks
        self.masks: dict[str, Any] = {
            link: mask if isinstance(mask, Mask) else Mask(**mask) for link, mask in known.items()
        }


def find_mask(view: View, name: str) -> Mask | None:
    """The mask that a float variable is; None if it is none."""
    links: list[str] = []
    mask: Mask | None = None
    while (value := view.value.get(name)) is not None:
        op = op_name(value)
        if op in ("astype", "where"):
            mask = _source(value.args[0], name) if op == "astype" else _choice(value, name)
            break
        before = value.args[0] if op in MOVES else _linear_argument(op, value)
        if before is None:
            return None
        links.append(name)
        name = before.name
    for link in reversed(links):
        mask = _extend_mask(view, mask, link)
    return mask


def _extend_mask(view: View, mask: Mask | None, link: str) -> Mask | None:
    """The mask behind one more operator that moves it or computes a linear function of it."""
    if mask is None:
        return None
    value = view.value[link]
    if op_name(value) in MOVES:
        mask.moves.append(link)
    elif not _apply_linear(mask, op_name(value), value):
        return None
    mask.chain.append(link)
    return mask


def _source(arg: relax.Expr, name: str) -> Mask | None:
    integer = isinstance(arg, relax.Var) and (dtype_of(arg) == "bool" or "int" in dtype_of(arg))
    return Mask(arg.name, chain=[name]) if integer else None


def _choice(value: relax.Call, name: str) -> Mask | None:
    """where(condition, a, b) of numbers."""
    condition, *sides = value.args
    if not isinstance(condition, relax.Var) or not all(is_const(s) and const_value(s).size == 1 for s in sides):
        return None
    if sizes_of(value) != sizes_of(condition):  # numbers of shape (1, 1, 1) add axes, which `moves` would not tell
        return None
    a, b = map(_number, sides)
    return Mask(condition.name, a - b, b, chain=[name])


def _linear_argument(op: str, value: relax.Expr) -> relax.Var | None:
    """The tensor of a sum, difference, product or quotient with a number; None for anything else."""
    if op not in ("add", "subtract", "multiply", "divide", "negative"):
        return None
    assert isinstance(value, relax.Call)
    variables = [arg for arg in value.args if isinstance(arg, relax.Var)]
    numbers = sum(is_const(arg) and const_value(arg).size == 1 for arg in value.args)
    if len(variables) != 1 or numbers + 1 != len(value.args) or sizes_of(value) != sizes_of(variables[0]):
        return None
    return variables[0]


def _apply_linear(mask: Mask, op: str, value: relax.Call) -> bool:
    """Change a mask to its sum, difference, product or quotient with a number; False if that is no mask."""
    numbers = [_number(arg) for arg in value.args if is_const(arg)]
    first = is_const(value.args[0])
    number = numbers[0] if numbers else -1.0
    if op == "divide" and (first or number == 0):
        return False
    factor = {"multiply": number, "negative": -1.0, "divide": 1 / number if number else 0.0}.get(op, 1.0)
    if op == "subtract":
        factor, number = (-1.0, number) if first else (1.0, -number)
    summand = number if op in ("add", "subtract") else 0.0
    mask.factor, mask.summand = _clip_finite(mask.factor * factor), _clip_finite(mask.summand * factor + summand)
    return True


def _number(arg: relax.Expr) -> float:
    return _clip_finite(float(const_value(arg).reshape(())))


def _clip_finite(value: float) -> float:
    return float(np.clip(np.nan_to_num(value, nan=0.0), -LARGEST, LARGEST))


def emit_mask(realizer: Realizer, mask: Mask, name: str) -> relax.Expr:
    """The integers of a mask in the integer module, moved as its floats were."""
    value = realizer.substitute(realizer.view.var[mask.source])
    if dtype_of(value) == "bool":
        value = realizer.emit(relax.op.astype(value, "int32"), f"{name}_mask")
    for move in mask.moves:
        call = realizer.view.value[move]
        rest = [realizer.substitute(arg) for arg in call.args[1:]]
        value = realizer.emit(relax.Call(call.op, [value, *rest], call.attrs, call.ty_args), f"{move}_mask")
    return value


def absorb_masks(draft: Draft) -> None:
    """Give what computes masks in float, and what nothing else reads, to the first group that has it as integers.

    Groups say in their facts "masks" which of their members reads which mask.
    """
    groups, place = draft.groups, draft.view.place
    unread = _unread_floats(draft.view, groups, place)
    for group in list(groups.values()):
        chains = {name for mask in group.facts.masks.values() for name in mask.chain}
        owned = chains & unread
        unread -= owned
        group.members = [*sorted(owned, key=place.__getitem__), *group.members]
        for name in owned:
            draft.reasons.pop(name, None)
            groups.pop(name, None)


def _unread_floats(view: View, groups: Mapping[str, Group], place: Mapping[str, int]) -> set[str]:
    """Float variables of the masks that nothing would read once the masks are integers."""
    masks = {link: mask for group in groups.values() for link, mask in group.facts.masks.items()}
    unread: set[str] = set()
    for name in sorted({name for mask in masks.values() for name in mask.chain}, key=place.__getitem__, reverse=True):
        if not view.is_output(name) and set(view.readers[name]) <= unread | set(masks):
            unread.add(name)
    return unread
