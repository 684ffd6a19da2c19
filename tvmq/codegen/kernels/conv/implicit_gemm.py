"""The loops of a convolution as an implicit matrix product (implicit GEMM), whatever is multiplied: what conv2d and
conv2d_float share.

Loops      parallel chunk (some pixels x some panels): copy of the input if one is needed (see staging),
           panel, tile (see tiling), kernel row, step
Reads      a window is one run of memory for each kernel row (each tap if dilated or grouped): no im2col
Padding    taps that lie in a border of zeros are left out, where they are many (see remainder_taps)
Nibbles    weights of 4 bits are unpacked panel by panel, once for all tiles; for a single tile as they are read
A subclass gives the parameters (`prim_func`), what becomes of the sums (`store`), and what follows a chunk

Tests: tests/codegen/kernels/conv/test_matmul.py
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.conv.remainder_taps import (
    OutputRows,
    copy_remainders,
    first_remainder,
    kernel_rows,
    places_of,
)
from tvmq.codegen.kernels.conv.shape import ConvShape, ConvTile, choose_chunks, share
from tvmq.codegen.kernels.conv.staging import SLACK, Stager, add_pair, duplicate_sums, part_pixels
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    Shape,
    bind,
    branch,
    ceildiv,
    load,
    minimum,
    over_range,
    prefetch,
    quotient,
    remainder,
    store,
    store_first,
    vector_type,
    widen_index,
    workspace,
)
from tvmq.codegen.kernels.parts.packing import Nibbles, PanelRun, panel_runs
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.tiling import Tiling

CACHE_LINE = 64
# buffer that windows are read from, the element of the input it starts with, and what is read beside (see ConvTile)
Staged = tuple[Buffer, Expr, tuple[Buffer, Expr] | None]
TileBody = Callable[[Expr, int, Expr], None]
TilesLoop = Callable[[TileBody], None]


class ConvLoops(Template):
    """The body of one convolution; see the head of this file.

    sum_dtype       type of the sums and of the bias they start with
    x, weight, ...  flat buffers, set by a subclass before `body`
    pixels          number of output pixels; an expression, set before `body`, for products of dynamic rows
    """

    x: Buffer
    weight: Buffer
    bias: Buffer
    y: Buffer

    def __init__(
        self,
        name: str,
        shape: ConvShape,
        tiling: Tiling,
        sum_dtype: str,
        buffer_shapes: tuple[Shape, Shape] | None,
        nibbles: Nibbles | None = None,
    ) -> None:
        conv = shape.conv
        self.nibbles = nibbles
        self.name, self.shape, self.tiling, self.sum_dtype = name, shape, tiling, sum_dtype
        self.conv, self.ins = conv, shape.ins
        self.buffer_shapes = buffer_shapes or (
            (conv.batch, conv.height, conv.width, conv.channels),
            conv.out_shape,
        )
        self.panel_runs = panel_runs(tiling.panel_parts, shape.group_filters, self.ins.lanes)
        self.has_dynamic_shape = any(isinstance(size, str) for size in self.buffer_shapes[0])
        self.pixels: Expr = tiling.pixels
        self.least_pixels = 1  # of a chunk of dynamic size, in the code that is being written
        self.chunks = choose_chunks(shape, tiling)
        if self.has_dynamic_shape:
            self.chunks = replace(self.chunks, pixel_chunks=1)
        # elements of one step of one vector of weights
        self.vector = self.ins.lanes * self.ins.taps

    def body(self, function: FunctionBuilder) -> None:
        chunks = self.chunks
        if self.has_dynamic_shape:
            self.pixels = function.count(self.buffer_shapes[0][:-1])
            # whole tiles, or pixels one by one where they are too few
            rows = self.tiling.rows
            branch(self.pixels >= rows, lambda: self._dynamic_tiles(rows), lambda: self._dynamic_tiles(1))
            return
        # With several chunks of panels one copy serves all, made before the parallel loop; else each chunk copies what
        # it reads itself, so that the copy is still in the cache of the core that reads it
        pixels = self.tiling.pixels
        staged = self._stage(0, pixels, [(0, pixels)]) if self.shape.is_copied and chunks.panel_chunks > 1 else None
        if chunks.count == 1:
            self._chunk(0, 0, staged)
            return
        with T.parallel(0, chunks.count) as index:
            # pixels run fastest, so that a thread stays on its panels
            pixel_chunk = bind(T.floormod(index, chunks.pixel_chunks))
            panel_chunk = bind(T.floordiv(index, chunks.pixel_chunks))
            self._chunk(pixel_chunk, panel_chunk, staged)

    def _dynamic_tiles(self, rows: int) -> None:
        """Tiles of so many pixels, the last one shifted back; chunks of panels in parallel."""
        self.least_pixels = rows
        chunks, tiles = self.chunks, ceildiv(self.pixels, rows)
        source, beside = self._stage_dynamic(rows)

        def over_tiles(tile: TileBody) -> None:
            with T.serial(0, tiles) as index:
                tile(bind(T.min(index * rows, self.pixels - rows)), rows, index)

        def chunk(index: Expr) -> None:
            panels = share(self.tiling.panels, chunks.panel_chunks, index)
            self.over_panels(panels, (source, 0, beside), 0, over_tiles)
            self.finish_chunk(0, self.pixels, panels)

        if chunks.panel_chunks == 1:
            chunk(0)
            return
        with T.parallel(0, chunks.panel_chunks) as index:
            chunk(index)

    def _chunk(self, pixel_chunk: Expr, panel_chunk: Expr, staged: Staged | None) -> None:
        tiling, chunks = self.tiling, self.chunks
        tiles = share(tiling.tiles, chunks.pixel_chunks, pixel_chunk)
        panels = share(tiling.panels, chunks.panel_chunks, panel_chunk)
        begin, end = (bind(tiling.first_pixel(tile)) for tile in tiles)
        if self.shape.is_copied and staged is None:
            staged = self._stage(begin, end, self.chunks.pixel_ranges)
        tiling = self.tiling

        def over_tiles(tile: TileBody) -> None:
            def tile_from(pixel: Expr, rows: int, index: Expr) -> None:
                tile(bind(minimum(pixel, tiling.pixels - rows) if tiling.shifted else pixel), rows, index)

            over_range(list(tiling.pixel_parts), *tiles, tile_from)

        with T.serial(0, self.conv.groups) as group:
            self.over_panels(panels, staged or (self.x, 0, None), group, over_tiles)
        self.finish_chunk(begin, end, panels)

    def over_panels(self, panels: tuple[Expr, Expr], staged: Staged, group: Expr, over_tiles: TilesLoop) -> None:
        """Compute some panels; over_tiles(tile) calls tile(first pixel, rows, index) for all tiles of each."""
        for run in self.panel_runs:
            self._panels(run, panels, staged, group, over_tiles)

    def _panels(
        self, run: PanelRun, panels: tuple[Expr, Expr], staged: Staged, group: Expr, over_tiles: TilesLoop
    ) -> None:
        """Compute those that are panels of a run."""
        source, origin, beside = staged
        has_tiles = self.has_dynamic_shape or self.tiling.tiles > 1

        def panel(offset: Expr, _columns: int, _index: Expr) -> None:
            vector = bind(offset + run.vector)
            weights = self._unpacked_panel(group, vector, run.columns) if has_tiles else None

            def tile(pixel: Expr, rows: int, index: Expr) -> None:
                self._tile(ConvTile(source, origin, pixel, rows, index, group, vector, run, weights, beside))

            over_tiles(tile)

        over_range([(run.columns, run.count)], panels[0] - run.panel, panels[1] - run.panel, panel)

    def _stage(self, begin: Expr, end: Expr, ranges: list[tuple[int, int]]) -> Staged:
        """Copies of what output pixels begin .. end read; ranges: all that these can be."""
        shape = self.shape
        target, origin = self._copy(Stager(self.ins, self.x, self.conv, shape.x_zero), begin, end, ranges)
        if shape.remainders is None:
            return target, origin, None
        lines = OutputRows(self.conv.out_width, begin, end, ranges)
        remainders = copy_remainders(
            self.ins, shape.remainders, target, shape.row_pitch, lines, lambda pixel: self._window(pixel, 0) - origin
        )
        return target, origin, (remainders, lines.first)

    def _copy(self, stager: Stager, begin: Expr, end: Expr, ranges: list[tuple[int, int]]) -> tuple[Buffer, Expr]:
        """The copy of a stager, and the element of the whole (padded) input that it starts with."""
        shape, channels = self.shape, self.conv.channels
        if shape.is_pointwise:
            sizes = [high - low for low, high in ranges]
            target = workspace(max(sizes) * channels + SLACK, stager.dtype)
            stager.pixels(target, begin, end, min(sizes))
            return target, bind(begin * channels)
        rows = max(self._end_row(high) - self._first_row(low) for low, high in ranges)
        target = workspace(rows * shape.row_pitch + SLACK, stager.dtype)
        first = bind(self._first_row(begin))
        stager.rows(target, first, bind(self._end_row(end) - first))
        return target, bind(first * shape.row_pitch)

    def _stage_dynamic(self, rows: int) -> tuple[Buffer, tuple[Buffer, Expr] | None]:
        """Stage as many pixels as a run brings, at least `rows`; the result as that of `_stage`."""
        if not self.shape.is_staged:
            return self.x, None
        return self._copy_dynamic(Stager(self.ins, self.x, self.conv, self.shape.x_zero), rows), None

    def _copy_dynamic(self, stager: Stager, rows: int) -> Buffer:
        target = workspace(self.pixels * self.conv.channels + SLACK, stager.dtype)
        stager.pixels(target, 0, self.pixels, rows)
        return target

    def _add_rests(self, tile: ConvTile, sums: list[list[Register]], next_panel: Expr | None) -> None:
        """The steps behind those of all kernel rows."""
        remainders = self.shape.remainders
        if remainders is None or tile.beside is None:
            return
        source, first_row = tile.beside
        starts = [bind(first_remainder(remainders, tile.pixel + row, first_row)) for row in range(tile.rows)]
        with T.serial(0, remainders.steps) as step:
            # `_run` counts the step in
            windows = [start + step * (remainders.line - remainders.taps) for start in starts]
            part = (step, 1, tuple(range(tile.rows)))
            self._run(replace(tile, source=source), sums, windows, self.conv.kernel[0], next_panel, part)

    def _first_row(self, pixel: Expr) -> Expr:
        """First row that an output pixel reads; rows of all padded pictures are counted through."""
        conv = self.conv
        row = quotient(pixel, conv.out_width)
        if conv.batch == 1:
            return row * conv.strides[0]
        image = quotient(row, conv.out_height)
        return image * self.shape.padded_height + remainder(row, conv.out_height) * conv.strides[0]

    def _end_row(self, end: Expr) -> Expr:
        """Row behind the last one that output pixel end - 1 reads."""
        return self._first_row(end - 1) + (self.conv.kernel[0] - 1) * self.conv.dilation[0] + 1

    def _window(self, pixel: Expr, group: Expr) -> Expr:
        """Element of the whole (padded) input at which the window of an output pixel starts."""
        conv, shape = self.conv, self.shape
        channel = group * shape.group_channels if conv.groups > 1 else 0
        if not shape.line:
            return pixel * conv.channels + channel
        column = remainder(pixel, conv.out_width) * (conv.strides[1] * conv.channels)
        return self._first_row(pixel) * shape.row_pitch + column + channel

    def _starts(self, tile: ConvTile) -> list[Expr]:
        """Starts of the windows of a tile's pixels, in the buffer that the tile reads."""
        return [bind(self._window(tile.pixel + row, tile.group) - tile.origin) for row in range(tile.rows)]

    def _tile(self, tile: ConvTile) -> None:
        """Sums of rows x columns, then codes."""
        shape, conv = self.shape, self.conv
        sums = self._initial_sums(tile)
        starts = self._starts(tile)
        next_panel = self._next_panel(tile)
        places = places_of(conv, self.tiling.pixel_parts) if shape.skips_columns else []
        if not places:
            self._accumulate(tile, sums, starts, next_panel, [(0, shape.run_steps, tuple(range(tile.rows)))])
        for first, stretches in places:
            steps = conv.channels // self.ins.taps
            parts = [(begin * steps, (end - begin) * steps, rows) for begin, end, rows in stretches]
            here = nullcontext() if len(places) == 1 else T.If(remainder(tile.pixel, conv.out_width) == first)
            with here, nullcontext() if len(places) == 1 else T.Then():
                self._accumulate(tile, sums, starts, next_panel, parts)
        self._add_rests(tile, sums, next_panel)
        if self.ins.row_step == 2:
            part_pixels(self.ins, sums)
        self.store(tile, sums)

    def _accumulate(
        self,
        tile: ConvTile,
        sums: list[list[Register]],
        starts: list[Expr],
        next_panel: Expr | None,
        parts: list[tuple[int, int, tuple[int, ...]]],
    ) -> None:
        """Add all runs to the sums; parts: first step of a run, number of steps, and the pixels that have them."""
        shape, conv, runs = self.shape, self.conv, self.shape.runs_per_row
        first, count = kernel_rows(conv, tile.pixel, tile.rows) if shape.skips_rows else (0, conv.kernel[0])
        with T.serial(0, count) as index:
            kernel_row = bind(first + index) if shape.skips_rows else index
            offset = bind(kernel_row * (conv.dilation[0] * shape.row_pitch))
            if runs == 1:
                windows = [start + offset for start in starts]
                for part in parts:
                    self._run(tile, sums, windows, kernel_row, next_panel, part)
            else:
                with T.serial(0, runs) as column:
                    inside = bind(offset + column * (conv.dilation[1] * conv.channels))
                    windows = [start + inside for start in starts]
                    self._run(tile, sums, windows, kernel_row * runs + column, next_panel, parts[0])

    def _initial_sums(self, tile: ConvTile) -> list[list[Register]]:
        lanes, columns = self.ins.lanes, tile.panel.columns
        channel = (tile.group * self.shape.vectors + tile.vector) * lanes
        kind = vector_type(self.sum_dtype, lanes)
        bias = [load(self.bias, channel + column * lanes, kind) for column in range(columns)]
        step = self.ins.row_step  # of two pixels at a time the second may be none
        rows = -(-tile.rows // step) * step
        sums = [[Register(self.sum_dtype, lanes) for _ in range(columns)] for _ in range(rows)]
        if step == 2:
            bias_pairs = [duplicate_sums(self.ins, value) for value in bias]
        for number, row in enumerate(sums):
            for column, register in enumerate(row):
                register.set(bias[column] if step == 1 else bias_pairs[column][number % 2])
        return sums

    def _run(
        self,
        tile: ConvTile,
        sums: list[list[Register]],
        windows: list[Expr],
        number: Expr,
        next_panel: Expr | None,
        part: tuple[Expr, int, tuple[int, ...]],
    ) -> None:
        """Add a part of one run of every window to the sums: all steps of the innermost loop."""
        # A step multiplies `taps` neighbouring inputs of each window with `columns` vectors of weights:
        #
        #                          w0       w1            weights of a panel: [step][column][lane][tap], read once
        #     window of pixel 0    s00      s01           for all pixels of the tile
        #     window of pixel 1    s10      s11           s[row][column][lane] += x[row] . w[column][lane]
        #     window of pixel 2    s20      s21           x: the same taps in all lanes
        #
        # rows + columns reads for rows * columns dots, whose sums never leave registers: so tiles are as large as the
        # register file. Weights go on from run to run (`number`), inputs start anew: `windows` has their beginnings.
        shape, ins, columns = self.shape, self.ins, tile.panel.columns
        first, steps, rows = part
        # int64, or LLVM would sign-extend the address of each activation at each step
        reads = [widen_index(window + first * ins.taps) for window in windows]
        run_begin = bind(number * shape.run_steps + first)
        panel = bind(self._first_weight(tile) + run_begin * (columns * self.vector))
        with T.serial(0, steps) as step:
            if next_panel is not None:
                # steps are counted through all runs, so that each step of the tile fetches another line of its share
                line = next_panel + (run_begin + step) * self._line
                prefetch(self.weight, line if self.nibbles is None else quotient(line, 2))
            begin = panel + step * (columns * self.vector)
            weights = [
                self._weights(tile, begin + column * self.vector, column, run_begin + step) for column in range(columns)
            ]
            places = [read + T.Cast("int64", step * ins.taps) for read in reads]
            for row in rows[:: ins.row_step]:
                if ins.row_step == 2:  # the partner of an odd last pixel is that pixel again; its sums are not stored
                    pair = (places[row], places[min(row + 1, tile.rows - 1)])
                    add_pair(ins, sums[row : row + 2], tile.source, pair, weights)
                    continue
                x = ins.broadcast(tile.source, places[row])
                for column in range(columns):
                    register = sums[row][column]
                    register.set(ins.dot(register.get(), x, weights[column]))

    def _first_weight(self, tile: ConvTile) -> Expr:
        """Offset of the weights of a tile in the buffer that they are read from."""
        shape = self.shape
        return 0 if tile.weights is not None else (tile.group * shape.vectors + tile.vector) * shape.steps * self.vector

    def _weights(self, tile: ConvTile, offset: Expr, column: int, step: Expr) -> Expr:
        """A vector of weights of a tile, in the type that `dot` takes."""
        if tile.weights is None and self.nibbles is not None:
            return self.unpack(offset, tile.group * self.shape.vectors + tile.vector + column, step)
        source = self.weight if tile.weights is None else tile.weights
        return load(source, offset, vector_type(self.ins.w_dtype, self.vector))

    def unpack(self, offset: Expr, _vector: Expr, _step: Expr) -> Expr:
        """The weights from weight `offset`, which belong to a vector of channels and a step of the reduction."""
        assert self.nibbles is not None
        return self.nibbles.vector(self.weight, offset)

    def _unpacked_panel(self, group: Expr, vector: Expr, columns: int) -> Buffer | None:
        """Copy of the weights of a panel as `dot` takes them; None where they are not packed."""
        if self.nibbles is None:
            return None
        shape = self.shape
        target = workspace(shape.steps * columns * self.vector, self.ins.w_dtype)
        channels = bind(group * shape.vectors + vector)
        first = bind(channels * (shape.steps * self.vector))
        with T.serial(0, shape.steps) as step:
            for column in range(columns):
                place = (step * columns + column) * self.vector
                store(target, place, self.unpack(first + place, channels + column, step), self.vector)
        return target

    @property
    def _line(self) -> int:
        """Weights of a cache line."""
        if self.nibbles is not None:
            return 2 * CACHE_LINE
        return int(CACHE_LINE // np.dtype(self.ins.w_dtype).itemsize)

    def _next_panel(self, tile: ConvTile) -> Expr | None:
        """First weight of the next panel that this tile fetches, a line a step; None for one panel."""
        shape, columns = self.shape, tile.panel.columns
        if self.tiling.panels * self.conv.groups == 1 or tile.weights is not None:
            return None
        # While the tiles of a panel are computed, they fetch the next one, a cache line in each step of each tile:
        #
        #     this panel   | columns * vector weights for each of `steps` steps                    |
        #     next panel   | share 0: `steps` lines | share 1: `steps` lines | ... | last share     |
        #                    by tile 0                by tile 1                    by all further tiles, again
        #
        # A step of a panel has columns * vector weights, so that a panel has ceil(columns * vector / line) shares. A
        # share that would leave the weights (the last panel has no next one, and its last share may be longer than
        # what is left) is moved back: fetched in vain, but from memory that exists.
        share = shape.steps * self._line
        shares = -(-columns * self.vector // self._line)
        total = self.conv.groups * shape.vectors * shape.steps * self.vector
        begin = (tile.group * shape.vectors + tile.vector + columns) * (shape.steps * self.vector)
        return bind(minimum(begin + minimum(tile.index, shares - 1) * share, max(total - share, 0)))

    def store_rows(self, tile: ConvTile, row: int, first: int, count: int, rows: int, values: Expr) -> None:
        """Values of `count` vectors of channels, from `first` of the panel, of `rows` pixels."""
        shape, filters, lanes = self.shape, self.conv.filters, self.ins.lanes
        width = count * lanes
        valid = min(width, tile.panel.channels - first * lanes)
        channel = tile.group * shape.group_filters + (tile.vector + first) * lanes
        offset = bind((tile.pixel + row) * filters + channel)
        if valid == filters == width:
            store_first(self.y, offset, values, rows * width, rows * width)
        elif valid > 0:
            for i in range(rows):
                store_first(self.y, offset + i * filters, values, rows * width, valid, i * width)

    def store(self, tile: ConvTile, sums: list[list[Register]]) -> None:
        """Finish the sums of a tile and write them, by `store_rows`."""
        raise NotImplementedError

    def finish_chunk(self, begin: Expr, end: Expr, panels: tuple[Expr, Expr]) -> None:
        """Work on the output of pixels begin .. end while it is in cache; nothing unless overridden."""
