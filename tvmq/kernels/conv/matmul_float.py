"""matmul_float: rows of float32 times constant weights, any number of rows that a run brings.

Computes   bias + sum of x * w over the depth, in this order, then clip
Rounding   that of conv2d_float, whose template it is: the bits of a 1 x 1 convolution of so many pixels
Layouts    x [*rows, depth], weights packed (see packing), output [*rows, columns]
Loops      whole tiles of rows, the last one shifted back; fewer rows than a tile one by one (see conv_loops)
"""

from __future__ import annotations

import numpy as np

from tvmq.kernels.conv.conv2d_float import make_kernel
from tvmq.kernels.conv.matmul import usual_rows
from tvmq.kernels.conv.shape import ConvShape
from tvmq.kernels.parts.builder import Shape
from tvmq.kernels.parts.float_vectors import check_arrays, clip_of, float_vectors
from tvmq.kernels.parts.packing import Narrow
from tvmq.kernels.parts.types import Conv2d, Epilogue, Isa, Kernel


def matmul_float(
    rows: Shape,
    weight: np.ndarray,
    bias: np.ndarray | None,
    epilogue: Epilogue,
    isa: Isa,
    *,
    narrow: Narrow | None = None,
) -> Kernel:
    """Kernel of x [*rows, depth] @ weight + bias; names in `rows` are sizes that only a run tells.

    weight    float32 [depth, columns]
    bias      float32 [columns] or None
    epilogue  () or one Clip
    narrow    the same weights as codes [columns, depth, 1, 1], which the kernel then reads
    raises    BuildError for shapes, types or steps that do not fit
    """
    depth, columns = weight.shape
    conv = Conv2d(1, 1, usual_rows(rows), depth, columns, x_dtype="float32")
    buffers: tuple[Shape, Shape] = (*rows, depth), (*rows, columns)
    kernel = np.ascontiguousarray(weight.T).reshape(columns, depth, 1, 1)
    check_arrays("matmul_float", kernel, (columns, depth, 1, 1), bias, columns)
    bounds = clip_of(epilogue, "matmul_float")
    shape = ConvShape(conv, float_vectors(isa), 0)
    return make_kernel("matmul_float", shape, bounds, kernel, bias, buffers, narrow)
