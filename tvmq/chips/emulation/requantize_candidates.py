"""All rules of the requantize algebra that data can tell apart, the plain and well known ones first.

Tests: tests/chips/emulation/test_page.py
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tvmq.numerics.known_rules import KNOWN_RULES
from tvmq.numerics.requantize_rule import RequantizeRule
from tvmq.numerics.tie_rules import TIE_RULES

USUAL_BITS = (31, 15)  # Q0.31 and Q0.15
LEFT = tuple(itertools.product(("before", "after"), ("wide", "saturate", "wrap")))
FACTORS = ("float64", "float32", "float32_product")


@dataclass(frozen=True)
class Observability:
    """Facts about a rule that data can tell apart.

    enlarges    factors of 1 and more occur: what happens at a shift to the left can be told
    has_zero    a zero point other than 0 occurs: when it is added can be told
    has_scales  scales are known, not only their factor: in what the factor is computed can be told
    """

    enlarges: bool = True
    has_zero: bool = True
    has_scales: bool = True

    def form(self, rule: RequantizeRule) -> RequantizeRule:
        """The rule with its defaults in whatever cannot be told; sums are given, so what it says of them goes too."""
        rule = replace(rule, accumulator_bits=32, overflow="proved", bias_bits=32)
        if not self.enlarges:
            rule = replace(rule, left_shift="before", left_overflow="wide")
        if not self.has_zero:
            rule = replace(rule, zero_point="after", fused=False)
        if not self.has_scales:
            rule = replace(rule, factors="float64", order="one_factor")
        return rule

    def names(self, rules: Iterable[RequantizeRule]) -> tuple[str, ...]:
        """Names of the known rules among these."""
        forms = {self.form(rule) for rule in rules}
        return tuple(name for name, known in KNOWN_RULES.items() if self.form(known) in forms)


def candidates(observability: Observability | None = None) -> list[RequantizeRule]:
    """The rules in the order in which an explanation is preferred, each once.

    >>> len(candidates()) > 2000, len(candidates(Observability(enlarges=False, has_zero=False, has_scales=False))) < 700
    (True, True)
    """
    observability = observability or Observability()
    rules = itertools.chain(
        KNOWN_RULES.values(), _floats(), _doubles(), _integers(USUAL_BITS), _shifts(), _integers(range(7, 31))
    )
    return list(dict.fromkeys(observability.form(rule) for rule in rules))


def _floats() -> Iterator[RequantizeRule]:
    for tie, zero, factors in itertools.product(("even", *TIE_RULES), ("after", "before"), FACTORS):
        rule = RequantizeRule(roundings=(tie,), zero_point=zero, factors=factors)
        yield rule
        if zero == "before":
            yield replace(rule, fused=True)
        if factors == "float64":
            yield replace(rule, order="divide")


def _doubles() -> Iterator[RequantizeRule]:
    for tie, factors in itertools.product(("even", *TIE_RULES), FACTORS):
        yield RequantizeRule("float64", roundings=(tie,), factors=factors)


def _integers(bits: Iterator[int] | range | tuple[int, ...]) -> Iterator[RequantizeRule]:
    pairs: list[tuple[str, ...]]
    for width in bits:
        usual = width in USUAL_BITS
        pairs = [(tie,) for tie in TIE_RULES]
        pairs += list(itertools.product(TIE_RULES, TIE_RULES)) if usual else []
        lefts = LEFT if usual else (("before", "wide"),)
        for roundings, rounding in itertools.product(pairs, ("upward", "even", "floor")):
            for (left, overflow), factors in itertools.product(lefts, FACTORS if usual else FACTORS[:1]):
                yield RequantizeRule(
                    "integer", multiplier_bits=width, multiplier_rounding=rounding, roundings=roundings,
                    left_shift=left, left_overflow=overflow, factors=factors,
                )  # fmt: skip


def _shifts() -> Iterator[RequantizeRule]:
    for tie, (left, overflow) in itertools.product(TIE_RULES, LEFT):
        yield RequantizeRule("shift", roundings=(tie,), left_shift=left, left_overflow=overflow)
