"""MatMulNBits and GatherBlockQuantized (com.microsoft): codes unpacked by their specification, counted by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.graph.view import View, op_name

RNG = np.random.default_rng(0)
COLUMNS = 6


def pack(codes: np.ndarray, bits: int) -> np.ndarray:
    """Codes in bytes along the last axis, the first in the lowest bits."""
    per = 8 // bits
    codes = np.pad(codes, [(0, 0)] * (codes.ndim - 1) + [(0, -codes.shape[-1] % per)])
    parts = codes.reshape(*codes.shape[:-1], -1, per)
    return np.sum([parts[..., i] << bits * i for i in range(per)], axis=0).astype(np.uint8)


def model_of(
    node: onnx.NodeProto, x: Any, constants: list[onnx.TensorProto], kind: int = TensorProto.FLOAT
) -> onnx.ModelProto:
    results = [helper.make_tensor_value_info("y", kind, None)]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(
        helper.make_graph([node], "g", [x], results, constants), opset_imports=opsets, ir_version=10
    )


def product(
    bits: int = 4,
    rows: int = 64,
    block: int = 16,
    zero: str = "",
    g_idx: str = "",
    bias: bool = False,
    dtype: Any = np.float32,
) -> tuple[onnx.ModelProto, np.ndarray, np.ndarray]:
    """A product, its weight and its bias; zero: "", "packed" or "float"; g_idx: "", "plain", "order" or "any"."""
    blocks = -(-rows // block)
    codes = RNG.integers(0, 1 << bits, (COLUMNS, blocks * block))
    scale, points = (RNG.random((COLUMNS, blocks)) + 0.1).astype(dtype), np.full((COLUMNS, blocks), 1 << bits - 1)
    named = {"b": pack(codes, bits).reshape(COLUMNS, blocks, -1), "s": scale}
    if zero == "packed":
        points = RNG.integers(0, 1 << bits, (COLUMNS, blocks))
        named["z"] = pack(points, bits)
    elif zero == "float":
        points = RNG.integers(0, 2 << bits, (COLUMNS, blocks)) / 2
        named["z"] = points.astype(dtype)
    groups = np.arange(rows) // block
    if g_idx:
        groups = {"plain": groups, "order": RNG.permutation(groups), "any": RNG.integers(0, blocks, rows)}[g_idx]
        named["g"] = groups.astype(np.int32)
    offset = RNG.standard_normal(COLUMNS).astype(dtype) if bias else np.zeros(COLUMNS, dtype)
    named |= {"bias": offset} if bias else {}
    inputs = ["x", *(name if name in named else "" for name in ("b", "s", "z", "g", "bias"))]
    node = helper.make_node(
        "MatMulNBits", inputs, ["y"], "product", domain="com.microsoft", K=rows, N=COLUMNS, bits=bits, block_size=block,
        accuracy_level=4,
    )  # fmt: skip
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    x = helper.make_tensor_value_info("x", kind, [2, 3, rows])
    tensors = [numpy_helper.from_array(value, name) for name, value in named.items()]
    real = (codes[:, :rows] - points[:, groups]) * scale[:, groups].astype(np.float64)
    return model_of(node, x, tensors, kind), real.T, offset


@pytest.mark.parametrize(("options", "in_codes"), [
    ({}, True), ({"bits": 2, "rows": 20, "block": 32, "zero": "packed", "g_idx": "plain"}, True),
    ({"rows": 40, "zero": "packed", "bias": True}, True), ({"g_idx": "order", "zero": "packed"}, True),
    ({"bits": 8}, True), ({"bits": 8, "zero": "packed"}, False), ({"rows": 40, "g_idx": "any"}, False),
    ({"zero": "float", "rows": 48}, False), ({"zero": "packed", "dtype": np.float16, "block": 32}, True),
])  # fmt: skip
def test_products_are_what_the_file_says(options: dict[str, Any], in_codes: bool) -> None:
    """Codes stay codes where blocks hold them; of others the floats that they stand for."""
    model, weight, bias = product(**options)
    x = RNG.standard_normal((2, 3, len(weight))).astype(options.get("dtype", np.float32))
    mod, params = from_onnx(model)
    result, wanted = np.asarray(tvmq.build(mod, params=params)(x)), x.astype(np.float64) @ weight + bias
    assert result.dtype == x.dtype
    np.testing.assert_allclose(result, wanted, rtol=0, atol=(1e-6 if x.itemsize == 4 else 1e-3) * np.abs(wanted).max())
    assert ("tvmq.group_dequantize" in [op_name(value) for _, value in View(mod).bindings]) == in_codes


def table(kind: str, bits: int, length: int, zero: bool) -> tuple[onnx.ModelProto, np.ndarray]:
    """Ten rows in blocks of 16, read by index; and these rows."""
    low, high = (-8, 8) if kind == "INT4" else (0, 1 << bits)
    blocks = -(-length // 16)
    codes, scale = RNG.integers(low, high, (10, length)), (RNG.random((10, blocks)) + 0.1).astype(np.float32)
    points = RNG.integers(low, high, scale.shape) if zero else np.full(scale.shape, (1 << bits - 1) * (kind == "UINT8"))

    def tensor(name: str, values: np.ndarray) -> onnx.TensorProto:
        if kind == "UINT8":
            return numpy_helper.from_array(pack(values, bits), name)
        return helper.make_tensor(name, TensorProto.DataType.Value(kind), values.shape, values.ravel().tolist())

    tensors = [tensor("w", codes), numpy_helper.from_array(scale, "s"), *([tensor("z", points)] if zero else [])]
    names = ["w", "i", "s", *["z"] * zero]
    options = {"bits": bits, "block_size": 16, "quantize_axis": -1}
    node = helper.make_node("GatherBlockQuantized", names, ["y"], "table", domain="com.microsoft", **options)
    model = model_of(node, helper.make_tensor_value_info("i", TensorProto.INT64, [2, 3]), tensors)
    wide = [np.repeat(values, 16, 1)[:, :length] for values in (scale, points)]
    return model, (codes - wide[1]).astype(np.float32) * wide[0]


@pytest.mark.parametrize(("kind", "bits", "length", "zero"), [
    ("UINT8", 4, 64, True), ("UINT8", 4, 48, False), ("UINT8", 2, 48, True), ("UINT8", 8, 32, False),
    ("INT4", 4, 40, True), ("UINT4", 4, 40, True), ("UINT4", 4, 32, False),
])  # fmt: skip
def test_tables_are_what_the_file_says(kind: str, bits: int, length: int, zero: bool) -> None:
    model, rows = table(kind, bits, length, zero)
    indices = RNG.integers(-10, 10, (2, 3))
    mod, params = from_onnx(model)
    np.testing.assert_array_equal(np.asarray(tvmq.build(mod, params=params)(indices)), rows[indices])


@pytest.mark.parametrize(("change", "words"), [
    ({"bits": 3}, "codes of 3 bits in blocks of 16; use 2, 4 or 8 bits and a block size of 16, 32, 64"),
    ({"block_size": 24}, "codes of 4 bits in blocks of 24; use 2"),
    ({"weight_prepacked": 1}, "weight_prepacked=1 is made for one GPU"),
    ({"K": 80}, r"its input 1 has shape \[6, 4, 8\], but K, N and block_size require 240 elements; the model is damaged"),
    ({"K": -1}, "its weight has the shape -1 x 6; the model is damaged"),
    ({"g": np.full(64, 4, np.int32)}, "g_idx is from 4 to 4 for 4 blocks; the model is damaged"),
    ({"s": None}, "its input 2 is not a constant; use constant weights and scales"),
])  # fmt: skip
def test_products_in_other_forms_are_refused(change: dict[str, Any], words: str) -> None:
    model, _, _ = product(g_idx="plain")
    for name, value in change.items():
        kept = [tensor for tensor in model.graph.initializer if tensor.name != name]
        if len(kept) == len(model.graph.initializer):
            node = model.graph.node[0]
            others = [attribute for attribute in node.attribute if attribute.name != name]
            del node.attribute[:]
            node.attribute.extend([*others, helper.make_attribute(name, value)])
            continue
        del model.graph.initializer[:]
        model.graph.initializer.extend(kept if value is None else [*kept, numpy_helper.from_array(value, name)])
        if value is None:
            model.graph.input.append(helper.make_tensor_value_info(name, 1, [6, 4]))
    with pytest.raises(UnsupportedOpError, match=f"layer 'product': MatMulNBits: {words}"):
        from_onnx(model)


@pytest.mark.parametrize(("change", "words"), [
    ({"block_size": 8}, "codes of 4 bits in blocks of 8; use 2, 4 or 8 bits"),
    ({"quantize_axis": 2}, "scales of 2 dimensions along axis 2 do not fit codes of 2 dimensions; give the scales the rank of the codes"),
    ({"w": np.zeros((10, 32), np.int8)}, "codes of type int8 are not supported; use int4, uint4 or uint8"),
])  # fmt: skip
def test_tables_in_other_forms_are_refused(change: dict[str, Any], words: str) -> None:
    model, _ = table("UINT8", 4, 64, zero=True)
    for attribute in model.graph.node[0].attribute:
        attribute.i = change.get(attribute.name, attribute.i)
    if "w" in change:
        model.graph.initializer[0].CopyFrom(numpy_helper.from_array(change["w"], "w"))
    with pytest.raises(UnsupportedOpError, match=f"layer 'table': GatherBlockQuantized: {words}"):
        from_onnx(model)
