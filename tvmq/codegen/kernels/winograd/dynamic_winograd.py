"""Winograd's convolution of pictures of dynamic shape: the loops of winograd over sizes that a run brings.

Computes   numerics.conv, then the epilogue, bit for bit
Tiles      of registers as of a large picture, which each number of rows divides; blocks are whole register tiles, and
           what a chunk leaves of them, half of one at most, is done in register tiles of a third of the rows
Chunks     of tiles of outputs: as many as threads share evenly where there is work for them, and so many that the copy
           of a chunk's rows fits the second cache
Panels     never divided among threads
Division   rounds towards 0, of numbers that are not negative

Tests: tests/codegen/kernels/winograd/test_dynamic_winograd.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.conv.shape import L2_BYTES
from tvmq.codegen.kernels.conv.staging import SLACK, Stager
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, FunctionBuilder, Shape, bind, const, workspace
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan
from tvmq.codegen.kernels.parts.kernel_types import Epilogue, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque
from tvmq.codegen.kernels.winograd.loops import WinogradInputs, WinogradLoops, keep_quotient, run_if_inside
from tvmq.codegen.kernels.winograd.shape import (
    CHUNK_TILES,
    CHUNKS,
    MOST_TILES,
    SERIAL_PRODUCTS,
    TileExtents,
    WinogradShape,
    is_one,
    shape_for,
)
from tvmq.codegen.kernels.winograd.winograd import make_winograd

MANY = 28, 30  # tiles of outputs of a picture that register tiles are chosen for: a multiple of 1 to 8 in all
COPY_BYTES = L2_BYTES // 2  # of a chunk's rows, beside what is made of them


class DynamicWinogradLoops(WinogradLoops):
    """The loops of a convolution whose pictures have dynamic sizes.

    sizes  batch, rows and columns of x, then of y: numbers, and names of what only a run tells
    """

    def __init__(self, name: str, shape: WinogradShape, plan: EpiloguePlan, sizes: Shape) -> None:
        super().__init__(f"dynamic_{name}", shape, plan)
        self.key, self.sizes = (*self.key, "dynamic", sizes), sizes
        self.x_shape, self.y_shape = (*sizes[:3], self.conv.channels), (*sizes[3:], self.conv.filters)

    def body(self, function: FunctionBuilder) -> None:
        batch, height, width, _, out_height, out_width = (
            function.sizes[size] if isinstance(size, str) else size for size in self.sizes
        )
        size, rows, channels = self.scheme.tile, self.shape.rows, self.conv.channels
        # not 0, as they divide
        high, wide = (bind(T.max(tirx.truncdiv(out + const(size - 1), size), 1)) for out in (out_height, out_width))
        tall, pitch = bind(high * size + 2), bind((wide * size + 2) * channels)
        tiles = bind(batch * high * wide)
        groups = bind(tirx.truncdiv(tiles + (rows - 1), rows))
        chunks = self._count(tiles, groups, tirx.truncdiv(batch * high * size * pitch, const(COPY_BYTES)))
        # memory is taken where a function begins: its size is an expression of those of the buffers
        most = bind(tirx.truncdiv(groups + (chunks - 1), chunks) * rows)
        lines = bind(tirx.truncdiv(most + (wide - 2), wide) + 1)
        pictures = 1 if is_one(batch) else tirx.truncdiv(lines, high) + 2
        self.copy_size = bind((lines * size + 2 * pictures) * pitch + SLACK)
        batch, height, width, out_height, out_width, high, wide, tall, pitch, tiles, groups, chunks = (
            value if isinstance(value, int) else make_opaque(value)
            for value in (batch, height, width, out_height, out_width, high, wide, tall, pitch, tiles, groups, chunks)
        )
        self.extents = TileExtents(batch, out_height, out_width, high, wide, tall, pitch)
        top, left = self.conv.padding[:2]
        right = make_opaque(tirx.truncdiv(pitch, channels) - width - left)
        padded = replace(self.conv, batch=batch, height=height, width=width, padding=(top, left, 0, right))
        self.stager = Stager(self.ins, self.x, padded, self.shape.x_zero, dtype=self.conv.x_dtype)

        def chunk(index: Expr) -> None:
            first, last = (make_opaque(tirx.truncdiv(part * groups, chunks) * rows) for part in (index, index + 1))
            self._dynamic_chunk(first, make_opaque(T.min(last, tiles)))

        with T.If(T.And(T.And(out_height > 0, out_width > 0), tiles > 0)), T.Then():
            with T.parallel(0, chunks) as index:
                chunk(index)

    def _count(self, tiles: Expr, groups: Expr, parts: Expr) -> Expr:
        """Chunks; parts: as many as have copies that fit the cache."""
        for_one = self.scheme.positions * self.conv.channels * self.conv.filters
        shared = T.Select(tiles < -(-SERIAL_PRODUCTS // for_one), 1, CHUNKS[0])
        enough = T.max(tirx.truncdiv(tiles, const(CHUNK_TILES)), 1)
        return bind(T.max(T.min(T.min(T.max(shared, parts), enough), groups), 1))

    def _dynamic_chunk(self, begin: Expr, end: Expr) -> None:
        pitch = self.shape.position_pitch(self.shape.block)
        values = workspace(self.scheme.positions * pitch, "int16")
        source, origin = self._stage_rows(begin, end)

        def block(low: Expr, high: Expr) -> None:
            inputs = WinogradInputs(values, pitch, low)
            self._transform(inputs, source, origin, low, high)
            self._products(inputs, low, high, (0, self.shape.panels))

        self._blocks(begin, end, block)

    def _stage_rows(self, begin: Expr, end: Expr) -> tuple[Buffer, Expr]:
        """Copy of the rows that tiles begin .. end read, with borders, and the element of a whole copy it starts
        with."""
        target = workspace(self.copy_size, self.conv.x_dtype)
        first = make_opaque(self._first_row(begin))
        count = make_opaque(self._first_row(end - 1) + self.scheme.points - first)
        self.stager.dynamic_rows(target, first, count, self.extents.padded_height, self.extents.row_pitch)
        return target, make_opaque(first * self.extents.row_pitch)

    def _blocks(self, begin: Expr, end: Expr, body: Callable[[Expr, Expr], None]) -> None:
        """body(low, high) for nearly equal blocks of whole register tiles."""
        rows, most = self.shape.rows, self.shape.block // self.shape.rows
        groups = make_opaque(tirx.truncdiv(end - begin + (rows - 1), const(rows)))
        parts = make_opaque(tirx.truncdiv(groups + (most - 1), const(most)))
        with T.serial(0, parts) as part:
            low, high = (begin + tirx.truncdiv(index * groups, parts) * rows for index in (part, part + 1))
            body(make_opaque(low), make_opaque(T.min(high, end)))

    def _register_tiles(self, count: Expr) -> list[tuple[Expr, int, Expr]]:
        rows = self.shape.rows
        few = max(rows // 3, 1)
        whole = bind(tirx.truncdiv(count + (rows - rows // 2 - 1), const(rows)))
        rest = T.max(count - whole * rows, 0)
        whole, parts = make_opaque(whole), make_opaque(tirx.truncdiv(rest + (few - 1), const(few)))
        return [(0, rows, whole), (whole * rows, few, parts)]

    def _steps(self, begin: Expr, end: Expr, panels: tuple[Expr, Expr]) -> None:
        """Steps over the codes of neighbouring tiles at once: whole vectors, also of few channels."""
        if not self.plan.steps:
            return
        extents, size, filters = self.extents, self.scheme.tile, self.conv.filters
        steps, y, wide = self.plan.code_steps(self.ins, self.buffers), self.buffers["y"], extents.tiles_wide
        first = keep_quotient(begin, wide)
        with T.serial(0, keep_quotient(end - 1, wide) + 1 - first) as index:
            line = make_opaque(first + index)
            left = make_opaque(T.max(begin - line * wide, 0) * size)
            right = T.min(T.min(end - line * wide, wide) * size, extents.out_width)
            count = make_opaque((right - left) * filters)
            picture, row, _ = self._place(bind(line * wide))
            with T.serial(0, size) as i, run_if_inside(extents.out_height, size, row * size + i):
                pixel = make_opaque((picture * extents.out_height + row * size + i) * extents.out_width + left)
                steps.run_any(y, bind(pixel * filters), count)


def dynamic_winograd(
    shape: WinogradShape, sizes: Shape, weight: np.ndarray, bias: np.ndarray, epilogue: Epilogue
) -> Kernel:
    """Kernel as make_winograd.

    shape   of usual sizes
    sizes   batch, rows and columns of x, then of y: numbers, and names of what only a run tells
    """
    top, left, bottom, right = shape.conv.padding
    high, wide = (side * shape.scheme.tile + 2 for side in MANY)
    many = replace(shape.conv, batch=1, height=high - top - bottom, width=wide - left - right)
    best = shape_for(many, shape.ins, shape.x_zero, shape.scheme)
    shape = replace(shape, rows=best.rows, columns=best.columns, block=max(MOST_TILES // best.rows, 1) * best.rows)
    return make_winograd(shape, weight, bias, epilogue, partial(DynamicWinogradLoops, sizes=sizes))
