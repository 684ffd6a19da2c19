"""QuantizeLinear and DequantizeLinear as our own operators, whose definition is ONNX's.

    QuantizeLinear(x, s, z)      R.tvmq.quantize      constant scale and zero point, uint8 or int8 codes
    DequantizeLinear(q, s, z)    R.tvmq.dequantize    likewise; q may also be int32 (a bias)

Everything else (computed scales, 16-bit codes) is left to TVM's converter and stays float in the integer module;
blocks of scales are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvmq.frontends.onnx.repairs.node import NodeCall
from tvmq.graph import ops

CODES = ("uint8", "int8")
WAY_OUT = "quantize the model with one scale for each tensor or channel"


def quantize_linear(call: NodeCall) -> relax.Expr | None:
    """QuantizeLinear; None leaves it to TVM."""
    numbers = _numbers(call)
    if numbers is None or call.dtype() != "float32":
        return None
    scale, zero, axis, dtype = numbers
    if dtype not in CODES:
        return None
    limits = np.iinfo(dtype)
    named: dict[str, Any] = {"axis": axis, "dtype": dtype, "qmin": int(limits.min), "qmax": int(limits.max)}
    return ops.quantize(call.inputs[0], relax.const(scale), relax.const(zero), **named)


def dequantize_linear(call: NodeCall) -> relax.Expr | None:
    """DequantizeLinear; None leaves it to TVM."""
    numbers = _numbers(call)
    if numbers is None or call.dtype() not in (*CODES, "int32"):
        return None
    scale, zero, axis, _ = numbers
    return ops.dequantize(call.inputs[0], relax.const(scale), relax.const(zero), axis=axis)


def _numbers(call: NodeCall) -> tuple[np.ndarray, np.ndarray, int, str] | None:
    """Scale, zero point, axis (-1: one scale) and type of the codes; None where they are no constants.

    raises  UnsupportedOpError for blocks of scales and for scales that are not positive and finite
    """
    if call.attributes.get("block_size", 0):
        raise call.unsupported("scales for blocks of a tensor are not supported", WAY_OUT)
    scale, zero = call.constant(1), call.constant(2)
    if scale is None or scale.dtype != np.float32 or (zero is None and call.input(2) is not None):
        return None
    dtype = str(zero.dtype) if zero is not None else _default_type(call)
    if dtype not in (*CODES, "int32"):
        return None
    if not (np.isfinite(scale) & (scale > 0)).all():
        worst = float(scale[~(np.isfinite(scale) & (scale > 0))].ravel()[0])
        raise call.unsupported(f"a scale is {worst:g}", "scales are positive; quantize the model anew")
    zero = np.zeros(scale.shape, np.int32) if zero is None else zero.astype(np.int32)
    if scale.size == 1:
        return scale.reshape(()), zero.reshape(()), -1, dtype
    if scale.ndim != 1:
        raise call.unsupported(f"scales of shape {scale.shape} for blocks of a tensor are not supported", WAY_OUT)
    return scale, np.broadcast_to(zero, scale.shape).copy(), call.axis(1), dtype


def _default_type(call: NodeCall) -> str:
    """Type of the codes where no zero point tells it."""
    if call.op_type == "DequantizeLinear":
        return call.dtype()
    from onnx import helper

    code = call.attributes.get("output_dtype", 0)
    return str(helper.tensor_dtype_to_np_dtype(code)) if code else "uint8"
