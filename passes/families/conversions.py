"""Scale and zero point of the quantize and dequantize operators that a module brings along."""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.graph.view import const_value, dtype_of, is_const, op_name
from tvmq.spec import STORAGE_BITS, QParams, QuantSpec

CODES = ("uint8", "int8", "int16")


def tensor_qparams(call: relax.Expr) -> QParams | None:
    """Of a conversion with one constant scale to or from codes of at most 16 bits; None for everything else.

    A dequantize does not say the range of its codes: that of its type.
    """
    name = op_name(call)
    if name not in ("tvmq.quantize", "tvmq.dequantize") or int(call.attrs.axis) >= 0:
        return None
    dtype = str(call.attrs.dtype) if name == "tvmq.quantize" else dtype_of(call.args[0])
    if dtype not in CODES or not all(is_const(arg) for arg in call.args[1:]):
        return None
    zero = const_value(call.args[2])
    spec: QuantSpec | None = QuantSpec(dtype, STORAGE_BITS[dtype])
    if name == "tvmq.quantize":
        spec = _spec(dtype, int(call.attrs.qmin), int(call.attrs.qmax), zero)
    return None if spec is None else QParams(const_value(call.args[1]), zero, spec)


def _spec(dtype: str, low: int, high: int, zero: np.ndarray) -> QuantSpec | None:
    """The spec whose codes lie from `low` to `high`; None for a range of no whole number of bits, or without zero."""
    if not low <= int(zero) <= high:
        return None
    for bits in range(STORAGE_BITS[dtype], 1, -1):
        for symmetric in (False, True) if dtype != "uint8" and not zero.any() else (False,):
            spec = QuantSpec(dtype, bits, symmetric=symmetric)
            if (spec.qmin, spec.qmax) == (low, high):
                return spec
    return None


def clipped_spec(qparams: QParams, low: float, high: float) -> QuantSpec | None:
    """The spec of fewer codes whose ends are these reals, None where they are no ends of codes.

    >>> clipped_spec(QParams(0.5, 0, QuantSpec("int16", 16)), -3.5, 3.5)
    QuantSpec(dtype='int16', bits=4, symmetric=True, per_channel=False)
    """
    scale, zero, dtype = np.float32(qparams.scale), int(qparams.zero_point), qparams.spec.dtype
    ends = [round(float(np.float32(bound) / scale)) + zero for bound in (low, high) if np.isfinite(bound)]
    exact = all(np.float32(q - zero) * scale == np.float32(b) for q, b in zip(ends, (low, high), strict=False))
    if len(ends) != 2 or not exact:
        return None
    spec = _spec(dtype, *ends, np.asarray(zero))
    return None if spec == QuantSpec(dtype, STORAGE_BITS[dtype]) else spec
