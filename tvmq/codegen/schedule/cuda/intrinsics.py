"""Float arithmetic of CUDA kernels in functions that round as IEEE 754 and NumPy do.

    a + b, a - b, a * b, a / b   __fadd_rn, __fsub_rn, __fmul_rn, __fdiv_rn: rounded by themselves, never contracted
    sqrt(a)                      __fsqrt_rn
    max(a, b), min(a, b)         tvmq_max, tvmq_min: a if it is larger (smaller), else b, also for NaN, which CUDA's
                                 own functions drop
    int(a)                       tvmq_int, tvmq_long: the least integer for NaN and what does not fit, as on x86; CUDA
                                 saturates and gives 0 for NaN. Not asked where the value is clipped to what fits
    nearbyint(a), round(a)       stay: half to even, as the definition

Which flags the source is compiled with does not matter for these: see nvcc.py for the rest. TVM's simplifier does not
see through the functions either.

Tests: tests/cuda_emulator/test_models.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tvm_ffi
from tvm import tirx
from tvm.ir import Call

from tvmq.codegen.schedule.accesses import call_name

Expr = Any
# element type -> operator -> function of CUDA
ROUNDED = {
    "float32": {"Add": "__fadd_rn", "Sub": "__fsub_rn", "Mul": "__fmul_rn", "Div": "__fdiv_rn", "sqrt": "__fsqrt_rn"},
    "float64": {"Add": "__dadd_rn", "Sub": "__dsub_rn", "Mul": "__dmul_rn", "Div": "__ddiv_rn", "sqrt": "__dsqrt_rn"},
}
CHOSEN = {"Max": "tvmq_max", "Min": "tvmq_min"}
CONVERTED = {"int64": "tvmq_long"}
INT32_END = 2.0**31


def exact_floats(func: Any) -> Any:
    """The PrimFunc with its float operators as the functions of the head of this file."""
    operators = (tirx.Add, tirx.Sub, tirx.Mul, tirx.Div, tirx.Max, tirx.Min)
    rules: list[tuple[Any, Callable[[Any], Any]]] = [(operators, _operator), (tirx.Cast, _cast), (Call, _call)]
    return tvm_ffi.structural_map(func, rules)


def dtype_of(expr: Expr) -> str:
    """Element type of an expression."""
    return str(expr.ty)


def _operator(node: Expr) -> Expr:
    dtype, name = dtype_of(node), type(node).__name__
    function = ROUNDED.get(dtype, {}).get(name) or (CHOSEN.get(name) if dtype in ROUNDED else None)
    return tirx.call_pure_extern(dtype, function, node.a, node.b) if function else node


def _call(node: Expr) -> Expr:
    function = ROUNDED.get(dtype_of(node), {}).get(call_name(node))
    return tirx.call_pure_extern(dtype_of(node), function, *node.args) if function else node


def _cast(node: Expr) -> Expr:
    dtype, source = dtype_of(node), dtype_of(node.value)
    if source not in ROUNDED or not dtype.startswith(("int", "uint")) or _fits(node.value):
        return node
    wide = "int64" if dtype in ("int64", "uint32", "uint64") else "int32"
    value = tirx.call_pure_extern(wide, CONVERTED.get(wide, "tvmq_int"), node.value)
    return value if dtype == wide else tirx.Cast(dtype, value)


def _fits(value: Expr) -> bool:
    """True for values clipped to integers of 32 bits; the lower bound, taken first, also replaces NaN."""
    if call_name(value) in ("nearbyint", "round"):
        return _fits(value.args[0])
    least = _extern(value, "tvmq_min")
    most = _extern(least[0], "tvmq_max") if least else None
    return bool(least and most and _is_code(least[1]) and _is_code(most[1]))


def _is_code(bound: Expr) -> bool:
    """True for a number of 31 bits and for an integer of up to 32 bits converted to float."""
    if isinstance(bound, tirx.FloatImm):
        return abs(float(bound.value)) < INT32_END / 2
    return isinstance(bound, tirx.Cast) and dtype_of(bound.value) in ("int8", "uint8", "int16", "uint16", "int32")


def _extern(value: Expr, name: str) -> list[Expr] | None:
    """Arguments of a call of a CUDA function; None for everything else."""
    if call_name(value) != "call_pure_extern" or str(value.args[0].value) != name:
        return None
    return list(value.args[1:])
