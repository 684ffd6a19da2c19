"""Modelled cycles of a Winograd convolution, beside those of the direct one (tiling.cycles).

Unit    cycles of the same fast CPU as in tiling: two 64-byte products a cycle. On CPUs that need twice as long for all
        64-byte operations both sides double, so that ratios hold.
Fitted  on Zen 4 with the shapes of benchmarks/kernels.py; see docs/speed.md
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from tvmq.kernels.conv.conv2d import instructions_for
from tvmq.kernels.conv.shape import ConvShape
from tvmq.kernels.isa import isa_named
from tvmq.kernels.isa.generic import Instructions
from tvmq.kernels.parts.builder import split_evenly
from tvmq.kernels.parts.packing import panel_pieces
from tvmq.kernels.parts.tiling import EPILOGUE_CYCLES, L1_BYTES, L2_RATE, LATENCY_CYCLES, choose_tiling, cycles
from tvmq.kernels.parts.types import Conv2d
from tvmq.kernels.winograd.scheme import Scheme
from tvmq.kernels.winograd.shape import WinogradShape

MOST_ROWS, MOST_COLUMNS = 8, 4
MOST_TILES = 32  # of a block; more are no faster, fewer read the weights more often (measured)
OPERATIONS = 4.0  # vector instructions that are issued in a cycle
AXIS_OPERATIONS = {4: (14.0, 17.0), 2: (4.0, 6.0)}  # of a transform of one line: input, output
TILE_CYCLES = 8.0  # start of a register tile
COPY_RATE = 24.0  # bytes a cycle of the copy with borders
FAR_BYTES = 768 * 1024  # more weights lie beyond the second cache
# Bytes a cycle from there, by the width of vectors, as their cycles differ. A third of what a kernel gets that runs
# alone: in a network the third cache has seen other weights since (14 x 14 x 512 of vgg11 lost what it won alone).
FAR_RATE = {64: 5.0, 32: 1.6}


@lru_cache(maxsize=1024)
def shape_for(conv: Conv2d, ins: Instructions, x_zero: int, scheme: Scheme) -> WinogradShape:
    """The shape with the tiles of least modelled time."""
    vectors = -(-conv.filters // ins.lanes)
    # columns as they come out when the vectors are dealt to panels
    widths = {split_evenly(vectors, columns)[0][0] for columns in range(1, MOST_COLUMNS + 1)}
    shapes = []
    for columns in sorted(widths):
        for rows in range(1, MOST_ROWS + 1):
            if (rows + 1) * columns > ins.registers - ins.dot_temporaries:
                break
            shape = WinogradShape(conv, ins, x_zero, scheme, rows, columns, rows)
            blocks = -(-shape.chunk_tiles // MOST_TILES)
            most = -(-shape.chunk_tiles // blocks)
            shapes.append(replace(shape, block=-(-most // rows) * rows))
    return min(shapes, key=winograd_cycles)


def winograd_cycles(shape: WinogradShape) -> float:
    """Time of the whole convolution on one core."""
    return sum(winograd_parts(shape).values())


def winograd_parts(shape: WinogradShape) -> dict[str, float]:
    """The same by what is done."""
    copied = shape.conv.batch * shape.padded_height * shape.row_pitch
    return {
        "copy": 2 * copied / COPY_RATE,
        "input": shape.tiles * _input_cycles(shape),
        "products": _product_cycles(shape),
        "output": shape.tiles * _output_cycles(shape),
    }


def direct_cycles(shape: WinogradShape) -> float:
    """Time of the direct convolution on one core."""
    ins = instructions_for(shape.conv, isa_named(shape.ins.name))
    direct = ConvShape(shape.conv, ins, shape.x_zero)
    copied = direct.data_bytes if direct.staged else 0
    share = ins.vector_bytes / shape.ins.vector_bytes  # half vectors take half the time on the CPU this was fitted on
    return share * cycles(direct.product, choose_tiling(direct.product, ins), ins) + 2 * copied / COPY_RATE


def _input_cycles(shape: WinogradShape) -> float:
    points = shape.scheme.points
    operations = 3 * points**2 + 2 * points * AXIS_OPERATIONS[shape.scheme.tile][0]
    return shape.tile_pitch / shape.channel_lanes * operations / OPERATIONS


def _output_cycles(shape: WinogradShape) -> float:
    """The output transform and the epilogue of a tile of outputs."""
    tile, points = shape.scheme.tile, shape.scheme.points
    operations = points**2 + (points + tile) * AXIS_OPERATIONS[tile][1] + 6 * tile**2
    pieces = [
        count * tile**2 * sum(EPILOGUE_CYCLES[piece] for _, piece in panel_pieces(columns))
        for columns, count in shape.panel_parts
    ]
    return shape.vectors * operations / OPERATIONS + sum(pieces)


def _product_cycles(shape: WinogradShape) -> float:
    ins, steps = shape.ins, shape.steps
    weight_bytes = shape.scheme.positions * steps * shape.vectors * ins.vector_bytes
    far = L2_RATE if weight_bytes <= FAR_BYTES else FAR_RATE[ins.vector_bytes]
    rows = max(1.0, shape.register_tiles / (shape.chunks * shape.blocks))  # register tiles of a block, on average
    total = 0.0
    for columns, panels in shape.panel_parts:
        step = _step_cycles(shape, columns)
        near = steps * columns * ins.vector_bytes <= L1_BYTES
        fetch = columns * ins.vector_bytes / far
        start = TILE_CYCLES + shape.rows * columns
        # the first register tile of a position waits for what the prefetch has not brought
        block = rows * (steps * step + start) + max(0.0, fetch - rows * step) * steps
        if not near:
            block = max(block, rows * steps * columns * ins.vector_bytes / L2_RATE)
        total += panels * block
    return total * shape.scheme.positions * shape.blocks * shape.chunks


def _step_cycles(shape: WinogradShape, columns: int) -> float:
    ins, rows = shape.ins, shape.rows
    row_cycles, column_cycles, loop_cycles = ins.step_cycles
    step = max(ins.dot_cycles * rows * columns, (rows + columns) / 2, LATENCY_CYCLES)
    return step + row_cycles * rows + column_cycles * columns + loop_cycles
