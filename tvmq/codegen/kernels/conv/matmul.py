"""matmul: rows of codes or floats times constant weights, any number of rows that a run brings.

Computes   numerics.matmul, then the epilogue, bit for bit; of floats bias + sum of x * w over the depth, in this order,
           then clip
Rounding   of floats that of conv2d_float, whose template it is: the bits of a 1 x 1 convolution of so many pixels
Layouts    x [..., depth], weights packed (see packing), output [..., columns]
Needs      as conv2d, whose template it is: a 1 x 1 convolution of so many pixels. One row alone is bound by
           reading the weights once
Loops      whole tiles of rows, the last one shifted back; fewer rows than a tile one by one (see implicit_gemm)
Measured   benchmarks/kernels.py
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tvmq.codegen.kernels.conv import conv2d_float
from tvmq.codegen.kernels.conv.conv2d import check_operands, instructions_for, make_kernel
from tvmq.codegen.kernels.conv.conv2d_amx import conv2d_amx, fits_tiles
from tvmq.codegen.kernels.conv.conv2d_int16 import lane_kernel
from tvmq.codegen.kernels.conv.shape import ConvShape
from tvmq.codegen.kernels.parts.builder import Shape
from tvmq.codegen.kernels.parts.float_vectors import check_arrays, clip_of, float_vectors
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Epilogue, Isa, Kernel
from tvmq.codegen.kernels.parts.packing import Int4Weights
from tvmq.codegen.kernels.parts.tiling import choose_tiling
from tvmq.errors import BuildError

# For the choice of a tile where only a run tells the number of rows.
USUAL_ROWS = 64


def usual_rows(leading: Shape) -> int:
    """Number of rows, as far as it is known."""
    return USUAL_ROWS if any(isinstance(n, str) for n in leading) else math.prod(int(n) for n in leading)


def matmul(
    rows: int | Shape,
    depth: int,
    columns: int,
    weight: np.ndarray,
    bias: np.ndarray,
    epilogue: Epilogue,
    isa: Isa,
    *,
    x_dtype: str = "uint8",
    codes: tuple[int, int] | None = None,
) -> Kernel:
    """Kernel of x @ weight + bias; parameters x [*rows, depth], b of each Add, constants, y [*rows, columns].

    rows      number of rows, or the shape of all axes of x but the last; a name is a size that only a run tells
    weight    int8 [depth, columns]
    bias      int32 [columns], with -x_zero * sum(weights) already in it
    epilogue  () for int32 sums, (Dequantize,) for floats, else a requantize step and any Add and Table steps
    codes     lowest and highest code that x can hold, where more is known than its type
    raises    BuildError for shapes, types or steps that do not fit
    """
    if weight.shape != (depth, columns):
        raise BuildError(f"kernels, matmul: weights must have shape {(depth, columns)}. Got {weight.shape} instead")
    leading: Shape = (rows,) if isinstance(rows, int) else tuple(rows)
    count = usual_rows(leading)
    conv = Conv2d(1, 1, count, depth, columns, x_dtype=x_dtype)
    kernel = np.ascontiguousarray(weight.T).reshape(columns, depth, 1, 1)
    check_operands("matmul", conv, kernel, bias)
    buffers = (*leading, depth), (*leading, columns)
    if not any(isinstance(size, str) for size in leading) and fits_tiles(conv, kernel, isa):
        return conv2d_amx(conv, kernel, bias, 0, epilogue, isa, buffers)
    folded, note = lane_kernel("matmul", conv, kernel, bias, 0, epilogue, isa, codes, buffers)
    if folded is not None:
        return folded
    shape = ConvShape(conv, instructions_for(conv, isa), 0)
    tiling = choose_tiling(shape.product, shape.ins, isa.tiles)
    return replace(make_kernel("matmul", shape, tiling, kernel, bias, epilogue, buffers), note=note)


def matmul_float(
    rows: Shape,
    weight: np.ndarray,
    bias: np.ndarray | None,
    epilogue: Epilogue,
    isa: Isa,
    *,
    int4: Int4Weights | None = None,
) -> Kernel:
    """Kernel of x [*rows, depth] @ weight + bias; names in `rows` are sizes that only a run tells.

    weight    float32 [depth, columns]
    bias      float32 [columns] or None
    epilogue  () or one Clip
    int4    the same weights as codes [columns, depth, 1, 1], which the kernel then reads
    raises    BuildError for shapes, types or steps that do not fit
    """
    depth, columns = weight.shape
    conv = Conv2d(1, 1, usual_rows(rows), depth, columns, x_dtype="float32")
    buffers: tuple[Shape, Shape] = (*rows, depth), (*rows, columns)
    kernel = np.ascontiguousarray(weight.T).reshape(columns, depth, 1, 1)
    check_arrays("matmul_float", kernel, (columns, depth, 1, 1), bias, columns)
    bounds = clip_of(epilogue, "matmul_float")
    shape = ConvShape(conv, float_vectors(isa), 0)
    tiling = conv2d_float.choose_float_tiling(shape, isa.tiles)
    return conv2d_float.make_kernel("matmul_float", shape, tiling, bounds, kernel, bias, buffers, int4)


def multiply_rows(
    rows: Shape,
    weight: np.ndarray,
    bias: np.ndarray | None,
    epilogue: Epilogue,
    x_dtype: str,
    isa: Isa,
    *,
    int4: Int4Weights | None = None,
    codes: tuple[int, int] | None = None,
) -> Kernel:
    """The kernel of codes or floats; arguments as `matmul` and `matmul_float`."""
    if x_dtype == "float32":
        return matmul_float(rows, weight, bias, epilogue, isa, int4=int4)
    bias = np.zeros(weight.shape[1], np.int32) if bias is None else bias
    return matmul(rows, weight.shape[0], weight.shape[1], weight, bias, epilogue, isa, x_dtype=x_dtype, codes=codes)
