"""Identification of a requantize rule from its results."""

import numpy as np
import pytest

import tvmq
from tvmq.chips.emulation.identify import rule_text
from tvmq.chips.emulation.requantize_candidates import candidates
from tvmq.errors import DataError
from tvmq.numerics.known_rules import KNOWN_RULES
from tvmq.numerics.requantize_rule import RequantizeRule, apply


def observed(rule, seed=0, zero=3, count=20000, dtype="int8", powers=False):
    """Sums near ties with scales, and what the rule gives."""
    random = np.random.default_rng(seed)
    scale_w = np.exp2(random.uniform(-24, 6, count)).astype(np.float32)
    exact = np.full(count, True) if powers else np.arange(count) % 3 == 0  # powers of two: real ties
    scale_w = np.where(exact, np.exp2(np.rint(np.log2(scale_w))), scale_w).astype(np.float32)
    ends = [np.where(exact, power, other).astype(np.float32) for power, other in ((0.25, 0.0371), (0.5, 0.0911))]
    scales = (ends[0], scale_w, ends[1])
    steps = random.integers(-140, 140, count) + 0.5
    real = RequantizeRule().factor(*scales)
    acc = np.clip(np.rint(steps / real) + random.integers(-1, 2, count), -(2**31), 2**31 - 1).astype(np.int32)
    factor = rule.factor(*scales)
    return acc, scales, apply(rule, acc, factor, zero_point=zero, axis=0, divisor=scales[2], dtype=dtype)


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", KNOWN_RULES)
def test_known_rules_are_found(name):
    rule = KNOWN_RULES[name]
    acc, scales, out = observed(rule, powers=rule.arithmetic == "shift")
    found = tvmq.identify_requantize(acc, out, scales=scales, zero_point=3)
    assert found.differing == 0 and found.rule is not None
    again = apply(found.rule, acc, found.rule.factor(*scales), zero_point=3, axis=0, divisor=scales[2], dtype="int8")
    np.testing.assert_array_equal(again, out)
    assert name in found.known


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("rule", [
    RequantizeRule("integer", multiplier_bits=15, roundings=("away",)),
    RequantizeRule("integer", multiplier_bits=11, roundings=("floor",)),
    RequantizeRule("integer", roundings=("floor", "upward")),
    RequantizeRule(roundings=("truncate",), zero_point="before"),
    RequantizeRule(order="divide"),
])  # fmt: skip
def test_others_are_found_and_no_other(rule):
    acc, scales, out = observed(rule)
    found = tvmq.identify_requantize(acc, out, scales=scales, zero_point=3)
    assert found.rule == rule
    assert not found.known


@pytest.mark.slow
def test_what_no_rule_explains_has_the_smallest_counter_example():
    acc, scales, out = observed(KNOWN_RULES["tflite"])
    at = int(np.argmin(np.abs(acc.astype(np.int64))))
    out = out.copy()
    out[at] += 1
    found = tvmq.identify_requantize(acc, out, scales=scales, zero_point=3)
    assert found.rule is None and found.differing == 1 and "fixed_point_double" in found.known
    assert (found.smallest.acc, found.smallest.answered, found.smallest.ruled) == (acc[at], out[at], out[at] - 1)
    assert "no rule of the algebra explains all 20000 values; the nearest is" in str(found)


@pytest.mark.slow
def test_zero_points_of_each_value_and_factors():
    acc = np.int32([-6, -2, 2, 6, 10, 6])
    found = tvmq.identify_requantize(acc, np.uint8([7, 8, 9, 10, 11, 102]), factor=0.25, zero_point=[8] * 5 + [100])
    assert found.rule.roundings == ("upward",)


@pytest.mark.slow
def test_every_candidate_is_there_once():
    found = candidates()
    assert len(found) == len(set(found)) and found[0] == KNOWN_RULES["float"]
    texts = [rule_text(rule) for rule in found]
    assert len(set(texts)) == len(texts)


@pytest.mark.slow_cases("given4-no rule of the algebra has a form")
@pytest.mark.parametrize("given, message", [
    ({"acc": np.int32([]), "answers": np.int8([])}, "needs as many answers as sums"),
    ({"acc": np.int32([1, 2]), "answers": np.int8([1])}, "needs as many answers as sums"),
    ({"acc": np.int32([1]), "answers": np.int8([1]), "factor": None}, "give scales="),
    ({"acc": np.int32([1, 2]), "answers": np.int8([1, 2]), "factor": [1.0, 2.0, 3.0]}, "do not fit sums of shape"),
    ({"acc": np.int32([1]), "answers": np.int8([1]), "factor": -1.0}, "no rule of the algebra has a form"),
])  # fmt: skip
def test_refused(given, message):
    with pytest.raises(DataError, match=message):
        tvmq.identify_requantize(given.pop("acc"), given.pop("answers"), **{"factor": 1.0, **given})
