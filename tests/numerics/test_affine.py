"""quantize, dequantize, quantize_bias, check_finite."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numerics.strategies import code_limits, floats, quick, scales
from tvmq import numerics
from tvmq.errors import ConfigError, RangeError


def slow_quantize(x: float, scale: float, zero_point: int, low: int, high: int) -> int:
    """Quantize one number; a float64 quotient of two float32, rounded to float32, equals a float32 division."""
    if math.isnan(x):
        return low
    if math.isinf(x):
        return high if x > 0 else low
    with np.errstate(over="ignore"):
        quotient = float(np.float32(x / scale))
    if math.isinf(quotient):
        return high if quotient > 0 else low
    return min(max(round(quotient) + zero_point, low), high)


@pytest.mark.slow
@given(st.lists(floats, max_size=20), scales, code_limits())
@quick
def test_quantize_equals_the_slow_definition(values, scale, limits):
    dtype, low, high, zero_point = limits
    q = numerics.quantize(np.float32(values), scale, zero_point, dtype=dtype, qmin=low, qmax=high)
    assert q.dtype == dtype
    assert q.tolist() == [slow_quantize(x, scale, zero_point, low, high) for x in values]


@pytest.mark.slow
@given(st.integers(-300, 300), st.integers(-100, 20), code_limits())
@quick
def test_ties_round_to_even(halves, exponent, limits):
    dtype, low, high, zero_point = limits
    scale = 2.0**exponent
    q = numerics.quantize(np.float32(halves * scale / 2), scale, zero_point, dtype=dtype, qmin=low, qmax=high)
    steps = halves // 2 + (halves % 2) * (halves // 2 % 2)
    assert int(q) == min(max(steps + zero_point, low), high)


def test_quantize_golden():
    x = np.float32([-np.inf, -1.25, -0.75, -0.25, -0.0, 0.25, 0.75, 1.25, np.inf, np.nan])
    assert numerics.quantize(x, 0.5, 3, dtype="uint8").tolist() == [0, 1, 1, 3, 3, 3, 5, 5, 255, 0]
    assert numerics.quantize(x, 0.5, -3, dtype="int8", qmin=-4, qmax=4).tolist() == [
        -4, -4, -4, -3, -3, -3, -1, -1, 4, -4,
    ]  # fmt: skip


def test_quantize_divides():
    x, scale = (np.float32(0.18850000202655792), np.float32(0.013000000268220901))  # 14.5 exactly, after rounding
    assert np.float32(x / scale) == 14.5 != x * (np.float32(1) / scale)
    assert int(numerics.quantize(x, scale, 0, dtype="uint8")) == 14


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3, 4)])
def test_shapes_are_kept(shape):
    x = np.full(shape, 2.0, np.float32)
    q = numerics.quantize(x, 0.5, 1, dtype="int8")
    assert q.shape == shape and (q == 5).all()
    back = numerics.dequantize(q, 0.5, 1)
    assert back.shape == shape and back.dtype == np.float32 and (back == 2).all()


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_channels_lie_along_the_axis(axis):
    random = np.random.default_rng(0)
    x = random.standard_normal((3, 3, 3)).astype(np.float32)
    scale, zero_point = np.float32([0.1, 1e-40, 7.0]), np.int32([0, 255, 127])
    q = numerics.quantize(x, scale, zero_point, axis=axis, dtype="uint8")
    back = numerics.dequantize(q, scale, zero_point, axis=axis)
    for channel in range(3):
        part, codes, real = (np.moveaxis(array, axis, 0)[channel] for array in (x, q, back))
        one = scale[channel], zero_point[channel]
        assert np.array_equal(codes, numerics.quantize(part, *one, dtype="uint8"))
        assert np.array_equal(real, numerics.dequantize(codes, *one))


def test_quantize_equals_onnxruntime():
    onnxruntime = pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    node = helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", [None]), ("s", []))
    ]
    inputs.append(helper.make_tensor_value_info("z", TensorProto.UINT8, []))
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.UINT8, [None])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    random = np.random.default_rng(0)
    for scale, zero_point in ((0.013, 7), (1 / 3, 128), (0.25, 255)):
        halves = random.integers(-600, 600, 5000)
        x = (halves * np.float32(scale) / 2).astype(np.float32)  # ties and near-ties
        inputs = {"x": x, "s": np.array(scale, np.float32), "z": np.array(zero_point, np.uint8)}
        theirs = session.run(None, inputs)[0]
        assert np.array_equal(numerics.quantize(x, scale, zero_point, dtype="uint8"), theirs)


@pytest.mark.slow
@given(st.integers(-(2**15), 2**15 - 1), scales, st.integers(-(2**15), 2**15 - 1))
@quick
def test_dequantize_equals_the_slow_definition(q, scale, zero_point):
    with np.errstate(over="ignore"):
        expected = np.float32((q - zero_point) * scale)  # exact in float64, so rounded once
    assert numerics.dequantize(np.int16(q), scale, zero_point) == expected


@pytest.mark.parametrize("exponent", range(-110, 111, 20))
def test_codes_survive_dequantize_and_quantize(exponent):
    codes = np.arange(256, dtype=np.uint8)
    for mantissa in np.random.default_rng(0).uniform(1, 2, 20):
        scale = np.float32(mantissa * 2.0**exponent)
        assert np.array_equal(numerics.quantize(numerics.dequantize(codes, scale, 37), scale, 37, dtype="uint8"), codes)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, [1.0, 0.0]])
def test_bad_scales_are_refused(scale):
    axis = 0 if np.ndim(scale) else None
    with pytest.raises(RangeError, match="scale must be positive and finite"):
        numerics.quantize(np.zeros(2), scale, 0, axis=axis, dtype="int8")
    with pytest.raises(RangeError, match="scale must be positive and finite"):
        numerics.dequantize(np.zeros(2, np.int8), scale, 0, axis=axis)


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"zero_point": 128}, RangeError, r"zero_point must be an integer in -128\.\.127. Got 128"),
    ({"zero_point": 0.5}, RangeError, "Got 0.5 instead"),
    ({"zero_point": -5, "qmin": -4}, RangeError, r"-4\.\.127. Got -5"),
    ({"qmin": -129}, RangeError, r"codes of int8 must lie in -128\.\.127. Got qmin -129"),
    ({"qmin": 5, "qmax": 4}, RangeError, "Got qmin 5 and qmax 4"),
    ({"dtype": "int32"}, ConfigError, "must be one of int8, uint8, int16, uint16. Got int32"),
    ({"scale": [1.0, 1.0], "axis": 0}, ConfigError, r"Got shape \(2,\) for axis 0 of \(3,\) instead"),
    ({"scale": [1.0, 1.0, 1.0], "axis": 1}, ConfigError, "for axis 1 of"),
    ({"scale": [1.0, 1.0, 1.0]}, ConfigError, "for axis None"),
    ({"scale": [[1.0]]}, ConfigError, r"Got shape \(1, 1\)"),
])  # fmt: skip
def test_bad_parameters_are_refused(options, error, message):
    arguments = {"scale": 1.0, "zero_point": 0, "dtype": "int8", **options}
    with pytest.raises(error, match=message):
        numerics.quantize(np.zeros(3, np.float32), **arguments)


@pytest.mark.slow
@given(st.floats(-1e6, 1e6), st.floats(2.0**-20, 1.0, width=32), st.floats(2.0**-20, 1.0, width=32))
@quick
def test_bias_equals_the_slow_definition(bias, scale_x, scale_w):
    steps = round(bias / (scale_x * scale_w))
    if abs(steps) < 2**31:
        q = numerics.quantize_bias(np.float64([bias]), scale_x, [scale_w])
        assert q.dtype == np.int32 and q.tolist() == [steps]
    else:
        with pytest.raises(RangeError, match="of channel 0 is"):
            numerics.quantize_bias(np.float64([bias]), scale_x, [scale_w])


@pytest.mark.parametrize("bias", [np.nan, np.inf, 3e9])
def test_a_bias_out_of_int32_names_its_channel(bias):
    with pytest.raises(RangeError, match="channel 1 is .* a larger weight scale"):
        numerics.quantize_bias(np.float64([0.0, bias]), 1.0, [1.0, 1.0])


def test_check_finite():
    numerics.check_finite(np.float32([0, 1e38]), "x")
    numerics.check_finite(np.zeros((2, 0)), "x")
    with pytest.raises(RangeError, match=r"tensor 'conv/weight': 2 of 6 values .* first -inf at index \(0, 2\)"):
        numerics.check_finite(np.float32([[0, 1, -np.inf], [np.nan, 0, 0]]), "conv/weight")
