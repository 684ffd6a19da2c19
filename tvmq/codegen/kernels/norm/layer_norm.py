"""Layer norm and rms norm of float32 with what stands around them: a sum before, codes behind, all in one pass.

Computes   t = a + b, y = numerics.layer_norm(t) or rms_norm, codes = numerics.quantize(y [* factor]), bit for bit; t
           and y are written only where others read them
Layouts    any shape; the last axes, those of a row, are contiguous; the others may be dynamic
Loops      parallel chunks of groups of rows; GROUP rows side by side, as the sums of a row wait for each other; three
           walks over a group: sum and mean, mean of squares, result; vectors of 16 lanes, as the definition sums
Rounding   products that feed a sum are fenced, or LLVM would round both at once (FMA); codes by quantize_by_reciprocal
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    Shape,
    bind,
    ceildiv,
    const,
    fence,
    load,
    spread,
    store,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.float_vectors import (
    FLOAT,
    LANES,
    CodeLimits,
    any_bit,
    inverse,
    keep_first_lanes,
    load_tail,
    quantize_by_division,
    quantize_by_reciprocal,
    spread_float,
    sum_halves,
)
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque, over_rows, tail_pieces
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.work import NORM_CYCLES, KernelWork

GROUP = 4
GRAIN = 20_000  # elements in about 10 us


@dataclass(frozen=True)
class LayerNorm:
    """Static description: the norm of rows of x, the sum before it and the codes behind it.

    shape    of x; `axes` of its last axes make a row, the others may be names of dynamic sizes
    centred  False leaves the mean and beta out: rms norm
    adds     there is a second operand, and t is their sum
    scales   the codes are those of y * factor
    codes    None for none
    outputs  which of "sum", "norm" and "codes" are written, in this order
    """

    shape: Shape
    axes: int
    epsilon: float
    centred: bool
    adds: bool
    codes: CodeLimits | None
    outputs: tuple[str, ...]
    scales: bool = False

    @property
    def length(self) -> int:
        """Elements of a row."""
        return prod(int(size) for size in self.shape[len(self.shape) - self.axes :])

    @property
    def leading(self) -> Shape:
        """Sizes that count rows."""
        return self.shape[: len(self.shape) - self.axes]


def layer_norm(norm: LayerNorm, scale: float, isa: Isa) -> Kernel:
    """Kernel a, [b,] gamma [length], [beta,] [factor [length],] [scale,] outputs; scale: of the codes, if there are."""
    constants = () if norm.codes is None else (np.array([scale], np.float32),)
    kind = "layer_norm" if norm.centred else "rms_norm"
    return _LayerNormTemplate(norm, f"{kind}_{isa.name}").kernel(constants, KernelWork(kind, NORM_CYCLES[kind]))


class _LayerNormTemplate(Template):
    """Norm; see the head of this file."""

    def __init__(self, norm: LayerNorm, name: str) -> None:
        self.norm, self.name, self.key = norm, name, ("layer_norm", norm)
        self.whole_length = norm.length // LANES * LANES

    def parameters(self) -> Parameters:
        norm = self.norm
        full, line = norm.shape, (norm.length,)
        parameters: Parameters = {"a": (full, "float32")} | ({"b": (full, "float32")} if norm.adds else {})
        parameters |= {key: (line, "float32") for key in (("gamma", "beta") if norm.centred else ("gamma",))}
        if norm.scales:
            parameters["factor"] = (line, "float32")
        kinds = {}
        if norm.codes is not None:
            parameters["scale"] = ((1,), "float32")
            kinds["codes"] = norm.codes.dtype
        return parameters | {key: (full, kinds.get(key, "float32")) for key in norm.outputs}

    def body(self, function: FunctionBuilder) -> None:
        norm = self.norm
        count = function.count(norm.leading)
        rows = min(GROUP, count) if isinstance(count, int) else GROUP

        def start() -> Callable[[Expr], None]:
            factor = None if norm.codes is None else inverse(self.buffers["scale"])

            def group(number: Expr) -> None:
                # the last group is shifted back, or has the last row several times: what is computed twice is equal
                if isinstance(count, int):
                    first = make_opaque(T.min(number * rows, count - rows))
                    indices = [first + row for row in range(rows)]
                else:
                    indices = [T.min(number * rows + row, count - 1) for row in range(rows)]
                self._group([make_opaque(index * norm.length) for index in indices], factor)

            return group

        over_rows(ceildiv(count, rows), rows * norm.length, GRAIN, start)

    def _group(self, begins: Sequence[Expr], factor: Expr | None) -> None:
        buffers = self.buffers
        source, places = buffers["a"], begins
        if self.norm.adds and "sum" in buffers:
            source = buffers["sum"]
        elif self.norm.adds:
            source = workspace(len(begins) * self.norm.length + LANES, "float32")
            places = [row * self.norm.length for row in range(len(begins))]
        means = self._means(begins, source, places)
        roots = self._roots(source, places, means)
        doubt = Register("int32", LANES)
        doubt.set(spread(0, LANES))

        def write(offset: Expr, lanes: int, *, divide: bool) -> None:
            for begin, place, mean, root in zip(begins, places, means, roots, strict=True):
                value = self._normalize(source, place, offset, lanes, mean, root)
                if "norm" in buffers and not divide:
                    store(buffers["norm"], begin + offset, value, lanes)
                if factor is not None:
                    if self.norm.scales:
                        value = bind(value * load(buffers["factor"], offset, vector_type("float32", lanes)))
                    self._write_codes(value, begin + offset, lanes, factor, None if divide else doubt)

        self._over(write, divide=False)
        if factor is not None:
            with T.If(any_bit(bind(doubt.get()))):
                with T.Then():
                    self._over(write, divide=True)

    def _over(self, write: Callable[..., None], *, divide: bool) -> None:
        """write(offset, lanes, divide=) for all elements of a row."""
        if self.whole_length:
            with T.serial(0, self.whole_length // LANES) as i:
                write(i * LANES, LANES, divide=divide)
        for offset, lanes in tail_pieces(self.norm.length, LANES):
            write(offset, lanes, divide=divide)

    def _means(self, begins: Sequence[Expr], source: Buffer, places: Sequence[Expr]) -> list[Expr]:
        """The mean of each row; writes the sums of both operands to `source` on the way."""
        norm = self.norm
        totals = self._zeros(len(begins))

        def value(row: int, offset: Expr, lanes: int) -> Expr:
            kind = vector_type("float32", lanes)
            if not norm.adds:
                return load(source, places[row] + offset, kind)
            parts = [load(self.buffers[key], begins[row] + offset, kind) for key in ("a", "b")]
            total = bind(parts[0] + parts[1])
            store(source, places[row] + offset, total, lanes)
            return total

        if self.whole_length and (norm.adds or norm.centred):
            with T.serial(0, self.whole_length // LANES) as i:
                for row, total in enumerate(totals):
                    total.set(total.get() + value(row, i * LANES, LANES))
        if norm.adds:
            for row in range(len(begins)):
                for offset, lanes in tail_pieces(norm.length, LANES):
                    value(row, offset, lanes)
        if not norm.centred:
            return [const(0.0, "float32")] * len(begins)
        return self._averages(totals, source, places, lambda _row, vector: vector)

    def _roots(self, source: Buffer, places: Sequence[Expr], means: Sequence[Expr]) -> list[Expr]:
        """1 / sqrt(mean of squares + epsilon) of each row."""
        totals = self._zeros(len(places))

        def square(row: int, vector: Expr) -> Expr:
            d = bind(vector - spread(means[row], LANES)) if self.norm.centred else vector
            return fence(d * d)

        if self.whole_length:
            with T.serial(0, self.whole_length // LANES) as i:
                for row, (place, total) in enumerate(zip(places, totals, strict=True)):
                    total.set(total.get() + square(row, load(source, place + i * LANES, FLOAT)))
        averages = self._averages(totals, source, places, square)
        epsilon, one = const(self.norm.epsilon, "float32"), const(1.0, "float32")
        return [bind(one / T.sqrt(average + epsilon)) for average in averages]

    def _zeros(self, count: int) -> list[Register]:
        registers = [Register("float32", LANES) for _ in range(count)]
        for register in registers:
            register.set(spread_float(0.0))
        return registers

    def _averages(
        self, totals: Sequence[Register], source: Buffer, places: Sequence[Expr], value: Callable[[int, Expr], Expr]
    ) -> list[Expr]:
        """The sums of whole vectors and of what they leave, over the length."""
        length = self.norm.length
        averages = []
        for row, total in enumerate(totals):
            vector = total.get()
            if length % LANES:
                rest = value(row, load_tail(source, places[row], length))
                vector = bind(vector + keep_first_lanes(length % LANES, rest))
            sum_of_row = sum_halves(bind(vector), lambda a, b: a + b)
            averages.append(bind(sum_of_row / const(float(length), "float32")))
        return averages

    def _normalize(self, source: Buffer, place: Expr, offset: Expr, lanes: int, mean: Expr, root: Expr) -> Expr:
        """A vector of a row's results."""
        kind = vector_type("float32", lanes)
        value = load(source, place + offset, kind)
        if self.norm.centred:
            value = value - spread(mean, lanes)
        value = value * spread(root, lanes) * load(self.buffers["gamma"], offset, kind)
        return bind(fence(value) + load(self.buffers["beta"], offset, kind) if self.norm.centred else value)

    def _write_codes(self, value: Expr, place: Expr, lanes: int, factor: Expr, doubt: Register | None) -> None:
        """Codes of a vector: by a guess, what is in doubt is kept; or by division."""
        codes = self.norm.codes
        assert codes is not None
        if doubt is None or lanes < LANES:
            vector = quantize_by_division(value, self.buffers["scale"], codes, lanes)
        else:
            vector, bits = quantize_by_reciprocal(value, factor, codes)
            doubt.set(T.bitwise_or(doubt.get(), bits))
        store(self.buffers["codes"], place, vector, lanes)


def choose_layer_norm(norm: LayerNorm, scale: float, isa: Isa) -> Kernel | None:
    """The kernel; None where there are no elements."""
    return layer_norm(norm, scale, isa) if 0 not in norm.shape else None
