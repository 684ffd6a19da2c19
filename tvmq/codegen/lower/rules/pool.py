"""Pooling and sums over pictures in NHWC.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tvm import relax

from tvmq.codegen.kernels.pool import choose_max_pool, choose_sum_pool
from tvmq.codegen.kernels.pool_windows import Pool2d
from tvmq.codegen.lower.lowerer import Lowerer, kernel_shape
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.rules.elementwise import NHWC_AXIS, emit_requantize
from tvmq.codegen.lower.rules.epilogue import codes_step
from tvmq.codegen.lower.rules.shape import nhwc_shape
from tvmq.graph import ops
from tvmq.graph.sizes import covering_padding, is_number, name_dynamic_sizes
from tvmq.graph.view import dtype_of, op_name, shape_of


def max_pool(lowerer: Lowerer, chain: Chain) -> bool:
    """Maximum pooling."""
    call = lowerer.view.value[chain.head]
    a = call.attrs
    if a.layout in ("NCW", "NCDHW"):
        return _max_of_lines(lowerer, chain)
    if a.layout != "NCHW" or not lowerer.has_nhwc(call.args[0].name):
        return False
    x = lowerer.nhwc(call.args[0].name)
    if not is_number(x.ty.shape[3]):
        return False
    out = nhwc_shape(lowerer, chain.result)
    windows = _windows(x, out, a)
    kernel = lowerer.choose(choose_max_pool, windows, dtype_of(x))
    if kernel is not None:
        lowerer.give_nhwc(chain.result, lowerer.call(kernel, [x], out, dtype_of(x), chain.result))
        return True
    return _pool_in_nhwc(lowerer, chain, relax.op.nn.max_pool2d)


def _pool_in_nhwc(lowerer: Lowerer, chain: Chain, operator: Callable[..., relax.Expr]) -> bool:
    """A pooling operator of Relax on a picture in NHWC."""
    call = lowerer.view.value[chain.head]
    options = {
        name: [int(v) for v in getattr(call.attrs, name)] for name in ("pool_size", "strides", "padding", "dilation")
    }
    flags = {name: bool(getattr(call.attrs, name)) for name in ("ceil_mode", "count_include_pad")}
    value = operator(lowerer.nhwc(call.args[0].name), **options, **flags, layout="NHWC", out_layout="NHWC")
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True


def _max_of_lines(lowerer: Lowerer, chain: Chain) -> bool:
    """Maximum pooling of lines, or of volumes: first inside each slice, then over the slices."""
    call = lowerer.view.value[chain.head]
    source = call.args[0].name
    if not lowerer.has_nhwc(source):
        return False
    batch, channels, *sizes = shape_of(lowerer.view.var[source])
    options = [[int(v) for v in getattr(call.attrs, name)] for name in ("pool_size", "strides", "dilation")]
    padding = covering_padding(call.attrs.padding, sizes, shape_of(call)[2:], *options)
    kernel, strides, dilation = ([1] * (3 - len(sizes)) + option for option in options)
    before, after = ([0] * (3 - len(sizes)) + list(side) for side in (padding[: len(sizes)], padding[len(sizes) :]))
    depth, rows, columns = [1] * (3 - len(sizes)) + sizes
    plane = Pool2d(
        batch * depth,
        rows,
        columns,
        channels,
        (kernel[1], kernel[2]),
        (strides[1], strides[2]),
        (before[1], before[2], after[1], after[2]),
        (dilation[1], dilation[2]),
    )
    x = _max_pooled(lowerer, lowerer.nhwc(source), plane, chain.result)
    if x is None:
        return False
    if kernel[0] > 1 or strides[0] > 1:
        pixels = plane.out_shape[1] * plane.out_shape[2]
        slices = Pool2d(
            batch,
            depth,
            pixels,
            channels,
            (kernel[0], 1),
            (strides[0], 1),
            (before[0], 0, after[0], 0),
            (dilation[0], 1),
        )
        x = _max_pooled(lowerer, x, slices, chain.result)
        assert x is not None
        depth = slices.out_shape[1]
    shape = [batch, depth * plane.out_shape[1], plane.out_shape[2], channels]
    lowerer.give_nhwc(chain.result, lowerer.reshape(x, shape, chain.result))
    return True


def _max_pooled(lowerer: Lowerer, x: relax.Expr, windows: Pool2d, name: str) -> relax.Expr | None:
    kernel = lowerer.choose(choose_max_pool, windows, dtype_of(x))
    if kernel is None:
        return None
    x = lowerer.reshape(x, windows.in_shape, f"{name}_in")
    return lowerer.call(kernel, [x], windows.out_shape, dtype_of(x), name)


def average_pool(lowerer: Lowerer, chain: Chain) -> bool:
    """Average pooling of floats."""
    call = lowerer.view.value[chain.head]
    fits = call.attrs.layout == "NCHW" and lowerer.has_nhwc(call.args[0].name)
    return fits and _pool_in_nhwc(lowerer, chain, relax.op.nn.avg_pool2d)


def mean(lowerer: Lowerer, chain: Chain) -> bool:
    """Mean of floats over axes of a picture; the result is there as the IR has it, or in NHWC if it keeps rank 4."""
    return _lower_reduction(lowerer, chain, relax.op.mean)


def extreme(lowerer: Lowerer, chain: Chain) -> bool:
    """Maximum or minimum over axes of a picture."""
    is_max = op_name(lowerer.view.value[chain.head]) == "max"
    return _lower_reduction(lowerer, chain, relax.op.max if is_max else relax.op.min)


def _lower_reduction(lowerer: Lowerer, chain: Chain, operator: Callable[..., relax.Expr]) -> bool:
    call = lowerer.view.value[chain.head]
    source = call.args[0].name
    if call.attrs.axis is None or not lowerer.is_rank4(source) or not lowerer.has_nhwc(source):
        return False
    axes = sorted(int(a) % 4 for a in call.attrs.axis)
    keepdims = bool(call.attrs.keepdims)
    if not keepdims and axes != [2, 3]:
        return False
    value = operator(lowerer.nhwc(source), [NHWC_AXIS[a] for a in axes], keepdims)
    var = lowerer.emit(value, chain.result)
    lowerer.give(chain.result, var, nhwc=keepdims)
    return True


def global_sum(lowerer: Lowerer, chain: Chain) -> bool:
    """tvmq.sum over pictures and its requantize."""
    call = lowerer.view.value[chain.head]
    source, axes, keepdims = call.args[0].name, [int(a) for a in call.attrs.axes], bool(call.attrs.keepdims)
    if not lowerer.is_rank4(source) or not lowerer.has_nhwc(source) or (not keepdims and axes != [2, 3]):
        return False
    if axes == [2, 3] and chain.after_head():
        x = lowerer.nhwc(source)
        batch, height, width, channels = shape_of(x)
        windows = Pool2d(batch, height, width, channels, (height, width))
        if _lower_sum(lowerer, chain, x, windows, call.attrs.zero_point, keepdims=keepdims):
            return True
    moved = sorted(NHWC_AXIS[a] for a in axes)
    value = ops.sum(lowerer.nhwc(source), axes=moved, keepdims=keepdims, zero_point=call.attrs.zero_point)
    var = lowerer.emit(value, chain.head)
    for name in chain.after_head():
        var = lowerer.emit(emit_requantize(lowerer, var, name, keepdims), name)
    lowerer.give(chain.result, var, nhwc=keepdims)
    return True


def sum_pool(lowerer: Lowerer, chain: Chain) -> bool:
    """tvmq.sum_pool over pictures and its requantize; sums over lines and volumes have the generic schedule."""
    call = lowerer.view.value[chain.head]
    source = call.args[0].name
    if not lowerer.is_rank4(source) or not lowerer.has_nhwc(source) or not chain.after_head():
        return False
    x = lowerer.nhwc(call.args[0].name)
    windows = _windows(x, nhwc_shape(lowerer, chain.head), call.attrs)
    return _lower_sum(lowerer, chain, x, windows, call.attrs.zero_point, keepdims=True)


def _lower_sum(
    lowerer: Lowerer, chain: Chain, x: relax.Expr, windows: Pool2d, zero_point: int, *, keepdims: bool
) -> bool:
    """Sums under windows of a picture and their requantize as one kernel."""
    step = codes_step(lowerer.view.value[chain.after_head()[0]], windows.channels)
    kernel = lowerer.choose(choose_sum_pool, windows, step, zero_point, dtype_of(x))
    if kernel is None:
        return False
    out = nhwc_shape(lowerer, chain.head) if keepdims else windows.out_shape
    value = lowerer.call(
        kernel, [x], out, step.dtype, f"{chain.result}_nhwc" if not keepdims else chain.result
    )
    if keepdims:
        lowerer.give_nhwc(chain.result, value)
    else:
        shape = [int(d) for d in lowerer.view.var[chain.result].ty.shape]
        lowerer.give_logical(chain.result, lowerer.reshape(value, shape, chain.result))
    return True


def _windows(x: relax.Expr, out: Sequence[Any], attrs: Any) -> Pool2d:
    """The windows of a pooling operator over a picture in NHWC; the shape of its result says how many there are."""
    batch, height, width, channels = kernel_shape(x)
    kernel = _pair(attrs.pool_size if hasattr(attrs, "pool_size") else attrs.kernel)
    strides, dilation = _pair(attrs.strides), _pair(attrs.dilation) if hasattr(attrs, "dilation") else (1, 1)
    padding: Any = tuple(int(p) for p in attrs.padding)
    options: dict[str, Any] = {}
    if isinstance(height, int) and isinstance(width, int) and all(map(is_number, (batch, *out))):
        padding = covering_padding(padding, (height, width), out[1:3], kernel, strides, dilation)
    else:
        out_sizes = name_dynamic_sizes([*list(x.ty.shape)[:3], *out[:3]])[3:]
        options = {"ceil_mode": bool(getattr(attrs, "ceil_mode", False)), "out_sizes": out_sizes}
    return Pool2d(batch, height, width, int(channels), kernel, strides, padding, dilation, **options)


def _pair(values: Any) -> tuple[int, int]:
    rows, columns = values
    return int(rows), int(columns)
