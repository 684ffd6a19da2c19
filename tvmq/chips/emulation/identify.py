"""`tvmq.identify_requantize`: which rule of the algebra a device follows, found from what it answered.

All rules are tried on a few values, chosen so that they hold the corners; those that explain these are tried on more
and on all. Where none explains everything, that which explains most is named, with the smallest sum at which it fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tvmq.chips.emulation.requantize_candidates import Observability, candidates
from tvmq.errors import DataError, RangeError
from tvmq.numerics.codes import code_limits
from tvmq.numerics.requantize_rule import RequantizeRule, apply

SAMPLES = (256, 4096)  # values of the first looks: most rules fail in the first
KEPT = 32  # rules that are tried on more values even if they do not explain the first ones
NARROW = 2**14  # codes within: steps that saturate at 16 bits lie outside of all of them


@dataclass(frozen=True)
class CounterExample:
    """A value that a rule does not explain.

    acc         the sum
    factor      its real factor
    zero_point  of the result
    ruled       what the rule gives
    answered    what the device gave
    """

    acc: int
    factor: float
    zero_point: int
    ruled: int
    answered: int

    def __str__(self) -> str:
        zero = f" + {self.zero_point}" if self.zero_point else ""
        real = self.acc * self.factor + self.zero_point
        return (
            f"the sum {self.acc} times {self.factor:.9g}{zero} ({real:.7f}) is {self.ruled} by the rule, "
            f"the device answered {self.answered}"
        )


@dataclass(frozen=True)
class Identification:
    """Prints as a sentence.

    rule       of the algebra, that explains all values, the plainest of them; None if none does
    nearest    `rule`, or the one that explains most
    others     further rules that explain all values: these cannot tell them apart
    known      names of the known rules among them, or of the nearest
    values     how many were compared
    differing  how many of them `nearest` does not explain
    smallest   the failure of `nearest` with the smallest sum; None if it has none
    """

    rule: RequantizeRule | None
    nearest: RequantizeRule
    others: tuple[RequantizeRule, ...]
    known: tuple[str, ...]
    values: int
    differing: int
    smallest: CounterExample | None

    @property
    def name(self) -> str:
        """The known names; the fields of the rule in words where it has none."""
        return ", ".join(self.known) or rule_text(self.nearest)

    def to_dict(self) -> dict[str, Any]:
        """Dictionary that JSON can hold."""
        return {
            "rule": None if self.rule is None else self.rule.to_dict(),
            "nearest": self.nearest.to_dict(),
            "others": [rule.to_dict() for rule in self.others],
            "known": list(self.known),
            "values": self.values,
            "differing": self.differing,
            "smallest": None if self.smallest is None else asdict(self.smallest),
        }

    def __str__(self) -> str:
        if self.rule is None:
            return (
                f"no rule of the algebra explains all {self.values} values; the nearest is {self.name}, "
                f"{self.differing} differ: {self.smallest}"
            )
        also = f"; so do {len(self.others)} others, which these values do not tell apart" if self.others else ""
        return f"{self.name}: explains all {self.values} values{also}"


def rule_text(rule: RequantizeRule) -> str:
    """A rule as its fields that are no defaults.

    >>> rule_text(RequantizeRule("integer", multiplier_bits=15, roundings=("away",)))
    'integer, multiplier_bits=15, roundings=away'
    """
    fields = rule.to_dict()
    parts = [str(fields.pop("arithmetic"))]
    return ", ".join(parts + [f"{k}={'+'.join(v) if isinstance(v, list) else v}" for k, v in fields.items()])


@dataclass(frozen=True, eq=False)
class _Observation:
    """Flat arrays of one length: sums, scales (y: 1.0 where only factors are known), zero points, answers."""

    acc: np.ndarray
    scale_x: np.ndarray
    scale_w: np.ndarray
    scale_y: np.ndarray
    factor: np.ndarray | None
    zero: np.ndarray
    out: np.ndarray

    def part(self, index: np.ndarray) -> _Observation:
        """The values at these places."""
        acc, x, w, y = (a[index] for a in (self.acc, self.scale_x, self.scale_w, self.scale_y))
        factor = None if self.factor is None else self.factor[index]
        return _Observation(acc, x, w, y, factor, self.zero[index], self.out[index])

    @property
    def real_factors(self) -> np.ndarray:
        """Real factors."""
        if self.factor is not None:
            return self.factor
        return RequantizeRule().factor(self.scale_x, self.scale_w, self.scale_y)


def identify_requantize(
    acc: np.ndarray,
    answers: np.ndarray,
    *,
    scales: Sequence[ArrayLike] | None = None,
    factor: ArrayLike | None = None,
    zero_point: ArrayLike = 0,
    qmin: int | None = None,
    qmax: int | None = None,
    among: Sequence[RequantizeRule] | None = None,
) -> Identification:
    """The rule that makes these codes of these sums.

    acc         int32 sums, any shape
    answers     the codes that a device gave, in their type and of the shape of acc
    scales      (scale_x, scale_w, scale_y), each of a shape that broadcasts against acc; or
    factor      real factors (float64), likewise: then it cannot be told in what they are computed
    zero_point  of the result, likewise
    qmin, qmax  lowest and highest code; None: those of the type
    among       rules to try; None: all of the algebra (about 2500) that these values can tell apart
    raises      DataError for no values, or shapes that do not fit

    >>> acc = np.int32([-6, -2, 2, 6, 10])
    >>> found = identify_requantize(acc, np.int8([-1, 0, 1, 2, 3]), factor=0.25)
    >>> found.rule.roundings, found.differing
    (('upward',), 0)
    """
    seen = _observe(acc, answers, scales, factor, zero_point)
    low, high = code_limits(answers.dtype, qmin, qmax)
    observability = Observability(bool((seen.real_factors >= 0.5).any()), bool(seen.zero.any()), scales is not None)
    among = candidates(observability) if among is None else among
    tried = list(among)
    for size in SAMPLES:
        sample = seen.part(_first_look(seen, low, high, size))
        misses = [(count, rule) for rule in tried if (count := _misses(rule, sample, low, high)) is not None]
        fitting = sum(count == 0 for count, _ in misses)
        tried = [rule for _, rule in sorted(misses, key=lambda pair: pair[0])[: max(KEPT, fitting)]]
    if not tried:
        raise DataError("identify: no rule of the algebra has a form for these factors; give positive ones below 2^30")
    whole = [(_differences(rule, seen, low, high), rule) for rule in tried]
    exact = [rule for wrong, rule in whole if not wrong.any()]
    if exact:
        return Identification(exact[0], exact[0], tuple(exact[1:]), observability.names(exact), seen.acc.size, 0, None)
    wrong, nearest = min(whole, key=lambda pair: int(pair[0].sum()))
    places = np.flatnonzero(wrong)
    smallest = places[np.argmin(np.abs(seen.acc[places].astype(np.int64)))]
    example = _example(nearest, seen.part(np.array([smallest])), low, high)
    return Identification(None, nearest, (), observability.names([nearest]), seen.acc.size, int(wrong.sum()), example)


def _observe(
    acc: np.ndarray, answers: np.ndarray, scales: Sequence[ArrayLike] | None, factor: ArrayLike | None, zero: ArrayLike
) -> _Observation:
    acc, answers = np.asarray(acc), np.asarray(answers)
    if acc.size == 0 or acc.shape != answers.shape:
        raise DataError(f"identify: needs as many answers as sums. Got shapes {acc.shape} and {answers.shape} instead")
    if (scales is None) == (factor is None):
        raise DataError("identify: give scales=(scale_x, scale_w, scale_y), or factor=, not both")
    wanted = (1.0, 1.0, 1.0) if scales is None else tuple(scales)
    try:
        flat = [np.broadcast_to(np.asarray(s, np.float32), acc.shape).ravel() for s in wanted]
        zeros = np.broadcast_to(np.asarray(zero, np.int64), acc.shape).ravel()
        real = None if factor is None else np.broadcast_to(np.asarray(factor, np.float64), acc.shape).ravel()
    except ValueError as error:
        raise DataError(f"identify: scales and zero points do not fit sums of shape {acc.shape}: {error}") from error
    return _Observation(acc.ravel(), flat[0], flat[1], flat[2], real, zeros, answers.ravel())


def _first_look(seen: _Observation, low: int, high: int, count: int) -> np.ndarray:
    """Places of values that tell rules apart: first those next to a tie, then others, spread."""
    size = seen.acc.size
    if size <= count:
        return np.arange(size)
    real = seen.acc * seen.real_factors
    inside = (real + seen.zero > low - 1) & (real + seen.zero < high + 1)
    from_tie = np.where(inside, np.abs(np.abs(real - np.floor(real)) - 0.5), 1.0)
    near = np.argsort(from_tie, kind="stable")[: count // 2]
    spread = np.linspace(0, size - 1, count // 2).astype(np.int64)
    return np.unique(np.concatenate([near, spread]))


def apply_rule(rule: RequantizeRule, seen: _Observation, low: int, high: int, dtype: DTypeLike) -> np.ndarray:
    """Codes that a rule gives for flat sums with scales and zero points of their own."""
    if rule.zero_point == "after" and -NARROW <= low <= high < NARROW:
        steps = _codes_at(rule, seen, 0, -(2**15), 2**15 - 1, "int16")
        return np.asarray(np.clip(steps.astype(np.int64) + seen.zero, low, high))
    result = np.empty(seen.acc.shape, np.int64)
    for zero in np.unique(seen.zero):
        at = np.flatnonzero(seen.zero == zero)
        result[at] = _codes_at(rule, seen.part(at), int(zero), low, high, dtype)
    return result


def _codes_at(rule: RequantizeRule, seen: _Observation, zero: int, low: int, high: int, dtype: DTypeLike) -> np.ndarray:
    factor = seen.factor if seen.factor is not None else rule.factor(seen.scale_x, seen.scale_w, seen.scale_y)
    return apply(
        rule, seen.acc, factor, zero_point=zero, axis=0, divisor=seen.scale_y, dtype=dtype, qmin=low, qmax=high
    )


def _differences(rule: RequantizeRule, seen: _Observation, low: int, high: int) -> np.ndarray:
    return np.asarray(apply_rule(rule, seen, low, high, seen.out.dtype) != seen.out)


def _misses(rule: RequantizeRule, seen: _Observation, low: int, high: int) -> int | None:
    """Values that a rule does not explain; None where it has no form for the factors."""
    try:
        return int(_differences(rule, seen, low, high).sum())
    except RangeError:
        return None


def _example(rule: RequantizeRule, one: _Observation, low: int, high: int) -> CounterExample:
    expected = int(apply_rule(rule, one, low, high, one.out.dtype)[0])
    return CounterExample(int(one.acc[0]), float(one.real_factors[0]), int(one.zero[0]), expected, int(one.out[0]))


__all__ = ["CounterExample", "Identification", "identify_requantize", "rule_text"]
