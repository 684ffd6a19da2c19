"""Dynamic dimensions of two names that a layer makes one: exports with `unk__1` and `unk__2`, or with no name at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tvm import tirx

import tvmq
from tvmq.errors import DataError, UnsupportedOpError
from tvmq.formats.onnx.importer import convert
from tvmq.graph.required_equals import OnlyEqual, require_equal_dimensions

ROWS, COLUMNS, OTHERS = (tirx.Var(name, "int64") for name in ("rows", "columns", "others"))


def two_inputs(operator: str, sizes: dict[str, list[Any]], **attributes: Any) -> onnx.ModelProto:
    """A linear layer of each input, and one operator of both results."""
    weights = {name: np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32) for name in ("v", "w")}
    nodes = [
        helper.make_node("MatMul", ["a", "v"], ["c"]),
        helper.make_node("MatMul", ["b", "w"], ["d"]),
        helper.make_node(operator, ["c", "d"], ["y"], name="/join", **attributes),
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in sizes.items()]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    constants = [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "two", inputs, [output], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def sample(rows: int, others: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(rows)
    return {name: rng.standard_normal((n, 4)).astype(np.float32) for name, n in (("a", rows), ("b", others))}


@pytest.mark.parametrize("first, second", [("unk__1", "unk__2"), ("", ""), ("rows", "")])
@pytest.mark.parametrize("operator, attributes", [("Concat", {"axis": 1}), ("Sub", {})])
def test_names_of_exporters_are_one_dimension(operator, attributes, first, second):
    mod, params = tvmq.from_onnx(two_inputs(operator, {"a": [first, 4], "b": [second, 4]}, **attributes))
    a, b = mod["main"].params[:2]
    assert a.ty.shape[0].same_as(b.ty.shape[0])
    qmod = tvmq.quantize(mod, params, [sample(3, 3)], guard=None)
    exe = tvmq.build(qmod)
    assert tvmq.verify(exe, [sample(n, n) for n in (1, 5)])
    with pytest.raises(DataError, match="input 'b' has 2 for .*, input 'a' has 3; they must be equal"):
        exe.run(sample(3, 2))


def test_dimensions_of_three_inputs_are_one():
    """The third is equal to the second, which has been made the first before."""
    model = two_inputs("Add", {"a": ["p", 4], "b": ["q", 4]})
    model.graph.input.append(helper.make_tensor_value_info("e", TensorProto.FLOAT, ["r", 4]))
    model.graph.node.append(helper.make_node("Mul", ["d", "e"], ["z"], name="/mul"))
    model.graph.node.append(helper.make_node("Add", ["z", "y"], ["sum"], name="/sum"))
    model.graph.output[0].name = "sum"
    mod, _ = tvmq.from_onnx(model)
    assert {str(param.ty.shape[0]) for param in mod["main"].params[:3]} == {"p"}


@pytest.mark.parametrize("one, other", [(ROWS, COLUMNS), (ROWS * 2, COLUMNS * 2), ((ROWS + 1) // 2, (COLUMNS + 1) // 2)])
def test_what_one_dimension_makes_equal(one, other):
    with pytest.raises(OnlyEqual) as needed:
        require_equal_dimensions(one, other)
    assert (needed.value.name, needed.value.other) == ("columns", "rows")


@pytest.mark.parametrize("one, other", [
    (ROWS, 4), (ROWS, ROWS + 1), (ROWS, COLUMNS + 1), (ROWS * COLUMNS, OTHERS), (ROWS * 2, COLUMNS), (3, 4),
])  # fmt: skip
def test_what_stays_unequal(one, other):
    require_equal_dimensions(one, other)


def test_names_that_no_input_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A demand that comes twice: the names are not those of dimensions of inputs."""

    def run(_importer: Any) -> None:
        raise OnlyEqual("b", "a")

    monkeypatch.setattr(convert._OnnxImporter, "run", run)
    with pytest.raises(UnsupportedOpError, match="^from_onnx: dimensions 'b' and 'a' must be equal; "):
        tvmq.from_onnx(two_inputs("Add", {"a": ["p", 4], "b": ["p", 4]}))
