"""ONNX models of a few nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper


def make_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Any],
    outputs: Sequence[str],
    constants: Mapping[str, Any] | None = None,
    opset: int = 18,
    ir_version: int = 8,
) -> onnx.ModelProto:
    """A model of these nodes; output types are left to inference.

    inputs     {name: (dtype, dims), dims of floats, or an array like it}
    constants  {name: array}
    """
    typed = [_input(name, kind) for name, kind in inputs.items()]
    weights = [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()]
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph(nodes, "test", typed, results, weights)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)


def _input(name: str, kind: Any) -> onnx.ValueInfoProto:
    if isinstance(kind, np.ndarray):
        kind = str(kind.dtype), kind.shape
    is_typed = len(kind) == 2 and not isinstance(kind[1], int | str)
    dtype, dims = kind if is_typed else ("float32", kind)
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), dims)


def words() -> onnx.ModelProto:
    """Rows of a table, then a product: two weights that are read in different ways."""
    random = np.random.default_rng(0)
    arrays = {"table": random.normal(size=(20, 8)), "matrix": random.normal(size=(8, 6))}
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["rows"], "/words"),
        helper.make_node("MatMul", ["rows", "matrix"], ["y"], "/head"),
    ]
    weights = {name: array.astype(np.float32) for name, array in arrays.items()}
    return make_model(nodes, {"ids": ("int64", [2, 3])}, ["y"], weights, 17)
