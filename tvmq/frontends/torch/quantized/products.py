"""The operators of library.py in Relax: products of codes, and of floats with codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.frontends.torch.quantized.repairs import number
from tvmq.frontends.torch.repairs import TorchCall
from tvmq.graph import ops


def integer_linear(call: TorchCall) -> relax.Expr:
    """matmul(q, w) in int32."""
    weight = np.ascontiguousarray(number(call, call["weight"]).T)
    return relax.op.matmul(call["q"], relax.const(weight), out_dtype="int32")


def coded_linear(call: TorchCall) -> relax.Expr:
    """matmul(x, group_dequantize(w, scales))."""
    weight, scales, size = _weight(call)
    floats = call.emit(ops.group_dequantize(_kept(call, weight), relax.const(scales), axis=0, group_size=size))
    return relax.op.matmul(call["x"], floats)


def group_linear(call: TorchCall) -> relax.Expr:
    """group_matmul(q, s, w, scales)."""
    weight, scales, size = _weight(call)
    return ops.group_matmul(call["q"], call["scale"], _kept(call, weight), relax.const(scales), group_size=size)


def _weight(call: TorchCall) -> tuple[np.ndarray, np.ndarray, int]:
    """Codes (K, N), scales (K / size, N), size."""
    codes, scales = (number(call, call[name]) for name in ("weight", "scales"))
    return np.ascontiguousarray(codes.T), np.ascontiguousarray(scales.T, np.float32), int(call["size"])


def _kept(call: TorchCall, codes: np.ndarray) -> Any:
    """The codes as a constant; of 4 bits or less two to a byte, unpacked in a run."""
    if not numerics.fits_int4(codes):
        return relax.const(codes)
    return call.emit(ops.unpack(relax.const(numerics.pack_int4(codes)), shape=list(codes.shape)))
