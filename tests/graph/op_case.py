"""Parts of a case of an operator: a call, adversarial arrays, the result by tvmq.numerics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.graph import ops

# What breaks conversions: NaN, infinities, ties, both zeros, denormals, the ends of float32, values around 2^31.
HARD_FLOATS = np.float32([
    np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-39, 3.4e38, -3.4e38, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 63.49999, 127.5,
    -128.5, 255.5, 2.0**31, -(2.0**31), 2.0**24 + 2, 1e-3, 0.1,
])  # fmt: skip
HARD_SUMS = np.int32([
    0, 1, -1, 2, -2, 3, -3, 5, -5, 127, -128, 255, 256, 2**24 + 1, -(2**24) - 1, 2**30, -(2**30), 2**31 - 1, -(2**31),
    33554431, -33554433, 999999937, -123456789, 10,
])  # fmt: skip


@dataclass
class Case:
    """A call of one operator.

    inputs    {name: array}: tensors that are parameters of the test's function
    call      from the parameters to the call
    expected  from the arrays to the result
    """

    name: str
    inputs: dict[str, np.ndarray]
    call: Callable[..., relax.Call]
    expected: Callable[..., np.ndarray]
    function: relax.Function | None = field(default=None, repr=False)


def case(
    name: str,
    inputs: dict[str, np.ndarray],
    operator: str,
    *constants: Any,
    defined: Mapping[str, Any] | None = None,
    **options: Any,
) -> Case:
    """Case of an operator whose definition has its name and arguments.

    constants  arguments behind the inputs
    defined    options of the definition in the place of the operator's
    """
    own = options if defined is None else defined
    return Case(
        name.replace("-", "m"),
        inputs,
        lambda *tensors: getattr(ops, operator)(*tensors, *map(relax.const, constants), **options),
        lambda *arrays: getattr(numerics, operator)(*arrays, *constants, **own),
    )


def repeated(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.resize(values, shape)


def codes_of(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    limits = np.iinfo(dtype)
    array = np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype, endpoint=True)
    array.flat[0], array.flat[-1] = limits.min, limits.max
    return array


def axis_or_none(axis: int) -> int | None:
    """The axis of parameters as definitions take it: None where one number is for all."""
    return axis if axis >= 0 else None
