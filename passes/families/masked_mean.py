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

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.errors import StageError
from tvmq.graph import ops
from tvmq.graph.patterns.matching import find_matches
from tvmq.graph.patterns.pattern import read_pattern
from tvmq.graph.view import View, const_value, is_const, op_name, sizes_of
from tvmq.numerics.masked_mean import LONGEST
from tvmq.passes.families.absorb import group_names
from tvmq.passes.families.base import Codes, Draft, Family, Group, Realizer, fact_field
from tvmq.passes.families.masks import Mask, MaskFacts, emit_mask, find_mask

AXIS = 1
MEAN = read_pattern(
    """mean := divide(total := sum(product := multiply(x, mask), axis=[1]),
        (count := sum(kept, axis=[1])) | (bounded := (clip | maximum)(count)))""",
    "masked mean",
)


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
        group = _group(draft.view, var.name) if op_name(value) == "divide" else None
        if group is None:
            continue
        for name in group.members:
            draft.reasons.pop(name, None)
            draft.groups.pop(name, None)
        draft.groups[var.name] = group


def _group(view: View, name: str) -> Group | None:
    """The masked mean that a quotient is; None for all else."""
    for parts, members in find_matches(view, MEAN, view.var[name]):
        mask, kept = (_mask(view, parts[part]) for part in ("mask", "kept"))
        if mask is None or kept is None or mask.source != kept.source or not _has_shapes(view, parts, mask):
            continue
        if all(map(view.only_reader, members[:-1])) and _is_at_least(view.producer(parts.get("bounded"))):
            product, count = parts["product"].name, parts["count"].name
            facts = MaskedMeanFacts(product=product, masks={product: mask, count: kept})
            return Group(FAMILY.name, name, members, [parts["x"].name], facts=facts)
    return None


def _has_shapes(view: View, parts: Mapping[str, relax.Expr], mask: Mask) -> bool:
    """True for a mask of samples and tokens, and sums that do not keep the axis of the tokens."""
    shape = sizes_of(parts["x"])
    if len(shape) != 3 or is_const(parts["x"]) or sizes_of(parts["product"]) != shape:
        return False
    tokens = shape[AXIS]
    if sizes_of(view.var[mask.source]) != shape[:2] or (isinstance(tokens, int) and tokens > LONGEST):
        return False
    wanted = (shape[0], shape[2])
    return sizes_of(parts["total"]) == sizes_of(parts["mean"]) == wanted and len(sizes_of(parts["count"])) == 2


def _is_at_least(bounded: relax.Expr | None) -> bool:
    """True for a count that nothing bounds, or that is bounded by at most 1 from below."""
    if bounded is None:
        return True
    least, *most = (_largest_bound(arg) for arg in bounded.args[1:])
    return least is not None and 0 <= least <= 1 and all(bound is not None and bound >= LONGEST for bound in most)


def _largest_bound(arg: relax.Expr) -> float | None:
    """The largest number of a bound; None if it is no constant."""
    if is_const(arg):
        return float(const_value(arg).max())
    number = getattr(arg, "value", None)
    return None if number is None else float(number)


def _mask(view: View, expr: relax.Expr) -> Mask | None:
    """A mask of plain values whose first axes are samples and tokens."""
    mask = find_mask(view, expr.name) if isinstance(expr, relax.Var) else None
    if mask is None or (mask.factor, mask.summand) != (1.0, 0.0):
        return None
    rows = sizes_of(view.var[mask.source])
    moved = [sizes_of(view.var[move])[: len(rows)] == rows for move in mask.moves]
    plain = all(op_name(view.value[move]) in ("expand_dims", "reshape", "broadcast_to") for move in mask.moves)
    return mask if plain and all(moved) and len(rows) == 2 else None


FAMILY = MaskedMean()
