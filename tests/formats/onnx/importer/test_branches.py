"""If with a condition that is known becomes the branch taken; others are refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from frontend_models import check, make_model
from onnx import helper, numpy_helper

from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.graph.names import get_names


def branch(name: str, *nodes: onnx.NodeProto, result: str, **weights: Any) -> onnx.GraphProto:
    tensors = [numpy_helper.from_array(np.asarray(value), key) for key, value in weights.items()]
    return helper.make_graph(list(nodes), name, [], [helper.make_empty_tensor_value_info(result)], tensors)


def choice(condition: str, name: str = "choose") -> onnx.NodeProto:
    """If: relu(x) * k, else -x."""
    taken = branch(
        "then",
        helper.make_node("Relu", ["x"], ["r"], name="relu"),
        helper.make_node("Mul", ["r", "k"], ["out"]),
        result="out",
        k=np.float32(3),
    )
    other = branch("else", helper.make_node("Neg", ["x"], ["out"], name="neg"), result="out")
    return helper.make_node("If", [condition], ["y"], name=name, then_branch=taken, else_branch=other)


X = np.float32([[-1, 2, 3]])


@pytest.mark.parametrize("value", [True, False])
def test_constant_condition(value: bool) -> None:
    model = make_model([choice("c")], {"x": ("float32", (1, 3))}, ["y"], {"c": np.array(value)})
    mod = check(model, {"x": X})
    layers = {name for names in get_names(mod["main"]).values() for name in names}
    assert ("choose/relu" in layers) == value and ("choose/neg" in layers) != value


def test_condition_on_shapes() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "one"], ["n"], axis=0),
        helper.make_node("Equal", ["n", "three"], ["c"]),
        choice("c"),
    ]
    constants = {"one": np.int64(1), "three": np.int64(3)}
    check(make_model(nodes, {"x": ("float32", (1, 3))}, ["y"], constants), {"x": X})


def test_nested() -> None:
    inner = choice("c", name="inner")
    outer = helper.make_node(
        "If", ["c"], ["z"], name="outer",
        then_branch=branch("then", inner, helper.make_node("Abs", ["y"], ["a"]), result="a"),
        else_branch=branch("else", helper.make_node("Neg", ["x"], ["b"]), result="b"),
    )  # fmt: skip
    check(make_model([outer], {"x": ("float32", (1, 3))}, ["z"], {"c": np.array(True)}), {"x": X})


def test_a_branch_that_only_passes_a_value_on() -> None:
    node = helper.make_node(
        "If", ["c"], ["y"], name="choose",
        then_branch=branch("then", result="x"), else_branch=branch("else", result="k", k=np.float32(1)),
    )  # fmt: skip
    after = helper.make_node("Neg", ["y"], ["z"])
    model = make_model([node, after], {"x": ("float32", (1, 3))}, ["z"], {"c": np.array(True)})
    mod, _ = from_onnx(model)
    assert "negative" in mod.script()


def test_other_conditions_are_refused() -> None:
    model = make_model([choice("c")], {"x": ("float32", (1, 3)), "c": ("bool", ())}, ["y"])
    with pytest.raises(
        UnsupportedOpError,
        match="layer 'choose': If: control flow that depends on values known only at run time is not supported; fix",
    ):
        from_onnx(model)
