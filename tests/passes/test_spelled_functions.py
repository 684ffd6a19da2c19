"""Spellings of softmax, its logarithm and functions of single values: each becomes one operator, or a table."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import onnx
import pytest

import tvmq
from tests.passes.spellings import SHAPE, f32, operators, summed
from tests.support.models.networks import Net, feeds_of
from tvmq.graph.view import View, op_name
from tvmq.passes.prepare import prepare
from tvmq.reference import Reference

# ---- softmax


def finite(net: Net, x: str) -> str:
    """x where it is finite, else 0."""
    infinite = net.op("Or", net.op("IsNaN", x), net.op("IsInf", x))
    return net.op("Where", infinite, f32(net, 0), x)


def shifted(net: Net, form: str) -> str:
    """x less something that is the same along the axis."""
    shifts: dict[str, Callable[[], str]] = {
        "maximum": lambda: net.op("ReduceMax", "x", axes=[-1]),
        "bounded maximum": lambda: net.op("Max", f32(net, -np.inf), net.op("ReduceMax", "x", axes=[-1])),
        "mean": lambda: net.op("ReduceMean", "x", axes=[-1]),
        "number": lambda: f32(net, 1.5),
        "finite maximum": lambda: finite(net, net.op("ReduceMax", "x", axes=[-1])),
        "maximum without its axis": lambda: net.op(
            "Unsqueeze", net.op("ReduceMax", "x", axes=[-1], keepdims=0), net.constant(np.int64([-1]))
        ),
    }
    return "x" if form == "nothing" else net.op("Sub", "x", shifts[form]())


SHIFTS = ("nothing", "maximum", "finite maximum", "bounded maximum", "mean", "number", "maximum without its axis")


@pytest.mark.thinned(3)
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("form", ["Div", "Reciprocal", "exp of log"])
def test_softmax(shift: str, form: str) -> None:
    net = Net(SHAPE)
    u = shifted(net, shift)
    e = net.op("Exp", u)
    total = summed(net, e, [3])
    if form == "exp of log":
        y = net.op("Exp", net.op("Sub", u, net.op("Log", total)))
    else:
        y = net.op("Div", e, total) if form == "Div" else net.op("Mul", e, net.op("Reciprocal", total))
    assert operators(net.model(y))[-1:] == ["softmax"]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("form", ["log of quotient", "difference", "ReduceLogSumExp", "ReduceLogSum"])
def test_log_softmax(shift: str, form: str) -> None:
    net = Net(SHAPE)
    u = shifted(net, shift)
    e = net.op("Exp", u)
    forms: dict[str, Callable[[], str]] = {
        "log of quotient": lambda: net.op("Log", net.op("Div", e, summed(net, e, [3]))),
        "difference": lambda: net.op("Sub", u, net.op("Log", summed(net, e, [3]))),
        "ReduceLogSumExp": lambda: net.op("Sub", u, net.op("ReduceLogSumExp", u, axes=[3])),
        "ReduceLogSum": lambda: net.op("Sub", u, net.op("ReduceLogSum", e, axes=[3])),
    }
    assert operators(net.model(forms[form]())) == ["log_softmax"]


@pytest.mark.slow_cases("0.001-None")
@pytest.mark.parametrize(("epsilon", "expected"), [(1e-9, ["softmax"]), (1e-3, None)])
def test_softmax_of_a_sum_and_a_little(epsilon: float, expected: list[str] | None) -> None:
    """Beside exp(0) = 1 of the maximum an epsilon counts only if it is no tiny one."""
    net = Net(SHAPE)
    e = net.op("Exp", shifted(net, "maximum"))
    found = operators(net.model(net.op("Div", e, net.op("Add", summed(net, e, [3]), f32(net, epsilon)))))
    assert found == expected if expected else "softmax" not in found


def test_softmax_of_large_scores_without_a_maximum() -> None:
    """exp(100) is no float32; the quotient of two such is one."""
    net = Net((1, 4))
    e = net.op("Exp", "x")
    prepared = prepare(*tvmq.from_onnx(net.model(net.op("Div", e, summed(net, e, [1])))))
    y = Reference(prepared).run({"x": np.float32([[100, 100, 0, 0]])})[0]
    np.testing.assert_allclose(y, [[0.5, 0.5, 0, 0]], atol=1e-7)


# ---- functions of single values


def sigmoid(net: Net, form: int, x: str = "x") -> str:
    one, half = f32(net, 1), f32(net, 0.5)
    if form == 0:
        return net.op("Reciprocal", net.op("Add", one, net.op("Exp", net.op("Neg", x))))
    if form == 1:
        return net.op("Mul", net.op("Add", net.op("Tanh", net.op("Mul", x, half)), one), half)
    e = net.op("Exp", x)
    return net.op("Div", e, net.op("Add", e, one))


def gelu_tanh_argument(net: Net, factor: float) -> str:
    cube = net.op("Mul", f32(net, 0.044715), net.op("Pow", "x", f32(net, 3)))
    return net.op("Mul", f32(net, factor * math.sqrt(2 / math.pi)), net.op("Add", "x", cube))


def half_of_erf(net: Net) -> str:
    return net.op("Mul", f32(net, 0.5), net.op("Erf", net.op("Mul", "x", f32(net, math.sqrt(0.5)))))


def tanh_of_exp(net: Net) -> str:
    up, down = net.op("Exp", "x"), net.op("Exp", net.op("Neg", "x"))
    return net.op("Div", net.op("Sub", up, down), net.op("Add", up, down))


CHAINS: dict[str, tuple[Callable[[Net], str], list[str]]] = {
    **{f"sigmoid {form}": (lambda net, form=form: sigmoid(net, form), ["sigmoid"]) for form in range(3)},
    **{f"silu {form}": (lambda net, form=form: net.op("Mul", "x", sigmoid(net, form)), ["sigmoid", "multiply"])
       for form in range(3)},
    "silu by a quotient": (
        lambda net: net.op("Div", "x", net.op("Add", f32(net, 1), net.op("Exp", net.op("Neg", "x")))),
        ["sigmoid", "multiply"],
    ),
    "silu": (lambda net: net.op("Mul", net.op("Sigmoid", "x"), "x"), ["sigmoid", "multiply"]),
    "silu of 1 x": (
        lambda net: net.op("Mul", "x", net.op("Sigmoid", net.op("Mul", "x", f32(net, 1)))), ["sigmoid", "multiply"]
    ),
    "gelu as a sum": (
        lambda net: net.op("Add", net.op("Mul", "x", f32(net, 0.5)), net.op("Mul", "x", half_of_erf(net))), ["nn.gelu"]
    ),
    "gelu, half inside": (lambda net: net.op("Mul", "x", net.op("Add", f32(net, 0.5), half_of_erf(net))), ["nn.gelu"]),
    "gelu by the rest": (
        lambda net: net.op("Sub", "x", net.op("Mul", "x", net.op("Sub", f32(net, 0.5), half_of_erf(net)))), ["nn.gelu"]
    ),
    "gelu tanh by sigmoid": (
        lambda net: net.op("Mul", "x", net.op("Sigmoid", gelu_tanh_argument(net, 2))), ["nn.gelu_tanh"]
    ),
    "gelu tanh as a sum": (
        lambda net: net.op("Mul", f32(net, 0.5), net.op("Add", "x", net.op(
            "Mul", "x", net.op("Tanh", gelu_tanh_argument(net, 1))))),
        ["nn.gelu_tanh"],
    ),
    "tanh": (tanh_of_exp, ["tanh"]),
    "gelu by 1.702": (
        lambda net: net.op("Mul", "x", net.op("Sigmoid", net.op("Mul", "x", f32(net, 1.702)))),
        ["multiply", "sigmoid", "multiply"],
    ),
}  # fmt: skip


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", CHAINS)
def test_functions(name: str) -> None:
    write, expected = CHAINS[name]
    net = Net(SHAPE)
    assert operators(net.model(write(net))) == expected


TABLES = {
    **{name: CHAINS[name][0] for name in ("silu 2", "gelu as a sum", "gelu by 1.702")},
    "hard swish": lambda net: net.op("HardSwish", "x"),
    "hard swish, relu6": lambda net: net.op("Div", net.op("Mul", "x", net.op(
        "Clip", net.op("Add", "x", f32(net, 3)), f32(net, 0), f32(net, 6))), f32(net, 6)),
    "hard sigmoid": lambda net: net.op("HardSigmoid", "x", alpha=1 / 6),
    "mish": lambda net: net.op("Mish", "x"),
    "mish, softplus": lambda net: net.op("Mul", "x", net.op("Tanh", net.op("Softplus", "x"))),
    "mish, log": lambda net: net.op("Mul", "x", net.op("Tanh", net.op("Log", net.op(
        "Add", net.op("Exp", "x"), f32(net, 1))))),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_functions_between_products_are_tables(name: str) -> None:
    """In 8 bits every chain of one tensor is a table, in whatever operators it is spelled."""
    net = Net((1, 8))
    model = net.model(net.dense(TABLES[name](net), 8, 8))
    weight = onnx.numpy_helper.from_array(net.weight(8, 8), "first")
    model.graph.initializer.append(weight)
    model.graph.node.insert(0, onnx.helper.make_node("MatMul", ["in", "first"], ["x"]))
    model.graph.input[0].name = "in"
    with tvmq.qconfig(calibrate_mode="minmax"):
        quantized = tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model), guard=None)
    names = [op_name(value).removeprefix("tvmq.") for _, value in View(quantized).bindings]
    assert set(names) <= {"quantize", "matmul", "add", "requantize", "scale_shift", "table", "dequantize"}, names
