"""Half precision inside a model is computed in float32; inputs and outputs keep their types."""

from __future__ import annotations

import math

import numpy as np
import onnx
import pytest
from frontend_models import make_model
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tvmq.errors import UnsupportedOpError
from tvmq.graph.view import View, dtype_of

RNG = np.random.default_rng(0)


def run(model: onnx.ModelProto, *values: np.ndarray) -> list[np.ndarray]:
    mod, params = tvmq.from_onnx(model)
    names = [value.name for value in model.graph.input]
    return tvmq.build(mod, params=params).run(dict(zip(names, values, strict=True)))


def dense_half() -> onnx.ModelProto:
    weight = RNG.standard_normal((4, 3)).astype(np.float16)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"])]
    return make_model(nodes, {"x": ("float16", (2, 4))}, ["y"], {"w": weight})


@pytest.mark.slow
def test_float16_model() -> None:
    model = dense_half()
    x = RNG.standard_normal((2, 4)).astype(np.float16)
    (y,) = run(model, x)
    weight = numpy_helper.to_array(model.graph.initializer[0]).astype(np.float32)
    assert y.dtype == np.float16
    expected = np.maximum(x.astype(np.float32) @ weight, 0).astype(np.float16)
    assert np.abs(y.astype(np.float32) - expected.astype(np.float32)).max() <= np.spacing(np.abs(expected).max())


def test_what_passes_see_is_float32() -> None:
    mod, params = tvmq.from_onnx(dense_half())
    types = {op: dtype_of(var) for var, value in View(mod).bindings for op in [value.op.name]}
    assert types["relax.matmul"] == types["relax.nn.relu"] == "float32"
    assert [value.dtype for value in params.values()] == [np.float32]


def test_a_cast_to_half_precision_still_rounds() -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["h"], to=TensorProto.FLOAT16),
        helper.make_node("Cast", ["h"], ["y"], to=TensorProto.FLOAT),
    ]
    x = np.float32([1.0001, 70000, -3.14159])
    (y,) = run(make_model(nodes, {"x": ("float32", (3,))}, ["y"]), x)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(y, x.astype(np.float16).astype(np.float32))


def test_bfloat16_weights() -> None:
    weight = helper.make_tensor("w", TensorProto.BFLOAT16, [2], [0.5, -3.0])
    nodes = [
        helper.make_node("Cast", ["w"], ["wide"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["x", "wide"], ["y"]),
    ]
    model = make_model(nodes, {"x": ("float32", (2,))}, ["y"])
    model.graph.initializer.append(weight)
    np.testing.assert_array_equal(run(model, np.float32([2, 2]))[0], np.float32([1, -6]))


def test_bfloat16_inputs_are_refused() -> None:
    model = make_model([helper.make_node("Relu", ["x"], ["y"])], {"x": ("float32", (2,))}, ["y"])
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.BFLOAT16
    with pytest.raises(UnsupportedOpError, match="input 'x': element type bfloat16.*export the model in float32"):
        tvmq.from_onnx(model)


def test_results_that_are_constants_keep_their_type() -> None:
    nodes = [helper.make_node("Add", ["a", "b"], ["y"]), helper.make_node("Relu", ["x"], ["z"])]
    halves = {"a": np.float16([1, 2]), "b": np.float16([0.5, 0.25])}
    y, _ = run(make_model(nodes, {"x": ("float32", (1,))}, ["y", "z"], halves), np.float32([1]))
    assert y.dtype == np.float16
    np.testing.assert_array_equal(y, np.float16([1.5, 2.25]))


@pytest.mark.parametrize("wide", [True, False], ids=["float32", "float16"])
@pytest.mark.parametrize("function", ["silu", "sigmoid", "gelu", "tanh"])
def test_functions_written_out_behind_a_cast_keep_their_type(function: str, wide: bool) -> None:
    """Functions that `prepare` recognizes take the tensor behind the cast, whose type the operators after it need."""
    to = helper.make_node("Cast", ["x"], ["w"], to=onnx.TensorProto.FLOAT)
    inner = {
        "silu": [("Mul", ["w", "one"], "m"), ("Sigmoid", ["m"], "s"), ("Mul", ["w", "s"], "f")],
        "sigmoid": [("Neg", ["w"], "n"), ("Exp", ["n"], "e"), ("Add", ["e", "one"], "a"), ("Div", ["one", "a"], "f")],
        "gelu": [
            ("Mul", ["w", "root"], "m"), ("Erf", ["m"], "r"), ("Add", ["r", "one"], "a"), ("Mul", ["w", "half"], "h"),
            ("Mul", ["a", "h"], "f"),
        ],
        "tanh": [("Mul", ["w", "one"], "m"), ("Tanh", ["m"], "f")],
    }[function]  # fmt: skip
    nodes = [to, *(helper.make_node(op, given, [result]) for op, given, result in inner)]
    nodes.append(helper.make_node("Mul", ["f", "b"], ["y"]))
    constants = {"one": np.float32([1]), "root": np.float32([0.70710678]), "half": np.float32([0.5])}
    inputs = {"x": ("float32" if wide else "float16", (2, 4)), "b": ("float32", (2, 4))}
    mod, params = tvmq.from_onnx(make_model(nodes, inputs, ["y"], constants))
    x, b = (np.random.default_rng(seed).standard_normal((2, 4)).astype(t) for seed, (t, _) in enumerate(inputs.values()))
    result = np.asarray(tvmq.build(mod, params=params)(x, b))
    values = x.astype(np.float64)
    sigmoid = 1 / (1 + np.exp(-values))
    wanted = {
        "silu": values * sigmoid, "sigmoid": sigmoid, "tanh": np.tanh(values),
        "gelu": values / 2 * (1 + np.vectorize(math.erf)(values / math.sqrt(2))),
    }[function]  # fmt: skip
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, wanted * b, rtol=1e-3, atol=1e-3)
