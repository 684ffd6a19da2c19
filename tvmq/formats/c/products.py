"""Convolutions and products of matrices in C.

Tests: tests/formats/c/test_operators.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.formats.c import rescale
from tvmq.formats.c.constants import braces
from tvmq.formats.c.kernels import conv as conv_text
from tvmq.formats.c.kernels import matmul as matmul_text
from tvmq.formats.c.loops import block, collapse_loops, index, nest
from tvmq.formats.c.tensor import CTensor, Ints, broadcast, strides_of
from tvmq.formats.c.writer import CStep, CWriter, Epilogue
from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVOLUTION
from tvmq.graph.view import const_value, is_const, shape_of
from tvmq.numerics.windows import both_sides


@dataclass(frozen=True)
class InputWithBorder:
    """An array with an implicit border: it is not written, a convolution adds `code` times the taps that lie there."""

    tensor: CTensor
    before: Ints
    code: int


def ints(values: Any) -> Ints:
    """Integers of a TVM attribute."""
    return tuple(int(v) for v in values)


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
    windows = _Windows(x.shape[2:], result.shape[2:], weight.shape[2:], ints(call.attrs.strides),
                       ints(call.attrs.dilation), padded.before)  # fmt: skip
    alone = groups == x.shape[1] == len(weight) and x.shape == result.shape and x.type == result.type
    function = conv_text.DEPTHWISE if alone and not windows.are_points else conv_text.CONV
    channels = {"batch": x.shape[0], "groups": groups, "depth": weight.shape[1], "filters": len(weight) // groups}
    start = padded.code * weight.reshape(len(weight), -1).sum(axis=1, dtype=np.int64)
    fields = windows.fields(channels, padded.code)
    return _emit(writer, epilogue, result, function, fields, x, weight, start)


def transposed_convolution(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """tvmq.conv_transpose."""
    attrs, x = call.attrs, writer.array(call.args[0])
    if not is_const(call.args[1]):
        raise writer.unsupported_error("a transposed convolution whose weight is computed")
    weight, groups, zero = const_value(call.args[1]), int(attrs.groups), int(attrs.zero_point)
    epilogue = writer.find_epilogue(var, 1)
    result = writer.result(epilogue.var)
    windows = _Windows(x.shape[2:], result.shape[2:], weight.shape[2:], ints(attrs.strides), ints(attrs.dilation),
                       _befores(attrs.padding, len(x.shape) - 2), gaps=True)  # fmt: skip
    channels = {"batch": x.shape[0], "groups": groups, "depth": len(weight) // groups, "filters": weight.shape[1]}
    by_group = weight.reshape(groups, len(weight) // groups, weight.shape[1], -1)
    start = zero * by_group.sum(axis=(1, 3), dtype=np.int64).ravel()
    fields = windows.fields(channels, zero)
    return _emit(writer, epilogue, result, conv_text.TRANSPOSED, fields, x, weight, start)


def _input_with_border(writer: CWriter, call: relax.Call) -> InputWithBorder:
    """Input of a convolution with its border: that of a nn.pad before it, or its own, which holds 0."""
    value = writer.value(call.args[0])
    if isinstance(value, InputWithBorder):
        return value
    x = writer.array(call.args[0])
    return InputWithBorder(x, _befores(call.attrs.padding, len(x.shape) - 2), 0)


def _befores(padding: Any, rank: int) -> Ints:
    return tuple(before for before, _ in both_sides(ints(padding), rank))


@dataclass(frozen=True)
class _Windows:
    """Sizes and options of a convolution along its spatial axes."""

    x: Ints
    y: Ints
    kernel: Ints
    stride: Ints
    dilation: Ints
    before: Ints
    gaps: bool = False

    @property
    def are_points(self) -> bool:
        """True if windows are single elements and none is skipped: then the spatial axes are one axis in memory."""
        one = math.prod(self.kernel) == 1 and set(self.stride) == {1} and not any(self.before)
        return one and self.x == self.y and not self.gaps

    def fields(self, channels: dict[str, int], border: int) -> dict[str, str]:
        """The fields of conv_t."""
        windows = self
        if self.are_points:
            row = (math.prod(self.x),)
            windows = _Windows(row, row, (1,), (1,), (1,), (0,))
        spatial = {
            name: braces(to_three_axes(getattr(windows, name), 1))
            for name in ("x", "y", "kernel", "stride", "dilation")
        }
        before = braces(to_three_axes(windows.before, 0))
        return {**{n: str(v) for n, v in channels.items()}, **spatial, "before": before, "border": str(border)}


def _emit(
    writer: CWriter,
    epilogue: Epilogue,
    result: CTensor,
    kernel: Any,
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
    function, parameters = rescale.finish(writer, epilogue.call)
    begins = initial_sums(writer, np.zeros(columns, np.int64), epilogue)
    name = writer.library.use(matmul_text.DENSE, X=x.type, W=constant.type, Y=result.type, finish=function)
    rows = x.size // depth
    text = (
        f"    {name}({rows}, {depth}, {columns}, {x.mark}, {constant.mark}, {begins.mark}, {parameters}, "
        f"{result.mark});\n"
    )
    writer.write(text, [x, constant, begins], [result])
    return writer.store_result(epilogue, result)


def border(writer: CWriter, var: relax.Var, call: relax.Call) -> InputWithBorder | None:
    """Result of a nn.pad that only convolutions read, as an implicit border; None for any other nn.pad."""
    width = ints(call.attrs.pad_width)
    readers = [writer.view.value[name] for name in writer.view.readers[var.name]]
    fits = str(call.attrs.pad_mode) == "constant" and not any(width[:4]) and min(width) >= 0
    if not fits or not readers or writer.view.is_output(var.name) or not all(_takes_border(r, var) for r in readers):
        return None
    code = int(call.attrs.pad_value)
    return InputWithBorder(writer.array(call.args[0]), width[4::2], code)


def _takes_border(reader: relax.Expr, var: relax.Var) -> bool:
    return (
        isinstance(reader, relax.Call)
        and isinstance(reader.op, tvm.ir.Op)
        and reader.op.name.removeprefix("relax.") in CONVOLUTIONS
        and not any(ints(reader.attrs.padding))
        and reader.args[0].name == var.name
        and is_const(reader.args[1])
    )


CONVOLUTIONS = where(kind=CONVOLUTION)
FORMS = {
    **dict.fromkeys(CONVOLUTIONS, convolution),
    "tvmq.conv_transpose": transposed_convolution,
    "matmul": product,
    "tvmq.matmul": product,
}
