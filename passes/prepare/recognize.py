"""Turn what exporters wrote out back into the operators that it was: norms, softmax, gelu and other functions.

Before                                        After
    m = mean(x); d = subtract(x, m)               y = nn.layer_norm(x, gamma, beta)
    v = mean(multiply(d, d))
    n = divide(d, sqrt(add(v, epsilon)))
    y = add(multiply(n, gamma), beta)

Spellings do not matter: norms and softmax are read as polynomials of powers and means, which are equal for equal
expressions (algebra.py, canonical.py), functions of single values by their values (recognize_functions.py).

Needs     constants folded and on the right side of sums and products.
Leaves    groups from inside of which something else reads more than statistics: those are then there beside the
          operator; float results move by roundings, as those of any other order.
Names     the new operator carries the names of its whole group.

Softmax and log-softmax written out: exp(x) / sum(exp(x)), with or without a maximum or anything else taken off.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import ARITHMETIC
from tvmq.graph.patterns.rules import RewriteRule, RewriteRules, absorb_bindings
from tvmq.graph.rewrite import Rewriter, Visit, rewrite
from tvmq.graph.view import dtype_of, op_name, rank_of, sizes_of
from tvmq.passes.prepare import algebra
from tvmq.passes.prepare import algebra_functions as functions
from tvmq.passes.prepare.algebra import Base, Polynomial, variable
from tvmq.passes.prepare.canonical import MEANS, readings
from tvmq.passes.prepare.recognize_functions import function
from tvmq.passes.prepare.recognize_norms import FACTORS, normalization

NEAR = 1e-5
OTHER_SOFTMAX = RewriteRules(
    RewriteRule("log(y := nn.softmax(x))", lambda x, y: relax.op.nn.log_softmax(x, int(y.attrs.axis)), dtype="float32"),
    RewriteRule("exp(y := nn.log_softmax(x))", lambda x, y: relax.op.nn.softmax(x, int(y.attrs.axis)), dtype="float32"),
)


def softmax(x: relax.Var, form: Polynomial) -> relax.Expr | None:
    """nn.softmax or nn.log_softmax of x, if a polynomial says that."""
    meaning = _softmax_and_axis(form, x)
    if meaning is None:
        return None
    operator, axis = meaning
    return operator(x, axis)


def _softmax_and_axis(form: Polynomial, x: relax.Var) -> tuple[type, int] | None:
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
        if _are_close(form, expected()):
            return operator, axis
    return None


def _logarithm_bases(product: algebra.Product) -> list[tuple[Base, float]]:
    """The bases of a product, and those of which they are logarithms."""
    return [inner for base, e in product for inner in (next(iter(base.inside)) if base.kind == "log" else [(base, e)])]


def _are_close(p: Polynomial, q: Polynomial) -> bool:
    return set(p) == set(q) and all(
        not np.ndim(p[product]) and math.isclose(p[product], q[product], rel_tol=NEAR) for product in p
    )


ENDS = where(kind=ARITHMETIC, is_own=False)


def recognize(mod: tvm.IRModule) -> tvm.IRModule:
    """Turn what exporters wrote out back into norms, softmax, gelu and other functions."""
    return rewrite(mod, _visit)


def _visit(rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    if not isinstance(var.ty, relax.TensorType) or dtype_of(var) != "float32" or var.ty.shape is None:
        return None
    for recognizer in RECOGNIZERS:
        replacement = recognizer(rewriter, var, value)
        if replacement is not None:
            return replacement
    return None


def by_form(rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    """The normalization or softmax that this binding computes of a tensor before it."""
    if op_name(value) not in ENDS:
        return None
    for x, form, walked in readings(rewriter, value, MEANS):
        replacement = normalization(x, form)
        replacement = softmax(x, form) if replacement is None else replacement
        if replacement is not None and absorb_bindings(rewriter, var, walked, partial(_is_smaller, x)):
            return replacement
    return None


def _is_smaller(x: relax.Var, inner: relax.Var) -> bool:
    """True for statistics of x: what else reads them costs little beside the norm, in which they stay exact."""
    pairs = zip(sizes_of(inner), sizes_of(x), strict=False)
    return rank_of(inner) < rank_of(x) or any(a == 1 and b != 1 for a, b in pairs)


RECOGNIZERS: tuple[Visit, ...] = (by_form, FACTORS.visit, OTHER_SOFTMAX.visit, function)
