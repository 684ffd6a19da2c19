"""Weights alone in ONNX: codes and scales of layers that compute in floats.

one scale a channel     DequantizeLinear of an int8 initializer
one scale a group       Reshape(Cast(codes) * scales): DequantizeLinear knows groups from opset 21 only
rows of a table         Cast(Gather(codes)) * Gather(scales)

Codes of 4 bits are written as int8: INT4 tensors need opset 21.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from tvm import relax

from tvmq.exporters.onnx.graph import OnnxGraph, Scale, int64s
from tvmq.exporters.onnx.ops import WRITERS
from tvmq.exporters.onnx.values import Rows
from tvmq.graph.view import const_value

FLOAT = 1  # of onnx.TensorProto


def constant_weight(graph: OnnxGraph, call: relax.Call, layer: str) -> str:
    """tvmq.dequantize of a constant."""
    codes, scale, zero = (const_value(arg) for arg in call.args)
    axis = int(call.attrs.axis)
    return graph.weight(codes, f"{layer}.weight", Scale(scale, zero, str(codes.dtype), axis if axis >= 0 else None))


def grouped_weight(graph: OnnxGraph, call: relax.Call, layer: str) -> str:
    """tvmq.group_dequantize of a constant."""
    codes, scale = (const_value(arg) for arg in call.args)
    axis, size = int(call.attrs.axis), int(call.attrs.group_size)
    apart = codes.reshape(*codes.shape[:axis], -1, size, *codes.shape[axis + 1 :])
    stored = graph.constant(apart, f"{layer}.weight_quantized")
    scales = graph.constant(np.expand_dims(scale, axis + 1), f"{layer}.weight_scale")
    return _reshaped(graph, _scaled(graph, stored, scales, layer), codes.shape, layer)


def rows(graph: OnnxGraph, taken: Rows, scales: str, layer: str) -> str:
    """tvmq.dynamic_dequantize of rows of a table: each with a scale of its own, [..., 1]."""
    return _scaled(graph, _gathered(graph, taken, taken.table), scales, layer)


def grouped_rows(graph: OnnxGraph, taken: Rows, scales: str, call: relax.Call, layer: str) -> str:
    """tvmq.group_dequantize of rows of a table, with scales [..., groups]."""
    size, leading = int(call.attrs.group_size), len(call.args[0].ty.shape) - 1
    apart = taken.table.reshape(len(taken.table), -1, size)
    last = graph.constant(int64s([leading + 1]), f"{layer}.axes")
    wide = graph.node("Unsqueeze", [scales, last], f"{layer}/Unsqueeze", f"{layer}_scales")
    value = _scaled(graph, _gathered(graph, taken, apart), wide, layer)
    return _reshaped(graph, value, [0] * leading + [taken.table.shape[1]], layer)


def _gathered(graph: OnnxGraph, taken: Rows, table: np.ndarray) -> str:
    stored = graph.constant(table, f"{taken.node.layer}.weight_quantized")
    return str(WRITERS["take"](replace(taken.node, inputs=[stored, taken.indices])))


def _scaled(graph: OnnxGraph, codes: str, scales: str, layer: str) -> str:
    real = graph.node("Cast", [codes], f"{layer}/Cast", f"{layer}_codes", to=FLOAT)
    return graph.node("Mul", [real, scales], f"{layer}/Mul", f"{layer}_scaled")


def _reshaped(graph: OnnxGraph, value: str, shape: Sequence[Any], layer: str) -> str:
    """A size of 0 is that of the input."""
    sizes = graph.constant(int64s(list(shape)), f"{layer}.shape")
    return graph.node("Reshape", [value, sizes], f"{layer}/Reshape", f"{layer}_weight")
