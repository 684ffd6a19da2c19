"""Float depthwise convolutions of pictures of dynamic shape: the inner loops of depthwise_float.

Computes   bias + sum of x * w in the order of depthwise_float, bit for bit, then clip
Tiles      of MOST_PIXELS pixels, then of REST, the last one shifted back; single pixels in rows of fewer
Padding    none is made: in tiles that touch it a test for each input column leaves the columns outside out
Measured   one core, AVX-512 and AVX2, to the time of fixed sizes: 3 x 3 56x56x144 1.1, stride 2 112x112x96 1.0, 5 x 5
           28x28x240 1.0; of 7x7x960, 5 us, 1.6 and 1.8

Tests: tests/codegen/kernels/depthwise/test_dynamic_depthwise_float.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.depthwise import depthwise_float
from tvmq.codegen.kernels.depthwise.depthwise_float import CHUNKS, MOST_PIXELS, SERIAL_MACS, FloatLoops, RowOfVector
from tvmq.codegen.kernels.parts.builder import Expr, FunctionBuilder, Shape, const
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Epilogue, Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque

REST = 4  # pixels of a tile of what larger ones leave


class _DynamicFloatLoops(FloatLoops):
    """The loops of a depthwise convolution whose pictures have dynamic sizes.

    sizes  batch, rows and columns of x, then of y: numbers, and names of what only a run tells
    """

    def __init__(self, *arguments: Any, sizes: Shape) -> None:
        super().__init__(*arguments)
        self.name, self.key, self.sizes = f"dynamic_{self.name}", (*self.key, sizes), sizes
        self.is_padded = self.conv.padding[1] > 0 or self.conv.padding[3] > 0
        self.x_shape, self.y_shape = (*sizes[:3], self.conv.channels), (*sizes[3:], self.conv.channels)

    def body(self, function: FunctionBuilder) -> None:
        known = {name: make_opaque(size) for name, size in function.sizes.items()}
        sizes = [known[size] if isinstance(size, str) else const(size) for size in self.sizes]
        _, self.height, self.width, batch, self.out_height, self.out_width = sizes
        rows, conv = make_opaque(batch * self.out_height), self.conv
        is_small = rows * self.out_width <= SERIAL_MACS // (conv.kernel[0] * conv.kernel[1] * conv.channels)
        chunks = make_opaque(T.Select(is_small, 1, T.min(rows, CHUNKS)))
        self._plan_tiles()
        with T.If(rows * self.out_width > 0), T.Then():
            with T.parallel(0, chunks) as chunk:
                begin, end = (make_opaque(tirx.truncdiv((chunk + i) * rows, chunks)) for i in (0, 1))
                with T.serial(0, end - begin) as index, T.serial(0, self.count) as vector:
                    self.row(make_opaque(begin + index), make_opaque(vector))

    def place_of(self, row: Expr) -> tuple[Expr, Expr]:
        picture = make_opaque(tirx.truncdiv(row, self.out_height))
        return picture, make_opaque(row - picture * self.out_height)

    def _plan_tiles(self) -> None:
        """Counts of tiles, and the pixels whose windows lie inside of the picture."""
        conv, width = self.conv, self.out_width
        self.whole = make_opaque(tirx.truncdiv(width, MOST_PIXELS))
        self.rest = make_opaque(tirx.truncdiv(width - self.whole * MOST_PIXELS + (REST - 1), REST))
        reach = self.width - (conv.kernel[1] - 1) * conv.dilation[1] + conv.padding[1] - 1
        self.inside = make_opaque(T.floordiv(reach, conv.strides[1]) + 1)

    def tiles(self, row: RowOfVector) -> None:
        conv, width = self.conv, self.out_width
        first_inside = -(-conv.padding[1] // conv.strides[1])
        with T.serial(0, self.whole) as index:
            pixel = make_opaque(index * MOST_PIXELS)
            if not self.is_padded:
                self.tile(pixel, MOST_PIXELS, row)
            else:
                with T.If(T.And(pixel >= first_inside, pixel + MOST_PIXELS <= self.inside)):
                    with T.Then():
                        self.tile(pixel, MOST_PIXELS, row)
                    with T.Else():
                        self.tile(pixel, MOST_PIXELS, row, tests_columns=True)
        with T.If(width >= REST):
            with T.Then(), T.serial(0, self.rest) as index:
                pixel = T.min(self.whole * MOST_PIXELS + index * REST, width - REST)
                self.tile(make_opaque(pixel), REST, row, tests_columns=self.is_padded)
            with T.Else(), T.serial(0, width) as pixel:
                self.tile(make_opaque(pixel), 1, row, tests_columns=self.is_padded)


def dynamic_depthwise_float(
    conv: Conv2d, sizes: Shape, weight: np.ndarray, bias: np.ndarray | None, epilogue: Epilogue, isa: Isa
) -> Kernel:
    """Kernel as depthwise_float.

    conv    of usual sizes (see usual_convolution)
    sizes   batch, rows and columns of x, then of y: numbers, and names of what only a run tells
    """
    return depthwise_float.make_kernel(_DynamicFloatLoops, conv, weight, bias, epilogue, isa, sizes=sizes)
