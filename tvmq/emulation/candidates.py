"""All rules of the requantize algebra that data can tell apart, the plain and well known ones first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from tvmq.numerics.known_rules import KNOWN_RULES
from tvmq.numerics.requantize_rule import RequantizeRule
from tvmq.numerics.tie_rules import TIE_RULES

NEAREST = ("upward", "away", "even", "downward")
USUAL_BITS = (31, 15)  # Q0.31 and Q0.15
LEFT = tuple(itertools.product(("before", "after"), ("wide", "saturate", "wrap")))
FACTORS = ("float64", "float32", "float32_product")


def candidates(*, enlarges: bool = True, has_zero: bool = True, has_scales: bool = True) -> list[RequantizeRule]:
    """The rules in the order in which an explanation is preferred, each once.

    enlarges    factors of 1 and more occur: what happens at a shift to the left can be told
    has_zero    a zero point other than 0 occurs: when it is added can be told
    has_scales  scales are known, not only their factor: in what the factor is computed can be told

    >>> len(candidates()) > 1000, len(candidates(enlarges=False, has_zero=False, has_scales=False)) < 300
    (True, True)
    """
    found = dict.fromkeys(plain(rule) for rule in KNOWN_RULES.values())
    found.update(dict.fromkeys(itertools.chain(_floats(), _integers(USUAL_BITS), _shifts(), _integers(range(7, 31)))))
    return list(dict.fromkeys(_told(rule, enlarges, has_zero, has_scales) for rule in found))


def plain(rule: RequantizeRule) -> RequantizeRule:
    """The rule with what it says of sums left out: sums are given here."""
    return replace(rule, accumulator_bits=32, overflow="proved", bias_bits=32)


def known_name(rule: RequantizeRule) -> str | None:
    """The name of a known rule that is equal, "onnxruntime" for example; None if there is none."""
    return next((name for name, known in KNOWN_RULES.items() if plain(known) == plain(rule)), None)


def _told(rule: RequantizeRule, enlarges: bool, has_zero: bool, has_scales: bool) -> RequantizeRule:
    """The rule with its defaults in whatever cannot be told."""
    if not enlarges:
        rule = replace(rule, left_shift="before", left_overflow="wide")
    if not has_zero:
        rule = replace(rule, zero_point="after", fused=False)
    if not has_scales:
        rule = replace(rule, factors="float64", order="one_factor")
    return rule


def _floats() -> Iterator[RequantizeRule]:
    for tie, zero, factors in itertools.product(("even", *TIE_RULES), ("after", "before"), FACTORS):
        rule = RequantizeRule(roundings=(tie,), zero_point=zero, factors=factors)
        yield rule
        if zero == "before":
            yield replace(rule, fused=True)
        if factors == "float64":
            yield replace(rule, order="divide")


def _integers(bits: Iterator[int] | range | tuple[int, ...]) -> Iterator[RequantizeRule]:
    for width in bits:
        usual = width in USUAL_BITS
        pairs = [(tie,) for tie in TIE_RULES]
        pairs += list(itertools.product(TIE_RULES, TIE_RULES)) if usual else []
        lefts = LEFT if usual else (("before", "wide"),)
        for roundings, made in itertools.product(pairs, ("upward", "even", "floor")):
            for left, overflow in lefts:
                yield RequantizeRule(
                    "integer", multiplier_bits=width, multiplier_rounding=made, roundings=roundings,
                    left_shift=left, left_overflow=overflow,
                )  # fmt: skip


def _shifts() -> Iterator[RequantizeRule]:
    for tie, (left, overflow) in itertools.product(TIE_RULES, LEFT):
        yield RequantizeRule("shift", roundings=(tie,), left_shift=left, left_overflow=overflow)
