"""Softmax in integers, straight from the accumulators of the product before it: qconfig(integer_softmax=True).

Before                                            After
    m = matmul(sq(x), sq(y))                          a = tvmq.matmul(x, y) in int32
    b = add(m, mask)                                  b = tvmq.add_mask(a, mask)
    s = softmax(b)                                    s = tvmq.integer_softmax(b), codes

Between them may stand sums with constants and masks (masks.py), and where(condition, scores, number): all in the steps
of the accumulators. Scores that are no product of two activations are read as int16 codes. A softmax whose codes nobody
reads gives int16 codes of 1 / 32767.
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
from tvmq.graph.view import View, const_value, is_const, op_name, sizes_of
from tvmq.numerics.add_mask import LARGEST_STEP
from tvmq.numerics.integer_softmax import LONGEST_ROW
from tvmq.numerics.spec import QParams, QuantSpec
from tvmq.passes.families.absorb import group_names
from tvmq.passes.families.base import Codes, Family, Group, Realizer, fact_field
from tvmq.passes.families.masks import Mask, MaskFacts, emit_mask, find_mask

# all of 0..1, where no calibrated range says which part of it occurs
WHOLE = QParams(np.asarray(1 / 32767, np.float32), np.zeros((), np.int32), QuantSpec("int16", 16, symmetric=True))


@dataclass
class SoftmaxFacts(MaskFacts):
    """links: what is between the scores and the softmax; scores: the variable whose sums are read, instead of codes."""

    links: list[str] = field(default_factory=list, metadata={"written": True})
    masks: dict[str, Any] = field(default_factory=dict, metadata={"written": True})
    axis: int = fact_field(-1)
    scores: str | None = None


class IntegerSoftmax(Family):
    """Softmax straight from the accumulators of the product before it."""

    name, facts_type = "integer_softmax", SoftmaxFacts

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A softmax, with the sums and choices between it and its scores."""
        axis = int(value.attrs.axis)
        length = sizes_of(value.args[0])[axis]
        if not isinstance(length, str) and length > LONGEST_ROW:
            return f"limit: a softmax of {length} values, integer_softmax takes {LONGEST_ROW}"
        links, scores = _links(view, value.args[0].name)
        masks = {link: mask for link in links if (mask := _mask_of(view, link)) is not None}
        facts = SoftmaxFacts(links=links, masks=masks, axis=axis)
        return Group(self.name, var.name, [*links, var.name], [scores], facts=facts)

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit what is added to the scores, and the softmax."""
        scores, scale = _scores(realizer, group)
        for link in group.facts.links:
            mask = group.facts.masks.get(link)
            if mask is not None:
                scores = _add_scaled_mask(realizer, link, scores, scale, mask)
            else:
                scores = _apply_link(realizer, link, scores, scale)
        y = realizer.output_qparams(group) or WHOLE
        params = numerics.integer_softmax_params(scale, float(y.scale))
        length = sizes_of(scores)[group.facts.axis]
        if isinstance(length, str):
            realizer.note(group, most={length: LONGEST_ROW})
        call = ops.integer_softmax(
            scores,
            **params._asdict(),
            zero_point=int(y.zero_point),
            dtype=y.spec.dtype,
            qmin=y.spec.qmin,
            qmax=y.spec.qmax,
            axis=group.facts.axis,
        )
        return Codes(realizer.emit(call, group.output), y)

    def settle(self, view: View, group: Group, groups: Mapping[str, Group]) -> None:
        """Scores that are sums need no codes of their own; others are read as int16 codes."""
        source = groups.get(group.inputs[0])
        if source is not None and source.strategy.gives_sums(source):
            group.facts.scores, group.inputs = group.inputs[0], []
        else:
            group.facts.stream = True


def _scores(realizer: Realizer, group: Group) -> tuple[relax.Var, float]:
    """Accumulators and their scale, or int16 codes and theirs; int32 where something is added to them."""
    if not group.inputs:
        accumulators = realizer.accumulators(group.facts.scores)
        if accumulators is None:
            where = ", ".join(group_names(realizer.view, group))
            raise StageError(f"realize, integer_softmax '{where}': its scores have no accumulators; keep it in float")
        return accumulators
    codes = realizer.codes(group.inputs[0])
    if not group.facts.links:
        return codes.var, float(codes.scale)
    return realizer.emit(relax.op.astype(codes.var, "int32"), f"{group.root}_scores"), float(codes.scale)


def _links(view: View, name: str) -> tuple[list[str], str]:
    """(variables between the scores and the softmax in order, variable of the scores)."""
    links: list[str] = []
    while True:
        scores = _scores_of(view, name) if view.only_reader(name) else None
        if scores is None:
            return links[::-1], name
        links.append(name)
        name = scores


def _scores_of(view: View, name: str) -> str | None:
    """The scores that a sum or choice changes, None if it is none that we know."""
    value = view.value.get(name)
    op = op_name(value) if value is not None else ""
    if op not in ("add", "where"):
        return None
    assert value is not None
    parts = [arg for arg in value.args[-2:] if not _is_mask(view, arg, whole=op == "add")]
    if len(parts) != 1 or sizes_of(parts[0]) != sizes_of(view.var[name]):
        return None
    return str(parts[0].name)


def _is_mask(view: View, arg: relax.Expr, *, whole: bool) -> bool:
    """True for a constant (one number unless `whole`), and for a mask where `whole`."""
    if is_const(arg):
        array = const_value(arg)
        return bool(array.dtype.kind == "f" and not np.isnan(array).any() and (whole or array.size == 1))
    return whole and find_mask(view, arg.name) is not None


def _mask_of(view: View, link: str) -> Mask | None:
    """The mask that a sum adds; None for constants and choices."""
    if op_name(view.value[link]) != "add":
        return None
    masks = [find_mask(view, arg.name) for arg in view.value[link].args if isinstance(arg, relax.Var)]
    return next((mask for mask in masks if mask is not None), None)


def _apply_link(realizer: Realizer, link: str, scores: relax.Var, scale: float) -> relax.Var:
    """The scores behind a sum with a constant, or a choice, int32 in the same steps."""
    value = realizer.view.value[link]
    if op_name(value) == "where":
        sides = [relax.const(_steps(const_value(arg), scale)) if is_const(arg) else scores for arg in value.args[1:]]
        return realizer.emit(relax.op.where(realizer.substitute(value.args[0]), *sides), link)
    added = next(const_value(arg) for arg in value.args if is_const(arg))
    return realizer.emit(ops.add_mask(scores, relax.const(_steps(added, scale)), multiplier=1, offset=0), link)


def _add_scaled_mask(realizer: Realizer, link: str, scores: relax.Var, scale: float, mask: Mask) -> relax.Var:
    """The scores plus a mask, int32 in the same steps."""
    factor, summand = (numerics.mask_steps(number, scale) for number in (mask.factor, mask.summand))
    added = emit_mask(realizer, mask, link)
    return realizer.emit(ops.add_mask(scores, added, multiplier=factor, offset=summand), link)


def _steps(array: np.ndarray, scale: float) -> np.ndarray:
    """A constant in steps of the scores, at most 2^30 of either sign."""
    with np.errstate(over="ignore"):
        steps = np.rint(array.astype(np.float64) / scale)
    return np.clip(steps, -LARGEST_STEP, LARGEST_STEP).astype(np.int32)


FAMILY = IntegerSoftmax()
