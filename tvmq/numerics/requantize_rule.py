"""How a device makes codes of int32 sums, as data: a small algebra whose points are the requantizations that exist.

    q = clip(round(acc * factor) + zero_point, qmin, qmax)

says neither what the factor is made of, nor how many roundings there are and which way ties go. A RequantizeRule says
it; `apply` computes it in NumPy (rule_arithmetic.py has the steps). The modes and roundings of `numerics.requantize`,
of qconfig and of the operator are names of some rules: `rule_of_mode` looks them up, `nearest_mode` is the way back.
Rules of known tools: known_rules.py.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tvmq.base.schema import (
    checked_choice,
    checked_choices,
    checked_fields,
    checked_int,
    checked_switch,
    inside,
    refuse,
)
from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.codes import Number, along_axis, check_zero_point, code_limits
from tvmq.numerics.requantize_factors import mantissa_and_shift, power_of_two_shift
from tvmq.numerics.rule_arithmetic import LARGEST_SHIFT, check_sums, float_steps, integer_steps
from tvmq.numerics.tie_rules import TIE_RULES, rounded_float

# Mode -> its arithmetic; name of a rounding of the integer modes -> its tie rules. Mode float rounds half to even.
MODES = {"float": "float32", "fixed_point": "integer", "power_of_two": "shift"}
ROUNDINGS = {"UPWARD": ("upward",), "TONEAREST": ("away",), "DOUBLE": ("upward", "away")}
# Field -> the words it may be.
WORDS = {
    "arithmetic": ("float32", "float64", "integer", "shift"),
    "multiplier_rounding": ("upward", "even", "floor"),
    "left_shift": ("before", "after"),
    "left_overflow": ("wide", "saturate", "wrap"),
    "zero_point": ("after", "before"),
    "order": ("one_factor", "divide"),
    "factors": ("float64", "float32", "float32_product"),
    "overflow": ("proved", "wrap", "saturate"),
}
BITS = {"multiplier_bits": (2, 31), "accumulator_bits": (8, 32), "bias_bits": (8, 32)}
# Fields that say something of one arithmetic only; they keep their defaults in the others.
OF_INTEGERS = ("multiplier_bits", "multiplier_rounding")
OF_SHIFTS = ("left_shift", "left_overflow")
OF_FLOATS = ("zero_point", "order", "fused")
FLOATS = ("float32", "float64")


@dataclass(frozen=True)
class RequantizeRule:
    """Rule that makes codes of sums; the defaults are those of `numerics.requantize` in mode "float".

    arithmetic           "float32": the factor is a float32; "float64": a float64, and so is the product; "integer": an
                         integer mantissa and a shift; "shift": a power of two alone
    multiplier_bits      significant bits of the mantissa, integer: 31 is Q0.31, 15 is Q0.15
    multiplier_rounding  how the mantissa is made of the factor: to the nearest, half "upward" or to "even"; "floor"
    roundings            tie rules (tie_rules.py). One: a single rounding at the whole shift. Two, integer: first the
                         high half of the product, at multiplier_bits, then what remains of the shift to the right
    left_shift           factors of 1 and more: the shift comes "before" the product, or "after" it
    left_overflow        what leaves int32 at that shift stays "wide", or is taken to "saturate" or to "wrap"
    zero_point           added "after" the rounding in integers, or "before" it in float32
    order                "one_factor": times float32(scale_x * scale_w / scale_y); "divide": times
                         float32(scale_x * scale_w), then divided by scale_y
    fused                float32: product and zero point in one rounding (fused multiply-add)
    factors              in what the factor is computed of the scales: "float64"; "float32", each step;
                         "float32_product", the product in float32, the quotient in float64
    accumulator_bits     width of the sums, 8..32
    overflow             of the sums: "proved" not to happen, or they "wrap" or "saturate"
    bias_bits            width of what is added to the sums
    raises               ConfigError for values that are not allowed, or contradict each other

    >>> RequantizeRule("integer", roundings=("upward", "away")).equivalent_mode
    ('fixed_point', 'DOUBLE')
    >>> RequantizeRule.from_dict({"arithmetic": "shift", "roundings": ["floor"]}).to_dict()
    {'arithmetic': 'shift', 'roundings': ['floor']}
    """

    arithmetic: str = "float32"
    multiplier_bits: int = 31
    multiplier_rounding: str = "upward"
    roundings: tuple[str, ...] = ("even",)
    left_shift: str = "before"
    left_overflow: str = "wide"
    zero_point: str = "after"
    order: str = "one_factor"
    fused: bool = False
    factors: str = "float64"
    accumulator_bits: int = 32
    overflow: str = "proved"
    bias_bits: int = 32

    def __post_init__(self) -> None:
        self._check("RequantizeRule:")

    def _check(self, path: str) -> None:
        for name, allowed in WORDS.items():
            checked_choice(getattr(self, name), inside(path, name), allowed)
        for name, (low, high) in BITS.items():
            checked_int(getattr(self, name), inside(path, name), low, high)
        checked_switch(self.fused, inside(path, "fused"))
        most = 2 if self.arithmetic == "integer" else 1
        checked_choices(self.roundings, inside(path, "roundings"), TIE_RULES, most=most)
        if not isinstance(self.roundings, tuple):
            refuse(inside(path, "roundings"), f"must be a tuple. Got {self.roundings!r} instead")
        idle = {
            "float32": (*OF_INTEGERS, *OF_SHIFTS), "float64": (*OF_INTEGERS, *OF_SHIFTS, *OF_FLOATS),
            "integer": OF_FLOATS, "shift": (*OF_INTEGERS, *OF_FLOATS),
        }  # fmt: skip
        for name in idle[self.arithmetic]:
            default = type(self).__dataclass_fields__[name].default
            if getattr(self, name) != default:
                refuse(inside(path, name), f"says nothing of arithmetic {self.arithmetic!r}; leave it out")
        if self.fused and (self.zero_point != "before" or self.order != "one_factor"):
            refuse(inside(path, "fused"), "needs zero_point 'before' and order 'one_factor'; leave it out, or add them")

    # ---- JSON

    def to_dict(self) -> dict[str, Any]:
        """Fields that JSON can hold: arithmetic, roundings, and what differs from the defaults."""
        always, defaults = ("arithmetic", "roundings"), type(self).__dataclass_fields__
        shown = {
            name: value for name, value in asdict(self).items() if name in always or value != defaults[name].default
        }
        return {name: list(value) if isinstance(value, tuple) else value for name, value in shown.items()}

    @classmethod
    def from_dict(cls, data: Any, path: str = "RequantizeRule:") -> RequantizeRule:
        """Inverse of `to_dict`; ConfigError with the path of the field for what is unknown or not allowed."""
        fields = checked_fields(data, path, tuple(cls.__dataclass_fields__), ("arithmetic", "roundings"))
        roundings = checked_choices(fields["roundings"], inside(path, "roundings"), TIE_RULES, most=2)
        rule = object.__new__(cls)  # checked below, under its path
        for name, field in cls.__dataclass_fields__.items():
            object.__setattr__(rule, name, roundings if name == "roundings" else fields.get(name, field.default))
        rule._check(path)
        return rule

    # ---- numbers

    @property
    def rounds_twice(self) -> bool:
        """True if the high half of a product is rounded first, and then what is shifted to the right."""
        return len(self.roundings) == 2

    @property
    def nearest_mode(self) -> tuple[str, str]:
        """(mode, rounding) that an integer module has for this rule: the same function, or the nearest that there is.

        >>> RequantizeRule("shift", roundings=("floor",)).nearest_mode
        ('power_of_two', 'UPWARD')
        """
        if self.arithmetic in FLOATS:
            return "float", "UPWARD"
        mode = next(mode for mode, arithmetic in MODES.items() if arithmetic == self.arithmetic)
        nearest = "TONEAREST" if self.roundings[-1] == "away" else "UPWARD"
        return mode, next((name for name, ties in ROUNDINGS.items() if ties == self.roundings), nearest)

    @property
    def equivalent_mode(self) -> tuple[str, str] | None:
        """(mode, rounding) of numerics.requantize that gives the same codes; None where no combination does.

        Same codes for all sums whose shift to the left stays in int32, and without that condition for left_overflow
        "wide" and "saturate". `factors` and the widths say nothing here.
        """
        idle = {"left_overflow", "factors", "accumulator_bits", "overflow", "bias_bits"}
        idle |= set() if self.rounds_twice else {"left_shift"}
        ours = rule_of_mode(*self.nearest_mode)
        same = replace(self, **{name: getattr(ours, name) for name in idle}) == ours
        return self.nearest_mode if same else None

    def factor(self, scale_x: ArrayLike, scale_w: ArrayLike, scale_y: ArrayLike) -> np.ndarray:
        """scale_x * scale_w / scale_y as `factors` says, float64; with order "divide" scale_x * scale_w alone."""
        x, w, y = (np.asarray(scale, np.float32).astype(np.float64) for scale in (scale_x, scale_w, scale_y))
        product = x * w
        if self.factors != "float64" or self.order == "divide":
            product = product.astype(np.float32).astype(np.float64)
        if self.order == "divide":
            return np.asarray(product)
        quotient = product / y
        return np.asarray(quotient.astype(np.float32).astype(np.float64) if self.factors == "float32" else quotient)

    def constants(self, factor: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(multiplier, shift) of real factors, shapes of factor: the float and 0; mantissa and shift; 1 and shift.

        factor ~ multiplier * 2^(shift - multiplier_bits) with an integer mantissa; int32 both
        raises  RangeError for a factor that has no such form
        """
        factor = np.asarray(factor, np.float64)
        if self.arithmetic == "shift":
            return np.ones(factor.shape, np.int32), power_of_two_shift(factor)
        end = np.inf if self.arithmetic in FLOATS else 2.0**30
        if (bad := ~((factor >= 0) & (factor < end))).any():
            value = np.ravel(factor)[int(np.argmax(bad))]
            raise RangeError(f"requantize: a factor must lie in 0..{end:g}. Got {value:g} instead")
        if self.arithmetic == "float32":
            return factor.astype(np.float32), np.zeros(factor.shape, np.int32)
        if self.arithmetic == "float64":
            return factor, np.zeros(factor.shape, np.int32)
        return mantissa_and_shift(factor, self.multiplier_bits, self.multiplier_rounding)

    def round_products(self, acc: np.ndarray, multiplier: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """Steps of integer arithmetic, int64, not clipped: see `integer_steps`, whose operands these are."""
        return integer_steps(
            acc, multiplier, shift, bits=self.multiplier_bits if self.arithmetic == "integer" else 0,
            roundings=self.roundings, left_shift=self.left_shift, left_overflow=self.left_overflow,
        )  # fmt: skip


@cache
def rule_of_mode(mode: str, rounding: str = "UPWARD") -> RequantizeRule:
    """The rule that a mode and a rounding name; mode float has one rounding.

    raises  ConfigError for an unknown mode or rounding

    >>> rule_of_mode("fixed_point", "DOUBLE").roundings
    ('upward', 'away')
    """
    if mode not in MODES:
        raise ConfigError(f"requantize: mode must be one of {', '.join(MODES)}. Got {mode!r} instead")
    if mode == "float":
        return RequantizeRule()
    if rounding not in ROUNDINGS:
        raise ConfigError(f"requantize: rounding must be one of {', '.join(ROUNDINGS)}. Got {rounding!r} instead")
    roundings = ROUNDINGS[rounding]
    # a shift rounds once: powers of two that are rounded twice are products by 2^30
    return RequantizeRule(MODES[mode] if len(roundings) == 1 else "integer", roundings=roundings)


def apply(
    rule: RequantizeRule,
    acc: np.ndarray,
    multiplier: ArrayLike,
    shift: ArrayLike | None = None,
    *,
    zero_point: Number,
    axis: int | None = None,
    divisor: ArrayLike = 1.0,
    negative_slope: float = 1.0,
    dtype: DTypeLike,
    qmin: int | None = None,
    qmax: int | None = None,
) -> np.ndarray:
    """Codes of sums by a rule.

    acc             integers within int32, any shape; narrower accumulators have done their own (`fit_bits`)
    multiplier      without shift: real factors (float64), of which `rule.constants` makes its numbers. With shift: the
                    numbers themselves, float32 (shift unused) or integers as in numerics.requantize
    divisor         scale_y, with order "divide"; shapes of all three: () or (acc.shape[axis],)
    negative_slope  float32 alone: sums below 0 are multiplied by float32(multiplier * float32(slope))
    returns         dtype, shape of acc
    raises          RangeError for numbers out of range

    >>> tflite = RequantizeRule("integer", roundings=("upward", "away"))
    >>> apply(tflite, np.int32([-10, -6, 6, 10]), 0.25, zero_point=0, dtype="int8")
    array([-3, -2,  2,  3], dtype=int8)
    """
    acc = np.asarray(acc)
    low, high = code_limits(dtype, qmin, qmax)
    zero, sums = int(check_zero_point(zero_point, low, high)), check_sums(acc)
    if shift is None:
        multiplier, shift = rule.constants(multiplier)
    if rule.arithmetic == "float32":
        factor = along_axis(np.asarray(multiplier, np.float32), axis, acc.shape)
        factor = factor if negative_slope == 1 else np.where(sums < 0, factor * np.float32(negative_slope), factor)
        by = along_axis(np.asarray(divisor, np.float32), axis, acc.shape) if rule.order == "divide" else None
        early = zero if rule.zero_point == "before" else 0
        steps = float_steps(sums, factor, by, early, tie=rule.roundings[0], fused=rule.fused)
        late = zero - early
        return np.asarray((np.clip(steps, low - late, high - late) + late).astype(dtype))
    if negative_slope != 1:
        raise ConfigError(
            f"requantize: negative_slope must be 1 in {'float64' if rule.arithmetic == 'float64' else 'integers'}. "
            f"Got {negative_slope:g} instead"
        )
    if rule.arithmetic == "float64":
        with np.errstate(over="ignore", invalid="ignore"):
            factor = along_axis(np.asarray(multiplier, np.float64), axis, acc.shape)
            steps = rounded_float(sums * factor, rule.roundings[0])
        return np.asarray((np.clip(steps, low - zero, high - zero) + zero).astype(dtype))
    whole = _mantissa(rule, multiplier)
    shifts = np.asarray(shift, np.int64)
    if (shifts > LARGEST_SHIFT).any():
        raise RangeError(f"requantize: shift must be at most {LARGEST_SHIFT}. Got {int(shifts.max())} instead")
    steps = rule.round_products(sums, along_axis(whole, axis, acc.shape), along_axis(shifts, axis, acc.shape))
    return np.asarray((np.clip(steps, low - zero, high - zero) + zero).astype(dtype))


def _mantissa(rule: RequantizeRule, multiplier: ArrayLike) -> np.ndarray:
    """Integer multipliers as int64; of shifts 1."""
    if rule.arithmetic == "shift":
        return np.ones((), np.int64)
    whole, end = np.asarray(multiplier, np.int64), 2**rule.multiplier_bits
    if ((whole < 0) | (whole >= end)).any():
        raise RangeError(
            f"requantize: an integer multiplier must lie in 0..2^{rule.multiplier_bits}-1. "
            f"Got {int(whole.min())}..{int(whole.max())} instead"
        )
    return whole
