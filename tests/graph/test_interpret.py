"""The walk of a module in a domain of values that a test brings."""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tests.support.models.networks import block
from tvmq.graph.interpret import Function, interpret, read_array
from tvmq.graph.view import View, is_const, op_name

BODY = """s = R.split(x, indices_or_sections=2, axis=1)
a = s[0]
b = s[1]
c = R.concat((b, a, w), axis=1)
d = R.clip(c, R.prim_value(-1), R.prim_value(2))
e = R.nn.relu(d)"""


def module() -> View:
    signature = 'x: R.Tensor((2, 4), "float32"), w: R.Tensor((2, 1), "float32")'
    return View(block(signature, BODY, '(2, 5), "float32"', w=np.float32([[5], [-5]])))


ARRAYS: dict[str, Function] = {
    "split": lambda call, x: np.split(x, int(call.attrs.indices_or_sections), int(call.attrs.axis)),
    "concat": lambda call, parts: np.concatenate(parts, int(call.attrs.axis)),
    "clip": lambda call, x, low, high: np.clip(x, low, high),
    "nn.relu": lambda call, x: np.maximum(x, 0),
}


def test_arrays_by_a_table() -> None:
    view, x = module(), np.float32([[0, 1, 2, 3], [-4, -3, -2, -1]])
    values: dict[str, Any] = {"x": x}
    order = [var.name for var, _ in interpret(view, lambda _, call: ARRAYS[op_name(call)], values)]
    assert order == ["s", "a", "b", "c", "d", "e"]
    np.testing.assert_array_equal(values["a"], x[:, :2])
    np.testing.assert_array_equal(values["c"], np.float32([[2, 3, 0, 1, 5], [-2, -1, -4, -3, -5]]))
    np.testing.assert_array_equal(read_array(view.func.body.body, values), np.maximum(np.clip(values["c"], -1, 2), 0))


def test_depths_by_a_reading_of_its_own() -> None:
    """Another domain: the longest chain of operators behind a value; constants and numbers have none."""

    def read(expr: relax.Expr, values: dict[str, Any]) -> int:
        if isinstance(expr, relax.Tuple):
            return max(read(item, values) for item in expr.fields)
        if isinstance(expr, relax.TupleGetItem):
            return read(expr.tuple_value, values)
        return values[expr.name] if isinstance(expr, relax.Var) and not is_const(expr) else 0

    values: dict[str, Any] = {"x": 0}
    list(interpret(module(), lambda _, __: lambda _call, *depths: 1 + max(depths), values, read))
    assert values == {"x": 0, "s": 1, "a": 1, "b": 1, "c": 2, "d": 3, "e": 4}


def test_what_has_no_function_is_unknown_and_its_arguments_are_not_read() -> None:
    values: dict[str, Any] = {}
    list(interpret(module(), lambda _, __: None, values, lambda expr, values: values.get("never")))
    assert values == dict.fromkeys("sabcde")


def test_a_caller_may_replace_a_value() -> None:
    view, values = module(), {"x": np.zeros((2, 4), np.float32)}
    for var, _ in interpret(view, lambda _, call: ARRAYS[op_name(call)], values):
        if var.name == "c":
            values["c"] = np.full((2, 5), 7, np.float32)
    np.testing.assert_array_equal(values["e"], np.full((2, 5), 2, np.float32))
