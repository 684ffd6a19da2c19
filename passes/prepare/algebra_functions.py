"""Powers, bounds, means, exponentials and logarithms of the polynomials of algebra.py.

What is not brought into their form is an UnknownForm.

Tests: tests/passes/test_spellings.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np

from tvmq.passes.prepare.algebra import (
    ONE,
    Base,
    NoNormalForm,
    Polynomial,
    Product,
    add,
    as_text,
    constant,
    factors,
    scale_polynomial,
    times,
)

LEAST_ADDED = 1e-6  # an epsilon up to here may stand beside a root, under it, or be a lower bound
LEAST_BESIDE_1 = 1e-7
LARGEST_EXPONENT = 80.0


# ---- powers


def power(p: Polynomial, exponent: float) -> Polynomial:
    """p to a power, which is defined where p is such (roots of what is not negative).

    >>> from tvmq.passes.prepare.algebra import variable
    >>> x = variable()
    >>> as_text(times(power(add(times(x, x), constant(4.0)), -0.5), constant(2.0)))
    '2*(4 + x^2)^-0.5'
    """
    if exponent in (1.0, 2.0, 3.0):
        return reduce(times, [p] * int(exponent))
    if not p:
        raise NoNormalForm("a power of 0")
    if exponent == -1 and (beside := _move_under_root(p)) is not None:
        return power(beside, -0.5)
    if exponent == -1 and _is_above_1(p):
        p = {product: value for product, value in p.items() if product}
    is_whole = exponent == int(exponent)
    if len(p) == 1:
        ((product, value),) = p.items()
        if is_whole or (np.all(np.asarray(value) > 0) and all(_is_positive(base, 1.0) for base, _ in product)):
            return {tuple((base, e * exponent) for base, e in product): np.power(value, exponent)}
    base, content = _as_base(p)
    return {((base, exponent),): content**exponent}


def _as_base(p: Polynomial) -> tuple[Base, float]:
    """The polynomial as a base, its first coefficient taken out."""
    content = min(((_sort_key(product), value) for product, value in p.items()), key=lambda item: item[0])[1]
    if np.ndim(content):
        raise NoNormalForm("a root of what varies")
    inside = scale_polynomial(p, 1 / abs(float(content)))
    return Base("sum", f"({as_text(inside)})", _constant_axes(inside), inside), abs(float(content))


def _sort_key(product: Product) -> tuple[bool, str]:
    """Numbers come last."""
    return not product, "*".join(factors(product))


def _move_under_root(p: Polynomial) -> Polynomial | None:
    """v + e^2 for sqrt(v) + e of a tiny e; equal up to e / sqrt(v)."""
    if len(p) != 2 or ONE not in p or np.ndim(p[ONE]) or not 0 < float(p[ONE]) <= LEAST_ADDED:
        return None
    squared = under_root({product: value for product, value in p.items() if product})
    return None if squared is None else add(squared, constant(float(p[ONE]) ** 2))


def _is_above_1(p: Polynomial) -> bool:
    """True for sum(exp(u - max(u))) + e of a tiny e, which changes no digit."""
    if len(p) != 2 or ONE not in p or np.ndim(p[ONE]) or not 0 < float(p[ONE]) <= LEAST_BESIDE_1:
        return False
    ((product, value),) = [item for item in p.items() if item[0]]
    inverse = [base.inside[0][0] for base, e in product if base.kind == "exp" and e == -1]
    means = [base for base, e in product if base.kind == "mean" and e == 1]
    if len(product) != 2 or not inverse or not means or inverse[0].kind != "max" or np.any(np.asarray(value) < 1):
        return False
    return inverse[0].axes == means[0].axes and {means[0].inside: 1.0} == exponential(inverse[0].inside)


def under_root(p: Polynomial) -> Polynomial | None:
    """Radicand v of p = sqrt(v); None where p is no root."""
    if len(p) != 1:
        return None
    ((product, value),) = p.items()
    if len(product) != 1 or product[0][1] != 0.5 or not np.all(np.asarray(value) > 0):
        return None
    base = product[0][0]
    inside = base.inside if base.kind == "sum" else {((base, 1.0),): 1.0}
    return scale_polynomial(inside, value * value)


def absolute(p: Polynomial) -> Polynomial:
    """abs(p): p itself where that is not negative, else the root of its square."""
    return p if is_positive(p) else power(times(p, p), 0.5)


def at_least(p: Polynomial, bound: float) -> Polynomial:
    """max(p, bound), for a bound that p cannot fall below, or a tiny one: that is added, under the root if p is one.

    >>> from tvmq.passes.prepare.algebra import variable
    >>> x = variable()
    >>> variance = add(mean(times(x, x), {0}), scale_polynomial(times(mean(x, {0}), mean(x, {0})), -1))
    >>> as_text(at_least(variance, 0.0)) == as_text(variance)
    True
    """
    if bound <= -1e30 or (bound <= 0 and is_positive(p)):
        return p
    if not 0 < bound <= LEAST_ADDED or not is_positive(p):
        raise NoNormalForm("a bound")
    squared = under_root(p)
    return add(p, constant(bound)) if squared is None else power(add(squared, constant(bound**2)), 0.5)


def at_most(p: Polynomial, bound: float) -> Polynomial:
    """min(p, bound), for a bound that is none, or a large one of 1 / sqrt(v)."""
    if bound >= 1e30:
        return p
    if bound <= 0:
        raise NoNormalForm("a bound")
    return power(at_least(power(p, -1.0), 1 / bound), -1.0)


def opaque_function(name: str, operands: Sequence[Polynomial]) -> Polynomial:
    """A function of polynomials of which only its name is known, and along which axes it does not change."""
    key = f"{name}({', '.join(map(as_text, operands))})"
    fixed = frozenset.intersection(*map(_constant_axes, operands))
    return {((Base("other", key, fixed, operands), 1.0),): 1.0}


def is_positive(p: Polynomial) -> bool:
    """True for what is known to be 0 or more: even powers, exponentials, their means and sums, variances."""
    rest = dict(p)
    for product, value in p.items():
        if np.ndim(value) == 0 and value < 0 and len(product) == 1:
            base, exponent = product[0]
            squares = base.kind == "mean" and exponent == 2 and _mean_of_squares(base)
            if not squares or squares not in rest or not np.all(rest[squares] >= -value * (1 - 1e-5)):
                return False
            del rest[product]
    signs = all(np.all(np.asarray(value) >= 0) for value in rest.values())
    return signs and all(_is_positive(*factor) for product in rest for factor in product)


def _mean_of_squares(base: Base) -> Product:
    squared = tuple((inner, 2 * e) for inner, e in base.inside)
    return next(iter(mean({squared: 1.0}, base.axes)))


def _is_positive(base: Base, exponent: float) -> bool:
    if exponent % 2 == 0 or exponent != int(exponent) or base.kind == "exp":
        return True
    if base.kind == "mean":
        return all(_is_positive(*factor) for factor in base.inside)
    return base.kind == "sum" and is_positive(base.inside)


# ---- means, exponentials, logarithms


def mean(p: Polynomial, axes: frozenset[int] | set[int]) -> Polynomial:
    """The mean over axes, of which each keeps one place.

    >>> from tvmq.passes.prepare.algebra import variable
    >>> x = variable()
    >>> as_text(mean(times(x, mean(x, {1})), {1})), as_text(mean(mean(x, {1}), {0}))
    ('mean[1](x)^2', 'mean[0, 1](x)')
    """
    result: Polynomial = {}
    for product, value in p.items():
        if np.ndim(value) and any(np.shape(value)[axis] != 1 for axis in axes):
            raise NoNormalForm("a mean of what is weighted")
        outside = tuple(factor for factor in product if factor[0].constant >= axes)
        inside = _mean_of([factor for factor in product if factor not in outside], axes)
        result = add(result, scale_polynomial(times({outside: 1.0}, inside), value))
    return result


def _mean_of(product: list[tuple[Base, float]], axes: frozenset[int] | set[int]) -> Polynomial:
    if not product:
        return {ONE: 1.0}
    over, inside = frozenset(axes), tuple(product)
    if len(product) == 1 and product[0][0].kind == "mean" and product[0][1] == 1:  # a mean of means
        base = product[0][0]
        over, inside = over | base.axes, base.inside
    fixed = frozenset.intersection(*(base.constant for base, _ in inside)) | over
    key = f"mean{sorted(over)}({'*'.join(factors(inside))})"
    return {((Base("mean", key, fixed, inside, over), 1.0),): 1.0}


def extreme(kind: str, p: Polynomial, axes: frozenset[int]) -> Polynomial:
    """The largest ("max") or smallest ("min") value over axes."""
    key = f"{kind}{sorted(axes)}({as_text(p)})"
    return {((Base(kind, key, _constant_axes(p) | axes, p, axes), 1.0),): 1.0}


def _constant_axes(p: Polynomial) -> frozenset[int]:
    """Axes along which nothing in it changes."""
    if any(np.ndim(value) for value in p.values()):
        return frozenset()
    sets = [base.constant for product in p for base, _ in product]
    return frozenset.intersection(*sets) if sets else frozenset()


def exponential(p: Polynomial) -> Polynomial:
    """exp(p) as a product.

    >>> from tvmq.passes.prepare.algebra import variable
    >>> as_text(exponential(add(variable(), scale_polynomial(mean(variable(), {0}), -2.0))))
    'exp(mean[0](x))^-2*exp(x)'
    """
    result: Polynomial = {ONE: 1.0}
    for product, value in p.items():
        if not product and np.max(np.abs(value)) <= LARGEST_EXPONENT:
            result = times(result, {ONE: np.exp(value)})
        elif np.ndim(value) or not product:
            raise NoNormalForm("an exponential of what varies")
        elif len(product) == 1 and product[0][0].kind == "log" and product[0][1] == 1:
            result = times(result, power(product[0][0].inside, float(value)))
        else:
            fixed = frozenset.intersection(*(base.constant for base, _ in product))
            base = Base("exp", f"exp({'*'.join(factors(product))})", fixed, product)
            result = times(result, {((base, float(value)),): 1.0})
    return result


def logarithm(p: Polynomial) -> Polynomial:
    """log(p) of what is positive, of a product as a sum.

    >>> from tvmq.passes.prepare.algebra import variable
    >>> as_text(logarithm(scale_polynomial(exponential(variable()), 2.0)))
    '0.693147 + x'
    """
    if len(p) != 1:
        base, content = _as_base(p)
        return add(constant(math.log(content)), _log_of(base))
    ((product, value),) = p.items()
    if not is_positive(p) or not np.all(np.asarray(value) > 0):
        raise NoNormalForm("a logarithm of what may be negative")
    result = constant(np.log(value))
    for base, exponent in product:
        inner: Polynomial = {base.inside: 1.0} if base.kind == "exp" else _log_of(base)
        result = add(result, scale_polynomial(inner, exponent))
    return result


def _log_of(base: Base) -> Polynomial:
    return {((Base("log", f"log({base.key})", base.constant, {((base, 1.0),): 1.0}), 1.0),): 1.0}
