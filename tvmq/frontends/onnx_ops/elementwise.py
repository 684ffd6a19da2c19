"""Elementwise operators."""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.frontends.onnx_ops.node import NodeCall


def clip(call: NodeCall) -> relax.Expr | None:
    """Clip with constant bounds as relax.clip (TVM lowers it to TIR at once, which no pattern matches).

    A missing bound is the end of the element type; a NaN bound is no bound, as in onnxruntime.
    """
    bounds = [call.input(1), call.input(2)]
    values = [call.constant(1), call.constant(2)]
    if any(bound is not None and value is None for bound, value in zip(bounds, values, strict=True)):
        return None
    info = np.finfo(call.dtype()) if call.dtype().startswith("float") else np.iinfo(call.dtype())
    low, high = (
        float(end) if value is None or np.isnan(value.item()) else float(value.item())
        for value, end in zip(values, (info.min, info.max), strict=True)
    )
    return relax.op.clip(call.inputs[0], low, min(high, float(info.max)))


def power(call: NodeCall) -> relax.Expr | None:
    """Pow with an exponent of another type: it is cast to the base's, whose type ONNX gives the result."""
    if call.dtype(0) == call.dtype(1):
        return None
    exponent = call.constant(1)
    if exponent is None:
        call.inputs[1] = relax.op.astype(call.inputs[1], call.dtype())
    else:
        call.inputs[1] = relax.const(exponent.astype(call.dtype()))
    return None


def dropout(call: NodeCall) -> relax.Expr:
    """Dropout passes its input through; training and the mask output are refused."""
    training = call.constant(2)
    if call.input(2) is not None and (training is None or training.item()):
        raise call.unsupported("training mode", "export the model in evaluation mode")
    if len(call.outputs) > 1:
        raise call.unsupported("its mask output is not supported", "export the model in evaluation mode")
    return call.inputs[0]
