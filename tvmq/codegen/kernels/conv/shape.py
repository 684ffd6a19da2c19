"""Sizes of a convolution as a matrix product, the division of its work among threads, and the place of a tile.

The loops over them are those of implicit_gemm.

Tests: tests/codegen/kernels/conv/test_border_taps.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.cost import Machine
from tvmq.codegen.kernels.conv.remainder_taps import WORTH_SKIPPING, RemainderTaps, remainder_taps, rows_outside
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, bind
from tvmq.codegen.kernels.parts.kernel_types import Conv2d
from tvmq.codegen.kernels.parts.packing import PanelRun
from tvmq.codegen.kernels.parts.tiling import Product, Tiling
from tvmq.codegen.kernels.parts.work import COPY_CYCLES, KernelWork, on_machine, product_cycles, step_cycles
from tvmq.numerics.code_type import CODES_8

# Divides evenly among 1, 2, 3, 4 and 6 threads.
CHUNKS = 12
# Below this a parallel region (about 1 us to start, and colder caches) gains nothing that one would notice.
SERIAL_MICROSECONDS = 20.0
# For that decision alone: work of one core in a microsecond.
MACS, WEIGHT_BYTES, OUTPUTS = 150_000.0, 40_000.0, 8_000.0
# While so many pixels are computed the next panel arrives, from the second cache or from beyond (measured).
L2_BYTES, L2_PIXELS, FAR_PIXELS = 512 * 1024, 24, 96


@dataclass(frozen=True)
class ConvShape:
    """A convolution on an instruction set: for each group pixels x (steps * taps) x channels.

    A run is a stretch of input elements under a window that are neighbours in memory. x_zero fills padding.
    has_int16_copy: the inner loop reads a copy of codes of 16 bits as well (see conv2d_int16).
    """

    conv: Conv2d
    ins: Instructions
    x_zero: int
    has_int16_copy: bool = False

    @property
    def pixels(self) -> int:
        """Output pixels of all pictures."""
        return self.conv.batch * self.conv.out_height * self.conv.out_width

    @property
    def group_channels(self) -> int:
        """Input channels of a group."""
        return self.conv.channels // self.conv.groups

    @property
    def group_filters(self) -> int:
        """Output channels of a group."""
        return self.conv.filters // self.conv.groups

    @property
    def vectors(self) -> int:
        """Vectors of output channels of a group."""
        return -(-self.group_filters // self.ins.lanes)

    @property
    def runs_per_row(self) -> int:
        """Runs of a kernel row: one, unless groups or dilation leave elements out."""
        dilated = self.conv.dilation[1] > 1
        return self.conv.kernel[1] if dilated or self.conv.groups > 1 else 1

    @property
    def run(self) -> int:
        """Elements of a run."""
        return self.group_channels * self.conv.kernel[1] // self.runs_per_row

    @property
    def run_steps(self) -> int:
        """Steps of a run; whole ones where the taps left over are packed."""
        return self.run // self.ins.taps if self.remainders else -(-self.run // self.ins.taps)

    @cached_property
    def remainders(self) -> RemainderTaps | None:
        """Taps of kernel rows that are no whole step, if they are packed."""
        return remainder_taps(self.conv, self.ins)

    @property
    def steps(self) -> int:
        """Steps of the whole reduction."""
        packed = self.remainders.steps if self.remainders else 0
        return self.conv.kernel[0] * self.runs_per_row * self.run_steps + packed

    @property
    def is_pointwise(self) -> bool:
        """True if each output pixel reads one input pixel that exists."""
        return self.conv.kernel == (1, 1) and not any(self.conv.padding)

    @property
    def is_staged(self) -> bool:
        """True if the inner loop reads a copy of the input (see staging)."""
        partial = self.run % self.ins.taps != 0
        apart = self.has_int16_copy and self.conv.strides != (1, 1)  # that copy is dense, and both have the same places
        return partial or apart or any(self.conv.padding) or self.ins.x_dtype != self.conv.x_dtype

    @property
    def is_copied(self) -> bool:
        """True if a chunk begins with a copy of what it reads, of any type."""
        return self.is_staged or self.has_int16_copy

    @property
    def border(self) -> int:
        """Code that padding is filled with, as the inner loop sees it."""
        return self.x_zero + self.ins.shift_of(self.conv.x_dtype)

    @property
    def skips_rows(self) -> bool:
        """True if the kernel rows that lie in a border of zeros are worth being left out."""
        return self.border == 0 and rows_outside(self.conv) >= WORTH_SKIPPING

    @property
    def skips_columns(self) -> bool:
        """True if the same holds of kernel columns, and each is whole steps of a run."""
        whole = self.runs_per_row == 1 and self.conv.channels % self.ins.taps == 0
        return self.skips_rows and whole and self.ins.row_step == 1 and any(self.conv.padding[1::2])

    @property
    def line(self) -> int:
        """Number of output pixels in turn whose windows have equal distances; 0 for all."""
        dense = self.is_pointwise and (self.is_staged or self.conv.strides == (1, 1))
        return 0 if dense else self.conv.out_width

    @property
    def product(self) -> Product:
        """The product of one group."""
        return Product(self.pixels, self.vectors, self.steps, self.line)

    @property
    def padded_height(self) -> int:
        """Rows of a picture as the inner loop sees it."""
        return self.conv.height + self.conv.padding[0] + self.conv.padding[2]

    @property
    def row_pitch(self) -> int:
        """Elements from one of these rows to the next."""
        return (self.conv.width + self.conv.padding[1] + self.conv.padding[3]) * self.conv.channels

    @property
    def weight_bytes(self) -> int:
        """Packed weights of all groups."""
        return self.conv.groups * self.vectors * self.steps * self.ins.vector_bytes

    @property
    def data_bytes(self) -> int:
        """Input as the inner loop sees it, and output codes."""
        rows = self.conv.batch * self.padded_height * self.row_pitch
        return rows * (1 if self.ins.takes_bytes else 2) + self.pixels * self.conv.filters

    @property
    def microseconds(self) -> float:
        """Rough time on one core of a fast CPU."""
        conv = self.conv
        macs = self.pixels * conv.filters * self.group_channels * conv.kernel[0] * conv.kernel[1]
        return macs / MACS + self.weight_bytes / WEIGHT_BYTES + self.pixels * conv.filters / OUTPUTS

    @property
    def key(self) -> tuple[Any, ...]:
        """Parameters that the generated code depends on."""
        return self.conv, self.ins.key, self.x_zero if any(self.conv.padding) else None, self.has_int16_copy


@dataclass(frozen=True)
class Chunks:
    """Division of tiles and panels among threads, the same whatever the number of threads."""

    tiling: Tiling
    pixel_chunks: int
    panel_chunks: int

    @property
    def count(self) -> int:
        """All chunks."""
        return self.pixel_chunks * self.panel_chunks

    @property
    def pixel_ranges(self) -> list[tuple[int, int]]:
        """Output pixels of each chunk of pixels."""
        bounds = [
            self.tiling.first_pixel(self.tiling.tiles * index // self.pixel_chunks)
            for index in range(self.pixel_chunks + 1)
        ]
        return list(zip(bounds[:-1], bounds[1:], strict=True))

    @property
    def vector_ranges(self) -> list[tuple[int, int]]:
        """Vectors of output channels of each chunk of panels."""
        bounds = [
            self.tiling.first_vector(self.tiling.panels * index // self.panel_chunks)
            for index in range(self.panel_chunks + 1)
        ]
        return list(zip(bounds[:-1], bounds[1:], strict=True))


def choose_chunks(shape: ConvShape, tiling: Tiling) -> Chunks:
    """Chunks of pixels, as many as the weights allow; then chunks of panels until there are enough.

    The data of a chunk of pixels should fit the second cache, where steps over codes find them again.
    Each chunk of pixels reads all weights of its panels once, so it must be large enough to hide that. It has
    at least two tiles: a tile that is shifted back then stays in its chunk.
    """
    if shape.microseconds < SERIAL_MICROSECONDS:
        return Chunks(tiling, 1, 1)
    enough = L2_PIXELS if shape.weight_bytes <= L2_BYTES else FAR_PIXELS
    wanted = CHUNKS * -(-shape.data_bytes // (CHUNKS * L2_BYTES))
    pixel_chunks = max(1, min(wanted, tiling.pixels // enough, tiling.tiles // 2))
    grouped = shape.conv.groups > 1
    panel_chunks = 1 if grouped else min(tiling.panels, -(-CHUNKS // pixel_chunks))
    return Chunks(tiling, pixel_chunks, panel_chunks)


def share(total: int, parts: int, index: Expr) -> tuple[Expr, Expr]:
    """Bounds of part `index` when `total` things are dealt to `parts`."""
    if parts == 1:
        return 0, total
    return bind(T.floordiv(index * total, parts)), bind(T.floordiv((index + 1) * total, parts))


@dataclass(frozen=True, eq=False)
class ConvTile:
    """Place of a tile.

    source, origin  flat buffer that windows are read from, and the element of the input it starts with
    pixel, rows     first output pixel and their number
    index           number of the tile in its chunk
    group           of the convolution
    vector          first vector of output channels in the group
    panel           kind of the panel
    weights         the panel's weights, unpacked for all tiles; None: they are read from the kernel's own
    beside          what is read besides: packed taps (see remainder_taps) and the output row they start with, or
                    codes of 16 bits and the element they start with; None if there is nothing
    """

    source: Buffer
    origin: Expr
    pixel: Expr
    rows: int
    index: Expr
    group: Expr
    vector: Expr
    panel: PanelRun
    weights: Buffer | None = None
    beside: tuple[Buffer, Expr] | None = None


# Cycles for an output that the first dots of the next tile hide: of sums that become codes, and of floats.
HIDDEN_CODES, HIDDEN_FLOATS = 0.15, 0.25


def convolution_work(
    family: str, shape: ConvShape, steps: Sequence[Any] = (), tiling: Tiling | None = None, share: float | None = None
) -> KernelWork:
    """Work of a convolution's kernel, for the cost model.

    steps   Add and Table steps behind the sums
    share   of the direct convolution's time, where this is another one
    """
    conv, outputs = shape.conv, math.prod(shape.conv.out_shape)

    def cycles_of(machine: Machine, scale: float) -> float:
        own = replace(shape, ins=on_machine(shape.ins, machine))
        total = conv.groups * product_cycles(own.product, own.ins, tiling)
        hidden = HIDDEN_FLOATS if conv.x_dtype == "float32" else HIDDEN_CODES
        total = max(0.6 * total, total - scale * hidden * outputs)
        copied = own.data_bytes - outputs if own.is_staged else 0
        total = total + scale * COPY_CYCLES * copied / 64 if share is None else share * total
        return scale * step_cycles(steps) * outputs / 64 + total

    tiled = None if tiling is None else (shape.product, shape.ins)
    return KernelWork(family, 0.0, conv.macs, conv.x_dtype in CODES_8, cycles_of, tiled)
