"""conv2d: uint8 or int8 x int8 -> int32 -> codes, NHWC, implicit matrix product, for every instruction set.

Computes   numerics.conv, then the epilogue (numerics.requantize, add, table), bit for bit
Layouts    x NHWC, weights packed (see packing), output NHWC
Needs      every partial sum within int32 (numerics.check_accumulator); bias already holds -x_zero * sum(weights)
Loops      parallel chunk (some pixels x some panels): copy of the input if one is needed (see staging),
           panel, tile (see tiling), kernel row, step; then the steps over codes while the chunk is in cache
Registers  rows x columns sums + columns weights + 1 activations; 6 x 4 + 4 + 1 of 32 on AVX-512
Reads      a window is one run of memory for each kernel row (for each kernel tap if dilated or grouped);
           no im2col, no copy for unpadded uint8 on VNNI with runs of whole steps
Fallback   the same template on instruction set "generic": plain TIR
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq import numerics
from tvmq.errors import BuildError
from tvmq.kernels.builder import Buffer, Expr, Function, Register, bind, flat, load, over_range, prefetch
from tvmq.kernels.builder import store_first, vector_type, workspace
from tvmq.kernels.epilogue import EpiloguePlan, plan_epilogue
from tvmq.kernels.isa import instructions
from tvmq.kernels.isa.generic import Instructions
from tvmq.kernels.packing import channel_slots, pack_channels, pack_weights, panel_pieces
from tvmq.kernels.staging import SLACK, Stager
from tvmq.kernels.tiling import Tiling, choose_tiling
from tvmq.kernels.types import Conv2d, Epilogue, Isa, Kernel

CHUNKS = 12  # of the work in all: divides evenly among 1, 2, 3, 4 and 6 threads
SERIAL_MACS = 2_000_000  # about 10 us of one core: below, a parallel region costs more than it gains
L2_BYTES = 512 * 1024
CACHE_LINE = 64


@dataclass(frozen=True)
class Shape:
    """What follows from a Conv2d and an instruction set: one product of pixels x run_steps x channels per group."""

    conv: Conv2d
    ins: Any
    x_zero: int

    @property
    def pixels(self) -> int:
        """Output pixels of all pictures."""
        return self.conv.batch * self.conv.out_height * self.conv.out_width

    @property
    def group_filters(self) -> int:
        """Output channels of a group."""
        return self.conv.filters // self.conv.groups

    @property
    def vectors(self) -> int:
        """Vectors of output channels of a group."""
        return -(-self.group_filters // self.ins.lanes)

    @property
    def whole_rows(self) -> bool:
        """True if a kernel row is one run of memory."""
        return self.conv.groups == 1 and (self.conv.dilation[1] == 1 or self.conv.kernel[1] == 1)

    @property
    def run(self) -> int:
        """Elements of a run."""
        channels = self.conv.channels // self.conv.groups
        return channels * self.conv.kernel[1] if self.whole_rows else channels

    @property
    def run_steps(self) -> int:
        """Steps of a run."""
        return -(-self.run // self.ins.taps)

    @property
    def steps(self) -> int:
        """Steps of the whole reduction."""
        runs = self.conv.kernel[0] * (1 if self.whole_rows else self.conv.kernel[1])
        return runs * self.run_steps

    @property
    def pointwise(self) -> bool:
        """True if each output pixel reads one input pixel that exists."""
        return self.conv.kernel == (1, 1) and self.conv.padding == (0, 0, 0, 0)

    @property
    def staged(self) -> bool:
        """True if the inner loop reads a copy of the input."""
        partial = self.run % self.ins.taps != 0
        return partial or any(self.conv.padding) or self.ins.x_dtype != self.conv.x_dtype

    @property
    def padded_height(self) -> int:
        """Rows of a picture as the inner loop sees it."""
        return self.conv.height + self.conv.padding[0] + self.conv.padding[2]

    @property
    def row_pitch(self) -> int:
        """Elements from one such row to the next."""
        return (self.conv.width + self.conv.padding[1] + self.conv.padding[3]) * self.conv.channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates."""
        depth = self.conv.kernel[0] * self.conv.kernel[1] * self.conv.channels // self.conv.groups
        return self.pixels * self.conv.filters * depth

    @property
    def key(self) -> tuple[Any, ...]:
        """What the code depends on."""
        return self.conv, self.ins.name, self.x_zero if any(self.conv.padding) else None


@dataclass(frozen=True)
class Chunks:
    """Division of the work among threads, the same for every number of threads.

    pixel_chunks  runs of tiles; panel_chunks  runs of panels
    """

    pixel_chunks: int
    panel_chunks: int

    @property
    def count(self) -> int:
        """All chunks."""
        return self.pixel_chunks * self.panel_chunks


def conv2d(
    conv: Conv2d, weight: np.ndarray, bias: np.ndarray, x_zero: int, epilogue: Epilogue, isa: Isa
) -> Kernel:
    """Kernel of a convolution.

    weight    int8 [filters, channels / groups, kernel rows, kernel columns]
    bias      int32 [filters], with -x_zero * sum(weights) already in it
    x_zero    code that padding is filled with
    epilogue  () for int32 sums, else a requantize step and any Add and Table steps
    raises    BuildError for shapes or types that do not fit
    """
    _check(conv, weight, bias)
    shape = Shape(conv, instructions(isa), x_zero)
    low, high = (0, 255) if conv.x_dtype == "uint8" else (-128, 127)
    bound = numerics.accumulator_bound(weight, low, high, bias)
    plan = plan_epilogue(epilogue, int(bound.max(initial=0)))
    tiling = choose_tiling(shape.pixels, shape.vectors, shape.steps, shape.ins)
    return make_kernel("conv2d", shape, tiling, plan, weight, bias)


def make_kernel(
    template: str, shape: Shape, tiling: Tiling, plan: EpiloguePlan, weight: np.ndarray, bias: np.ndarray
) -> Kernel:
    """Kernel with a given tiling."""
    name = f"{template}_{shape.ins.name}_{tiling.rows}x{tiling.columns}"
    slots = channel_slots(tiling.panel_parts, shape.ins, permuted=plan.requantizer is not None)
    groups = shape.conv.groups

    def pack(values: np.ndarray) -> np.ndarray:
        values = np.broadcast_to(np.ravel(values), shape.conv.filters)
        return pack_channels(values, groups, slots)

    packed = pack_weights(weight, groups, shape.run, slots, tiling.panel_parts, shape.ins)
    constants = (packed, pack(_shifted_bias(shape, weight, bias)), *plan.constants(pack))
    func = _Template(name, shape, tiling, plan).prim_func()
    return Kernel(name, func, constants, (template, shape.key, tiling, plan.key))


def _check(conv: Conv2d, weight: np.ndarray, bias: np.ndarray) -> None:
    expected = (conv.filters, conv.channels // conv.groups, *conv.kernel)
    if conv.x_dtype not in ("uint8", "int8") or weight.dtype != np.int8 or bias.dtype != np.int32:
        raise BuildError(
            f"kernels, conv2d: takes uint8 or int8 input, int8 weights and int32 bias. "
            f"Got {conv.x_dtype}, {weight.dtype} and {bias.dtype}"
        )
    if weight.shape != expected or bias.shape != (conv.filters,):
        raise BuildError(
            f"kernels, conv2d: weights must have shape {expected} and bias ({conv.filters},). "
            f"Got {weight.shape} and {bias.shape}"
        )
    if conv.channels % conv.groups or conv.filters % conv.groups or min(conv.out_shape) < 1:
        raise BuildError(
            f"kernels, conv2d: {conv.channels} channels and {conv.filters} filters in {conv.groups} groups "
            f"give an output of shape {conv.out_shape}; this is no convolution"
        )


def _shifted_bias(shape: Shape, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Bias for activations as `dot` takes them: int8 codes arrive as q + 128 where it wants uint8."""
    if not (shape.conv.x_dtype == "int8" and shape.ins.x_dtype == "uint8"):
        return bias
    # may wrap: vpdpbusd adds modulo 2^32, and the sum itself fits
    return (bias.astype(np.int64) - 128 * weight.astype(np.int64).sum(axis=(1, 2, 3))).astype(np.int32)


def choose_chunks(shape: Shape, tiling: Tiling) -> Chunks:
    """Chunks of pixels first; of panels where chunks of pixels would read much weight for few pixels."""
    if shape.macs < SERIAL_MACS:
        return Chunks(1, 1)
    weight_bytes = shape.vectors * shape.steps * shape.ins.vector_bytes
    # pixels that hide the reading of the next panel (measured on L2 and L3)
    enough = 48 if weight_bytes <= L2_BYTES else 96
    pixel_chunks = max(1, min(CHUNKS, tiling.pixels // enough, tiling.tiles // 2))
    panel_chunks = 1
    if shape.conv.groups == 1:
        panel_chunks = min(tiling.panels, -(-CHUNKS // pixel_chunks))
    return Chunks(pixel_chunks, panel_chunks)


class _Template:
    """The PrimFunc of one convolution."""

    def __init__(self, name: str, shape: Shape, tiling: Tiling, plan: EpiloguePlan) -> None:
        self.name, self.shape, self.tiling, self.plan = name, shape, tiling, plan
        self.conv, self.ins = shape.conv, shape.ins
        self.chunks = choose_chunks(shape, tiling)
        # with several chunks of panels the copy is made once for all, else each chunk copies what it reads
        self.shared_copy = shape.staged and self.chunks.panel_chunks > 1

    def prim_func(self) -> Any:
        """See the head of this file."""
        conv, channels = self.conv, self.conv.groups * self.shape.vectors * self.ins.lanes
        weights = channels * self.shape.steps * self.ins.taps
        parameters = {"x": ((conv.batch, conv.height, conv.width, conv.channels), conv.x_dtype)}
        parameters |= self.plan.data_parameters(conv.out_shape)
        parameters |= {"weight": ((weights,), self.ins.w_dtype), "bias": ((channels,), "int32")}
        parameters |= self.plan.constant_parameters(channels)
        parameters["y"] = (conv.out_shape, self.plan.out_dtype)
        with Function(self.name, parameters) as function:
            self.buffers = dict(zip(parameters, function.buffers, strict=True))
            self.x, self.weight, self.bias = (flat(self.buffers[name]) for name in ("x", "weight", "bias"))
            self.y = flat(self.buffers["y"], self.plan.dtypes[0])
            requantizer = self.plan.requantizer
            names = () if requantizer is None else requantizer.parameters(channels)
            self.channel_constants = [flat(self.buffers[name]) for name in names]
            self._body()
        return function.prim_func

    def _body(self) -> None:
        chunks = self.chunks
        staged = self._stage_all() if self.shared_copy else None
        if chunks.count == 1:
            self._chunk(0, 0, staged)
            return
        with T.parallel(0, chunks.count) as index:
            # pixels run fastest: a thread stays on its panels
            pixel_chunk = bind(T.floormod(index, chunks.pixel_chunks))
            panel_chunk = bind(T.floordiv(index, chunks.pixel_chunks))
            self._chunk(pixel_chunk, panel_chunk, staged)

    def _stage_all(self) -> Buffer:
        """Copy of the whole input."""
        shape, conv = self.shape, self.conv
        stager = Stager(self.ins, self.x, conv.x_dtype, conv, shape.x_zero)
        if shape.pointwise:
            target = workspace(shape.pixels * conv.channels + SLACK, self.ins.x_dtype)
            stager.pixels(target, 0, shape.pixels, shape.pixels)
            return target
        rows = conv.batch * shape.padded_height
        target = workspace(rows * shape.row_pitch + SLACK, self.ins.x_dtype)
        stager.rows(target, 0, rows)
        return target

    def _chunk(self, pixel_chunk: Expr, panel_chunk: Expr, staged: Buffer | None) -> None:
        tiling, chunks = self.tiling, self.chunks
        tiles = _share(tiling.tiles, chunks.pixel_chunks, pixel_chunk)
        panels = _share(tiling.panels, chunks.panel_chunks, panel_chunk)
        begin, end = (bind(tiling.first_pixel(tile)) for tile in tiles)
        source = self.x if staged is None else staged
        origin: Expr = 0  # what pixel addresses count from
        if self.shape.staged and staged is None:
            source, origin = self._stage_chunk(begin, end)

        def panel(group: Expr, first: Expr, columns: int, valid: int) -> None:
            def tile(pixel: Expr, rows: int, index: Expr) -> None:
                if tiling.shifted:
                    pixel = T.min(pixel, tiling.pixels - rows)
                self._tile(_Tile(source, origin, bind(pixel), rows, index, group, first, columns, valid))

            over_range(list(tiling.pixel_parts), *tiles, tile)

        self._over_panels(panels, panel)
        self._code_steps(begin, end, panels)

    def _over_panels(self, panels: tuple[Expr, Expr], body: Callable[[Expr, Expr, int, int], None]) -> None:
        """body(group, first vector, vectors, valid channels of the last vector) for the panels of a chunk."""
        shape, lanes = self.shape, self.ins.lanes
        parts = list(self.tiling.panel_parts)
        ragged = shape.group_filters % lanes
        if ragged and parts[-1][1] > 1:
            # the last panel alone has channels that are not there
            parts[-1:] = [(parts[-1][0], parts[-1][1] - 1), (parts[-1][0], 1)]
        last = sum(size * count for size, count in parts[:-1])
        with T.serial(0, self.conv.groups) as group:
            first_vector = 0
            for number, (size, count) in enumerate(parts):
                valid = size * lanes
                if number == len(parts) - 1:
                    valid = shape.group_filters - last * lanes - (count - 1) * size * lanes
                before = sum(c for _, c in parts[:number])

                def one(
                    offset: Expr, columns: int, _index: Expr, base: int = first_vector, valid: int = valid
                ) -> None:
                    body(group, bind(offset + base), columns, valid)

                over_range([(size, count)], panels[0] - before, panels[1] - before, one)
                first_vector += size * count

    def _stage_chunk(self, begin: Expr, end: Expr) -> tuple[Buffer, Expr]:
        """Copy of what the output pixels begin .. end read, and the element of the full copy that it starts with."""
        shape, conv, dtype = self.shape, self.conv, self.ins.x_dtype
        stager = Stager(self.ins, self.x, conv.x_dtype, conv, shape.x_zero)
        ranges = self._pixel_ranges()
        if shape.pointwise:
            most = max(high - low for low, high in ranges)
            least = min(high - low for low, high in ranges)
            target = workspace(most * conv.channels + SLACK, dtype)
            stager.pixels(target, begin, end, least)
            return target, begin * conv.channels
        rows = max(self._last_row(high) - self._first_row(low) for low, high in ranges)
        target = workspace(rows * shape.row_pitch + SLACK, dtype)
        first = bind(self._first_row(begin))
        stager.rows(target, first, bind(self._last_row(end) - first))
        return target, bind(first * shape.row_pitch)

    def _pixel_ranges(self) -> list[tuple[int, int]]:
        """Output pixels of each chunk of pixels."""
        count, tiling = self.chunks.pixel_chunks, self.tiling
        bounds = [tiling.first_pixel(tiling.tiles * index // count) for index in range(count + 1)]
        return list(zip(bounds[:-1], bounds[1:], strict=True))

    def _first_row(self, pixel: Expr) -> Expr:
        """First row of the padded input that an output pixel reads."""
        conv = self.conv
        row = pixel // conv.out_width if isinstance(pixel, int) else T.floordiv(pixel, conv.out_width)
        if conv.batch == 1:
            return row * conv.strides[0]
        image = row // conv.out_height if isinstance(row, int) else T.floordiv(row, conv.out_height)
        return image * self.shape.padded_height + (row - image * conv.out_height) * conv.strides[0]

    def _last_row(self, end: Expr) -> Expr:
        """One beyond the last row that output pixel end - 1 reads."""
        return self._first_row(end - 1) + (self.conv.kernel[0] - 1) * self.conv.dilation[0] + 1

    def _address(self, pixel: Expr, group: Expr) -> Expr:
        """Element of the (padded) input, or of the dense copy, at which the window of an output pixel starts."""
        conv, shape = self.conv, self.shape
        inside = group * (conv.channels // conv.groups) if conv.groups > 1 else 0
        if shape.pointwise and (shape.staged or conv.strides == (1, 1)):
            return pixel * conv.channels + inside
        column = T.floormod(pixel, conv.out_width) * (conv.strides[1] * conv.channels)
        return self._first_row(pixel) * shape.row_pitch + column + inside

    def _tile(self, tile: _Tile) -> None:
        """Sums of rows x columns, then codes."""
        sums = self._initial_sums(tile)
        shape, ins, conv = self.shape, self.ins, self.conv
        starts = [bind(self._address(tile.pixel + row, tile.group) - tile.origin) for row in range(tile.rows)]
        vector = ins.lanes * ins.taps
        panel = bind((tile.group * shape.vectors + tile.first) * (shape.steps * vector))
        next_panel = self._next_panel(tile)
        columns = 1 if shape.whole_rows else conv.kernel[1]

        def run(number: Expr, offset: Expr) -> None:
            reads = [bind(start + offset) for start in starts]
            first_step = bind(number * shape.run_steps)
            with T.serial(0, shape.run_steps) as step:
                if next_panel is not None:
                    line = CACHE_LINE // np.dtype(ins.w_dtype).itemsize
                    prefetch(self.weight, next_panel + (first_step + step) * line)
                base = panel + (first_step + step) * (tile.columns * vector)
                kind = vector_type(ins.w_dtype, vector)
                weights = [load(self.weight, base + column * vector, kind) for column in range(tile.columns)]
                for row in range(tile.rows):
                    x = ins.broadcast(tile.source, reads[row] + step * ins.taps)
                    for column in range(tile.columns):
                        register = sums[row][column]
                        register.set(ins.dot(register.get(), x, weights[column]))

        with T.serial(0, conv.kernel[0]) as kernel_row:
            row_offset = kernel_row * (conv.dilation[0] * shape.row_pitch)
            if columns == 1:
                run(kernel_row, row_offset)
            else:
                with T.serial(0, columns) as kernel_column:
                    offset = row_offset + kernel_column * (conv.dilation[1] * conv.channels)
                    run(kernel_row * columns + kernel_column, offset)
        self._store(tile, sums)

    def _initial_sums(self, tile: _Tile) -> list[list[Register]]:
        lanes = self.ins.lanes
        base = (tile.group * self.shape.vectors + tile.first) * lanes
        kind = vector_type("int32", lanes)
        bias = [load(self.bias, base + column * lanes, kind) for column in range(tile.columns)]
        sums = [[Register("int32", lanes) for _ in range(tile.columns)] for _ in range(tile.rows)]
        for row in sums:
            for register, value in zip(row, bias, strict=True):
                register.set(value)
        return sums

    def _next_panel(self, tile: _Tile) -> Expr | None:
        """Where this tile's share of the next panel begins: each tile fetches one line a step; None for one panel."""
        shape, ins = self.shape, self.ins
        if self.tiling.panels * self.conv.groups == 1:
            return None
        line = CACHE_LINE // np.dtype(ins.w_dtype).itemsize
        share = shape.steps * line  # elements that one tile fetches
        vector = ins.lanes * ins.taps
        total = self.conv.groups * shape.vectors * shape.steps * vector
        shares = -(-tile.columns * vector // line)
        begin = (tile.group * shape.vectors + tile.first + tile.columns) * (shape.steps * vector)
        return bind(T.min(begin + T.min(tile.index, shares - 1) * share, max(total - share, 0)))

    def _store(self, tile: _Tile, sums: list[list[Register]]) -> None:
        """Sums of a tile to the output, as codes or as they are."""
        shape, ins, requantizer = self.shape, self.ins, self.plan.requantizer
        lanes = ins.lanes
        base = (tile.group * shape.vectors + tile.first) * lanes
        constants = []
        if requantizer is not None:
            constants = [
                requantizer.load(self.channel_constants, base + column * lanes, lanes)
                for column in range(tile.columns)
            ]
        pieces = panel_pieces(tile.columns) if requantizer else [(i, 1) for i in range(tile.columns)]
        for row in range(tile.rows):
            begin = bind((tile.pixel + row) * self.conv.filters + tile.group * shape.group_filters + tile.first * lanes)
            for first, count in pieces:
                values = [sums[row][first + i].get() for i in range(count)]
                valid = min(count * lanes, tile.valid - first * lanes)
                if requantizer is not None:
                    value = requantizer.codes(ins, values, constants[first : first + count])
                else:
                    value = values[0]
                if valid > 0:
                    store_first(self.y, begin + first * lanes, value, count * lanes, valid)

    def _code_steps(self, begin: Expr, end: Expr, panels: tuple[Expr, Expr]) -> None:
        """Add and Table steps over what the chunk has written."""
        if not self.plan.steps:
            return
        steps, filters, y = self.plan.code_steps(self.ins, self.buffers), self.conv.filters, self.buffers["y"]
        if self.chunks.panel_chunks == 1:
            least = min(high - low for low, high in self._pixel_ranges()) * filters
            steps.run(y, bind(begin * filters), bind((end - begin) * filters), least)
            return
        lanes = self.ins.lanes
        low, high = (bind(T.min(_first_vector(self.tiling, panel) * lanes, filters)) for panel in panels)
        count = self.chunks.panel_chunks
        bounds = [
            min(_first_vector(self.tiling, self.tiling.panels * index // count) * lanes, filters)
            for index in range(count + 1)
        ]
        least = min(b - a for a, b in zip(bounds[:-1], bounds[1:], strict=True))
        with T.serial(begin, end) as pixel:
            steps.run(y, bind(pixel * filters + low), bind(high - low), least)


@dataclass(frozen=True, eq=False)
class _Tile:
    """Where a tile stands: `index` counts tiles of the chunk, `valid` the channels of the panel that exist."""

    source: Buffer
    origin: Expr
    pixel: Expr
    rows: int
    index: Expr
    group: Expr
    first: Expr
    columns: int
    valid: int


def _share(total: int, parts: int, index: Expr) -> tuple[Expr, Expr]:
    """Bounds of part `index` when `total` things are dealt to `parts`."""
    if parts == 1:
        return 0, total
    return bind(T.floordiv(index * total, parts)), bind(T.floordiv((index + 1) * total, parts))


def _first_vector(tiling: Tiling, panel: Expr) -> Expr:
    """First vector of a panel (which may be one beyond the last)."""
    parts = tiling.panel_parts
    larger = parts[0][1] if len(parts) == 2 else 0
    least = T.min(panel, larger) if not isinstance(panel, int) else min(panel, larger)
    return panel * parts[-1][0] + least * (parts[0][0] - parts[-1][0])
