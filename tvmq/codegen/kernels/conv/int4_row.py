"""int4_row: one row of floats times 4-bit weights with scales for each column, or for groups along the depth.

Computes   the bits of conv2d_float on the same weights as floats: bias + sum of x * w over the depth, in this order,
           each w = code * scale rounded, then fused multiply-adds, then clip
Layouts    x [..., depth] of one row, weights and scales as in nibble_blocks.py, output [..., columns]
Needs      vectors of 64 bytes: vpermps finds the float of a code in a register, whatever stands above its 4 bits, so
           that a code costs a shift and a look-up; four instructions for 16 weights, where conv2d_float takes eight
Bytes      bound by these instructions, at about half of what a core reads

Tests: tests/codegen/kernels/parts/test_nibbles.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.conv.group_matmul import AHEAD, GRAIN
from tvmq.codegen.kernels.conv.nibble_blocks import BLOCK, OFFSET, PANEL, pack_blocks, pack_scales
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import (
    Expr,
    FunctionBuilder,
    Register,
    Shape,
    bind,
    const,
    llvm,
    load,
    prefetch,
    spread,
    store_first,
    widen_index,
)
from tvmq.codegen.kernels.parts.float_vectors import clip, float_vectors
from tvmq.codegen.kernels.parts.kernel_types import Clip, Conv2d, Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque, over_rows
from tvmq.codegen.kernels.parts.packing import Int4Weights
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.work import KernelWork

LANES = 16
REAL = f"float32x{LANES}"
CYCLES = 2.0  # for 16 weights


def is_int4_row(conv: Conv2d, int4: Int4Weights | None, isa: Isa) -> bool:
    """True for one row, groups of whole blocks, and vectors of 64 bytes."""
    row = conv.batch * conv.height * conv.width == 1 and conv.kernel == (1, 1) and conv.groups == 1
    return bool(row and int4 is not None and instructions(isa).vector_bytes == 64 and int4.group_size % BLOCK == 0)


def int4_row(conv: Conv2d, int4: Int4Weights, bias: np.ndarray | None, bounds: Clip, isa: Isa) -> Kernel:
    """Kernel x, constants, y of a product that `is_int4_row` accepts.

    bias    float32 [columns] or None
    bounds  of the clip behind the sums
    """
    depth, columns = conv.channels, conv.filters
    weight, start = int4.codes.reshape(columns, depth).T, np.zeros(columns, np.float32) if bias is None else bias
    table = np.arange(-OFFSET, OFFSET, dtype=np.float32)
    constants = table, pack_blocks(weight, LANES), pack_scales(int4.scale, LANES), pack_scales(start[None], LANES)
    shapes: tuple[Shape, Shape] = (conv.batch, conv.height, conv.width, depth), conv.out_shape
    work = KernelWork("conv2d", 0.0, depth * columns, False, lambda *_: CYCLES * depth * columns / LANES)
    return _Int4RowTemplate(depth, columns, int4.group_size, bounds, shapes, isa).kernel(constants, work)


class _Int4RowTemplate(Template):
    """Product of a row; see the head of this file."""

    def __init__(
        self, depth: int, columns: int, group_size: int, bounds: Clip, shapes: tuple[Shape, Shape], isa: Isa
    ) -> None:
        self.depth, self.columns, self.size, self.bounds = depth, columns, group_size, bounds
        self.ins, self.groups = float_vectors(isa), depth // group_size
        self.width = PANEL * LANES
        self.panels = -(-columns // self.width)
        self.shapes, self.name = shapes, f"int4_row_{self.ins.name}_1x{PANEL}"
        self.key = ("int4_row", depth, columns, group_size, bounds, shapes, self.ins.name)

    def parameters(self) -> Parameters:
        return {
            "x": (self.shapes[0], "float32"),
            "table": ((2 * OFFSET,), "float32"),
            "weight": ((self.panels * self.width * self.depth // 2,), "uint8"),
            "scale": ((self.panels * self.groups * self.width,), "float32"),
            "bias": ((self.panels * self.width,), "float32"),
            "y": (self.shapes[1], "float32"),
        }

    def body(self, function: FunctionBuilder) -> None:
        self.x, self.table, self.weight, self.scale, self.bias, self.y = self.buffers.values()
        whole = self.columns // self.width

        def start() -> Callable[[Expr], None]:
            return lambda panel: self._panel(make_opaque(panel), self.width)

        over_rows(whole, self.depth * self.width // 2, GRAIN, start)
        if self.columns % self.width:
            self._panel(make_opaque(const(whole)), self.columns % self.width)

    def _panel(self, panel: Expr, valid: int) -> None:
        """Compute a panel of so many columns."""
        sums = [Register("float32", LANES) for _ in range(PANEL)]
        for v, total in enumerate(sums):
            total.set(load(self.bias, panel * self.width + v * LANES, REAL))
        table = load(self.table, 0, REAL)
        blocks, vector = self.size // BLOCK, 4 * LANES
        weights = make_opaque(panel * (self.depth // BLOCK * PANEL * vector))
        scales = make_opaque(panel * (self.groups * self.width))
        with T.serial(0, self.groups) as index:
            group = make_opaque(index)
            scale = [load(self.scale, scales + (group * PANEL + v) * LANES, REAL) for v in range(PANEL)]
            base, x = widen_index(weights + group * (blocks * PANEL * vector)), widen_index(group * self.size)
            with T.serial(0, blocks) as block:
                at = base + T.Cast("int64", block * (PANEL * vector))
                self._block(at, x + T.Cast("int64", block * BLOCK), table, scale, sums)
        for v, total in enumerate(sums):
            here = min(LANES, valid - v * LANES)
            if here > 0:
                value = clip(total.get(), self.bounds, LANES)
                store_first(self.y, bind(panel * self.width + v * LANES), value, LANES, here)

    def _block(self, at: Expr, x: Expr, table: Expr, scale: list[Expr], sums: list[Register]) -> None:
        codes = []
        for v in range(PANEL):
            place = at + v * 4 * LANES
            prefetch(self.weight, place + AHEAD)
            codes.append(bind(T.reinterpret(f"int32x{LANES}", load(self.weight, place, f"uint8x{4 * LANES}"))))
        for k in range(BLOCK):
            value = self.ins.broadcast(self.x, x + k)
            bits = 8 * k if k < BLOCK // 2 else 8 * (k - BLOCK // 2) + 4
            for v, total in enumerate(sums):
                here = bind(T.shift_right(codes[v], spread(bits, LANES))) if bits else codes[v]
                code = llvm(REAL, "llvm.x86.avx512.permvar.sf.512", table, here)
                total.set(self.ins.dot(total.get(), value, bind(code * scale[v])))
