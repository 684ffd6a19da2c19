"""R.tvmq.dynamic_scale, dynamic_quantize, dynamic_dequantize: scales made at run time, numerics.dynamic.

scale = dynamic_scale(x, axes)              max|x| / largest_code over `axes`, which stay with extent 1
q     = dynamic_quantize(x, scale)          int8
y     = dynamic_dequantize(acc, s_x, s_w)   float32(acc) * (s_x * s_w)

Tests: tests/tools/cli/test_quantize_alone.py
"""

from __future__ import annotations

import numpy as np
import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import broadcast_all, broadcast_type, fence, known_shape, register

LARGEST = float(np.finfo(np.float32).max)
NORMAL = float(np.finfo(np.float32).smallest_normal)


@py_class("tvmq.attrs.DynamicScale", frozen=True)
class DynamicScaleAttrs(tvm.ir.Attrs):
    """First of the reduced axes, and how many follow each other; the largest code."""

    first: int
    count: int
    largest_code: int = 127


@py_class("tvmq.attrs.DynamicQuantize", frozen=True)
class DynamicQuantizeAttrs(tvm.ir.Attrs):
    """The largest code; the lowest is its negative."""

    largest_code: int = 127


@py_class("tvmq.attrs.DynamicDequantize", frozen=True)
class DynamicDequantizeAttrs(tvm.ir.Attrs):
    """Attributes of R.tvmq.dynamic_dequantize: none."""


def _reduced_axes(attrs: DynamicScaleAttrs) -> range:
    return range(attrs.first, attrs.first + attrs.count)


def _infer_scale(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    reduced = _reduced_axes(call.attrs)
    shape = [tirx.const(1, "int64") if i in reduced else dim for i, dim in enumerate(known_shape(call))]
    return relax.TensorType(shape, "float32")


def _legalize_scale(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs, shape = call.attrs, list(call.ty.shape)
    reduced = _reduced_axes(attrs)

    def compute(x: te.Tensor) -> te.Tensor:
        axes = {i: te.reduce_axis((0, x.shape[i]), name=f"r{i}") for i in reduced}
        # the order of the operands of min and max leaves NaN out
        seen = te.comm_reducer(lambda a, b: tirx.max(b, a), lambda dtype: tirx.const(0, dtype), name="largest")

        def element(*i: tirx.Var) -> tirx.PrimExpr:
            value = x(*(axes.get(k, at) for k, at in enumerate(i)))
            return seen(tirx.min(tirx.const(LARGEST, "float32"), tirx.abs(value)), axis=list(axes.values()))

        largest = te.compute(shape, element, name="largest")

        def scale(*i: tirx.Var) -> tirx.PrimExpr:
            step = largest(*i) / tirx.const(float(attrs.largest_code), "float32")
            return tirx.Select(step >= tirx.const(NORMAL, "float32"), step, tirx.const(1.0, "float32"))

        return te.compute(shape, scale, name="dynamic_scale")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="dynamic_scale")


def _infer_quantize(call: relax.Call, ctx: relax.BlockBuilder) -> relax.TensorType:
    return broadcast_type(call, "int8", ctx)


def _legalize_quantize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    low, high = (tirx.const(float(sign * call.attrs.largest_code), "float32") for sign in (-1, 1))

    def element(x: tirx.PrimExpr, scale: tirx.PrimExpr) -> tirx.PrimExpr:
        # clipped before rounding, which gives the same; the order of the operands makes NaN the lowest code
        steps = tirx.nearbyint(tirx.min(tirx.max(x / scale, low), high))
        return tirx.Cast("int8", tirx.Cast("int32", steps))

    def compute(x: te.Tensor, scale: te.Tensor) -> te.Tensor:
        return broadcast_all((x, scale), element, "dynamic_quantize")

    return bb.call_te(compute, *call.args, primfunc_name_hint="dynamic_quantize")


def _infer_dequantize(call: relax.Call, ctx: relax.BlockBuilder) -> relax.TensorType:
    return broadcast_type(call, "float32", ctx)


def _legalize_dequantize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    def element(acc: tirx.PrimExpr, x_scale: tirx.PrimExpr, w_scale: tirx.PrimExpr) -> tirx.PrimExpr:
        return fence(tirx.Cast("float32", acc) * (x_scale * w_scale))

    def compute(acc: te.Tensor, x_scale: te.Tensor, w_scale: te.Tensor) -> te.Tensor:
        return broadcast_all((acc, x_scale, w_scale), element, "dynamic_dequantize")

    return bb.call_te(compute, *call.args, primfunc_name_hint="dynamic_dequantize")


# reduces the axes first .. first + count - 1
dynamic_scale = register("dynamic_scale", ("x",), DynamicScaleAttrs, _infer_scale, _legalize_scale)
# the scale broadcasts
dynamic_quantize = register(
    "dynamic_quantize", ("x", "scale"), DynamicQuantizeAttrs, _infer_quantize, _legalize_quantize
)
# both scales are float32 and broadcast
dynamic_dequantize = register(
    "dynamic_dequantize", ("acc", "x_scale", "w_scale"), DynamicDequantizeAttrs, _infer_dequantize, _legalize_dequantize
)
