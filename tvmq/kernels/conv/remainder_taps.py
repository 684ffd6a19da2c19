"""The last taps of kernel rows that are no whole step of a convolution: packed, several rows to one step.

A step multiplies `taps` neighbouring elements. A row of a 7 x 7 kernel over 3 channels has 21: five steps of 4 and one
tap. By itself that tap would take a step of each of the 7 rows; packed they take two, and 37 steps do what 42 did.

    rests   [output row][step][output column][kernel row of the step][tap left over]      codes, copied from the input

Computes   nothing: the same products in another order, sums of integers do not depend on it
Loops      rows of output; steps; vectors of output columns: one load for each kernel row, its elements picked out
Needs      more work saved than the copy costs (SAVED)
Measured   Zen 4: see benchmarks/kernels.py, stem
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.kernels.isa.generic import Instructions
from tvmq.kernels.parts.builder import (
    Buffer,
    Expr,
    bind,
    const,
    load,
    quotient,
    remainder,
    spread,
    store,
    vector_type,
    workspace,
)
from tvmq.kernels.parts.types import Conv2d

SAVED = 4  # dots of a pixel; the copy costs about one for each step


@dataclass(frozen=True)
class RemainderTaps:
    """Taps left over.

    whole  elements of a kernel row that are whole steps
    size   taps that are left of each kernel row
    rows   kernel rows that share a step
    """

    conv: Conv2d
    taps: int
    whole: int
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

    >>> from tvmq.kernels.isa import level
    >>> remainder_taps(Conv2d(1, 224, 224, 3, 64, (7, 7), (2, 2)), level("avx512vnni")).steps
    2
    """
    whole, size = divmod(conv.channels * conv.kernel[1], ins.taps)
    if not size or conv.groups > 1 or conv.dilation[1] > 1 or not ins.packs_rests:
        return None
    rests = RemainderTaps(conv, ins.taps, whole * ins.taps, size, ins.taps // size)
    vectors = -(-conv.filters // ins.lanes)
    return rests if (conv.kernel[0] - rests.steps) * vectors >= SAVED else None


def in_steps(weight: np.ndarray, rests: RemainderTaps) -> np.ndarray:
    """Weights OIHW as those of one pixel whose channels are the elements of all steps, zero where there is no tap."""
    filters, channels, height, width = weight.shape
    lines = weight.transpose(0, 2, 3, 1).reshape(filters, height, width * channels)
    left = np.zeros((filters, rests.steps, rests.taps), weight.dtype)
    for step in range(rests.steps):
        taken = lines[:, rests.rows_of(step), rests.whole :].reshape(filters, -1)
        left[:, step, : taken.shape[1]] = taken
    parts = [lines[:, :, : rests.whole].reshape(filters, -1), left.reshape(filters, -1)]
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
    rests: RemainderTaps,
    source: Buffer,
    pitch: int,
    rows: OutputRows,
    window: Callable[[Expr], Expr],
) -> Buffer:
    """The packed taps of these output rows.

    source  may be read a vector beyond its end; pitch: elements of a row
    window  where in the source the window of an output pixel begins
    """
    target = workspace(rows.most * rests.steps * rests.line, ins.x_dtype)
    columns, apart = rests.lanes(ins.lanes * ins.taps), rests.conv.dilation[0] * pitch
    with T.serial(0, rows.count) as row:
        line = bind(window((rows.first + row) * rows.width) + rests.whole)
        for step in range(rests.steps):
            begin = bind((row * rests.steps + step) * rests.line)
            places = [bind(line + kernel_row * apart) for kernel_row in rests.rows_of(step)]
            _copy_columns(ins, rests, source, target, places, begin, columns)
    return target


def _copy_columns(
    ins: Instructions,
    rests: RemainderTaps,
    source: Buffer,
    target: Buffer,
    places: list[Expr],
    begin: Expr,
    columns: int,
) -> None:
    """One step of an output row; places: where the taps of its kernel rows begin."""
    apart = rests.conv.strides[1] * rests.conv.channels
    count = -(-rests.conv.out_width // columns)
    with T.serial(0, count) as index:
        # the last vector ends at the last column
        column = bind(T.min(index * columns, rests.conv.out_width - columns))
        words: Any = None
        for number, place in enumerate(places):
            x = load(source, place + column * apart, vector_type(ins.x_dtype, ins.lanes * ins.taps))
            for tap in range(rests.size):
                word = _moved(ins, x, [lane * apart + tap for lane in range(columns)], number * rests.size + tap)
                words = word if words is None else bind(T.bitwise_or(words, word))
        kind = vector_type(ins.x_dtype, columns * rests.taps)
        store(target, begin + column * rests.taps, T.reinterpret(kind, words), columns * rests.taps)


def _moved(ins: Instructions, x: Expr, elements: list[int], slot: int) -> Expr:
    """These elements of a vector, each in slot `slot` of a word of 32 bits."""
    bits, lanes = 8 * np.dtype(ins.x_dtype).itemsize, len(elements)
    picked = tirx.Shuffle([x], [const(element) for element in elements])
    unsigned = T.reinterpret(vector_type(f"uint{bits}", lanes), picked)
    word = T.Cast(vector_type("uint32", lanes), unsigned)
    return bind(T.shift_left(word, spread(slot * bits, lanes, "uint32")) if slot else word)


def first_remainder(rests: RemainderTaps, pixel: Expr, first_row: Expr) -> Expr:
    """Where the taps of an output pixel begin, in a copy that starts with output row `first_row`."""
    width = rests.conv.out_width
    return (quotient(pixel, width) - first_row) * (rests.steps * rests.line) + remainder(pixel, width) * rests.taps
