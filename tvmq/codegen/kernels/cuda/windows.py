"""The left side of a convolution as a product: each row is the window of one output pixel, read where it lies.

    row    an output pixel of all pictures, in the order of the output
    depth  kernel row, kernel column, channel; channels padded to a multiple of 4, steps of `tile.depth` bytes

No im2col is made: for each piece of shared memory a thread finds the tap of its bytes, the same for all its rows,
and copies 16, 8 or 4 channels of each pixel at once, as many as divide the channels of a group; channels that are
no multiple of 4 are read one by one. Beyond a border lies x_zero. What lies beyond the last row or the last tap is
multiplied by zero or never stored, so it may be anything but must not be read: rows are clamped, taps compared.

Tests: tests/codegen/kernels/cuda/test_cuda_conv2d.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.cuda.builder import (
    address,
    allocate_registers,
    join_conditions,
    name_value,
    put,
    run,
    unroll,
    value_of,
    view_as_int32,
    where,
)
from tvmq.codegen.kernels.cuda.tile import Tile
from tvmq.codegen.kernels.parts.builder import Buffer, Expr
from tvmq.codegen.kernels.parts.kernel_types import Conv2d


@dataclass(frozen=True)
class Depth:
    """The reduction of a convolution, as it is cut into copies and steps."""

    conv: Conv2d
    step: int  # bytes of a step

    @property
    def channels(self) -> int:
        """Channels of a group."""
        return self.conv.channels // self.conv.groups

    @property
    def padded_channels(self) -> int:
        """Channels of a group up to a multiple of 4."""
        return -(-self.channels // 4) * 4

    @property
    def copy(self) -> int:
        """Bytes of a copy that lie in one pixel, aligned; 0 if they are read one by one."""
        return next((size for size in (16, 8, 4) if self.channels % size == 0), 0)

    @property
    def size(self) -> int:
        """Bytes of a row."""
        return self.conv.kernel[0] * self.conv.kernel[1] * self.padded_channels

    @property
    def steps(self) -> int:
        """Steps of the reduction."""
        return -(-self.size // self.step)


def packed_weights(weight: np.ndarray, depth: Depth, columns: int) -> np.ndarray:
    """Weights OIHW as [group, tile of columns, step][column][byte]: each piece as it stands in shared memory.

    Filters beyond the last, channels beyond the last and what is behind the last tap are zero.
    """
    groups, filters = depth.conv.groups, depth.conv.filters // depth.conv.groups
    tiles = -(-filters // columns)
    lines = weight.transpose(0, 2, 3, 1).reshape(groups, filters, -1, depth.channels)
    padded = np.zeros((groups, tiles * columns, depth.size // depth.padded_channels, depth.padded_channels), np.int8)
    padded[:, :filters, :, : depth.channels] = lines
    rows = np.zeros((groups, tiles * columns, depth.steps * depth.step), np.int8)
    rows[:, :, : depth.size] = padded.reshape(groups, tiles * columns, depth.size)
    pieces = rows.reshape(groups, tiles, columns, depth.steps, depth.step)
    return np.ascontiguousarray(pieces.transpose(0, 1, 3, 2, 4)).reshape(-1)


def packed_channels(values: np.ndarray, groups: int, columns: int) -> np.ndarray:
    """[groups * filters] -> [groups * tiles * columns], zero beyond the last filter of a group."""
    per_group = values.reshape(groups, -1)
    padded = np.zeros((groups, -(-per_group.shape[1] // columns) * columns), values.dtype)
    padded[:, : per_group.shape[1]] = per_group
    return padded.reshape(-1)


class LineCopies:
    """Part of a piece of lines of `step` bytes that each thread copies: one column, `passes` lines."""

    def __init__(self, thread: Expr, threads: int, lines: int, step: int, size: int, name: str) -> None:
        per_line = step // size
        at_once = threads // per_line
        self.passes = max(1, lines // at_once)
        self.stride = at_once
        self.line = value_of(f"{name}_line", T.floordiv(thread, per_line))
        self.byte = value_of(f"{name}_byte", T.floormod(thread, per_line) * size)
        self.condition: Expr = True if at_once <= lines else self.line < lines


class PixelWindows:
    """Copies of windows to shared memory."""

    def __init__(self, x: Buffer, conv: Conv2d, tile: Tile, x_zero: int, thread: Expr) -> None:
        self.x, self.conv, self.tile = x, conv, tile
        self.depth = Depth(conv, tile.depth)
        self.fill = (x_zero & 255) * 0x01010101
        self.x_zero = x_zero
        self.copies = LineCopies(thread, tile.threads, tile.rows, tile.depth, self.depth.copy or 4, "a")
        self.bordered = any(conv.padding)

    @property
    def is_pointwise(self) -> bool:
        """True if row m of the product is pixel m of the input."""
        conv = self.conv
        return conv.kernel == (1, 1) and conv.strides == (1, 1) and not self.bordered

    def find(self, first: Expr, group: Expr) -> None:
        """Remember where the windows of this thread's rows begin; first: row of the block."""
        conv, passes = self.conv, self.copies.passes
        self.begin = allocate_registers("window", passes)
        if self.bordered:
            self.top, self.left = allocate_registers("top", passes), allocate_registers("left", passes)
        pixels = conv.batch * conv.out_height * conv.out_width
        with unroll(passes, "p") as p:
            row = name_value("row", T.Bind(T.min(first + self.copies.line + p * self.copies.stride, pixels - 1)))
            if self.is_pointwise:
                put(self.begin, p, row * conv.channels + group * self.depth.channels)
                return
            picture = T.floordiv(row, conv.out_height * conv.out_width)
            top = T.floormod(T.floordiv(row, conv.out_width), conv.out_height) * conv.strides[0] - conv.padding[0]
            left = T.floormod(row, conv.out_width) * conv.strides[1] - conv.padding[1]
            top, left = value_of("y", top), value_of("x_", left)
            pixel = (picture * conv.height + top) * conv.width + left
            put(self.begin, p, pixel * conv.channels + group * self.depth.channels)
            if self.bordered:
                put(self.top, p, top)
                put(self.left, p, left)

    def copy(self, target: Buffer, base: Expr, step: Expr) -> None:
        """Copies of a step; base: where the piece begins in shared memory."""
        conv, depth, copies = self.conv, self.depth, self.copies
        at = value_of("at", step * depth.step + copies.byte)
        taps: Expr = 0 if conv.kernel == (1, 1) else value_of("tap", T.floordiv(at, depth.padded_channels))
        channel = at if conv.kernel == (1, 1) else value_of("channel", T.floormod(at, depth.padded_channels))
        down: Expr = 0 if conv.kernel[0] == 1 else T.floordiv(taps, conv.kernel[1]) * conv.dilation[0]
        right: Expr = 0 if conv.kernel[1] == 1 else T.floormod(taps, conv.kernel[1]) * conv.dilation[1]
        down, right = value_of("down", down), value_of("right", right)
        away = value_of("away", (down * conv.width + right) * conv.channels + channel)
        within: Expr = True if depth.size % depth.step == 0 else at < depth.size
        with where(copies.condition), unroll(copies.passes, "p") as p:
            inside = join_conditions(within, self._inside(p, down, right))
            line = base + (copies.line + p * copies.stride) * self.tile.pitch + copies.byte
            self._copy_one(target, line, self.begin[p] + away, channel, inside)

    def _inside(self, p: Expr, down: Expr, right: Expr) -> Expr:
        if not self.bordered:
            return True
        row, column = self.top[p] + down, self.left[p] + right
        return join_conditions(row >= 0, row < self.conv.height, column >= 0, column < self.conv.width)

    def _copy_one(self, target: Buffer, line: Expr, source: Expr, channel: Expr, inside: Expr) -> None:
        size = self.depth.copy
        if size == 0:
            self._copy_bytes(target, line, source, channel, inside)
        elif inside is True:
            run(f"tvmq_copy{size}", address(target, line), address(self.x, source))
        else:
            fill = self.fill - 2**32 if self.fill >= 2**31 else self.fill
            run(f"tvmq_copy{size}_or", address(target, line), address(self.x, source), inside, fill)

    def _copy_bytes(self, target: Buffer, line: Expr, source: Expr, channel: Expr, inside: Expr) -> None:
        """Four channels one by one, those beyond the last of the group left out."""
        word: Expr = 0
        for index in range(4):
            exists = True if index < self.depth.channels % 4 else channel + index < self.depth.channels
            read = T.Cast("int32", self.x[source + index]) & 255
            condition = join_conditions(inside, exists)
            # TVM folds a shift of numbers, and refuses one that leaves int32
            zero = (self.x_zero & 255 ^ 128) - 128 if index == 3 else self.x_zero & 255
            byte = read if condition is True else T.if_then_else(condition, read, zero)
            word = word | (byte << (8 * index))
        put(view_as_int32(target, self.tile.shared_bytes // 4), T.floordiv(line, 4), word)
