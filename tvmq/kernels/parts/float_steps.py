"""Element-wise operators on vectors of floats in registers, each by its definition (graph/evaluate.py, numerics).

Every operation is rounded by itself, so that the result is that of the operators one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tvmq.kernels.parts.builder import Expr, bind, fence
from tvmq.kernels.parts.symbols import Symbol
from tvmq.numerics.elementary import ELEMENTARY

REAL = np.float32
Steps = Sequence[tuple[str, tuple[int | float | str, ...]]]


def _clip(x: Any, low: Any, high: Any) -> Any:
    below = np.where(x < high, x, high)
    return np.where(below > low, below, low)


OPERATORS: dict[str, Callable[..., Any]] = {
    **ELEMENTARY,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": lambda a, b: np.where(a > b, a, b),
    "minimum": lambda a, b: np.where(a < b, a, b),
    "negative": np.negative,
    "nn.relu": lambda x: np.where(x > REAL(0), x, REAL(0)),
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
            return Symbol(channels[place], "float32", step, lanes)
        return REAL(place) if isinstance(place, float) else values[place]

    values: list[Any] = [Symbol(firsts, "float32", step, lanes)]
    for operator, places in steps:
        values.append(OPERATORS[operator](*map(operand, places)))
    return list(values[-1].exprs)
