"""Operators of a module as nodes of the core, in the way that formats with channels last share.

Tests: tests/formats/exporting/test_core.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np
from tvm import relax

from tvmq.formats.exporting.binding_writer import ints
from tvmq.formats.exporting.core import (
    CoreConcat,
    CoreConvolution,
    CoreConvTranspose,
    CoreMaxPool,
    CoreTensor,
    Extreme,
    MatrixProduct,
    PendingPad,
    RepeatPixels,
    Slice,
    SumPool,
    windows_of,
)
from tvmq.formats.exporting.core_writer import CoreWriter
from tvmq.formats.exporting.layouts import LAST, Ints, module_order, to_two_axes
from tvmq.graph.evaluate import repeats_pixels, slice_of
from tvmq.graph.operators import where
from tvmq.graph.operators.record import POOL, RESHAPE
from tvmq.graph.view import const_value, is_const, shape_of
from tvmq.numerics.windows import both_sides

# ---- sums of products


def read_weight(writer: CoreWriter, var: relax.Var, call: relax.Call, kind: str) -> np.ndarray:
    """Constant int8 weight of a convolution, with two spatial axes."""
    rank = len(shape_of(var)) - 2
    if not is_const(call.args[1]) or rank > 2 or const_value(call.args[1]).dtype != np.int8:
        raise writer.unsupported_error(f"{kind} over {rank} axes, or whose weight is not an int8 constant,")
    weight = const_value(call.args[1])
    return weight if rank == 2 else weight[:, :, None]


def convolution(writer: CoreWriter, var: relax.Var, call: relax.Call) -> CoreConvolution:
    """nn.conv1d, nn.conv2d."""
    attrs, weight = call.attrs, read_weight(writer, var, call, "a convolution")
    value, rank = writer.values[call.args[0].name], len(shape_of(var)) - 2
    if isinstance(value, PendingPad):
        x, border = value.x, value.code
        padding: Ints = tuple(side for sides in zip(*value.width[2:], strict=True) for side in sides)
    else:
        x, padding = writer.tensor(call.args[0]), ints(attrs.padding)
        border = -x.uint8_offset
    if x.dtype != "int8":
        raise writer.unsupported_error(f"a convolution of {x.dtype}")
    windows = windows_of(x, shape_of(var), weight.shape[4 - rank :], ints(attrs.strides), padding, ints(attrs.dilation))
    zeros = np.zeros(len(weight), np.int64)
    return CoreConvolution(x, weight, zeros, shape_of(var), windows, int(attrs.groups), border)


def transposed_convolution(writer: CoreWriter, var: relax.Var, call: relax.Call) -> CoreConvTranspose:
    """tvmq.conv_transpose."""
    attrs, weight = call.attrs, read_weight(writer, var, call, "a transposed convolution")
    if int(attrs.groups) != 1 or any(d != 1 for d in ints(attrs.dilation)):
        raise writer.unsupported_error("a grouped or dilated transposed convolution")
    x, rank = writer.tensor(call.args[0]), len(shape_of(var)) - 2
    zeros, sides = np.zeros(weight.shape[1], np.int64), ((0, 0),) * (2 - rank) + both_sides(ints(attrs.padding), rank)
    zero = int(attrs.zero_point) - x.uint8_offset
    return CoreConvTranspose(x, weight, zeros, shape_of(var), to_two_axes(ints(attrs.strides)), sides, zero)


def matrix_product(writer: CoreWriter, var: relax.Var, call: relax.Call, zero: int) -> MatrixProduct:
    """matmul by a constant matrix; `zero` is what CONV2D of the format takes from codes."""
    x, weight = writer.tensor(call.args[0]), const_value(call.args[1])
    if weight.ndim != 2 or weight.dtype != np.int8 or x.dtype != "int8":
        raise writer.unsupported_error(f"a product of {x.dtype} codes with a {weight.dtype} constant")
    zeros = np.zeros(weight.shape[1], np.int64)
    return MatrixProduct(x, weight.T[:, :, None, None], zeros, shape_of(var), zero)


def pad(writer: CoreWriter, var: relax.Var, call: relax.Call) -> CoreTensor | PendingPad:
    """nn.pad: the border of the convolutions that read it, or an operator of its own."""
    x, flat = writer.tensor(call.args[0]), ints(call.attrs.pad_width)
    if str(call.attrs.pad_mode) != "constant" or min(flat) < 0:
        raise writer.unsupported_error(f"nn.pad with mode {call.attrs.pad_mode}")
    width, code = tuple(zip(flat[0::2], flat[1::2], strict=True)), int(call.attrs.pad_value) - x.uint8_offset
    if writer.can_take_border(var.name, flat):
        return PendingPad(x, width, code)
    return writer.add_border(x, width, code, var.name)


# ---- pools


def max_pool(writer: CoreWriter, var: relax.Var, call: relax.Call) -> CoreMaxPool:
    """nn.max_pool1d, nn.max_pool2d."""
    attrs, x, rank = call.attrs, writer.tensor(call.args[0]), len(shape_of(var)) - 2
    if rank > 2 or not str(attrs.layout).startswith("NC") or any(d != 1 for d in ints(attrs.dilation)):
        raise writer.unsupported_error(f"a dilated pool, or a pool over {rank} axes,")
    return CoreMaxPool(x, windows_of(x, shape_of(var), ints(attrs.pool_size), ints(attrs.strides), ints(attrs.padding)))


def sum_pool(writer: CoreWriter, var: relax.Var, call: relax.Call) -> SumPool:
    """tvmq.sum_pool."""
    attrs, x, rank = call.attrs, writer.tensor(call.args[0]), len(shape_of(var)) - 2
    if rank > 2 or x.dtype != "int8":
        raise writer.unsupported_error(f"a pool over {rank} axes of {x.dtype}")
    windows = windows_of(x, shape_of(var), ints(attrs.kernel), ints(attrs.strides), ints(attrs.padding))
    return SumPool(x, windows, shape_of(var), int(attrs.zero_point) - x.uint8_offset)


# ---- element by element


def constant_table(writer: CoreWriter, call: relax.Call) -> np.ndarray:
    """Values of a tvmq.table."""
    if not is_const(call.args[1]):
        raise writer.unsupported_error("tvmq.table with computed values")
    return const_value(call.args[1])


def extreme_form(code: str) -> Callable[..., Extreme]:
    """maximum, minimum: of a tensor and constant codes, or of two tensors of one scale."""

    def form(writer: CoreWriter, var: relax.Var, call: relax.Call) -> Extreme:
        tensors = [writer.tensor(arg) for arg in call.args if not is_const(arg)]
        if len(tensors) == 2:
            a, b, _ = writer.align_operands(tensors[0], tensors[1], len(shape_of(var)))
            return Extreme(code, a, b)
        (constant,) = [const_value(arg) for arg in call.args if is_const(arg)]
        if tensors[0].shape != shape_of(var):
            raise writer.unsupported_error(f"{code} of a constant that broadcasts the codes")
        return Extreme(code, tensors[0], constant)

    return form


def forward_operand(writer: CoreWriter, var: relax.Var, call: relax.Call) -> Any:
    """tvmq.fence: its operand, since integers need no fence."""
    return writer.values[call.args[0].name]


# ---- moves


def reshape(writer: CoreWriter, var: relax.Var, call: relax.Call) -> CoreTensor:
    """reshape, flatten, squeeze, expand_dims."""
    return writer.reshape(writer.tensor(call.args[0]), shape_of(var), var.name)


def permute_dims(writer: CoreWriter, var: relax.Var, call: relax.Call) -> CoreTensor:
    """Axes in another order; no operator where the file has that order already."""
    x, rank, permutation = writer.tensor(call.args[0]), len(shape_of(var)), call.attrs.axes
    axes = tuple(range(rank))[::-1] if permutation is None else tuple(axis % rank for axis in ints(permutation))
    order = tuple(None if axis is None else axes.index(axis) for axis in x.order)
    permuted = replace(x, shape=shape_of(var), order=order)
    known = order in (module_order(rank), LAST.get(rank))
    return permuted if known else writer.in_layout(permuted, module_order(rank))


def concat(writer: CoreWriter, var: relax.Var, call: relax.Call) -> CoreConcat:
    """Parts along an axis."""
    source, rank = call.args[0], len(shape_of(var))
    if isinstance(source, relax.Tuple) and any(is_const(part) for part in source.fields):
        raise writer.unsupported_error("concat with a constant")
    parts = [writer.tensor(p) for p in source.fields] if isinstance(source, relax.Tuple) else writer.values[source.name]
    order = next((part.order for part in parts if part.is_channels_last), module_order(rank))
    axis = (0 if call.attrs.axis is None else int(call.attrs.axis)) % rank
    return CoreConcat([writer.in_layout(part, order) for part in parts], order.index(axis))


def split(writer: CoreWriter, var: relax.Var, call: relax.Call) -> list[CoreTensor]:
    """Parts along an axis, a slice each."""
    x = writer.tensor(call.args[0])
    axis = int(call.attrs.axis) % len(x.shape)
    shapes = [ints(field.shape) for field in var.ty.fields]
    parts = []
    for number, (begin, shape) in enumerate(
        zip(accumulate((s[axis] for s in shapes), initial=0), shapes, strict=False)
    ):
        bounds = [(0, n, 1) for n in x.shape]
        bounds[axis] = (begin, begin + shape[axis], 1)
        parts.append(writer.printers[Slice](writer, Slice(x, bounds, shape, f"{var.name}_{number}"), var))
    return parts


def strided_slice(writer: CoreWriter, var: relax.Var, call: relax.Call) -> Slice:
    """Elements from begin to end in steps."""
    x = writer.tensor(call.args[0])
    bounds = [part.indices(n) for part, n in zip(slice_of(call, x.shape), x.shape, strict=True)]
    return Slice(x, bounds, shape_of(var), var.name)


def resize(writer: CoreWriter, var: relax.Var, call: relax.Call) -> RepeatPixels:
    """image.resize2d that repeats pixels by whole factors."""
    if not repeats_pixels(call):
        raise writer.unsupported_error(f"image.resize2d with method {call.attrs.method}")
    return RepeatPixels(writer.to_channels_last(writer.tensor(call.args[0])), shape_of(var))


FORMS: dict[str, Callable[..., Any]] = {
    "nn.conv1d": convolution,
    "nn.conv2d": convolution,
    "tvmq.conv_transpose": transposed_convolution,
    "nn.pad": pad,
    **dict.fromkeys(where(kind=POOL, commutes_with_quantize=True), max_pool),
    "tvmq.sum_pool": sum_pool,
    "tvmq.fence": forward_operand,
    "maximum": extreme_form("MAXIMUM"),
    "minimum": extreme_form("MINIMUM"),
    **dict.fromkeys(where(form=RESHAPE), reshape),
    "permute_dims": permute_dims,
    "concat": concat,
    "split": split,
    "strided_slice": strided_slice,
    "image.resize2d": resize,
}
