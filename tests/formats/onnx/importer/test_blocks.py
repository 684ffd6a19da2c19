"""Weights with a scale, and a zero point, for each block: what the file says, for every type, length and block."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.graph.view import View, op_name

RNG = np.random.default_rng(0)
RANGES = {"INT4": (-8, 8), "UINT4": (0, 16), "INT8": (-128, 128), "UINT8": (0, 256)}


def weight(kind: str, length: int, block: int, zero: int | str | None, axis: int) -> tuple[onnx.ModelProto, np.ndarray]:
    """A product with a weight in blocks, and the weight by ONNX's definition; zero: one for all, "each", or None."""
    low, high = RANGES[kind]
    shape = [length, 6] if axis == 0 else [6, length]
    blocks = [-(-length // block), 6] if axis == 0 else [6, -(-length // block)]
    codes, scale = RNG.integers(low, high, shape), RNG.random(blocks).astype(np.float32) + np.float32(0.1)
    zeros = RNG.integers(low, high, blocks) if zero == "each" else np.full(blocks, zero or 0)
    code = TensorProto.DataType.Value(kind)
    weights = [helper.make_tensor("w", code, shape, codes.ravel().tolist()), numpy_helper.from_array(scale, "s")]
    weights += [helper.make_tensor("z", code, blocks, zeros.ravel().tolist())] if zero is not None else []
    names = ["w", "s", "z"][: len(weights)]
    nodes = [
        helper.make_node("DequantizeLinear", names, ["d"], name="weight", axis=axis, block_size=block),
        helper.make_node("MatMul", ["x", "d"], ["y"], name="product"),
    ]
    x = helper.make_tensor_value_info("x", 1, [5, shape[0]])
    graph = helper.make_graph(nodes, "g", [x], [helper.make_tensor_value_info("y", 1, None)], weights)
    wide = [np.repeat(values, block, axis).take(range(length), axis) for values in (scale, zeros)]
    real = (codes - wide[1]).astype(np.float32) * wide[0]
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), real


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("length", "block"), [(32, 16), (32, 32), (40, 16), (20, 32), (33, 16)])
@pytest.mark.parametrize(
    ("kind", "zero"),
    [("INT4", None), ("INT4", "each"), ("UINT4", 8), ("UINT4", None), ("UINT4", "each")]
    + [("INT8", None), ("INT8", "each"), ("UINT8", 128), ("UINT8", "each")],
)
def test_blocks_are_what_the_file_says(kind: str, zero: int | str | None, length: int, block: int, axis: int) -> None:
    model, real = weight(kind, length, block, zero, axis)
    module = tvmq.quantize(*from_onnx(model)) if kind in ("INT4", "UINT4") else None
    if module is not None:  # its codes stay codes
        names = [op_name(value) for _, value in View(module).bindings]
        assert any(name in ("tvmq.group_dequantize", "tvmq.group_matmul") for name in names)
    x = RNG.standard_normal((5, real.shape[0])).astype(np.float32)
    mod, params = from_onnx(model)
    result = tvmq.reference.run(module, {"x": x})[0] if module is not None else np.asarray(tvmq.build(mod, params=params)(x))
    wanted = x.astype(np.float64) @ real
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


def test_blocks_of_codes_that_are_fed_are_what_the_file_says() -> None:
    model, _ = weight("UINT8", 33, 16, "each", 0)
    codes, scale, zeros = (numpy_helper.to_array(tensor) for tensor in model.graph.initializer)
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.UINT8, codes.shape))
    del model.graph.initializer[0]
    mod, params = from_onnx(model)
    x, fed = np.eye(33, dtype=np.float32)[:5], RNG.integers(0, 256, codes.shape).astype(np.uint8)
    result = np.asarray(tvmq.build(mod, params=params).run({"x": x, "w": fed})[0])
    wide = [np.repeat(values, 16, 0)[:33] for values in (scale, zeros.astype(np.int32))]
    assert np.array_equal(result, ((fed.astype(np.int32) - wide[1]).astype(np.float32) * wide[0])[:5])


def test_blocks_whose_scales_do_not_fit_or_are_computed_are_refused() -> None:
    model, _ = weight("INT8", 32, 16, None, 0)
    model.graph.node[0].attribute[1].i = 8
    with pytest.raises(UnsupportedOpError, match=r"scales of float32 \[2, 6\] for blocks of 8 are not supported, only .* \[4, 6\]"):
        from_onnx(model)
    model, _ = weight("INT8", 32, 16, None, 0)
    model.graph.input.append(helper.make_tensor_value_info("s", 1, [2, 6]))
    del model.graph.initializer[1]
    with pytest.raises(UnsupportedOpError, match="blocks need constant scales and an axis of fixed size"):
        from_onnx(model)
