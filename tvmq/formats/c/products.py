"""Convolutions and products of matrices in C.

Tests: tests/formats/c/test_operators.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax

from tvmq.formats.c import rescale
from tvmq.formats.c.constants import braces
from tvmq.formats.c.kernels import conv as conv_text
from tvmq.formats.c.kernels import matmul as matmul_text
from tvmq.formats.c.loops import block, collapse_loops, index, nest
from tvmq.formats.c.shared_functions import CKernel
from tvmq.formats.c.tensor import CTensor, Ints, broadcast, strides_of
from tvmq.formats.c.writer import CStep, CWriter, Epilogue
from tvmq.formats.exporting.binding_writer import CONVOLUTIONS, ints
from tvmq.graph.view import const_value, is_const, shape_of
from tvmq.numerics.windows import both_sides


@dataclass(frozen=True)
class InputWithBorder:
    """An array with an implicit border: it is not written, a convolution adds `code` times the taps that lie there."""

    tensor: CTensor
    before: Ints
    code: int


def to_three_axes(values: Ints, fill: int) -> Ints:
    """Options of one to three axes as options of three."""
    return (fill,) * (3 - len(values)) + values


def convolution(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """nn.conv1d, conv2d, conv3d, with bias, requantize and the border before it."""
    if not is_const(call.args[1]):
        raise writer.unsupported_error("a convolution whose weight is computed")
    padded, weight, groups = _input_with_border(writer, call), const_value(call.args[1]), int(call.attrs.groups)
    x, epilogue = padded.tensor, writer.find_epilogue(var, 1)
    result = writer.result(epilogue.var)
    windows = [x.shape[2:], result.shape[2:], weight.shape[2:], ints(call.attrs.strides), ints(call.attrs.dilation),
               padded.before]  # fmt: skip
    is_pointwise = math.prod(weight.shape[2:]) == 1 and set(windows[3]) == {1} and not any(padded.before)
    is_pointwise = is_pointwise and x.shape[2:] == result.shape[2:]
    if is_pointwise:  # then the spatial axes are one axis in memory
        row = (math.prod(x.shape[2:]),)
        windows = [row, row, (1,), (1,), (1,), (0,)]
    alone = groups == x.shape[1] == len(weight) and x.shape == result.shape and x.type == result.type
    function = conv_text.DEPTHWISE if alone and not is_pointwise else conv_text.CONV
    channels = {"batch": x.shape[0], "groups": groups, "depth": weight.shape[1], "filters": len(weight) // groups}
    start = padded.code * weight.reshape(len(weight), -1).sum(axis=1, dtype=np.int64)
    fields = window_fields(channels, *windows, border=padded.code)
    return _emit(writer, epilogue, result, function, fields, x, weight, start)


def transposed_convolution(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """tvmq.conv_transpose."""
    attrs, x = call.attrs, writer.array(call.args[0])
    if not is_const(call.args[1]):
        raise writer.unsupported_error("a transposed convolution whose weight is computed")
    weight, groups, zero = const_value(call.args[1]), int(attrs.groups), int(attrs.zero_point)
    epilogue = writer.find_epilogue(var, 1)
    result = writer.result(epilogue.var)
    windows = (x.shape[2:], result.shape[2:], weight.shape[2:], ints(attrs.strides), ints(attrs.dilation),
               borders_before(attrs.padding, len(x.shape) - 2))  # fmt: skip
    channels = {"batch": x.shape[0], "groups": groups, "depth": len(weight) // groups, "filters": weight.shape[1]}
    by_group = weight.reshape(groups, len(weight) // groups, weight.shape[1], -1)
    start = zero * by_group.sum(axis=(1, 3), dtype=np.int64).ravel()
    fields = window_fields(channels, *windows, border=zero)
    return _emit(writer, epilogue, result, conv_text.TRANSPOSED, fields, x, weight, start)


def _input_with_border(writer: CWriter, call: relax.Call) -> InputWithBorder:
    """Input of a convolution with its border: that of a nn.pad before it, or its own, which holds 0."""
    value = writer.value(call.args[0])
    if isinstance(value, InputWithBorder):
        return value
    x = writer.array(call.args[0])
    return InputWithBorder(x, borders_before(call.attrs.padding, len(x.shape) - 2), 0)


def borders_before(padding: Any, rank: int) -> Ints:
    """Border before the first element of each spatial axis."""
    return tuple(before for before, _ in both_sides(ints(padding), rank))


def window_fields(
    numbers: dict[str, int], x: Ints, y: Ints, kernel: Ints, stride: Ints, dilation: Ints, before: Ints, **last: int
) -> dict[str, str]:
    """Fields of a structure of windows, over three axes."""
    axes = {"x": x, "y": y, "kernel": kernel, "stride": stride, "dilation": dilation}
    spatial = {name: braces(to_three_axes(values, 1)) for name, values in axes.items()}
    texts = {name: str(number) for name, number in numbers.items()}
    return {**texts, **spatial, "before": braces(to_three_axes(before, 0)), **{n: str(v) for n, v in last.items()}}


def _emit(
    writer: CWriter,
    epilogue: Epilogue,
    result: CTensor,
    kernel: CKernel,
    fields: dict[str, str],
    x: CTensor,
    weight: np.ndarray,
    start: np.ndarray,
) -> CTensor:
    constant = writer.constants.tensor(weight, "weight")
    function, parameters = rescale.finish(writer, epilogue.call)
    of_rows = kernel is not conv_text.TRANSPOSED
    rows = {"row": writer.library.use(conv_text.ROW, X=x.type, W=constant.type)} if of_rows else {}
    name = writer.library.use(kernel, X=x.type, W=constant.type, Y=result.type, finish=function, **rows)
    begins = initial_sums(writer, start, epilogue)
    place = writer.constants.structure("conv_t", "conv", fields)
    room = [writer.part(result.type, (1, *result.shape[2:]))] if kernel is conv_text.DEPTHWISE else []
    outputs = ", ".join(tensor.mark for tensor in (*room, result))
    text = f"    {name}(&{place}, {x.mark}, {constant.mark}, {begins.mark}, {parameters}, {outputs});\n"
    in_place = [(result, x)] if room else []
    writer.add(CStep(writer.layer, text, [x, constant, begins], [result, *room], in_place))
    return writer.store_result(epilogue, result)


def initial_sums(writer: CWriter, start: np.ndarray, epilogue: Epilogue) -> CTensor:
    """Initial value of each channel's sums: bias, and what borders and zero points add."""
    total = start + (0 if epilogue.bias is None else epilogue.bias.astype(np.int64))
    if total.size and max(total.max(), -total.min()) > 2**31 - 1:
        raise writer.unsupported_error("a layer", f"whose sums begin with {np.abs(total).max()} exceeds int32")
    return writer.constants.tensor(total.astype(np.int32), "start")


def emit_sums(
    writer: CWriter, epilogue: Epilogue, kernel: CKernel, arguments: str, reads: list[CTensor], result: CTensor,
    channels: int, **types: str,
) -> CTensor:  # fmt: skip
    """Append a call of a kernel that sums the first of the arrays `reads`, and applies the epilogue to its sums."""
    function, parameters = rescale.finish(writer, epilogue.call)
    name = writer.library.use(kernel, X=reads[0].type, **types, Y=result.type, finish=function)
    begins = initial_sums(writer, np.zeros(channels, np.int64), epilogue)
    text = f"    {name}({arguments}, {begins.mark}, {parameters}, {result.mark});\n"
    writer.write(text, [*reads, begins], [result])
    return writer.store_result(epilogue, result)


def product(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """matmul and tvmq.matmul: rows by a constant matrix, or by one that is computed."""
    own = hasattr(call.attrs, "a_zero")
    zeros = (int(call.attrs.a_zero), int(call.attrs.b_zero)) if own else (0, 0)
    a, b = (shape_of(arg) for arg in call.args)
    if is_const(call.args[1]) and len(b) == 2 and zeros == (0, 0):
        return _dense(writer, var, call)
    left, right = writer.array(call.args[0]), writer.array(call.args[1])
    left = left.with_shape((1, *a)) if len(a) == 1 else left
    right = right.with_shape((*b, 1)) if len(b) == 1 else right
    vectors = (len(a) == 1) + (len(b) == 1)
    epilogue = Epilogue(var) if vectors else writer.find_epilogue(var, -1)
    result = writer.result(epilogue.var)
    batch = result.shape[: len(result.shape) - 2 + vectors]
    function, parameters = rescale.finish(writer, epilogue.call)
    name = writer.library.use(matmul_text.MATMUL, A=left.type, B=right.type, Y=result.type, finish=function)
    begins = initial_sums(writer, np.zeros(right.shape[-1], np.int64), epilogue)
    sizes, (ia, ib, iy) = _matrices(left, right, batch)
    body = (
        f"{name}({left.shape[-2]}, {left.shape[-1]}, {right.shape[-1]}, {left.mark} + {ia}, {zeros[0]}, "
        f"{right.mark} + {ib}, {zeros[1]}, {begins.mark}, {parameters}, {result.mark} + {iy});"
    )
    writer.write(block([], nest(sizes, body)), [left, right, begins], [result])
    return writer.store_result(epilogue, result)


def _matrices(left: CTensor, right: CTensor, batch: Ints) -> tuple[Ints, list[str]]:
    """Loops over matrices, and where those of both operands and of the result begin."""
    rows, depth, columns = *left.shape[-2:], right.shape[-1]
    strides = [
        tuple(step * size for step in broadcast(operand.with_shape(operand.shape[:-2]), batch).strides)
        for operand, size in ((left, rows * depth), (right, depth * columns))
    ]
    own = tuple(rows * columns * step for step in strides_of(batch))
    sizes, steps = collapse_loops(batch, [*strides, own])
    return sizes, [index([f"i{axis}" for axis in range(len(sizes))], step) for step in steps]


def _dense(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """Rows by a constant matrix, which is stored transposed: each result is one run through memory."""
    weight = const_value(call.args[1])
    depth, columns = weight.shape
    epilogue = writer.find_epilogue(var, -1)
    x, result = writer.array(call.args[0]), writer.result(epilogue.var)
    constant = writer.constants.tensor(weight.T, "weight")
    arguments = f"{x.size // depth}, {depth}, {columns}, {x.mark}, {constant.mark}"
    return emit_sums(writer, epilogue, matmul_text.DENSE, arguments, [x, constant], result, columns, W=constant.type)


def border(writer: CWriter, var: relax.Var, call: relax.Call) -> InputWithBorder | None:
    """Result of a nn.pad that only convolutions read, as an implicit border; None for any other nn.pad."""
    width = ints(call.attrs.pad_width)
    if str(call.attrs.pad_mode) != "constant" or min(width) < 0 or not writer.can_take_border(var.name, width):
        return None
    return InputWithBorder(writer.array(call.args[0]), width[4::2], int(call.attrs.pad_value))


FORMS = {
    **dict.fromkeys(CONVOLUTIONS, convolution),
    "tvmq.conv_transpose": transposed_convolution,
    "matmul": product,
    "tvmq.matmul": product,
}
