"""Depthwise convolutions of pictures of dynamic shape: the loops of depthwise over sizes that a run brings.

Computes   numerics.conv, then the epilogue, bit for bit
Padding    rows of it are filled in the ring; no row of the kernel is left out
Ring       of a size that fits the cache for any picture; its rows are as long as the strips of this one
Tiles      of TOGETHER steps; a row of fewer counts as so many, whose pixels are stored in its last one's place
Measured   one core, VNNI and AVX2, to the time of fixed sizes: 3 x 3 56x56x144 1.10 and 1.07, stride 2 112x112x96 1.0,
           5 x 5 28x28x240 1.14 and 1.10; of 7x7x960, 3 us, 1.5

Tests: tests/codegen/kernels/depthwise/test_dynamic_depthwise.py
"""

from __future__ import annotations

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.depthwise import depthwise
from tvmq.codegen.kernels.depthwise.plan import (
    MOST_BANDS,
    SERIAL_MACS,
    DepthwiseShape,
    Extents,
    divide_up,
)
from tvmq.codegen.kernels.parts.builder import Expr, FunctionBuilder, Shape, const
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Epilogue, Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque

TOGETHER = 2  # steps of a tile, where its registers hold so many


class DynamicShape(DepthwiseShape):
    """A depthwise convolution of which some sizes are usual ones."""

    @property
    def outside(self) -> None:
        """None: the rows that lie outside depend on sizes."""
        return

    def steps_together(self, most: int) -> int:
        return min(most, TOGETHER)

    def extents_of(self, sizes: list[Expr]) -> Extents:
        """Sizes that the loops count to; sizes: batch, rows and columns of x, then of y, none of these three 0."""
        batch, height, width, _, out_height, out_width = sizes
        steps = divide_up(out_width, self.columns.outputs)
        # where rows are empty, all of them are padding
        height = make_opaque(T.Select(width > 0, height, 0))
        kernel = self.conv.kernel[0] * self.conv.kernel[1]
        is_small = batch * out_height * out_width < -(-SERIAL_MACS // (kernel * self.conv.channels))
        bands = T.min(tirx.truncdiv(const(MOST_BANDS), batch), tirx.truncdiv(out_height, self.rows_of_band))
        bands = make_opaque(T.Select(is_small, 1, T.max(bands, 1)))
        return Extents(batch, height, width, out_height, out_width, steps, bands)


class _DynamicCodes(depthwise.DepthwiseLoops):
    """The loops of a depthwise convolution whose pictures have dynamic sizes.

    sizes  batch, rows and columns of x, then of y: numbers, and names of what only a run tells
    """

    shape: DynamicShape

    def __init__(self, shape: DynamicShape, plan: EpiloguePlan, sizes: Shape) -> None:
        super().__init__(shape, plan)
        self.name, self.key = f"dynamic_{self.name}", (*self.key, sizes)
        self.sizes = sizes
        self.x_shape, self.y_shape = (*sizes[:3], self.conv.channels), (*sizes[3:], self.conv.channels)

    def body(self, function: FunctionBuilder) -> None:
        known = {name: make_opaque(size) for name, size in function.sizes.items()}
        sizes = [known[size] if isinstance(size, str) else const(size) for size in self.sizes]
        with T.If(sizes[3] * sizes[4] * sizes[5] > 0), T.Then():
            self.extents = self.shape.extents_of(sizes)
            with T.parallel(0, sizes[0] * self.extents.bands) as task:
                self.band(make_opaque(task))

    def code_steps(self, begin: Expr, count: Expr) -> None:
        ins, y, channels = self.ins.full_width, self.buffers["y"], self.conv.channels
        steps, begin, count = self.plan.code_steps(ins, self.buffers), make_opaque(begin), make_opaque(count)
        if channels >= ins.vector_bytes:
            steps.run(y, begin, count, channels)
            return
        with T.If(count >= ins.vector_bytes):
            with T.Then():
                steps.run(y, begin, count, ins.vector_bytes)
            with T.Else():
                steps.run(y, begin, count, 1)


def dynamic_depthwise(
    conv: Conv2d, sizes: Shape, weight: np.ndarray, bias: np.ndarray | None, x_zero: int, epilogue: Epilogue, isa: Isa
) -> Kernel:
    """Kernel as depthwise.

    conv    of usual sizes (see usual_convolution)
    sizes   batch, rows and columns of x, then of y: numbers, and names of what only a run tells
    """
    bias = np.zeros(conv.filters, np.int32) if bias is None else bias
    depthwise.check_operands(conv, weight, bias)
    shape = DynamicShape(conv, depthwise.instructions_for(conv, isa), x_zero)
    return depthwise.make_kernel(_DynamicCodes, shape, weight, bias, epilogue, sizes)
