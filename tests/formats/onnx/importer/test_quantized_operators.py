"""Models with QuantizeLinear, DequantizeLinear and operators on codes: imported, in integers, beside onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tests.support.float_products import run_in_float
from tests.support.models.quantized_models import Maker, assert_like_float_products, random_feed, results
from tvmq.errors import UnsupportedOpError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, const_value, is_const, op_name

CODES = ("uint8", "int8")
MICROSOFT = "com.microsoft"
ZERO = {"uint8": 120, "int8": -5}
PER_CHANNEL = np.float32([0.01, 0.003, 0.02, 0.007, 0.05, 0.011])


def input_codes(maker: Maker, shape: tuple[int, ...] = (1, 4, 9, 7), name: str = "x") -> list[str]:
    """A float input as codes with their scale and zero point."""
    numbers = maker.scale(0.04, ZERO[maker.codes])
    return [maker.node("QuantizeLinear", [maker.input(name, shape), *numbers], f"{name}_q"), *numbers]


@pytest.mark.slow_cases(
    "per channel-uint8", "per channel-int8", "grouped-uint8", "grouped-int8", "per tensor-uint8", "per tensor-int8",
    "uint8 weights-uint8", "uint8 weights-int8",
)  # fmt: skip
@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("kind", ["per channel", "per tensor", "uint8 weights", "grouped", "without bias"])
def test_convolution(codes: str, kind: str) -> None:
    """Conv between conversions, every way in which weights and biases are stored."""
    maker = Maker(codes=codes)
    x = maker.rounded(maker.input("x", (1, 4, 9, 7)), 0.04, ZERO[codes])
    scale: Any = PER_CHANNEL if kind != "per tensor" else np.float32(0.01)
    groups = 2 if kind == "grouped" else 1
    weight = (
        maker.weight((6, 4, 3, 3), np.float32(0.01), 128, "uint8")
        if kind == "uint8 weights"
        else maker.weight((6, 4 // groups, 3, 3), scale)
    )
    real = np.float32(0.04) * (np.float32(0.01) if kind == "uint8 weights" else scale)
    bias = [] if kind == "without bias" else [maker.bias(6, np.broadcast_to(real, 6).astype(np.float32))]
    c = maker.node("Conv", [x, weight, *bias], "conv", pads=[1, 0, 1, 2], strides=[1, 2], group=groups)
    module = assert_like_float_products(maker.model(maker.quantized(c, 0.2, ZERO[codes])))
    names = [layer["layers"] for layer in get_ledger(module).layers.values()]
    assert ["conv"] in names


@pytest.mark.slow
def test_weights_and_biases_keep_their_codes() -> None:
    """The integers of the file are those of the module: int8 weights, and int32 biases behind the zero point."""
    maker = Maker()
    x = maker.rounded(maker.input("x", (1, 4, 9, 7)), 0.04, 0)
    weight = maker.weight((6, 4, 3, 3), PER_CHANNEL)
    bias = maker.bias(6, np.float32(0.04) * PER_CHANNEL)
    model = maker.model(maker.quantized(maker.node("Conv", [x, weight, bias]), 0.2, 3))
    module, _ = results(model, random_feed(model))
    constants = [const_value(a) for _, v in View(module).bindings for a in getattr(v, "args", ()) if is_const(a)]
    stored = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    by_kind = {array.dtype.name + str(array.shape): array for array in constants}
    np.testing.assert_array_equal(by_kind["int8(6, 4, 3, 3)"], next(a for a in stored.values() if a.ndim == 4))
    np.testing.assert_array_equal(
        by_kind["int32(1, 6, 1, 1)"].ravel(), next(a for a in stored.values() if a.dtype == np.int32)
    )


@pytest.mark.slow
def test_centred_weights_keep_their_codes() -> None:
    """uint8 weights become int8 ones around their zero point."""
    maker = Maker()
    x = maker.rounded(maker.input("x", (1, 4, 9, 7)), 0.04, 0)
    weight = maker.weight((6, 4, 3, 3), np.float32(0.01), 128, "uint8")
    model = maker.model(maker.quantized(maker.node("Conv", [x, weight]), 0.2, 3))
    module, _ = results(model, random_feed(model))
    codes = next(onnx.numpy_helper.to_array(t) for t in model.graph.initializer if len(t.dims) == 4)
    conv = next(v for _, v in View(module).bindings if op_name(v) == "nn.conv2d")
    np.testing.assert_array_equal(const_value(conv.args[1]), (codes.astype(int) - 128).astype(np.int8))


@pytest.mark.slow
def test_weights_beyond_int8_stay_float() -> None:
    """Codes that leave int8 around their zero point: computed in float, between the model's roundings."""
    maker = Maker()
    x = maker.rounded(maker.input("x", (1, 4, 9, 7)), 0.04, 0)
    weight = maker.weight((6, 4, 3, 3), np.float32(0.01), 30, "uint8")
    module = assert_like_float_products(
        maker.model(maker.quantized(maker.node("Conv", [x, weight], "conv"), 0.2, 3)), floats=["nn.conv2d"]
    )
    reason = next(iter(get_ledger(module).layers.values()))["why"]
    assert reason == "the model: its weight is not quantized, or its codes minus the zero point leave int8"


@pytest.mark.slow
@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("transposed", [False, True])
def test_gemm(codes: str, transposed: bool) -> None:
    """Gemm with its weight either way round, one scale a column."""
    maker = Maker(codes=codes)
    x = maker.rounded(maker.input("x", (60, 8)), 0.04, ZERO[codes])
    shape, axis = ((6, 8), 0) if transposed else ((8, 6), 1)
    weight = maker.weight(shape, PER_CHANNEL, axis=axis)
    gemm = maker.node("Gemm", [x, weight, maker.bias(6, np.float32(0.04) * PER_CHANNEL)], transB=int(transposed))
    assert_like_float_products(maker.model(maker.quantized(gemm, 0.4, ZERO[codes])), share=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("op_type", ["Add", "Mul", "Concat"])
def test_two_activations(codes: str, op_type: str) -> None:
    """Operators of two tensors whose scales differ from each other's and from the result's."""
    maker = Maker(codes=codes)
    a = maker.rounded(maker.input("a", (1, 8, 20, 20)), 0.04, ZERO[codes])
    b = maker.rounded(maker.input("b", (1, 8, 20, 20)), 0.0173, 7)
    y = maker.node(op_type, [a, b], **({"axis": 1} if op_type == "Concat" else {}))
    assert_like_float_products(maker.model(maker.quantized(y, 0.06, 11)))


UNARY: list[tuple[str, dict[str, Any], float]] = [
    ("Sigmoid", {}, 1 / 256),
    ("LeakyRelu", {"alpha": 0.1}, 0.03),
    ("Relu", {}, 0.03),
    ("Tanh", {}, 1 / 120),
    ("HardSigmoid", {"alpha": 0.2}, 1 / 256),
    ("GlobalAveragePool", {}, 0.004),
    ("AveragePool", {"kernel_shape": [3, 2], "strides": [1, 1], "pads": [1, 0, 1, 0]}, 0.0213),
    ("MaxPool", {"kernel_shape": [2, 2]}, 0.04),
]


@pytest.mark.slow_cases(
    "Sigmoid-uint8", "Sigmoid-int8", "AveragePool-uint8", "MaxPool-uint8", "MaxPool-int8", "LeakyRelu-uint8",
    "LeakyRelu-int8", "GlobalAveragePool-uint8", "GlobalAveragePool-int8", "AveragePool-int8", "Relu-uint8",
    "Relu-int8",
)  # fmt: skip
@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("op_type, attributes, scale", UNARY, ids=[row[0] for row in UNARY])
def test_one_activation(codes: str, op_type: str, attributes: dict[str, Any], scale: float) -> None:
    """Tables, averages and maxima."""
    maker = Maker(codes=codes)
    x = maker.rounded(maker.input("x", (2, 64, 9, 7)), 0.04, ZERO[codes])
    y = maker.node(op_type, [x], **attributes)
    assert_like_float_products(maker.model(maker.quantized(y, scale, ZERO[codes])))


@pytest.mark.slow
def test_a_bias_at_the_end_of_int32() -> None:
    """Its largest sum would leave int32: the bias is drawn in by that, a thousandth of a step here."""
    maker = Maker()
    x = maker.rounded(maker.input("x", (1, 4, 9, 7)), 0.04, 0)
    scale = np.float32([1e-10, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6])
    codes = np.int32([2147400000, 100, 0, -50, 0, 70])
    bias_scale = np.float32(0.04) * scale
    bias = maker.node("DequantizeLinear", [maker.constant(codes), maker.constant(bias_scale)], axis=0)
    c = maker.node("Conv", [x, maker.weight((6, 4, 1, 1), scale), bias], "conv")
    assert_like_float_products(maker.model(maker.quantized(c, 0.00005, 20)))


@pytest.mark.slow
def test_an_embedding_and_a_constant_in_codes_are_no_weights() -> None:
    """Rows of a table are gathered by codes; positions that are added are constants of codes."""
    maker = Maker()
    ids = maker.input("ids", (1, 3), "int64")
    table = maker.weight((10, 8), np.float32(0.01))
    rows = maker.rounded(maker.node("Gather", [table, ids]), 0.01, 128)
    positions = maker.weight((1, 3, 8), np.float32(0.002))
    y = maker.rounded(maker.node("Add", [rows, positions]), 0.012, 120)
    y = maker.node("MatMul", [y, maker.weight((8, 6), np.float32(0.01))])
    y = maker.node("Add", [y, maker.bias(6, np.float32(0.012) * np.float32(0.01))])
    model = maker.model(maker.quantized(y, 0.05, 120))
    module, _ = results(model, {"ids": np.int64([[1, 4, 9]])})
    assert {layer["precision"] for layer in get_ledger(module).layers.values()} == {"int8"}


@pytest.mark.slow
@pytest.mark.parametrize("per_channel", [True, False])
def test_batch_norm_whose_factors_are_codes(per_channel: bool) -> None:
    """Behind a rounding no convolution takes it: a multiplier and a summand for each channel."""
    maker, random = Maker(), np.random.default_rng(3)
    x = maker.rounded(maker.input("x", (2, 6, 9, 7)), 0.04, 120)
    gamma = maker.weight((6,), PER_CHANNEL if per_channel else np.float32(0.01))
    others = [maker.constant(random.uniform(0.5, 1.5, 6).astype(np.float32)) for _ in range(3)]
    y = maker.node("BatchNormalization", [x, gamma, *others], epsilon=1e-3)
    module = assert_like_float_products(maker.model(maker.quantized(y, 0.05, 110)))
    assert [layer["op"] for layer in get_ledger(module).layers.values()] == ["scale_shift"]


@pytest.mark.slow
@pytest.mark.parametrize("codes", CODES)
def test_qlinear_convolution(codes: str) -> None:
    """QLinearConv with an int32 bias."""
    maker = Maker(codes=codes)
    weight = RANDOM_WEIGHT.astype(np.int8)
    inputs = [*input_codes(maker), maker.constant(weight), *maker.scale(PER_CHANNEL, 0, "int8"), *maker.scale(0.2, 3)]
    inputs.append(maker.constant(np.arange(6, dtype=np.int32) * 500))
    y = maker.node("QLinearConv", inputs, "conv", pads=[1, 1, 1, 1])
    module = assert_like_float_products(maker.model(y))
    assert [layer["layers"] for layer in get_ledger(module).layers.values()] == [["conv"]]


RANDOM_WEIGHT = np.random.default_rng(3).integers(-127, 128, (6, 4, 3, 3))


@pytest.mark.slow
@pytest.mark.parametrize("codes", CODES)
def test_qlinear_matmul(codes: str) -> None:
    """QLinearMatMul with one scale a column."""
    maker = Maker(codes=codes)
    weight = RANDOM_WEIGHT.reshape(36, 6).astype(np.int8)
    inputs = [*input_codes(maker, (60, 36)), maker.constant(weight), *maker.scale(PER_CHANNEL, 0, "int8")]
    assert_like_float_products(maker.model(maker.node("QLinearMatMul", [*inputs, *maker.scale(0.5, 3)])), share=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("codes", CODES)
def test_operators_of_onnxruntime(codes: str) -> None:
    """Those of com.microsoft, one behind the other on codes, with a MaxPool and a Reshape on codes between."""
    maker = Maker(codes=codes)
    a, b = input_codes(maker, name="a"), input_codes(maker, name="b")
    s, p = maker.scale(0.07, 4), maker.scale(0.09, 3)
    total = maker.node("QLinearAdd", [*a, *b, *s], domain=MICROSOFT)
    product = maker.node("QLinearMul", [total, *s, *b, *p], domain=MICROSOFT)
    moved = maker.node("MaxPool", [product], kernel_shape=[2, 2])
    leaky = maker.node("QLinearLeakyRelu", [moved, *p, *s], domain=MICROSOFT, alpha=0.2)
    one = maker.scale(1 / 256, 0 if codes == "uint8" else -128)
    gate = maker.node("QLinearSigmoid", [moved, *p, *one], domain=MICROSOFT)
    both = maker.node("QLinearConcat", [*s, leaky, *s, gate, *one], domain=MICROSOFT, axis=1)
    pooled = maker.node("QLinearAveragePool", [both, *s, *p], domain=MICROSOFT, kernel_shape=[2, 2], strides=[1, 1])
    whole = maker.node("QLinearGlobalAveragePool", [leaky, *s, *s], domain=MICROSOFT)
    flat = maker.node("Reshape", [whole, maker.constant(np.int64([1, 4]))])
    weight = maker.constant(RANDOM_WEIGHT.reshape(-1)[:24].reshape(6, 4).astype(np.int8))
    bias = maker.constant(np.arange(6, dtype=np.int32) * 90)
    gemm = [flat, *s, weight, *maker.scale(PER_CHANNEL, 0, "int8"), bias, *p]
    dense = maker.node("QGemm", gemm, domain=MICROSOFT, transB=1, alpha=1.0)
    model = maker.model(total, product, moved, leaky, gate, both, pooled, dense)
    feed = random_feed(model)
    module, ours = results(model, feed)
    assert {layer["precision"] for layer in get_ledger(module).layers.values()} == {"int8"}
    # differences add up along the chain: a step before a maximum or a mean is at most a step behind it
    for result, expected in zip(ours, run_in_float(model, feed), strict=True):
        assert result.dtype == expected.dtype and np.abs(result.astype(int) - expected).max() <= 2


@pytest.mark.slow
def test_inputs_and_results_in_codes() -> None:
    """A model that takes codes and gives codes holds no float tensor at all."""
    maker = Maker()
    numbers = maker.scale(0.04, 3)
    x = maker.node("DequantizeLinear", [maker.input("x", (1, 4, 9, 7), "uint8"), *numbers])
    model = maker.model(maker.quantized(maker.node("Conv", [x, maker.weight((6, 4, 3, 3), PER_CHANNEL)]), 0.2, 3))
    module = assert_like_float_products(model)
    kinds = {str(var.ty.dtype) for var, _ in View(module).bindings}
    assert kinds <= {"uint8", "int32"}, kinds


@pytest.mark.slow
def test_results_in_float() -> None:
    """A convolution whose result is not rounded gives floats straight from its sums."""
    maker = Maker()
    x = maker.rounded(maker.input("x", (1, 4, 9, 7)), 0.04, 0)
    conv = maker.node("Conv", [x, maker.weight((6, 4, 3, 3), PER_CHANNEL)], "conv")
    model = maker.model(conv, types=["float32"])
    module, (ours,) = results(model, random_feed(model))
    layer = next(iter(get_ledger(module).layers.values()))
    assert layer["precision"] == "int8" and layer["output"] == "float32, straight from the accumulators"


@pytest.mark.slow
def test_float_model_between_conversions() -> None:
    """Layers without scales stay float and say so; the roundings around them stay."""
    maker = Maker()
    x = maker.input("x", (1, 4, 9, 7))
    first = maker.node("Conv", [x, maker.constant(np.float32(RANDOM_WEIGHT[:4]))], "first")
    y = maker.node("Conv", [maker.rounded(first, 3.0, 100), maker.weight((6, 4, 3, 3), PER_CHANNEL)], "second")
    module, _ = results(maker.model(maker.quantized(y, 60.0, 100)), {"x": np.ones((1, 4, 9, 7), np.float32)})
    layers = {layer["layers"][0]: layer for layer in get_ledger(module).layers.values()}
    assert layers["second"]["precision"] == "int8"
    assert layers["first"]["why"] == "the model: 'x', which it reads, is not quantized"


@pytest.mark.slow_cases("11")
@pytest.mark.parametrize("opset", [11, 13, 19, 21])
def test_opsets(opset: int) -> None:
    """The conversions of every opset, one scale a tensor."""
    maker = Maker(opset)
    x = maker.rounded(maker.input("x", (1, 4, 9, 7)), 0.04, 3)
    conv = maker.node("Conv", [x, maker.weight((6, 4, 3, 3), np.float32(0.01))])
    assert_like_float_products(maker.model(maker.quantized(conv, 0.2, 3)))


def refusal(model: onnx.ModelProto) -> str:
    """Error of from_onnx for the model."""
    with pytest.raises(UnsupportedOpError) as caught:
        tvmq.from_onnx(model)
    return str(caught.value)


def blocks(weight: np.ndarray) -> onnx.ModelProto:
    """A product with a weight that has a scale for 4 rows each, in opset 21."""
    maker = Maker(21)
    scale = maker.constant(np.linspace(0.01, 0.05, 54, dtype=np.float32).reshape(9, 6))
    w = maker.node("DequantizeLinear", [maker.constant(weight), scale], "weight", axis=0, block_size=4)
    return maker.model(maker.node("MatMul", [maker.input("x", (5, 36)), w]), types=["float32"])


def test_blocks_of_scales_are_groups() -> None:
    """Blocks of a weight become groups; codes of 4 bits are kept two to a byte."""
    codes = RANDOM_WEIGHT.reshape(36, 6).astype(np.int8)
    for weight, packed in ((codes, 0), (codes // 16, 1)):
        model = blocks(weight)
        mod, params = tvmq.from_onnx(model)
        module, feed = tvmq.quantize(mod, params), random_feed(model)
        (found,), (expected,) = tvmq.reference.run(module, feed), run_in_float(model, feed)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
        names = [op_name(value) for _, value in View(module).bindings]
        assert names.count("tvmq.group_dequantize") == 1 and names.count("tvmq.unpack") == packed


def test_scales_that_are_no_scales_are_refused() -> None:
    """Zero."""
    maker = Maker()
    x = maker.rounded(maker.input("x", (1, 4)), 0.0, 3)
    assert "QuantizeLinear: a scale is 0; scales must be positive" in refusal(maker.model(x, types=["float32"]))


def four_bits(kind: int, reads: bool) -> onnx.ModelProto:
    """A product with a weight of 4 bits behind a DequantizeLinear, or such a weight as a result."""
    maker = Maker(21)
    maker.weights.append(helper.make_tensor("w", kind, (4, 2), [1, 2, 3, 4, 5, 6, 7, 7]))
    w = maker.node("DequantizeLinear", ["w", maker.constant(np.float32(0.1))], "weight")
    more = [maker.node("Identity", ["w"], "copy")] if reads else []
    return maker.model(maker.node("MatMul", [maker.input("x", (5, 4)), w]), *more, types=["float32"] * (1 + reads))


@pytest.mark.parametrize("kind", [TensorProto.INT4, TensorProto.UINT4])
def test_weights_of_four_bits(kind: int) -> None:
    """Codes of 4 bits become equal codes of 8 bits."""
    model = four_bits(kind, False)
    module, feed = tvmq.quantize(*tvmq.from_onnx(model)), random_feed(model)
    codes = numpy_helper.to_array(model.graph.initializer[0]).astype(np.float32)
    (found,), (x,) = tvmq.reference.run(module, feed), feed.values()
    np.testing.assert_allclose(found, x @ (codes * np.float32(0.1)), rtol=1e-5, atol=1e-6)


def test_other_tensors_of_four_bits_are_refused() -> None:
    """Somebody else reads the codes."""
    assert "element type int4 is not supported" in refusal(four_bits(TensorProto.INT4, True))


def test_computed_scales_of_qlinear_are_refused() -> None:
    """The scale of a QLinearConv is a constant."""
    maker = Maker()
    x, _, zero = input_codes(maker)
    scale = maker.input("s", ())
    weight = [maker.constant(RANDOM_WEIGHT.astype(np.int8)), *maker.scale(0.01, 0, "int8")]
    y = maker.node("QLinearConv", [x, scale, zero, *weight, *maker.scale(0.2, 3)], "conv")
    assert "layer 'conv': QLinearConv: its scale 's' is not a constant" in refusal(maker.model(y))


def test_a_tensor_of_two_roundings_keeps_both() -> None:
    """Codes that are rounded to wider steps for one reader are read as they are by the others."""
    maker = Maker()
    x = maker.rounded(maker.input("x", (1, 3)), 0.25, 0)
    coarse = maker.rounded(x, 4.0, 0)
    total = maker.rounded(maker.node("Add", [x, x], "add"), 0.5, 0)
    y = maker.quantized(maker.node("Max", [total, maker.rounded(coarse, 0.5, 0)], "max"), 0.5, 0)
    module = tvmq.quantize(*tvmq.from_onnx(maker.model(y)), guard=None)
    (found,) = tvmq.reference.run(module, {"x": np.float32([[1.25, 2.5, 3.75]])})
    assert found.tolist() == [[5, 10, 15]]  # 2.5, 5 and 7.5 beside 0, 4 and 4


def wide(maker: Maker, x: str, scale: float, low: float | None = None, high: float | None = None) -> str:
    """A tensor in int16 around zero, clipped before where it has fewer codes."""
    numbers = [maker.constant(np.float32(scale)), maker.constant(np.int16(0))]
    if low is not None and high is not None:
        x = maker.node("Clip", [x, *(maker.constant(np.float32(bound)) for bound in (low, high))])
    return maker.node("DequantizeLinear", [maker.node("QuantizeLinear", [x, *numbers]), *numbers])


@pytest.mark.slow_cases("16")
@pytest.mark.parametrize("bits", [10, 16])
def test_sixteen_bits_around_zero(bits: int) -> None:
    """Convolutions read them where no sum can leave int32; what reads 8 bits alone stays float and says so."""
    maker = Maker(21)
    ends = (-511 * np.float32(0.01), 511 * np.float32(0.01)) if bits == 10 else (None, None)
    x = wide(maker, maker.input("x", (1, 160, 4, 4)), 0.01, *ends)
    conv = maker.node("Conv", [x, maker.weight((6, 160, 3, 3), PER_CHANNEL)], "conv")
    y = wide(maker, maker.node("Sigmoid", [wide(maker, conv, 0.01)], "sigmoid"), 1 / 32767)
    model = maker.model(y, types=["float32"])
    module, feed = tvmq.quantize(*tvmq.from_onnx(model)), random_feed(model)
    why = {layer["layers"][0]: layer["why"] for layer in get_ledger(module).layers.values()}
    assert why["sigmoid"] == "the model: table reads codes of 8 bits, not of 16"
    reason = "the model: its sums of codes of 16 bits can leave int32"
    assert (why["conv"] == reason) == (bits == 16), why
    (found,), (expected,) = tvmq.reference.run(module, feed), run_in_float(model, feed)
    np.testing.assert_allclose(found, expected, atol=2 / 32767 + 1e-6)


@pytest.mark.slow
def test_sixteen_bits_stay_float() -> None:
    """uint16 activations: the roundings stay, the layer computes in float and the ledger says why."""
    maker = Maker(21)
    numbers = [maker.constant(np.float32(0.001)), maker.constant(np.uint16(30000))]
    x = maker.node("QuantizeLinear", [maker.input("x", (1, 4, 9, 7)), *numbers])
    x = maker.node("DequantizeLinear", [x, *numbers])
    conv = maker.node("Conv", [x, maker.weight((6, 4, 3, 3), PER_CHANNEL)], "conv")
    model = maker.model(maker.quantized(conv, 0.2, 3))
    module, _ = results(model, random_feed(model))
    assert "is not quantized" in next(
        layer["why"] for layer in get_ledger(module).layers.values() if layer["layers"] == ["conv"]
    )
