"""QTensor: real values, printing, NumPy's functions on codes, and what is refused."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.numerics.strategies import quick
from tests.tensors.strategies import one_scale, qtensors
from tvmq.errors import ConfigError, DataError, RangeError, UnsupportedOpError
from tvmq.numerics import dequantize
from tvmq.numerics.spec import QParams, QuantSpec
from tvmq.tensors.qtensor import QTensor

HALF = QParams(0.5, 3, QuantSpec())
FILTERS = QParams(np.float32([0.5, 0.25]), 0, QuantSpec("int8", symmetric=True, per_channel=True), axis=0)


@quick
@given(qtensors())
def test_real_values_are_those_of_the_definition(q):
    real = dequantize(q.codes, q.scale, q.zero_point, axis=q.axis)
    np.testing.assert_array_equal(q.dequantize(), real)
    np.testing.assert_array_equal(np.asarray(q), real)
    np.testing.assert_array_equal(np.asarray(q, np.float64), real.astype(np.float64))
    assert q.int_repr().dtype == q.dtype and np.array_equal(q.int_repr(), q.codes)


@settings(deadline=None, max_examples=40)
@given(qtensors(), st.data())
def test_moves_commute_with_dequantize(q, data):
    order = data.draw(st.permutations(range(q.ndim)))
    start = data.draw(st.integers(0, 3))
    for move in (
        lambda a: a.transpose(*order),
        lambda a: np.transpose(a, order),
        lambda a: a[start:],
        lambda a: a[::-1, ..., None],
        lambda a: np.flip(a, 1),
        lambda a: np.squeeze(np.expand_dims(a, 0), 0),
        lambda a: a.reshape(*a.shape, 1),
        lambda a: np.concatenate([a, a], -1) if q.axis != q.ndim - 1 else np.repeat(a, 2, 0),
        lambda a: np.stack([a, a], start % (a.ndim + 1)),
    ):
        np.testing.assert_array_equal(np.asarray(move(q)), move(q.dequantize()))


@quick
@given(one_scale())
def test_order_of_codes_is_that_of_reals(q):
    real = q.dequantize()
    for axis in (None, 0, -1):
        np.testing.assert_array_equal(np.asarray(q.max(axis)), real.max(axis))
        np.testing.assert_array_equal(np.asarray(np.min(q, axis=axis)), real.min(axis))
    np.testing.assert_array_equal(np.asarray(q.max((0, 1), keepdims=True)), real.max((0, 1), keepdims=True))
    np.testing.assert_array_equal(np.asarray(np.sort(q, 0)), np.sort(real, 0))
    np.testing.assert_array_equal(np.take_along_axis(q.codes, q.argsort(0), 0), np.sort(q.codes, 0))
    assert q.argmax() == q.codes.argmax() and np.array_equal(np.argmin(q, 0), q.codes.argmin(0))
    np.testing.assert_array_equal(np.asarray(q.relu()), np.maximum(real, 0))


@quick
@given(qtensors(), st.floats(-4, 4, width=32))
def test_comparisons_with_numbers_are_those_of_real_values(q, number):
    real = q.dequantize()
    np.testing.assert_array_equal(q < number, real < number)
    np.testing.assert_array_equal(number <= q, number <= real)
    np.testing.assert_array_equal(q == real, np.ones(q.shape, bool))


@quick
@given(qtensors(), st.data())
def test_comparisons_of_tensors_are_exact(q, data):
    other = data.draw(qtensors(shape=q.shape))
    a, b = (_fractions(t) for t in (q, other))
    assert [bool(x) for x in (q > other).ravel()] == [x > y for x, y in zip(a, b, strict=True)]
    assert [bool(x) for x in (q == other).ravel()] == [x == y for x, y in zip(a, b, strict=True)]


def _fractions(q):
    channels = np.indices(q.shape)[q.axis].ravel() if q.axis is not None else np.zeros(q.size, int)
    scale, zero_point = np.atleast_1d(q.scale), np.atleast_1d(q.zero_point)
    return [
        (int(code) - int(zero_point[channel])) * Fraction(float(scale[channel]))
        for code, channel in zip(q.codes.ravel(), channels, strict=True)
    ]


def test_scales_go_with_their_channels():
    w = QTensor(np.arange(12, dtype=np.int8).reshape(2, 2, 3), FILTERS)
    assert w.T.axis == 2 and w[1].axis is None and float(w[1].scale) == 0.25
    assert w[:1].axis == 0 and w[:, 0].axis == 0 and w[..., 0].axis == 0
    assert w.reshape(2, -1).axis == 0 and w[None].axis == 1
    np.testing.assert_array_equal(w[::-1].scale, np.float32([0.25, 0.5]))
    np.testing.assert_array_equal(np.concatenate([w, w[:1]]).scale, np.float32([0.5, 0.25, 0.5]))
    assert np.stack([w, w]).axis == 1 and np.stack([w, w], -1).axis == 0
    assert w[:0].shape == (0, 2, 3) and w[:, :0].axis == 0
    np.testing.assert_array_equal(np.asarray(w.max((1, 2))), w.dequantize().max((1, 2)))


def test_codes_are_read_only_and_not_copied():
    codes = np.uint8([1, 2])
    q = QTensor(codes, HALF)
    assert np.shares_memory(codes, q.codes) and codes.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        q.codes[0] = 3
    q.int_repr()[0] = 3
    with pytest.raises(TypeError):
        q[0] = 3
    assert len(q) == 2 and [float(value) for value in q] == [-1.0, -0.5] and (q.size, q.nbytes) == (2, 2)


def test_copies():
    q = QTensor(np.uint8([1, 2]), HALF)
    for other in (copy.copy(q), copy.deepcopy(q), pickle.loads(pickle.dumps(q))):
        assert other.qparams == q.qparams and np.array_equal(other.codes, q.codes)


def test_text():
    assert repr(QTensor(np.uint8([0, 3, 5]), HALF)) == (
        "QTensor([-1.5,  0. ,  1. ], size=(3,), dtype=uint8, quantization_scheme=per_tensor_affine, "
        "scale=0.5, zero_point=3)"
    )
    few = QTensor(np.int8([[1], [-2]]), QParams(np.float32([0.5, 0.1]), 0, QuantSpec("int8", 4, True, True), axis=-2))
    assert repr(few).splitlines()[-1].endswith(
        "size=(2, 1), dtype=int8, bits=4, quantization_scheme=per_channel_symmetric, scale=[0.5, 0.1], "
        "zero_point=[0, 0], axis=0)"
    )
    assert "..." in repr(QTensor(np.zeros(2000, np.uint8), HALF))


def test_numbers():
    one = QTensor(np.uint8([[4]]), HALF)
    assert one.item() == float(one) == 0.5 and one and not QTensor(np.uint8([3]), HALF)
    with pytest.raises(DataError, match="item gives the value of a tensor of one, this one has 2"):
        QTensor(np.uint8([1, 2]), HALF).item()


@pytest.mark.parametrize(("call", "name", "remedy"), [
    (lambda q: q + 1, "add", r"tvmq.functional.add\(a, b, scale=, zero_point=\)"),
    (lambda q: 2 * q, "multiply", "tvmq.functional.mul"),
    (lambda q: q @ q, "matmul", "tvmq.functional.matmul"),
    (lambda q: np.dot(q, q), "dot", "tvmq.functional.matmul"),
    (lambda q: -q, "negative", r"call .dequantize\(\) for floats"),
    (np.mean, "mean", r"call .dequantize\(\) for floats"),
    (lambda q: np.add.reduce(q), "add", "tvmq.functional.add"),
    (lambda q: np.less(q, q, where=True), "less", r"call .dequantize\(\) for floats"),
])  # fmt: skip
def test_refusals(call, name, remedy):
    with pytest.raises(UnsupportedOpError, match=f"what numpy.{name} gives has no code of the same scale; .*{remedy}"):
        call(QTensor(np.uint8([1, 2]), HALF))


@pytest.mark.parametrize(("call", "message"), [
    (lambda w: w.max(), "max over axis 0, whose channels have scales of their own; name other axes"),
    (lambda w: w.sort(-3), "sort over axis 0"),
    (lambda w: w.argmin((0, 1)), "argmin over axis 0"),
    (lambda w: w.reshape(3, -1), "reshape would mix channels of axis 0, which have scales of their own; quantize with"),
    (lambda w: np.concatenate([w, w[::-1]], 1), "part 1 of what is joined has another scale, zero point or type than"),
    (lambda w: np.concatenate([w, w.codes]), "part 1 of what is joined is ndarray; tvmq.quantize_tensor makes codes of it"),
    (lambda w: np.stack([w, w[::-1]]), r"part 1 .* tvmq.functional.cat\(parts, axis, scale=, zero_point=\) brings all to one"),
    (lambda w: QTensor(np.uint8([1]), w.qparams), "codes must be int8, as the spec says. Got uint8 instead"),
    (lambda w: QTensor(np.int8([1]), w.qparams), r"2 scales on axis 0 do not fit codes of shape \(1,\)"),
    (lambda w: QTensor(np.int8([1]), 0.5), "qparams must be a QParams. Got float instead"),
])  # fmt: skip
def test_what_does_not_fit(call, message):
    with pytest.raises(ConfigError, match=f"QTensor: {message}"):
        call(QTensor(np.zeros((2, 2, 3), np.int8), FILTERS))


def test_codes_outside_of_the_spec():
    with pytest.raises(RangeError, match=r"QTensor: codes must lie in 0..15. Got 16 instead"):
        QTensor(np.uint8([3, 16]), QParams(0.5, 3, QuantSpec(bits=4)))


def test_what_numpy_reads():
    q = QTensor(np.uint8([[1, 2]]), HALF)
    assert np.shape(q) == (1, 2) and np.ndim(q) == 2 and np.size(q) == 2
    assert np.array_equal(q, [[-1.0, -0.5]]) and np.allclose(q, q)
    with pytest.raises(ValueError, match=r"real values are computed, which is a copy; int_repr\(\) gives the codes"):
        q.__array__(copy=False)
