"""Layer, rms, group and instance norm in our own float definition.

Softmax in our own float definition.

Sums and means of floats over neighbouring axes, in the layout that their input has.

Tests: tests/passes/calibrate/test_outliers.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod

from tvm import relax

from tvmq.codegen.kernels.norm.float_sum import FloatSum, choose_float_sum
from tvmq.codegen.kernels.norm.group_norm import GroupNorm, choose_group_norm
from tvmq.codegen.kernels.norm.layer_norm import LayerNorm, choose_layer_norm
from tvmq.codegen.kernels.norm.softmax import softmax
from tvmq.codegen.kernels.parts.float_vectors import CodeLimits
from tvmq.codegen.lower.lowerer import Lowerer, kernel_shape
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.rules.elementwise import NHWC_AXIS
from tvmq.graph.sizes import is_number, name_dynamic_sizes
from tvmq.graph.view import View, const_value, is_const, make_const, op_name, rank_of, shape_of


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower a norm to one kernel, on the layout of the IR."""
    call = lowerer.view.value[chain.head]
    if op_name(call) != "tvmq.group_norm":
        return _rows(lowerer, chain)
    shape = shape_of(call)
    norm = GroupNorm(shape[0], shape[1], prod(shape[2:]), int(call.attrs.groups), float(call.attrs.epsilon))
    kernel = lowerer.choose(choose_group_norm, norm)
    if kernel is None:
        return False
    rows = (norm.batch, norm.channels, norm.positions)
    x = lowerer.reshape(lowerer.logical(call.args[0].name), rows, f"{chain.result}_rows")
    factors = [_vector(lowerer, arg, norm.channels, chain.result) for arg in call.args[1:]]
    result = lowerer.call(kernel, [x, *factors], rows, "float32", f"{chain.result}_normalized")
    lowerer.give_logical(chain.result, lowerer.reshape(result, shape, chain.result))
    return True


def _rows(lowerer: Lowerer, chain: Chain) -> bool:
    """Layer and rms norm, with a sum before and codes behind where the chain has them."""
    view = lowerer.view
    call = view.value[chain.head]
    total = chain.members[0] if chain.members[0] != chain.head else None
    behind = chain.after_head()
    quantize = view.value[behind[-1]] if behind else None
    scaled = view.value[behind[0]].args[1] if len(behind) > 1 else None
    outputs = {}
    if total is not None and _is_read(view, total, chain):
        outputs["sum"] = total
    if quantize is None or _is_read(view, chain.head, chain):
        outputs["norm"] = chain.head
    if quantize is not None:
        outputs["codes"] = behind[-1]
    centred, codes, scale = op_name(call) == "tvmq.layer_norm", None, 1.0
    if quantize is not None:
        attrs = quantize.attrs
        scale, zero_point = (const_value(arg).reshape(-1)[0] for arg in quantize.args[1:])
        codes = CodeLimits(int(zero_point), int(attrs.qmin), int(attrs.qmax), str(attrs.dtype))
    shape, axes, epsilon = list(call.ty.shape), int(call.attrs.axes), float(call.attrs.epsilon)
    sizes = name_dynamic_sizes(shape)
    if not all(isinstance(size, int) for size in sizes[len(sizes) - axes :]):
        return False
    norm = LayerNorm(sizes, axes, epsilon, centred, total is not None, codes, tuple(outputs), scaled is not None)
    kernel = lowerer.choose(choose_layer_norm, norm, float(scale))
    if kernel is None:
        return False
    sources = [call.args[0].name] if total is None else [arg.name for arg in view.value[total].args]
    factors = [_vector(lowerer, arg, norm.length, chain.result) for arg in call.args[1:]]
    inputs = [*map(lowerer.logical, sources), *factors]
    if scaled is not None:
        inputs.append(_vector(lowerer, scaled, norm.length, chain.result))
    kinds = {"sum": "float32", "norm": "float32", "codes": "" if codes is None else codes.dtype}
    values = lowerer.call_all(kernel, inputs, [(name, shape, kinds[key]) for key, name in outputs.items()])
    for name, value in zip(outputs.values(), values, strict=True):
        lowerer.give_logical(name, value)
    return True


def _is_read(view: View, name: str, chain: Chain) -> bool:
    """True if anything outside of the chain reads a member."""
    return view.is_output(name) or any(reader not in chain.members for reader in view.readers[name])


def _vector(lowerer: Lowerer, arg: relax.Expr, channels: int, name: str) -> relax.Expr:
    """gamma or beta as [channels]."""
    if is_const(arg):
        return make_const(const_value(arg).reshape(channels))
    return lowerer.reshape(lowerer.logical(arg.name), (channels,), f"{name}_factor")


def lower_softmax(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower a float softmax to one kernel, on the layout of the IR."""
    call = lowerer.view.value[chain.head]
    x = lowerer.logical(call.args[0].name)
    kernel = softmax(kernel_shape(x), lowerer.isa, int(call.attrs.axis))
    lowerer.give_logical(chain.result, lowerer.call(kernel, [x], list(x.ty.shape), "float32", chain.result))
    return True


def lower_float_sum(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower a float sum or mean to one kernel; False for axes apart, dynamic sizes but along rows or over pixels."""
    call = lowerer.view.value[chain.head]
    source, axes, keepdims = call.args[0].name, [int(axis) for axis in call.attrs.axes], bool(call.attrs.keepdims)
    nhwc = _sums_pixels(lowerer, source, axes) and (keepdims or axes == [2, 3])
    fixed = lowerer.has_fixed_sizes(chain)
    pixels = nhwc and axes == [2, 3] and is_number(call.args[0].ty.shape[1])
    nhwc = nhwc and (fixed or pixels)
    rows = not fixed and not pixels
    axes = [NHWC_AXIS[axis] for axis in axes] if nhwc else axes
    if axes != list(range(axes[0], axes[-1] + 1)) or (rows and axes[-1] != rank_of(call.args[0]) - 1):
        return False
    x = lowerer.tensor(source, nhwc=nhwc)
    shape, sizes = list(x.ty.shape), kernel_shape(x)
    outer, count, inner = sizes[: axes[0]], sizes[axes[0] : axes[-1] + 1], sizes[axes[-1] + 1 :]
    if fixed:
        outer, count, inner = ((math.prod(map(int, part)),) for part in (outer, count, inner))
        x = lowerer.reshape(x, [*outer, *count, *inner], f"{chain.result}_rows")
    sums = FloatSum(outer, count, 1 if rows else int(inner[0]), bool(call.attrs.mean), rows)
    kernel = lowerer.choose(choose_float_sum, sums)
    if kernel is None:
        return False
    out = [*list(x.ty.shape)[: len(outer)], *inner]
    total = lowerer.call(kernel, [x], out, "float32", f"{chain.result}_sums")
    kept = [1 if axis in axes else size for axis, size in enumerate(shape) if keepdims or axis not in axes]
    value = lowerer.reshape(total, kept, chain.result)
    lowerer.give(chain.result, value, nhwc=nhwc and keepdims)
    return True


def _sums_pixels(lowerer: Lowerer, source: str, axes: Sequence[int]) -> bool:
    """True for axes of a picture in NHWC whose elements follow each other there in the definition's order."""
    return lowerer.is_rank4(source) and lowerer.has_nhwc(source) and (list(axes) == [2, 3] or len(axes) == 1)
