"""Dimensions that are sums of others, by their names or because a layer asks for it; runs with other sizes are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tvm import tirx

import tvmq
from tvmq.errors import DataError, UnsupportedOpError
from tvmq.graph.required_sums import OnlySum, require_sum
from tvmq.runtime.inputs import TensorInfo, sizes_of_inputs


def joined(third: list[Any]) -> onnx.ModelProto:
    """The sum of a mask and of two tensors, one behind the other."""
    nodes = [
        helper.make_node("Concat", ["a", "b"], ["c"], axis=1),
        helper.make_node("Add", ["c", "mask"], ["y"], name="/add"),
    ]
    sizes = {"a": ["n", "past"], "b": ["n", "new"], "mask": third}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in sizes.items()]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "joined", inputs, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("third", [["n", "past + new"], ["n", "past+new"], ["n", "total"], [1, "?"]])
def test_names_and_layers_tell(third: list[Any]) -> None:
    mod, _ = tvmq.from_onnx(joined(third))
    (mask,) = (param for param in mod["main"].params if param.name == "mask")
    assert str(mask.ty.shape[1]) in ("past + new", "new + past")


def test_runs_are_checked() -> None:
    infos = [
        TensorInfo("a", ("past",), "float32"),
        TensorInfo("m", ("past + new + 1",), "float32"),
        TensorInfo("b", ("new",), "int8"),
    ]
    arrays = [np.zeros(size) for size in (3, 6, 2)]
    assert sizes_of_inputs(infos, arrays, {}) == {"past": 3, "new": 2}
    with pytest.raises(DataError, match=r"run: input 'm' has 7 for 'past \+ new \+ 1' \(axis 0\), the other inputs make that 6; "):
        sizes_of_inputs(infos, [arrays[0], np.zeros(7), arrays[2]], {})


def test_what_no_sum_makes_equal() -> None:
    with pytest.raises(
        UnsupportedOpError, match="sizes past . new and 2 . past of its inputs are not proved|are not proved"
    ):
        model = joined(["n", "past"])
        tvmq.from_onnx(model)
    model = joined(["n", "?"])
    model.graph.input.insert(0, model.graph.input[2])
    del model.graph.input[3]
    for value in model.graph.input[1:]:
        value.type.tensor_type.shape.dim[1].dim_param = ""
    with pytest.raises(UnsupportedOpError, match=r"from_onnx: dimension 'mask_d1' must be a_d1 \+ b_d1; "):
        tvmq.from_onnx(model)
    rows, columns = tirx.Var("rows", "int64"), tirx.Var("columns", "int64")
    for one, other in ((rows, columns), (rows, 4), (rows, rows + 1), (rows * 2, rows + columns)):
        require_sum(one, other)
    with pytest.raises(OnlySum):
        require_sum(rows, columns + 1)
