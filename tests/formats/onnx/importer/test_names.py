"""Layer names, the form of the imported function, its parameters and its outputs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import onnx
import pytest
import tvm
import tvm_ffi
from frontend_models import check, make_model, normal_floats
from onnx import helper
from tvm import relax

from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.graph.names import get_names, input_names, output_names
from tvmq.graph.view import View

floats = normal_floats(1)


def node(op_type: str, inputs: list[str], output: str, name: str = "", **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs, [output], name=name, **attributes)


def bindings(mod: tvm.IRModule) -> list[relax.VarBinding]:
    (block,) = mod["main"].body.blocks
    return list(block.bindings)


def variables(mod: tvm.IRModule) -> list[str]:
    return [binding.var.name for binding in bindings(mod)]


@pytest.fixture(scope="module")
def model() -> onnx.ModelProto:
    """Convolution, batch norm, relu, pool, dense."""
    nodes = [
        node("Conv", ["x", "w.0", "b.0"], "c", "/block/conv.0", kernel_shape=[3, 3]),
        node("BatchNormalization", ["c", "g", "h", "m", "v"], "n", "norm"),
        node("Relu", ["n"], "r"),
        node("GlobalAveragePool", ["r"], "p", "pool"),
        node("Flatten", ["p"], "f", "flatten"),
        node("Gemm", ["f", "w.1", "b.1"], "logits:0", "lambda", transB=1),
    ]
    weights = {"w.0": floats(4, 3, 3, 3), "b.0": floats(4), "w.1": floats(5, 4), "b.1": floats(5)}
    weights |= {"g": floats(4), "h": floats(4), "m": floats(4), "v": np.abs(floats(4))}
    return make_model(nodes, {"x": ("float32", (1, 3, 6, 6))}, ["logits:0"], weights)


@pytest.mark.slow
def test_results_have_exactly_the_layers_names(model: onnx.ModelProto) -> None:
    mod = check(model, {"x": floats(1, 3, 6, 6)})
    names = get_names(mod["main"])
    assert variables(mod) == [
        "block_conv_0_conv2d", "block_conv_0_reshape", "block_conv_0", "norm_batch_norm", "norm", "Relu_2",
        "pool", "flatten", "lambda__permute_dims", "lambda__matmul", "lambda_",
    ]  # fmt: skip
    assert list(names) == variables(mod)
    assert names["block_conv_0_conv2d"] == names["block_conv_0"] == ("/block/conv.0",)
    assert names["norm_batch_norm"] == names["norm"] == ("norm",)
    assert names["Relu_2"] == ("Relu_2",) and names["lambda_"] == ("lambda",)


def test_parameters_are_inputs_then_weights(model: onnx.ModelProto) -> None:
    mod, params = from_onnx(model)
    func = mod["main"]
    expected = ["x", "w_0", "b_0", "g", "h", "m", "v", "w_1", "b_1"]
    assert [p.name for p in func.params] == expected
    assert list(params) == expected[1:]
    assert int(func.attrs["num_input"]) == 1
    assert json.loads(func.attrs["tvmq.inputs"]) == ["x"]
    assert json.loads(func.attrs["tvmq.outputs"]) == ["logits:0"]
    stored = onnx.numpy_helper.to_array(model.graph.initializer[0])
    np.testing.assert_array_equal(params["w_0"], stored)


def test_straight_line_without_nested_calls(model: onnx.ModelProto) -> None:
    mod, _ = from_onnx(model)
    for binding in bindings(mod):
        assert isinstance(binding.value, relax.Call | relax.TupleGetItem | relax.Tuple)
        if isinstance(binding.value, relax.Call):
            assert not any(isinstance(arg, relax.Call) for arg in binding.value.args)
    assert isinstance(mod["main"].body.blocks[0], relax.DataflowBlock)


def test_module_prints_and_parses_back(model: onnx.ModelProto) -> None:
    mod, _ = from_onnx(model)
    parsed = tvm.script.from_source(mod.script(show_meta=True))
    assert tvm_ffi.structural_equal(parsed, mod)
    assert variables(parsed) == variables(mod)
    assert get_names(parsed["main"]) == get_names(mod["main"])


def test_callers_model_is_unchanged(model: onnx.ModelProto) -> None:
    before = model.SerializeToString()
    from_onnx(model, shape={"x": (1, 3, 6, 6)})
    assert model.SerializeToString() == before


def test_colliding_names_become_unique() -> None:
    nodes = [
        node("Relu", ["x"], "a", "x"),
        node("Relu", ["a"], "b", "same.name"),
        node("Neg", ["b"], "c", "same/name"),
        node("Abs", ["c"], "d", "R"),
        node("Relu", ["d"], "e", "4"),
        node("Add", ["e", "same_name"], "y", ""),
    ]
    mod = check(make_model(nodes, {"x": ("float32", (3,))}, ["y"], {"same_name": floats(3)}), {"x": floats(3)})
    assert variables(mod) == ["x_1", "same_name", "same_name_1", "R_", "v_4", "Add_5"]
    assert [p.name for p in mod["main"].params] == ["x", "same_name_2"]
    assert get_names(mod["main"])["same_name_1"] == ("same/name",)


def test_odd_names_are_kept_as_layers() -> None:
    layer, value = "\"'\\ {}%/日本", "é x/0:\"'"
    nodes = [node("Relu", [value], "a\\{}%s", layer), node("Neg", ["a\\{}%s"], "<y>", "class")]
    mod, _ = from_onnx(make_model(nodes, {value: ("float32", (3,))}, ["<y>"]))
    assert set(get_names(mod["main"]).values()) == {(layer,), ("class",)}
    assert input_names(mod["main"]).popitem()[1] == value and output_names(mod["main"], 1) == ["<y>"]
    tvm.ir.assert_structural_equal(tvm.script.from_source(mod.script(show_meta=True)), mod)


@pytest.mark.slow
def test_several_outputs_are_a_tuple_in_order() -> None:
    nodes = [
        helper.make_node("Split", ["x"], ["a", "b"], name="halves", axis=1, num_outputs=2),
        node("Relu", ["a"], "c", "relu"),
        node("Add", ["c", "b"], "d", "sum"),
    ]
    mod = check(make_model(nodes, {"x": ("float32", (2, 6))}, ["d", "b", "c", "d"]), {"x": floats(2, 6)})
    assert variables(mod) == ["halves", "halves_0", "halves_1", "relu", "sum"]
    assert json.loads(mod["main"].attrs["tvmq.outputs"]) == ["d", "b", "c", "d"]
    assert [var.name for var in mod["main"].body.body.fields] == ["sum", "halves_1", "relu", "sum"]
    assert View(mod).outputs == ["sum", "halves_1", "relu", "sum"]


@pytest.mark.slow
def test_inputs_and_constants_can_be_outputs() -> None:
    nodes = [node("Identity", ["x"], "copy"), node("Relu", ["x"], "y")]
    model = make_model(nodes, {"x": ("float32", (3,))}, ["copy", "y", "k"], {"k": np.array([1, 2], np.int64)})
    check(model, {"x": floats(3)})
    single = make_model([node("Identity", ["x"], "copy")], {"x": ("float32", (3,))}, ["copy"])
    assert variables(check(single, {"x": floats(3)})) == ["copy"]


# nodes, sizes of inputs, constants; variables and parameters of the imported function
X3, X4 = {"x": (3,)}, {"x": (4,)}
FORMS: dict[str, tuple[list[onnx.NodeProto], dict[str, tuple[int, ...]], dict[str, Any], list[str], list[str]]] = {
    "layers of one name": (
        [node("Relu", ["x"], "a", "r"), node("Neg", ["a"], "b", "r"), node("Abs", ["b"], "y", "r_1")],
        X3, {}, ["r", "r_2", "r_1"], ["x"],
    ),
    "scalars and integers stay constants": (
        [node("Mul", ["x", "half"], "a", "scale"), node("Gather", ["a", "picks"], "b", "pick", axis=1),
         node("Add", ["b", "shift"], "y", "shift_it"), node("Mul", ["x", "unread"], "z", "nobody")],
        {"x": (3, 4)}, {"half": np.float32(0.5), "picks": np.array([2, 0]), "shift": floats(2), "unread": floats(4)},
        ["scale", "pick", "shift_it"], ["x", "shift"],
    ),
    "shared weights": (
        [node("Add", ["x", "w"], "a", "first"), node("Mul", ["a", "w"], "y", "second")],
        X4, {"w": floats(4)}, ["first", "second"], ["x", "w"],
    ),
    "weights listed as inputs": (
        [node("Add", ["x", "w"], "y", "add")], {"x": (4,), "w": (4,)}, {"w": floats(4)}, ["add"], ["x", "w"],
    ),
    "an unread input": ([node("Relu", ["x"], "y", "r")], {"unused": (2,), "x": (3,)}, {}, ["r"], ["unused", "x"]),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_variables_and_parameters(name: str) -> None:
    nodes, inputs, constants, names, parameters = FORMS[name]
    mod, params = from_onnx(make_model(nodes, {i: ("float32", shape) for i, shape in inputs.items()}, ["y"], constants))
    assert variables(mod) == names and list(get_names(mod["main"])) == names
    assert [p.name for p in mod["main"].params] == parameters
    assert list(params) == [name for name in parameters if name in constants]
    assert int(mod["main"].attrs["num_input"]) == len(parameters) - len(params)


def test_sixty_four_bits_are_kept() -> None:
    nodes = [node("Add", ["x", "k"], "y"), node("Mul", ["z", "d"], "t")]
    weights = {"k": np.array([2**40, 1]), "d": np.array([1 + 1e-12, 2.0])}
    model = make_model(nodes, {"x": ("int64", (2,)), "z": ("float64", (2,))}, ["y", "t"], weights)
    check(model, {"x": np.array([1, 2]), "z": np.array([1.0, 3.0])})
