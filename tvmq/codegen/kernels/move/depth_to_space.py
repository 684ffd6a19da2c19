"""Channels spread over pixels, channels last: depth-to-space, pixel shuffle, the phases of a transposed convolution.

Computes   y[n, d * sd + i, h * sh + j, w * sw + k, (g, c)] = x[n, d, h, w, (g, i, j, k, c)], with `offset` pixels
           cut off before each axis and y of any size that x reaches
Loops      parallel chunks of output rows; pixels of x; where groups == 1 the pixels side by side are one copy

Tests: tests/codegen/kernels/conv/test_subpixel.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import Expr, FunctionBuilder, bind, bind_size, flatten_buffer
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import copy_lanes, make_opaque, over_rows
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.errors import BuildError

GRAIN = 100_000  # bytes in about 10 us
Three = tuple[int, int, int]
Sizes = tuple[Expr, Expr, Expr]


@dataclass(frozen=True)
class Spread:
    """Sizes; triples are (depth, rows, columns). Sizes may be names that only a run tells.

    size     of x
    block    pixels that one pixel of x becomes
    out      size of y
    offset   pixels cut off before y, less than a block
    groups   runs of channels that each hold all pixels of a block
    """

    batch: Expr
    size: Sizes
    channels: int
    block: Three
    out: Sizes
    offset: Three = (0, 0, 0)
    groups: int = 1

    @property
    def out_channels(self) -> int:
        """Channels of y."""
        return self.channels // prod(self.block)

    @property
    def is_fixed(self) -> bool:
        """True where all sizes are numbers."""
        return all(isinstance(size, int) for size in (self.batch, *self.size, *self.out))

    def with_sizes(self, function: FunctionBuilder) -> Spread:
        """The spread with the sizes of a run in place of names."""
        batch, *sizes = (function.sizes.get(size, size) for size in (self.batch, *self.size, *self.out))
        depth, rows, columns, *out = sizes
        return replace(self, batch=batch, size=(depth, rows, columns), out=(out[0], out[1], out[2]))

    def check(self) -> None:
        """Raise BuildError where x does not hold what y asks for."""
        axes = zip(self.size, self.block, self.out, self.offset, strict=True)
        fits = self.channels % (self.groups * prod(self.block)) == 0 and all(
            0 <= offset < block and 0 < out <= size * block - offset
            for size, block, out, offset in axes
            if isinstance(size, int) and isinstance(out, int)
        )
        if not fits:
            raise BuildError(
                f"kernels, depth_to_space: {self.channels} channels in {self.groups} groups and a size of "
                f"{self.size} do not give {self.out} from {self.offset} in blocks of {self.block}"
            )


def depth_to_space(spread: Spread, isa: Isa, dtype: str = "uint8") -> Kernel:
    """Kernel x (batch * depth, rows, columns, channels) -> y alike; raises BuildError for what is no spread."""
    spread.check()
    x_shape = (spread.batch, *spread.size, spread.channels)
    y_shape = (spread.batch, *spread.out, spread.out_channels)
    itemsize = np.dtype(dtype).itemsize
    lanes = instructions(isa).vector_bytes // itemsize
    name = f"depth_to_space_{isa.name}"
    with FunctionBuilder(name, {"x": (join_slices(x_shape), dtype), "y": (join_slices(y_shape), dtype)}) as function:
        x, y = (flatten_buffer(buffer) for buffer in function.buffers)
        sizes = spread.with_sizes(function)
        row_bytes, rows = bind_size(sizes.out[2] * spread.out_channels * itemsize), function.count(y_shape[:3])
        over_rows(rows, row_bytes, GRAIN, lambda: lambda row: _row(sizes, x, y, lanes, row))
    return Kernel(
        name, function.prim_func, (), ("depth_to_space", spread, dtype, isa.name), work=KernelWork("depth_to_space")
    )


def join_slices(shape: Sequence[Any]) -> tuple[Any, ...]:
    """(batch, depth, rows, columns, channels) of a volume as a kernel takes it: a depth that is known is in the batch.

    >>> join_slices((2, 3, 5, 6, 7)), join_slices(("n", 1, 5, 6, 7)), join_slices(("n", 3, 5, 6, 7))
    ((6, 5, 6, 7), ('n', 5, 6, 7), ('n', 3, 5, 6, 7))
    """
    batch, depth, *rest = shape
    if isinstance(depth, int) and (depth == 1 or isinstance(batch, int)):
        return (batch * depth if depth > 1 else batch, *rest)
    return (batch, depth, *rest)


def _row(spread: Spread, x, y, lanes: int, row: Expr) -> None:  # type: ignore[no-untyped-def]
    """Move a row of the result."""
    (depth, rows, columns), (block_d, block_h, block_w) = spread.size, spread.block
    out_d, out_h, out_w = spread.out
    # of numbers that are not negative; TVM writes the operands of a floor several times
    divide, rest_of = (T.floordiv, T.floormod) if spread.is_fixed else (T.truncdiv, T.truncmod)
    d = make_opaque(rest_of(divide(row, out_h), out_d) + spread.offset[0])
    h = make_opaque(rest_of(row, out_h) + spread.offset[1])
    line = (divide(row, out_h * out_d) * depth + T.floordiv(d, block_d)) * rows + T.floordiv(h, block_h)
    part = spread.out_channels // spread.groups
    phase = make_opaque((T.floormod(d, block_d) * block_h + T.floormod(h, block_h)) * (block_w * part))
    begin, target = make_opaque(line * (columns * spread.channels)), make_opaque(row * (out_w * spread.out_channels))

    def pixels(column: Expr, first: Expr, count: int, to: Expr) -> None:
        """`count` output pixels from the `first` of the block of an input column."""
        source = begin + column * spread.channels + phase
        if spread.groups == 1:
            where, place = make_opaque(source + first * part), make_opaque(target + to * part)
            copy_lanes(y, place, x, where, count * part, lanes)
            return
        with T.serial(0, spread.groups) as group:
            run = make_opaque(source + group * (spread.channels // spread.groups))
            for k in range(count):
                place = make_opaque(target + (to + k) * spread.out_channels + group * part)
                copy_lanes(y, place, x, run + (first + k) * part, part, lanes)

    offset = spread.offset[2]
    if not isinstance(out_w, int):
        _dynamic_columns(out_w, block_w, offset, pixels)
        return
    lead = min(block_w - offset, out_w) if offset else 0
    if lead:
        pixels(0, offset, lead, 0)
    whole, rest = divmod(out_w - lead, block_w)
    skipped = 1 if lead else 0
    if whole:
        with T.serial(0, whole) as column:
            pixels(column + skipped, 0, block_w, column * block_w + lead)
    if rest:
        pixels(whole + skipped, 0, rest, whole * block_w + lead)


def _dynamic_columns(out: Expr, block: int, offset: int, pixels: Callable[[Expr, Expr, int, Expr], None]) -> None:
    """The pixels of a row whose length only a run tells: those of incomplete blocks one by one."""
    lead = bind(T.min(block - offset, out)) if offset else 0
    whole = make_opaque(T.truncdiv(out - lead, block))
    skipped = 1 if offset else 0
    if offset:
        with T.serial(0, lead) as k:
            pixels(0, offset + k, 1, k)
    with T.serial(0, whole) as column:
        pixels(column + skipped, 0, block, column * block + lead)
    with T.serial(0, out - lead - whole * block) as k:
        pixels(whole + skipped, k, 1, whole * block + lead + k)
