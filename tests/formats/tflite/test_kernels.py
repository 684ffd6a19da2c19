"""The arithmetic of this exporter against the kernels themselves: single operators, every code."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq import numerics
from tvmq.formats.tflite import arithmetic
from tvmq.formats.tflite.flatbuffer import Flatbuffer, Quantization

pytest.importorskip("tflite", reason="pip install 'tvmq[tflite]' writes TFLite files")
pytest.importorskip("ai_edge_litert", reason="pip install ai-edge-litert runs TFLite files")
pytest.importorskip("tflite_micro", reason="pip install tflite-micro runs TFLite files")
import tests.support.devices.tflite_runtimes as runtimes  # noqa: E402 -- after the skips

CODES = np.arange(-128, 128, dtype=np.int8)
SX, SY = np.float32(0.037), np.float32(0.11)


def results(file: Flatbuffer, inputs: dict[str, int], output: int, arrays: list[np.ndarray]) -> dict[str, np.ndarray]:
    """{tool: what it gives}."""
    data = file.pack(inputs, {"y": output})
    with runtimes.silent():
        micro = runtimes.micro(data)
        return {
            "LiteRT": runtimes.run_litert(runtimes.litert(data), arrays)[0],
            "micro": runtimes.run_micro(micro, arrays)[0],
        }


@pytest.mark.parametrize("scales", [(0.5, 0.25, 0.75), (0.0123, 0.456, 0.03), (0.02, 0.02, 0.0399)])
@pytest.mark.parametrize("code", ["ADD", "SUB"])
def test_sums_of_all_pairs(code: str, scales: tuple[float, float, float]) -> None:
    kinds = [Quantization((s,), z) for s, z in zip(scales, (3, -128, 127), strict=True)]
    file, shape = Flatbuffer(), (1, 256, 256, 1)
    a, b, y = (file.tensor(name, shape, "int8", kind) for name, kind in zip("aby", kinds, strict=True))
    file.operator(code, [a, b], [y], version=2, table=f"{code.title()}Options", fused_activation_function=0)
    left, right = np.meshgrid(CODES, CODES)
    made = numerics.summand_tables(scales[0], 3, scales[1], -128, subtract=code == "SUB")
    factor = made.scale / np.float64(np.float32(scales[2]))
    constants = arithmetic.multiplier_of(np.float64(factor))
    total = numerics.table(left, made.a) + numerics.table(right, made.b)
    wanted = numerics.requantize(total, *constants, zero_point=127, mode="fixed_point", rounding="DOUBLE", dtype="int8")
    arrays = [side.reshape(shape) for side in (left, right)]
    for tool, found in results(file, {"a": a, "b": b}, y, arrays).items():
        np.testing.assert_array_equal(found.reshape(256, 256), wanted, err_msg=tool)


def test_a_table_is_gathered() -> None:
    table = np.random.default_rng(0).integers(-128, 128, 256).astype(np.int8)
    file = Flatbuffer()
    x = file.tensor("x", (1, 16, 4, 4), "int8", Quantization((0.5,), 3))
    wide, place = file.tensor("wide", (1, 16, 4, 4), "int32"), file.tensor("place", (1, 16, 4, 4), "int32")
    y = file.tensor("y", (1, 16, 4, 4), "int8", Quantization((0.25,), 1))
    file.operator("CAST", [x], [wide], table="CastOptions", in_data_type=9, out_data_type=2)
    first = file.constant("first", np.int32([128]))
    file.operator("ADD", [wide, first], [place], table="AddOptions", fused_activation_function=0)
    values = file.constant("table", table, Quantization((0.25,), 1))
    file.operator("GATHER", [values, place], [y], version=2, table="GatherOptions", axis=0)
    for tool, found in results(file, {"x": x}, y, [CODES.reshape(1, 16, 4, 4)]).items():
        np.testing.assert_array_equal(found.ravel(), table, err_msg=tool)


def weighted(code: str, random: np.random.Generator) -> tuple[Flatbuffer, tuple[int, int, int], list[np.ndarray]]:
    """A convolution of one pixel a window: the file, (x, y, channels), its weight (filters, depth), scales and bias."""
    file, depth = Flatbuffer(), 16
    filters = depth if code == "DEPTHWISE_CONV_2D" else 24
    scales = random.uniform(0.004, 0.05, filters).astype(np.float32)
    weight = random.integers(-127, 128, (filters, depth)).astype(np.int8)
    bias = random.integers(-3000, 3000, filters).astype(np.int32)
    x = file.tensor("x", (1, 40, 40, depth), "int8", Quantization((float(SX),), 5))
    y = file.tensor("y", (1, 40, 40, filters), "int8", Quantization((float(SY),), -20))
    sums = Quantization(tuple(float(s) for s in SX * scales))
    options = {"padding": 1, "stride_w": 1, "stride_h": 1}
    dilation = {"dilation_w_factor": 1, "dilation_h_factor": 1, "fused_activation_function": 0}
    shape: tuple[int, ...] = (filters, 1, 1, depth)
    if code == "DEPTHWISE_CONV_2D":
        weight = np.diag(np.diagonal(weight)).astype(np.int8)
        values, axis = np.ascontiguousarray(np.diagonal(weight)).reshape(1, 1, 1, depth), 3
    else:
        values, axis = weight.reshape(shape), 0
    w = file.constant("w", values, Quantization(tuple(map(float, scales)), 0, axis))
    b = file.constant("b", bias, sums)
    if code == "TRANSPOSE_CONV":
        size = file.constant("size", np.int32([1, 40, 40, filters]))
        file.operator(code, [size, w, x, b], [y], version=3, table="TransposeConvOptions", **options)
    elif code == "CONV_2D":
        file.operator(code, [x, w, b], [y], version=3, table="Conv2DOptions", **options, **dilation)
    else:
        file.operator(code, [x, w, b], [y], version=3, table="DepthwiseConv2DOptions", depth_multiplier=1, **options,
                      **dilation)  # fmt: skip
    return file, (x, y, depth), [weight, scales.astype(np.float64), bias]


@pytest.mark.parametrize("code", ["CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"])
def test_sums_of_products_are_rounded_twice(code: str) -> None:
    random = np.random.default_rng(3)
    file, (x, y, depth), (weight, scales, bias) = weighted(code, random)
    codes = random.integers(-128, 128, (1, 40, 40, depth)).astype(np.int8)
    sums = ((codes.astype(np.int32) - 5) @ weight.T.astype(np.int32) + bias).astype(np.int32)
    factor = np.float64(SX) * scales / np.float64(SY)
    constants = arithmetic.multiplier_of(factor)
    said = {"zero_point": -20, "axis": 3, "mode": "fixed_point", "dtype": "int8"}
    wanted = numerics.requantize(sums, *constants, rounding="DOUBLE", **said)
    once = numerics.requantize(sums, *constants, rounding="UPWARD", **said)
    assert (once != wanted).any(), "these sums tell the rules apart"
    for tool, found in results(file, {"x": x}, y, [codes]).items():
        np.testing.assert_array_equal(found, wanted, err_msg=tool)


def test_products_of_all_pairs() -> None:
    """Each runtime has a factor of its own: LiteRT's is made in float32, tflite-micro's in float64."""
    scales = np.float32([0.0173, 0.0291, 0.0417])
    kinds = [Quantization((float(s),), z) for s, z in zip(scales, (3, -128, 7), strict=True)]
    file, shape = Flatbuffer(), (1, 256, 256, 1)
    a, b, y = (file.tensor(name, shape, "int8", kind) for name, kind in zip("aby", kinds, strict=True))
    file.operator("MUL", [a, b], [y], version=2, table="MulOptions", fused_activation_function=0)
    left, right = np.meshgrid(CODES, CODES)
    product = (left.astype(np.int32) - 3) * (right.astype(np.int32) + 128)
    found = results(file, {"a": a, "b": b}, y, [side.reshape(shape) for side in (left, right)])
    wide = [np.float64(s) for s in scales]
    for tool, factor in (("LiteRT", scales[0] * scales[1] / scales[2]), ("micro", wide[0] * wide[1] / wide[2])):
        steps = arithmetic.multiply(product, *arithmetic.multiplier_of(np.float64(factor)))
        wanted = np.clip(steps + 7, -128, 127)
        np.testing.assert_array_equal(found[tool].reshape(256, 256), wanted, err_msg=tool)


@pytest.mark.parametrize("scales", [(0.5, 0.25), (0.0371, 0.0532), (0.02, 0.35)])
def test_all_codes_in_another_scale(scales: tuple[float, float]) -> None:
    file, shape = Flatbuffer(), (1, 16, 16, 1)
    x = file.tensor("x", shape, "int8", Quantization((scales[0],), 3))
    y = file.tensor("y", shape, "int8", Quantization((scales[1],), -9))
    file.operator("QUANTIZE", [x], [y], version=2, table="QuantizeOptions")
    factor = np.float64(np.float32(scales[0])) / np.float64(np.float32(scales[1]))
    wanted = np.clip(arithmetic.multiply(CODES.astype(np.int64) - 3, *arithmetic.multiplier_of(factor)) - 9, -128, 127)
    for tool, found in results(file, {"x": x}, y, [CODES.reshape(shape)]).items():
        np.testing.assert_array_equal(found.ravel(), wanted, err_msg=tool)
