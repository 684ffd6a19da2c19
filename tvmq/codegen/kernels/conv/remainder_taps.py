"""Taps of a convolution that the inner loop treats apart: remainders of kernel rows, and those in a border of zeros.

Remainders: the last taps of kernel rows that are no whole step, packed, several rows to one step.

A step multiplies `taps` neighbouring elements. A row of a 7 x 7 kernel over 3 channels has 21: five steps of 4 and one
tap. By itself that tap would take a step of each of the 7 rows; packed they take two, and 37 steps do what 42 did.

    remainders   [output row][step][output column][kernel row of the step][tap left over]   codes of the input

Computes   nothing: the same products in another order, sums of integers do not depend on it
Loops      rows of output; steps; vectors of output columns: one load for each kernel row, its elements picked out
Needs      more work saved than the copy costs (SAVED)
Measured   Zen 4: see benchmarks/kernels.py, stem

Border: taps that lie in a border of zeros, so that a tile of pixels can leave them out.

Rows      of the kernel: loop bounds that depend on the place of a tile
Columns   of the kernel: where tiles begin at one or two places of an output row, a loop for each stretch of kernel
          columns that the same pixels have; wider pictures have too few such taps
Exact     a product with 0 adds nothing
Measured  Zen 4, one core, 3 x 3, uint8, time of all taps = 1: rows alone 0.91 at 7 x 7 x 512, 0.95 at 14 x 14 x 256,
          0.98 at 28 x 28 x 128; rows and columns 0.82, 0.91

Tests: tests/codegen/kernels/conv/test_border_taps.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    bind,
    const,
    limit,
    load,
    quotient,
    remainder,
    spread,
    store,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.kernel_types import Conv2d
from tvmq.codegen.kernels.parts.loops import make_opaque

SAVED = 4  # dots of a pixel; the copy costs about one for each step


@dataclass(frozen=True)
class RemainderTaps:
    """Taps left over.

    start  elements of a kernel row in whole steps, which come before
    size   taps that are left of each kernel row
    rows   kernel rows that share a step
    """

    conv: Conv2d
    taps: int
    start: int
    size: int
    rows: int

    @property
    def steps(self) -> int:
        """Steps of all of them."""
        return -(-self.conv.kernel[0] // self.rows)

    @property
    def line(self) -> int:
        """Elements of a step of one output row."""
        return self.conv.out_width * self.taps

    def lanes(self, elements: int) -> int:
        """Output columns whose taps lie in one vector of so many elements, a power of two."""
        apart = self.conv.strides[1] * self.conv.channels
        most = min((elements - self.size) // apart + 1, self.conv.out_width)
        return 1 << (most.bit_length() - 1)

    def rows_of(self, step: int) -> list[int]:
        """Kernel rows of a step.

        >>> RemainderTaps(Conv2d(1, 9, 9, 3, 8, (7, 7)), 4, 20, 1, 4).rows_of(1)
        [4, 5, 6]
        """
        return list(range(step * self.rows, min((step + 1) * self.rows, self.conv.kernel[0])))


def remainder_taps(conv: Conv2d, ins: Instructions) -> RemainderTaps | None:
    """Taps that are worth being packed; None if there are none.

    >>> from tvmq.codegen.kernels.isa import level
    >>> remainder_taps(Conv2d(1, 224, 224, 3, 64, (7, 7), (2, 2)), level("avx512vnni")).steps
    2
    """
    whole, size = divmod(conv.channels * conv.kernel[1], ins.taps)
    if not size or conv.groups > 1 or conv.dilation[1] > 1 or not ins.packs_remainders:
        return None
    remainders = RemainderTaps(conv, ins.taps, whole * ins.taps, size, ins.taps // size)
    vectors = -(-conv.filters // ins.lanes)
    return remainders if (conv.kernel[0] - remainders.steps) * vectors >= SAVED else None


def in_steps(weight: np.ndarray, remainders: RemainderTaps) -> np.ndarray:
    """Weights OIHW as those of one pixel whose channels are the elements of all steps, zero where there is no tap."""
    filters, channels, height, width = weight.shape
    lines = weight.transpose(0, 2, 3, 1).reshape(filters, height, width * channels)
    left = np.zeros((filters, remainders.steps, remainders.taps), weight.dtype)
    for step in range(remainders.steps):
        tail = lines[:, remainders.rows_of(step), remainders.start :].reshape(filters, -1)
        left[:, step, : tail.shape[1]] = tail
    parts = [lines[:, :, : remainders.start].reshape(filters, -1), left.reshape(filters, -1)]
    return np.ascontiguousarray(np.concatenate(parts, axis=1)[:, :, None, None])


class OutputRows:
    """The output rows that pixels begin .. end lie in.

    first, count  as expressions
    most          largest count for the given ranges of pixels
    """

    def __init__(self, width: int, begin: Expr, end: Expr, ranges: list[tuple[int, int]]) -> None:
        self.width, self.first = width, bind(quotient(begin, width))
        self.count = bind(quotient(end - 1, width) - self.first + 1)
        self.most = max((high - 1) // width - low // width + 1 for low, high in ranges)


def copy_remainders(
    ins: Instructions,
    remainders: RemainderTaps,
    source: Buffer,
    pitch: int,
    rows: OutputRows,
    window: Callable[[Expr], Expr],
) -> Buffer:
    """The packed taps of these output rows.

    source  may be read a vector beyond its end; pitch: elements of a row
    window  where in the source the window of an output pixel begins
    """
    target = workspace(rows.most * remainders.steps * remainders.line, ins.x_dtype)
    columns, apart = remainders.lanes(ins.lanes * ins.taps), remainders.conv.dilation[0] * pitch
    with T.serial(0, rows.count) as row:
        line = bind(window((rows.first + row) * rows.width) + remainders.start)
        for step in range(remainders.steps):
            begin = bind((row * remainders.steps + step) * remainders.line)
            places = [bind(line + kernel_row * apart) for kernel_row in remainders.rows_of(step)]
            _copy_columns(ins, remainders, source, target, places, begin, columns)
    return target


def _copy_columns(
    ins: Instructions,
    remainders: RemainderTaps,
    source: Buffer,
    target: Buffer,
    places: list[Expr],
    begin: Expr,
    columns: int,
) -> None:
    """Copy a step of an output row; places: where the taps of its kernel rows begin."""
    apart = remainders.conv.strides[1] * remainders.conv.channels
    count = -(-remainders.conv.out_width // columns)
    with T.serial(0, count) as index:
        # the last vector ends at the last column
        column = bind(T.min(index * columns, remainders.conv.out_width - columns))
        words: Any = None
        for number, place in enumerate(places):
            x = load(source, place + column * apart, vector_type(ins.x_dtype, ins.lanes * ins.taps))
            for tap in range(remainders.size):
                word = _move_elements(
                    ins, x, [lane * apart + tap for lane in range(columns)], number * remainders.size + tap
                )
                words = word if words is None else bind(T.bitwise_or(words, word))
        kind = vector_type(ins.x_dtype, columns * remainders.taps)
        store(target, begin + column * remainders.taps, T.reinterpret(kind, words), columns * remainders.taps)


def _move_elements(ins: Instructions, x: Expr, elements: list[int], slot: int) -> Expr:
    """Move these elements of a vector into slot `slot` of a word of 32 bits each."""
    bits, lanes = 8 * np.dtype(ins.x_dtype).itemsize, len(elements)
    picked = tirx.Shuffle([x], [const(element) for element in elements])
    unsigned = T.reinterpret(vector_type(f"uint{bits}", lanes), picked)
    word = T.Cast(vector_type("uint32", lanes), unsigned)
    return bind(T.shift_left(word, spread(slot * bits, lanes, "uint32")) if slot else word)


def first_remainder(remainders: RemainderTaps, pixel: Expr, first_row: Expr) -> Expr:
    """Start of the taps of an output pixel, in a copy that starts with output row `first_row`."""
    width, row_size = remainders.conv.out_width, remainders.steps * remainders.line
    return (quotient(pixel, width) - first_row) * row_size + remainder(pixel, width) * remainders.taps


# Share of taps from which on leaving them out pays for finding them.
WORTH_SKIPPING = 0.01
MOST_PLACES = 2  # of tiles in an output row

# first kernel column, one beyond the last, pixels of the tile that have them
Stretch = tuple[int, int, tuple[int, ...]]


def rows_outside(conv: Conv2d) -> float:
    """Share of kernel rows that lie in the border.

    >>> round(rows_outside(Conv2d(1, 7, 7, 8, 8, (3, 3), padding=(1, 1, 1, 1))), 3)
    0.095
    """
    starts = [row * conv.strides[0] - conv.padding[0] for row in range(conv.out_height)]
    places = [start + row * conv.dilation[0] for start in starts for row in range(conv.kernel[0])]
    return sum(not 0 <= place < conv.height for place in places) / len(places)


def kernel_rows(conv: Conv2d, pixel: Expr, pixels: int) -> tuple[Expr, Expr]:
    """First and number of the kernel rows of which some of the pixels from `pixel` has more than border."""
    height, size, top = conv.out_height, conv.kernel[0], conv.padding[0]
    stride, dilation = conv.strides[0], conv.dilation[0]
    first, last = (quotient(place, conv.out_width) for place in (pixel, pixel + (pixels - 1)))
    if conv.batch > 1:
        first, last = bind(remainder(first, height)), bind(remainder(last, height))
    low = limit(quotient(top - last * stride + (dilation - 1), dilation), size)
    high = limit(quotient(top + conv.height - 1 - first * stride, dilation) + 1, size)
    if conv.batch > 1:  # pixels of two pictures take all rows
        low, high = T.Select(last < first, 0, low), T.Select(last < first, size, high)
    low = make_opaque(low)
    return low, make_opaque(T.max(high - low, 0))


def column_stretches(conv: Conv2d, first: int, pixels: int) -> list[Stretch]:
    """The kernel columns that pixels of output columns `first` .. `first` + `pixels` have inside of the picture.

    >>> column_stretches(Conv2d(1, 7, 7, 8, 8, (3, 3), padding=(1, 1, 1, 1)), 0, 3)
    [(0, 1, (1, 2)), (1, 3, (0, 1, 2))]
    """
    stretches: list[Stretch] = []
    for column in range(conv.kernel[1]):
        starts = [(first + pixel) * conv.strides[1] - conv.padding[1] for pixel in range(pixels)]
        inside = tuple(pixel for pixel, start in enumerate(starts) if 0 <= start + column < conv.width)
        if stretches and stretches[-1][2] == inside:
            stretches[-1] = (stretches[-1][0], column + 1, inside)
        elif inside:
            stretches.append((column, column + 1, inside))
    return stretches


def places_of(conv: Conv2d, parts: Sequence[tuple[int, int]]) -> list[tuple[int, list[Stretch]]]:
    """(output column at which tiles begin, stretches) for tiles [(pixels, count), ...]; empty where it does not pay."""
    size = parts[0][0]
    if len(parts) > 1 or conv.out_width % size or conv.out_width // size > MOST_PLACES:
        return []
    tiles = [(first, column_stretches(conv, first, size)) for first in range(0, conv.out_width, size)]
    return tiles if any(len(stretches) > 1 for _, stretches in tiles) else []
