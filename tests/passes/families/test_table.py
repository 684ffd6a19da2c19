"""Functions of one tensor as tables: named operators, chains of several, chains through comparisons."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tvmq
from tests.passes.families.roads import integer_road, start
from tests.support.models.networks import Net, drive, feeds_of
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, const_value, op_name

OPERATORS = {
    **{name: {} for name in ("Tanh", "Erf", "Softplus", "Elu", "Selu", "HardSwish", "Exp", "Abs", "Neg")},
    **{name: {} for name in ("Softsign", "Sin", "Cos", "Atan", "Sign", "ThresholdedRelu", "Floor")},
    "LeakyRelu": {"alpha": 0.1},
    "Celu": {"alpha": 0.7},
    "Shrink": {"lambd": 0.2},
}
# Steps of a function that fall between codes are noise; what 8 bits lose there says nothing about the table.
STEPS = ("Sign", "ThresholdedRelu", "Floor", "Shrink")


@pytest.mark.slow
def test_one_operator_each() -> None:
    n, y = start()
    smooth = [n.conv(n.op(name, y, **named), 6, 4, 1) for name, named in OPERATORS.items() if name not in STEPS]
    road = integer_road(n, *smooth)
    assert road.operators().count("tvmq.table") == len(smooth)


@pytest.mark.slow
def test_functions_with_steps() -> None:
    n, y = start()
    road = integer_road(n, *(n.conv(n.op(name, y, **OPERATORS[name]), 6, 4, 1) for name in STEPS), least_snr=10.0)
    assert road.operators().count("tvmq.table") == len(STEPS)


def _scalar(net: Net, value: float) -> str:
    return net.constant(np.float32(value))


CHAINS: dict[str, Callable[[Net, str], str]] = {
    "mish": lambda n, y: n.op("Mul", y, n.op("Tanh", n.op("Softplus", y))),
    "logarithm": lambda n, y: n.op("Log", n.op("Add", n.op("Abs", y), _scalar(n, 1))),
    "root": lambda n, y: n.op("Sqrt", n.op("Abs", y)),
    "power": lambda n, y: n.op("Pow", n.op("Abs", y), _scalar(n, 1.5)),
    "reciprocal": lambda n, y: n.op("Reciprocal", n.op("Add", n.op("Abs", y), _scalar(n, 1))),
    "constant less x": lambda n, y: n.op("Sub", _scalar(n, 1), y),
    "where": lambda n, y: n.op("Where", n.op("Greater", y, _scalar(n, 0)), y, n.op("Mul", y, _scalar(n, 0.3))),
    "and": lambda n, y: n.op(
        "Where",
        n.op("And", n.op("Greater", y, _scalar(n, -1)), n.op("Less", y, _scalar(n, 1))),
        y,
        n.op("Clip", y, _scalar(n, -1), _scalar(n, 1)),
    ),
}


@pytest.mark.slow
def test_chains_are_one_table_each() -> None:
    n, y = start()
    road = integer_road(n, *(n.conv(chain(n, y), 6, 4, 1) for chain in CHAINS.values()))
    assert road.operators().count("tvmq.table") == len(CHAINS)


@pytest.mark.slow
def test_a_comparison_is_a_table_of_booleans() -> None:
    """Decided on codes: true exactly where the real value of the code is at least the constant."""
    n, y = start()
    model = n.model(n.op("GreaterOrEqual", y, _scalar(n, 0.3)), n.conv(y, 6, 2))
    mod, params = tvmq.from_onnx(model)
    quantized = tvmq.quantize(mod, params, feeds_of(model), guard=None)
    (entry,) = [e for e in get_ledger(quantized).layers.values() if e["family"] == "table"]
    assert entry["output"] == "bool, straight from the codes"
    seen: dict[str, np.ndarray] = {}
    feed = feeds_of(model, 1)[0]
    expected = tvmq.reference.run(quantized, feed, watch=seen.__setitem__)[0]
    scale, zero_point = entry["input"][0]["scale"], entry["input"][0]["zero_point"]
    codes = seen[entry["inputs"][0]].astype(np.int64)
    np.testing.assert_array_equal(expected, (codes - zero_point) * scale >= np.float64(np.float32(0.3)))
    found = tvmq.build(quantized).run(feed)[0]
    assert found.dtype == np.bool_ and 0 < found.sum() < found.size
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_where_the_function_is_not_a_number_stands_the_lowest_code() -> None:
    """Signed codes of positive values: log of a negative code is what quantize makes of NaN."""
    n = Net((2, 3, 9, 8))
    y = n.conv("x", 3, 6, weight=np.abs(n.weight(6, 3, 3, 3)), bias=False, pads=[0] * 4)
    model = n.model(n.conv(n.op("Log", y), 6, 4, 1))
    feeds = [{"x": np.abs(feed["x"])} for feed in feeds_of(model)]
    road = drive(model, feeds=feeds, dtype_input="int8", scheme="symmetric")
    (values,) = [const_value(v.args[1]) for _, v in View(road.quantized).bindings if op_name(v) == "tvmq.table"]
    assert (values[:129] == values.min()).all() and values[-1] > values.min()
