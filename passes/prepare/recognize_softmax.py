"""Softmax and log-softmax written out: exp(x) / sum(exp(x)), with or without a maximum or anything else taken off."""

from __future__ import annotations

import math

import numpy as np
from tvm import relax

from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import op_name, sizes_of
from tvmq.passes.matching import Group
from tvmq.passes.prepare import algebra
from tvmq.passes.prepare import algebra_functions as functions
from tvmq.passes.prepare.algebra import Base, Polynomial, variable

NEAR = 1e-5
OTHER = {"log": ("nn.softmax", relax.op.nn.log_softmax), "exp": ("nn.log_softmax", relax.op.nn.softmax)}


def softmax(x: relax.Var, form: Polynomial) -> relax.Expr | None:
    """nn.softmax or nn.log_softmax of x, if a polynomial says that."""
    found = _meaning(form, x)
    if found is None:
        return None
    operator, axis = found
    return operator(x, axis)


def other_softmax(rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    """nn.log_softmax for the logarithm of nn.softmax, nn.softmax for the exponential of nn.log_softmax."""
    return _other(Group(rewriter, var), value) if op_name(value) in OTHER else None


def _other(group: Group, value: relax.Call) -> relax.Expr | None:
    name, operator = OTHER[op_name(value)]
    inner = group.producer(value.args[0], name)
    return operator(inner.args[0], int(inner.attrs.axis)) if inner is not None and group.close() else None


def _meaning(form: Polynomial, x: relax.Var) -> tuple[type, int] | None:
    """nn.softmax or nn.log_softmax, and the axis."""
    means = {base for product in form for base, _ in _logarithm_bases(product) if base.kind == "mean"}
    if len(means) != 1 or len((mean := means.pop()).axes) != 1:
        return None
    (axis,) = mean.axes
    count = sizes_of(x)[axis]
    if not isinstance(count, int):
        return None
    exponential = functions.exponential(variable())
    total = algebra.scale_polynomial(functions.mean(exponential, mean.axes), float(count))
    for operator, expected in (
        (relax.op.nn.softmax, lambda: algebra.times(exponential, functions.power(total, -1.0))),
        (
            relax.op.nn.log_softmax,
            lambda: algebra.add(variable(), algebra.scale_polynomial(functions.logarithm(total), -1.0)),
        ),
    ):
        if _equal(form, expected()):
            return operator, axis
    return None


def _logarithm_bases(product: algebra.Product) -> list[tuple[Base, float]]:
    """The bases of a product, and those of which they are logarithms."""
    return [inner for base, e in product for inner in (next(iter(base.inside)) if base.kind == "log" else [(base, e)])]


def _equal(p: Polynomial, q: Polynomial) -> bool:
    return set(p) == set(q) and all(
        not np.ndim(p[product]) and math.isclose(p[product], q[product], rel_tol=NEAR) for product in p
    )
