"""depthwise: one filter a channel, uint8 or int8 x int8 -> int32 -> codes on NVIDIA GPUs.

Computes   numerics.conv with as many groups as channels and filters, then the epilogue, bit for bit
Layouts    x NHWC, weights [tap][channel], output NHWC
Needs      bias already holds -x_zero * sum(weights)
Threads    a thread has four neighbouring channels, one word, of `pixels` neighbouring outputs of a row, so that a
           column of the input is read once for all of them; neighbouring threads have neighbouring words. Channels
           that are no multiple of four: one channel a thread, ordinary multiply-adds
Sums       dp4a of the word with the weights of one channel, the other three masked out: one instruction for what
           would be two to take the byte out and one to multiply and add. 9 taps x 4 channels are 36 dp4a a pixel and
           36 masks for all pixels of the thread
Bytes      bound by memory on every GPU: 9 multiply-adds for a byte read and a byte written at best

Tests: tests/codegen/kernels/cuda/test_cuda_depthwise.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.conv.conv2d import check_operands
from tvmq.codegen.kernels.cuda.builder import (
    CudaFunction,
    allocate_registers,
    call,
    join_conditions,
    put,
    unroll,
    value_of,
    view_as_int32,
    where,
)
from tvmq.codegen.kernels.cuda.choose import gpu_of
from tvmq.codegen.kernels.cuda.conv2d import largest_sum
from tvmq.codegen.kernels.cuda.epilogue import (
    LARGEST_EXACT,
    after_steps,
    byte_of,
    is_codes,
    other_names,
    plan_steps,
    scale_sum,
    word_of,
)
from tvmq.codegen.kernels.cuda.product import SHORT
from tvmq.codegen.kernels.parts.builder import Expr
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan, Parameters
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Epilogue, Kernel
from tvmq.errors import BuildError

THREADS = 256
MOST_PIXELS = 4  # 4 x 4 sums, 6 columns and 4 masked weights of 3 x 3 are about 40 registers
ENOUGH_THREADS = 512  # for each multiprocessor: below, more pixels a thread leave the GPU idle
MOST_UNROLLED_ROWS = 7


def depthwise(conv: Conv2d, weight: np.ndarray, bias: np.ndarray, x_zero: int, epilogue: Epilogue, arch: int) -> Kernel:
    """Kernel of a depthwise convolution; parameters x, the b of each Add, constants, y.

    weight    int8 [channels, 1, kernel rows, kernel columns]
    others    as those of cuda.conv2d
    raises    BuildError for shapes, types or steps that do not fit
    """
    check_operands("cuda depthwise", conv, weight, bias)
    if not conv.groups == conv.channels == conv.filters:
        raise BuildError(
            f"kernels, cuda depthwise: needs one filter a channel and group. Got {conv.channels} channels, "
            f"{conv.filters} filters and {conv.groups} groups"
        )
    shape = _Shape(conv, _pixels(conv, arch))
    bound = largest_sum(conv, weight, bias)
    plan, is_exact = plan_steps(epilogue, bound), bound <= LARGEST_EXACT
    name = f"depthwise_{'dp4a' if shape.lanes == 4 else 'bytes'}_{shape.pixels}"
    taps = np.ascontiguousarray(weight.reshape(conv.channels, -1).T)
    spread = plan.constants(lambda values: np.ascontiguousarray(np.broadcast_to(np.ravel(values), conv.filters)))
    zero = x_zero if any(conv.padding) else None
    func = _CudaDepthwiseTemplate(shape, x_zero, plan, is_exact).prim_func(name)
    return Kernel(name, func, (taps.reshape(-1), bias, *spread), ("cuda", name, conv, zero, plan.key, is_exact))


@dataclass(frozen=True)
class _Shape:
    """A convolution and how many pixels a thread has."""

    conv: Conv2d
    pixels: int

    @property
    def lanes(self) -> int:
        """Channels of a thread."""
        return 4 if self.conv.channels % 4 == 0 else 1

    @property
    def per_pixel(self) -> int:
        """Threads for all channels of a pixel."""
        return self.conv.channels // self.lanes

    @property
    def per_row(self) -> int:
        """Groups of pixels of a row."""
        return -(-self.conv.out_width // self.pixels)

    @property
    def threads(self) -> int:
        """Threads that have something to do."""
        return self.conv.batch * self.conv.out_height * self.per_row * self.per_pixel

    @property
    def columns(self) -> int:
        """Input columns under the windows of a thread."""
        conv = self.conv
        return (self.pixels - 1) * conv.strides[1] + (conv.kernel[1] - 1) * conv.dilation[1] + 1


def _pixels(conv: Conv2d, arch: int) -> int:
    """Pixels of a thread: as many as leave enough threads."""
    enough = gpu_of(arch).processors * ENOUGH_THREADS
    fitting = [n for n in (MOST_PIXELS, 2) if n <= conv.out_width and _Shape(conv, n).threads >= enough]
    return fitting[0] if fitting else 1


class _CudaDepthwiseTemplate:
    """The PrimFunc; see the head of this file."""

    def __init__(self, shape: _Shape, x_zero: int, plan: EpiloguePlan, is_exact: bool) -> None:
        self.shape, self.conv, self.plan, self.is_exact = shape, shape.conv, plan, is_exact
        fill = (x_zero & 255) * 0x01010101
        self.fill = x_zero if shape.lanes == 1 else fill - 2**32 if fill >= 2**31 else fill
        self.scale_names = list(plan.scaler.parameters(1)) if plan.scaler is not None else []

    def prim_func(self, name: str) -> Any:
        """The function."""
        conv, plan = self.conv, self.plan
        parameters: Parameters = {"x": ((conv.batch, conv.height, conv.width, conv.channels), conv.x_dtype)}
        parameters |= plan.data_parameters(conv.out_shape)
        parameters["w"] = ((conv.kernel[0] * conv.kernel[1] * conv.channels,), "int8")
        parameters["bias"] = ((conv.filters,), "int32")
        parameters |= plan.constant_parameters(conv.filters) | {"y": (conv.out_shape, plan.out_dtype)}
        blocks = -(-self.shape.threads // THREADS)
        with CudaFunction(name, parameters, (blocks, 1), THREADS) as function:
            self.buffers = function.flat_views(parameters)
            index = value_of("index", function.block[0] * THREADS + function.thread)
            with where(True if self.shape.threads % THREADS == 0 else index < self.shape.threads):
                self._body(index)
        return function.prim_func

    def _body(self, index: Expr) -> None:
        shape, conv = self.shape, self.conv
        channel = value_of("channel", T.floormod(index, shape.per_pixel) * shape.lanes)
        place = T.floordiv(index, shape.per_pixel)
        first = value_of("first", T.floormod(place, shape.per_row) * shape.pixels)
        row = value_of("row", T.floordiv(place, shape.per_row))  # of all pictures
        picture = value_of("picture", T.floordiv(row, conv.out_height))
        top = value_of("top", T.floormod(row, conv.out_height) * conv.strides[0] - conv.padding[0])
        left = value_of("left", first * conv.strides[1] - conv.padding[1])
        self.sums = allocate_registers("sums", shape.pixels * shape.lanes)
        self.line = allocate_registers("columns", shape.columns)
        with unroll(shape.pixels * shape.lanes, "i") as i:
            put(self.sums, i, 0)
        many = conv.kernel[0] > MOST_UNROLLED_ROWS
        with T.serial(0, conv.kernel[0]) if many else unroll(conv.kernel[0], "tap_row") as tap_row:
            y = value_of("y_", top + tap_row * conv.dilation[0])
            self._read_row(picture, y, left, channel)
            with unroll(conv.kernel[1], "tap_column") as tap_column:
                self._add_tap(tap_row * conv.kernel[1] + tap_column, tap_column, channel)
        with unroll(shape.pixels, "pixel") as pixel:
            self._write(pixel, row, first, channel)

    def _read_row(self, picture: Expr, y: Expr, left: Expr, channel: Expr) -> None:
        """The input under the windows, of one row: words of four channels, or codes."""
        conv, shape = self.conv, self.shape
        rows = join_conditions(y >= 0, y < conv.height) if conv.padding[0] or conv.padding[2] else True
        begin = value_of("begin", ((picture * conv.height + y) * conv.width + left) * conv.channels + channel)
        ragged = conv.padding[1] or conv.padding[3] or conv.out_width % shape.pixels
        with unroll(shape.columns, "column") as column:
            at = begin + column * conv.channels
            inside = join_conditions(rows, *((left + column >= 0, left + column < conv.width) if ragged else ()))
            read = self._codes("x", at)
            put(self.line, column, read if inside is True else T.if_then_else(inside, read, self.fill))

    def _codes(self, name: str, at: Expr) -> Expr:
        """Four codes as a word, or one as int32, from an element on."""
        buffer = self.buffers[name]
        if self.shape.lanes == 1:
            return T.Cast("int32", buffer[at])
        return view_as_int32(buffer, int(buffer.shape[0]) // 4)[T.floordiv(at, 4)]

    def _add_tap(self, tap: Expr, tap_column: Expr, channel: Expr) -> None:
        conv, shape = self.conv, self.shape
        weights = value_of("weights", self._codes("w", tap * conv.channels + channel))
        with unroll(shape.lanes, "lane") as lane:
            # 255 << 24 as an int32 is negative, which is the mask that is meant
            own = weights if shape.lanes == 1 else value_of("own", weights & (T.int32(255) << (lane * 8)))
            with unroll(shape.pixels, "pixel") as pixel:
                column = self.line[pixel * conv.strides[1] + tap_column * conv.dilation[1]]
                at = pixel * shape.lanes + lane
                put(self.sums, at, self._multiply(column, own, self.sums[at]))

    def _multiply(self, codes: Expr, weights: Expr, total: Expr) -> Expr:
        if self.shape.lanes == 1:
            return total + codes * weights
        return call("int32", f"tvmq_dp4a_{SHORT[self.conv.x_dtype]}s8", codes, weights, total)

    def _write(self, pixel: Expr, row: Expr, first: Expr, channel: Expr) -> None:
        conv, shape = self.conv, self.shape
        with where(True if conv.out_width % shape.pixels == 0 else first + pixel < conv.out_width):
            at = value_of("at", (row * conv.out_width + first + pixel) * conv.channels + channel)
            results = [self._scale_sum(pixel, lane, channel) for lane in range(shape.lanes)]
            if not is_codes(self.plan):
                for lane, result in enumerate(results):
                    put(self.buffers["y"], at + lane, result)
                return
            others = [(value_of(f"{name}_codes", self._codes(name, at)), kind) for name, kind in other_names(self.plan)]
            self._store_codes(at, [self._finish_code(code, lane, others) for lane, code in enumerate(results)])

    def _scale_sum(self, pixel: Expr, lane: int, channel: Expr) -> Expr:
        bias, *constants = [self.buffers[name][channel + lane] for name in ("bias", *self.scale_names)]
        total = value_of("total", self.sums[pixel * self.shape.lanes + lane] + bias)
        return scale_sum(self.plan, total, constants, self.is_exact)

    def _finish_code(self, code: Expr, lane: int, others: list[tuple[Expr, str]]) -> Expr:
        single = self.shape.lanes == 1
        codes = [word if single else byte_of(word, lane, kind) for word, kind in others]
        return value_of("code", after_steps(self.plan, self.buffers, code, codes))

    def _store_codes(self, at: Expr, codes: list[Expr]) -> None:
        y = self.buffers["y"]
        if len(codes) == 1:
            put(y, at, T.Cast(self.plan.out_dtype, codes[0]))
        else:
            put(view_as_int32(y, int(y.shape[0]) // 4), T.floordiv(at, 4), word_of(codes))
