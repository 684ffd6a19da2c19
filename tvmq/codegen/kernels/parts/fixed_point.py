"""numerics.requantize in modes "fixed_point" and "power_of_two" behind the sums of a kernel: in integers, bit for bit.

With e = shift and p = sum * multiplier the result is (p + 2^(n-1)) >> n, n = 31 - e, of 64-bit numbers; three forms:

powers   all multipliers are 2^30: (sum + half) >> r in int32, where sums and halves stay within it
pairs    shifts of at most -2: 64-bit products of the even and of the odd lanes (vpmuldq), each shifted right by n - 1;
         r = (p >> (n-1) + 1) >> 1 is the same, and the last two steps are of 32 bits. Products get 2^62 on top where
         there is no arithmetic shift of 64 bits, so that a logical one serves
general  any shift: plain 64-bit TIR; sums are clipped first where a product could leave int64, as the definition does

Ties away from zero take one from the products below 0. A rule that rounds twice adds 2^30 to the others and takes it
from these, where there is a shift to the right: numerics.fixed_point_multiply has the sum. It has no form of powers,
where 2^30 is less than one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, bind, const, spread, vector_type
from tvmq.codegen.kernels.parts.kernel_types import FixedRequantize
from tvmq.codegen.kernels.parts.scaler import Scaler

# |p| < 2^62 (a sum of 32 bits times a multiplier of 31), so that (p + 2^(n-1)) >> n is 0 from n = 63 on: shifts below
# -32, which is n = 63, may be taken for -32, and no shift right by n - 1 is ever beyond 62
SMALLEST_SHIFT = -32
PAIRED_SHIFT = -2  # of `pairs`: n - 1 is at least 32
LARGEST_PRODUCT = 2**62
INT32_MAX = 2**31 - 1
ONE_HALF = 2**30  # the multiplier of powers of two


@dataclass(frozen=True, eq=False)
class FixedRequantizer(Scaler):
    """Requantize step in integers; see the head of this file.

    form   "powers", "pairs" or "general"
    clips  some products would leave int64; `general` alone
    """

    form: str
    clips: bool

    @classmethod
    def plan(cls, step: FixedRequantize, largest_sum: int) -> FixedRequantizer:
        """largest_sum: a bound on |sum|."""
        shift = _shifts(step)
        largest, right = min(largest_sum, INT32_MAX + 1), 1 - shift
        powers = bool((np.asarray(step.multiplier) == ONE_HALF).all() and (right >= 1).all() and (right <= 31).all())
        powers = powers and not step.rule.rounds_twice
        if powers and largest + 2 ** (int(right.max(initial=1)) - 1) <= INT32_MAX:
            return cls(step, "powers", False)
        clips = bool((LARGEST_PRODUCT // np.maximum(_factors(step), 1) < largest).any())
        return cls(step, "pairs" if (shift <= PAIRED_SHIFT).all() else "general", clips)

    @property
    def key(self) -> tuple[Any, ...]:
        step = self.step
        return "fixed", step.rounding, step.zero_point, step.qmin, step.qmax, step.dtype, self.form, self.clips

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        shift, factors = _shifts(self.step), _factors(self.step)
        if self.form == "powers":
            return {"shift": (1 - shift).astype(np.int32)}
        multiplier = np.asarray(self.step.multiplier, np.int32) if self.form == "pairs" else factors
        arrays = {"multiplier": multiplier, "shift": (30 + np.maximum(-shift, 0)).astype(np.int32)}
        if self.clips:
            reach = np.minimum(LARGEST_PRODUCT // np.maximum(factors, 1), INT32_MAX)
            arrays["reach"] = reach.astype(np.int32)
        return arrays

    def load(self, buffers: Sequence[Buffer], offset: Expr, lanes: int) -> tuple[Expr, ...]:
        loaded = super().load(buffers, offset, lanes)
        if self.form == "powers":
            # half = 2^(r-1). The mask changes no shift (r is 1..31); it lets LLVM drop its code for shifts beyond 31
            one = spread(1, lanes)
            return loaded[0], bind(T.shift_left(one, T.bitwise_and(loaded[0] - one, spread(31, lanes))))
        return loaded

    def round_sum(self, ins: Instructions, total: Expr, constants: tuple[Expr, ...]) -> Expr:
        return bind(self.steps(total, constants, ins.lanes))

    def reals(self, total: Expr, constants: tuple[Expr, ...], lanes: int) -> Expr:
        step = self.step
        low, high = (spread(limit - step.zero_point, lanes) for limit in (step.qmin, step.qmax))
        inside = T.min(T.max(self.steps(total, constants, lanes), low), high)
        return bind(T.Cast(vector_type("int16", lanes), inside + spread(step.zero_point, lanes)))

    def steps(self, total: Expr, constants: tuple[Expr, ...], lanes: int) -> Expr:
        """The rounded products as int32, before the zero point; beyond all codes, if the right ones leave int32."""
        if self.form == "powers":
            shift, half = constants
            return T.shift_right(self._below_zero(total + half, total, lanes, "int32"), shift)
        if self.form == "pairs" and lanes % 2 == 0:
            return self._of_pairs(total, constants, lanes)
        return self._of_int64(total, constants, lanes)

    def _add_first_rounding(self, product: Expr, lanes: int) -> Expr:
        """A product of 64 bits that is shifted right by more than 31, with what a second rounding adds."""
        # A shift by 63 copies the sign bit: sign is 0 or -1, half ^ 0 - 0 = half, half ^ -1 - -1 = ~half + 1 = -half.
        # |p| <= 2^31 (2^31 - 1) = 2^62 - 2^31, so that p +- 2^30 stays within 2^62, as the caller needs it
        sign, half = bind(T.shift_right(product, spread(63, lanes, "int64"))), spread(ONE_HALF, lanes, "int64")
        return product + (T.bitwise_xor(half, sign) - sign)

    def _below_zero(self, value: Expr, signed: Expr, lanes: int, kind: str) -> Expr:
        """The value less 1 where `signed` is below 0, if ties round away from zero."""
        # Half up and half away from zero differ on ties below 0 alone. (v - 1) >> n is less than v >> n only where v is
        # a multiple of 2^n, and v = p + 2^(n-1) is one exactly on ties: so 1 less changes these and nothing else
        if self.step.rule.roundings[0] != "away":
            return value
        return value + T.shift_right(signed, spread(31 if kind == "int32" else 63, lanes, kind))

    def _of_pairs(self, total: Expr, constants: tuple[Expr, ...], lanes: int) -> Expr:
        # The int32 lanes of sums, multipliers and shifts are read as half as many int64, of two lanes each:
        #
        #     int32 lane            | 0 (even) | 1 (odd)  | 2 (even) | 3 (odd)  |
        #     int64                 |  low        high    |  low        high    |
        #     product of even lanes | p0 >> (n-1)         | p2 >> (n-1)         |     result in the low half
        #     product of odd lanes  | p1 >> (n-1) - 32    | p3 >> (n-1) - 32    |     result in the high half
        #     shuffle               | from even| from odd | from even| from odd |
        #
        # With p = a 2^(n-1) + b, 0 <= b < 2^(n-1), the definition (p + 2^(n-1)) >> n is (a + 1) >> 1: half a unit of
        # the result is one unit of a. So only a = p >> (n-1) needs 64 bits; |a| <= 2^30, as |p| < 2^62 and n - 1 >= 32,
        # and the last two steps are made in int32, for all lanes at once.
        pairs, half = vector_type("int64", lanes // 2), lanes // 2
        total, multiplier, shift = (bind(T.reinterpret(pairs, value)) for value in (total, *constants))
        # of 16 lanes (AVX-512) there is an arithmetic shift of 64 bits, vpsraq; of 8 it is not asked for
        arithmetic, width = lanes == 16, spread(32, half, "int64")

        def shift_products(odd: bool) -> Expr:
            # the lower or the upper int32 of each int64, sign-extended: LLVM makes one vpmuldq of both and the product
            a, b = (T.shift_right(value if odd else T.shift_left(value, width), width) for value in (total, multiplier))
            product = bind(a * b)
            product = self._below_zero(product, product, half, "int64")
            if self.step.rule.rounds_twice:
                product = bind(self._add_first_rounding(product, half))
            # The odd result is to stand in the upper half of its place: 32 bits less, and n - 1 >= 32 (PAIRED_SHIFT).
            # An int64 holds the shift of its even lane in the low bits, that of the odd one above: the mask with 63
            # takes the former alone, and tells LLVM that no shift is beyond 63
            right = T.bitwise_and(T.shift_right(shift, width) - width if odd else shift, spread(63, half, "int64"))
            if arithmetic:
                return bind(T.shift_right(product, right))
            # |product| <= 2^62, so the sum is not negative, and the logical shift (vpsrlvq) is the arithmetic one. As
            # 2^62 is a multiple of 2^(n-1), it adds exactly 2^(62-(n-1)) to the result: `top`, which is taken off below
            raised = T.reinterpret(f"u{pairs}", product + spread(LARGEST_PRODUCT, half, "int64"))
            return bind(T.shift_right(raised, T.reinterpret(f"u{pairs}", right)))

        kind = vector_type("int32", lanes)
        both = [bind(T.reinterpret(kind, shift_products(odd))) for odd in (False, True)]
        # lane i of the vector with the even, or with the odd results: both stand where they belong
        mixed = bind(tirx.Shuffle(both, [const(lane + lanes * (lane % 2)) for lane in range(lanes)]))
        one = spread(1, lanes)
        if not arithmetic:  # top = 2^62 >> (n-1) is at most 2^30: a + top is below 2^31, nothing wraps
            top = T.shift_left(one, T.bitwise_and(spread(62, lanes) - constants[1], spread(31, lanes)))
            mixed = mixed - top
        return T.shift_right(mixed + one, one)  # ((p >> (n - 1)) + 1) >> 1 rounds as (p + 2^(n - 1)) >> n

    def _of_int64(self, total: Expr, constants: tuple[Expr, ...], lanes: int) -> Expr:
        multiplier, shift, *reach = constants
        wide = vector_type("int64", lanes)
        if reach:  # |total| * multiplier stays within 2^62; what is clipped is beyond all codes before and after
            total = T.max(T.min(total, reach[0]), spread(-1, lanes) - reach[0])
        product = bind(T.Cast(wide, total) * T.Cast(wide, multiplier))
        product = self._below_zero(product, product, lanes, "int64")
        if self.step.rule.rounds_twice:  # shift is n - 1: above 30 there is a shift to the right
            shifts = T.Cast(wide, shift) > spread(30, lanes, "int64")
            product = bind(T.Select(shifts, self._add_first_rounding(product, lanes), product))
        one = spread(1, lanes, "int64")
        # `shift` is n - 1, as in `_of_pairs`: ((p >> (n-1)) + 1) >> 1 again, here all of it in 64 bits
        steps = T.shift_right(T.shift_right(product, T.Cast(wide, shift)) + one, one)
        step = self.step
        low, high = (spread(limit - step.zero_point, lanes, "int64") for limit in (step.qmin, step.qmax))
        return T.Cast(vector_type("int32", lanes), T.min(T.max(steps, low), high))


def _shifts(step: FixedRequantize) -> np.ndarray:
    """Shifts, int64; those of multiplier 0 do not matter."""
    return np.where(step.multiplier == 0, SMALLEST_SHIFT, np.maximum(np.asarray(step.shift, np.int64), SMALLEST_SHIFT))


def _factors(step: FixedRequantize) -> np.ndarray:
    """Multipliers with their shifts to the left, int64."""
    return np.asarray(step.multiplier, np.int64) << np.maximum(np.asarray(step.shift, np.int64), 0)
