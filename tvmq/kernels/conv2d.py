"""conv2d: uint8 or int8 x int8 -> int32 -> codes, NHWC, an implicit matrix product, for every CPU.

Computes   numerics.conv, then the epilogue (numerics.requantize, add, table), bit for bit
Layouts    x NHWC, weights packed (see packing), output NHWC
Needs      partial sums within int32 (numerics.check_accumulator); bias already holds -x_zero * sum(weights)
Loops      parallel chunk (some pixels x some panels): copy of the input if one is needed (see staging),
           panel, tile (see tiling), kernel row, step; then the steps over codes while the chunk is in cache
Registers  rows x columns sums + columns weights + 1 activations; 6 x 4 + 4 + 1 of 32 on AVX-512
Reads      a window is one run of memory for each kernel row (each tap if dilated or grouped): no im2col;
           no copy either for unpadded uint8 on VNNI where runs are whole steps
Fallback   the same template on instruction set "generic": plain TIR
Measured   benchmarks/kernels.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq import numerics
from tvmq.errors import BuildError
from tvmq.kernels.builder import (
    Buffer,
    Expr,
    Function,
    Register,
    bind,
    flat,
    load,
    minimum,
    over_range,
    prefetch,
    quotient,
    remainder,
    store_first,
    vector_type,
    wide,
    workspace,
)
from tvmq.kernels.conv_shape import ConvShape, choose_chunks
from tvmq.kernels.epilogue import EpiloguePlan, plan_epilogue
from tvmq.kernels.isa import instructions
from tvmq.kernels.packing import (
    PanelRun,
    channel_slots,
    pack_channels,
    pack_weights,
    panel_pieces,
    panel_runs,
)
from tvmq.kernels.staging import SLACK, Stager
from tvmq.kernels.tiling import Tiling, choose_tiling
from tvmq.kernels.types import Conv2d, Epilogue, Isa, Kernel

CACHE_LINE = 64


def conv2d(conv: Conv2d, weight: np.ndarray, bias: np.ndarray, x_zero: int, epilogue: Epilogue, isa: Isa) -> Kernel:
    """Kernel of a convolution; parameters x, the b of each Add, constants, y.

    weight    int8 [filters, channels / groups, kernel rows, kernel columns]
    bias      int32 [filters], with -x_zero * sum(weights) already in it
    x_zero    code that padding is filled with
    epilogue  () for int32 sums, else a requantize step and any Add and Table steps
    raises    BuildError for shapes, types or steps that do not fit
    """
    check_operands("conv2d", conv, weight, bias)
    shape = ConvShape(conv, instructions(isa), x_zero)
    tiling = choose_tiling(shape.product, shape.ins)
    return make_kernel("conv2d", shape, tiling, weight, bias, epilogue)


def make_kernel(
    template: str,
    shape: ConvShape,
    tiling: Tiling,
    weight: np.ndarray,
    bias: np.ndarray,
    epilogue: Epilogue,
    buffers: tuple[tuple[int, ...], tuple[int, ...]] | None = None,
) -> Kernel:
    """Kernel with a given tiling; buffers: shapes of x and y if they are not NHWC."""
    conv = shape.conv
    low, high = (0, 255) if conv.x_dtype == "uint8" else (-128, 127)
    bound = int(numerics.accumulator_bound(weight, low, high, bias).max(initial=0))
    plan = plan_epilogue(epilogue, bound)
    slots = channel_slots(tiling.panel_parts, shape.ins, permuted=plan.requantizer is not None)

    def pack(values: np.ndarray) -> np.ndarray:
        return pack_channels(np.broadcast_to(np.ravel(values), conv.filters), conv.groups, slots)

    packed = pack_weights(weight, conv.groups, shape.run, slots, tiling.panel_parts, shape.ins)
    constants = (packed, pack(_shifted_bias(shape, weight, bias)), *plan.constants(pack))
    name = f"{template}_{shape.ins.name}_{tiling.rows}x{tiling.columns}"
    func = _Template(name, shape, tiling, plan, buffers).prim_func()
    return Kernel(name, func, constants, (name, shape.key, tiling, plan.key, buffers))


def check_operands(template: str, conv: Conv2d, weight: np.ndarray, bias: np.ndarray) -> None:
    """Refuse what is no convolution, or not of the types that the template multiplies, with a BuildError."""
    if conv.channels % conv.groups or conv.filters % conv.groups or min(conv.out_shape) < 1:
        raise BuildError(
            f"kernels, {template}: {conv.channels} channels, {conv.filters} filters, {conv.groups} groups "
            f"and output {conv.out_shape}: no convolution; groups must divide both, windows must fit"
        )
    if conv.x_dtype not in ("uint8", "int8") or weight.dtype != np.int8 or bias.dtype != np.int32:
        raise BuildError(
            f"kernels, {template}: input must be uint8 or int8, weights int8 and bias int32. "
            f"Got {conv.x_dtype}, {weight.dtype} and {bias.dtype} instead"
        )
    expected = (conv.filters, conv.channels // conv.groups, *conv.kernel)
    if weight.shape != expected or bias.shape != (conv.filters,):
        raise BuildError(
            f"kernels, {template}: weights must have shape {expected} and bias ({conv.filters},). "
            f"Got {weight.shape} and {bias.shape} instead"
        )


def _shifted_bias(shape: ConvShape, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Bias for activations as `dot` takes them: int8 codes arrive as q + 128 where it wants uint8."""
    if not (shape.conv.x_dtype == "int8" and shape.ins.x_dtype == "uint8"):
        return bias
    # may wrap: vpdpbusd adds modulo 2^32, and the sum itself fits
    return (bias.astype(np.int64) - 128 * weight.astype(np.int64).sum(axis=(1, 2, 3))).astype(np.int32)


@dataclass(frozen=True, eq=False)
class _Tile:
    """Where a tile stands.

    source, origin  flat buffer that windows are read from, and the element of the input it starts with
    pixel, rows     first output pixel and their number
    index           number of the tile in its chunk
    group           of the convolution
    vector          first vector of output channels in the group
    panel           kind of the panel
    """

    source: Buffer
    origin: Expr
    pixel: Expr
    rows: int
    index: Expr
    group: Expr
    vector: Expr
    panel: PanelRun


class _Template:
    """The PrimFunc of one convolution."""

    def __init__(
        self,
        name: str,
        shape: ConvShape,
        tiling: Tiling,
        plan: EpiloguePlan,
        buffer_shapes: tuple[tuple[int, ...], tuple[int, ...]] | None,
    ) -> None:
        conv = shape.conv
        self.name, self.shape, self.tiling, self.plan = name, shape, tiling, plan
        self.conv, self.ins = conv, shape.ins
        self.buffer_shapes = buffer_shapes or (
            (conv.batch, conv.height, conv.width, conv.channels),
            conv.out_shape,
        )
        self.panel_runs = panel_runs(tiling.panel_parts, shape.group_filters, self.ins.lanes)
        self.chunks = choose_chunks(shape, tiling)
        # elements of one step of one vector of weights
        self.vector = self.ins.lanes * self.ins.taps

    def prim_func(self) -> Any:
        """See the head of this file."""
        shape, plan = self.shape, self.plan
        x_shape, y_shape = self.buffer_shapes
        channels = self.conv.groups * shape.vectors * self.ins.lanes
        parameters = {"x": (x_shape, self.conv.x_dtype)} | plan.data_parameters(y_shape)
        parameters["weight"] = ((channels * shape.steps * self.ins.taps,), self.ins.w_dtype)
        parameters["bias"] = ((channels,), "int32")
        parameters |= plan.constant_parameters(channels)
        parameters["y"] = (y_shape, plan.out_dtype)
        with Function(self.name, parameters) as function:
            self.buffers = dict(zip(parameters, function.buffers, strict=True))
            self.x, self.weight, self.bias = (flat(self.buffers[name]) for name in ("x", "weight", "bias"))
            self.y = flat(self.buffers["y"], plan.dtypes[0])
            names = () if plan.requantizer is None else plan.requantizer.parameters(channels)
            self.channel_constants = [flat(self.buffers[name]) for name in names]
            self._body()
        return function.prim_func

    def _body(self) -> None:
        chunks = self.chunks
        # with several chunks of panels one copy serves all; else each chunk copies what it reads
        staged = self._stage_all() if self.shape.staged and chunks.panel_chunks > 1 else None
        if chunks.count == 1:
            self._chunk(0, 0, staged)
            return
        with T.parallel(0, chunks.count) as index:
            # pixels run fastest, so that a thread stays on its panels
            pixel_chunk = bind(T.floormod(index, chunks.pixel_chunks))
            panel_chunk = bind(T.floordiv(index, chunks.pixel_chunks))
            self._chunk(pixel_chunk, panel_chunk, staged)

    def _chunk(self, pixel_chunk: Expr, panel_chunk: Expr, staged: Buffer | None) -> None:
        tiling, chunks = self.tiling, self.chunks
        tiles = _share(tiling.tiles, chunks.pixel_chunks, pixel_chunk)
        panels = _share(tiling.panels, chunks.panel_chunks, panel_chunk)
        begin, end = (bind(tiling.first_pixel(tile)) for tile in tiles)
        source, origin = (self.x if staged is None else staged), 0
        if self.shape.staged and staged is None:
            source, origin = self._stage_chunk(begin, end)
        with T.serial(0, self.conv.groups) as group:
            for run in self.panel_runs:
                self._panels(run, tiles, panels, source, origin, group)
        self._code_steps(begin, end, panels)

    def _panels(
        self,
        run: PanelRun,
        tiles: tuple[Expr, Expr],
        panels: tuple[Expr, Expr],
        source: Buffer,
        origin: Expr,
        group: Expr,
    ) -> None:
        """The panels of a run that belong to a chunk."""
        tiling = self.tiling

        def panel(offset: Expr, _columns: int, _index: Expr) -> None:
            vector = bind(offset + run.vector)

            def tile(pixel: Expr, rows: int, index: Expr) -> None:
                first = minimum(pixel, tiling.pixels - rows) if tiling.shifted else pixel
                self._tile(_Tile(source, origin, bind(first), rows, index, group, vector, run))

            over_range(list(tiling.pixel_parts), *tiles, tile)

        over_range([(run.columns, run.count)], panels[0] - run.panel, panels[1] - run.panel, panel)

    def _stage_all(self) -> Buffer:
        """Copy of the whole input."""
        shape, conv = self.shape, self.conv
        stager = Stager(self.ins, self.x, conv, shape.x_zero)
        if shape.pointwise:
            target = workspace(shape.pixels * conv.channels + SLACK, self.ins.x_dtype)
            stager.pixels(target, 0, shape.pixels, shape.pixels)
        else:
            rows = conv.batch * shape.padded_height
            target = workspace(rows * shape.row_pitch + SLACK, self.ins.x_dtype)
            stager.rows(target, 0, rows)
        return target

    def _stage_chunk(self, begin: Expr, end: Expr) -> tuple[Buffer, Expr]:
        """Copy of what output pixels begin .. end read, and the element of a whole copy it starts with."""
        shape, conv, dtype = self.shape, self.conv, self.ins.x_dtype
        stager = Stager(self.ins, self.x, conv, shape.x_zero)
        ranges = self.chunks.pixel_ranges
        if shape.pointwise:
            sizes = [high - low for low, high in ranges]
            target = workspace(max(sizes) * conv.channels + SLACK, dtype)
            stager.pixels(target, begin, end, min(sizes))
            return target, bind(begin * conv.channels)
        rows = max(self._end_row(high) - self._first_row(low) for low, high in ranges)
        target = workspace(rows * shape.row_pitch + SLACK, dtype)
        first = bind(self._first_row(begin))
        stager.rows(target, first, bind(self._end_row(end) - first))
        return target, bind(first * shape.row_pitch)

    def _first_row(self, pixel: Expr) -> Expr:
        """First row that an output pixel reads; rows of all padded pictures are counted through."""
        conv = self.conv
        row = quotient(pixel, conv.out_width)
        if conv.batch == 1:
            return row * conv.strides[0]
        image = quotient(row, conv.out_height)
        return image * self.shape.padded_height + remainder(row, conv.out_height) * conv.strides[0]

    def _end_row(self, end: Expr) -> Expr:
        """One beyond the last row that output pixel end - 1 reads."""
        return self._first_row(end - 1) + (self.conv.kernel[0] - 1) * self.conv.dilation[0] + 1

    def _window(self, pixel: Expr, group: Expr) -> Expr:
        """Element of the whole (padded) input at which the window of an output pixel starts."""
        conv, shape = self.conv, self.shape
        channel = group * shape.group_channels if conv.groups > 1 else 0
        if not shape.line:
            return pixel * conv.channels + channel
        column = remainder(pixel, conv.out_width) * (conv.strides[1] * conv.channels)
        return self._first_row(pixel) * shape.row_pitch + column + channel

    def _tile(self, tile: _Tile) -> None:
        """Sums of rows x columns, then codes."""
        shape, conv = self.shape, self.conv
        sums = self._initial_sums(tile)
        starts = [bind(self._window(tile.pixel + row, tile.group) - tile.origin) for row in range(tile.rows)]
        next_panel = self._next_panel(tile)
        runs = shape.runs_per_row
        with T.serial(0, conv.kernel[0]) as kernel_row:
            offset = bind(kernel_row * (conv.dilation[0] * shape.row_pitch))
            if runs == 1:
                self._run(tile, sums, [start + offset for start in starts], kernel_row, next_panel)
            else:
                with T.serial(0, runs) as column:
                    inside = bind(offset + column * (conv.dilation[1] * conv.channels))
                    windows = [start + inside for start in starts]
                    self._run(tile, sums, windows, kernel_row * runs + column, next_panel)
        self._store(tile, sums)

    def _initial_sums(self, tile: _Tile) -> list[list[Register]]:
        lanes, columns = self.ins.lanes, tile.panel.columns
        channel = (tile.group * self.shape.vectors + tile.vector) * lanes
        kind = vector_type("int32", lanes)
        bias = [load(self.bias, channel + column * lanes, kind) for column in range(columns)]
        sums = [[Register("int32", lanes) for _ in range(columns)] for _ in range(tile.rows)]
        for row in sums:
            for register, value in zip(row, bias, strict=True):
                register.set(value)
        return sums

    def _run(
        self,
        tile: _Tile,
        sums: list[list[Register]],
        windows: list[Expr],
        number: Expr,
        next_panel: Expr | None,
    ) -> None:
        """Add one run of every window to the sums: all steps of the innermost loop."""
        shape, ins, columns = self.shape, self.ins, tile.panel.columns
        reads = [wide(window) for window in windows]
        first = (tile.group * shape.vectors + tile.vector) * shape.steps * self.vector
        run_begin = bind(number * shape.run_steps)
        panel = bind(first + run_begin * (columns * self.vector))
        kind = vector_type(ins.w_dtype, self.vector)
        with T.serial(0, shape.run_steps) as step:
            if next_panel is not None:
                prefetch(self.weight, next_panel + (run_begin + step) * self._line)
            begin = panel + step * (columns * self.vector)
            weights = [load(self.weight, begin + column * self.vector, kind) for column in range(columns)]
            for row in range(tile.rows):
                x = ins.broadcast(tile.source, reads[row] + T.Cast("int64", step * ins.taps))
                for column in range(columns):
                    register = sums[row][column]
                    register.set(ins.dot(register.get(), x, weights[column]))

    @property
    def _line(self) -> int:
        """Weights of a cache line."""
        return int(CACHE_LINE // np.dtype(self.ins.w_dtype).itemsize)

    def _next_panel(self, tile: _Tile) -> Expr | None:
        """First weight of the next panel that this tile fetches, a line a step; None for one panel."""
        shape, columns = self.shape, tile.panel.columns
        if self.tiling.panels * self.conv.groups == 1:
            return None
        share = shape.steps * self._line
        shares = -(-columns * self.vector // self._line)
        total = self.conv.groups * shape.vectors * shape.steps * self.vector
        begin = (tile.group * shape.vectors + tile.vector + columns) * (shape.steps * self.vector)
        return bind(minimum(begin + minimum(tile.index, shares - 1) * share, max(total - share, 0)))

    def _store(self, tile: _Tile, sums: list[list[Register]]) -> None:
        """Sums of a tile to the output, as codes or as they are."""
        lanes, columns, requantizer = self.ins.lanes, tile.panel.columns, self.plan.requantizer
        if requantizer is None:
            for row in range(tile.rows):
                for column in range(columns):
                    self._store_rows(tile, row, column, 1, 1, sums[row][column].get())
            return
        channel = (tile.group * self.shape.vectors + tile.vector) * lanes
        buffers = self.channel_constants
        constants = [requantizer.load(buffers, channel + i * lanes, lanes) for i in range(columns)]
        for first, count in panel_pieces(columns):
            row = 0
            while row < tile.rows:
                # four vectors fill a vector of codes, so narrow pieces take several rows at once
                rows = 4 // count if row + 4 // count <= tile.rows else 1
                values = [sums[r][first + i].get() for r in range(row, row + rows) for i in range(count)]
                codes = requantizer.codes(self.ins, values, constants[first : first + count] * rows)
                if rows > 1:
                    codes = self.ins.rows_in_order(codes, count, requantizer.dtype)
                self._store_rows(tile, row, first, count, rows, codes)
                row += rows

    def _store_rows(self, tile: _Tile, row: int, first: int, count: int, rows: int, values: Expr) -> None:
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

    def _code_steps(self, begin: Expr, end: Expr, panels: tuple[Expr, Expr]) -> None:
        """Add and Table steps over what the chunk has written."""
        if not self.plan.steps:
            return
        filters, lanes, y = self.conv.filters, self.ins.lanes, self.buffers["y"]
        steps = self.plan.code_steps(self.ins, self.buffers)
        if self.chunks.panel_chunks == 1:
            least = min(high - low for low, high in self.chunks.pixel_ranges) * filters
            steps.run(y, bind(begin * filters), bind((end - begin) * filters), least)
            return
        channels = [bind(minimum(self.tiling.first_vector(panel) * lanes, filters)) for panel in panels]
        least = min(min(high * lanes, filters) - low * lanes for low, high in self.chunks.vector_ranges)
        with T.serial(begin, end) as pixel:
            steps.run(y, bind(pixel * filters + channels[0]), bind(channels[1] - channels[0]), least)


def _share(total: int, parts: int, index: Expr) -> tuple[Expr, Expr]:
    """Bounds of part `index` when `total` things are dealt to `parts`."""
    if parts == 1:
        return 0, total
    return bind(T.floordiv(index * total, parts)), bind(T.floordiv((index + 1) * total, parts))
