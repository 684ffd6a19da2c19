"""Products of codes, and of floats with codes, in Relax: the operators of library.py, and products that PT2E left.

PT2E writes a product with scales made in the run as choose_qparams, quantize, dequantize and a product of floats.

Tests: tests/formats/torch/importer/test_quantized_weights.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax
from tvm.ir import GenericConst

from tvmq import numerics
from tvmq.formats.torch.importer.quantized.repairs import number
from tvmq.formats.torch.importer.repairs import TorchCall
from tvmq.graph import ops


def integer_linear(call: TorchCall) -> relax.Expr:
    """matmul(q, w) in int32."""
    weight = np.ascontiguousarray(number(call, call["weight"]).T)
    return relax.op.matmul(call["q"], relax.const(weight), out_dtype="int32")


def coded_linear(call: TorchCall) -> relax.Expr:
    """matmul(x, group_dequantize(w, scales))."""
    weight, scales, size = _weight(call)
    floats = call.emit(ops.group_dequantize(_store_codes(call, weight), relax.const(scales), axis=0, group_size=size))
    return relax.op.matmul(call["x"], floats)


def group_linear(call: TorchCall) -> relax.Expr:
    """group_matmul(q, s, w, scales)."""
    weight, scales, size = _weight(call)
    return ops.group_matmul(call["q"], call["scale"], _store_codes(call, weight), relax.const(scales), group_size=size)


def _weight(call: TorchCall) -> tuple[np.ndarray, np.ndarray, int]:
    """Codes (K, N), scales (K / size, N), size."""
    codes, scales = (number(call, call[name]) for name in ("weight", "scales"))
    return np.ascontiguousarray(codes.T), np.ascontiguousarray(scales.T, np.float32), int(call["size"])


def _store_codes(call: TorchCall, codes: np.ndarray) -> Any:
    """The codes as a constant; of 4 bits or less two to a byte, unpacked in a run."""
    if not numerics.fits_int4(codes):
        return relax.const(codes)
    return call.emit(ops.unpack(relax.const(numerics.pack_int4(codes)), shape=list(codes.shape)))


def choose_qparams(call: TorchCall) -> tuple[relax.Expr, relax.Expr]:
    """Scale and zero point of a whole tensor, made in a run: both float32, () each."""
    x, low, high = call["input"], float(call["quant_min"]), float(call["quant_max"])

    def constant(value: float) -> Any:
        return call.constant(value, x)

    least = call.emit(relax.op.minimum(call.emit(relax.op.min(x)), constant(0)))
    most = call.emit(relax.op.maximum(call.emit(relax.op.max(x)), constant(0)))
    span = call.emit(relax.op.subtract(most, least))
    scale = call.emit(relax.op.maximum(call.emit(relax.op.divide(span, constant(high - low))), constant(call["eps"])))
    steps = call.emit(relax.op.round(call.emit(relax.op.divide(least, scale))))
    return scale, call.emit(relax.op.clip(call.emit(relax.op.subtract(constant(low), steps)), low, high))


def linear(call: TorchCall) -> relax.Expr | None:
    """A product of codes, where what it reads was quantized in the run and its weight is codes; TVM's otherwise."""
    source, origin = call.node.args[:2]
    if _name(source) != "dequantize_per_tensor.tensor" or not _name(origin).startswith("dequantize_per_"):
        return None
    q, scale, zero = (call.value(argument) for argument in source.args[:3])
    codes, scales, zeros = (call.value(argument) for argument in origin.args[:3])
    if isinstance(scale, GenericConst) or not isinstance(codes, GenericConst):
        return None
    weight = np.asarray(codes.value.numpy())
    if weight.dtype != np.int8 or number(call, zeros).any():
        return None
    sums = call.emit(relax.op.matmul(q, relax.const(np.ascontiguousarray(weight.T)), out_dtype="int32"))
    share = relax.const(weight.sum(axis=1, dtype=np.int32))
    point = call.emit(relax.op.astype(zero, "int32"))
    sums = call.emit(relax.op.subtract(sums, call.emit(relax.op.multiply(point, share))))
    both = call.emit(relax.op.multiply(scale, relax.const(number(call, scales).astype(np.float32))))
    y = relax.op.multiply(call.emit(relax.op.astype(sums, "float32")), both)
    return y if call["bias"] is None else relax.op.add(call.emit(y), call["bias"])


def _name(node: Any) -> str:
    return str(getattr(getattr(node, "target", None), "__name__", ""))
