"""Contraction of a product and the sum that it feeds into one rounding: the same on every CPU.

    a + b * c, a * b + c    rounded once, as TVM does it where the CPU can; of two products the right one
    a - b * c, a * b - c    the same, of two products the left one
    products in choices, those with a name, those of float16: fenced, rounded by themselves

CPUs without fused multiply-add call fmaf or fma of the C library, which round once too. Loops that matter have kernels
(kernels/parts/fused_multiply_add.py). What TVM itself writes as polynomials (asin, acos, atanh) is written out first,
so that the rules reach its products.

Tests: tests/codegen/schedule/test_contraction.py
"""

from __future__ import annotations

from typing import Any

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir.prim.expr import Let

from tvmq.codegen.schedule.accesses import call_name
from tvmq.graph.operators.loops import fence

Expr = Any
LEGALIZE = "llvm.FLegalize"
FUSED = ("float32", "float64")
FLOATS = ("float16", *FUSED)  # TVM computes bfloat16 in float32, which holds its products


def fix_contraction(func: Any, has_fma: bool) -> Any:
    """The function with a rule for every product that feeds a sum; see the head of this file.

    has_fma   True if code for the target contracts c + a * b, which is then left as it is
    """
    body = tvm_ffi.structural_map(func.body, (tvm.ir.Call, _write_out))
    body = tvm_ffi.structural_map(body, [(tirx.Sub, _fix_difference), (Let, _fix_name), (tirx.Add, _fence_operands)])
    if not has_fma:
        body = tvm_ffi.structural_map(body, (tirx.Add, _contract))
    return func if body.same_as(func.body) else func.with_body(body)


def _write_out(call: Any) -> Expr:
    """A function that TVM computes by a series, as that series."""
    rule = call.op.get_attr(LEGALIZE) if isinstance(call.op, tvm.ir.Op) else None
    series = call if rule is None else rule(call)
    return call if series.same_as(call) else tvm_ffi.structural_map(series, (tvm.ir.Call, _write_out))


def _fix_difference(node: Any) -> Expr:
    if _dtype(node) not in FLOATS:
        return node
    if _is_fused(node.a):
        return _fuse_sum(node.a, _negative(node.b))
    if _is_fused(node.b):
        return _fuse_sum(tirx.Mul(_negative(node.b.a), node.b.b), node.a)
    return _with_operands(node, *map(_fence_product, (node.a, node.b)))


def _is_fused(value: Expr) -> bool:
    """True for a product that is rounded with its sum: few CPUs have an instruction for float16."""
    return isinstance(value, tirx.Mul) and _dtype(value) in FUSED


def _fuse_sum(product: Any, addend: Expr) -> Expr:
    return tirx.call_llvm_pure_intrin(_dtype(product), "llvm.fma", product.a, product.b, addend)


def _negative(value: Expr) -> Expr:
    """The value with the other sign; LLVM knows that this product is none."""
    dtype = _dtype(value)
    return tirx.FloatImm(dtype, -value.value) if isinstance(value, tirx.FloatImm) else value * tirx.const(-1, dtype)


def _fix_name(node: Any) -> Expr:
    value = _fence_product(node.value)
    return node if value.same_as(node.value) else Let(node.var, value, node.body)


def _fence_operands(node: Any) -> Expr:
    """Products that stand in choices; those of the sum itself stay."""
    if _dtype(node) not in FLOATS:
        return node
    return _with_operands(node, *(x if _is_fused(x) else _fence_product(x) for x in (node.a, node.b)))


def _with_operands(node: Any, a: Expr, b: Expr) -> Expr:
    return node if a.same_as(node.a) and b.same_as(node.b) else type(node)(a, b)


def _fence_product(value: Expr) -> Expr:
    """The value, where it is a product of floats or a choice of them with fences around these."""
    if _dtype(value) not in FLOATS:
        return value
    if isinstance(value, tirx.Mul) or (isinstance(value, tirx.Div) and isinstance(value.b, tirx.FloatImm)):
        return fence(value)  # LLVM makes products of quotients by powers of two
    if isinstance(value, tirx.Select):
        sides = [_fence_product(side) for side in (value.true_value, value.false_value)]
        return tirx.Select(value.condition, *sides)
    if call_name(value) == "if_then_else":
        return tirx.if_then_else(value.args[0], *map(_fence_product, value.args[1:]))
    return value


def _contract(node: Any) -> Expr:
    """c + a * b of a target without fused multiply-add."""
    product, addend = (node.b, node.a) if isinstance(node.b, tirx.Mul) else (node.a, node.b)
    return _fuse_sum(product, addend) if _is_fused(product) else node


def _dtype(value: Expr) -> str:
    return str(value.ty if hasattr(value, "ty") else value.dtype)
