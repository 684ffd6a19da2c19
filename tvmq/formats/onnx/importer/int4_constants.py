"""Weights in INT4 and UINT4: as int8 and uint8, where DequantizeLinear alone reads them.

Tests: tests/formats/onnx/importer/test_recurrent.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import onnx

WIDER = {"INT4": np.int8, "UINT4": np.uint8}


def widen_codes(tensor: onnx.TensorProto, graph: onnx.GraphProto) -> Any | None:
    """The codes of a tensor in a type of 8 bits; None for other types, and where somebody else reads them."""
    from onnx import TensorProto, numpy_helper

    dtype = WIDER.get(TensorProto.DataType.Name(tensor.data_type))
    readers = [node.op_type for node in graph.node for name in node.input if name == tensor.name]
    if dtype is None or set(readers) != {"DequantizeLinear"}:
        return None
    return numpy_helper.to_array(tensor).astype(dtype)
