"""Sizes that only a run tells, as ONNX nodes: Shape of an input, Gather of an axis, arithmetic, Concat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tvm

from tvmq.errors import UnsupportedOpError
from tvmq.graph.sizes import is_number

if TYPE_CHECKING:
    from tvmq.exporters.onnx.graph import OnnxGraph

ARITHMETIC = {
    tvm.tirx.Add: "Add",
    tvm.tirx.Sub: "Sub",
    tvm.tirx.Mul: "Mul",
    tvm.tirx.FloorDiv: "Div",
    tvm.tirx.Min: "Min",
    tvm.tirx.Max: "Max",
}


class FreeSizes:
    """Writes free sizes into a graph, each dimension once.

    places  {free dimension: (input, axis) where it stands}
    """

    def __init__(self, graph: OnnxGraph, places: Mapping[str, tuple[str, int]]) -> None:
        self._graph, self._places = graph, places
        self._dimensions: dict[str, str] = {}

    def vector(self, sizes: Sequence[Any], layer: str, name: str) -> str:
        """The name of an int64 vector of these sizes."""
        parts = [self._size(size, layer, f"{name}_{i}") for i, size in enumerate(sizes)]
        return self._graph.node("Concat", parts, f"{layer}/Concat", name, axis=0)

    def _size(self, size: Any, layer: str, name: str) -> str:
        """The name of a vector of one size."""
        if is_number(size):
            return self._graph.constant(np.asarray([int(size)], np.int64), name)
        if isinstance(size, tvm.ir.Var) and size.name in self._places:
            return self._dimension(str(size.name))
        operator = ARITHMETIC.get(type(size))
        if operator is None:
            raise UnsupportedOpError(
                f"to_onnx, layer '{layer}': the size {size} has no ONNX form here; fix the sizes: "
                "from_onnx(..., shape=...)"
            )
        parts = [self._size(part, layer, f"{name}_{i}") for i, part in enumerate((size.a, size.b))]
        return self._graph.node(operator, parts, f"{layer}/{operator}", name)

    def _dimension(self, name: str) -> str:
        if name not in self._dimensions:
            given, axis = self._places[name]
            shape = self._graph.node("Shape", [given], f"{given}/Shape", f"{given}_shape")
            index = self._graph.constant(np.asarray([axis], np.int64), f"{name}_axis")
            self._dimensions[name] = self._graph.node("Gather", [shape, index], f"{given}/Gather", name, axis=0)
        return self._dimensions[name]
