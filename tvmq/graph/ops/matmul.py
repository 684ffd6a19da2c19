"""R.tvmq.matmul(a, b): exact int32 product of matrices of codes, numerics.matmul; a requantize or dequantize follows.

sum over k of int32(a[..., m, k] - a_zero) * int32(b[..., k, n] - b_zero)        leading axes broadcast
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import register


@py_class("tvmq.attrs.Matmul", frozen=True)
class MatmulAttrs(tvm.ir.Attrs):
    """Zero points of the two arguments."""

    a_zero: int
    b_zero: int


def _infer(call: relax.Call, ctx: relax.BlockBuilder) -> relax.TensorType:
    """Relax's own rule for the shapes, with our element type."""
    a, b = (relax.Var("x", relax.TensorType(arg.ty.shape, "float32")) for arg in call.args)
    if min(len(arg.ty.shape) for arg in call.args) < 2:  # an error class of our own would not come back through TVM
        raise ValueError(f"tvmq.matmul: takes matrices. Got {call.args[0].ty.shape} and {call.args[1].ty.shape}")
    return relax.TensorType(ctx.normalize(relax.op.matmul(a, b)).ty.shape, "int32")


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs, shape = call.attrs, list(call.ty.shape)

    def compute(a: te.Tensor, b: te.Tensor) -> te.Tensor:
        k = te.reduce_axis((0, a.shape[-1]), name="k")

        def element(*i: tirx.Var) -> tirx.PrimExpr:
            x = a(*_leading(a, i), i[-2], k)
            y = b(*_leading(b, i), k, i[-1])
            return te.sum((_int32(x) - attrs.a_zero) * (_int32(y) - attrs.b_zero), axis=k)

        return te.compute(shape, element, name="matmul")

    return bb.call_te(compute, *call.args, primfunc_name_hint="matmul_codes")


def _leading(tensor: te.Tensor, i: tuple[tirx.Var, ...]) -> list[tirx.PrimExpr]:
    """Indices of the leading axes of an operand that broadcasts."""
    last = list(i)[len(i) - len(tensor.shape) : -2]
    return [
        tirx.const(0, "int64") if isinstance(dim, tirx.IntImm) and int(dim) == 1 else at
        for dim, at in zip(tensor.shape, last, strict=False)
    ]


def _int32(value: tirx.PrimExpr) -> tirx.PrimExpr:
    return tirx.Cast("int32", value)


matmul = register("matmul", ("a", "b"), MatmulAttrs, _infer, _legalize)
