"""Mean over the tokens that a mask keeps, of the int16 codes of a residual stream: what follows a text encoder.

Before                                            After
    p = multiply(x, float(mask))                      d = tvmq.masked_mean(x, mask), int16 codes
    s = sum(p, axis=1)
    c = sum(float(mask), axis=1)
    d = divide(s, c)

Between the count and the division may stand a clip from below, at most by 1. The mask is a matrix (samples, tokens) of
integers, 0 and 1 (masks.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.errors import StageError
from tvmq.graph import ops
from tvmq.graph.view import View, const_value, is_const, op_name, sizes_of
from tvmq.numerics.masked_mean import LONGEST
from tvmq.passes.families.absorb import group_names
from tvmq.passes.families.base import Codes, Draft, Family, Group, Realizer, fact_field
from tvmq.passes.families.masks import Mask, MaskFacts, emit_mask, find_mask

AXIS = 1


@dataclass
class MaskedMeanFacts(MaskFacts):
    """The variable of the product of tensor and mask."""

    stream: bool = fact_field(True)
    needs_output_codes: bool = fact_field(True)
    product: str = ""
    masks: dict[str, Any] = field(default_factory=dict)


class MaskedMean(Family):
    """Mean over the tokens that a mask keeps; `join_means` finds the groups."""

    name, facts_type = "masked_mean", MaskedMeanFacts

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit one tvmq.masked_mean."""
        x, y = realizer.codes(group.inputs[0]), realizer.output_qparams(group)
        if y is None:
            where = ", ".join(group_names(realizer.view, group))
            raise StageError(
                f"realize, masked_mean '{where}': its result carries no scale; was the module annotated here?"
            )
        mask = emit_mask(realizer, group.facts.masks[group.facts.product], group.root)
        factor = np.float64(x.scale) / np.float64(y.scale)
        multiplier, shift = numerics.fixed_point_parameters(factor)
        length = sizes_of(x.var)[AXIS]
        if isinstance(length, str):
            realizer.note(group, most={length: LONGEST})
        call = ops.masked_mean(
            x.var,
            mask,
            axis=AXIS,
            multiplier=int(multiplier),
            shift=int(shift),
            x_zero=x.zero_point,
            zero_point=int(y.zero_point),
            dtype=y.spec.dtype,
            qmin=y.spec.qmin,
            qmax=y.spec.qmax,
        )
        return Codes(realizer.emit(call, group.output), y)


def join_means(draft: Draft) -> None:
    """Make groups of masked means, in place; the groups and reasons of their operators are removed."""
    for var, value in draft.view.bindings if draft.has_residuals else ():
        group = _group(draft.view, var.name, value) if op_name(value) == "divide" else None
        if group is None:
            continue
        for name in group.members:
            draft.reasons.pop(name, None)
            draft.groups.pop(name, None)
        draft.groups[var.name] = group


def _group(view: View, name: str, value: relax.Call) -> Group | None:
    """The masked mean that a quotient is; None for all else."""
    if any(map(is_const, value.args)):
        return None
    total, count = (arg.name for arg in value.args)
    product = _sum_operand(view, total)
    members = _count(view, count)
    if product is None or members is None or view.only_reader(product) is None or view.only_reader(total) is None:
        return None
    sides = _sides(view, product)
    kept = _mask(view, view.value[members[0]].args[0].name)
    if sides is None or kept is None or sides[1].source != kept.source:
        return None
    x, mask = sides
    shape = sizes_of(view.var[x])
    if len(shape) != 3 or sizes_of(view.var[mask.source]) != shape[:2] or _is_too_long(shape[AXIS]):
        return None
    if not sizes_of(view.var[total]) == sizes_of(value) == (shape[0], shape[2]) or len(sizes_of(view.var[count])) != 2:
        return None  # a kept axis, or counts along the channels
    facts = MaskedMeanFacts(product=product, masks={product: mask, members[0]: kept})
    return Group(FAMILY.name, name, [product, total, *members, name], [x], facts=facts)


def _is_too_long(length: int | str) -> bool:
    return not isinstance(length, str) and length > LONGEST


def _sum_operand(view: View, name: str) -> str | None:
    """Name of the tensor that a sum over the tokens adds up."""
    value = view.value.get(name)
    if (
        value is None
        or op_name(value) != "sum"
        or value.attrs.axis is None
        or [int(a) for a in value.attrs.axis] != [AXIS]
    ):
        return None
    return str(value.args[0].name) if isinstance(value.args[0], relax.Var) else None


def _count(view: View, name: str) -> list[str] | None:
    """The variables of a count, the sum first: with a clip behind it, or without."""
    value, members = view.value.get(name), [name]
    if op_name(value) in ("clip", "maximum") and view.only_reader(name) is not None:
        assert isinstance(value, relax.Call)
        least, *most = (_largest_bound(arg) for arg in value.args[1:])
        if least is None or not 0 <= least <= 1 or any(bound is None or bound < LONGEST for bound in most):
            return None
        members = [value.args[0].name, name]
    read = all(view.only_reader(member) is not None for member in members)
    return members if read and _sum_operand(view, members[0]) is not None else None


def _largest_bound(arg: relax.Expr) -> float | None:
    """The largest number of a bound; None if it is no constant."""
    if is_const(arg):
        return float(const_value(arg).max())
    number = getattr(arg, "value", None)
    return None if number is None else float(number)


def _sides(view: View, product: str) -> tuple[str, Mask] | None:
    """(tensor, mask) of a product of both."""
    value = view.value.get(product)
    if value is None or op_name(value) != "multiply" or any(map(is_const, value.args)):
        return None
    for x, other in (value.args, value.args[::-1]):
        mask = _mask(view, other.name)
        if mask is not None and sizes_of(x) == sizes_of(value):
            return str(x.name), mask
    return None


def _mask(view: View, name: str) -> Mask | None:
    """A mask of plain values whose first axes are samples and tokens."""
    mask = find_mask(view, name)
    if mask is None or (mask.factor, mask.summand) != (1.0, 0.0):
        return None
    rows = sizes_of(view.var[mask.source])
    moved = [sizes_of(view.var[move])[: len(rows)] == rows for move in mask.moves]
    plain = all(op_name(view.value[move]) in ("expand_dims", "reshape", "broadcast_to") for move in mask.moves)
    return mask if plain and all(moved) and len(rows) == 2 else None


FAMILY = MaskedMean()
