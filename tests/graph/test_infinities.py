"""Infinities that operators define are accepted; those that reach products or results are errors."""

from __future__ import annotations

import numpy as np
import pytest
from tvm import relax
from tvm.relax import op

from tests.support.models.built_modules import build_module
from tvmq.graph.analysis.infinities import misused_at, misused_constants
from tvmq.graph.view import View

INF = np.float32(np.inf)
CONST = relax.const(np.full((4, 4), -np.inf, np.float32))


def module(*steps) -> View:
    """Functions of (last result, x, w), each a binding of its own."""

    def body(builder, x, w):
        last = w
        for step in steps:
            last = builder.emit(step(last, x, w))
        return op.nn.relu(op.matmul(last, x))

    return View(build_module({"x": (4, 4), "w": (4, 4)}, body))


def soft(last, _x, _w):
    """A softmax over the last axis."""
    return op.nn.softmax(last, -1)


MEANT = {
    "mask": ((lambda w, x, _: op.add(x, w), soft), -INF),
    "mask of an embedding": ((lambda w, x, _: op.take(w, relax.const(np.array([1, 2, 0, 0])), 0, mode="clip"), soft), -INF),
    "mask through shapes": ((lambda w, x, _: op.reshape(w, (2, 8)), lambda w, x, _: op.permute_dims(w, [1, 0]),
                             lambda w, x, _: op.reshape(w, (4, 4)), lambda w, x, _: op.add(x, w), soft), -INF),
    "mask by selection": ((lambda w, x, _: op.where(op.greater(x, relax.const(0.0)), w, x), soft), -INF),
    "mask by concatenation": ((lambda w, x, _: op.concat([w, x], 0), lambda w, x, _: op.strided_slice(w, [0], [0], [4]), soft), -INF),
    "negative mask subtracted": ((lambda w, x, _: op.subtract(x, w), soft), INF),
    "mask scaled": ((lambda w, x, _: op.multiply(w, relax.const(-2.0)), lambda w, x, _: op.add(w, x), soft), INF),
    "softmax written out": ((lambda w, x, _: op.add(x, w), lambda w, x, _: op.exp(w)), -INF),
    "lower bound": ((lambda w, x, _: op.maximum(x, w),), -INF),
    "upper bound": ((lambda w, x, _: op.minimum(w, x),), INF),
    "both, clipped": ((lambda w, x, _: op.clip(w, -3.0, 3.0),), INF),
    "comparison": ((lambda w, x, _: op.less(x, w), lambda w, x, _: op.where(w, x, x)), INF),
}  # fmt: skip
FAULTS = {
    "product": ((lambda w, x, _: op.matmul(w, x),), -INF, "lv"),
    "product behind a sum": ((lambda w, x, _: op.add(x, w),), -INF, "lv1"),
    "lower bound of the other sign": ((lambda w, x, _: op.maximum(x, w),), INF, "lv1"),
    "softmax of +inf": ((lambda w, x, _: op.add(x, w), soft), INF, "lv1"),
    "factor with a zero": ((lambda w, x, _: op.multiply(w, relax.const(np.float32([0, 1, 1, 1]))), soft), -INF, "lv"),
    "factor that is data": ((lambda w, x, _: op.multiply(w, x), soft), -INF, "lv"),
    "clipped on one side": ((lambda w, x, _: op.clip(w, -np.inf, 3.0),), -INF, "lv1"),
    "one reader of two": ((lambda w, x, _: op.maximum(x, w), lambda m, x, w: op.add(m, op.sum(w))), -INF, "lv1"),
    "NaN": ((lambda w, x, _: op.maximum(x, w),), np.nan, "w"),
}  # fmt: skip


def weight(value) -> np.ndarray:
    """Zeros with one such value."""
    found = np.zeros((4, 4), np.float32)
    found[1, 2] = value
    return found


@pytest.mark.parametrize("name", MEANT)
def test_infinities_that_are_meant(name):
    steps, value = MEANT[name]
    assert misused_at(module(*steps), "w", weight(value)) is None


@pytest.mark.parametrize("name", FAULTS)
def test_infinities_that_are_faults(name):
    steps, value, at = FAULTS[name]
    found = misused_at(module(*steps), "w", weight(value))
    assert found == at


def test_a_result_of_the_model_is_a_fault():
    view = View(build_module({"w": (4, 4)}, lambda _, w: op.add(w, w)))
    assert misused_at(view, "w", weight(-INF)) == view.outputs[0]
    assert misused_at(view, "w", weight(0)) is None


def test_constants():
    meant = module(lambda w, x, _: op.maximum(x, CONST), lambda w, x, _: op.add(w, CONST), soft)
    assert list(misused_constants(meant)) == []
    wrong = module(lambda w, x, _: op.add(x, CONST))
    ((name, array),) = misused_constants(wrong)
    assert name == "lv1" and np.isneginf(array).all()
