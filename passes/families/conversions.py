"""Scale and zero point of the quantize and dequantize operators that a module brings along."""

from __future__ import annotations

from tvm import relax

from tvmq.graph.view import const_value, dtype_of, is_const, op_name
from tvmq.spec import QParams, QuantSpec

CODES = ("uint8", "int8")


def tensor_qparams(call: relax.Expr) -> QParams | None:
    """Of a conversion with one constant scale to or from all codes of 8 bits; None for everything else."""
    name = op_name(call)
    if name not in ("tvmq.quantize", "tvmq.dequantize") or int(call.attrs.axis) >= 0:
        return None
    dtype = str(call.attrs.dtype) if name == "tvmq.quantize" else dtype_of(call.args[0])
    if dtype not in CODES or not all(is_const(arg) for arg in call.args[1:]):
        return None
    spec = QuantSpec(dtype)
    if name == "tvmq.quantize" and (call.attrs.qmin, call.attrs.qmax) != (spec.qmin, spec.qmax):
        return None
    return QParams(const_value(call.args[1]), const_value(call.args[2]), spec)
