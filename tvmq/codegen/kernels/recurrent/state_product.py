"""The product of a recurrent layer's state with its weight, once a step: rows of a few samples, panels of columns.

Floats     sums in the order of the depth, each product and each sum rounded: vectors hold neighbouring columns
Codes      the rows are quantized first, with a scale each; exact sums by `dot`, then float32(sum) * (row's * column's)
Weights    [panel][step along the depth][vector of the panel][lane][tap], zero where there is no column or depth
Registers  ROWS x panel of sums, one of weights, one of the state

Tests: tests/codegen/kernels/recurrent/test_recurrent.py
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    Register,
    Shape,
    bind,
    const,
    fence,
    load,
    over,
    slice_lanes,
    split_evenly,
    spread,
    store,
    vector_type,
)
from tvmq.codegen.kernels.parts.loops import make_opaque
from tvmq.codegen.kernels.parts.weight_order import order_weights

PANEL = 8  # vectors: the latency of a sum is filled by those of the other columns
LARGEST_CODE = 127
LARGEST, NORMAL = float(np.finfo(np.float32).max), float(np.finfo(np.float32).smallest_normal)


def filters_of(weight: np.ndarray) -> np.ndarray:
    """[depth, columns] as the weights of a convolution."""
    return np.ascontiguousarray(weight.T)[:, :, None, None]


@dataclass(frozen=True)
class StateProduct:
    """h [rows, depth] times weight [depth, columns].

    is_codes  the weight is int8, and so becomes h
    """

    ins: Instructions
    rows: int
    depth: int
    columns: int
    is_codes: bool

    @property
    def taps(self) -> int:
        """Neighbours along the depth that one step takes."""
        return self.ins.taps if self.is_codes else 1

    @property
    def steps(self) -> int:
        """Steps along the depth."""
        return -(-self.depth // self.taps)

    @cached_property
    def parts(self) -> list[tuple[int, int]]:
        """Vectors of columns, cut into panels."""
        registers = self.ins.registers - (8 if self.ins.registers > 16 else 4)
        return split_evenly(-(-self.columns // self.ins.lanes), max(1, min(PANEL, registers // self.rows)))

    @property
    def pitch(self) -> int:
        """Columns, whole vectors."""
        return sum(size * count for size, count in self.parts) * self.ins.lanes

    @property
    def code_pitch(self) -> int:
        """Codes of a row: whole steps, whole vectors."""
        return max(self.steps * self.taps, pad(self.depth, self.ins.lanes))

    @property
    def size(self) -> int:
        """Packed weights."""
        return self.steps * self.taps * self.pitch

    def parameters(self, name: str) -> dict[str, tuple[Shape, str]]:
        """Constants of the kernel."""
        if not self.is_codes:
            return {f"weight{name}": ((self.size,), "float32")}
        line = (self.pitch,)
        return {
            f"weight{name}": ((self.size,), self.ins.w_dtype),
            f"scale{name}": (line, "float32"),
            f"begin{name}": (line, "int32"),
        }

    def recipe(self) -> dict[str, Any]:
        """Recipe of the packed weights, see weight_order.py."""
        return {
            "shape": [self.columns, self.depth, 1, 1], "groups": 1, "run": self.depth, "taps": self.taps,
            "dtype": self.ins.w_dtype if self.is_codes else "float32",
            "slots": np.arange(self.pitch).reshape(-1, self.ins.lanes).tolist(),
            "parts": [list(part) for part in self.parts],
        }  # fmt: skip

    def constants(self, weight: np.ndarray, scale: np.ndarray | None) -> tuple[np.ndarray, ...]:
        """Arrays of `parameters`; weight [depth, columns], scale [columns]."""
        ins, recipe = self.ins, self.recipe()
        slots, dtype = np.array(recipe["slots"]), recipe["dtype"]
        packed = order_weights(filters_of(weight), 1, self.depth, slots, self.parts, self.taps, dtype)
        if scale is None:
            return (packed,)
        scales, begin = np.zeros(self.pitch, np.float32), np.zeros(self.pitch, np.int32)
        scales[: self.columns] = scale
        begin[: self.columns] = -ins.shift_of("int8") * weight.astype(np.int64).sum(axis=0)
        return packed, scales, begin

    def emit(
        self, state: Buffer, pitch: int, codes: Buffer, scales: Buffer, constants: list[Buffer], sums: Buffer
    ) -> None:
        """sums [rows, self.pitch] = the product; state [rows, pitch]; codes and scales are scratch memory."""
        if self.is_codes:
            with T.serial(0, self.rows) as row:
                self._quantize(state, make_opaque(row * pitch), codes, make_opaque(row * self.code_pitch), scales, row)

        def panel(first: Expr, count: int) -> None:
            if self.is_codes:
                self._code_panel(codes, scales, constants, sums, make_opaque(first), count)
            else:
                self._float_panel(state, pitch, constants[0], sums, make_opaque(first), count)

        over(self.parts, panel)

    def _float_panel(self, state: Buffer, pitch: int, weight: Buffer, sums: Buffer, first: Expr, count: int) -> None:
        lanes = self.ins.lanes
        totals = [[Register("float32", lanes) for _ in range(count)] for _ in range(self.rows)]
        for total in sum(totals, []):
            total.set(spread(0.0, lanes, "float32"))
        base = make_opaque(first * (lanes * self.steps))
        with T.serial(0, self.depth) as k:
            line = [load(weight, base + (k * count + i) * lanes, vector_type("float32", lanes)) for i in range(count)]
            for row, own in enumerate(totals):
                value = bind(spread(state[row * pitch + k], lanes))
                for total, w in zip(own, line, strict=True):
                    total.set(total.get() + bind(fence(value * w)))
        for row, own in enumerate(totals):
            for i, total in enumerate(own):
                store(sums, row * self.pitch + (first + i) * lanes, total.get(), lanes)

    def _code_panel(
        self, codes: Buffer, scales: Buffer, constants: list[Buffer], sums: Buffer, first: Expr, count: int
    ) -> None:
        ins, lanes = self.ins, self.ins.lanes
        weight, w_scale, begin = constants
        vector = lanes * self.taps
        totals = [[Register("int32", lanes) for _ in range(count)] for _ in range(self.rows)]
        for i in range(count):
            value = load(begin, (first + i) * lanes, vector_type("int32", lanes))
            for own in totals:
                own[i].set(value)
        base = make_opaque(first * (vector * self.steps))
        with T.serial(0, self.steps) as k:
            line = [
                load(weight, base + (k * count + i) * vector, vector_type(ins.w_dtype, vector)) for i in range(count)
            ]
            for row, own in enumerate(totals):
                value = ins.broadcast(codes, row * self.code_pitch + k * self.taps)
                for total, w in zip(own, line, strict=True):
                    total.set(ins.dot(total.get(), value, w))
        for row, own in enumerate(totals):
            scale = bind(spread(scales[row], lanes))
            for i, total in enumerate(own):
                at = (first + i) * lanes
                both = bind(fence(scale * load(w_scale, at, vector_type("float32", lanes))))
                real = bind(fence(T.Cast(vector_type("float32", lanes), total.get()) * both))
                store(sums, row * self.pitch + at, real, lanes)

    def _quantize(self, state: Buffer, begin: Expr, codes: Buffer, place: Expr, scales: Buffer, row: Expr) -> None:
        """numerics.dynamic_quantize of a row, whose padding is zero, by its numerics.dynamic_scale."""
        ins, lanes = self.ins, self.ins.lanes
        kind, vectors = vector_type("float32", lanes), pad(self.depth, lanes) // lanes
        largest = Register("float32", lanes)
        largest.set(spread(0.0, lanes, "float32"))
        with T.serial(0, vectors) as i:
            value = load(state, begin + i * lanes, kind)
            # the order of the operands leaves NaN out
            magnitude = bind(T.min(spread(LARGEST, lanes, "float32"), T.abs(value)))
            largest.set(T.max(magnitude, largest.get()))
        most = bind(largest.get())
        half = lanes
        while half > 1:
            half //= 2
            low, high = (bind(slice_lanes(most, at, half)) for at in (0, half))
            most = bind(T.max(low, high))
        step = bind(most / const(float(LARGEST_CODE), "float32"))
        scale = bind(T.Select(step >= const(NORMAL, "float32"), step, const(1.0, "float32")))
        store(scales, row, scale, 1)
        low, high = (spread(float(sign * LARGEST_CODE), lanes, "float32") for sign in (-1, 1))
        with T.serial(0, vectors) as i:
            value = load(state, begin + i * lanes, kind)
            # NaN becomes the lowest code
            steps = bind(T.min(T.max(bind(value / spread(scale, lanes)), low), high))
            shifted = ins.to_int32(steps) + spread(ins.shift_of("int8"), lanes)
            store(codes, place + i * lanes, T.Cast(vector_type(ins.x_dtype, lanes), shifted), lanes)


def pad(size: int, multiple: int) -> int:
    """The next multiple.

    >>> pad(17, 16)
    32
    """
    return -(-size // multiple) * multiple
