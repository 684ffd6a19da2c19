"""Nearest-neighbour resize in NHWC: every output pixel is a copy of one input pixel.

Which one is decided by the caller, who knows the coordinate rules of the operator; the choice is a constant.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.errors import BuildError
from tvmq.kernels.isa import instructions
from tvmq.kernels.parts.builder import Expr, Function, flat, load
from tvmq.kernels.parts.loops import copy_lanes, opaque, over_rows
from tvmq.kernels.parts.types import Isa, Kernel

GRAIN = 200_000  # bytes in about 10 us


def resize(shape: Sequence[int], rows: np.ndarray, columns: np.ndarray, isa: Isa, dtype: str = "uint8") -> Kernel:
    """Kernel x (N, H, W, C) -> y (N, len(rows), len(columns), C), y[n, i, j] = x[n, rows[i], columns[j]].

    rows, columns  indices into H and W
    raises         BuildError for indices outside of the picture
    """
    batch, height, width, channels = (int(extent) for extent in shape)
    indices = [np.ascontiguousarray(values, np.int32) for values in (rows, columns)]
    for axis, values, size in zip(("rows", "columns"), indices, (height, width), strict=True):
        if values.ndim != 1 or values.size == 0 or values.min() < 0 or values.max() >= size:
            raise BuildError(f"kernels, resize: {axis} must be indices in 0..{size - 1}. Got {values} instead")
    out_height, out_width = (len(values) for values in indices)
    itemsize = np.dtype(dtype).itemsize
    lanes = instructions(isa).vector_bytes // itemsize
    parameters = {"x": ((batch, height, width, channels), dtype), "rows": ((out_height,), "int32")}
    parameters |= {"columns": ((out_width,), "int32"), "y": ((batch, out_height, out_width, channels), dtype)}
    name = f"resize_{isa.name}"
    with Function(name, parameters) as function:
        x, row_index, column_index, y = (flat(buffer) for buffer in function.buffers)

        def row(number: Expr) -> None:
            image = T.floordiv(number, out_height)
            line = opaque((image * height + load(row_index, T.floormod(number, out_height), "int32")) * width)
            with T.serial(0, out_width) as column:
                source = opaque((line + load(column_index, column, "int32")) * channels)
                target = opaque((number * out_width + column) * channels)
                copy_lanes(y, target, x, source, channels, lanes)

        over_rows(batch * out_height, out_width * channels * itemsize, GRAIN, lambda: row)
    key = ("resize", (batch, height, width, channels), out_height, out_width, dtype, isa.name)
    return Kernel(name, function.prim_func, tuple(indices), key)
