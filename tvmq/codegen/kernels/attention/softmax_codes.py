"""Softmax of rows in scratch memory straight to 8-bit codes: a fast guess that proves itself, or the definition.

Computes   numerics.quantize(numerics.softmax(x)), bit for bit
Guess      e ~ exp(x - max) by a shorter polynomial with fused products; v = e / (sum * scale). Definition and guess are
           both within a known relative distance of the exact number, so what the definition rounds lies between
           v * (1 - margin) and v * (1 + margin): where both round to the same code, that is the definition's.
           In some rows of a thousand they do not: these are computed anew, by the definition's steps
Loops      a group of rows side by side (their chains of operations overlap), vectors of 16 lanes
Needs      finite scores, or a mask (then they are clipped as the definition does); 2^-20 <= scale <= 1

Tests: tests/codegen/kernels/attention/test_dynamic_scores.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.norm.softmax import exp_negative
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    Register,
    bind,
    ceildiv,
    const,
    fence,
    load,
    spread,
    store,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.float_vectors import (
    FLOAT,
    INT,
    LANES,
    ROUNDER,
    ROUNDER_BITS,
    CodeLimits,
    any_bit,
    quantize_by_division,
    spread_float,
    sum_halves,
)
from tvmq.numerics.softmax import LARGEST, LOG2_E, LOWEST_ARGUMENT

MOST_ROWS = 8  # of a group
LEAST_SCALE = 2.0**-20
# 2^f for |f| <= 1/2: least largest relative error, 1.3 * 2^-24, its coefficients then rounded: 2.6 * 2^-24
POWER_COEFFICIENTS = tuple(
    float.fromhex(c)
    for c in ("0x1.000002p+0", "0x1.62e428p-1", "0x1.ebf916p-3", "0x1.c6b6e8p-5", "0x1.3d0cb6p-7", "0x1.5c0896p-10")
)
# Relative distance of guess and definition in units of 2^-24: the sums of n numbers round n / 16 + 4 times each; exp is
# within 2 (definition) and 24 (guess, down to codes that count) of the exact one, in numerator and sum; 7 others
ROUNDINGS = 80
UNSIGNED = vector_type("uint32", LANES)
Powers = tuple[Buffer, Expr]


def is_proved(codes: CodeLimits, score_scale: float, code_scale: float) -> bool:
    """True for what the guess is proved for."""
    scaled = LEAST_SCALE <= code_scale <= 1 and 0 < score_scale < 2**64
    return scaled and codes.qmin <= codes.zero_point < codes.qmax


class SoftmaxCodes:
    """The code for rows of one length.

    keys       length of a row; an expression where only a run tells
    pitch      elements from one row of scores to the next: whole vectors
    stored     type that codes are stored as
    offset     what is added to a code before it is stored
    """

    def __init__(self, keys: Expr, codes: CodeLimits, scale: Buffer, stored: str, offset: int) -> None:
        self.keys, self.codes, self.scale = keys, codes, scale
        self.has_dynamic_keys = not isinstance(keys, int)
        self.vectors = ceildiv(keys, LANES)
        self.pitch = self.vectors * LANES
        self.stored, self.offset = stored, offset

    def _sides(self) -> list[Expr]:
        """1 - margin and 1 + margin in all lanes."""
        if not self.has_dynamic_keys:
            margin = (self.keys / 8 + ROUNDINGS) * 2.0**-24
            return [spread_float(1 + side * margin) for side in (-1, 1)]
        # exact: keys are below 2^24, and so is what is divided
        margin = T.Cast("float32", self.keys + 8 * ROUNDINGS) * const(2.0**-27, "float32")
        one = const(1.0, "float32")
        return [bind(spread(one + fence(margin * const(side, "float32")), LANES)) for side in (-1.0, 1.0)]

    def rows(
        self,
        scores: Buffer,
        begins: Sequence[Expr],
        masks: Sequence[tuple[Buffer, Expr]],
        out: Buffer,
        to: Sequence[Expr],
        powers: Powers | None = None,
    ) -> None:
        """Codes of rows of scores (which are clipped and masked in place) to out[to:], zeros behind the last.

        begins  where each row begins
        masks   what is added to each row; empty for nothing
        powers  where scratch memory for as many rows of scores begins; None asks for some, a call if keys are dynamic
        """
        tops = self._row_maxima(scores, begins, masks)
        if powers is None:
            powers = workspace(len(begins) * self.pitch, "float32"), 0
        factors = self._powers(scores, begins, tops, powers)
        doubts = self._guess(powers, factors, out, to)
        every = doubts[0]
        for doubt in doubts[1:]:
            every = bind(T.bitwise_or(every, doubt))
        with T.If(any_bit(every)):
            with T.Then():
                self._recompute_doubtful_rows(scores, (begins, tops, doubts), powers, out, to)

    def _recompute_doubtful_rows(
        self, scores: Buffer, rows: tuple[Sequence[Expr], ...], powers: Powers, out: Buffer, to: Sequence[Expr]
    ) -> None:
        """Compute those rows of a group that may be wrong, in a loop, or its code would stand there for each."""
        kept_begins, kept_to = (T.alloc_buffer((MOST_ROWS,), "int32") for _ in range(2))
        kept_tops, kept_doubts = workspace(MOST_ROWS * LANES, "float32"), workspace(MOST_ROWS * LANES, "int32")
        for row, (begin, top, doubt) in enumerate(zip(*rows, strict=True)):
            store(kept_begins, row, begin, 1)
            store(kept_to, row, to[row], 1)
            store(kept_tops, row * LANES, top, LANES)
            store(kept_doubts, row * LANES, doubt, LANES)
        with T.serial(0, len(to)) as row:
            with T.If(any_bit(load(kept_doubts, row * LANES, INT))):
                with T.Then():
                    top = load(kept_tops, row * LANES, FLOAT)
                    begin, place = load(kept_begins, row, "int32"), load(kept_to, row, "int32")
                    self._compute_row(scores, begin, top, powers, out, place)

    def _row_maxima(self, scores: Buffer, begins: Sequence[Expr], masks: Sequence[tuple[Buffer, Expr]]) -> list[Expr]:
        """The largest score of each row, in all lanes; the lowest number behind each row's end."""
        maxima = [Register("float32", LANES) for _ in begins]
        for register in maxima:
            register.set(spread_float(-LARGEST))

        def vector(i: Expr, *, last: bool) -> None:
            for row, begin in enumerate(begins):
                value = load(scores, begin + i, FLOAT)
                if masks:
                    buffer, place = masks[row]
                    value = fence(value) + load(buffer, place + i, FLOAT)
                    # the order of operands makes NaN the lowest number
                    value = T.min(T.max(value, spread_float(-LARGEST)), spread_float(LARGEST))
                if last:
                    value = T.Select(self._inside(i), value, spread_float(-LARGEST))
                if masks or last:
                    value = bind(value)
                    store(scores, begin + i, value, LANES)
                maxima[row].set(T.max(maxima[row].get(), value))

        self._over(vector)
        return [bind(spread(sum_halves(register.get(), T.max), LANES)) for register in maxima]

    def _powers(self, scores: Buffer, begins: Sequence[Expr], tops: Sequence[Expr], powers: Powers) -> list[Expr]:
        """Guessed exp of each row, and 1 / (their sum * scale) in all lanes."""
        totals = [Register("float32", LANES) for _ in begins]
        for total in totals:
            total.set(spread_float(0.0))

        def vector(i: Expr, *, last: bool) -> None:
            for row, (begin, top, total) in enumerate(zip(begins, tops, totals, strict=True)):
                value = power_guess(bind(load(scores, begin + i, FLOAT) - top))
                if last:  # in a row of the lowest numbers alone they are the largest too
                    value = bind(T.Select(self._inside(i), value, spread_float(0.0)))
                store(powers[0], powers[1] + row * self.pitch + i, value, LANES)
                total.set(total.get() + value)

        self._over(vector)
        sums = [sum_halves(total.get(), lambda a, b: a + b) for total in totals]
        return [bind(spread(const(1.0, "float32") / (total * self.scale[0]), LANES)) for total in sums]

    def _guess(self, powers: Powers, factors: Sequence[Expr], out: Buffer, to: Sequence[Expr]) -> list[Expr]:
        """Codes of each row, and bits that are set where one of it may be the next one."""
        doubts = [Register("int32", LANES) for _ in factors]
        for register in doubts:
            register.set(spread(0, LANES))
        low, high = ([bind(f * side) for f in factors] for side in self._sides())

        def vector(i: Expr, *, last: bool) -> None:
            for row in range(len(factors)):
                value = load(powers[0], powers[1] + row * self.pitch + i, FLOAT)
                least, most = (
                    bind(T.reinterpret(INT, bind(fence(value * sides[row] + spread_float(ROUNDER)))))
                    for sides in (low, high)
                )
                doubts[row].set(T.bitwise_or(doubts[row].get(), T.bitwise_xor(least, most)))
                steps = T.reinterpret(UNSIGNED, bind(least - spread(ROUNDER_BITS, LANES)))
                highest = spread(self.codes.qmax - self.codes.zero_point, LANES, "uint32")
                self._store(T.min(steps, highest), i, out, to[row], last)

        self._over(vector)
        return [bind(register.get()) for register in doubts]

    def _compute_row(self, scores: Buffer, begin: Expr, top: Expr, powers: Powers, out: Buffer, to: Expr) -> None:
        """A row by the steps of the definition."""
        total = Register("float32", LANES)
        total.set(spread_float(0.0))

        def add(i: Expr, *, last: bool) -> None:
            value = exp_negative(bind(load(scores, begin + i, FLOAT) - top))
            value = bind(T.Select(self._inside(i), value, spread_float(0.0)) if last else value)
            store(powers[0], powers[1] + i, value, LANES)
            total.set(total.get() + value)

        self._over(add)
        divisor = bind(spread(sum_halves(total.get(), lambda a, b: a + b), LANES))
        zero = self.codes.zero_point
        wide = replace(self.codes, dtype="int32")

        def quotient(i: Expr, *, last: bool) -> None:
            codes = quantize_by_division(bind(load(powers[0], powers[1] + i, FLOAT) / divisor), self.scale, wide, LANES)
            self._store(codes - spread(zero, LANES), i, out, to, last)

        self._over(quotient)

    def _store(self, steps: Expr, i: Expr, out: Buffer, to: Expr, last: bool) -> None:
        """Steps above the zero point as `dot` takes codes."""
        shift = self.codes.zero_point + self.offset
        if shift:
            steps = T.Cast(INT, steps) + spread(shift, LANES)
        value = bind(T.Cast(vector_type(self.stored, LANES), steps))
        if last:
            value = T.Select(self._inside(i), value, spread(0, LANES, self.stored))
        store(out, to + i, value, LANES)

    def _over(self, vector) -> None:  # type: ignore[no-untyped-def]
        """vector(first element, last=) for all vectors of a row."""
        if self.has_dynamic_keys or self.vectors > 1:
            with T.serial(0, self.vectors - 1) as i:
                vector(i * LANES, last=False)
        vector((self.vectors - 1) * LANES, last=self.has_dynamic_keys or self.keys % LANES > 0)

    def _inside(self, i: Expr) -> Expr:
        return T.ramp(i, 1, LANES) < spread(self.keys, LANES)


def power_guess(d: Expr) -> Expr:
    """About exp(d) of a vector of LANES float32 <= 0; what is below -87 gives the same as -87, 1.6e-38."""
    t = bind(T.max(d, spread_float(LOWEST_ARGUMENT)))
    shifted = bind(fence(t * spread_float(LOG2_E) + spread_float(ROUNDER)))
    f = bind(t * spread_float(LOG2_E) - bind(shifted - spread_float(ROUNDER)))
    power = spread_float(POWER_COEFFICIENTS[-1])
    for coefficient in POWER_COEFFICIENTS[-2::-1]:
        power = bind(power * f + spread_float(coefficient))
    exponent = T.shift_left(T.reinterpret(INT, shifted), spread(23, LANES))
    return bind(T.reinterpret(FLOAT, bind(T.reinterpret(INT, power) + exponent)))
