"""Inputs that are given at the import are constants: branches on them are chosen then."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tvmq.errors import ModelError


def by_rate() -> onnx.ModelProto:
    """y = 2 x at a rate of 16000, else 3 x."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])
    rate = helper.make_tensor_value_info("rate", TensorProto.INT64, [])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])
    branches = []
    for factor in (2.0, 3.0):
        out = helper.make_tensor_value_info(f"y{factor}", TensorProto.FLOAT, [1, 3])
        node = helper.make_node("Mul", ["x", f"f{factor}"], [out.name], f"/mul{factor}")
        weights = [numpy_helper.from_array(np.float32([factor]), f"f{factor}")]
        branches.append(helper.make_graph([node], f"times{factor}", [], [out], weights))
    nodes = [
        helper.make_node("Equal", ["rate", "high"], ["is_high"], "/equal"),
        helper.make_node("If", ["is_high"], ["y"], "/if", then_branch=branches[0], else_branch=branches[1]),
    ]
    constants = [numpy_helper.from_array(np.int64(16000), "high")]
    graph = helper.make_graph(nodes, "rates", [x, rate], [y], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize(("rate", "factor"), [(16000, 2.0), (8000, 3.0)])
def test_a_branch_is_chosen_by_a_value(rate: int, factor: float) -> None:
    model = by_rate()
    mod, params = tvmq.from_onnx(model, values={"rate": rate})
    exe = tvmq.build(mod, params=params)
    assert [info.name for info in exe.input_info] == ["x"] and len(model.graph.input) == 2
    assert exe.run({"x": np.ones((1, 3), np.float32)})[0].tolist() == [[factor] * 3]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"rats": 1}, "values: the model has no input 'rats'; did you mean 'rate'?"),
    ({"zzz": 1}, "values: the model has no input 'zzz'; it has x, rate"),
    ({"rate": 1.5}, r"values: input 'rate' is int64 \[\]\. Got float64 \[\] instead"),
    ({"rate": [1, 2]}, r"values: input 'rate' is int64 \[\]\. Got int64 \[2\] instead"),
]


@pytest.mark.parametrize(("values", "message"), REFUSED)
def test_values_that_do_not_fit(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        tvmq.from_onnx(by_rate(), values=values)
