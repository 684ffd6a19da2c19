"""Scale and zero point of the quantize and dequantize operators that a module brings along."""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.graph.view import const_value, dtype_of, is_const, op_name
from tvmq.spec import QParams, QuantSpec

CODES = ("uint8", "int8")


def tensor_qparams(call: relax.Expr) -> QParams | None:
    """Of a conversion with one constant scale to or from codes of 8 bits or less; None for everything else.

    A dequantize does not say the range of its codes: that of its type.
    """
    name = op_name(call)
    if name not in ("tvmq.quantize", "tvmq.dequantize") or int(call.attrs.axis) >= 0:
        return None
    dtype = str(call.attrs.dtype) if name == "tvmq.quantize" else dtype_of(call.args[0])
    if dtype not in CODES or not all(is_const(arg) for arg in call.args[1:]):
        return None
    zero = const_value(call.args[2])
    spec: QuantSpec | None = QuantSpec(dtype)
    if name == "tvmq.quantize":
        spec = _spec(dtype, int(call.attrs.qmin), int(call.attrs.qmax), zero)
    return None if spec is None else QParams(const_value(call.args[1]), zero, spec)


def _spec(dtype: str, low: int, high: int, zero: np.ndarray) -> QuantSpec | None:
    """The spec whose codes lie from `low` to `high`; None for a range that is none of 2 to 8 bits, or misses zero."""
    if not low <= int(zero) <= high:
        return None
    for bits in range(8, 1, -1):
        for symmetric in (False, True) if dtype == "int8" and not zero.any() else (False,):
            spec = QuantSpec(dtype, bits, symmetric=symmetric)
            if (spec.qmin, spec.qmax) == (low, high):
                return spec
    return None
