"""Dimensions that are sums of others: operators that meet both are known to fit, and calls that do not are refused."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tvmq
from tvmq.errors import DataError
from tvmq.graph.view import sizes_of


def masked(total: str, *, declared: bool = True) -> onnx.ModelProto:
    """y [1, total] = past and x in a row + mask [1, total].

    declared  the row is an output, which has the name too
    """
    kinds = {"x": ["batch", "steps"], "past": ["batch", "before"], "mask": ["batch", total]}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in kinds.items()]
    whole = helper.make_tensor_value_info("whole", TensorProto.FLOAT, ["batch", total])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    nodes = [
        helper.make_node("Concat", ["past", "x"], ["whole"], "/concat", axis=1),
        helper.make_node("Add", ["whole", "mask"], ["y"], "/add"),
    ]
    graph = helper.make_graph(nodes, "masked", inputs, [y, whole] if declared else [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("total", ["total", "before + steps", "steps + before"])
def test_sums_by_name_and_by_structure(total: str) -> None:
    mod, params = tvmq.from_onnx(masked(total, declared=total == "total"))
    exe = tvmq.build(mod, params=params)
    assert exe.input_info[2].shape[1] in ("before + steps", "steps + before")
    feed = {"x": np.ones((1, 2)), "past": np.zeros((1, 3)), "mask": np.full((1, 5), 4.0)}
    assert exe.run(feed)[0].tolist() == [[4.0, 4.0, 4.0, 5.0, 5.0]]
    with pytest.raises(DataError, match=r"input 'mask' has 4 for '.*' \(axis 1\), the other inputs make that 5"):
        exe.run({**feed, "mask": np.zeros((1, 4))})


def test_a_name_that_is_no_sum_stays_one() -> None:
    mod, _ = tvmq.from_onnx(masked("total"), shape={"mask": (None, 7), "x": (None, 3), "past": (None, 4)})
    assert [sizes_of(param)[1] for param in mod["main"].params] == [3, 4, 7]
