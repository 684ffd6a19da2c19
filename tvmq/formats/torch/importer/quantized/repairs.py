"""quantize and dequantize operators of torch.ops.quantized_decomposed as our own.

quantize_per_tensor, _per_channel(x, s, z)      R.tvmq.quantize      constant scale and zero point, uint8 or int8 codes
dequantize_per_tensor, _per_channel(q, s, z)    R.tvmq.dequantize    likewise; q may also be int32 (a bias)

torch multiplies by the reciprocal of a scale, R.tvmq.quantize divides by the scale: a value next to the middle of two
codes may fall to the other. Constants are quantized by torch itself, so that weights have its codes.

Tests: tests/formats/torch/importer/test_quantized_models.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax
from tvm.ir import GenericConst

from tvmq.formats.torch.importer.repairs import TorchCall
from tvmq.graph import ops
from tvmq.numerics.code_type import CODE_TYPES, CODES_8

WAY_OUT = "quantize the model to 8 bits with constant scales"


def quantize(call: TorchCall) -> relax.Expr:
    """Quantize with one scale, or one for each channel."""
    x, dtype = call["input"], str(call["dtype"]).rpartition(".")[2]
    if isinstance(x, GenericConst):
        return relax.const(_by_torch(call).numpy())
    if dtype not in CODES_8:
        raise call.unsupported_error(f"codes of type {dtype} are not supported", WAY_OUT)
    low, high = _bounds(call)
    if _is_computed(call):
        # in torch's order of operations
        inverse = call.emit(relax.op.divide(call.constant(1, x), call["scale"]))
        steps = call.emit(relax.op.round(call.emit(relax.op.multiply(x, inverse))))
        codes = call.emit(relax.op.clip(call.emit(relax.op.add(steps, call["zero_point"])), low, high))
        return relax.op.astype(codes, dtype)
    scale, zero, axis = _numbers(call)
    named: dict[str, Any] = {"axis": axis, "dtype": dtype, "qmin": low, "qmax": high}
    return ops.quantize(x, relax.const(scale), relax.const(zero), **named)


def dequantize(call: TorchCall) -> relax.Expr:
    """Dequantize with one scale, or one for each channel."""
    q = call["input"]
    if _is_computed(call):
        steps = call.emit(relax.op.subtract(call.emit(relax.op.astype(q, "float32")), call["zero_point"]))
        return relax.op.multiply(steps, call["scale"])
    scale, zero, axis = _numbers(call)
    dtype = str(q.ty.dtype)
    if dtype not in (*CODES_8, "int32"):
        raise call.unsupported_error(f"codes of type {dtype} are not supported", WAY_OUT)
    return ops.dequantize(q, relax.const(scale), relax.const(zero), axis=axis)


def _is_computed(call: TorchCall) -> bool:
    """True if the scale of a tensor is computed at run time, by `choose_qparams`."""
    if "per_channel" in call.operator:
        return False
    numbers = (call["scale"], call["zero_point"])
    return all(isinstance(value, relax.Expr) and not isinstance(value, GenericConst) for value in numbers)


def fake_quantize(call: TorchCall) -> tuple[relax.Expr]:
    """A fake quantizer as both operators; the mask beside its result is not computed."""
    low, high = _bounds(call)
    dtype = "uint8" if low >= 0 else "int8"
    least, most = CODE_TYPES[dtype].limits
    if not (least <= low and high <= most):
        raise call.unsupported_error(f"codes from {low} to {high} are not supported", WAY_OUT)
    x = call["self"]
    scale, zero, axis = _numbers(call)
    numbers = relax.const(scale), relax.const(zero)
    if isinstance(x, GenericConst):
        shape = [-1 if i == axis else 1 for i in range(len(call.shape(x)))] if axis >= 0 else []
        steps = np.rint(_by_torch(call)[0].numpy() / scale.reshape(shape)) + zero.reshape(shape)
        q: relax.Expr = relax.const(steps.astype(dtype))
    else:
        q = call.emit(ops.quantize(x, *numbers, axis=axis, dtype=dtype, qmin=low, qmax=high))
    return (call.emit(ops.dequantize(q, *numbers, axis=axis)),)


def _bounds(call: TorchCall) -> tuple[int, int]:
    low, high = (int(number(call, call[name]).item()) for name in ("quant_min", "quant_max"))
    return low, high


def _numbers(call: TorchCall) -> tuple[np.ndarray, np.ndarray, int]:
    """Scale, zero point, and axis (-1: one scale)."""
    plural = "s" if call.operator.startswith(("quantize_per_channel", "dequantize_per_channel")) else ""
    scale = number(call, call[f"scale{plural}"]).astype(np.float32)
    points = call[f"zero_point{plural}"]
    zero = np.zeros(scale.shape, np.int32) if points is None else number(call, points).astype(np.int32)
    if not (np.isfinite(scale) & (scale > 0)).all():
        worst = float(scale[~(np.isfinite(scale) & (scale > 0))].ravel()[0])
        raise call.unsupported_error(f"a scale is {worst:g}", "scales must be positive, calibrate the model again")
    if scale.size == 1:
        return scale.reshape(()), zero.reshape(()), -1
    return scale, np.broadcast_to(zero, scale.shape).copy(), int(call["axis"])


def number(call: TorchCall, value: Any) -> np.ndarray:
    """A constant of the graph, or a number."""
    if isinstance(value, GenericConst):
        return np.asarray(value.value.numpy())
    if isinstance(value, relax.Expr):
        raise call.unsupported_error("its scale or zero point is not a constant", WAY_OUT)
    return np.asarray(value)


def _by_torch(call: TorchCall) -> Any:
    """Result of torch's own operator on a constant."""
    import torch

    def torch_value(argument: Any) -> Any:
        value = call.value(argument) if hasattr(argument, "op") else argument
        return torch.from_numpy(np.array(value.value.numpy())) if isinstance(value, GenericConst) else value

    target: Any = call.node.target
    return target(*map(torch_value, call.node.args), **{k: torch_value(v) for k, v in call.node.kwargs.items()})
