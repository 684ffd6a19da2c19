"""matmul, and the proofs behind its float products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numerics.strategies import codes, quick
from tvmq import numerics
from tvmq.errors import AccumulatorError, ConfigError, RangeError
from tvmq.numerics.gemm import choose_plan, largest_magnitude_sum

SHAPES = [
    ((3,), (3,)), ((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((2, 1, 2, 3), (4, 3, 2)), ((0, 3), (3, 2)),
    ((2, 0), (0, 2)),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("a_shape", "b_shape"), SHAPES)
@given(st.data())
@quick
def test_matmul_equals_integers(a_shape, b_shape, data):
    a_type, b_type = data.draw(st.tuples(*[st.sampled_from(["uint8", "int8", "int16"])] * 2))
    a, b = data.draw(codes(a_type, a_shape)), data.draw(codes(b_type, b_shape))
    expected = np.matmul(a.astype(object), b.astype(object))
    if np.all(np.abs(expected) < 2**31):
        result = numerics.matmul(a, b)
        assert result.dtype == np.int32 and np.array_equal(result, expected)
    else:
        with pytest.raises(AccumulatorError, match="matmul: a sum reaches"):
            numerics.matmul(a, b)


@pytest.mark.slow
@given(st.data())
@quick
def test_zero_points_are_subtracted_first(data):
    """Equal to the product of the centred codes, and to what kernels compute: sums of codes less their corrections."""
    a_type, b_type = data.draw(st.tuples(*[st.sampled_from(["uint8", "int8"])] * 2))
    a, b = data.draw(codes(a_type, (2, 3, 5))), data.draw(codes(b_type, (5, 4)))
    a_zero, b_zero = (
        data.draw(st.integers(*(int(m) for m in (np.iinfo(t).min, np.iinfo(t).max)))) for t in (a_type, b_type)
    )
    result = numerics.matmul(a, b, a_zero=a_zero, b_zero=b_zero)
    wide = a.astype(np.int64), b.astype(np.int64)
    assert result.dtype == np.int32
    assert np.array_equal(result, np.matmul(wide[0] - a_zero, wide[1] - b_zero))
    rows, columns = wide[0].sum(-1, keepdims=True), wide[1].sum(-2, keepdims=True)
    assert np.array_equal(result, np.matmul(*wide) - b_zero * rows - a_zero * columns + 5 * a_zero * b_zero)


@pytest.mark.parametrize("depth", [500, 4000])
def test_deep_products_of_centred_codes(depth):
    a, b = np.full((1, depth), 255, np.uint8), np.full((depth, 1), -128, np.int8)
    assert numerics.matmul(a, b, a_zero=0, b_zero=127).tolist() == [[-255 * 255 * depth]]
    with pytest.raises(AccumulatorError, match="matmul: a sum reaches"):
        numerics.matmul(np.resize(a, (1, 40000)), np.resize(b, (40000, 1)), b_zero=127)


@pytest.mark.parametrize(("name", "zero"), [("a_zero", -1), ("b_zero", 128)])
def test_zero_points_outside_of_the_type_are_refused(name, zero):
    with pytest.raises(RangeError, match=f"zero_point must be an integer in .* Got {zero} instead"):
        numerics.matmul(np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.int8), **{name: zero})


@pytest.mark.parametrize("depth", [514, 515, 3000, 65000])
@pytest.mark.parametrize("b_type", ["int8", "uint8"])
@pytest.mark.parametrize("largest", [1, 100])
def test_deep_products_are_exact(depth, b_type, largest):
    random = np.random.default_rng(depth)
    a = random.choice([0, 255], (2, depth)).astype(np.uint8)
    a[0] = 255
    b = random.choice([largest, largest - 1], (depth, 3)).astype(b_type)
    b[:, 0] = largest
    expected = a.astype(np.int64) @ b.astype(np.int64)
    assert np.array_equal(numerics.matmul(a, b), expected)
    assert np.array_equal(numerics.matmul(a[1], b[:, 1]), expected[1, 1])


def test_extremes_of_int32():
    lowest, highest = np.full((1, 2), -32768, np.int16), np.full((1, 2), 32767, np.int16)
    assert numerics.matmul(lowest, highest.T).tolist() == [[-2 * 32768 * 32767]]
    with pytest.raises(AccumulatorError, match="matmul: a sum reaches 2147483648, int32 ends at 2147483647"):
        numerics.matmul(lowest, lowest.T)
    # the lowest int32 itself fits: 65536 products of -32768
    ones, steps = np.ones((1, 65536), np.int16), np.full((65536, 1), -32768, np.int16)
    assert numerics.matmul(ones, steps).tolist() == [[-(2**31)]]
    ones[0, 0] = 2
    with pytest.raises(AccumulatorError, match="a sum reaches 2147516416"):
        numerics.matmul(ones, steps)


@pytest.mark.parametrize(("a", "b"), [((2, 3), (2, 3)), ((), (3,)), ((3,), ()), ((2, 3), (4,))])
def test_bad_shapes_are_refused(a, b):
    with pytest.raises(ConfigError, match=r"matmul: shapes \(..., M, K\) and \(..., K, N\) are needed"):
        numerics.matmul(np.zeros(a, np.int8), np.zeros(b, np.int8))


def test_float_operands_are_refused():
    with pytest.raises(ConfigError, match="codes must be integers"):
        numerics.matmul(np.zeros((2, 2)), np.zeros((2, 2), np.int8))


@given(st.integers(0, 10**6), st.integers(0, 2**32), st.integers(0, 2**60))
@quick
def test_plans_are_proved(depth, largest_product, largest_sum):
    largest_sum = min(largest_sum, depth * largest_product)
    try:
        plan = choose_plan(depth, largest_product, lambda: largest_sum)
    except AccumulatorError:
        assert depth * largest_product >= 2**53
        return
    bound = min(min(plan.piece, depth) * largest_product, largest_sum)
    assert bound < {np.float32: 2**24, np.float64: 2**53}[plan.dtype]
    assert plan.piece >= depth or depth * largest_product < 2**31


def test_largest_magnitude_sum():
    w = np.int8([[-128, 127], [-128, -128]])
    assert largest_magnitude_sum(w, 1) == 256 and largest_magnitude_sum(w, (0, 1)) == 511
    assert largest_magnitude_sum(w.astype(np.int16), 0) == 256
    assert largest_magnitude_sum(w[:0], 1) == 0
