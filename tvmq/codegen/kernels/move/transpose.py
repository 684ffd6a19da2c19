"""Changes of layout, NCHW to NHWC and back, alone or with the conversion at a border of the integer core.

Computes   a transpose of [rows][columns] in each picture; numerics.quantize or dequantize of each element
Loops      parallel chunks of blocks of columns; blocks of rows; squares of 16 bytes a side are interleaved in
           registers, log2(side) times each with each
Few rows   (channels of a picture): whole vectors of each row are interleaved at once

Tests: tests/codegen/kernels/move/test_moves.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.elementwise.convert import code_range, one_scale
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Shape,
    bind,
    bind_size,
    branch,
    ceildiv,
    const,
    flatten_buffer,
    load,
    shape_of_sizes,
    spread,
    store,
    vector_type,
)
from tvmq.codegen.kernels.parts.float_vectors import quantize_vector
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque, over_rows
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.errors import BuildError
from tvmq.numerics.code_type import CODES_8

GRAIN = 100_000  # elements in about 10 us
SQUARE_BYTES = 16
FEW_ROWS = 4
INTERLEAVED_LANES = 16  # of each row, where there are few

# read(offset, lanes): neighbouring elements of the input, in the type of the output
Read = Callable[[Expr, int], Expr]
TYPES = (*CODES_8, "int16", "int32", "float32")


def to_nhwc(shape: Sequence[int | str], isa: Isa, dtype: str = "uint8") -> Kernel:
    """Kernel (N, C, H, W) -> (N, H, W, C)."""
    return _copy("to_nhwc", shape_of_sizes(shape), (0, 2, 3, 1), isa, dtype)


def to_nchw(shape: Sequence[int | str], isa: Isa, dtype: str = "uint8") -> Kernel:
    """Kernel (N, H, W, C) -> (N, C, H, W)."""
    return _copy("to_nchw", shape_of_sizes(shape), (0, 3, 1, 2), isa, dtype)


def _copy(kind: str, shape: Shape, axes: tuple[int, ...], isa: Isa, dtype: str) -> Kernel:
    if dtype not in TYPES or len(shape) != 4:
        raise BuildError(f"kernels, {kind}: takes rank 4 and {', '.join(TYPES)}. Got {shape} of {dtype} instead")
    name = f"{kind}_{isa.name}"
    out_shape = tuple(shape[axis] for axis in axes)
    with FunctionBuilder(name, {"x": (shape, dtype), "y": (out_shape, dtype)}, unaligned=("x",)) as function:
        x, y = (flatten_buffer(buffer) for buffer in function.buffers)
        _transpose(*_matrix(function, shape, axes), lambda offset, lanes: load(x, offset, vector_type(dtype, lanes)), y)
    return Kernel(
        name, function.prim_func, (), (name, shape, dtype), work=KernelWork(kind, 6.0 if kind == "to_nhwc" else 8.0)
    )


def quantize_to_nhwc(
    shape: Sequence[int | str],
    scale: ArrayLike,
    zero_point: int,
    isa: Isa,
    *,
    dtype: str = "uint8",
    qmin: int | None = None,
    qmax: int | None = None,
) -> Kernel:
    """Kernel x (N, C, H, W) float32 -> codes (N, H, W, C); scale is one number, a constant of the kernel."""
    shape = shape_of_sizes(shape)
    limits = code_range("quantize_to_nhwc", dtype, qmin, qmax)
    scale = one_scale("quantize_to_nhwc", scale)
    ins = instructions(isa)
    name = f"quantize_to_nhwc_{ins.name}"
    out_shape = tuple(shape[axis] for axis in (0, 2, 3, 1))
    parameters = {"x": (shape, "float32"), "scale": ((1,), "float32"), "y": (out_shape, dtype)}
    with FunctionBuilder(name, parameters, unaligned=("x",)) as function:
        x, divisor, y = (flatten_buffer(buffer) for buffer in function.buffers)

        def read(offset: Expr, lanes: int) -> Expr:
            value = load(x, offset, vector_type("float32", lanes))
            return quantize_vector(ins, value, divisor, lanes, zero_point, limits, dtype)

        _transpose(*_matrix(function, shape, (0, 2, 3, 1)), read, y)
    return Kernel(
        name,
        function.prim_func,
        (scale,),
        (name, shape, zero_point, limits, dtype),
        work=KernelWork("quantize_to_nhwc", 6.0),
    )


def dequantize_to_nchw(
    shape: Sequence[int | str], dtype: str, scale: ArrayLike, zero_point: ArrayLike, isa: Isa
) -> Kernel:
    """Kernel q (N, H, W, C) -> x (N, C, H, W) float32; one scale and zero point, constants of the kernel."""
    shape = shape_of_sizes(shape)
    if dtype not in TYPES[:-1] or np.size(zero_point) != 1:
        raise BuildError(
            f"kernels, dequantize_to_nchw: takes {', '.join(TYPES[:-1])} and one zero point. "
            f"Got {dtype} and {np.size(zero_point)} of them"
        )
    constants = (one_scale("dequantize_to_nchw", scale), np.asarray(zero_point, np.int32).reshape(1))
    name = f"dequantize_to_nchw_{isa.name}"
    out_shape = tuple(shape[axis] for axis in (0, 3, 1, 2))
    parameters = {"x": (shape, dtype), "scale": ((1,), "float32"), "zero_point": ((1,), "int32")}
    with FunctionBuilder(name, parameters | {"y": (out_shape, "float32")}) as function:
        x, factor, zero, y = (flatten_buffer(buffer) for buffer in function.buffers)

        def read(offset: Expr, lanes: int) -> Expr:
            codes = T.Cast(vector_type("int32", lanes), load(x, offset, vector_type(dtype, lanes)))
            real = T.Cast(vector_type("float32", lanes), codes - spread(zero[0], lanes))
            return bind(real * spread(factor[0], lanes))

        _transpose(*_matrix(function, shape, (0, 3, 1, 2)), read, y)
    return Kernel(name, function.prim_func, constants, (name, shape, dtype), work=KernelWork("dequantize_to_nchw", 4.0))


def _matrix(function: FunctionBuilder, shape: Shape, axes: tuple[int, ...]) -> tuple[Expr, Expr, Expr]:
    """(batch, rows, columns) of the matrices that these axes transpose."""
    cut = 2 if axes[-1] == 1 else 3
    return function.count(shape[:1]), function.count(shape[1:cut]), function.count(shape[cut:])


def _transpose(batch: Expr, rows: Expr, columns: Expr, read: Read, y: Buffer) -> None:
    """y[n][column][row] = x[n][row][column]; x is what `read` reads. One of rows and columns is a number."""
    known = [size for size in (rows, columns) if isinstance(size, int)]
    side = SQUARE_BYTES // np.dtype(str(y.dtype)).itemsize
    few = isinstance(rows, int) and 1 < rows <= FEW_ROWS
    few = few and (not isinstance(columns, int) or columns >= INTERLEAVED_LANES)
    if 1 in known or (not few and min(known) < side):
        side = 1
    if len(known) == 2 or (side == 1 and not few):
        _blocks(batch, rows, columns, side, few, read, y)
        return
    size = columns if isinstance(rows, int) else rows
    branch(
        size >= (INTERLEAVED_LANES if few else side),
        lambda: _blocks(batch, rows, columns, side, few, read, y),
        lambda: _blocks(batch, rows, columns, 1, False, read, y),
    )


def _blocks(batch: Expr, rows: Expr, columns: Expr, side: int, few: bool, read: Read, y: Buffer) -> None:
    """Squares of so many elements a side, or `few` rows at once."""
    width = INTERLEAVED_LANES if few else side
    blocks, lines = ceildiv(columns, width), ceildiv(rows, side)
    if not isinstance(blocks, int):  # opaque: 48 * size3 < 16 are 0 columns, by which TVM refuses to divide
        blocks = make_opaque(blocks)

    def block(number: Expr) -> None:
        image = make_opaque(T.floordiv(number, blocks))
        # the last block ends at the last column and may repeat some of the one before
        column = make_opaque(T.min(T.floormod(number, blocks) * width, columns - width))
        source, target = make_opaque(image * (rows * columns) + column), make_opaque((image * columns + column) * rows)
        if few:
            _interleave_rows(rows, columns, width, read, y, source, target)
            return
        with T.serial(0, lines) as i:
            row = make_opaque(T.min(i * side, rows - side))
            _square(side, rows, columns, read, y, make_opaque(source + row * columns), make_opaque(target + row))

    over_rows(bind_size(batch * blocks), rows * width, GRAIN, lambda: block)


def _square(side: int, rows: Expr, columns: Expr, read: Read, y: Buffer, source: Expr, target: Expr) -> None:
    """Transpose side x side elements in registers."""
    lines = [read(source + i * columns, side) for i in range(side)]
    size = 1
    while size < side:
        half = side // 2
        pairs = [(lines[i], lines[i + half]) for i in range(half)]
        lines = [_interleave(pair, side, part) for pair in pairs for part in (0, 1)]
        size *= 2
    for i, line in enumerate(lines):
        store(y, target + i * rows, line, side)


def _interleave(vectors: Sequence[Expr], lanes: int, part: int) -> Expr:
    """Lanes part * lanes and following of all vectors' elements in turn."""
    places = range(part * lanes, (part + 1) * lanes)
    count = len(vectors)
    return bind(tirx.Shuffle(list(vectors), [const(place % count * lanes + place // count) for place in places]))


def _interleave_rows(rows: int, columns: Expr, lanes: int, read: Read, y: Buffer, source: Expr, target: Expr) -> None:
    """All rows of `lanes` columns."""
    vectors = [read(source + row * columns, lanes) for row in range(rows)]
    for part in range(rows):
        store(y, target + part * lanes, _interleave(vectors, lanes, part), lanes)


def choose_transpose(shape: Sequence[int | str], axes: Sequence[int], dtype: str, isa: Isa) -> Kernel | None:
    """The kernel of a transposed copy; None for other orders than NHWC of NCHW and back, and 16 or 32 bit integers."""
    maker = to_nhwc if tuple(axes) == (0, 2, 3, 1) else to_nchw if tuple(axes) == (0, 3, 1, 2) else None
    return maker(shape, isa, dtype) if maker and dtype in (*CODES_8, "float32") else None


def choose_quantize_to_nhwc(
    shape: Sequence[int | str], scale: np.ndarray, codes: tuple[int, int, int, str], isa: Isa
) -> Kernel | None:
    """The kernel from floats to codes, arguments as convert.choose_quantize; None for several scales and int16."""
    zero_point, qmin, qmax, dtype = codes
    fits = scale.size == 1 and dtype in CODES_8
    return quantize_to_nhwc(shape, scale, zero_point, isa, dtype=dtype, qmin=qmin, qmax=qmax) if fits else None


def choose_dequantize_to_nchw(
    shape: Sequence[int | str], dtype: str, scale: np.ndarray, zero_point: np.ndarray, isa: Isa
) -> Kernel | None:
    """The kernel from codes or sums to floats; None for int16, and parameters of channels."""
    fits = dtype in (*CODES_8, "int32") and scale.size == zero_point.size == 1
    return dequantize_to_nchw(shape, dtype, scale, zero_point, isa) if fits else None
