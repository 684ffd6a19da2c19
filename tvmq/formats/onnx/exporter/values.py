"""Values that the writer keeps besides tensors, and the numbers and types of expressions.

Weights alone in ONNX: codes and scales of layers that compute in floats.

one scale a channel     DequantizeLinear of an initializer
one scale a group       DequantizeLinear with block_size from opset 21 on; before that Reshape(Cast(codes) * scales)
rows of a table         Cast(Gather(codes)) * Gather(scales), with int8 codes: Gather takes none of 4 bits

Tests: tests/formats/onnx/exporter/test_weights.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import tvm
from tvm import relax

from tvmq.formats.onnx.exporter.graph import Scale
from tvmq.formats.onnx.exporter.ops import WRITERS, Node
from tvmq.graph.size_text import size_text
from tvmq.graph.view import dtype_of, is_const

if TYPE_CHECKING:
    import onnx
from tvmq.formats.onnx.exporter.graph import OnnxGraph, int64s
from tvmq.graph.view import const_value

# how realize names the tables of comparisons, and what they and the operator behind them stand for
THRESHOLDS = "least code "
COMPARED = {
    ("greater_equal", "greater"): "less",
    ("greater_equal", "greater_equal"): "less_equal",
    ("less", "greater_equal"): "greater",
    ("less", "greater"): "greater_equal",
    ("equal", "equal"): "equal",
    ("not_equal", "equal"): "not_equal",
}


@dataclass(frozen=True)
class Thresholds:
    """Codes to compare others with: the real tensor they stand for, and the kind of the comparison."""

    real: str
    kind: str


@dataclass(frozen=True)
class Rows:
    """Rows that are gathered from a table of codes; the operator that reads them holds the scale."""

    node: Node
    table: np.ndarray
    indices: str

    def emit(self, scale: Scale) -> str:
        """Name of the float tensor."""
        codes = self.node.graph.weight(self.table, f"{self.node.layer}.weight", scale)
        return str(WRITERS["take"](replace(self.node, inputs=[codes, self.indices])))


def dims(expr: relax.Expr) -> tuple[Any, ...]:
    """Dimensions as numbers, or TVM's expressions of dynamic ones."""
    return tuple(int(d) if isinstance(d, tvm.tirx.IntImm) else d for d in expr.ty.shape)


def info(var: relax.Expr, name: str) -> onnx.ValueInfoProto:
    """An input or output with its type; symbolic dimensions keep their names."""
    from onnx import helper

    sizes = [int(d) if isinstance(d, tvm.tirx.IntImm) else size_text(d) for d in var.ty.shape]
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype_of(var))), sizes)


def is_tensor(arg: relax.Expr) -> bool:
    """True for a tensor, or a tuple of them, that is computed or constant; a dynamic dimension is a variable, too."""
    return is_const(arg) or (isinstance(arg, relax.Var) and not isinstance(arg.ty, tvm.ir.PrimType))


def is_tuple_of_tensors(arg: relax.Expr) -> bool:
    """True for the parts of a concat; shapes may be tuples, too."""
    return isinstance(arg, relax.Tuple) and any(map(is_tensor, arg.fields))


def number(arg: relax.Expr) -> Any:
    """A number or a list of numbers."""
    if isinstance(arg, relax.Tuple):
        return [number(field) for field in arg.fields]
    if isinstance(arg, relax.ShapeExpr):
        return [int(d) if isinstance(d, tvm.tirx.IntImm) else d for d in arg.values]
    value = getattr(arg, "value", arg)
    return getattr(value, "value", value)


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
    if graph.form.has_blocks:
        zero = np.zeros((), np.int32)
        return graph.weight(codes, f"{layer}.weight", Scale(scale, zero, str(codes.dtype), axis, size))
    apart = codes.reshape(*codes.shape[:axis], -1, size, *codes.shape[axis + 1 :])
    stored = graph.constant(apart, f"{layer}.weight_quantized")
    scales = graph.constant(np.expand_dims(scale, axis + 1), f"{layer}.weight_scale")
    return _reshape_weight(graph, _scale_codes(graph, stored, scales, layer), codes.shape, layer)


def rows(graph: OnnxGraph, rows: Rows, scales: str, layer: str) -> str:
    """tvmq.dynamic_dequantize of rows of a table: each with a scale of its own, [..., 1]."""
    return _scale_codes(graph, _gather_rows(graph, rows, rows.table), scales, layer)


def grouped_rows(graph: OnnxGraph, rows: Rows, scales: str, call: relax.Call, layer: str) -> str:
    """tvmq.group_dequantize of rows of a table, with scales [..., groups]."""
    size, leading = int(call.attrs.group_size), len(call.args[0].ty.shape) - 1
    apart = rows.table.reshape(len(rows.table), -1, size)
    last = graph.constant(int64s([leading + 1]), f"{layer}.axes")
    wide = graph.node("Unsqueeze", [scales, last], f"{layer}/Unsqueeze", f"{layer}_scales")
    value = _scale_codes(graph, _gather_rows(graph, rows, apart), wide, layer)
    return _reshape_weight(graph, value, [0] * leading + [rows.table.shape[1]], layer)


def _gather_rows(graph: OnnxGraph, rows: Rows, table: np.ndarray) -> str:
    stored = graph.constant(table, f"{rows.node.layer}.weight_quantized")
    return str(WRITERS["take"](replace(rows.node, inputs=[stored, rows.indices])))


def _scale_codes(graph: OnnxGraph, codes: str, scales: str, layer: str) -> str:
    real = graph.node("Cast", [codes], f"{layer}/Cast", f"{layer}_codes", to=FLOAT)
    return graph.node("Mul", [real, scales], f"{layer}/Mul", f"{layer}_scaled")


def _reshape_weight(graph: OnnxGraph, value: str, shape: Sequence[Any], layer: str) -> str:
    """A size of 0 is that of the input."""
    sizes = graph.constant(int64s(list(shape)), f"{layer}.shape")
    return graph.node("Reshape", [value, sizes], f"{layer}/Reshape", f"{layer}_weight")
