"""repeat_pixels: nearest-neighbour resize by whole factors in NHWC; every pixel is read once and stored several times.

Computes   y[n, i, j] = x[n, i // rows, j // columns]
Loops      parallel chunks of input rows; pixels; channels in vectors; the places of y

Tests: tests/codegen/kernels/move/test_moves.py
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import (
    Expr,
    FunctionBuilder,
    bind_size,
    flatten_buffer,
    load,
    shape_of_sizes,
    store,
    vector_type,
)
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque, over_lanes, over_rows
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.errors import BuildError
from tvmq.numerics.code_type import CODES_8

GRAIN = 200_000  # bytes in about 10 us


def repeat_pixels(shape: Sequence[int | str], factors: tuple[int, int], isa: Isa, dtype: str = "uint8") -> Kernel:
    """Kernel x (N, H, W, C) -> y (N, rows * H, columns * W, C); names in the shape are sizes that only a run tells.

    factors  (rows, columns) that one pixel becomes
    raises   BuildError for factors below 1
    """
    batch, height, width, channels = shape_of_sizes(shape)
    down, across = factors
    if min(factors) < 1:
        raise BuildError(f"kernels, repeat_pixels: factors must be at least 1. Got {factors} instead")
    out = [size * factor if isinstance(size, int) else f"{size}_{factor}_times"
           for size, factor in zip((height, width), factors, strict=True)]  # fmt: skip
    itemsize = np.dtype(dtype).itemsize
    lanes = instructions(isa).vector_bytes // itemsize
    name = f"repeat_pixels_{isa.name}"
    parameters = {"x": ((batch, height, width, channels), dtype), "y": ((batch, *out, channels), dtype)}
    with FunctionBuilder(name, parameters) as function:
        x, y = (flatten_buffer(buffer) for buffer in function.buffers)
        columns, depth = (function.count((size,)) for size in (width, channels))
        pitch = bind_size(columns * across * depth)

        def row(number: Expr) -> None:
            with T.serial(0, columns) as column:
                source = make_opaque((number * columns + column) * depth)
                target = make_opaque(number * down * pitch + column * across * depth)

                def piece(offset: Expr, size: int) -> None:
                    value = load(x, source + offset, vector_type(dtype, size))
                    with T.serial(0, down) as i, T.serial(0, across) as j:
                        store(y, target + offset + i * pitch + j * depth, value, size)

                over_lanes(depth, lanes, piece)

        over_rows(function.count((batch, height)), pitch * down * itemsize, GRAIN, lambda: row)
    key = ("repeat_pixels", (batch, height, width, channels), factors, dtype, isa.name)
    return Kernel(name, function.prim_func, (), key, work=KernelWork("resize"))


def choose_repeat_pixels(
    shape: Sequence[int | str], factors: tuple[int, int], dtype: str, isa: Isa
) -> Kernel | None:
    """The kernel of a nearest resize by whole factors; None for types of two bytes."""
    return repeat_pixels(shape, factors, isa, dtype) if dtype in (*CODES_8, "float32") else None
