"""Sizes times a constant that is no whole number, as exporters compute those of a resize.

    Shape -> Gather -> Cast to float32 -> Mul by 0.5 -> Floor -> Cast to int64

The product stays a `ScaledSize` until it is rounded, and becomes a fraction of whole numbers then: rows // 2. The
fraction is compared with float32's product at every size up to LARGEST; a constant for which none agrees is not
followed.

Tests: tests/formats/onnx/importer/test_scaled_sizes.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from tvm import relax

LARGEST = 1 << 20
DENOMINATORS = (64, 4096, 1 << 24)  # most that a fraction is looked for with, simple ones first


@dataclass(frozen=True)
class ScaledSize:
    """An expression of dynamic dimensions times, or divided by, a float32 constant.

    operator  "Mul" or "Div"
    """

    size: Any
    operator: str
    constant: float

    def floor(self) -> Any:
        """The product rounded down; None where no fraction is equal to it."""
        fraction = find_fraction(self.operator, self.constant, "Floor")
        return None if fraction is None else self.size * fraction.numerator // fraction.denominator

    def ceil(self) -> Any:
        """The product rounded up; None where no fraction is equal to it."""
        fraction = find_fraction(self.operator, self.constant, "Ceil")
        if fraction is None:
            return None
        return (self.size * fraction.numerator + (fraction.denominator - 1)) // fraction.denominator


@lru_cache(maxsize=64)
def find_fraction(operator: str, constant: float, rounding: str) -> Fraction | None:
    """p / q with n * p / q equal to float32's result, both rounded, for all n up to LARGEST; None if there is none.

    >>> find_fraction("Mul", 0.5, "Floor"), find_fraction("Div", 3.0, "Ceil")
    (Fraction(1, 2), Fraction(1, 3))
    """
    if not 2.0**-20 < constant < 2.0**20:
        return None
    sizes = np.arange(LARGEST + 1)
    results = COMPUTE[operator](sizes.astype(np.float32), np.float32(constant))
    wanted = (np.floor if rounding == "Floor" else np.ceil)(results).astype(np.int64)
    for fraction in _fractions(operator, constant):
        extra = 0 if rounding == "Floor" else fraction.denominator - 1
        if np.array_equal((sizes * fraction.numerator + extra) // fraction.denominator, wanted):
            return fraction
    return None


def _fractions(operator: str, constant: float) -> Iterator[Fraction]:
    exact = Fraction(float(constant))
    for most in DENOMINATORS:
        yield (exact if operator == "Mul" else 1 / exact).limit_denominator(most)


def scaled_vector(values: np.ndarray) -> relax.Expr:
    """Tensor of these scaled sizes, computed at run time in float32; all have the same operator."""
    items = list(values.flat)
    sizes = relax.op.astype(relax.op.shape_to_tensor(relax.ShapeExpr([item.size for item in items])), "float32")
    constants = relax.const(np.array([item.constant for item in items], np.float32), "float32")
    return OPERATORS[items[0].operator](sizes, constants)


COMPUTE: dict[str, Callable[..., np.ndarray]] = {"Mul": np.multiply, "Div": np.divide}
OPERATORS: dict[str, Callable[..., relax.Expr]] = {"Mul": relax.op.multiply, "Div": relax.op.divide}
