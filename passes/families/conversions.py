"""Scale and zero point of the quantize and dequantize operators of a model that is quantized already.

Tests: tests/formats/onnx/exporter/test_dialects.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.graph.view import const_value, dtype_of, is_const, op_name
from tvmq.numerics.code_type import CODE_TYPES, CODES_16
from tvmq.numerics.spec import QParams, QuantSpec


def tensor_qparams(call: relax.Expr) -> QParams | None:
    """QParams of a conversion to or from codes of at most 16 bits with one constant scale; None for everything else.

    A dequantize does not say the range of its codes: that of its type.
    """
    name = op_name(call)
    if name not in ("tvmq.quantize", "tvmq.dequantize") or int(call.attrs.axis) >= 0:
        return None
    dtype = str(call.attrs.dtype) if name == "tvmq.quantize" else dtype_of(call.args[0])
    if dtype not in CODES_16 or not all(is_const(arg) for arg in call.args[1:]):
        return None
    zero = const_value(call.args[2])
    spec: QuantSpec | None = QuantSpec(dtype, CODE_TYPES[dtype].bits)
    if name == "tvmq.quantize":
        spec = _spec(dtype, int(call.attrs.qmin), int(call.attrs.qmax), zero)
    return None if spec is None else QParams(const_value(call.args[1]), zero, spec)


def _spec(dtype: str, low: int, high: int, zero: np.ndarray) -> QuantSpec | None:
    """The spec whose codes lie from `low` to `high`; None for a range of no whole number of bits, or without zero."""
    if not low <= int(zero) <= high:
        return None
    for bits in range(CODE_TYPES[dtype].bits, 1, -1):
        for symmetric in (False, True) if dtype != "uint8" and not zero.any() else (False,):
            spec = QuantSpec(dtype, bits, symmetric=symmetric)
            if (spec.qmin, spec.qmax) == (low, high):
                return spec
    return None


def clipped_spec(qparams: QParams, low: float, high: float) -> tuple[QuantSpec, bool] | None:
    """The spec of fewer codes that ends where these reals do, and whether they begin there too.

    None where they are no codes, or the type has no more of them. A relu keeps its clip: 0 is no end of signed codes.

    >>> clipped_spec(QParams(0.5, 0, QuantSpec("int16", 16)), -3.5, 3.5)
    (QuantSpec(dtype='int16', bits=4, symmetric=True, per_channel=False), True)
    >>> clipped_spec(QParams(0.5, 0, QuantSpec("int16", 16)), 0.0, 3.5)
    (QuantSpec(dtype='int16', bits=4, symmetric=True, per_channel=False), False)
    """
    if not np.isfinite([low, high]).all():
        return None
    scale, zero, dtype = np.float32(qparams.scale), int(qparams.zero_point), qparams.spec.dtype
    begin, end = (round(float(np.float32(bound) / scale)) + zero for bound in (low, high))
    if np.float32(begin - zero) * scale != np.float32(low) or np.float32(end - zero) * scale != np.float32(high):
        return None
    spec = _spec(dtype, begin, end, np.asarray(zero))
    if spec is not None:
        return None if spec == QuantSpec(dtype, CODE_TYPES[dtype].bits) else (spec, True)
    spec = _spec(dtype, -end, end, np.asarray(zero)) if dtype != "uint8" and begin == zero == 0 else None
    return None if spec is None else (spec, False)
