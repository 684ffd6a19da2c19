"""Integer sums as the float operators that they stand for.

    convolutions, matmul            of codes and an integer weight: Conv, ConvTranspose, Gemm or MatMul; weight and
                                    bias keep their codes
    tvmq.matmul, tvmq.multiply      of two activations: MatMul, Mul
    tvmq.sum, tvmq.sum_pool         ReduceMean or ReduceSum, AveragePool

The scale of a weight stands in the requantize behind it, multiplied by s_x / s_y and rounded: `find_scales` looks for
the float32 that gives these very constants again.

Tests: tests/formats/onnx/exporter/test_to_onnx.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tvmq import numerics
from tvmq.formats.exporting.scale_search import find_scales
from tvmq.formats.onnx.exporter.graph import CodedTensor, Scale
from tvmq.formats.onnx.exporter.ops import WRITERS, Node


@dataclass(frozen=True)
class OnnxSums:
    """An int32 tensor that is still to be scaled.

    node     the operator, its inputs are those of the float one
    inputs   the activations it reads
    weight   integer weight, None for activations alone
    bias     int32 constant added to the sums, None without one
    facts    of its group in the ledger
    """

    node: Node
    inputs: list[CodedTensor]
    weight: np.ndarray | None = None
    bias: np.ndarray | None = None

    def with_bias(self, bias: np.ndarray) -> OnnxSums:
        """These sums with a constant added."""
        return replace(self, bias=bias.reshape(-1))

    def emit(self, real: np.ndarray, fits: Callable[[np.ndarray], np.ndarray], facts: dict[str, Any]) -> str:
        """Name of the float tensor.

        real   real value of one step of the sums, float64, one number or one a channel
        fits   says for products s_x * s_w which of them give the constants of the module
        """
        if self.weight is not None:
            return self._weighted_layer(real, fits)
        if self.node.op in ("tvmq.matmul", "tvmq.multiply"):
            return self._product(real)
        return self._average(real, facts)

    def _weighted_layer(self, real: np.ndarray, fits: Callable[[np.ndarray], np.ndarray]) -> str:
        node, x, weight = self.node, self.inputs[0], self.weight
        assert weight is not None
        s_x = np.float64(x.scale.scale)
        axis = self._axis(weight)
        scale, _ = find_scales(real / s_x, lambda s: fits(s_x * s))
        bias = self._bias(weight, s_x * scale.astype(np.float64))
        per_channel = scale.size > 1
        # a transposed convolution of groups has the scales of one group, again and again
        numbers = scale.reshape(-1)[: weight.shape[axis]] if per_channel else scale.reshape(())
        zero = np.zeros(numbers.shape, np.int32)
        name = f"{node.layer}.weight"
        w = node.graph.weight(weight, name, Scale(numbers, zero, "int8", axis if per_channel else None))
        return self._layer([x.real, w], bias)

    def _axis(self, weight: np.ndarray) -> int:
        """Axis of the output channels in the weight."""
        if self.node.op == "tvmq.conv_transpose":
            return 0 if weight.shape[1] == 1 and self.node.attrs.groups == weight.shape[0] else 1
        return 0 if self.node.op.startswith("nn.conv") else weight.ndim - 1

    def _layer(self, inputs: list[str], bias: list[str]) -> str:
        node = self.node
        if "conv" in node.op:
            return str(WRITERS[node.op](replace(node, inputs=[*inputs, *bias])))
        if bias and len(node.shapes[0]) == 2:
            return node.write("Gemm", *inputs, *bias)
        product = node.write("MatMul", *inputs)
        return node.graph.node("Add", [product, *bias], f"{node.layer}/Add", node.result) if bias else product

    def _bias(self, weight: np.ndarray, scale: np.ndarray) -> list[str]:
        """The bias without the share of the zero point: int32 codes, or floats; an empty list where it is zero."""
        if self.bias is None:
            return []
        if self.node.op == "tvmq.conv_transpose":
            weight = numerics.filters_first(weight, int(self.node.attrs.groups))
        axis = 0 if "conv" in self.node.op else weight.ndim - 1
        rest = tuple(a for a in range(weight.ndim) if a != axis)
        share = int(self.inputs[0].scale.zero_point) * weight.astype(np.int64).sum(axis=rest)
        codes = (self.bias.astype(np.int64) + share).astype(np.int32)
        if not codes.any():
            return []
        graph, name = self.node.graph, f"{self.node.layer}.bias"
        if graph.form.dialect.float_biases:
            return [graph.constant((codes * scale).astype(np.float32), name)]
        scale = scale.astype(np.float32) if scale.size > 1 else scale.astype(np.float32).reshape(())
        numbers = Scale(scale, np.zeros(scale.shape, np.int32), "int32", 0 if scale.ndim else None)
        return [graph.weight(codes, name, numbers)]

    def _product(self, real: np.ndarray) -> str:
        node = self.node
        op_type = "MatMul" if node.op == "tvmq.matmul" else "Mul"
        result = node.write(op_type, *(x.real for x in self.inputs))
        factor = float(real.reshape(-1)[0]) / math.prod(float(x.scale.scale) for x in self.inputs)
        if abs(factor - 1) < 1e-5:
            return result
        constant = node.constant(np.float32(factor), "factor")
        return node.graph.node("Mul", [result, constant], f"{node.layer}/Mul", node.result)

    def _average(self, real: np.ndarray, facts: dict[str, Any]) -> str:
        node, x = self.node, self.inputs[0]
        attrs = node.attrs
        if node.op == "tvmq.sum_pool":
            padding, counted = node.ints("padding"), [int(size) for size in facts.get("counted", ())]
            options: dict[str, Any] = {"kernel_shape": node.ints("kernel"), "strides": node.ints("strides")}
            if not any(counted):
                return node.write("AveragePool", x.real, pads=padding, count_include_pad=0, **options)
            options["ceil_mode"] = int(padding != counted)  # what rounding up adds never counts
            return node.write("AveragePool", x.real, pads=counted, count_include_pad=1, **options)
        share = float(real.reshape(-1)[0]) / float(x.scale.scale)
        op_type = "ReduceSum" if abs(share - 1) < 1e-5 else "ReduceMean"
        return node.reduce(op_type, x.real, node.ints("axes"), bool(attrs.keepdims))


def same_constants(factor: np.ndarray, multiplier: np.ndarray, shift: np.ndarray, mode: str) -> np.ndarray:
    """Which factors give these constants of a requantize."""
    if mode == "float":
        return factor.astype(np.float32) == multiplier
    if mode == "power_of_two":
        return factor == np.exp2(shift.astype(np.float64))
    mantissa, exponent = numerics.fixed_point_parameters(factor)
    return (mantissa == multiplier) & (exponent == shift)
