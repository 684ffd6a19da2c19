"""residual_streams="int16": sums that a normalization reads as codes of 16 bits, in every mode, equal to NumPy."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tvmq
from tests.support.models.networks import Net, Road, drive, feeds_of
from tvmq.errors import AccumulatorError
from tvmq.graph.view import View, dtype_of, op_name


def encoder(*, pre_norm: bool, width: int = 16, tokens: int = 5) -> onnx.ModelProto:
    """A block of a transformer without attention: a product, two sums, two layer norms, a pair of products."""
    n = Net((1, tokens, width))

    def norm(x: str) -> str:
        scale = n.random.uniform(0.5, 1.5, width).astype(np.float32)
        return n.op("LayerNormalization", x, n.constant(scale), n.constant(0.1 * n.weight(width)), axis=-1)

    def dense(x: str, columns: int, rows: int) -> str:
        product = n.op("MatMul", x, n.constant(n.weight(rows, columns)))
        return n.op("Add", product, n.constant(0.2 * n.weight(columns)))

    x = n.op("Add", dense("x", width, width), n.constant(0.3 * n.weight(1, tokens, width)))
    for _ in range(2):
        inner = norm(x) if pre_norm else x
        branch = dense(n.op("Relu", dense(inner, 2 * width, width)), width, 2 * width)
        x = n.op("Add", x, branch)
        x = x if pre_norm else norm(x)
    return n.model(dense(norm(x) if pre_norm else x, 4, width))


def float_operators(road: Road) -> Counter[str]:
    """Operators that compute floats from floats."""
    bindings = View(road.quantized).bindings
    return Counter(op_name(value) for var, value in bindings if dtype_of(var) == "float32") - Counter(
        ["tvmq.dequantize"] * 99
    )


@pytest.mark.thinned(3)
@pytest.mark.parametrize("mode", ["float", "fixed_point", "power_of_two"])
@pytest.mark.parametrize("pre_norm", [True, False])
@pytest.mark.slow_cases("True-float", "False-power_of_two")
def test_an_encoder_is_exact_and_its_sums_are_integers(mode: str, pre_norm: bool) -> None:
    least = 20.0 if mode == "power_of_two" else 28.0
    road = drive(encoder(pre_norm=pre_norm), residual_streams="int16", requantize=mode, least_snr=least)
    assert set(float_operators(road)) == {"tvmq.layer_norm"}
    adds = [var for var, value in View(road.quantized).bindings if op_name(value) == "tvmq.add"]
    assert [dtype_of(var) for var in adds] == ["int16", "int16"]


@pytest.mark.slow
def test_the_default_is_float() -> None:
    road = drive(encoder(pre_norm=True), least_snr=28)
    assert "add" in float_operators(road) and "int16" not in {dtype_of(var) for var, _ in View(road.quantized).bindings}


@pytest.mark.slow
@pytest.mark.parametrize("streams, least_snr", [("float", 30), ("int16", 28)])
def test_outliers_of_a_stream_survive(streams: str, least_snr: float) -> None:
    """A channel a thousand times larger than the others leaves the layer norm's small channels their signal."""
    n = Net((1, 5, 8))
    x = n.op("Mul", "x", n.constant(np.float32([1000, 1, 1, 1, 1, 1, 1, 1])))
    y = n.op("Add", x, n.op("MatMul", "x", n.constant(n.weight(8, 8))))
    normalized = n.op("LayerNormalization", y, n.constant(np.float32([0.001] + [1] * 7)), axis=-1)
    model = n.model(n.op("MatMul", normalized, n.constant(n.weight(8, 4))))
    road = drive(model, least_snr=least_snr, residual_streams=streams)
    assert ("tvmq.add" in road.operators()) == (streams == "int16")


@pytest.mark.slow
def test_class_tokens_and_positions() -> None:
    """Constants that are put in front of the codes of a convolution, and added to them."""
    n = Net((1, 3, 8, 8))
    patches = n.op("Reshape", n.conv("x", 3, 8, 2, strides=[2, 2], pads=[0] * 4), n.constant(np.int64([1, 8, 16])))
    tokens = n.op("Transpose", patches, perm=[0, 2, 1])
    joined = n.op("Concat", n.constant(3 * n.weight(1, 1, 8)), tokens, axis=1)
    x = n.op("Add", joined, n.constant(0.3 * n.weight(1, 17, 8)))
    normalized = n.op("LayerNormalization", x, n.constant(np.ones(8, np.float32)), axis=-1)
    x = n.op("Add", x, n.op("MatMul", normalized, n.constant(n.weight(8, 8))))
    normalized = n.op("LayerNormalization", x, n.constant(np.ones(8, np.float32)), axis=-1)
    road = drive(
        n.model(n.op("MatMul", normalized, n.constant(n.weight(8, 4)))), least_snr=25, residual_streams="int16"
    )
    assert set(float_operators(road)) == {"tvmq.layer_norm"}
    assert next(dtype_of(v) for v, value in View(road.quantized).bindings if op_name(value) == "concat") == "int16"


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("mode", ["float", "fixed_point", "power_of_two"])
def test_embeddings_stay_tables_of_8_bits(mode: str) -> None:
    """Rows of int8 codes, brought to the scale of the stream column by column."""
    n = Net((1, 6, 8))
    table = 0.5 * n.weight(20, 8) * np.float32([1, 8, 1, 1, 0.1, 1, 1, 1])
    rows = n.op("Gather", n.constant(table), "ids", axis=0)
    x = n.op("Add", rows, n.op("MatMul", "x", n.constant(n.weight(8, 8))))
    normalized = n.op("LayerNormalization", x, n.constant(np.ones(8, np.float32)), axis=-1)
    model = n.model(n.op("MatMul", normalized, n.constant(n.weight(8, 4))))
    model.graph.input.append(helper.make_tensor_value_info("ids", TensorProto.INT64, (1, 6)))
    random = np.random.default_rng(3)
    shape = (1, 6, 8)
    feeds = [{"x": random.standard_normal(shape).astype("f4"), "ids": random.integers(0, 20, (1, 6))} for _ in range(6)]
    options = {"residual_streams": "int16", "requantize": mode, "least_snr": 20}
    road = drive(onnx.shape_inference.infer_shapes(model), feeds=feeds, **options)
    assert set(float_operators(road)) == {"tvmq.layer_norm"}
    view = View(road.quantized)
    gathered = next(var for var, value in view.bindings if op_name(value) == "take")
    assert dtype_of(gathered) == "int8" and dtype_of(view.var[view.readers[gathered.name][0]]) == "int16"


def picture_net() -> onnx.ModelProto:
    """Convolutions, a residual sum, pooling by maximum, a concat, depthwise, a mean, a product."""
    n = Net((1, 3, 8, 8))
    x = n.op("Relu", n.conv("x", 3, 8))
    x = n.op("Add", x, n.op("Relu", n.conv(x, 8, 8)))
    pooled = n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = n.op("Concat", pooled, n.conv(pooled, 8, 4), axis=1)
    x = n.conv(n.op("Relu", n.conv(x, 12, 12, groups=12)), 12, 8)
    return n.model(n.dense(n.op("Flatten", n.op("GlobalAveragePool", x)), 8, 5))


WIDE = {"dtype_input": "int16", "nbit_input": 16}


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("options", "least"), [
    (WIDE, 52),
    ({**WIDE, "requantize": "fixed_point"}, 52),
    ({**WIDE, "scheme": "symmetric", "nbit_input": 12, "requantize": "power_of_two"}, 35),
    ({**WIDE, "nbit_input": 10}, 45),
])  # fmt: skip
@pytest.mark.slow_cases("options0-52", "options3-45")
def test_a_network_for_pictures_reads_16_bits(options: dict, least: float) -> None:
    """Nearly as near as the 8-bit weights allow; what has tables or means of 8 bits only stays float, by name."""
    road = drive(picture_net(), least_snr=least, **options)
    layers = road.ledger.layers
    assert {e["why"] for e in layers.values() if e["precision"] == "float"} == {
        "limit: mean reads codes of 8 bits, not of 16"
    }
    types = Counter(dtype_of(var) for var, _ in View(road.quantized).bindings)
    assert types["int16"] > 8 and not types["uint8"] + types["int8"]
    explained = str(tvmq.explain(road.quantized))
    assert "max_pool  int16" in explained and "concat    int16" in explained


@pytest.mark.slow
def test_a_saved_network_of_16_bits_gives_the_same(tmp_path: Path) -> None:
    road = drive(picture_net(), least_snr=52, **WIDE)
    road.executable.save(tmp_path / "wide.tvmq")
    feed = feeds_of(picture_net(), 1, seed=5)[0]
    np.testing.assert_array_equal(tvmq.load(tmp_path / "wide.tvmq").run(feed)[0], road.executable.run(feed)[0])


@pytest.mark.thinned(2)
@pytest.mark.parametrize("bits", [16, 12])
@pytest.mark.slow
def test_a_rule_gives_one_layer_16_bits(bits: int) -> None:
    """The tensor that it reads exists in 16 bits, and in 8 for the sum beside it."""
    rule = tvmq.Rule("/conv_2", activations=tvmq.QuantSpec("int16", bits, symmetric=True))
    road = drive(picture_net(), rules=[rule], least_snr=25)
    view = View(road.quantized)
    wide = [var.name for var, _ in view.bindings if dtype_of(var) == "int16"]
    assert wide and {name.split("_wide")[0] for name in wide} <= {"relu_1", "conv_2_conv2d_pad"}
    assert all(entry["precision"] == "int8" for entry in road.ledger.layers.values())
    requantize = next(value for var, value in view.bindings if var.name == "relu_1")
    assert (requantize.attrs.dtype, requantize.attrs.qmax) == ("int16", 2 ** (bits - 1) - 1)


@pytest.mark.slow
def test_sums_that_leave_int32_are_refused_by_name() -> None:
    n = Net((1, 4096))
    model = n.model(n.op("MatMul", "x", n.constant(np.sign(n.weight(4096, 2)) + np.float32(0.5))))
    with pytest.raises(
        AccumulatorError, match=r"layer '/matmul_0': filter . of 2 adds 4096 products of codes -32767\.\."
    ):
        drive(model, **WIDE)
    drive(model, least_snr=30, **{**WIDE, "nbit_input": 11})
