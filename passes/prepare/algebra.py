"""Sums of products of powers: the one form that all spellings of a normalization or a softmax have.

    x = variable()                                  # a tensor, of three axes for example
    d = add(x, scaled(mean(x, {2}), -1))            # x - mean(x)
    mean(times(d, d), {2})                          # mean(x^2) - mean(x)^2, as any other way to write a variance gives

A Polynomial is {product of powers: coefficient}. What is raised to powers are bases: the tensor itself, means of
products, exp, log, and sums that are no product. Quotients and roots are powers; exp of a sum is a product, the log
of a product a sum; a mean is linear, and what does not change along its axes stands before it.

Tests: tests/passes/prepare/test_recognize.py
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

MOST_TERMS, MOST_LETTERS = 12, 1000  # of what is still looked at: norms have five terms
CANCELLED = 1e-6  # what is left of two terms that cancel, relative to them: constants are float32

Coefficient = Any  # a float, or an array that broadcasts along the axes of the tensor


class NoNormalForm(Exception):
    """An expression that is not brought into this form."""


@dataclass(frozen=True)
class Base:
    """Base that is raised to a power; equal keys are equal functions.

    kind      "x", "mean" (of a product), "max", "min", "log", "sum" (of a polynomial), "exp" (of a product), "other"
    key       text that says all
    constant  axes along which it does not change
    inside    the product or polynomial of which it is a function
    axes      of means and extremes
    """

    kind: str
    key: str
    constant: frozenset[int]
    inside: Any = None
    axes: frozenset[int] = frozenset()

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Base) and self.key == other.key


Product = tuple[tuple[Base, float], ...]  # bases and their exponents, sorted by key
Polynomial = Mapping[Product, Coefficient]
ONE: Product = ()


def variable(unit: frozenset[int] = frozenset()) -> Polynomial:
    """The tensor; `unit` are its axes of one element.

    >>> as_text(variable())
    'x'
    """
    return {((Base("x", "x", unit), 1.0),): 1.0}


def constant(value: Coefficient) -> Polynomial:
    """A number or an array."""
    return {ONE: value} if np.any(value) else {}


def without_repeats(array: np.ndarray) -> np.ndarray:
    """The array with one element along each axis on which it does not change.

    >>> without_repeats(np.float32([[1, 2], [1, 2]]))
    array([[1., 2.]], dtype=float32)
    """
    for axis in range(array.ndim):
        first = array.take([0], axis) if array.shape[axis] else array
        if (array == first).all():
            array = first
    return array


def as_text(p: Polynomial) -> str:
    """The polynomial as text, numbers by six digits: equal polynomials have equal texts.

    >>> as_text(add(scale_polynomial(variable(), 2.0), constant(0.5)))
    '0.5 + 2*x'
    """
    text = " + ".join(sorted("*".join([_number(c), *factors(m)] if _number(c) != "1" or not m else factors(m))
                             for m, c in p.items()))  # fmt: skip
    if len(text) > MOST_LETTERS:
        raise NoNormalForm("too long")
    return text


def factors(product: Product) -> list[str]:
    """The bases with their exponents as texts."""
    return [base.key if exponent == 1 else f"{base.key}^{exponent:.6g}" for base, exponent in product]


def _number(value: Coefficient) -> str:
    if np.ndim(value) == 0:
        return f"{float(value):.6g}"
    fractions, exponents = np.frexp(value)
    digest = hashlib.sha256(np.rint(fractions * 2**18).tobytes() + exponents.tobytes()).hexdigest()
    return f"{np.shape(value)}{digest[:32]}"


# ---- sums and products


def add(p: Polynomial, q: Polynomial) -> Polynomial:
    """The sum; terms that cancel are gone.

    >>> as_text(add(variable(), scale_polynomial(variable(), -0.99999999)))
    ''
    """
    result = dict(p)
    for product, value in q.items():
        old = result.get(product, 0.0)
        total, size = old + value, max(np.max(np.abs(old)), np.max(np.abs(value)))
        if np.max(np.abs(total)) <= CANCELLED * size and product in result:
            del result[product]
        else:
            result[product] = total
    if len(result) > MOST_TERMS:
        raise NoNormalForm("too many terms")
    return result


def scale_polynomial(p: Polynomial, factor: Coefficient) -> Polynomial:
    """The product with a number or an array."""
    return {product: value * factor for product, value in p.items()} if np.any(factor) else {}


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    """The product; a sum that it has to the first power is multiplied out.

    >>> x = variable()
    >>> as_text(times(add(x, constant(1.0)), add(x, constant(-1.0))))
    '-1 + x^2'
    """
    if len(p) * len(q) > 4 * MOST_TERMS:
        raise NoNormalForm("too many terms")
    result: Polynomial = {}
    for first, a in p.items():
        for second, b in q.items():
            result = add(result, scale_polynomial(_multiply_products(first, second), a * b))
    return result


def _multiply_products(first: Product, second: Product) -> Polynomial:
    exponents: dict[Base, float] = dict(first)
    for base, exponent in second:
        exponents[base] = exponents.get(base, 0.0) + exponent
    sums = [base for base, exponent in exponents.items() if base.kind == "sum" and exponent == 1]
    kept = ((base, e) for base, e in exponents.items() if abs(e) > 1e-9 and base not in sums)
    result: Polynomial = {tuple(sorted(kept, key=lambda item: item[0].key)): 1.0}
    return reduce(times, (base.inside for base in sums), result)
