"""add and add_params: equality with Python integers, the error bound, and that int32 holds every sum."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.numerics.strategies import codes, quick
from tvmq import numerics
from tvmq.errors import AccumulatorError, ConfigError, RangeError

ALL = {"uint8": np.arange(256, dtype=np.uint8), "int8": np.arange(-128, 128, dtype=np.int8)}
types = st.sampled_from(["uint8", "int8"])
moderate = st.floats(2.0**-30, 2.0**30, width=32)


def corner_zero(draw: st.DrawFn, dtype: str) -> int:
    limits = np.iinfo(dtype)
    low, high = int(limits.min), int(limits.max)
    return draw(st.one_of(st.sampled_from([low, high]), st.integers(low, high)))


@st.composite
def problems(draw: st.DrawFn) -> dict:
    """Types, zero points and scales of a, b and y; ratios over nearly the whole range that has parameters."""
    a_type, b_type, y_type = draw(types), draw(types), draw(types)
    scale_y = draw(moderate)
    ratios = st.one_of(st.sampled_from([1.0, 2.0, 0.5, 256.0]), st.floats(2.0**-40, 2.0**17))
    return {
        "a_type": a_type,
        "b_type": b_type,
        "y_type": y_type,
        "scales": [np.float32(draw(ratios) * scale_y), np.float32(draw(ratios) * scale_y), np.float32(scale_y)],
        "zeros": [corner_zero(draw, t) for t in (a_type, b_type, y_type)],
    }


@pytest.mark.slow
@given(problems(), st.data())
@settings(deadline=None, max_examples=200)
def test_add_equals_python_integers(problem, data):
    zero_a, zero_b, zero_y = problem["zeros"]
    a_scale, b_scale, y_scale = problem["scales"]
    params = numerics.add_params(a_scale, zero_a, b_scale, zero_b, y_scale)
    a, b = data.draw(codes(problem["a_type"], (4, 1))), data.draw(codes(problem["b_type"], (3,)))
    q = numerics.add(a, b, **params._asdict(), zero_point=zero_y, dtype=problem["y_type"])
    limits = np.iinfo(problem["y_type"])
    for i, j in itertools.product(range(4), range(3)):
        total = int(a[i, 0]) * params.a_multiplier + int(b[j]) * params.b_multiplier + params.offset
        steps = (total >> params.shift) + zero_y
        assert int(q[i, j]) == min(max(steps, limits.min), limits.max)
    assert q.dtype == problem["y_type"]


@pytest.mark.slow
@given(problems())
@settings(deadline=None, max_examples=200)
def test_error_bound_of_the_docstring(problem):
    """Every pair of codes at the ends and some between, against the real sum in exact fractions."""
    zero_a, zero_b, zero_y = problem["zeros"]
    scales = [Fraction(float(scale)) for scale in problem["scales"]]
    params = numerics.add_params(problem["scales"][0], zero_a, problem["scales"][1], zero_b, problem["scales"][2])
    a, b = ALL[problem["a_type"]][::17], ALL[problem["b_type"]][::17]
    q = numerics.add(a[:, None], b, **params._asdict(), zero_point=zero_y, dtype=problem["y_type"])
    bound = Fraction(1, 2) + Fraction(255, 2**params.shift)
    ratios = (scales[0] + scales[1]) / scales[2]
    assert Fraction(255, 2**params.shift) <= max(Fraction(16, 1000), Fraction(13, 100000) * ratios)
    limits = np.iinfo(problem["y_type"])
    for i, j in np.ndindex(*q.shape):
        real = ((int(a[i]) - zero_a) * scales[0] + (int(b[j]) - zero_b) * scales[1]) / scales[2] + zero_y
        if limits.min < int(q[i, j]) < limits.max:
            assert abs(int(q[i, j]) - real) <= bound
        else:  # saturated, or the real sum is at the end too
            assert real >= limits.max - bound if int(q[i, j]) == limits.max else real <= limits.min + bound


@pytest.mark.slow
@given(problems())
@settings(deadline=None, max_examples=200)
def test_every_partial_sum_fits_int32(problem):
    zero_a, zero_b, _ = problem["zeros"]
    params = numerics.add_params(problem["scales"][0], zero_a, problem["scales"][1], zero_b, problem["scales"][2])
    ends = [(int(ALL[t][0]), int(ALL[t][-1])) for t in (problem["a_type"], problem["b_type"])]
    for a, b in itertools.product(*ends):
        terms = [a * params.a_multiplier, b * params.b_multiplier, params.offset]
        for count in (1, 2, 3):
            for some in itertools.combinations(terms, count):
                assert -(2**31) <= sum(some) < 2**31


@pytest.mark.slow
@given(st.floats(2.0**-60, 1.0), st.floats(2.0**-60, 1.0))
@quick
def test_multipliers_are_int16_where_no_ratio_exceeds_one(a_ratio, b_ratio):
    params = numerics.add_params(np.float32(a_ratio), 0, np.float32(b_ratio), 0, 1.0)
    assert 0 <= params.a_multiplier < 2**15 and 0 <= params.b_multiplier < 2**15 and 14 <= params.shift <= 22


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("zero", [0, 77, 127])
def test_equal_scales_add_exactly(dtype, zero):
    params = numerics.add_params(0.1, zero, 0.1, zero, 0.1)
    a = ALL[dtype]
    q = numerics.add(a[:, None], a, **params._asdict(), zero_point=zero, dtype=dtype)
    exact = np.clip(a[:, None].astype(int) + a - zero, a[0], a[-1])
    assert np.array_equal(q, exact)


def test_adding_nothing_is_the_identity():
    for ratio in (1.0, 2.0**-30, 255.0):  # whatever the scale of b, its zero point adds 0
        params = numerics.add_params(0.1, 3, 0.1 * ratio, 9, 0.1)
        a = ALL["uint8"]
        assert np.array_equal(numerics.add(a, np.uint8(9), **params._asdict(), zero_point=3, dtype="uint8"), a)


def test_golden():
    assert numerics.add_params(1.0, 128, 1.0, 128, 1.0) == (16384, 16384, -4186112, 14)
    assert numerics.add_params(0.25, 0, 0.1, 5, 1.0) == (16384, 6554, 0x8000 - 32770, 16)
    assert numerics.add_params(4.0, 0, 1.0, 0, 1.0) == (2097152, 524288, 262144, 19)
    assert numerics.add_params(1e-30, 1, 1e-30, 1, 1.0) == (0, 0, 2**21, 22)
    params = numerics.add_params(0.5, 0, 0.5, 0, 1.0)  # halves round up
    q = numerics.add(np.int8([1, 3, -1, -3, 2]), np.int8(0), **params._asdict(), zero_point=0, dtype="int8")
    assert q.tolist() == [1, 2, 0, -1, 1]


def test_limits_of_the_codes_are_respected():
    params = numerics.add_params(1.0, 0, 1.0, 0, 1.0)._asdict()
    q = numerics.add(
        np.int8([-128, 127]), np.int8([-128, 127]), **params, zero_point=0, dtype="int8", qmin=-127, qmax=100
    )
    assert q.tolist() == [-127, 100]


@pytest.mark.parametrize(("arguments", "message"), [
    ((0.0, 0, 1.0, 0, 1.0), "scales must be positive and finite. Got 0, 1, 1 instead"),
    ((1.0, 0, np.nan, 0, 1.0), "Got 1, nan, 1 instead"),
    ((1.0, 0, 1.0, 0, np.inf), "Got 1, 1, inf instead"),
    ((1.0, 256, 1.0, 0, 1.0), r"zero_point must be an integer in -128\.\.255. Got 256"),
    ((1.0, 0, 1.0, 0, 2.0**-22), "too far above the output's for int32"),
    ((2.0**100, 0, 1.0, 0, 2.0**-100), "too far above the output's for int32"),
])  # fmt: skip
def test_impossible_parameters_are_refused(arguments, message):
    with pytest.raises(RangeError, match=message):
        numerics.add_params(*arguments)


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"a_multiplier": 2**24}, AccumulatorError, "add: the sum can reach 4278190335, int32 ends at 2147483647"),
    ({"offset": 2**31 - 1}, AccumulatorError, "int32 ends at"),
    ({"a": np.zeros(1, np.int16), "a_multiplier": 65536}, AccumulatorError, "int32 ends at"),
    ({"shift": 32}, RangeError, r"shift must lie in 0\.\.31. Got 32"),
    ({"shift": -1}, RangeError, "Got -1"),
    ({"zero_point": 256}, RangeError, "Got 256"),
    ({"a": np.zeros(1)}, ConfigError, "codes must be integers"),
])  # fmt: skip
def test_bad_arguments_are_refused(options, error, message):
    one = np.zeros(1, np.uint8)
    arguments = {"a": one, "b": one, "a_multiplier": 1, "b_multiplier": 1, "offset": 0, "shift": 1, "zero_point": 0}
    with pytest.raises(error, match=message):
        numerics.add(**{**arguments, **options}, dtype="uint8")


def test_empty():
    params = numerics.add_params(1.0, 0, 1.0, 0, 1.0)._asdict()
    assert numerics.add(np.zeros((2, 0), np.uint8), np.uint8(1), **params, zero_point=0, dtype="uint8").shape == (2, 0)


@pytest.mark.parametrize("scales", [(0.5, 0.25, 0.5), (0.01, 3.0, 0.02)])
def test_a_difference_has_a_negative_multiplier(scales):
    """All pairs of codes within half a step and the bound of the docstring."""
    params = numerics.add_params(scales[0], 3, scales[1], 200, scales[2], subtract=True)
    assert params.b_multiplier < 0 < params.a_multiplier
    a, b = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))
    found = numerics.add(a, b, **params._asdict(), zero_point=128, dtype="uint8").astype(np.float64)
    real = ((a.astype(float) - 3) * scales[0] - (b.astype(float) - 200) * scales[1]) / scales[2] + 128
    inside = (real > 0) & (real < 255)
    assert inside.sum() > 400
    assert np.abs(found - real)[inside].max() <= 0.5 + 255 / 2**params.shift + 1e-4


WIDE_PAIRS = st.sampled_from([("int16", "int16"), ("int16", "uint8"), ("int8", "int16")])


@st.composite
def wide_problems(draw: st.DrawFn) -> dict:
    """Types, scales and zero points with an operand of int16, symmetric or not; the codes of its ends and some between."""
    types = draw(WIDE_PAIRS)
    scale_y = draw(moderate)
    ratios = st.one_of(st.sampled_from([1.0, 2.0, 0.5, 256.0]), st.floats(2.0**-40, 2.0**12))
    scales = [np.float32(draw(ratios) * scale_y), np.float32(draw(ratios) * scale_y), np.float32(scale_y)]
    zeros = [0 if draw(st.booleans()) else corner_zero(draw, t) for t in types]
    return {"types": types, "scales": scales, "zeros": zeros, "subtract": draw(st.booleans())}


def wide_codes(dtype: str) -> np.ndarray:
    """All codes of 8 bits; of 16 the ends, those around zero and every 997th."""
    if dtype != "int16":
        return ALL[dtype]
    ends = [-(2**15), -(2**15) + 1, -1, 0, 1, 2**15 - 1]
    return np.concatenate([ends, np.arange(-(2**15), 2**15, 997)]).astype(np.int16)


@given(wide_problems())
@settings(deadline=None, max_examples=200)
@pytest.mark.slow
def test_int16_operands_stay_in_int32_and_within_the_bound(problem):
    """Equal to integers of any width, no partial sum leaves int32, and the error is that of the docstring."""
    (a_type, b_type), (zero_a, zero_b) = problem["types"], problem["zeros"]
    scale_a, scale_b, scale_y = problem["scales"]
    named = {"subtract": problem["subtract"], "dtypes": problem["types"]}
    params = numerics.add_params(scale_a, zero_a, scale_b, zero_b, scale_y, **named)
    a, b = wide_codes(a_type)[:, None], wide_codes(b_type)
    terms = [
        a.astype(object) * params.a_multiplier,
        b.astype(object) * params.b_multiplier,
        np.full((1, 1), params.offset, object),
    ]
    for count in (1, 2, 3):
        for some in itertools.combinations(terms, count):
            assert np.abs(sum(some)).max() < 2**31
    q = numerics.add(a, b, **params._asdict(), zero_point=0, dtype="int16")
    assert np.array_equal(q, np.clip(sum(terms) >> params.shift, -(2**15), 2**15 - 1).astype(np.int16))
    scales = [np.longdouble(float(scale)) for scale in problem["scales"]]
    steps = (a.astype(np.longdouble) - zero_a) * scales[0]
    steps = (steps + (-1 if problem["subtract"] else 1) * (b.astype(np.longdouble) - zero_b) * scales[1]) / scales[2]
    largest = [
        2**15 + abs(zero) if t == "int16" else 255 for t, zero in zip(problem["types"], problem["zeros"], strict=True)
    ]
    bound = 0.5 + sum(largest) / 2.0 ** (params.shift + 1)
    inside = (q > -(2**15)) & (q < 2**15 - 1)
    assert (np.abs(q - steps)[inside] <= bound * (1 + 1e-9)).all()


@pytest.mark.parametrize(("ratios", "shift"), [((1.0, 0.9), 15), ((0.5, 0.4), 16), ((1.9, 2.0), 14), ((1.0, 1.0), 14)])
def test_the_shift_of_int16_sums(ratios, shift):
    params = numerics.add_params(ratios[0], 0, ratios[1], 0, 1.0, dtypes=("int16", "int16"))
    assert params.shift == shift


def test_int16_scales_that_do_not_fit_are_refused():
    with pytest.raises(RangeError, match="too far above the output's for int32"):
        numerics.add_params(1.0, 0, 1.0, 0, 2.0**-15, dtypes=("int16", "int16"))
    with pytest.raises(RangeError, match=r"zero_point must be an integer in -32768\.\.32767. Got 40000"):
        numerics.add_params(1.0, 40000, 1.0, 0, 1.0, dtypes=("int16", "int16"))


def doubled(x: int, multiplier: int, shift: int) -> int:
    """TFLite's product, step by step in unbounded integers: half up at 31 bits, then half away from zero."""
    high, right = (x * multiplier + 2**30) // 2**31, -shift
    half = 2 ** (right - 1) if right else 0
    return (high + half) // 2**right if high >= 0 else -((-high + half) // 2**right)


@pytest.mark.parametrize("subtract", [False, True])
@pytest.mark.parametrize(
    ("scales", "zeros"), [((0.5, 0.25), (0, 10)), ((0.013, 0.4), (-128, 127)), ((1e-4, 3.0), (5, -7))]
)
def test_summand_tables(scales: tuple[float, float], zeros: tuple[int, int], subtract: bool) -> None:
    made = numerics.summand_tables(scales[0], zeros[0], scales[1], zeros[1], subtract=subtract)
    twice = 2 * max(float(np.float32(s)) for s in scales)
    assert made.scale == twice / 2**20
    for table, scale, zero, sign in zip((made.a, made.b), scales, zeros, (1, -1 if subtract else 1), strict=True):
        multiplier, shift = (int(v) for v in numerics.fixed_point_parameters(float(np.float32(scale)) / twice))
        wanted = [sign * doubled((code - zero) << 20, multiplier, shift) for code in range(-128, 128)]
        assert table.dtype == np.int32 and table.tolist() == wanted
        assert np.abs(table).max() <= 255 * 2**19


def test_summand_tables_refuse_scales() -> None:
    with pytest.raises(RangeError, match="add: scales must be positive and finite. Got 0, 1 instead"):
        numerics.summand_tables(0.0, 0, 1.0, 0)


@pytest.mark.parametrize("bits", [12, 16, 20, 24, 31])
def test_sums_fit_narrow_accumulators(bits: int):
    for ratios in ((1.0, 1.0), (0.3, 0.9), (2.0, 0.01)):
        params = numerics.add_params(ratios[0], 3, ratios[1], 200, 1.0, bits=bits)
        reach = 255 * (params.a_multiplier + params.b_multiplier) + abs(params.offset)
        assert reach < 2 ** (bits - 1)
        a, b = np.meshgrid(np.arange(256).astype(np.uint8), np.arange(256).astype(np.uint8))
        real = (a - 3.0) * ratios[0] + (b - 200.0) * ratios[1]
        found = numerics.add(a, b, **params._asdict(), zero_point=0, dtype="int16")
        assert np.abs(found - real).max() <= 0.5 + 255 / 2**params.shift
    assert numerics.add_params(0.5, 0, 0.5, 0, 1.0, bits=32) == numerics.add_params(0.5, 0, 0.5, 0, 1.0)
    with pytest.raises(RangeError, match=f"for int{bits}"):
        numerics.add_params(2.0**bits, 0, 1.0, 0, 1.0, bits=bits)
