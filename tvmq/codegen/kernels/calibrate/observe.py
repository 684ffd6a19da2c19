"""observers: extremes, channel sums and histogram of a tensor, taken where the float model has just made it.

Computes   what RangeStatistics and Histogram keep of each sample, integers and extremes alone: they are put together
           by observers.streamed
Loops      sample: extremes, zeros and the largest magnitude in one pass; channel sums in a second; bins in a third;
           then the tables are added to the counts and emptied. A tensor of the usual size stays in the second cache
Exact      channel sums are sums of integers below 2^28, eight at a time in int32, then in int64. Bins are counted
           at the exponent of the largest magnitude so far; when that rises, old counts move to their wider bins, which
           is exact because truncation nests. A sample with NaN or infinity is marked and adds nothing
Sizes      of the tensor come with `place`: one function serves all tensors of a model
Measured   Zen 4, one thread: 0.7 ns a value (ResNet-50), 25 us a tensor of 25 000 values (MiniLM); see
           benchmarks/calibration.py
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.calibration.observers.exact_sum import INTEGER_BITS
from tvmq.calibration.observers.statistics_buffers import EXPONENT, HEAD, PLACE, REFUSED, TABLE, TABLES, ZEROS
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    Shape,
    bind,
    flatten_buffer,
    load,
    spread,
    store,
    vector_type,
)
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque
from tvmq.codegen.kernels.parts.work import KernelWork

UNROLLED = 4
IN_INT32 = 8  # integers below 2^28
MANTISSA_BITS, BIAS = 23, 127
INFINITE = 0xFF << MANTISSA_BITS  # bits of infinity; those of NaN are larger
LOWEST_OF_BINS, LOWEST_OF_SUMS = -126, INTEGER_BITS - 126
BIN_BITS = 13

Body = Callable[[Expr, int], None]


def observe(place: np.ndarray, isa: Isa) -> Kernel:
    """The kernel, with what observers.streamed says of the tensor."""
    lanes = isa.vector_bytes // 4
    return Kernel(f"observe_{lanes}", observer(lanes), (place,), ("observe", lanes), work=KernelWork("observe"))


@lru_cache(maxsize=4)
def observer(lanes: int) -> Any:
    """PrimFunc (x [n] float32, token [1], control [3], tables, extremes, totals, place, next token [1]).

    lanes     of vectors
    control   int32: how many samples of x are real, the first free slot of tensors with a batch, and of others
    tables    int32 [TABLES * TABLE]: zeros, and left so
    extremes  float32 [tensors, slots, 2]: lowest and highest value of the sample of each slot
    totals    int64, laid out by observers.streamed
    place     int32 [PLACE]: see observers.streamed
    """
    parameters: dict[str, tuple[Shape, str]] = {
        "x": (("n",), "float32"),
        "token": ((1,), "int32"),
        "control": ((3,), "int32"),
        "tables": ((TABLES * TABLE,), "int32"),
        "extremes": (("ends",), "float32"),
        "totals": (("size",), "int64"),
        "place": ((PLACE,), "int32"),
        "following": ((1,), "int32"),
    }
    with FunctionBuilder("observe", parameters) as function:
        x, token, control, tables, extremes, totals, place, following = map(flatten_buffer, function.buffers)
        store(following, 0, load(token, 0, "int32"), 1)
        tensor, base, slots, batched, counted, summed, outer, channels, inner = (
            load(place, i, "int32") for i in range(PLACE)
        )
        with T.serial(0, T.if_then_else(batched == 1, control[0], 1)) as sample:
            slot = make_opaque(T.if_then_else(batched == 1, control[1], control[2]) + sample)
            size = bind(outer * channels * inner)
            tensor_sample = _Sample(x, totals, make_opaque(sample * size), size, lanes)
            low, high, largest = tensor_sample.extremes(make_opaque(base))
            end = bind((tensor * slots + slot) * 2)
            store(extremes, end, low, 1)
            store(extremes, end + 1, high, 1)
            with T.If(largest >= INFINITE):
                with T.Then():
                    store(totals, base + REFUSED, T.int64(1), 1)
                with T.Else():
                    exponent = make_opaque(T.shift_right(largest, MANTISSA_BITS) - BIAS + 1)
                    with T.If(summed == 1), T.Then():
                        sums = make_opaque(base + HEAD + TABLE + slot * channels)
                        tensor_sample.sums(sums, exponent, outer, channels, inner)
                    with T.If(counted == 1), T.Then():
                        tensor_sample.bins(tables, make_opaque(base), exponent, (low, high))
    return function.prim_func


class _Sample:
    """Values of one sample of a tensor: `size` of them from `begin`."""

    def __init__(self, x: Buffer, totals: Buffer, begin: Expr, size: Expr, lanes: int) -> None:
        self.x, self.totals, self.begin, self.size, self.lanes = x, totals, begin, size, lanes

    def extremes(self, base: Expr) -> tuple[Expr, Expr, Expr]:
        """Lowest and highest value, bits of the largest magnitude; zeros are added to the head of the tensor."""
        first = load(self.x, self.begin, "float32")
        registers: dict[int, list[Register]] = {}
        for lanes in (self.lanes, 1):
            kinds = ("float32", "float32", "int32", "int32")
            registers[lanes] = [Register(kind, lanes) for _ in range(UNROLLED if lanes > 1 else 1) for kind in kinds]
            for index, register in enumerate(registers[lanes]):
                register.set(spread(first, lanes) if index % 4 < 2 else spread(0, lanes))

        def body(offset: Expr, lanes: int) -> None:
            value = load(self.x, self.begin + offset, vector_type("float32", lanes))
            low, high, largest, zeros = registers[lanes][4 * self._turn : 4 * self._turn + 4]
            low.set(T.min(low.get(), value))
            high.set(T.max(high.get(), value))
            bits = T.bitwise_and(T.reinterpret(vector_type("int32", lanes), value), spread(0x7FFFFFFF, lanes))
            largest.set(T.max(largest.get(), bits))
            zeros.set(zeros.get() + T.Cast(vector_type("int32", lanes), value == spread(0.0, lanes, "float32")))

        self._over(self.size, body, UNROLLED)
        folds = (T.min, T.max, T.max, lambda a, b: a + b)
        low, high, largest, zeros = (self._fold_lanes(registers, kind, fold) for kind, fold in enumerate(folds))
        store(self.totals, base + ZEROS, self.totals[base + ZEROS] + T.Cast("int64", zeros), 1)
        return low, high, largest

    def _fold_lanes(self, registers: dict[int, list[Register]], kind: int, fold: Callable[[Expr, Expr], Expr]) -> Expr:
        """All lanes of the registers of one kind as one number."""
        vectors = [register.get() for register in registers[self.lanes][kind::4]]
        while len(vectors) > 1:
            vectors = [bind(fold(a, b)) for a, b in zip(vectors[::2], vectors[1::2], strict=True)]
        dtype = "float32" if kind < 2 else "int32"
        kept = T.alloc_buffer((self.lanes,), dtype)
        store(kept, 0, vectors[0], self.lanes)
        total = registers[1][kind]
        with T.serial(0, self.lanes) as lane:
            total.set(fold(total.get(), kept[lane]))
        return bind(total.get())

    def _over(self, count: Expr, body: Body, unrolled: int = 1) -> None:
        """body(offset, lanes) for vectors, then for single values; `_turn` tells which of the unrolled it is."""
        step, self._turn = unrolled * self.lanes, 0
        with T.serial(0, T.floordiv(count, step)) as vector:
            for self._turn in range(unrolled):
                body(vector * step + self._turn * self.lanes, self.lanes)
        self._turn = 0
        whole = make_opaque(T.floordiv(count, step) * step)
        with T.serial(0, count - whole) as i:
            body(whole + i, 1)

    def sums(self, place: Expr, exponent: Expr, outer: Expr, channels: Expr, inner: Expr) -> None:
        """Sums of the channels at totals[place + channel]."""
        power = bind(T.max(exponent, LOWEST_OF_SUMS))
        scale = opaque_float(T.reinterpret("float32", T.shift_left(BIAS + INTEGER_BITS - power, MANTISSA_BITS)))
        with T.If(inner == 1):
            with T.Then():
                self._columns(place, scale, outer, channels)
            with T.Else():
                with T.serial(0, channels) as channel:
                    store(self.totals, place + channel, T.int64(0), 1)
                with T.serial(0, outer) as row, T.serial(0, channels) as channel:
                    begin = make_opaque(self.begin + (row * channels + channel) * inner)
                    self._run(make_opaque(place + channel), scale, begin, inner)

    def _integers(self, offset: Expr, scale: Expr, lanes: int) -> Expr:
        value = load(self.x, offset, vector_type("float32", lanes))
        return T.Cast(vector_type("int32", lanes), T.nearbyint(value * spread(scale, lanes)))

    def _columns(self, place: Expr, scale: Expr, rows: Expr, channels: Expr) -> None:
        """Add up channels that are the last axis: UNROLLED vectors of them at a time, rows by IN_INT32."""

        def block(first: Expr, lanes: int, vectors: int) -> None:
            sums = [Register("int64", lanes) for _ in range(vectors)]
            for register in sums:
                register.set(T.Cast(vector_type("int64", lanes), spread(0, lanes)))

            def add(row: Expr, count: int) -> None:
                begin = make_opaque(self.begin + row * channels + first)
                for index, register in enumerate(sums):
                    parts = [
                        self._integers(begin + part * channels + index * lanes, scale, lanes) for part in range(count)
                    ]
                    total = parts[0]
                    for part in parts[1:]:
                        total = total + part
                    register.set(register.get() + T.Cast(vector_type("int64", lanes), total))

            with T.serial(0, T.floordiv(rows, IN_INT32)) as turn:
                add(turn * IN_INT32, IN_INT32)
            whole = make_opaque(T.floordiv(rows, IN_INT32) * IN_INT32)
            with T.serial(0, rows - whole) as row:
                add(whole + row, 1)
            for index, register in enumerate(sums):
                store(self.totals, place + first + index * lanes, register.get(), lanes)

        done: Expr = 0
        for lanes, vectors in ((self.lanes, UNROLLED), (self.lanes, 1), (1, 1)):
            step, begin = lanes * vectors, done
            with T.serial(0, T.floordiv(channels - begin, step)) as index:
                block(make_opaque(begin + index * step), lanes, vectors)
            done = make_opaque(begin + T.floordiv(channels - begin, step) * step)

    def _run(self, place: Expr, scale: Expr, begin: Expr, count: Expr) -> None:
        """Add `count` neighbouring values to one sum."""
        wide, kept = Register("int64", self.lanes), T.alloc_buffer((self.lanes,), "int64")
        wide.set(T.Cast(vector_type("int64", self.lanes), spread(0, self.lanes)))
        total = Register("int64", 1)
        total.set(self.totals[place])
        step = self.lanes * IN_INT32
        with T.serial(0, T.floordiv(count, step)) as turn:
            parts = [
                self._integers(begin + turn * step + part * self.lanes, scale, self.lanes) for part in range(IN_INT32)
            ]
            added = parts[0]
            for part in parts[1:]:
                added = added + part
            wide.set(wide.get() + T.Cast(vector_type("int64", self.lanes), added))
        whole = make_opaque(T.floordiv(count, step) * step)
        with T.serial(0, T.floordiv(count - whole, self.lanes)) as vector:
            values = self._integers(begin + whole + vector * self.lanes, scale, self.lanes)
            wide.set(wide.get() + T.Cast(vector_type("int64", self.lanes), values))
        store(kept, 0, wide.get(), self.lanes)
        with T.serial(0, self.lanes) as lane:
            total.set(total.get() + kept[lane])
        whole = make_opaque(T.floordiv(count, self.lanes) * self.lanes)
        with T.serial(0, count - whole) as i:
            total.set(total.get() + T.Cast("int64", self._integers(begin + whole + i, scale, 1)))
        store(self.totals, place, total.get(), 1)

    def bins(self, tables: Buffer, base: Expr, exponent: Expr, ends: tuple[Expr, Expr]) -> None:
        """Count the values at the largest exponent so far."""
        before = bind(T.Cast("int32", self.totals[base + EXPONENT]))
        power = make_opaque(T.max(T.max(exponent - BIN_BITS, LOWEST_OF_BINS), before))
        counts = make_opaque(base + HEAD + TABLE // 2)
        with T.If(power > before), T.Then():
            self._widen_bins(counts, make_opaque(T.min(power - before, BIN_BITS + 1)))
            store(self.totals, base + EXPONENT, T.Cast("int64", power), 1)
        inverse = opaque_float(T.reinterpret("float32", T.shift_left(BIAS - power, MANTISSA_BITS)))
        bin_numbers = T.alloc_buffer((self.lanes,), "int32")

        def place_of(offset: Expr, lanes: int) -> Expr:
            value = load(self.x, self.begin + offset, vector_type("float32", lanes)) * spread(inverse, lanes)
            return T.Cast(vector_type("int32", lanes), value) + spread(TABLE // 2, lanes)

        def body(offset: Expr, lanes: int) -> None:
            if lanes == 1:
                _count(tables, place_of(offset, 1))
                return
            store(bin_numbers, 0, place_of(offset, lanes), lanes)
            for lane in range(lanes):
                _count(tables, load(bin_numbers, lane, "int32") + lane % TABLES * TABLE)

        self._over(self.size, body)
        first, last = (bind(T.Cast("int32", end * inverse) + TABLE // 2) for end in ends)
        begin, end = T.floordiv(first, self.lanes), T.floordiv(last, self.lanes) + 1
        self._empty_tables(tables, make_opaque(base + HEAD), begin, end)

    def _empty_tables(self, tables: Buffer, counts: Expr, begin: Expr, end: Expr) -> None:
        """Add the tables to the counts, vectors begin .. end."""
        first = make_opaque(begin)
        with T.serial(0, end - first) as vector:
            offset = make_opaque((first + vector) * self.lanes)
            parts = [load(tables, offset + table * TABLE, f"int32x{self.lanes}") for table in range(TABLES)]
            for table in range(TABLES):
                store(tables, offset + table * TABLE, spread(0, self.lanes), self.lanes)
            added = T.Cast(f"int64x{self.lanes}", (parts[0] + parts[1]) + (parts[2] + parts[3]))
            old = load(self.totals, counts + offset, f"int64x{self.lanes}")
            store(self.totals, counts + offset, old + added, self.lanes)

    def _widen_bins(self, middle: Expr, rise: Expr) -> None:
        """Move the counts into bins 2^rise times as wide, from the middle outwards."""
        with T.serial(0, TABLE // 2 - 1) as i:
            for sign in (-1, 1):
                count = load(self.totals, middle + sign * (i + 1), "int64")
                store(self.totals, middle + sign * (i + 1), T.int64(0), 1)
                target = bind(middle + sign * T.shift_right(i + 1, rise))
                store(self.totals, target, self.totals[target] + count, 1)


def opaque_float(value: Expr) -> Expr:
    """The float32 value, computed once."""
    register = Register("float32", 1)
    register.set(value)
    return bind(register.get())


def _count(tables: Buffer, place: Expr) -> None:
    index = bind(place)
    store(tables, index, load(tables, index, "int32") + 1, 1)
