"""row_codes: codes of rows of floats by a scale that each row makes, with the floats themselves, all in one pass.

Computes   v = x, or numerics.dynamic_dequantize(sums) and element-wise operators on it;
           scale = numerics.dynamic_scale(v) along the last axis, codes = numerics.dynamic_quantize(v, scale);
           bit for bit
Layouts    any shape; the last axis, a row, has a known length, the others may be dynamic
Loops      parallel chunks of rows; two walks over a row: values and their largest magnitude, then codes
Rounding   each operation of the values is fenced, as in float_chain.py; codes by division, as the definition says
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.generic import GENERIC, Instructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    Shape,
    bind,
    const,
    fence,
    load,
    spread,
    store,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.float_chain import Steps, run_steps
from tvmq.codegen.kernels.parts.float_vectors import LANES, quantize_vector, spread_float, sum_halves
from tvmq.codegen.kernels.parts.kernel_types import FloatSteps, Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque, over_rows, tail_pieces
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.work import KernelWork

GRAIN = 20_000  # elements in about 10 us
LARGEST, NORMAL = float(np.finfo(np.float32).max), float(np.finfo(np.float32).smallest_normal)


@dataclass(frozen=True)
class RowCodes:
    """Static description.

    shape         of the values: numbers, and names of dynamic sizes; the last one is a number
    steps         behind the dequantized sums, see FloatSteps; None: the values are an input
    channels      names of the arrays that steps read, one number for each place in a row
    outputs       which of "reals", "scale" and "codes" are written, in this order; scale and codes only together
    largest_code  of the codes
    """

    shape: Shape
    steps: Steps | None
    channels: tuple[str, ...]
    outputs: tuple[str, ...]
    largest_code: int = 127

    @property
    def length(self) -> int:
        """Elements of a row."""
        return int(self.shape[-1])


def row_codes(rows: RowCodes, isa: Isa, w_scale: np.ndarray | None = None, floats: FloatSteps | None = None) -> Kernel:
    """Kernel x, outputs; or sums (int32), x_scale [..., 1], w_scale and channels (constants), outputs."""
    constants = () if floats is None else (w_scale, *(floats.channels[name] for name in rows.channels))
    arrays = (np.ascontiguousarray(np.broadcast_to(np.float32(array), rows.length)) for array in constants)
    return _RowCodesTemplate(rows, instructions(isa)).kernel(arrays, KernelWork("row_codes", 20.0))


class _RowCodesTemplate(Template):
    """Values, scale and codes of rows; see the head of this file."""

    def __init__(self, rows: RowCodes, ins: Instructions) -> None:
        self.rows, self.name = rows, f"row_codes_{ins.name}"
        self.key = (self.name, rows)
        self.at_once = max(1, ins.lanes // 4)  # vectors of LANES that take turns: registers suffice

    def parameters(self) -> Parameters:
        rows = self.rows
        line, scales = ((rows.length,), "float32"), ((*rows.shape[:-1], 1), "float32")
        if rows.steps is None:
            inputs: Parameters = {"x": (rows.shape, "float32")}
        else:
            inputs = {"x": (rows.shape, "int32"), "x_scale": scales, "w_scale": line}
        outputs = {"reals": (rows.shape, "float32"), "scale": scales, "codes": (rows.shape, "int8")}
        return inputs | dict.fromkeys(rows.channels, line) | {name: outputs[name] for name in rows.outputs}

    def body(self, function: FunctionBuilder) -> None:
        count, length = function.count(self.rows.shape[:-1]), self.rows.length

        def start() -> Callable[[Expr], None]:
            if self.rows.steps is None or "reals" in self.buffers:
                values = self.buffers["x" if self.rows.steps is None else "reals"]
                return lambda row: self._row(row, values, make_opaque(row * length))
            values = workspace(length + LANES, "float32")
            return lambda row: self._row(row, values, const(0))

        over_rows(count, length, GRAIN, start)

    def _row(self, row: Expr, values: Buffer, place: Expr) -> None:
        """A row, whose floats stand in values[place:], or come to stand there."""
        begin = make_opaque(row * self.rows.length)
        largest = [Register("float32", LANES) for _ in range(self.at_once)]
        for register in largest:
            register.set(spread_float(0.0))
        x_scale = None if self.rows.steps is None else bind(self.buffers["x_scale"][row])

        def write(offsets: list[Expr], lanes: int) -> None:
            vectors = self._values(begin, offsets, lanes, x_scale)
            for offset, vector, register in zip(offsets, vectors, largest, strict=False):
                if x_scale is not None:
                    store(values, place + offset, vector, lanes)
                if lanes == LANES:
                    register.set(_raise_largest(vector, register.get(), lanes))

        self._over(write)
        if "codes" not in self.buffers:
            return
        scale = self._scale([register.get() for register in largest], values, place)
        store(self.buffers["scale"], row, scale, 1)
        divisor = T.alloc_buffer((LANES,), "float32")
        store(divisor, 0, scale, 1)
        limits = -self.rows.largest_code, self.rows.largest_code

        def encode(offsets: list[Expr], lanes: int) -> None:
            for offset in offsets:
                value = load(values, place + offset, vector_type("float32", lanes))
                codes = quantize_vector(GENERIC, value, divisor, lanes, 0, limits, "int8")
                store(self.buffers["codes"], begin + offset, codes, lanes)

        self._over(encode)

    def _over(self, body: Callable[[list[Expr], int], None]) -> None:
        """body(offsets, lanes) for all elements of a row: several whole vectors at once, then what they leave."""
        length, step = self.rows.length, self.at_once * LANES
        if length >= step:
            with T.serial(0, length // step) as i:
                body([i * step + vector * LANES for vector in range(self.at_once)], LANES)
        rest = range(length // step * step, length // LANES * LANES, LANES)
        if rest:
            body([const(offset) for offset in rest], LANES)
        for offset, lanes in tail_pieces(length, LANES):
            body([const(offset)], lanes)

    def _values(self, begin: Expr, offsets: list[Expr], lanes: int, x_scale: Expr | None) -> list[Expr]:
        """Vectors of a row's floats."""
        if x_scale is None:
            return [bind(load(self.buffers["x"], begin + at, vector_type("float32", lanes))) for at in offsets]

        def line(name: str) -> list[Expr]:
            return [bind(load(self.buffers[name], at, vector_type("float32", lanes))) for at in offsets]

        sums = [load(self.buffers["x"], begin + at, vector_type("int32", lanes)) for at in offsets]
        factors = [bind(fence(spread(x_scale, lanes) * w_scale)) for w_scale in line("w_scale")]
        kind = vector_type("float32", lanes)
        firsts = [bind(fence(T.Cast(kind, total) * factor)) for total, factor in zip(sums, factors, strict=True)]
        return run_steps(firsts, self.rows.steps or (), {name: line(name) for name in self.rows.channels}, lanes)

    def _scale(self, vectors: list[Expr], values: Buffer, place: Expr) -> Expr:
        """The scale of a row from the largest of its whole vectors; what they leave is looked at here."""
        vector = vectors[0]
        for other in vectors[1:]:
            vector = bind(T.max(vector, other))
        largest = Register("float32", 1)
        largest.set(sum_halves(vector, T.max))
        whole = self.rows.length // LANES * LANES
        if whole < self.rows.length:
            with T.serial(0, self.rows.length - whole) as i:
                largest.set(_raise_largest(bind(load(values, place + whole + i, "float32")), largest.get(), 1))
        step = bind(largest.get() / const(float(self.rows.largest_code), "float32"))
        return bind(T.Select(step >= const(NORMAL, "float32"), step, const(1.0, "float32")))


def _raise_largest(vector: Expr, largest: Expr, lanes: int) -> Expr:
    """The larger of |vector|, at most the largest number, and what was seen so far; the order leaves NaN out."""
    magnitude = bind(T.min(spread(LARGEST, lanes, "float32"), tirx.abs(vector)))
    return T.max(magnitude, largest)


def choose_row_codes(
    rows: RowCodes, w_scale: np.ndarray | None, floats: FloatSteps | None, isa: Isa
) -> Kernel | None:
    """The kernel; None for empty tensors."""
    return None if 0 in rows.shape else row_codes(rows, isa, w_scale, floats)
