"""Functions, of the model and of ONNX, replaced by their bodies."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from frontend_models import check, make_model, normal_floats
from onnx import helper

from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.graph.names import get_names

floats = normal_floats(4)


@pytest.mark.parametrize("attributes", [{}, {"alpha": 0.5}])
def test_an_onnx_function_keeps_one_layers_name(attributes: dict[str, float]) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["r"], name="relu")]
    nodes += [helper.make_node("Celu", ["r"], ["y"], name="/act/celu", **attributes)]
    mod = check(make_model(nodes, {"x": ("float32", (3, 5))}, ["y"]), {"x": floats(3, 5)})
    names = get_names(mod["main"])
    assert names.pop("relu") == ("relu",)
    assert set(names.values()) == {("/act/celu",)}
    assert mod["main"].body.body.name == "act_celu"


def attention(**attributes: Any) -> onnx.NodeProto:
    return helper.make_node("Attention", ["q", "k", "v"], ["y"], name="attention", **attributes)


@pytest.mark.slow
@pytest.mark.parametrize("attributes", [{}, {"scale": 0.3}, {"is_causal": 1}])
def test_attention_of_onnx(attributes: dict[str, Any]) -> None:
    """TVM's table knows only the operator of com.microsoft by this name."""
    shape = (1, 2, 4, 8)
    inputs = {name: ("float32", shape) for name in "qkv"}
    model = make_model([attention(**attributes)], inputs, ["y"], opset=23)
    mod = check(model, {name: floats(*shape) for name in "qkv"})
    assert set(get_names(mod["main"]).values()) == {("attention",)}


def local_function() -> onnx.ModelProto:
    """Two calls of block(x, w) = Relu(x * w) + x, a function of the model."""
    body = [
        helper.make_node("Mul", ["x", "w"], ["t"], name="scale"),
        helper.make_node("Relu", ["t"], ["u"], name="relu"),
        helper.make_node("Add", ["u", "x"], ["y"]),
    ]
    function = helper.make_function("mine", "block", ["x", "w"], ["y"], body, [helper.make_opsetid("", 18)])
    nodes = [
        helper.make_node("block", ["x", "w"], ["a"], name="first", domain="mine"),
        helper.make_node("block", ["a", "w"], ["y"], name="second", domain="mine"),
    ]
    model = make_model(nodes, {"x": ("float32", (4,))}, ["y"], {"w": floats(4)})
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("mine", 1))
    return model


def test_functions_of_the_model_become_layers() -> None:
    mod = check(local_function(), {"x": floats(4)})
    assert get_names(mod["main"]) == {
        "first_scale": ("first/scale",), "first_relu": ("first/relu",), "first": ("first",),
        "second_scale": ("second/scale",), "second_relu": ("second/relu",), "second": ("second",),
    }  # fmt: skip


def test_unknown_domain_is_refused() -> None:
    node = helper.make_node("Relu", ["x"], ["y"], name="layer", domain="mine")
    model = make_model([node], {"x": ("float32", (4,))}, ["y"])
    model.opset_import.append(helper.make_opsetid("mine", 1))
    with pytest.raises(UnsupportedOpError, match="layer 'layer': operator mine.Relu is not supported"):
        from_onnx(model)


def test_all_unknown_operators_are_listed() -> None:
    nodes = [helper.make_node("Det", ["x"], ["d"], name="det"), helper.make_node("Foo", ["d"], ["y"], name="foo")]
    model = make_model(nodes, {"x": ("float32", (2, 2))}, ["y"])
    with pytest.raises(UnsupportedOpError, match=r"layer 'det': operator Det is not supported \(nor are Foo\)"):
        from_onnx(model)


@pytest.mark.slow_cases("FastGelu", "BiasGelu")
@pytest.mark.parametrize("op_type", ["FastGelu", "BiasGelu", "Gelu"])
def test_operators_of_com_microsoft(op_type: str) -> None:
    inputs = ["x", "b"] if op_type != "Gelu" else ["x"]
    node = helper.make_node(op_type, inputs, ["y"], name="act", domain="com.microsoft")
    weights = {"b": floats(5)} if op_type != "Gelu" else {}
    check(make_model([node], {"x": ("float32", (3, 5))}, ["y"], weights), {"x": floats(3, 5)})


def test_if_is_refused() -> None:
    branch = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["b"])], "b", [], [helper.make_empty_tensor_value_info("b")]
    )
    node = helper.make_node("If", ["c"], ["y"], name="choice", then_branch=branch, else_branch=branch)
    model = make_model([node], {"c": ("bool", ()), "x": ("float32", (2,))}, ["y"])
    with pytest.raises(
        UnsupportedOpError,
        match="layer 'choice': If: control flow that depends on values known only at run time is not supported; fix",
    ):
        from_onnx(model)
