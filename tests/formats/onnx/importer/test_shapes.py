"""Dynamic dimensions: kept symbolic, fixed by shape=, folded away; and wrong shape= arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
import tvm
from frontend_models import assert_close, check, make_model, run_float, run_onnxruntime
from onnx import helper
from tvm import relax

import tvmq
from tvmq.errors import BuildError, ModelError, UnsupportedOpError
from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.passes.prepare import prepare

RNG = np.random.default_rng(2)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def node(op_type: str, inputs: list[str], output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs, [output], name=output, **attributes)


def operators(mod: tvm.IRModule) -> list[str]:
    values = [binding.value for binding in mod["main"].body.blocks[0].bindings]
    return [value.op.name.split(".")[-1] for value in values if isinstance(value, relax.Call)]


def input_shape(mod: tvm.IRModule, index: int = 0) -> list[Any]:
    shape = mod["main"].params[index].ty.shape
    return [int(d) if isinstance(d, tvm.tirx.IntImm) else d.name for d in shape.values]


I64 = np.int64
FLATTEN = make_model(
    [
        node("Shape", ["x"], "shape"),
        node("Gather", ["shape", "zero"], "batch"),
        node("Unsqueeze", ["batch", "axis"], "batch1"),
        node("Concat", ["batch1", "rest"], "target", axis=0),
        node("Reshape", ["x", "target"], "flat"),
        node("Relu", ["flat"], "y"),
    ],
    {"x": ("float32", ("batch", 4, 3))},
    ["y"],
    {"zero": I64(0), "axis": np.array([0]), "rest": np.array([-1])},
)
UPSAMPLE = make_model(
    [
        node("Shape", ["x"], "shape"),
        node("Slice", ["shape", "two", "four"], "sizes"),
        node("Cast", ["sizes"], "float_sizes", to=onnx.TensorProto.FLOAT),
        node("Mul", ["float_sizes", "factor"], "scaled"),
        node("Floor", ["scaled"], "floored"),
        node("Cast", ["floored"], "new_sizes", to=onnx.TensorProto.INT64),
        node("Slice", ["shape", "zero", "two"], "outer"),
        node("Concat", ["outer", "new_sizes"], "target", axis=0),
        node(
            "Resize",
            ["x", "", "", "target"],
            "y",
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
        ),
    ],
    {"x": ("float32", ("n", 2, "h", "w"))},
    ["y"],
    {"zero": np.array([0]), "two": np.array([2]), "four": np.array([4]), "factor": np.float32([2, 2])},
)
EXPAND = make_model(
    [
        node("Shape", ["x"], "shape"),
        node("Equal", ["shape", "minus"], "unknown"),
        node("Where", ["unknown", "ones", "shape"], "target"),
        node("Expand", ["token", "target"], "tokens"),
        node("Add", ["x", "tokens"], "y"),
    ],
    {"x": ("float32", ("n", 3))},
    ["y"],
    {"minus": np.array([-1, -1]), "ones": np.array([1, 1]), "token": floats(1, 3)},
)
CROP = make_model(
    [
        node("Shape", ["x"], "length", start=1, end=2),
        node("Slice", ["table", "zero", "length", "zero"], "part"),
        node("Add", ["x", "part"], "y"),
    ],
    {"x": ("float32", (2, "length", 3))},
    ["y"],
    {"zero": np.array([0]), "table": floats(9, 3)},
)
FILL = make_model(
    [
        node("Shape", ["x"], "shape"),
        node("ConstantOfShape", ["shape"], "ones", value=onnx.numpy_helper.from_array(np.float32([1.5]))),
        node("Size", ["x"], "count"),
        node("Range", ["zero", "count", "one"], "numbers"),
        node("Cast", ["numbers"], "steps", to=onnx.TensorProto.FLOAT),
        node("Reshape", ["steps", "shape"], "grid"),
        node("Mul", ["ones", "grid"], "product"),
        node("Add", ["product", "x"], "y"),
    ],
    {"x": ("float32", ("n", 2))},
    ["y"],
    {"zero": I64(0), "one": I64(1)},
)
HALVES = make_model(
    [
        node("Shape", ["x"], "shape"),
        node("Gather", ["shape", "one"], "width"),
        node("Div", ["width", "two"], "half"),
        node("Sub", ["width", "half"], "rest"),
        node("Reshape", ["half", "vector"], "half1"),
        node("Reshape", ["rest", "vector"], "rest1"),
        node("Slice", ["x", "zero", "half1", "one1"], "left"),
        node("Slice", ["x", "minus_rest", "large", "one1"], "right"),
        node("Neg", ["left"], "negative"),
        node("Concat", ["negative", "right"], "y", axis=1),
        node("Squeeze", ["rest1"], "unused"),
    ],
    {"x": ("float32", (2, "w"))},
    ["y"],
    {
        "one": I64(1),
        "two": I64(2),
        "vector": np.array([1]),
        "zero": np.array([0]),
        "one1": np.array([1]),
        "minus_rest": np.array([-2]),
        "large": np.array([2**62]),
    },
)
PRODUCT = make_model(
    [
        node("Shape", ["x"], "shape"),
        node("Slice", ["shape", "zero", "two"], "outer"),
        node("ReduceProd", ["outer"], "rows", keepdims=1),
        node("Squeeze", ["rows"], "rows0"),
        node("Unsqueeze", ["rows0", "zero"], "rows1"),
        node("Concat", ["rows1", "three"], "target", axis=0),
        node("Reshape", ["x", "target"], "flat"),
        node("Relu", ["flat"], "r"),
        node("Identity", ["shape"], "same_shape"),
        node("Reshape", ["r", "same_shape"], "y"),
    ],
    {"x": ("float32", ("n", "m", 3))},
    ["y"],
    {"zero": np.array([0]), "two": np.array([2]), "three": np.array([3])},
)
EMBED = make_model(
    [node("Gather", ["table", "x"], "e", axis=0), node("Gather", ["e", "last"], "y", axis=1)],
    {"x": ("int64", (2, "length"))},
    ["y"],
    {"table": floats(9, 4), "last": I64(-1)},
)
DYNAMIC = {
    "flatten": (FLATTEN, (5, 4, 3), ["reshape", "relu"]),
    "upsample": (UPSAMPLE, (2, 2, 3, 5), ["resize2d"]),
    "expand": (EXPAND, (4, 3), ["broadcast_to", "add"]),
    "crop": (CROP, (2, 5, 3), ["strided_slice", "add"]),
    "fill": (FILL, (3, 2), None),
    "halves": (HALVES, (2, 4), ["strided_slice", "strided_slice", "negative", "concat"]),
    "product": (PRODUCT, (2, 5, 3), ["reshape", "relu", "reshape"]),
}


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
    "name": ({"image": (1, 3)}, "'image', which is no input; the model's inputs are 'x' (n, 3), 'y' (n, 3)"),
    "rank": ({"x": (1, 3, 3)}, "it has 3 dimensions, the model 2"),
    "size": ({"x": (1, 4)}, "dimension 1 of 'x' from 3 to 4, which the model has fixed"),
    "shared": ({"x": (1, 3), "y": (2, 3)}, "dimension 0 ('n') is 1 already"),
    "zero": ({"x": (0, 3)}, "dimension 0 is no positive integer"),
    "float": ({"x": (1.0, 3)}, "dimension 1.0 is no positive integer"),
    "scalar": ({"x": 3}, "is no sequence of integers"),
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
    with pytest.raises(UnsupportedOpError, match="layer 'y'.*computed from values"):
        from_onnx(model)


def test_reshape_by_values_is_refused() -> None:
    nodes = [node("Reshape", ["x", "target"], "y")]
    model = make_model(nodes, {"x": ("float32", (6,)), "target": ("int64", (2,))}, ["y"])
    with pytest.raises(UnsupportedOpError, match="layer 'y'.*Reshape"):
        from_onnx(model)


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
    nodes = [
        helper.make_node("RandomNormal", [], ["noise"], name="noise", shape=[3]),
        node("Add", ["x", "noise"], "y"),
    ]
    with pytest.raises(UnsupportedOpError, match="layer 'noise'.*RandomNormal"):
        from_onnx(make_model(nodes, {"x": ("float32", (3,))}, ["y"]))


@pytest.mark.slow
def test_onnxruntime_agrees_at_another_batch() -> None:
    """One dynamic module serves several batches."""
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
    "scales": ([node("Resize", ["x", "", "s"], "y")], {"s": ("float32", (4,))}, "scales that are computed"),
    "sizes": ([node("Resize", ["x", "", "", "s"], "y")], {"s": ("int64", (4,))}, "sizes that are computed"),
    "fraction": ([node("Resize", ["x", "", "half"], "y")], {}, "scale 0.5 of a symbolic dimension"),
    "tile": ([node("Tile", ["x", "s"], "y")], {"s": ("int64", (4,))}, "only known at run time"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_sizes_unknown_until_run_time_are_refused(name: str) -> None:
    nodes, inputs, words = REFUSED[name]
    inputs = {"x": ("float32", (1, 2, "h", "w")), **inputs}
    model = make_model(nodes, inputs, ["y"], {"half": np.float32([1, 1, 0.5, 0.5])})
    with pytest.raises(UnsupportedOpError, match=words) as caught:
        from_onnx(model)
    assert "layer 'y'" in str(caught.value) and "shape=" in str(caught.value)


@pytest.mark.parametrize("mode", ["align_corners", "asymmetric"])
def test_resize_between_free_sizes_needs_half_pixels(mode: str) -> None:
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
def test_triangles_of_free_sizes(upper: int) -> None:
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
    """F.pad as torch.onnx writes it, by constants alone or by the height of a picture of a free batch."""
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
    with pytest.raises(UnsupportedOpError, match="layer 'y': Pad: its amounts are computed; make them constants"):
        from_onnx(make_model(nodes, {"x": ("float32", (2,))}, ["y"]))
    nodes = [node("ReduceMax", ["x"], "top", keepdims=0), node("Pad", ["x", "p", "top"], "y")]
    with pytest.raises(UnsupportedOpError, match="Pad: its value is computed; pad with a constant"):
        from_onnx(make_model(nodes, {"x": ("float32", (2,))}, ["y"], {"p": np.array([0, 1])}))


LARGEST = 2**63 - 1


@pytest.mark.slow
@pytest.mark.parametrize("starts, stops, axes, rest", [
    ([0], [LARGEST], [0], [24]),
    ([0], [2**31 - 1], [0], [24]),
    ([0, 0], [LARGEST, 3], [0, 1], [18]),
    ([0, 1], [LARGEST, LARGEST], [0, 1], [18]),
    ([-2], [LARGEST], [1], [12]),
])  # fmt: skip
def test_slices_to_an_open_end_keep_a_free_batch(
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
def test_a_slice_from_1_of_a_free_length() -> None:
    nodes = [node("Slice", ["x", "one", "open", "one"], "part"), node("Reshape", ["part", "target"], "y")]
    constants = {"one": np.array([1]), "open": np.array([LARGEST]), "target": np.array([0, -1, 2, 3])}
    model = make_model(nodes, {"x": ("float32", ("n", "t", 6))}, ["y"], constants)
    prepare(check(model, {"x": floats(3, 4, 6)}), {})
