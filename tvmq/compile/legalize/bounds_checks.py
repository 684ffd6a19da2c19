"""Loops that TVM's operator library made, so that no number they are given leads outside of memory or stops the CPU.

    x[.., i[..], ..]    a place that is read from memory is kept between 0 and the end of its axis, in loads and stores
    int(f)              beside such a place: f is clipped to what fits, NaN to the upper end
    a / i, a % i        integers: the quotient by zero is 0, the remainder too; the lowest integer by -1 is itself

Nothing is added where the place or the divisor is proved to be good. Which element an index outside of an axis means
is said before, by compile/legalize/indices.py; this is the net below it, for whatever operator there is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm_ffi
from tvm import tirx
from tvm.ir.expr import TensorLoad
from tvm.sym import Analyzer

from tvmq.compile.legalize.casts import WHOLE
from tvmq.schedule.accesses import walk

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
    return [_kept(index, size) for index, size in zip(indices, buffer.shape, strict=True)]


def _kept(index: Expr, size: Expr) -> Expr:
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
