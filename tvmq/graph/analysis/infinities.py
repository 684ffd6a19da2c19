"""Infinities among the weights that are meant: bounds of maxima and minima, and masks in front of a softmax.

An infinity is followed through the operators that move, add or scale it until every reader has a finite result for it:
maximum(x, -inf) is x, softmax gives 0 for -inf. Where it meets a product of data or leaves the model, it is a fault of
the training. NaN is never meant, but where a condition that is always the same never takes it.

Tests: tests/graph/test_infinities.py
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tvm import relax

from tvmq.graph.operators import OPERATORS
from tvmq.graph.operators.record import SOFTMAX
from tvmq.graph.view import View, const_value, is_const, leaves, op_name

Signs = frozenset[int]  # of the infinities that a tensor may hold
NONE, LOW, HIGH, BOTH = frozenset[int](), frozenset({-1}), frozenset({1}), frozenset({-1, 1})
BIAS = 3  # operand of nn.attention_bias that is added in front of its softmax


def signs_of(array: np.ndarray) -> Signs:
    """Signs of the infinities of an array.

    >>> sorted(signs_of(np.float32([0, -np.inf])))
    [-1]
    """
    if array.dtype.kind != "f":
        return NONE
    return (LOW if np.isneginf(array).any() else NONE) | (HIGH if np.isposinf(array).any() else NONE)


def misused_at(view: View, name: str, array: np.ndarray) -> str | None:
    """Name of the first variable for which NaN or the infinities of a weight have no meaning; None if all have one.

    view   the module that has the weight as a parameter, or as a constant that is bound
    name   that parameter or variable; itself for NaN that may be taken, and where it is a result of the model
    array  its values
    """
    if array.dtype.kind == "f" and np.isnan(array).any():
        return None if _is_never_chosen(view, name) else name
    return _find_misuse(view, name, signs_of(array))


def _is_never_chosen(view: View, name: str) -> bool:
    """True if the variable is read only where a constant condition takes the other value, as exporters leave it."""
    values = [view.value[reader] for reader in view.readers[name]]
    return not view.is_output(name) and all(
        (place := selected_operand(value)) is not None and name not in {var.name for var in leaves(value.args[place])}
        for value in values
    )


def selected_operand(value: relax.Expr) -> int | None:
    """The operand that a `where` of a constant condition takes for all elements; None for any other expression."""
    if op_name(value) != "where" or not is_const(value.args[0]):
        return None
    condition = const_value(value.args[0])
    return 1 if condition.all() else (2 if not condition.any() else None)


def misused_constants(view: View) -> Iterator[tuple[str, np.ndarray]]:
    """(the variable for which they have no meaning, values) of constants with NaN or infinities among the operands."""
    for var, value in view.bindings:
        for index, operand in _operands(value):
            if not is_const(operand):
                continue
            array = const_value(operand)
            if array.dtype.kind != "f" or np.isfinite(array).all():
                continue
            signs = None if np.isnan(array).any() else _result(value, index, signs_of(array))
            wrong = var.name if signs is None else _find_misuse(view, var.name, signs)
            if wrong is not None:
                yield wrong, array


def _find_misuse(view: View, name: str, signs: Signs) -> str | None:
    pending, seen = [(name, signs)] if signs else [], set[tuple[str, Signs]]()
    while pending:
        name, signs = pending.pop()
        if view.is_output(name):
            return name
        for reader in view.readers[name]:
            value = view.value[reader]
            for index in [i for i, operand in _operands(value) if name in {var.name for var in leaves(operand)}]:
                left = _result(value, index, signs)
                if left is None:
                    return reader
                if left and (reader, left) not in seen:
                    seen.add((reader, left))
                    pending.append((reader, left))
    return None


def _operands(value: relax.Expr) -> list[tuple[int, relax.Expr]]:
    """Operands with their places; those of a tuple have its place."""
    operands = list(value.args) if isinstance(value, relax.Call) else [value]
    return [
        (index, item)
        for index, operand in enumerate(operands)
        for item in (operand.fields if isinstance(operand, relax.Tuple) else [operand])
    ]


def _result(value: relax.Expr, index: int, signs: Signs) -> Signs | None:
    """Infinities of a result if the operand at `index` has those of `signs`; None where they have no meaning."""
    if not isinstance(value, relax.Call):
        return signs  # another name, a tuple or a part of one
    name = op_name(value)
    if name == "clip":
        return _clip(value, signs) if index == 0 else None
    record = OPERATORS.get(name)
    if record is not None and record.finite_at:
        left = signs.difference(record.finite_at)
        return left if not left or record.kind != SOFTMAX else None  # softmax makes NaN of the other infinity
    if name == "astype":
        return signs if "float" in str(value.attrs.dtype) else None
    if name in ("subtract", "negative"):
        return frozenset(-sign for sign in signs) if index == 1 or name == "negative" else signs
    if name in ("multiply", "divide"):
        return _scale(value, index, signs)
    if name in ("nn.attention", "nn.attention_bias"):
        return NONE if index == BIAS and signs == LOW else None
    return signs if record is not None and index in record.propagates_infinity else None


def _clip(value: relax.Call, signs: Signs) -> Signs:
    low, high = (float(bound.value) for bound in value.args[1:3])
    return (signs & LOW if np.isneginf(low) else NONE) | (signs & HIGH if np.isposinf(high) else NONE)


def _scale(value: relax.Call, index: int, signs: Signs) -> Signs | None:
    """A product with numbers of one sign keeps infinities or turns them; with 0 or data it may be NaN."""
    other = value.args[1 - index]
    if not is_const(other) or (op_name(value) == "divide" and index == 1):
        return None
    factors = const_value(other)
    if not np.isfinite(factors).all() or not ((factors > 0).all() or (factors < 0).all()):
        return None
    return signs if (factors > 0).all() else frozenset(-sign for sign in signs)
