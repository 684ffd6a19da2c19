"""QuantizeLinear and DequantizeLinear as torch.ops.quantized_decomposed has them: numbers, types, bounds of codes.

Tests: tests/formats/torch/exporter/test_onnx_operators.py
"""

from __future__ import annotations

import importlib
from contextlib import suppress

import numpy as np
import onnx
import torch

from tvmq.formats.onnx.exporter.file_view import FileView

with suppress(ImportError):  # registers the operators
    importlib.import_module("torch.ao.quantization.fx._decomposed")

DECOMPOSED = torch.ops.quantized_decomposed
TYPES = {"int4": torch.int8, "int8": torch.int8, "uint8": torch.uint8, "int16": torch.int16, "int32": torch.int32}


def conversion_codes(view: FileView, node: onnx.NodeProto) -> tuple[np.ndarray, np.ndarray, torch.dtype]:
    """Scale, zero point, and the type that holds the codes."""
    scale, zero = view.constant(node, 1), view.constant(node, 2)
    assert scale is not None and zero is not None  # what our exporter writes
    return scale, zero.astype(np.int64), TYPES[view.code_type(node)]


def bounds_of(dtype: torch.dtype, codes: np.ndarray | None = None, *, narrow: bool = False) -> tuple[int, int]:
    """Lowest and highest code of a type; of a weight -127 where it has no lower one.

    >>> bounds_of(torch.int8), bounds_of(torch.int8, np.int8([3, -127])), bounds_of(torch.int8, narrow=True)
    ((-128, 127), (-127, 127), (-8, 7))
    """
    if narrow:
        return -8, 7
    limits = torch.iinfo(dtype)
    is_symmetric = codes is not None and codes.size > 0 and int(codes.min()) > limits.min and limits.min < 0
    return limits.min + int(is_symmetric), limits.max
