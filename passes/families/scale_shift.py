"""Constants that vary over a tensor, multiplied and added in integers; absorbs a chain of them, and relu and clip.

Before                                            After
    m = multiply(sq(x), scale)                        r = tvmq.scale_shift(x, multipliers, offsets, shift)
    a = add(m, shift)                                 (bounds of the codes from the relu)
    r = relu(a)

A batch norm behind no convolution is such a chain, positional embeddings and scales of layers are; so are differences
with and quotients by constants. Functions of single numbers are tables instead (table.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.errors import StageError
from tvmq.graph import ops
from tvmq.graph.operators import where
from tvmq.graph.operators.record import ARITHMETIC
from tvmq.graph.view import View, const_value, is_const, op_name, sizes_of
from tvmq.passes.families.absorb import absorb_clip
from tvmq.passes.families.base import CodedFacts, Codes, Family, Group, Realizer, fact_field
from tvmq.passes.partition.float_exceptions import why_float_sum

LINKS = where(kind=ARITHMETIC, is_own=False)


@dataclass
class ScaleShiftFacts(CodedFacts):
    """The members that compute, in order: all but a relu or clip."""

    low: float = fact_field(-np.inf)
    high: float = fact_field(np.inf)
    needs_output_codes: bool = fact_field(True)
    links: list[str] = field(default_factory=list)


class ScaleShift(Family):
    """Chain of multiplications and additions with constants that vary over a tensor."""

    name, facts_type = "scale_shift", ScaleShiftFacts
    reads_int16 = reads_norms = True

    def group(self, view: View, var: relax.Var, value: relax.Call, *, as_int16: bool = False) -> Group | str:
        """A product, sum, difference or quotient of a tensor of the graph and a constant, and those behind it.

        as_int16  take those of a residual stream, too
        """
        if not any(is_const(arg) for arg in value.args):
            return "limit: a quotient of two tensors has no integer form"
        source = _tensor(value)
        if source is None:
            return "limit: a constant that varies over the tensor, divided by it, has no integer form"
        members = [var.name]
        while True:
            reader = view.only_reader(members[-1])
            if reader is None or not _is_link(view.value[reader]):
                break
            members.append(reader)
        stream = None if as_int16 else why_float_sum(view, members[-1])
        if stream:
            return stream
        factor, summand = constants_of(view, members)
        if not (np.isfinite(factor).all() and np.isfinite(summand).all()):
            return "limit: constants that are not finite"
        facts = ScaleShiftFacts(links=list(members))
        clip = absorb_clip(view, members[-1])
        if clip:
            members.append(clip[0])
            facts.low, facts.high = clip[1:]
        return Group(self.name, var.name, members, [source.name], facts=facts)

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit one tvmq.scale_shift."""
        x, y = realizer.codes(group.inputs[0]), realizer.output_qparams(group)
        if y is None:
            raise StageError(
                f"realize, scale_shift '{group.root}': its result carries no scale; was the module annotated here?"
            )
        factor, summand = constants_of(realizer.view, group.facts.links)
        dtypes = (x.qparams.spec.dtype, y.spec.dtype)
        params = numerics.scale_shift_params(x.scale, x.zero_point, factor, summand, y.scale, dtypes=dtypes)
        qmin, qmax = realizer.code_bounds(y, group)
        call = ops.scale_shift(
            x.var,
            relax.const(params.multiplier),
            relax.const(params.offset),
            shift=params.shift,
            zero_point=int(y.zero_point),
            dtype=y.spec.dtype,
            qmin=qmin,
            qmax=qmax,
        )
        return Codes(realizer.emit(call, group.output), y)


def _tensor(value: relax.Call) -> relax.Var | None:
    """The tensor of a call of a tensor and a constant; None where it is a divisor."""
    a, b = value.args
    if is_const(b):
        return a
    return b if op_name(value) != "divide" else None


def _is_link(value: relax.Expr) -> bool:
    """True for what continues a chain: a constant on one side, and no division by the tensor."""
    if op_name(value) not in LINKS or sum(map(is_const, value.args)) != 1:
        return False
    source = _tensor(value)
    return source is not None and sizes_of(value) == sizes_of(source)


def constants_of(view: View, links: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """(factor, summand) in float64: what the chain does is x * factor + summand."""
    factor, summand = np.ones(()), np.zeros(())
    for name in links:
        call = view.value[name]
        first = is_const(call.args[0])
        constant = const_value(call.args[0 if first else 1]).astype(np.float64)
        with np.errstate(all="ignore"):
            if op_name(call) == "multiply":
                factor, summand = factor * constant, summand * constant
            elif op_name(call) == "divide":
                factor, summand = factor / constant, summand / constant
            elif op_name(call) == "add":
                summand = summand + constant
            else:
                factor, summand = (-factor, constant - summand) if first else (factor, summand - constant)
    return factor, summand


FAMILY = ScaleShift()
