"""Elementwise operators."""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.frontends.onnx_ops.node import NodeCall


def clip(call: NodeCall) -> relax.Expr | None:
    """Clip with constant bounds as relax.clip (TVM's converter lowers it to TIR at once, which no pattern matches).

    A missing bound is the end of the element type; a NaN bound is no bound, as in onnxruntime.
    """
    bounds = [call.input(1), call.input(2)]
    values = [call.constant(1), call.constant(2)]
    if any(bound is not None and value is None for bound, value in zip(bounds, values, strict=True)):
        return None
    dtype = str(call.inputs[0].ty.dtype)
    info = np.finfo(dtype) if dtype.startswith("float") else np.iinfo(dtype)
    low, high = (
        float(end) if value is None or np.isnan(value) else float(value)
        for value, end in zip(values, (info.min, info.max), strict=True)
    )
    return relax.op.clip(call.inputs[0], low, high)
