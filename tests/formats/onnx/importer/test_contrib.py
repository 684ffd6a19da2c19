"""Operators that onnxruntime's quantizer and optimizer write (com.microsoft), imported, against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tvmq
from tests.formats.importing.frontend_models import assert_close, make_model, run_float
from tests.support.float_products import run_in_float
from tests.support.models.quantized_models import Maker, assert_like_float_products, random_feed
from tvmq.errors import ModelError, UnsupportedOpError
from tvmq.formats.onnx.importer.contrib import carries_scales
from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.passes.prepare import prepare

MICROSOFT = "com.microsoft"
RANDOM = np.random.default_rng(5)


def floats(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def node(op_type: str, inputs: list[str], *outputs: str, domain: str = MICROSOFT, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs, list(outputs or ["y"]), "layer", domain=domain, **attributes)


def assert_same(one: onnx.NodeProto, feed: dict[str, np.ndarray], constants: Any = None, opset: int = 17) -> None:
    """The node alone, with constants, gives what onnxruntime gives; its results may be left out."""
    names = [name for name in one.output if name]
    inputs = {name: (str(value.dtype), value.shape) for name, value in feed.items()}
    model = make_model([one], inputs, names, constants, opset)
    for value, name in zip(model.graph.output, names, strict=True):
        value.type.tensor_type.elem_type = TensorProto.INT32 if name == "count" else TensorProto.FLOAT
    expected = run_in_float(model, feed)
    mod, params = from_onnx(model)
    named = {p.name: value for p, value in zip(mod["main"].params, feed.values(), strict=False)}
    assert_close(run_float(mod, params, named), expected)
    assert all("layer" in layer for layers in tvmq.graph.names.get_names(mod["main"]).values() for layer in layers)


X = floats(2, 5, 8)
PICTURE = floats(2, 4, 9, 7)
FUSED: dict[str, tuple[onnx.NodeProto, dict[str, np.ndarray], dict[str, np.ndarray]]] = {
    "gelu": (node("Gelu", ["x"]), {"x": X}, {}),
    "bias gelu": (node("BiasGelu", ["x", "b"]), {"x": X}, {"b": floats(8)}),
    "fast gelu": (node("FastGelu", ["x", "b"]), {"x": X}, {"b": floats(8)}),
    "quick gelu": (node("QuickGelu", ["x"], alpha=1.5), {"x": X}, {}),
    "convolution, relu": (
        node("FusedConv", ["x", "w", "b"], activation="Relu", pads=[1, 1, 1, 1]),
        {"x": PICTURE}, {"w": floats(6, 4, 3, 3), "b": floats(6)},
    ),
    "convolution, sum, leaky": (
        node("FusedConv", ["x", "w", "b", "z"], activation="LeakyRelu", activation_params=[0.2]),
        {"x": PICTURE, "z": floats(2, 6, 7, 5)}, {"w": floats(6, 4, 3, 3), "b": floats(6)},
    ),
    "convolution, clip": (
        node("FusedConv", ["x", "w"], activation="Clip", activation_params=[0.0, 1.5], group=2),
        {"x": PICTURE}, {"w": floats(6, 2, 3, 3)},
    ),
    "product, relu": (
        node("FusedGemm", ["x", "w", "b"], activation="LeakyRelu", activation_alpha=0.3, transB=1, alpha=0.5),
        {"x": floats(3, 8)}, {"w": floats(4, 8), "b": floats(4)},
    ),
    "turned product": (node("FusedMatMul", ["a", "b"], transB=1, alpha=0.25), {"a": X, "b": floats(2, 6, 8)}, {}),
    "turned batches": (
        node("FusedMatMul", ["a", "b"], transA=1, transBatchA=1, transBatchB=1),
        {"a": floats(4, 2, 3), "b": floats(4, 2, 5)}, {},
    ),
    "layer norm of a sum": (
        node("SkipLayerNormalization", ["x", "s", "g", "b", "c"], "y", "", "", "sum", epsilon=1e-5),
        {"x": X, "s": floats(2, 5, 8)}, {"g": floats(8), "b": floats(8), "c": floats(8)},
    ),
    "rms norm of a sum": (
        node("SkipSimplifiedLayerNormalization", ["x", "s", "g"], epsilon=1e-5),
        {"x": X, "s": floats(2, 5, 8)}, {"g": floats(8)},
    ),
    "rms norm": (node("SimplifiedLayerNormalization", ["x", "g"], domain="", epsilon=1e-5), {"x": X}, {"g": floats(8)}),
    "embedding": (
        node("EmbedLayerNormalization", ["i", "s", "w", "p", "t", "g", "b", "m"], "y", "count", epsilon=1e-5),
        {"i": np.int32([[1, 4, 2], [0, 3, 3]]), "s": np.int32([[0, 0, 1], [0, 1, 1]]),
         "m": np.int32([[1, 1, 0], [1, 1, 1]])},
        {"w": floats(6, 8), "p": floats(4, 8), "t": floats(2, 8), "g": floats(8), "b": floats(8)},
    ),
}  # fmt: skip


@pytest.mark.slow_cases(
    "fast gelu", "convolution, relu", "convolution, sum, leaky", "layer norm of a sum", "rms norm of a sum", "gelu",
    "bias gelu", "quick gelu", "convolution, clip", "turned product", "turned batches",
)  # fmt: skip
@pytest.mark.parametrize("case", FUSED)
def test_fused(case: str) -> None:
    assert_same(*FUSED[case])


@pytest.mark.slow
@pytest.mark.parametrize("case", ["layer norm of a sum", "rms norm of a sum"])
@pytest.mark.parametrize("opset", [12, 18])
def test_norms_of_other_opsets(case: str, opset: int) -> None:
    one, feed, constants = FUSED[case]
    assert_same(one, feed, constants, opset)


QKV = {"w": floats(8, 24) / 2, "b": floats(24)}


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("inputs, extra, attributes", [
    (["x", "w", "b"], {}, {}),
    (["x", "w", "b"], {}, {"unidirectional": 1, "scale": 0.3}),
    (["x", "w", "b", "m"], {"m": np.int32([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])}, {}),
    (["x", "w", "b", "m"], {"m": np.int32([3, 5])}, {}),
    (["x", "w", "b", "", "", "r"], {"r": floats(2, 2, 5, 5)}, {}),
    (["x", "w", "b"], {}, {"qkv_hidden_sizes": [8, 8, 8]}),
])  # fmt: skip
def test_attention(inputs: list[str], extra: dict[str, np.ndarray], attributes: dict[str, Any]) -> None:
    assert_same(node("Attention", inputs, num_heads=2, **attributes), {"x": X, **extra}, QKV)


@pytest.mark.slow
@pytest.mark.parametrize("opset", [11, 17])
def test_multi_head_attention(opset: int) -> None:
    feed = {"q": X, "k": floats(2, 6, 8), "v": floats(2, 6, 8)}
    assert_same(node("MultiHeadAttention", ["q", "k", "v", "b"], num_heads=4), feed, {"b": floats(24)}, opset)


def codes(*shape: int, dtype: str = "int8") -> np.ndarray:
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max + 1, shape).astype(dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_products_quantized_at_run_time(dtype: str) -> None:
    zero = np.full(6, 3 if dtype == "int8" else 119, dtype)
    constants = {"w": codes(8, 6, dtype=dtype), "s": np.float32(RANDOM.uniform(0.01, 0.02, 6)), "z": zero}
    if dtype == "int8":
        constants["w"] = np.clip(constants["w"], -120, 120)
    constants["b"] = floats(6)
    assert_same(node("DynamicQuantizeMatMul", ["x", "w", "s", "z", "b"]), {"x": X}, constants)


@pytest.mark.slow_cases("True")
@pytest.mark.parametrize("computed", [False, True])
def test_product_to_float(computed: bool) -> None:
    feed = {"x": codes(5, 8, dtype="uint8"), **({"sx": np.array(0.04, np.float32)} if computed else {})}
    constants = {"w": codes(8, 6), "sw": np.float32(0.01), "zx": np.uint8(7), "b": floats(6)}
    constants |= {} if computed else {"sx": np.float32(0.04)}
    assert_same(node("MatMulIntegerToFloat", ["x", "w", "sx", "sw", "zx", "", "b"]), feed, constants)


@pytest.mark.slow
def test_attention_on_codes() -> None:
    constants = {
        "w": codes(8, 24), "b": floats(24), "sx": np.float32(0.02), "sw": np.float32(0.005), "zx": np.uint8(110),
        "zw": np.int8(0),
    }  # fmt: skip
    one = node("QAttention", ["x", "w", "b", "sx", "sw", "", "zx", "zw"], num_heads=2)
    assert_same(one, {"x": codes(2, 5, 8, dtype="uint8")}, constants)


def test_lstm_quantized_at_run_time() -> None:
    """Its weights are those of the codes; what it reads stays float, so onnxruntime differs by its rounding."""
    w, r = codes(2, 3, 16), codes(2, 4, 16)
    constants = {
        "w": w, "r": r, "b": floats(2, 32), "ws": np.float32([0.01, 0.02]), "wz": np.int8([0, 0]),
        "rs": np.float32([0.005, 0.01]), "rz": np.int8([0, 0]),
    }  # fmt: skip
    inputs = ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"]
    one = node("DynamicQuantizeLSTM", inputs, "y", "h", "c", hidden_size=4, direction="bidirectional")
    model = make_model([one], {"x": ("float32", (6, 2, 3))}, ["y", "h", "c"], constants)
    for value in model.graph.output:
        value.type.tensor_type.elem_type = TensorProto.FLOAT
    x = floats(6, 2, 3)
    mod, params = from_onnx(model)
    ours = tvmq.build(mod, params=params).run({"x": x})
    for a, b in zip(ours, run_in_float(model, {"x": x}), strict=True):
        assert a.shape == b.shape and np.abs(a - b).max() < 0.03


@pytest.mark.slow
def test_choice_on_codes() -> None:
    maker = Maker()
    s, p = maker.scale(0.04, 120), maker.scale(0.03, 100)
    a = maker.node("QuantizeLinear", [maker.input("a", (2, 4, 6)), *s], "aq")
    b = maker.node("QuantizeLinear", [maker.input("b", (2, 4, 6)), *p], "bq")
    mask = maker.constant(RANDOM.random((2, 4, 6)) > 0.5)
    chosen = maker.node("QLinearWhere", [mask, a, *s, b, *p, *s], domain=MICROSOFT)
    assert_like_float_products(maker.model(chosen))


def test_channels_last() -> None:
    """The layout that onnxruntime's optimizer gives to layers on codes."""
    maker = Maker()
    s = maker.scale(0.04, 120)
    x = maker.node("QuantizeLinear", [maker.input("x", (2, 9, 7, 4)), *s], "xq")
    weight = [maker.constant(codes(16, 4, 3, 3)), *maker.scale(0.003, 0, "int8")]
    y = maker.node("QLinearConv", [x, *s, *weight, *s], domain=MICROSOFT, channels_last=1, pads=[1, 1, 1, 1])
    top = maker.node("NhwcMaxPool", [y], domain=MICROSOFT, kernel_shape=[2, 2], strides=[2, 2])
    mean = maker.node("QLinearGlobalAveragePool", [top, *s, *maker.scale(0.02, 10)], domain=MICROSOFT, channels_last=1)
    pooled = maker.node(
        "QLinearAveragePool", [y, *s, *s], domain=MICROSOFT, channels_last=1, kernel_shape=[2, 2], strides=[1, 1]
    )
    assert_like_float_products(maker.model(top, mean, pooled))


def test_shapes_behind_an_operator_of_onnxruntime_are_known() -> None:
    nodes = [
        helper.make_node("QuickGelu", ["x"], ["g"], "act", domain=MICROSOFT),
        helper.make_node("Shape", ["g"], ["s"]),
        helper.make_node("ConstantOfShape", ["s"], ["zeros"]),
        helper.make_node("Add", ["g", "zeros"], ["y"]),
    ]
    mod, _ = from_onnx(make_model(nodes, {"x": ("float32", (2, 3))}, ["y"]))
    assert "shape" not in mod.script().replace("R.shape", "") and [int(d) for d in mod["main"].ret_ty.shape] == [2, 3]


@pytest.mark.parametrize("one, message", [
    (node("Conv", ["x"], domain="com.microsoft.nchwc"), "com.microsoft.nchwc.Conv uses a memory layout made for one CPU; import the"),
    (node("FusedConv", ["x", "w"], activation="Erf"), "activation Erf is not supported; use one of Relu"),
    (node("Attention", ["x", "w", "b"], "y", "present", num_heads=2), "a cache of keys and values is not supported"),
    (node("Attention", ["x", "w", "b"], num_heads=2, do_rotary=1), "do_rotary=1"),
    (node("MultiHeadAttention", ["x"], num_heads=2), "packed queries, keys and values"),
    (node("SkipLayerNormalization", ["x", "x", "w"], "y", "mean"), "its outputs for mean and deviation"),
    (node("GroupQueryAttention", ["x"]), "operator com.microsoft.GroupQueryAttention is not supported"),
])  # fmt: skip
def test_refusals_name_the_layer_and_the_way_round(one: onnx.NodeProto, message: str) -> None:
    model = make_model([one], {"x": ("float32", (2, 3, 8))}, ["y"], {**QKV})
    model.opset_import.add(domain="com.microsoft.nchwc", version=1)
    with pytest.raises(UnsupportedOpError, match=message) as caught:
        from_onnx(model)
    assert "layer 'layer'" in str(caught.value) and "; " in str(caught.value)


def test_models_that_carry_scales(tmp_path: Path) -> None:
    quantized = make_model([node("DynamicQuantizeMatMul", ["x", "w", "s"])], {"x": ("float32", (2, 3))}, ["y"])
    plain = make_model([node("Gelu", ["x"])], {"x": ("float32", (2, 3))}, ["y"])
    for name, model, carried in (("q", quantized, True), ("p", plain, False)):
        onnx.save(model, tmp_path / name)
        assert carries_scales(tmp_path / name) == carried
    (tmp_path / "none").write_bytes(b"no model")
    assert not carries_scales(tmp_path / "none") and random_feed(plain)["x"].shape == (2, 3)


def test_a_table_with_a_mask_row_in_front_of_a_softmax_is_no_fault() -> None:
    """Rows of -inf are added to scores; the same table behind nothing is refused."""
    table = np.float32([[0.5, 1, 2], [0, -np.inf, 3]])
    nodes = [
        helper.make_node("Gather", ["t", "i"], ["rows"], "rows"),
        helper.make_node("Add", ["x", "rows"], ["scores"], "scores"),
        helper.make_node("Softmax", ["scores"], ["y"], "shares", axis=-1),
    ]
    inputs = {"x": ("float32", (2, 3)), "i": ("int64", (2,))}
    mod, params = from_onnx(make_model(nodes, inputs, ["y"], {"t": table}))
    prepare(mod, params)
    mod, params = from_onnx(make_model(nodes[:2], inputs, ["scores"], {"t": table}))
    with pytest.raises(ModelError, match="prepare: weight 't' holds 1 NaN or infinite of 6 values, which reach"):
        prepare(mod, params)
