"""The requantize algebra: every rule against Python integers and fractions, and the rules that are known by name."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numerics.strategies import SUMS, code_limits, quick
from tests.numerics.test_tie_rules import slow_round
from tvmq import numerics
from tvmq.backends import Backend
from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.known_rules import KNOWN_RULES
from tvmq.numerics.requantize_rule import RequantizeRule, apply, rule_of_mode
from tvmq.numerics.rule_arithmetic import fit_bits, fused_multiply_add
from tvmq.numerics.tie_rules import TIE_RULES

TIES = st.sampled_from(TIE_RULES)
LEFT = {
    "left_shift": st.sampled_from(["before", "after"]),
    "left_overflow": st.sampled_from(["wide", "saturate", "wrap"]),
}
INTEGER_RULES = st.one_of(
    st.builds(
        RequantizeRule, st.just("integer"), multiplier_bits=st.sampled_from([31, 15, 8]),
        roundings=st.one_of(st.tuples(TIES), st.tuples(TIES, TIES)), **LEFT,
    ),
    st.builds(RequantizeRule, st.just("shift"), roundings=st.tuples(TIES), **LEFT),
)  # fmt: skip
FLOAT_RULES = st.one_of(
    st.builds(RequantizeRule, roundings=st.tuples(TIES), zero_point=st.sampled_from(["after", "before"])),
    st.builds(RequantizeRule, roundings=st.tuples(TIES), order=st.just("divide")),
    st.builds(RequantizeRule, roundings=st.tuples(TIES), zero_point=st.just("before"), fused=st.just(True)),
)
OURS = {
    "float": ("float", "UPWARD"),
    "fixed_point": ("fixed_point", "UPWARD"),
    "fixed_point_away": ("fixed_point", "TONEAREST"),
    "fixed_point_double": ("fixed_point", "DOUBLE"),
    "power_of_two": ("power_of_two", "UPWARD"),
    "power_of_two_away": ("power_of_two", "TONEAREST"),
}


def slow_narrow(value: int, overflow: str) -> int:
    if overflow == "saturate":
        return min(max(value, -(2**31)), 2**31 - 1)
    return (value + 2**31) % 2**32 - 2**31 if overflow == "wrap" else value


def slow_steps(rule: RequantizeRule, acc: int, mantissa: int, shift: int) -> int:
    """Steps of one sum in Python integers, which have no width."""
    bits, left, right = (0 if rule.arithmetic == "shift" else rule.multiplier_bits), max(shift, 0), max(-shift, 0)
    if rule.left_shift == "before":
        acc, left_behind = slow_narrow(acc << left, rule.left_overflow), None
    else:
        left_behind = left
    product = Fraction(acc * mantissa)
    if len(rule.roundings) == 2:
        high = slow_round(product / 2**bits, rule.roundings[0])
        steps = slow_round(Fraction(high, 2**right), rule.roundings[1])
        return steps if left_behind is None else slow_narrow(steps << left_behind, rule.left_overflow)
    if left_behind is None:
        return slow_round(product / 2 ** (bits + right), rule.roundings[0])
    steps = slow_round(product * 2**left_behind / 2 ** (bits + right), rule.roundings[0])
    return slow_narrow(steps, rule.left_overflow)


def to_float32(value: Fraction) -> np.float32:
    """The float32 next to an exact number, half to even."""
    near = np.float32(float(value))
    around = [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]
    return min(around, key=lambda one: (abs(Fraction(float(one)) - value), int(one.view(np.int32)) & 1))


def clipped(steps: int, zero_point: int, low: int, high: int) -> int:
    return min(max(steps + zero_point, low), high)


@pytest.mark.slow
@given(INTEGER_RULES, st.lists(SUMS, min_size=1, max_size=8), st.data(), code_limits())
@quick
def test_integer_rules_equal_integers_without_width(rule, sums, data, limits):
    dtype, low, high, zero_point = limits
    end = 1 if rule.arithmetic == "shift" else 2**rule.multiplier_bits - 1
    mantissa = data.draw(st.sampled_from([end, end // 2 + 1, end // 2]) | st.integers(0, end)) if end > 1 else 1
    shift = data.draw(st.integers(-35, 31))
    q = apply(rule, np.int32(sums), mantissa, shift, zero_point=zero_point, dtype=dtype, qmin=low, qmax=high)
    shift = max(shift, -32)
    assert q.dtype == dtype
    assert q.tolist() == [clipped(slow_steps(rule, acc, mantissa, shift), zero_point, low, high) for acc in sums]


@pytest.mark.slow
@given(FLOAT_RULES, SUMS, st.floats(2.0**-40, 4, width=32), st.floats(2.0**-20, 8, width=32), code_limits())
@quick
def test_float_rules_equal_fractions_rounded_as_they_say(rule, acc, factor, divisor, limits):
    dtype, low, high, zero_point = limits
    named = {"zero_point": zero_point, "divisor": divisor, "dtype": dtype, "qmin": low, "qmax": high}
    found = int(apply(rule, np.int32(acc), factor, **named))
    exact = Fraction(float(np.float32(acc))) * Fraction(factor)
    if rule.fused:
        steps = to_float32(exact + zero_point)
    else:
        steps = to_float32(exact)
        if rule.order == "divide":
            steps = to_float32(Fraction(float(steps)) / Fraction(divisor))
        if rule.zero_point == "before":
            steps = to_float32(Fraction(float(steps)) + zero_point)
    whole = slow_round(Fraction(float(steps)), rule.roundings[0])
    assert found == min(max(whole + (0 if rule.zero_point == "before" else zero_point), low), high)


@pytest.mark.slow
@given(st.sampled_from(TIE_RULES), SUMS, st.floats(2.0**-40, 4), code_limits())
@quick
def test_float64_rounds_once_to_a_double_and_then_to_a_step(tie, acc, factor, limits):
    dtype, low, high, zero_point = limits
    rule = RequantizeRule("float64", roundings=(tie,))
    found = int(apply(rule, np.int32(acc), factor, zero_point=zero_point, dtype=dtype, qmin=low, qmax=high))
    steps = float(Fraction(acc) * Fraction(factor))  # to nearest, half to even, as float64 multiplies
    assert found == clipped(slow_round(Fraction(steps), tie), zero_point, low, high)
    assert rule.equivalent_mode is None


def test_the_smallest_shifts_of_the_largest_sums():
    """-2^31 * 2^-33 is a quarter of a step, which rounds to 0; found by the test below."""
    rule, sums = KNOWN_RULES["power_of_two_away"], np.int32([-(2**31), 2**31 - 1])
    for power, wanted in ((-31, [-1, 1]), (-32, [-1, 0]), (-33, [0, 0]), (-40, [0, 0])):
        assert apply(rule, sums, 2.0**power, zero_point=0, dtype="int8").tolist() == wanted


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ours"), OURS.items())
@given(st.lists(SUMS, min_size=1, max_size=10), st.floats(0, 2.0**20, width=32), st.integers(-35, 29), code_limits())
@quick
def test_our_modes_are_rules(name, ours, sums, factor, power, limits):
    (mode, rounding), rule = ours, KNOWN_RULES[name]
    dtype, low, high, zero_point = limits
    assert rule.equivalent_mode == ours
    real = 2.0**power if mode == "power_of_two" else factor
    multiplier, shift = rule.constants(real)
    named = {"zero_point": zero_point, "dtype": dtype, "qmin": low, "qmax": high}
    expected = numerics.requantize(np.int32(sums), multiplier, shift, mode=mode, rounding=rounding, **named)
    assert np.array_equal(apply(rule, np.int32(sums), real, **named), expected)
    assert np.array_equal(apply(rule, np.int32(sums), multiplier, shift, **named), expected)


def test_powers_of_two_that_are_rounded_twice():
    """A quarter of 1 is 0, and 1 where the first rounding makes a half of it: so the rule is one of products."""
    rule, sums = rule_of_mode("power_of_two", "DOUBLE"), np.arange(-300, 300, dtype=np.int32)
    for power in (-5, -2, -1, 0, 1):
        named = {"zero_point": 3, "dtype": "int16"}
        wanted = numerics.requantize(sums, 0, power, mode="power_of_two", rounding="DOUBLE", **named)
        assert np.array_equal(apply(rule, sums, 2.0**power, **named), wanted)
    assert apply(rule, np.int32([1]), 0.25, zero_point=0, dtype="int8").tolist() == [1]
    assert Backend("x", requantize=("power_of_two",), roundings=("DOUBLE",)).rule() == rule


def test_constants_of_fixed_point_are_ours():
    factors = np.float64([0.75, 0.1, 1.3, 0.0037, 0.5, 1.0, 1 - 2.0**-40, 0.0, 2.0**-40])
    for found, ours in zip(
        KNOWN_RULES["fixed_point"].constants(factors), numerics.fixed_point_parameters(factors), strict=True
    ):
        assert found.dtype == np.int32 and np.array_equal(found, ours)


@pytest.mark.slow
@given(INTEGER_RULES, SUMS, st.integers(2**30, 2**31 - 1), st.integers(-34, 30), code_limits())
@quick
def test_an_equivalent_mode_gives_the_same_codes(rule, acc, multiplier, shift, limits):
    """Wherever the sum shifted to the left stays in int32, and everywhere unless it wraps."""
    dtype, low, high, zero_point = limits
    if rule.equivalent_mode is None or (rule.left_overflow == "wrap" and abs(acc) << max(shift, 0) >= 2**30):
        return
    mode, rounding = rule.equivalent_mode
    named = {"zero_point": zero_point, "dtype": dtype, "qmin": low, "qmax": high}
    found = apply(rule, np.int32(acc), multiplier, shift, **named)
    assert found == numerics.requantize(np.int32(acc), multiplier, shift, mode=mode, rounding=rounding, **named)


@pytest.mark.parametrize("rule", [
    RequantizeRule("integer", multiplier_bits=15, roundings=("upward",)),
    RequantizeRule("integer", roundings=("even",)),
    RequantizeRule("integer", roundings=("upward", "away"), left_shift="after"),
    RequantizeRule("shift", roundings=("floor",)),
    RequantizeRule(roundings=("away",)),
    RequantizeRule(zero_point="before"),
    RequantizeRule(order="divide"),
])  # fmt: skip
def test_rules_that_no_mode_is_equal_to(rule):
    assert rule.equivalent_mode is None


# ---- rules of other tools


def gemmlowp(x: int, multiplier: int, shift: int) -> int:
    """The formula of TFLite's reference kernels: a division that truncates, then a remainder against a threshold."""
    product = slow_narrow(x << max(shift, 0), "wrap") * multiplier
    nudged = product + (2**30 if product >= 0 else 1 - 2**30)
    high = abs(nudged) // 2**31 * (1 if nudged >= 0 else -1)
    right = max(-shift, 0)
    mask = 2**right - 1
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0))


def tosa(value: int, multiplier: int, shift: int, double: bool) -> int:
    """RESCALE's formula with its shift, 31 - ours; for values that it allows."""
    half = 1 << (shift - 1)
    if double and shift > 31:
        half += 2**30 if value >= 0 else -(2**30)
    return (value * multiplier + half) >> shift


@pytest.mark.slow
@given(SUMS, st.integers(2**30, 2**31 - 1), st.integers(-31, 20))
@quick
def test_tflite_and_cmsis_nn(acc, multiplier, shift):
    for name in ("tflite", "cmsis_nn"):
        found = apply(KNOWN_RULES[name], np.int32(acc), multiplier, shift, zero_point=0, dtype="int16")
        assert int(found) == min(max(gemmlowp(acc, multiplier, shift), -(2**15)), 2**15 - 1)


@pytest.mark.slow
@given(SUMS, st.integers(2**30, 2**31 - 1), st.integers(2, 62))
@quick
def test_tosa(acc, multiplier, shift):
    if not -(1 << (shift - 1)) <= acc < 1 << (shift - 1):
        return  # RESCALE is not defined there
    for name, double in (("tosa", False), ("tosa_double", True), ("tflite_single", False), ("cmsis_nn_single", False)):
        exact = tosa(acc, multiplier, shift, double)
        found = apply(KNOWN_RULES[name], np.int32(acc), multiplier, 31 - shift, zero_point=0, dtype="int16")
        assert int(found) == min(max(exact, -(2**15)), 2**15 - 1), name


def test_one_and_two_roundings_differ_on_ties_of_the_second():
    """0.6 / 2 steps: 0.6 is 1 at first, and half of it rounds up."""
    one, two = (
        int(apply(KNOWN_RULES[name], np.int32(1), 1288490189, -1, zero_point=0, dtype="int8"))
        for name in ("tflite_single", "tflite")
    )
    assert (one, two) == (0, 1)
    sums = np.arange(-4000, 4000).astype(np.int32)
    singles, doubles = (
        apply(KNOWN_RULES[name], sums, 1431655765, -9, zero_point=0, dtype="int8")
        for name in ("tflite_single", "tflite")
    )
    assert 0 < np.count_nonzero(singles != doubles) < 20


def test_factors_are_made_as_the_rule_says():
    x, w, y = np.float32(0.1), np.float32([0.2, 0.3]), np.float32(0.7)
    exact = np.float64(x) * np.float64(w) / np.float64(y)
    assert np.array_equal(KNOWN_RULES["tflite"].factor(x, w, y), exact)
    assert np.array_equal(KNOWN_RULES["onnxruntime"].factor(x, w, y), np.float64(x * w / y))
    halfway = RequantizeRule(factors="float32_product").factor(x, w, y)
    assert np.array_equal(halfway, np.float64(x * w) / np.float64(y))
    assert np.array_equal(RequantizeRule(order="divide").factor(x, w, y), np.float64(x * w))


@given(
    st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-(2.0**30), max_value=2.0**30),
    st.floats(2.0**-20, 2.0**20, width=32),
    st.integers(-(2**15), 2**15),
)
@quick
def test_a_fused_multiply_add_rounds_once(a, b, c):
    exact = Fraction(a) * Fraction(b) + c
    if exact == 0 or abs(exact) < Fraction(2) ** -120:
        return
    assert fused_multiply_add(np.float32(a), np.float32(b), np.float32(c)) == to_float32(exact)


def test_negative_slope_is_of_floats():
    q = apply(RequantizeRule(), np.int32([-100, 50]), 0.5, zero_point=10, negative_slope=0.1, dtype="int8")
    assert q.tolist() == [5, 35]
    with pytest.raises(ConfigError, match="negative_slope must be 1 in integers. Got 0.1"):
        apply(KNOWN_RULES["tflite"], np.int32([1]), 0.5, zero_point=0, negative_slope=0.1, dtype="int8")
    with pytest.raises(ConfigError, match="negative_slope must be 1 in float64. Got 0.1"):
        apply(RequantizeRule("float64"), np.int32([1]), 0.5, zero_point=0, negative_slope=0.1, dtype="int8")


def test_channels_lie_along_the_axis():
    sums = np.random.default_rng(0).integers(-5000, 5000, (2, 3, 3)).astype(np.int32)
    factors = np.float64([0.1, 0.02, 1.5])
    for rule in KNOWN_RULES.values():
        real = np.float64([0.25, 0.5, 2.0]) if rule.arithmetic == "shift" else factors
        q = apply(rule, sums, real, zero_point=5, axis=1, dtype="int8")
        for channel in range(3):
            assert np.array_equal(
                q[:, channel], apply(rule, sums[:, channel], real[channel], zero_point=5, dtype="int8")
            )


# ---- sums


@given(st.integers(-(2**40), 2**40), st.integers(8, 32))
@quick
def test_narrow_sums(value, bits):
    end = 2 ** (bits - 1)
    assert int(fit_bits(np.int64(value), bits, "saturate")) == min(max(value, -end), end - 1)
    assert int(fit_bits(np.int64(value), bits, "wrap")) == (value + end) % (2 * end) - end
    if -end <= value < end:
        assert int(fit_bits(np.int64([value]), bits, "proved")[0]) == value
    else:
        with pytest.raises(RangeError, match=f"a sum of {value} does not fit {bits} bits"):
            fit_bits(np.int64([value]), bits, "proved")


# ---- JSON


@pytest.mark.parametrize("name", KNOWN_RULES)
def test_known_rules_go_through_json(name):
    rule = KNOWN_RULES[name]
    assert RequantizeRule.from_dict(rule.to_dict()) == rule


@pytest.mark.slow
@given(INTEGER_RULES | FLOAT_RULES)
@quick
def test_rules_go_through_json(rule):
    assert RequantizeRule.from_dict(rule.to_dict()) == rule


@pytest.mark.parametrize(("data", "words"), [
    (["integer"], r"my.json: must be an object with fields of arithmetic, .* Got \['integer'\]"),
    ({"arithmetic": "integer"}, "my.json: roundings: is missing"),
    ({"arithmetic": "int", "roundings": ["even"]}, "my.json: arithmetic: 'int' .* allowed: float32, float64, integer, shift; did you"),
    ({"arithmetic": "integer", "roundings": "even"}, "my.json: roundings: must be a list. Got 'even'"),
    ({"arithmetic": "integer", "roundings": []}, "my.json: roundings: must be a list of 1 to 2 .* Got 0"),
    ({"arithmetic": "float32", "roundings": ["even", "away"]}, "my.json: roundings: must be a list of 1 to 1 .* Got 2"),
    ({"arithmetic": "integer", "roundings": ["upwards"]}, r"my.json: roundings\[0\]: .* did you mean 'upward'"),
    ({"arithmetic": "integer", "roundings": ["even"], "bits": 3}, "my.json: bits: unknown field; known: arithmetic"),
    ({"arithmetic": "integer", "roundings": ["even"], "left_shfit": "after"}, "did you mean 'left_shift'"),
    ({"arithmetic": "integer", "roundings": ["even"], "multiplier_bits": 32}, r"must be a whole number in 2..31. Got 32"),
    ({"arithmetic": "integer", "roundings": ["even"], "order": "divide"}, "order: says nothing of arithmetic 'integer'"),
    ({"arithmetic": "shift", "roundings": ["even"], "multiplier_bits": 15}, "multiplier_bits: says nothing"),
    ({"arithmetic": "float32", "roundings": ["even"], "left_shift": "after"}, "left_shift: says nothing"),
    ({"arithmetic": "float32", "roundings": ["even"], "fused": True}, "fused: needs zero_point 'before'"),
    ({"arithmetic": "float32", "roundings": ["even"], "fused": 1}, "fused: must be true or false. Got 1"),
])  # fmt: skip
def test_bad_rules_are_refused_by_their_path(data, words):
    with pytest.raises(ConfigError, match=words):
        RequantizeRule.from_dict(data, "my.json:")


def test_bad_rules_are_refused_in_python_too():
    with pytest.raises(ConfigError, match="RequantizeRule: roundings: must be a tuple"):
        RequantizeRule("integer", roundings=["even"])


@pytest.mark.parametrize(("name", "arguments", "words"), [
    ("fixed_point", {"multiplier": 2.0**30}, r"a factor must lie in 0\.\.1.07374e\+09. Got 1.07374e\+09"),
    ("float", {"multiplier": np.nan}, "Got nan"),
    ("fixed_point", {"multiplier": 2**31, "shift": 0}, r"an integer multiplier must lie in 0\.\.2\^31-1"),
    ("fixed_point", {"multiplier": 1, "shift": 32}, "shift must be at most 31. Got 32"),
    ("fixed_point", {"multiplier": 0.5, "acc": np.int64([2**31])}, r"sums must lie in int32. Got 2147483648"),
    ("fixed_point", {"multiplier": 0.5, "acc": np.float32([1])}, "sums must be integers. Got float32"),
    ("power_of_two", {"multiplier": 0.3}, "powers of two"),
])  # fmt: skip
def test_bad_numbers_are_refused(name, arguments, words):
    with pytest.raises(RangeError, match=words):
        apply(KNOWN_RULES[name], **{"acc": np.int32([1]), "zero_point": 0, "dtype": "int8", **arguments})
