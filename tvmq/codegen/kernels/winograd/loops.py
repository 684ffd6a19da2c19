"""The loops of a Winograd convolution: copy, input transform, matrix products, output transform, epilogue.

Tests: tests/codegen/kernels/winograd/test_winograd.py
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.conv.staging import SLACK, Stager
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    Shape,
    bind,
    load,
    minimum,
    over_range,
    prefetch,
    spread,
    store,
    store_first,
    vector_type,
    widen_index,
    workspace,
)
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan, Parameters
from tvmq.codegen.kernels.parts.loops import make_opaque
from tvmq.codegen.kernels.parts.packing import PanelRun, panel_pieces, panel_runs
from tvmq.codegen.kernels.parts.template import SumTemplate
from tvmq.codegen.kernels.parts.tiling import first_of_part
from tvmq.codegen.kernels.winograd.shape import WinogradShape, is_one
from tvmq.codegen.kernels.winograd.transforms import both_axes, divide_by_scale, input_transform, output_transform


@dataclass(frozen=True, eq=False)
class WinogradInputs:
    """Transformed tiles.

    values  flat int16 [position][tile][channel]
    pitch   elements of a position
    first   tile that stands at slot 0
    """

    values: Buffer
    pitch: int
    first: Expr


class WinogradLoops(SumTemplate):
    """Convolution; see the head of winograd.py."""

    def __init__(self, name: str, shape: WinogradShape, plan: EpiloguePlan) -> None:
        self.name, self.shape, self.plan, self.key = name, shape, plan, (name, shape.key, plan.key)
        self.conv, self.ins, self.scheme = shape.conv, shape.ins, shape.scheme
        self.lanes = shape.ins.lanes
        self.panel_runs = panel_runs(shape.panel_parts, shape.conv.filters, self.lanes)
        self.position_weights = 2 * shape.steps * shape.vectors * self.lanes
        self.x_shape: Shape = (shape.conv.batch, shape.conv.height, shape.conv.width, shape.conv.channels)
        self.y_shape: Shape = shape.conv.out_shape
        self.extents = shape.extents

    def parameters(self) -> Parameters:
        plan, channels = self.plan, self.shape.vectors * self.lanes
        parameters: Parameters = {"x": (self.x_shape, self.conv.x_dtype)} | plan.data_parameters(self.y_shape)
        parameters["weight"] = ((self.scheme.positions * self.position_weights,), "int16")
        parameters["bias"] = ((channels,), "int32")
        parameters |= plan.constant_parameters(channels)
        return parameters | {"y": (self.y_shape, plan.out_dtype)}

    def body(self, function: FunctionBuilder) -> None:
        # Two ways to deal the work to threads. With tiles enough, a chunk does all of it for its tiles:
        #
        #     copy rows -> V of a block -> for each panel: products at 36 (or 16) positions -> sums -> codes
        #
        # Where tiles are too few to be divided, and weights many (14 x 14 x 512), each chunk would read all weights for
        # a few tiles. So chunks of tiles make all V first; then chunks of panels read all V, and their own weights.
        shape = self.shape
        if shape.panel_chunks == 1:
            _parallel(shape.chunks, self._tile_chunk)
            return
        pitch = shape.position_pitch(shape.tiles + shape.rows)
        inputs = WinogradInputs(workspace(self.scheme.positions * pitch, "int16"), pitch, 0)

        def transform(index: Expr) -> None:
            begin, end = _share(shape.tiles, shape.panel_chunks, index)
            self._transform(inputs, *self._stage(begin, end, -(-shape.tiles // shape.panel_chunks)), begin, end)

        def products(index: Expr) -> None:
            panels = _share(shape.panels, shape.panel_chunks, index)
            self._blocks(0, shape.tiles, lambda begin, end: self._products(inputs, begin, end, panels))

        _parallel(shape.panel_chunks, transform)
        _parallel(shape.panel_chunks, products)

    def _tile_chunk(self, index: Expr) -> None:
        """Compute a share of the tiles, from the copy of its input to the epilogue."""
        shape = self.shape
        first, last = _share(shape.register_tiles, shape.chunks, index)
        begin, end = bind(first * shape.rows), bind(minimum(last * shape.rows, shape.tiles))
        pitch = shape.position_pitch(shape.block)
        values = workspace(self.scheme.positions * pitch, "int16")
        source, origin = self._stage(begin, end, shape.chunk_tiles)

        def block(low: Expr, high: Expr) -> None:
            inputs = WinogradInputs(values, pitch, low)
            self._transform(inputs, source, origin, low, high)
            self._products(inputs, low, high, (0, shape.panels))

        self._blocks(begin, end, block)

    def _blocks(self, begin: Expr, end: Expr, body: Callable[[Expr, Expr], None]) -> None:
        """body(low, high) for nearly equal blocks of these tiles."""
        count, parts = end - begin, self.shape.blocks
        if parts == 1:
            body(begin, end)
            return
        with T.serial(0, parts) as part:
            low, high = (bind(begin + T.floordiv(index * count, parts)) for index in (part, part + 1))
            body(low, high)

    def _place(self, tile: Expr) -> tuple[Expr, Expr, Expr]:
        """Picture, row and column of a tile."""
        extents = self.extents
        row = keep_quotient(tile, extents.tiles_wide)
        picture = 0 if is_one(extents.batch) else keep_quotient(row, extents.tiles_high)
        return picture, bind(row - picture * extents.tiles_high), bind(tile - row * extents.tiles_wide)

    def _first_row(self, tile: Expr) -> Expr:
        """First row of the padded pictures, counted through, that a tile reads."""
        picture, row, _ = self._place(tile)
        return picture * self.extents.padded_height + row * self.scheme.tile

    def _stage(self, begin: Expr, end: Expr, most: int) -> tuple[Buffer, Expr]:
        """Copy of the rows that tiles begin .. end read, with borders, and the element of a whole copy it starts
        with; most: tiles at the most."""
        shape, conv = self.shape, self.conv
        # so many rows of tiles can be touched, and a border between pictures
        rows = min(-(-(most - 1) // shape.tiles_wide) + 1, conv.batch * shape.tiles_high)
        pictures = min(-(-rows // shape.tiles_high) + 1, conv.batch)
        capacity = rows * self.scheme.tile + 2 * pictures
        target = workspace(capacity * shape.row_pitch + SLACK, conv.x_dtype)
        first = bind(self._first_row(begin))
        count = bind(self._first_row(end - 1) + self.scheme.points - first)
        Stager(self.ins, self.x, shape.padded_conv, shape.x_zero, dtype=conv.x_dtype).rows(target, first, count)
        return target, bind(first * shape.row_pitch)

    def _transform(self, inputs: WinogradInputs, source: Buffer, origin: Expr, begin: Expr, end: Expr) -> None:
        """V of tiles begin .. end."""
        # Tiles overlap: F(4x4, 3x3) reads 6 x 6 inputs and moves on by 4.
        #
        #     columns   0 1 2 3 4 5 6 7 8 9         values[position][tile][channel], position = 6 i + j
        #     tile 0    . . . . . .                 so that all tiles of a position, which are multiplied with
        #     tile 1            . . . . . .         the same weights, are rows of one matrix
        #
        # Lanes beyond the last channel read the next pixel; products use one of them at most, whose weight is 0
        shape, channels = self.shape, self.conv.channels
        lanes, points, pitch = shape.channel_lanes, self.scheme.points, self.extents.row_pitch
        kind = vector_type(self.conv.x_dtype, lanes)
        with T.serial(0, end - begin) as index:
            tile = bind(begin + index)
            column = self._place(tile)[2]
            patch = bind(self._first_row(tile) * pitch + column * (self.scheme.tile * channels) - origin)
            slot = bind((tile - inputs.first) * shape.tile_pitch)
            with T.serial(0, shape.tile_pitch // lanes) as group:
                corner = bind(patch + group * lanes)
                lines = [(corner, i * pitch) for i in range(points)]
                if not isinstance(pitch, int):
                    lines = [(make_opaque(begin + down), 0) for begin, down in lines]
                x = [
                    [
                        bind(T.Cast(vector_type("int16", lanes), source.vload([begin + (down + j * channels)], kind)))
                        for j in range(points)
                    ]
                    for begin, down in lines
                ]
                transformed = both_axes(x, input_transform(self.scheme), lanes)
                for position, value in enumerate(value for row in transformed for value in row):
                    store(inputs.values, position * inputs.pitch + slot + group * lanes, value, lanes)

    def _products(self, inputs: WinogradInputs, begin: Expr, end: Expr, panels: tuple[Expr, Expr]) -> None:
        """Output of tiles begin .. end and these panels."""
        shape = self.shape
        products = workspace(self.scheme.positions * shape.product_pitch, "int32")
        sums = workspace(self.scheme.tile**2 * shape.columns * self.lanes, "int32")
        for run in self.panel_runs:

            def panel(offset: Expr, _columns: int, _index: Expr, run: PanelRun = run) -> None:
                vector = bind(offset + run.vector)
                self._panel(inputs, products, run, vector, begin, end)
                with T.serial(0, end - begin) as slot:
                    self._finish(products, sums, run, vector, bind(begin + slot), slot)

            over_range([(run.columns, run.count)], panels[0] - run.panel, panels[1] - run.panel, panel)
        self._steps(begin, end, panels)

    def _panel(
        self, inputs: WinogradInputs, products: Buffer, run: PanelRun, vector: Expr, begin: Expr, end: Expr
    ) -> None:
        """The matrix products of a panel at all positions."""
        # For each of the 36 positions, a matrix product:
        #
        #     V[position]   tiles x channels        U[position]   channels x (columns * lanes) output channels
        #
        # Rows of a register tile are tiles of outputs. A step takes two channels, as dot_int16 (vpmaddwd, vpdpwssd)
        # multiplies pairs of int16; int32 sums may wrap, as the whole scheme holds modulo 2^32. The last register tile
        # may begin within the block and end behind it: it reads memory of the workspace there, and its products of
        # tiles that do not exist are never finished.
        shape, columns = self.shape, run.columns
        size = 2 * self.lanes
        panel_weights = columns * shape.steps * size
        parts = self._register_tiles(end - begin)
        slot = bind((begin - inputs.first) * shape.tile_pitch)
        with T.serial(0, self.scheme.positions) as position:
            weights = bind(vector * (self.scheme.positions * shape.steps * size) + position * panel_weights)
            for first, rows, tiles in parts:
                with T.serial(0, tiles) as tile:
                    begins = bind(position * inputs.pitch + slot + (first + tile * rows) * shape.tile_pitch)
                    place = bind(position * shape.product_pitch + (first + tile * rows) * (columns * self.lanes))
                    # each tile fetches a share of the next position's weights, `columns` shares in all; behind the last
                    # position of the last panel the address stays inside of the weights
                    ahead = bind(weights + panel_weights + minimum(tile, columns - 1) * (shape.steps * size))
                    ahead = bind(minimum(ahead, self.scheme.positions * self.position_weights - shape.steps * size))
                    self._multiply(inputs.values, products, (rows, columns), (begins, weights, ahead, place))

    def _register_tiles(self, count: Expr) -> list[tuple[Expr, int, Expr]]:
        """(first tile, tiles in registers, number of such) that cover `count` tiles of outputs."""
        rows = self.shape.rows
        return [(0, rows, bind(T.floordiv(count + (rows - 1), rows)))]

    def _multiply(
        self, values: Buffer, products: Buffer, tile: tuple[int, int], places: tuple[Expr, Expr, Expr, Expr]
    ) -> None:
        """Products of (rows, columns) at a position; places: of tiles, weights, what is fetched, and of the result."""
        (rows, columns), (first, weights, ahead, place) = tile, places
        steps, pitch, size = self.shape.steps, self.shape.tile_pitch, 2 * self.lanes
        total = [[Register("int32", self.lanes) for _ in range(columns)] for _ in range(rows)]
        for register in (register for row in total for register in row):
            register.set(spread(0, self.lanes))
        reads = [widen_index(first + row * pitch) for row in range(rows)]
        with T.serial(0, steps) as step:
            prefetch(self.weight, ahead + step * size)
            w = [
                load(self.weight, weights + (step * columns + column) * size, vector_type("int16", size))
                for column in range(columns)
            ]
            for row in range(rows):
                pair = values.vload([reads[row] + T.Cast("int64", step * 2)], "int16x2")
                x = bind(T.reinterpret(f"int16x{size}", spread(T.reinterpret("int32", pair), self.lanes)))
                for column in range(columns):
                    register = total[row][column]
                    register.set(self.ins.dot_int16(register.get(), x, w[column]))
        for row in range(rows):
            for column in range(columns):
                store(products, place + (row * columns + column) * self.lanes, total[row][column].get(), self.lanes)

    def _finish(self, products: Buffer, sums: Buffer, run: PanelRun, vector: Expr, tile: Expr, slot: Expr) -> None:
        """Sums of one tile of outputs, then codes."""
        shape, columns, lanes = self.shape, run.columns, self.lanes
        size, points = self.scheme.tile, self.scheme.points
        kind = vector_type("int32", lanes)
        with T.serial(0, columns) as column:
            begin = bind((slot * columns + column) * lanes)
            bias = load(self.bias, (vector + column) * lanes, kind)
            m = [
                [load(products, begin + (i * points + j) * shape.product_pitch, kind) for j in range(points)]
                for i in range(points)
            ]
            results = both_axes(m, output_transform(self.scheme), lanes)
            for i in range(size):
                for j in range(size):
                    total = divide_by_scale(self.scheme, results[i][j], lanes) + bias
                    store(sums, ((i * size + j) * columns + column) * lanes, total, lanes)
        self._store(sums, run, vector, tile)

    def _store(self, sums: Buffer, run: PanelRun, vector: Expr, tile: Expr) -> None:
        """The pixels of a tile that exist, as codes or as they are."""
        extents, lanes, size, columns = self.extents, self.lanes, self.scheme.tile, run.columns
        scaler, codes = self.plan.scaler, self.plan.requantizer
        channel = bind(vector * lanes)
        constants = [
            () if scaler is None else scaler.load(self.channel_constants, channel + i * lanes, lanes)
            for i in range(columns)
        ]
        picture, row, column = self._place(tile)
        top, left = bind(row * size), bind(column * size)
        with T.serial(0, size) as i, run_if_inside(extents.out_height, size, top + i):
            line = bind((picture * extents.out_height + top + i) * extents.out_width + left)
            for first, count in panel_pieces(columns) if codes else [(c, 1) for c in range(columns)]:
                pixels = 4 // count if codes and 4 // count <= size else 1
                for j in range(0, size, pixels):
                    places = [(i * size + j + p) * columns + first + c for p in range(pixels) for c in range(count)]
                    values = [load(sums, place * lanes, vector_type("int32", lanes)) for place in places]
                    if codes:
                        result = codes.codes(self.ins, values, constants[first : first + count] * pixels)
                        if pixels > 1:
                            result = self.ins.rows_in_order(result, count, codes.dtype)
                    else:
                        real = self.plan.dequantizer
                        result = values[0] if real is None else real.reals(values[0], constants[first], lanes)
                    self._store_pixels(run, result, line, left, (j, pixels), (channel, first, count))

    def _store_pixels(
        self,
        run: PanelRun,
        values: Expr,
        line: Expr,
        left: Expr,
        pixels: tuple[int, int],
        vectors: tuple[Expr, int, int],
    ) -> None:
        """Values of (first, number of) pixels of a line of the tile, and (channel of the panel, first, number of)
        vectors."""
        (j, count), (channel, first, columns) = pixels, vectors
        width = columns * self.lanes
        valid = min(width, run.channels - first * self.lanes)
        if valid <= 0:
            return
        for p in range(count):
            with run_if_inside(self.extents.out_width, self.scheme.tile, left + (j + p)):
                offset = bind((line + (j + p)) * self.conv.filters + channel + first * self.lanes)
                store_first(self.y, offset, values, count * width, valid, p * width)

    def _steps(self, begin: Expr, end: Expr, panels: tuple[Expr, Expr]) -> None:
        """Add and Table steps over the codes of tiles begin .. end and these panels."""
        if not self.plan.steps:
            return
        extents, size, filters, lanes = self.extents, self.scheme.tile, self.conv.filters, self.lanes
        steps, y, shape = self.plan.code_steps(self.ins, self.buffers), self.buffers["y"], self.shape
        with T.serial(0, end - begin) as index:
            picture, row, column = self._place(bind(begin + index))
            top, left = bind(row * size), bind(column * size)
            even = isinstance(extents.out_width, int) and extents.out_width % size == 0
            width = size if even else bind(T.min(size, extents.out_width - left))
            with T.serial(0, size) as i, run_if_inside(extents.out_height, size, top + i):
                pixel = bind((picture * extents.out_height + top + i) * extents.out_width + left)
                if shape.panel_chunks == 1:
                    narrow = (extents.out_width - 1) % size + 1 if isinstance(extents.out_width, int) else 1
                    steps.run(y, bind(pixel * filters), width * filters, narrow * filters)
                else:
                    low, high = (minimum(first_of_part(shape.panel_parts, panel) * lanes, filters) for panel in panels)
                    least = min(run.channels for run in self.panel_runs)
                    low, count = bind(low), bind(high - low)
                    with T.serial(0, width) as j:
                        steps.run(y, bind((pixel + j) * filters + low), count, least)


def _parallel(count: int, body: Callable[[Expr], None]) -> None:
    """body(index) for each chunk."""
    if count == 1:
        body(0)
        return
    with T.parallel(0, count) as index:
        body(index)


def _share(total: int, parts: int, index: Expr) -> tuple[Expr, Expr]:
    """Bounds of part `index` when `total` things are dealt to `parts`."""
    if parts == 1:
        return 0, total
    return bind(T.floordiv(index * total, parts)), bind(T.floordiv((index + 1) * total, parts))


def keep_quotient(value: Expr, divisor: Expr) -> Expr:
    """Quotient of two numbers that are not negative, in a variable."""
    if isinstance(divisor, int):
        return bind(T.floordiv(value, divisor))
    return make_opaque(tirx.truncdiv(value, divisor))  # TVM writes the operands of a floor several times


@contextmanager
def _then(condition: Expr) -> Any:
    with T.If(condition), T.Then():
        yield


def run_if_inside(extent: Expr, size: int, place: Expr) -> Any:
    """A block for places inside of the extent, without a condition where tiles of this size fill it."""
    return nullcontext() if isinstance(extent, int) and extent % size == 0 else _then(place < extent)
