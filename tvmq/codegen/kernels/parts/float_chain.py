"""Sums of products to floats, element-wise operators on them, codes of the result: all in registers.

Vectors take turns, a few at a time, as each operation waits for the one before; half vectors are joined in pairs.

Element-wise operators on vectors of floats in registers, each by its definition (graph/evaluate.py, numerics).

Every operation is rounded by itself, so that the result is that of the operators one after the other.

Tests: tests/codegen/kernels/parts/test_float_steps.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa.generic import GENERIC, Instructions
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, bind, fence, slice_lanes, spread, vector_type
from tvmq.codegen.kernels.parts.kernel_types import FloatSteps
from tvmq.codegen.kernels.parts.scaler import Parameters, Scaler
from tvmq.codegen.kernels.parts.symbols import TirSymbol
from tvmq.numerics.elementary import ELEMENTARY

REAL = np.float32
Steps = Sequence[tuple[str, tuple[int | float | str, ...]]]


def _clip(x: Any, low: Any, high: Any) -> Any:
    below = np.where(high < x, high, x)
    return np.where(low > below, low, below)


OPERATORS: dict[str, Callable[..., Any]] = {
    **ELEMENTARY,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": lambda a, b: np.where(a == a, np.where(a > b, a, b), a),
    "minimum": lambda a, b: np.where(a == a, np.where(a < b, a, b), a),
    "negative": np.negative,
    "nn.relu": lambda x: np.where(REAL(0) > x, REAL(0), x),
    "nn.leakyrelu": lambda x, slope: np.where(x >= REAL(0), x, x * slope),
    "clip": _clip,
}


def run_steps(firsts: Sequence[Expr], steps: Steps, channels: Mapping[str, Sequence[Expr]], lanes: int) -> list[Expr]:
    """The last value of the steps for several vectors, which take turns.

    firsts    vectors of float32: value 0 of each
    steps     (operator, operands), see FloatSteps
    channels  vectors by name, one for each of `firsts`
    """

    def step(value: Expr, dtype: str) -> Expr:
        return bind(fence(value) if dtype == "float32" else value)

    def operand(place: int | float | str) -> Any:
        if isinstance(place, str):
            return TirSymbol(channels[place], "float32", step, lanes)
        return REAL(place) if isinstance(place, float) else values[place]

    values: list[Any] = [TirSymbol(firsts, "float32", step, lanes)]
    for operator, places in steps:
        values.append(OPERATORS[operator](*map(operand, places)))
    return list(values[-1].exprs)


AT_ONCE = 6  # vectors: the latency of their operations is filled, and registers suffice


@dataclass(frozen=True, eq=False)
class FloatChain(Scaler):
    """numerics.dequantize of sums, element-wise operators by their definitions, and numerics.quantize, if it is there.

    All in registers: no float reaches memory, but those of the result.
    """

    floats: FloatSteps

    @property
    def dtype(self) -> str:
        return "float32" if self.floats.codes is None else self.floats.codes[-1]

    @property
    def key(self) -> tuple[Any, ...]:
        codes = self.floats.codes
        return "floats", self.floats.steps, tuple(self.floats.channels), codes and codes[1:]

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        arrays = {"scale": self.step.scale, **self.floats.channels}
        return {name: np.asarray(array, np.float32) for name, array in arrays.items()}

    def parameters(self, channels: int) -> Parameters:
        shapes = super().parameters(channels)
        return shapes if self.floats.codes is None else shapes | {"step": ((1,), "float32")}

    def constants(self, pack: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, ...]:
        packed = super().constants(pack)
        return packed if self.floats.codes is None else (*packed, np.array(self.floats.codes[:1], np.float32))

    def load(self, buffers: Sequence[Buffer], offset: Expr, lanes: int) -> tuple[Expr, ...]:
        vectors = super().load(buffers, offset, lanes)
        return vectors if self.floats.codes is None else (*vectors, bind(spread(buffers[len(vectors)][0], lanes)))

    def reals(self, total: Expr, constants: tuple[Expr, ...], lanes: int) -> Expr:
        return self._at_once([total], [constants], GENERIC, lanes)[0]

    def all_reals(self, totals: Sequence[Expr], constants: Sequence[tuple[Expr, ...]], ins: Instructions) -> list[Expr]:
        """`reals` of several vectors, a few at a time: by itself, each would wait for its own results."""
        lanes, results = ins.lanes, []
        if ins.full_width.lanes == 2 * lanes and len(totals) > 1:  # half vectors take as long as whole ones
            pairs = len(totals) // 2
            joined = [_join_lanes(totals[2 * i], totals[2 * i + 1], lanes) for i in range(pairs)]
            joined_constants = [_joined_constants(constants[2 * i], constants[2 * i + 1], lanes) for i in range(pairs)]
            for value in self.all_reals(joined, joined_constants, ins.full_width):
                results += [bind(slice_lanes(value, begin, lanes)) for begin in (0, lanes)]
        while len(results) < len(totals):
            part = slice(len(results), len(results) + AT_ONCE)
            results += self._at_once(totals[part], constants[part], ins, lanes)
        return results

    def _at_once(
        self, totals: Sequence[Expr], constants: Sequence[tuple[Expr, ...]], ins: Instructions, lanes: int
    ) -> list[Expr]:
        kind = vector_type("float32", lanes)
        firsts = [
            bind(fence(T.Cast(kind, total) * scale)) for total, (scale, *_) in zip(totals, constants, strict=True)
        ]
        channels = {name: [terms[1 + place] for terms in constants] for place, name in enumerate(self.floats.channels)}
        values = run_steps(firsts, self.floats.steps, channels, lanes)
        if self.floats.codes is None:
            return values
        _, zero_point, qmin, qmax, dtype = self.floats.codes
        low, high = (spread(float(limit - zero_point), lanes, "float32") for limit in (qmin, qmax))
        rounded = [
            bind(ins.to_int32(T.min(T.max(value / terms[-1], low), high), lanes))
            for value, terms in zip(values, constants, strict=True)
        ]
        return [bind(T.Cast(vector_type(dtype, lanes), value + spread(zero_point, lanes))) for value in rounded]


def _join_lanes(a: Expr, b: Expr, lanes: int) -> Expr:
    """Bound vector of two vectors of `lanes` lanes."""
    return bind(tirx.Shuffle([a, b], [tirx.const(lane, "int32") for lane in range(2 * lanes)]))


def _joined_constants(a: Sequence[Expr], b: Sequence[Expr], lanes: int) -> tuple[Expr, ...]:
    """Constants of two vectors for one of both."""
    return tuple(_join_lanes(x, y, lanes) for x, y in zip(a, b, strict=True))
