"""concat: tensors behind each other along an axis; codes of another scale go through a table on the way.

Computes   numpy.concatenate of inputs, each through numerics.table where it has one; bit for bit
Loops      parallel chunks of the axes before the concat axis; inputs; neighbouring elements in vectors

Tests: tests/codegen/kernels/move/test_moves.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Shape,
    bind_size,
    flatten_buffer,
    load,
    shape_of_sizes,
    store,
    vector_type,
)
from tvmq.codegen.kernels.parts.epilogue import Parameters, bits_table, table_step
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import Body, make_opaque, over_lanes, over_rows
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.errors import BuildError
from tvmq.numerics.code_type import CODES_8

TYPES = (*CODES_8, "float32")  # that are chosen
GRAIN = 200_000  # bytes in about 10 us


def concat(
    shapes: Sequence[Sequence[int | str]],
    axis: int,
    isa: Isa,
    dtype: str = "uint8",
    tables: Sequence[np.ndarray | None] | None = None,
) -> Kernel:
    """Kernel (x0, x1, ...) -> their concat along `axis`; all are of type dtype.

    shapes   names are sizes that only a run tells
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
    along = [shape[axis] for shape in inputs]
    total = sum(along) if all(isinstance(size, int) for size in along) else "joined"  # type: ignore[arg-type]
    parameters["y"] = ((*inputs[0][:axis], total, *inputs[0][axis + 1 :]), dtype)
    name = f"concat_{ins.name}"
    with FunctionBuilder(name, parameters) as function:
        flats = [flatten_buffer(buffer) for buffer in function.buffers]
        buffers = dict(zip(parameters, flats, strict=True))
        lengths = [function.count(shape[axis:]) for shape in inputs]
        *begins, length = (bind_size(sum(lengths[:i])) for i in range(len(lengths) + 1))

        def start() -> Callable[[Expr], None]:
            parts = [_ConcatInput(ins, buffers, i, lengths[i], begins[i]) for i in range(len(lengths))]

            def row(number: Expr) -> None:
                for part in parts:
                    part.copy(number, length)

            return row

        over_rows(function.count(inputs[0][:axis]), length * np.dtype(dtype).itemsize, GRAIN, start)
    constants = tuple(bits_table(values, dtype) for values in entries if values is not None)
    key = ("concat", tuple(inputs), axis, dtype, tuple(values is not None for values in entries), ins.name)
    return Kernel(name, function.prim_func, constants, key, work=KernelWork("concat", 1.5))


class _ConcatInput:
    """Input of a concatenation: `length` neighbouring elements of each row, at `begin` of a row of the output."""

    def __init__(self, ins: Instructions, buffers: dict[str, Buffer], index: int, length: Expr, begin: Expr) -> None:
        self.x, self.y = buffers[f"x{index}"], buffers["y"]
        self.dtype = str(self.y.dtype)
        self.length, self.begin = length, begin
        self.lanes = ins.vector_bytes // np.dtype(self.dtype).itemsize
        table = buffers.get(f"table{index}")
        self.step = None if table is None else table_step(ins, table, self.dtype, self.dtype)

    def copy(self, row: Expr, row_length: Expr) -> None:
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


def choose_concat(shapes: Sequence[Sequence[int | str]], axis: int, dtypes: Sequence[str], isa: Isa) -> Kernel | None:
    """The kernel of tensors behind each other; None for several types, and types of two bytes."""
    fits = len(set(dtypes)) == 1 and dtypes[0] in TYPES
    return concat(shapes, axis, isa, dtypes[0]) if fits else None
