"""Small ONNX models that carry their own scales, as quantizers write them, and checks of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import tvm
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tests.support.float_products import run_in_float
from tvmq.graph.ledger import get_ledger

TYPES = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "float32": TensorProto.FLOAT, "int64": TensorProto.INT64}


class Maker:
    """Collects nodes and constants; every method gives the name of a tensor.

    opset    of ONNX's own operators
    codes    type of activations
    """

    def __init__(self, opset: int = 13, codes: str = "uint8") -> None:
        self.opset, self.codes = opset, codes
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: dict[str, tuple[int, ...]] = {}
        self.input_types: dict[str, str] = {}
        self.random = np.random.default_rng(7)

    def input(self, name: str, shape: tuple[int, ...], dtype: str = "float32") -> str:
        self.inputs[name], self.input_types[name] = shape, dtype
        return name

    def constant(self, array: Any, name: str = "") -> str:
        """An initializer."""
        name = name or f"constant_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op_type: str, inputs: Sequence[str], name: str = "", domain: str = "", **attributes: Any) -> str:
        """A node; its result bears its name."""
        name = name or f"{op_type}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, list(inputs), [name], name, domain=domain, **attributes))
        return name

    def scale(self, scale: Any, zero: Any, dtype: str | None = None) -> list[str]:
        """Scale and zero point as constants."""
        zero = np.asarray(zero).astype(dtype or self.codes)
        return [self.constant(np.float32(scale)), self.constant(np.broadcast_to(zero, np.shape(scale)))]

    def quantized(self, x: str, scale: float, zero: int) -> str:
        """A QuantizeLinear."""
        return self.node("QuantizeLinear", [x, *self.scale(scale, zero)])

    def rounded(self, x: str, scale: float, zero: int) -> str:
        """A QuantizeLinear and its DequantizeLinear."""
        numbers = self.scale(scale, zero)
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [x, *numbers]), *numbers])

    def weight(
        self, shape: tuple[int, ...], scale: Any, zero: Any = 0, dtype: str = "int8", axis: int = 0, bits: int = 8
    ) -> str:
        """Random codes behind a DequantizeLinear; with 7 bits no pair of products leaves 16 bits."""
        limits = np.iinfo(dtype)
        codes = (self.random.integers(limits.min, limits.max + 1, shape) >> (8 - bits)).astype(dtype)
        named = {"axis": axis} if np.ndim(scale) else {}
        return self.node("DequantizeLinear", [self.constant(codes), *self.scale(scale, zero, dtype)], **named)

    def bias(self, count: int, scale: Any) -> str:
        """Random int32 codes behind a DequantizeLinear."""
        codes = self.random.integers(-2000, 2000, count).astype(np.int32)
        named = {"axis": 0} if np.ndim(scale) else {}
        return self.node("DequantizeLinear", [self.constant(codes), self.constant(np.float32(scale))], **named)

    def model(self, *outputs: str, types: Sequence[str] = ()) -> onnx.ModelProto:
        """The model with these results, codes where nothing else is said."""
        kinds = list(types) or [self.codes] * len(outputs)
        graph = helper.make_graph(
            self.nodes,
            "quantized",
            [helper.make_tensor_value_info(n, TYPES[self.input_types[n]], s) for n, s in self.inputs.items()],
            [helper.make_tensor_value_info(n, TYPES[k], None) for n, k in zip(outputs, kinds, strict=True)],
            self.weights,
        )
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def random_feed(model: onnx.ModelProto, spread: float = 2.0) -> dict[str, np.ndarray]:
    """Normal numbers for float inputs, any codes for others."""
    feed, random = {}, np.random.default_rng(11)
    for value in model.graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        if dtype.kind == "f":
            feed[value.name] = (spread * random.standard_normal(shape)).astype(dtype)
        else:
            limits = np.iinfo(dtype)
            feed[value.name] = random.integers(limits.min, limits.max + 1, shape).astype(dtype)
    return feed


def results(model: onnx.ModelProto, feed: Mapping[str, np.ndarray]) -> tuple[tvm.IRModule, list[np.ndarray]]:
    """The integer module and its compiled results, which equal the definition bit for bit."""
    module = tvmq.quantize(*tvmq.from_onnx(model))
    compiled = tvmq.build(module).run(feed)
    for ours, defined in zip(compiled, tvmq.reference.run(module, feed), strict=True):
        np.testing.assert_array_equal(ours, defined)
    return module, compiled


def assert_like_float_products(
    model: onnx.ModelProto, *, share: float = 0.02, floats: Sequence[str] = ()
) -> tvm.IRModule:
    """Codes at most one step from those of float products on the same inputs, in at most this share of the values.

    floats   operators that stay float; all others are integers
    """
    feed = random_feed(model)
    module, ours = results(model, feed)
    for a, b in zip(ours, run_in_float(model, feed), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape and a.dtype.kind in "iu"
        assert np.ptp(b.astype(int)) > 50, "codes that hardly vary prove nothing"
        steps = np.abs(a.astype(int) - b.astype(int))
        assert steps.max() <= 1 and np.mean(steps) <= share, (steps.max(), np.mean(steps))
    layers = get_ledger(module).layers.values()
    assert {layer["op"] for layer in layers if layer["precision"] == "float"} == set(floats)
    return module
