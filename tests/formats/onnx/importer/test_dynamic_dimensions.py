"""Dynamic dimensions: kept symbolic, fixed by shape=; wrong shape= arguments, and sizes that are refused."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from frontend_models import assert_close, check, make_model, run_float, run_onnxruntime
from onnx import helper

import tvmq
from tests.support.models.shape_models import DYNAMIC, EMBED, FLATTEN, floats, input_shape, node, operators
from tvmq.errors import BuildError, ModelError, UnsupportedOpError
from tvmq.formats.onnx.importer.from_onnx import from_onnx


@pytest.mark.slow_cases("crop", "flatten")
@pytest.mark.parametrize("name", DYNAMIC)
def test_shape_arithmetic_stays_symbolic(name: str) -> None:
    model, shape, expected = DYNAMIC[name]
    mod = check(model, {"x": floats(*shape)})
    assert expected is None or operators(mod) == expected
    assert any(isinstance(d, str) for d in input_shape(mod))


@pytest.mark.parametrize("name", DYNAMIC)
def test_shape_arithmetic_folds_when_fixed(name: str) -> None:
    model, shape, _ = DYNAMIC[name]
    mod = check(model, {"x": floats(*shape)}, shape={"x": shape})
    assert input_shape(mod) == list(shape)
    assert not {"shape_of", "shape_to_tensor", "tensor_to_shape"} & set(operators(mod))


def test_shape_as_output() -> None:
    model = make_model([node("Shape", ["x"], "y")], {"x": ("float32", ("n", 4))}, ["y"])
    x = floats(3, 4)
    mod, params = from_onnx(model)
    assert_close(run_float(mod, params, {"x": x}), [np.array([3, 4])])
    check(model, {"x": x}, shape={"x": (3, 4)})


def test_a_dimension_of_several_inputs_is_fixed_for_all() -> None:
    inputs = {"a": ("float32", ("n", 3)), "b": ("float32", ("n", 3)), "c": ("float32", ("m", 3))}
    nodes = [node("Add", ["a", "b"], "y"), node("Relu", ["c"], "z")]
    model = make_model(nodes, inputs, ["y", "z"])
    mod, _ = from_onnx(model, shape={"a": (2, 3)})
    assert [input_shape(mod, i) for i in range(3)] == [[2, 3], [2, 3], ["m", 3]]
    symbols = [from_onnx(model)[0]["main"].params[i].ty.shape.values[0] for i in range(2)]
    assert symbols[0].name == "n" and symbols[0].name == symbols[1].name


def test_none_keeps_a_dimension() -> None:
    model = make_model([node("Relu", ["x"], "y")], {"x": ("float32", ("n", "h"))}, ["y"])
    assert input_shape(from_onnx(model, shape={"x": (None, 8)})[0]) == ["n", 8]


def test_unnamed_dimensions_get_symbols() -> None:
    model = make_model([node("Relu", ["x"], "y")], {"x": ("float32", (None, 3))}, ["y"])
    assert input_shape(from_onnx(model)[0]) == ["x_d0", 3]


def test_unknown_rank_needs_a_shape() -> None:
    model = make_model([node("Relu", ["x"], "y")], {"x": ("float32", None)}, ["y"])
    with pytest.raises(ModelError, match="input 'x' has unknown rank"):
        from_onnx(model)
    check(model, {"x": floats(2, 3)}, shape={"x": (2, 3)})


def test_old_output_dimensions_do_not_bind() -> None:
    """Models state their outputs' dimensions as exported; fixing an input changes them."""
    model = make_model([node("Relu", ["x"], "y")], {"x": ("float32", ("n", 3))}, ["y"])
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", 3]))
    mod = check(model, {"x": floats(4, 3)}, shape={"x": (4, 3)})
    assert [int(d) for d in mod["main"].ret_ty.shape.values] == [4, 3]


WRONG = {
    "name": ({"image": (1, 3)}, "'image', which is not an input; the model's inputs are 'x' (n, 3), 'y' (n, 3)"),
    "rank": ({"x": (1, 3, 3)}, "it has 3 dimensions, but the input has 2"),
    "size": ({"x": (1, 4)}, "dimension 1 of 'x' from 3 to 4, which is fixed in the model"),
    "shared": ({"x": (1, 3), "y": (2, 3)}, "dimension 0 ('n') is already 1"),
    "zero": ({"x": (0, 3)}, "dimension 0 is not a positive integer"),
    "float": ({"x": (1.0, 3)}, "dimension 1.0 is not a positive integer"),
    "scalar": ({"x": 3}, "is not a sequence of integers"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_shape_argument_names_inputs(name: str) -> None:
    shape, words = WRONG[name]
    model = make_model([node("Add", ["x", "y"], "z")], {"x": ("float32", ("n", 3)), "y": ("float32", ("n", 3))}, ["z"])
    with pytest.raises(ModelError) as caught:
        from_onnx(model, shape=shape)
    assert words in str(caught.value) and "the model's inputs are 'x' (n, 3)" in str(caught.value)


def test_shapes_that_do_not_fit_together() -> None:
    nodes = [node("Concat", ["x", "w"], "y", axis=0)]
    model = make_model(nodes, {"x": ("float32", ("n", "m"))}, ["y"], {"w": floats(2, 3)})
    with pytest.raises(ModelError, match=r"layer 'y'.*shape="):
        from_onnx(model, shape={"x": (1, 4)})


def test_shape_from_values_is_refused() -> None:
    nodes = [node("ReduceSum", ["x"], "total", keepdims=0), node("Unsqueeze", ["total", "axis"], "size")]
    nodes += [node("ConstantOfShape", ["size"], "y")]
    model = make_model(nodes, {"x": ("int64", (3,))}, ["y"], {"axis": np.array([0])})
    with pytest.raises(UnsupportedOpError, match="layer 'y': ConstantOfShape: the sizes of its result are not constants"):
        from_onnx(model)


def test_reshape_by_values_is_refused() -> None:
    nodes = [node("Reshape", ["x", "target"], "y")]
    model = make_model(nodes, {"x": ("float32", (6,)), "target": ("int64", (2,))}, ["y"])
    with pytest.raises(UnsupportedOpError, match="layer 'y'.*Reshape"):
        from_onnx(model)


@pytest.mark.slow
def test_onnxruntime_agrees_at_another_batch() -> None:
    """A single dynamic module serves several batches."""
    mod, params = from_onnx(FLATTEN)
    for batch in (1, 7):
        x = floats(batch, 4, 3)
        assert_close(run_float(mod, params, {"x": x}), run_onnxruntime(FLATTEN, {"x": x}))


@pytest.mark.slow_cases("None")
@pytest.mark.parametrize("shape", [None, {"x": (2, 5)}])
def test_gather_counts_negative_indices_from_the_end(shape: dict[str, tuple[int, ...]] | None) -> None:
    mod = check(EMBED, {"x": np.array([[1, -9, 8, -1, 0], [3, 3, -2, 7, 5]])}, shape=shape)
    assert operators(mod)[0] == "take"


REFUSED = {
    "scales": ([node("Resize", ["x", "", "s"], "y")], {"s": ("float32", (4,))}, "its scales are not constants"),
    "sizes": ([node("Resize", ["x", "", "", "s"], "y")], {"s": ("int64", (4,))}, "its sizes are not constants"),
    "fraction": ([node("Resize", ["x", "", "odd"], "y")], {}, "scale 0.123457 of a dynamic dimension is not"),
    "tile": ([node("Tile", ["x", "s"], "y")], {"s": ("int64", (4,))}, "known only at run time"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_sizes_unknown_until_run_time_are_refused(name: str) -> None:
    nodes, inputs, words = REFUSED[name]
    inputs = {"x": ("float32", (1, 2, "h", "w")), **inputs}
    model = make_model(nodes, inputs, ["y"], {"odd": np.float32([1, 1, 0.1234567, 1])})
    with pytest.raises(UnsupportedOpError, match=words) as caught:
        from_onnx(model)
    assert "layer 'y'" in str(caught.value) and "shape=" in str(caught.value)


@pytest.mark.parametrize("mode", ["align_corners", "asymmetric"])
def test_resize_between_dynamic_sizes_needs_half_pixels(mode: str) -> None:
    up = node("Resize", ["x", "", "two"], "y", mode="linear", coordinate_transformation_mode=mode)
    model = make_model([up], {"x": ("float32", (1, 2, "h", "w"))}, ["y"], {"two": np.float32([1, 1, 2, 2])})
    mod, params = from_onnx(model)
    with pytest.raises(BuildError, match=f"layer 'y'.*'linear' with '{mode}' from dynamic size h to .*; fix the sizes"):
        tvmq.build(mod, params=params)
    x = floats(1, 2, 3, 4)
    fixed = tvmq.build(mod, params=params, sizes={"h": 3, "w": 4}).run({"x": x})
    np.testing.assert_allclose(fixed[0], run_onnxruntime(model, {"x": x})[0], rtol=1e-5, atol=1e-6)


@pytest.mark.slow_cases("0")
@pytest.mark.parametrize("upper", [0, 1])
def test_triangles_of_dynamic_sizes(upper: int) -> None:
    model = make_model([node("Trilu", ["x"], "y", upper=upper)], {"x": ("float32", ("batch", "m", "n"))}, ["y"])
    mod, params = from_onnx(model)
    executable, cut = tvmq.build(mod, params=params), np.triu if upper else np.tril
    for shape in ((2, 3, 5), (1, 6, 4)):
        x = floats(*shape)
        np.testing.assert_array_equal(executable.run({"x": x})[0], cut(x))


def test_broadcast_to_an_unrelated_dimension_is_refused() -> None:
    nodes = [node("Shape", ["b"], "shape"), node("Expand", ["a", "shape"], "y")]
    model = make_model(nodes, {"a": ("float32", ("n",)), "b": ("float32", ("m",))}, ["y"])
    with pytest.raises(UnsupportedOpError, match="layer 'y'.*dimension n cannot be broadcast to m"):
        from_onnx(model)
    check(model, {"a": floats(3), "b": floats(3)}, shape={"a": (3,), "b": (3,)})


@pytest.mark.parametrize("nodes, words", [
    ([helper.make_node("Split", ["x"], ["y", "z"], axis=1)], "Split: 2 equal parts of dimension k, which may be no multiple; fix"),
    ([node("Einsum", ["x", "w"], "y", equation="nk,km->nm")], "Einsum: a label has the sizes 7 and k, which may differ"),
])  # fmt: skip
def test_free_sizes_that_may_not_fit_are_refused(nodes: list[onnx.NodeProto], words: str) -> None:
    """TVM would give the last part what is left, and sum as far as the weight goes."""
    constants = {"w": floats(7, 2)} if nodes[0].op_type == "Einsum" else {}
    model = make_model(nodes, {"x": ("float32", ("n", "k"))}, list(nodes[0].output), constants)
    with pytest.raises(UnsupportedOpError, match=words):
        from_onnx(model)


def test_parts_of_known_sizes_fix_the_axis() -> None:
    split = helper.make_node("Split", ["x", "parts"], ["y", "z"], axis=1)
    model = make_model([split], {"x": ("float32", ("n", "k"))}, ["y", "z"], {"parts": np.int64([2, 3])})
    mod, params = from_onnx(model)
    exe = tvmq.build(mod, params=params)
    assert exe.input_info[0].shape == ("n", 5)
    x = floats(4, 5)
    for found, expected in zip(exe.run({"x": x}), (x[:, :2], x[:, 2:]), strict=True):
        np.testing.assert_array_equal(found, expected)
