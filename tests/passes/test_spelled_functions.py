"""Spellings of softmax, its logarithm and functions of single values: each becomes one operator, or a table."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, pi, sqrt

import numpy as np
import pytest

import tvmq
from tests.passes.spellings import Value, names_of, operators, written
from tests.support.models.networks import Net, feeds_of
from tvmq.passes.prepare import prepare
from tvmq.reference import Reference

Formula = Callable[[Value], Value]


def finite(x: Value) -> Value:
    """x where it is finite, else 0."""
    return x.isnan().op("Or", x.isinf()).op("Where", 0, x)


# x less something that is the same along the axis
SHIFTS: dict[str, Formula] = {
    "nothing": lambda x: x,
    "maximum": lambda x: x - x.max(-1),
    "finite maximum": lambda x: x - finite(x.max(-1)),
    "bounded maximum": lambda x: x - x.lift(-inf).op("Max", x.max(-1)),
    "mean": lambda x: x - x.mean(-1),
    "number": lambda x: x - 1.5,
    "maximum without its axis": lambda x: x - x.max(-1, keepdims=0).op("Unsqueeze", np.int64([-1])),
}
SOFTMAXES: dict[str, Formula] = {
    "Div": lambda u: (e := u.exp()) / e.sum(3),
    "Reciprocal": lambda u: (e := u.exp()) * e.sum(3).reciprocal(),
    "exp of log": lambda u: (u - u.exp().sum(3).log()).exp(),
}
LOGARITHMS: dict[str, Formula] = {
    "log of quotient": lambda u: ((e := u.exp()) / e.sum(3)).log(),
    "difference": lambda u: u - u.exp().sum(3).log(),
    "ReduceLogSumExp": lambda u: u - u.reducelogsumexp(axes=[3]),
    "ReduceLogSum": lambda u: u - u.exp().reducelogsum(axes=[3]),
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("form", [*SOFTMAXES, *LOGARITHMS])
def test_softmax_and_its_logarithm(shift: str, form: str) -> None:
    found = operators(written(lambda x: {**SOFTMAXES, **LOGARITHMS}[form](SHIFTS[shift](x))))
    assert found[-1:] == ["softmax"] if form in SOFTMAXES else found == ["log_softmax"]


@pytest.mark.slow_cases("0.001-None")
@pytest.mark.parametrize(("epsilon", "expected"), [(1e-9, ["softmax"]), (1e-3, None)])
def test_softmax_of_a_sum_and_a_little(epsilon: float, expected: list[str] | None) -> None:
    """Beside exp(0) = 1 of the maximum an epsilon counts only if it is no tiny one."""
    found = operators(written(lambda x: (e := SHIFTS["maximum"](x).exp()) / (e.sum(3) + epsilon)))
    assert found == expected if expected else "softmax" not in found


def test_softmax_of_large_scores_without_a_maximum() -> None:
    """exp(100) is no float32; the quotient of two such is one."""
    prepared = prepare(*tvmq.from_onnx(written(lambda x: (e := x.exp()) / e.sum(1), (1, 4))))
    y = Reference(prepared).run({"x": np.float32([[100, 100, 0, 0]])})[0]
    np.testing.assert_allclose(y, [[0.5, 0.5, 0, 0]], atol=1e-7)


# ---- functions of single values

SIGMOIDS: list[Formula] = [
    lambda x: (1 + (-x).exp()).reciprocal(),
    lambda x: ((x * 0.5).tanh() + 1) * 0.5,
    lambda x: (e := x.exp()) / (e + 1),
]


def gelu_tanh_argument(x: Value, factor: float) -> Value:
    return factor * sqrt(2 / pi) * (x + 0.044715 * x**3)


def half_of_erf(x: Value) -> Value:
    return 0.5 * (x * sqrt(0.5)).erf()


CHAINS: dict[str, tuple[Formula, list[str]]] = {
    **{f"sigmoid {form}": (sigmoid, ["sigmoid"]) for form, sigmoid in enumerate(SIGMOIDS)},
    **{f"silu {form}": (lambda x, sigmoid=sigmoid: x * sigmoid(x), ["sigmoid", "multiply"])
       for form, sigmoid in enumerate(SIGMOIDS)},
    "silu by a quotient": (lambda x: x / (1 + (-x).exp()), ["sigmoid", "multiply"]),
    "silu": (lambda x: x.sigmoid() * x, ["sigmoid", "multiply"]),
    "silu of 1 x": (lambda x: x * (x * 1).sigmoid(), ["sigmoid", "multiply"]),
    "gelu as a sum": (lambda x: x * 0.5 + x * half_of_erf(x), ["nn.gelu"]),
    "gelu, half inside": (lambda x: x * (0.5 + half_of_erf(x)), ["nn.gelu"]),
    "gelu by the rest": (lambda x: x - x * (0.5 - half_of_erf(x)), ["nn.gelu"]),
    "gelu tanh by sigmoid": (lambda x: x * gelu_tanh_argument(x, 2).sigmoid(), ["nn.gelu_tanh"]),
    "gelu tanh as a sum": (lambda x: 0.5 * (x + x * gelu_tanh_argument(x, 1).tanh()), ["nn.gelu_tanh"]),
    "tanh": (lambda x: ((up := x.exp()) - (down := (-x).exp())) / (up + down), ["tanh"]),
    "gelu by 1.702": (lambda x: x * (x * 1.702).sigmoid(), ["multiply", "sigmoid", "multiply"]),
}  # fmt: skip


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", CHAINS)
def test_functions(name: str) -> None:
    formula, expected = CHAINS[name]
    assert operators(written(formula)) == expected


TABLES: dict[str, Formula] = {
    **{name: CHAINS[name][0] for name in ("silu 2", "gelu as a sum", "gelu by 1.702")},
    "hard swish": lambda x: x.hardswish(),
    "hard swish, relu6": lambda x: x * (x + 3).op("Clip", 0, 6) / 6,
    "hard sigmoid": lambda x: x.hardsigmoid(alpha=1 / 6),
    "mish": lambda x: x.mish(),
    "mish, softplus": lambda x: x * x.softplus().tanh(),
    "mish, log": lambda x: x * (x.exp() + 1).log().tanh(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_functions_between_products_are_tables(name: str) -> None:
    """In 8 bits every chain of one tensor is a table, in whatever operators it is spelled."""
    net = Net((1, 8))
    x = Value(net).op("MatMul", net.weight(8, 8))
    model = net.model(net.dense(TABLES[name](x).name, 8, 8))
    with tvmq.qconfig(calibrate_mode="minmax"):
        quantized = tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model), guard=None)
    names = names_of(quantized)
    assert set(names) <= {"quantize", "matmul", "add", "requantize", "scale_shift", "table", "dequantize"}, names
