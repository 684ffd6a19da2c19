"""Folding of values that depend on shapes and constants alone: sizes, amounts of padding, ends of slices."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from frontend_models import assert_close, check, make_model, run_float, run_onnxruntime
from onnx import helper

from tests.support.models.shape_models import FLATTEN, I64, floats, node, operators
from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.passes.prepare import prepare


def test_a_size_of_a_large_tensor_folds() -> None:
    model = onnx.ModelProto()
    model.CopyFrom(FLATTEN)
    dims = model.graph.input[0].type.tensor_type.shape.dim
    dims[1].dim_value, dims[2].dim_value = 600, 300
    mod, _ = from_onnx(model, shape={"x": (1, 600, 300)})
    assert operators(mod) == ["reshape", "relu"]


def test_constants_that_would_grow_large_are_not_folded() -> None:
    nodes = [node("ConstantOfShape", ["shape"], "zeros"), node("Add", ["x", "zeros"], "y")]
    model = make_model(nodes, {"x": ("float32", (300, 300))}, ["y"], {"shape": np.array([300, 300])})
    mod, params = from_onnx(model)
    assert operators(mod) == ["full", "add"] and not params


def test_constant_subgraphs_fold_and_expected_values_survive() -> None:
    nodes = [
        helper.make_node("Constant", [], ["half"], value_float=0.5),
        helper.make_node("Constant", [], ["list"], value_floats=[1.0, 2.0, 3.0]),
        helper.make_node("Constant", [], ["axes"], value_ints=[0]),
        helper.make_node("Constant", [], ["count"], value_int=2),
        helper.make_node("Constant", [], ["tensor"], value=onnx.numpy_helper.from_array(floats(3), "t")),
        node("Unsqueeze", ["list", "axes"], "row"),
        node("Cast", ["count"], "float_count", to=onnx.TensorProto.FLOAT),
        node("Mul", ["row", "float_count"], "weights"),
        node("Add", ["x", "weights"], "a"),
        node("Mul", ["a", "half"], "b"),
        node("Sub", ["b", "tensor"], "y"),
    ]
    model = make_model(nodes, {"x": ("float32", (2, 3))}, ["y"])
    mod = check(model, {"x": floats(2, 3)})
    assert operators(mod) == ["add", "multiply", "subtract"]


def test_random_nodes_are_not_folded() -> None:
    nodes = [helper.make_node("RandomNormal", [], ["noise"], name="noise", shape=[3]), node("Add", ["x", "noise"], "y")]
    with pytest.raises(UnsupportedOpError, match="layer 'noise'.*RandomNormal"):
        from_onnx(make_model(nodes, {"x": ("float32", (3,))}, ["y"]))


@pytest.mark.slow
def test_constants_that_the_reference_gives_another_shape_are_not_folded() -> None:
    """ONNX's own LpPool of one axis drops the axes of size 1."""
    nodes = [
        node("GlobalMaxPool", ["c"], "g"),
        node("LpPool", ["g"], "y", kernel_shape=[1], p=2),
        node("Relu", ["x"], "z"),
    ]
    model = make_model(nodes, {"x": ("float32", [2])}, ["y", "z"], {"c": floats(2, 2, 4)})
    feed = {"x": floats(2)}
    found, expected = run_float(*from_onnx(model), feed), run_onnxruntime(model, feed)
    assert [y.shape for y in found] == [(2, 2, 1), (2,)]
    assert_close(found, expected)


def pads_of(domain: str, computed: bool) -> onnx.ModelProto:
    """F.pad as torch.onnx writes it, by constants alone or by the height of a picture of a dynamic batch."""
    height = [
        node("Shape", ["x"], "shape"),
        node("Gather", ["shape", "two"], "height", axis=0),
        node("Sub", ["height", "seven"], "over"),
        node("Max", ["over", "zero"], "least"),
        node("Unsqueeze", ["least", "axis"], "amount"),
        node("Concat", ["amount", "rest"], "pads", axis=0),
    ]
    nodes = [
        *(height if computed else [node("Identity", ["given"], "pads")]),
        node("ConstantOfShape", ["four"], "zeros", value=onnx.numpy_helper.from_array(np.array([0]))),
        node("Concat", ["pads", "zeros"], "all", axis=0),
        node("Reshape", ["all", "pairs"], "paired"),
        node("Slice", ["paired", "minus", "lowest", "axis", "minus"], "reversed"),
        node("Transpose", ["reversed"], "turned", perm=[1, 0]),
        node("Reshape", ["turned", "minus"], "flat"),
        node("Cast", ["flat"], "amounts", to=onnx.TensorProto.INT64),
        node("Pad", ["x", "amounts"], "y", mode="constant"),
    ]
    for one in nodes:
        one.domain = domain
    constants = {
        "two": I64(2), "seven": I64(7), "zero": I64(0), "axis": np.array([0]), "rest": np.array([2, 0, 1]),
        "given": np.array([1, 2, 0, 1]), "four": np.array([4]), "pairs": np.array([-1, 2]), "minus": np.array([-1]),
        "lowest": np.array([-(2**63) + 1]),
    }  # fmt: skip
    model = make_model(nodes, {"x": ("float32", ("n", 3, 8, 8))}, ["y"], constants, opset=13)
    if domain:
        model.opset_import[0].domain = domain
    return model


@pytest.mark.slow
@pytest.mark.parametrize("domain", ["", "ai.onnx"])
@pytest.mark.parametrize("computed", [False, True])
def test_amounts_of_padding_are_constants(domain: str, computed: bool) -> None:
    check(pads_of(domain, computed), {"x": floats(2, 3, 8, 8)})


def test_shapes_that_only_a_folded_shape_tells() -> None:
    """Inference does not follow Max, so the second Shape is known in a second round alone."""
    nodes = [
        node("Shape", ["x"], "s"),
        node("Max", ["s", "ones"], "t"),
        node("Reshape", ["x", "t"], "r"),
        node("Shape", ["r"], "u"),
        node("Slice", ["u", "ones", "two"], "columns"),
        node("ConstantOfShape", ["columns"], "zeros"),
        node("Add", ["r", "zeros"], "y"),
    ]
    constants = {"ones": np.array([1]), "two": np.array([2])}
    mod = check(make_model(nodes, {"x": ("float32", (2, 3))}, ["y"], constants), {"x": floats(2, 3)})
    assert operators(mod) == ["reshape", "add"]


def test_computed_padding_is_refused() -> None:
    nodes = [node("Cast", ["x"], "amounts", to=onnx.TensorProto.INT64), node("Pad", ["x", "amounts"], "y")]
    with pytest.raises(UnsupportedOpError, match="layer 'y': Pad: its pads are not constants; make them constants"):
        from_onnx(make_model(nodes, {"x": ("float32", (2,))}, ["y"]))
    nodes = [node("ReduceMax", ["x"], "top", keepdims=0), node("Pad", ["x", "p", "top"], "y")]
    with pytest.raises(UnsupportedOpError, match="Pad: its padding value is not a constant; pad with a constant"):
        from_onnx(make_model(nodes, {"x": ("float32", (2,))}, ["y"], {"p": np.array([0, 1])}))


LARGEST = 2**63 - 1


@pytest.mark.slow
@pytest.mark.parametrize("starts, stops, axes, rest", [
    ([0], [LARGEST], [0], [24]),
    ([0], [2**31 - 1], [0], [24]),
    ([0, 0], [LARGEST, 3], [0, 1], [18]),
    ([0, 1], [LARGEST, LARGEST], [0, 1], [18]),
    ([-2], [LARGEST], [1], [12]),
    ([0], [10**9], [0], [24]),
])  # fmt: skip
def test_slices_to_an_open_end_keep_a_dynamic_batch(
    starts: list[int], stops: list[int], axes: list[int], rest: list[int]
) -> None:
    """A reshape behind them is proved to hold for all sizes, and the module can be quantized and built."""
    nodes = [
        node("Slice", ["x", "starts", "stops", "axes"], "part"),
        node("Reshape", ["part", "target"], "flat"),
        node("Relu", ["flat"], "y"),
    ]
    constants = {"starts": starts, "stops": stops, "axes": axes, "target": [-1, *rest]}
    arrays = {name: np.array(values) for name, values in constants.items()}
    model = make_model(nodes, {"x": ("float32", ("n", 4, 6))}, ["y"], arrays)
    mod = check(model, {"x": floats(3, 4, 6)})
    prepare(mod, {})


@pytest.mark.slow
def test_a_slice_from_1_of_a_dynamic_length() -> None:
    nodes = [node("Slice", ["x", "one", "open", "one"], "part"), node("Reshape", ["part", "target"], "y")]
    constants = {"one": np.array([1]), "open": np.array([LARGEST]), "target": np.array([0, -1, 2, 3])}
    model = make_model(nodes, {"x": ("float32", ("n", "t", 6))}, ["y"], constants)
    prepare(check(model, {"x": floats(3, 4, 6)}), {})
