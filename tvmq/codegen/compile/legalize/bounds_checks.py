"""Loops that TVM's operator library made, so that no number they are given leads outside of memory or stops the CPU.

    x[.., i[..], ..]    a place that is read from memory is kept between 0 and the end of its axis, in loads and stores
    int(f)              beside such a place: f is clipped to what fits, NaN to the upper end
    a / i, a % i        integers: the quotient by zero is 0, the remainder too; the lowest integer by -1 is itself

Nothing is added where the place or the divisor is proved to be good. Which element an index outside of an axis means
is said before, by compile/legalize/indices.py; this is the net below it, for whatever operator there is.

Marks that TVM's own loops carry and no code generator knows, taken off.

Scatters, sorts and others of TVM keep several loops together by an attribute "pragma_scope", of which the LLVM code
generator warns on stderr each time that it meets one ("Unknown pragma pragma_scope"). It has no other effect.

Casts, shifts and division of integers as numerics/fixed_point.py has them, whatever the CPU does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm
import tvm_ffi
from tvm import relax, te, tirx, topi
from tvm.ir.expr import TensorLoad
from tvm.sym import Analyzer

from tvmq.codegen.schedule.accesses import walk
from tvmq.graph.view import const_value, dtype_of, is_const

WHOLE = ("int", "uint")
SHIFTS = {"relax.left_shift": topi.left_shift, "relax.right_shift": topi.right_shift}
DIVISIONS = {
    "relax.divide": topi.divide,
    "relax.floor_divide": topi.floor_divide,
    "relax.mod": topi.mod,
    "relax.floor_mod": topi.floor_mod,
}


def saturating_cast(node: Expr) -> Expr:
    """A Cast of a float to an integer: cut towards zero, the nearest integer where it does not fit, NaN the lowest."""
    dtype, source, x = str(node.ty), str(node.value.ty), node.value
    if not source.startswith(("float", "bfloat")) or not dtype.startswith(WHOLE):
        return node
    if source not in ("float32", "float64"):  # the ends of integers are no numbers of 16 bits
        x, source = tirx.Cast("float32", x), "float32"
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    above, below = tirx.const(2.0 ** high.bit_length(), source), tirx.const(float(low) - 1, source)
    inside = tirx.Select(x > below, node, tirx.const(low, dtype))  # false for NaN
    return tirx.Select(x >= above, tirx.const(high, dtype), inside)


def astype(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.astype: numerics.cast for floats that become integers, else TVM's."""
    dtype = str(call.attrs.dtype)
    if not dtype_of(call.args[0]).startswith(("float", "bfloat")) or not dtype.startswith(WHOLE):
        return call.op.get_attr("FLegalize")(builder, call)

    def compute(x: te.Tensor) -> te.Tensor:
        return te.compute(x.shape, lambda *i: saturating_cast(tirx.Cast(dtype, x(*i))), name="cast")

    return builder.call_te(compute, call.args[0], primfunc_name_hint="cast")


def shift(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of the operators of SHIFTS: by the width or more, or by less than 0, all bits leave."""
    kind, operator = dtype_of(call.args[0]), SHIFTS[call.op.name]
    last = tirx.const(int(np.iinfo(kind).bits) - 1, kind)

    def is_far(count: Expr) -> Expr:
        return tirx.any(count < tirx.const(0, kind), count > last)

    def compute(x: te.Tensor, count: te.Tensor) -> te.Tensor:
        safe = te.compute(count.shape, lambda *i: tirx.Select(is_far(count(*i)), last, count(*i)), name="count")
        shifted = operator(x, safe)
        if kind.startswith("int") and operator is topi.right_shift:
            return shifted  # copies of the sign are left
        far = te.compute(count.shape, lambda *i: is_far(count(*i)), name="far")
        return topi.where(far, topi.full_like(shifted, tirx.const(0, kind)), shifted)

    return builder.call_te(compute, *call.args, primfunc_name_hint=call.op.name.rpartition(".")[2])


def division(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of the operators of DIVISIONS: TVM's, which refuses a constant 0 unless it comes from memory."""
    divisor = call.args[1]
    if dtype_of(call.args[0]).startswith(WHOLE) and is_const(divisor) and not const_value(divisor).all():
        return builder.call_te(DIVISIONS[call.op.name], *call.args)
    return call.op.get_attr("FLegalize")(builder, call)


RULES: dict[str, Any] = {
    "relax.astype": astype,
    **dict.fromkeys(SHIFTS, shift),
    **dict.fromkeys(DIVISIONS, division),
}


Expr = Any
FRACTION_BITS = {"float32": 24, "float64": 53}


def stay_inside(func: Any) -> Any:
    """The PrimFunc of the head of this file; the same one if it has nothing of the kind."""
    kept = tvm_ffi.structural_map(func, [(TensorLoad, _load), (tirx.BufferStore, _store)])
    if not kept.same_as(func):
        kept = tvm_ffi.structural_map(kept, [(tirx.Cast, _cast)])
    return tvm_ffi.structural_map(kept, [((tirx.Div, tirx.Mod, tirx.FloorDiv, tirx.FloorMod), _division)])


def _cast(node: Expr) -> Expr:
    """A cast of a float to an integer of a float that is clipped to what fits: its expression is there once only."""
    dtype, source, value = str(node.ty), str(node.value.ty), node.value
    if not source.startswith(("float", "bfloat")) or not dtype.startswith(WHOLE):
        return node
    if source not in FRACTION_BITS:
        source, value = "float32", tirx.Cast("float32", value)
    low, high = (int(end) for end in (np.iinfo(dtype).min, np.iinfo(dtype).max))
    high -= high % 2 ** max(high.bit_length() - FRACTION_BITS[source], 0)  # the largest one that is a float
    bounded = tirx.max(tirx.min(value, tirx.const(float(high), source)), tirx.const(float(low), source))
    return tirx.Cast(dtype, bounded)


def _load(node: Expr) -> Expr:
    places = _places(node.indices, node.source)
    return tirx.BufferLoad(node.source, places) if places else node


def _store(node: Expr) -> Expr:
    places = _places(node.indices, node.buffer)
    return tirx.BufferStore(node.buffer, node.value, places) if places else node


def _places(indices: Any, buffer: Any) -> list[Expr] | None:
    """The places with those that come from memory kept inside; None if all are good as they are."""
    if not any(map(_is_read, indices)):
        return None
    return [_clamp(index, size) for index, size in zip(indices, buffer.shape, strict=True)]


def _clamp(index: Expr, size: Expr) -> Expr:
    if not _is_read(index) or _is_inside(index, size):
        return index
    index = index if str(index.ty) in ("int32", "int64") else tirx.Cast("int64", index)
    kind = str(index.ty)
    last = tirx.const(int(size) - 1, kind) if isinstance(size, tirx.IntImm) else tirx.Cast(kind, size - 1)
    return tirx.max(tirx.min(index, last), tirx.const(0, kind))


def _is_read(expr: Expr) -> bool:
    """True for a number that comes from memory."""
    return any(isinstance(part, TensorLoad) for part in walk(expr))


def _is_inside(index: Expr, size: Expr) -> bool:
    bound = Analyzer().const_int_bound(index)
    return bound.min_value >= 0 and isinstance(size, tirx.IntImm) and bound.max_value < int(size)


def _division(node: Expr) -> Expr:
    a, b, dtype = node.a, node.b, str(node.ty)
    if not dtype.startswith(WHOLE) or not _is_read(b) or Analyzer().const_int_bound(b).min_value > 0:
        return node
    zero, one = tirx.const(0, dtype), tirx.const(1, dtype)
    bad = b == zero
    if dtype.startswith("int"):
        bad = tirx.any(bad, tirx.all(b == tirx.const(-1, dtype), _is_lowest(a, dtype)))
    result = type(node)(a, tirx.Select(bad, one, b))
    return tirx.Select(b == zero, zero, result) if isinstance(node, tirx.Div | tirx.FloorDiv) else result


def _is_lowest(a: Expr, dtype: str) -> Expr:
    """True for the lowest integer; asked of its bits, since TVM's simplifier takes for granted that a is not it."""
    return tirx.Cast(f"u{dtype}", a) == tirx.const(int(np.iinfo(dtype).max) + 1, f"u{dtype}")


MARK = "pragma_scope"


def without_scopes(mod: tvm.IRModule) -> tvm.IRModule:
    """The module with such marks gone from its functions of loops; itself where there are none."""
    changed = {gvar: _remove_marks(func) for gvar, func in mod.functions_items() if isinstance(func, tirx.PrimFunc)}
    changed = {gvar: func for gvar, func in changed.items() if not func.same_as(mod[gvar])}
    if not changed:
        return mod
    mod = mod.clone()
    for gvar, func in changed.items():
        mod[gvar] = func
    return mod


def _remove_marks(func: tirx.PrimFunc) -> tirx.PrimFunc:
    body = tvm_ffi.structural_map(func.body, (tirx.AttrStmt, _inner))
    return func if body.same_as(func.body) else func.with_body(body)


def _inner(node: Any) -> Any:
    return node.body if str(node.attr_key) == MARK else node
