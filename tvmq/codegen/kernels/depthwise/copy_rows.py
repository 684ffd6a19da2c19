"""Copy of input rows for a depthwise kernel: padded, and columns interleaved as its dots read them.

    input row      [column][channel]                                codes
    copied row     [step][group][vector][lane][slot]                ins.x_dtype

The interleaving is done once for each input row and serves all kernel rows. Bytes are interleaved inside
128-bit blocks, two levels deep; that leaves the channels in the order of `stored_channels`, which the packs
of the epilogue undo (with one more shuffle for blocks of two AVX-512 vectors).

Tests: tests/codegen/kernels/depthwise/test_depthwise.py
"""

from __future__ import annotations

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.depthwise.plan import BLOCK_BYTES, DepthwiseShape, Extents, quarter_order
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    bind,
    const,
    load,
    prefetch,
    slice_lanes,
    spread,
    store,
    store_first,
    vector_type,
)
from tvmq.codegen.kernels.parts.loops import make_opaque

# Pictures so large come from beyond the second cache (measured: fetching costs 3 % of smaller ones). Rows are fetched
# into the second: the first holds the ring.
FAR_BYTES = 512 * 1024


def clamp(value: Expr, low: Expr, high: Expr) -> Expr:
    """The value limited to low..high; low wins."""
    return make_opaque(T.max(T.min(value, high), low))


class RowCopier:
    """Copies rows of one block of channels.

    source  flat input
    """

    def __init__(self, source: Buffer, shape: DepthwiseShape, extents: Extents, vectors: int) -> None:
        ins, conv = shape.ins, shape.conv
        self._ins, self._source, self._conv, self._columns = ins, source, conv, shape.columns
        self._width, self._is_far = extents.width, shape.picture_size >= FAR_BYTES
        self._vectors, self._channels = vectors, vectors * ins.lanes
        self._signed = conv.x_dtype == "int8"
        # codes of the signedness that dots do not take have their highest bit flipped
        self._shift = ins.shift_of(conv.x_dtype)
        self.fill_value = shape.x_zero + self._shift

    @property
    def group_size(self) -> int:
        """Elements of a group."""
        return self._channels * self._ins.taps

    @property
    def step_size(self) -> int:
        """Elements of a step."""
        return self.group_size * len(self._columns.groups)

    def fill(self, target: Buffer, begin: Expr, steps: Expr) -> None:
        """Steps of a row that lies in the padding."""
        lanes = self._ins.lanes * self._ins.taps
        value = spread(self.fill_value, lanes, self._ins.x_dtype)
        with T.serial(0, steps * (self.step_size // lanes)) as i:
            store(target, begin + i * lanes, value, lanes)

    def copy(self, target: Buffer, begin: Expr, line: Expr, first: Expr, end: Expr, left: Expr, ahead: Expr) -> None:
        """Steps first .. end of the row whose first pixel's block of channels is at `line` of the input.

        left   padding columns in front of it, less the columns from there to step 0
        ahead  elements from here to a row that will be copied soon
        """
        self._ahead, self._left = ahead, left
        columns = self._columns
        low, high = columns.columns
        inner_first = clamp(-(-(left - low) // columns.stride), first, end)
        inner_end = clamp((self._width - 1 + left - high) // columns.stride + 1, inner_first, end)
        inner = make_opaque(inner_end - inner_first)
        with T.serial(0, inner) as i:
            step = make_opaque(inner_first + i)
            self._step(target, begin + (step - first) * self.step_size, line, step, False)
        with T.serial(0, end - first - inner) as i:
            step = make_opaque(first + i + T.Select(first + i < inner_first, 0, inner))
            self._step(target, begin + (step - first) * self.step_size, line, step, True)

    def _step(self, target: Buffer, begin: Expr, line: Expr, step: Expr, border: bool) -> None:
        origin = make_opaque(step * self._columns.stride - self._left)
        pixels: dict[int, Expr] = {}
        for number, group in enumerate(self._columns.groups):
            for column in group:
                if self._is_far and not border and column < self._columns.stride:
                    prefetch(self._source, line + self._ahead + (origin + column) * self._conv.channels, 2)
                if column not in pixels:
                    pixels[column] = self._pixel(line, origin + column, border)
            self._store_group(target, bind(begin + number * self.group_size), [pixels[c] for c in group])

    def _pixel(self, line: Expr, column: Expr, border: bool) -> Expr:
        """Codes of a pixel, as unsigned bytes where bytes are interleaved; outside: the zero point."""
        conv, size = self._conv, self._channels
        kind = vector_type(conv.x_dtype, size)
        if not border:
            return self._as_unsigned(load(self._source, line + column * conv.channels, kind))
        inside = T.And(column >= 0, column < self._width)
        nearest = clamp(column, 0, self._width - 1)
        codes = self._as_unsigned(load(self._source, line + nearest * conv.channels, kind))
        value, dtype = (self.fill_value & 0xFF, "uint8") if self._bytes else (self.fill_value, conv.x_dtype)
        fill = spread(value, size, dtype)
        return bind(T.Select(inside, codes, fill))

    @property
    def _bytes(self) -> bool:
        """True if pixels are handled as unsigned bytes."""
        return self._ins.taps > 1 and not self._ins.takes_int16

    def _as_unsigned(self, codes: Expr) -> Expr:
        if not self._bytes or not (self._signed or self._shift):
            return codes
        bits = T.reinterpret(vector_type("uint8", self._channels), codes)
        if self._shift:
            bits = T.bitwise_xor(bits, spread(128, self._channels, "uint8"))
        return bind(bits)

    def _store_group(self, target: Buffer, begin: Expr, pixels: list[Expr]) -> None:
        size = self._channels
        if self._ins.takes_int16 and self._ins.taps == 2:
            self._store_pairs(target, begin, pixels)
            return
        if not self._bytes:
            store(target, begin, T.Cast(vector_type(self._ins.x_dtype, size), pixels[0]), size)
            return
        size = max(size, BLOCK_BYTES)
        if size > self._channels:
            # four or eight channels fill a part of a block
            pixels = [bind(_shuffle([p] * (size // self._channels), list(range(size)))) for p in pixels]
        self._store_quarters(target, begin, self._interleave(pixels, size), size)

    def _store_pairs(self, target: Buffer, begin: Expr, pixels: list[Expr]) -> None:
        """Codes of 16 bits of two pixels in turn, vector by vector."""
        lanes = self._ins.lanes
        order = [place for lane in range(lanes) for place in (lane, lanes + lane)]
        for first in range(0, self._channels, lanes):
            parts = [pixel if self._channels == lanes else slice_lanes(pixel, first, lanes) for pixel in pixels]
            store(target, begin + 2 * first, bind(_shuffle([bind(part) for part in parts], order)), 2 * lanes)

    def _interleave(self, pixels: list[Expr], size: int) -> list[Expr]:
        """Four vectors of `size` bytes: [channel][4 pixels], or [channel][2 pixels] as int16; two of pairs of bytes."""
        zeros = spread(0, size, "uint8")
        vectors = []
        for high in (0, 1):
            if len(pixels) == 4:
                left, right = (unpack(pixels[i], pixels[i + 1], high, 1, size) for i in (0, 2))
                vectors += [unpack(left, right, half, 2, size) for half in (0, 1)]
                continue
            pairs = unpack(pixels[0], pixels[1], high, 1, size)
            if self._ins.takes_bytes:
                vectors.append(pairs)
            else:
                vectors += [self._widen(unpack(pairs, zeros, half, 1, size), size) for half in (0, 1)]
        return vectors

    def _widen(self, words: Expr, size: int) -> Expr:
        """int16 of bytes below zero bytes."""
        words = T.reinterpret(vector_type("int16", size // 2), words)
        if not self._signed:
            return bind(words)
        sign = spread(128, size // 2, "int16")  # x ^ 128 - 128 extends the sign of a byte
        return bind(T.bitwise_xor(words, sign) - sign)

    def _store_quarters(self, target: Buffer, begin: Expr, quarters: list[Expr], size: int) -> None:
        """Store what `_interleave` gives, in the order of `stored_channels`."""
        lanes = size // np.dtype(self._ins.x_dtype).itemsize
        share = self._channels * self._ins.taps  # elements to store, which may be less than a vector
        order = quarter_order(self._vectors) if len(quarters) == 4 else (0, 1)
        kept = [quarter for quarter in order if 16 // len(quarters) * quarter < self._channels]
        for number, quarter in enumerate(kept):
            bits = quarters[quarter]
            codes = bits if lanes < size else T.reinterpret(vector_type(self._ins.x_dtype, lanes), bits)
            store_first(target, begin + number * lanes, codes, lanes, min(lanes, share))


def unpack(a: Expr, b: Expr, high: int, width: int, size: int) -> Expr:
    """vpunpck of vectors of `size` bytes: groups of `width` bytes of a and b in turn, half of every block."""
    lanes = [
        source + block + high * 8 + group * width + byte
        for block in range(0, size, BLOCK_BYTES)
        for group in range(8 // width)
        for source in (0, size)
        for byte in range(width)
    ]
    return bind(_shuffle([a, b], lanes))


def _shuffle(vectors: list[Expr], lanes: list[int]) -> Expr:
    return tirx.Shuffle(vectors, [const(lane) for lane in lanes])
