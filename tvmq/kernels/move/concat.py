"""Tensors written into a larger one: `concat` and `pad`.

concat: along an axis; codes of another scale go through a table on the way.

Computes   numpy.concatenate of inputs, each through numerics.table where it has one; bit for bit
Loops      parallel chunks of the axes before the concat axis; inputs; neighbouring elements in vectors

pad: padding with a constant (the zero point of codes), any axes.

Computes   numpy.pad in mode "constant"
Loops      parallel chunks of the axes before the last padded one; neighbouring elements in vectors
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.errors import BuildError
from tvmq.kernels.isa import instructions
from tvmq.kernels.isa.generic import Instructions
from tvmq.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Shape,
    const,
    flatten,
    load,
    shape_of_sizes,
    store,
    vector_type,
)
from tvmq.kernels.parts.epilogue import Parameters, bits_table, table_step
from tvmq.kernels.parts.loops import Body, copy_lanes, fill_lanes, make_opaque, over_all_rows, over_lanes, over_rows
from tvmq.kernels.parts.types import Isa, Kernel
from tvmq.kernels.parts.work import COPY_CYCLES, KernelWork

TYPES = ("uint8", "int8", "float32")  # that are chosen
GRAIN = 200_000  # bytes in about 10 us


def concat(
    shapes: Sequence[Sequence[int | str]],
    axis: int,
    isa: Isa,
    dtype: str = "uint8",
    tables: Sequence[np.ndarray | None] | None = None,
) -> Kernel:
    """Kernel (x0, x1, ...) -> their concat along `axis`; all are of type dtype.

    shapes   names are sizes that only a run tells, of axes before the concat axis alone
    tables   for each input None or 256 entries of dtype in the order of numerics.table; constants
    raises   BuildError for shapes that do not fit, or tables of other types
    """
    inputs = [shape_of_sizes(shape) for shape in shapes]
    axis %= len(inputs[0])
    entries = [None if values is None else np.asarray(values) for values in tables or [None] * len(inputs)]
    _check(inputs, axis, dtype, entries)
    ins = instructions(isa)
    parameters: Parameters = {f"x{i}": (shape, dtype) for i, shape in enumerate(inputs)}
    parameters |= {f"table{i}": ((256,), dtype) for i, values in enumerate(entries) if values is not None}
    total = sum(int(shape[axis]) for shape in inputs)
    parameters["y"] = ((*inputs[0][:axis], total, *inputs[0][axis + 1 :]), dtype)
    name = f"concat_{ins.name}"
    with FunctionBuilder(name, parameters) as function:
        flats = [flatten(buffer) for buffer in function.buffers]
        buffers = dict(zip(parameters, flats, strict=True))
        lengths = [prod(map(int, shape[axis:])) for shape in inputs]

        def start() -> Callable[[Expr], None]:
            begins = [sum(lengths[:i]) for i in range(len(lengths))]
            parts = [_ConcatInput(ins, buffers, i, lengths[i], begins[i]) for i in range(len(lengths))]

            def row(number: Expr) -> None:
                for part in parts:
                    part.copy(number, sum(lengths))

            return row

        over_all_rows(function.count(inputs[0][:axis]), sum(lengths) * np.dtype(dtype).itemsize, GRAIN, start)
    constants = tuple(bits_table(values, dtype) for values in entries if values is not None)
    key = ("concat", tuple(inputs), axis, dtype, tuple(values is not None for values in entries), ins.name)
    return Kernel(name, function.prim_func, constants, key, work=KernelWork("concat", 1.5))


class _ConcatInput:
    """Input of a concatenation: `length` neighbouring elements of each row, at `begin` of a row of the output."""

    def __init__(self, ins: Instructions, buffers: dict[str, Buffer], index: int, length: int, begin: int) -> None:
        self.x, self.y = buffers[f"x{index}"], buffers["y"]
        self.dtype = str(self.y.dtype)
        self.length, self.begin = length, begin
        self.lanes = ins.vector_bytes // np.dtype(self.dtype).itemsize
        table = buffers.get(f"table{index}")
        self.step = None if table is None else table_step(ins, table, self.dtype, self.dtype)

    def copy(self, row: Expr, row_length: int) -> None:
        """Emit the copy of a row."""
        source, target = make_opaque(row * self.length), make_opaque(row * row_length + self.begin)
        over_lanes(self.length, self.lanes, self._piece(source, target))

    def _piece(self, source: Expr, target: Expr) -> Body:
        def piece(offset: Expr, lanes: int) -> None:
            if self.step is None or lanes == self.lanes:
                value = load(self.x, source + offset, vector_type(self.dtype, lanes))
                store(self.y, target + offset, value if self.step is None else self.step(value, 0, lanes), lanes)
                return
            with T.serial(0, lanes) as lane:
                value = load(self.x, source + offset + lane, self.dtype)
                store(self.y, target + offset + lane, self.step(value, 0, 1), 1)

        return piece


def _check(shapes: list[Shape], axis: int, dtype: str, tables: list[np.ndarray | None]) -> None:
    rest = {shape[:axis] + shape[axis + 1 :] for shape in shapes}
    if len(rest) != 1 or len({len(shape) for shape in shapes}) != 1:
        raise BuildError(f"kernels, concat: shapes must agree but for axis {axis}. Got {shapes} instead")
    for values in tables:
        if values is not None and (values.shape != (256,) or str(values.dtype) != dtype or values.itemsize != 1):
            raise BuildError(
                f"kernels, concat: tables must have 256 entries of {dtype}, 8 bits each. "
                f"Got {values.size} of {values.dtype} instead"
            )


def pad(shape: Sequence[int], width: Sequence[tuple[int, int]], value: float, isa: Isa, dtype: str = "uint8") -> Kernel:
    """Kernel x -> x with `value` around it.

    width    (before, after) for each axis, none negative
    raises   BuildError for other widths, or a value that dtype does not hold
    """
    shape = tuple(int(extent) for extent in shape)
    width = tuple((int(before), int(after)) for before, after in width)
    if len(width) != len(shape) or min((min(sides) for sides in width), default=0) < 0:
        raise BuildError(f"kernels, pad: {width} does not pad an array of shape {shape}")
    kind = np.dtype(dtype)
    if kind.kind in "iu" and not np.iinfo(kind).min <= value <= np.iinfo(kind).max:
        raise BuildError(f"kernels, pad: {dtype} does not hold {value}")
    last = max((axis for axis, sides in enumerate(width) if any(sides)), default=0)
    inner = prod(shape[last + 1 :])
    before, count, after = (part * inner for part in (width[last][0], shape[last], width[last][1]))
    outer = [before_ + size + after_ for size, (before_, after_) in zip(shape[:last], width[:last], strict=True)]
    out_shape = (*outer, *(size + sum(sides) for size, sides in zip(shape[last:], width[last:], strict=True)))
    lanes = instructions(isa).vector_bytes // kind.itemsize
    name = f"pad_{isa.name}"
    with FunctionBuilder(name, {"x": (shape, dtype), "y": (out_shape, dtype)}) as function:
        x, y = (flatten(buffer) for buffer in function.buffers)
        length, filling = before + count + after, const(kind.type(value).item(), dtype)

        def row(number: Expr) -> None:
            begin = make_opaque(number * length)
            inside, source = _source(number, shape[:last], outer, [sides[0] for sides in width[:last]])
            with T.If(inside):
                with T.Then():
                    fill_lanes(y, begin, filling, before, lanes)
                    copy_lanes(y, begin + before, x, make_opaque(source * count), count, lanes)
                    fill_lanes(y, begin + (before + count), filling, after, lanes)
                with T.Else():
                    fill_lanes(y, begin, filling, length, lanes)

        over_rows(prod(outer), length * kind.itemsize, GRAIN, lambda: row)
    return Kernel(
        name, function.prim_func, (), ("pad", shape, width, value, dtype, isa.name), work=KernelWork("pad", COPY_CYCLES)
    )


def _source(number: Expr, sizes: Sequence[int], outer: Sequence[int], before: Sequence[int]) -> tuple[Expr, Expr]:
    """True if a row of the output lies inside of the input, and the number of that row there."""
    inside: Expr = const(True, "bool")
    source: Expr = const(0)
    count = prod(outer)
    for size, padded, first in zip(sizes, outer, before, strict=True):
        count //= padded
        index = make_opaque(T.floormod(T.floordiv(number, count), padded) - first)
        if size != padded:
            inside = T.And(inside, T.And(index >= 0, index < size))
        source = source * size + index
    return inside, source


def choose_concat(shapes: Sequence[Sequence[int | str]], axis: int, dtypes: Sequence[str], isa: Isa) -> Kernel | None:
    """The kernel of tensors behind each other; None for several types, and types of two bytes."""
    fits = len(set(dtypes)) == 1 and dtypes[0] in TYPES
    return concat(shapes, axis, isa, dtypes[0]) if fits else None


def choose_pad(
    shape: Sequence[int], width: Sequence[tuple[int, int]], value: float, dtype: str, isa: Isa
) -> Kernel | None:
    """The kernel of a border of one value; None for types of two bytes, and borders that cut off."""
    fits = dtype in TYPES and min(min(sides) for sides in width) >= 0
    return pad(shape, width, value, isa, dtype) if fits else None
