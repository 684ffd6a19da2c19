"""Functions of single values written out, recognized by their values: gelu, its form with tanh, silu, sigmoid, tanh.

A chain of element-wise operators is a function of the tensor that it reads. It is computed in float64 at PLACES, and is
what it agrees with there, whatever the spelling: x * 0.5 * (1 + erf(x / sqrt(2))), 0.5 x + 0.5 x erf(...), and so on.

Tests: tests/formats/torch/exporter/test_to_torch.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tvm import relax

from tvmq.graph.evaluate import evaluate, evaluator
from tvmq.graph.operators import where
from tvmq.graph.operators.record import ARITHMETIC
from tvmq.graph.patterns.rules import absorb_bindings
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import dtype_of, is_const, number_of, op_name, sizes_of

ELEMENTWISE = where(elementwise=True)
ENDS = where(kind=ARITHMETIC, is_own=False)
MOST_LINKS = 12  # of a chain; those of gelu have up to 9
NEEDED = ("erf", "tanh", "exp", "sigmoid")
PLACES = np.concatenate([np.linspace(-9, 9, 145), [-100, -50, -30, -20, -14, 14, 20, 30, 50, 80]])
_erf = np.vectorize(math.erf, otypes=[np.float64])


@dataclass(frozen=True)
class KnownFunction:
    """Function that a chain may be.

    values    at PLACES
    emit      the normal form
    spelling  operators of the normal form, in order of their names: a chain of these is left
    bound     of the largest difference, relative to x above 1: constants may have been rounded to float16
    """

    values: np.ndarray
    emit: Callable[[relax.Expr], relax.Expr]
    spelling: tuple[str, ...] = ()
    bound: float = 1e-5


def _silu(x: relax.Expr) -> relax.Expr:
    return relax.op.multiply(x, relax.op.sigmoid(x))


_SIGMOID = 0.5 * (1 + np.tanh(PLACES / 2))
_CUBIC = math.sqrt(2 / math.pi) * (PLACES + 0.044715 * PLACES**3)
FUNCTIONS = (
    KnownFunction(PLACES * 0.5 * (1 + _erf(PLACES / math.sqrt(2))), relax.op.nn.gelu, bound=2e-4),
    KnownFunction(PLACES * 0.5 * (1 + np.tanh(_CUBIC)), relax.op.nn.gelu_tanh, bound=2e-4),
    KnownFunction(PLACES * _SIGMOID, _silu, ("multiply", "sigmoid")),
    KnownFunction(_SIGMOID, relax.op.sigmoid),
    KnownFunction(np.tanh(PLACES), relax.op.tanh),
)


def function(rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    """The normal form of a chain that ends in this binding and is one of FUNCTIONS."""
    if op_name(value) not in ENDS:
        return None
    links = _links(rewriter, value)
    names = {op_name(call) for call in links.values() if call is not None} | {op_name(value)}
    if names.isdisjoint(NEEDED):
        return None
    for name in reversed(links):  # the farthest first
        chain = _Chain(rewriter, name)
        values = chain.values_of(value)
        match = _nearest_function(values) if values is not None else None
        if chain.start is None or dtype_of(chain.start) != dtype_of(var):
            continue  # behind a cast
        if match is None or names_of(chain, links, value) == match.spelling:
            continue
        if sizes_of(chain.start) == sizes_of(var) and absorb_bindings(rewriter, var, chain.walked):
            return match.emit(chain.start)
    return None


def _links(rewriter: Rewriter, value: relax.Call) -> dict[str, relax.Call | None]:
    """{variable: element-wise call that makes it, None for another} before a call, nearest first."""
    queue = [arg for arg in value.args if isinstance(arg, relax.Var)]
    links: dict[str, relax.Call | None] = {}
    for var in queue:
        if var.name in links or len(links) > MOST_LINKS:
            continue
        call = rewriter.value_of(var)
        links[var.name] = None
        if call is not None and op_name(call) in ELEMENTWISE and evaluator(call) is not None:
            links[var.name] = call
            queue += [arg for arg in call.args if isinstance(arg, relax.Var)]
    return links


def names_of(chain: _Chain, links: dict[str, relax.Call | None], value: relax.Call) -> tuple[str, ...]:
    """Operators of a chain."""
    return tuple(sorted([op_name(value), *(op_name(links[name]) for name in chain.walked if links[name] is not None)]))


class _Chain:
    """The values of variables where one variable has those of PLACES.

    start   that variable, once it was met
    walked  the variables between, by name
    """

    def __init__(self, rewriter: Rewriter, start: str) -> None:
        self._rewriter, self._start = rewriter, start
        self.start: relax.Var | None = None
        self.walked: dict[str, relax.Var] = {}
        self._known: dict[str, np.ndarray | None] = {}

    def values_of(self, expr: relax.Expr) -> np.ndarray | None:
        """Values of a call, a variable or a constant of one element; None for no function of the variable alone."""
        if isinstance(expr, relax.Var):
            if expr.name == self._start:
                self.start = expr
                return PLACES
            if expr.name not in self._known:
                call = self._rewriter.value_of(expr)
                is_link = call is not None and op_name(call) in ELEMENTWISE and len(self.walked) <= MOST_LINKS
                self.walked[expr.name] = expr
                self._known[expr.name] = self.values_of(call) if is_link else None
            return self._known[expr.name]
        if is_const(expr):
            value = number_of(expr)
            return None if value is None else np.asarray(value)
        if not isinstance(expr, relax.Call):
            return None
        args = [arg.value if not isinstance(arg, relax.Expr) else self.values_of(arg) for arg in expr.args]
        if any(arg is None for arg in args) or evaluator(expr) is None:
            return None
        with np.errstate(all="ignore"):
            return np.asarray(evaluate(expr, args))


def _nearest_function(values: np.ndarray) -> KnownFunction | None:
    """The function that has these values."""
    if values.shape != PLACES.shape or not np.isfinite(values).all():
        return None
    away = [(float(np.max(np.abs(values - f.values) / np.maximum(1, np.abs(PLACES)))), f) for f in FUNCTIONS]
    distance, function = min(away, key=lambda item: item[0])
    return function if distance <= function.bound else None
