"""Sizes that a model computes from those of its inputs: in floats, by division, as pads and ends of slices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from frontend_models import assert_close, make_model, run_onnxruntime

import tvmq
from tests.support.models.shape_models import I64, floats, node
from tvmq import reference
from tvmq.errors import ModelError, UnsupportedOpError
from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.formats.onnx.importer.scaled_sizes import LARGEST, ScaledSize, find_fraction
from tvmq.graph.view import View, sizes_of

Nodes = list[onnx.NodeProto]
CONSTANTS = {
    "two": np.array([2]), "three": np.array([3]), "four": np.array([4]), "zero": np.array([0]), "zeros": np.array([0, 0]),
    "one": np.array([1]), "c2": np.array([2]), "c32": np.array([32]), "c31": np.array([31]), "c24": np.array([24]), "end": np.array([2**62]),
    "half": np.float32(0.5), "third": np.float32(1.7), "pairs": np.array([-1, 2]), "minus": np.array([-1]),
    "lowest": np.array([-(2**63) + 1]), "none": np.array([0] * 4), "filter": floats(4, 3, 3, 3), "factor": np.float32(1.5),
}  # fmt: skip
HEAD = [
    node("Conv", ["x", "filter"], "c", pads=[1] * 4),
    node("Shape", ["c"], "s"),
    node("Slice", ["s", "two", "four"], "hw"),
    node("Slice", ["s", "zero", "two"], "nc"),
    node("Slice", ["s", "three", "four"], "width"),
]
PAD = [node("Concat", ["zeros", "zeros", "zeros", "amount"], "pads", axis=0), node("Pad", ["c", "pads"], "y")]


def scaled(constant: str, rounding: str, mode: str = "nearest") -> Nodes:
    """A resize to sizes times a constant, as exporters write it."""
    return [
        node("Cast", ["hw"], "f", to=onnx.TensorProto.FLOAT),
        node("Mul", ["f", constant], "product"),
        node(rounding, ["product"], "whole"),
        node("Cast", ["whole"], "new", to=onnx.TensorProto.INT64),
        node("Concat", ["nc", "new"], "sizes", axis=0),
        node("Resize", ["c", "", "", "sizes"], "y", mode=mode, coordinate_transformation_mode="half_pixel"),
    ]


def cut(start: list[str], stop: list[str], *more: onnx.NodeProto) -> Nodes:
    """A slice of the columns, from and to a place that is computed."""
    division = [node("Div", ["width", "two"], "middle")]
    return [*division, node("Slice", ["c", *start, *stop, "three"], "y"), *more]


COMPUTED: dict[str, tuple[Nodes, list[Any]]] = {
    "pad by a sum": (
        [node("Add", ["hw", "c31"], "a"), node("Div", ["a", "c32"], "b"), node("Mul", ["b", "c32"], "d"),
         node("Sub", ["d", "hw"], "amount"), *PAD],
        ["n", 4, "32*((rows + 31) // 32)", "32*((columns + 31) // 32)"],
    ),
    "pad by remainders": (
        [node("Mod", ["hw", "c32"], "a"), node("Sub", ["c32", "a"], "b"), node("Mod", ["b", "c32"], "amount"), *PAD],
        ["n", 4, "32*((rows + 31) // 32)", "32*((columns + 31) // 32)"],
    ),
    "pad half on each side": (
        [node("Neg", ["hw"], "a"), node("Mod", ["a", "c32"], "b"), node("Div", ["b", "two"], "d"),
         node("Sub", ["b", "d"], "amount"), node("Concat", ["zeros", "d", "zeros", "amount"], "pads", axis=0),
         node("Pad", ["c", "pads", "half"], "y")],
        ["n", 4, "32*((rows + 31) // 32)", "32*((columns + 31) // 32)"],
    ),
    "pad in torch's order": (
        [node("Mod", ["width", "c32"], "a"), node("Sub", ["c32", "a"], "amount"),
         node("Concat", ["zero", "amount", "zeros", "none"], "all", axis=0), node("Reshape", ["all", "pairs"], "pair"),
         node("Slice", ["pair", "minus", "lowest", "zero", "minus"], "back"), node("Transpose", ["back"], "t", perm=[1, 0]),
         node("Reshape", ["t", "minus"], "pads"), node("Pad", ["c", "pads"], "y")],
        ["n", 4, "rows", "32*(columns // 32) + 32"],
    ),
    "pad to at least": (
        [node("Sub", ["c24", "hw"], "a"), node("Max", ["a", "zero"], "amount"), *PAD],
        ["n", 4, "max(24, rows)", "max(24, columns)"],
    ),
    "pad or crop": ([node("Sub", ["c24", "hw"], "amount"), *PAD], ["n", 4, 24, 24]),
    "first half": (cut(["zero"], ["middle"]), ["n", 4, "rows", "columns // 2"]),
    "second half": (cut(["middle"], ["end"]), ["n", 4, "rows", "columns - columns // 2"]),
    "scaled down": (scaled("half", "Floor"), ["n", 4, "rows // 2", "columns // 2"]),
    "scaled up": (scaled("factor", "Ceil"), ["n", 4, "(3*rows + 1) // 2", "(3*columns + 1) // 2"]),
}  # fmt: skip


def build(nodes: Nodes, outputs: list[str] | None = None) -> onnx.ModelProto:
    """A model of these nodes behind a convolution, of any batch and size."""
    used = {name for one in [*HEAD, *nodes] for name in one.input}
    constants = {name: np.asarray(value) for name, value in CONSTANTS.items() if name in used}
    return make_model([*HEAD, *nodes], {"x": ("float32", ("n", 3, "rows", "columns"))}, outputs or ["y"], constants)


@pytest.mark.parametrize("name", COMPUTED)
def test_computed_sizes_become_expressions(name: str) -> None:
    nodes, shape = COMPUTED[name]
    mod, _ = from_onnx(build(nodes))
    assert list(sizes_of(View(mod).func.body.body)) == shape


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPUTED)
def test_values_at_computed_sizes(name: str) -> None:
    """Those of onnxruntime in float, and in int8 the definition's bits."""
    model = build(COMPUTED[name][0])
    mod, params = tvmq.from_onnx(model)
    feeds = [{"x": floats(*shape)} for shape in ((1, 3, 17, 23), (2, 3, 32, 9), (1, 3, 64, 65))]
    in_float, quantized = tvmq.build(mod, params=params), tvmq.quantize(mod, params, feeds, guard=None)
    in_int8 = tvmq.build(quantized)
    for feed in feeds:
        assert_close(in_float.run(feed), run_onnxruntime(model, feed))
        np.testing.assert_array_equal(in_int8.run(feed)[0], reference.run(quantized, feed)[0])


@pytest.mark.slow
def test_scaled_sizes_as_values() -> None:
    """A product with a size may be read as a number, too."""
    nodes = [
        node("Cast", ["hw"], "f", to=onnx.TensorProto.FLOAT),
        node("Mul", ["f", "third"], "y"),
        node("Div", ["f", "third"], "z"),
    ]
    model = build(nodes, ["y", "z"])
    feed = {"x": floats(1, 3, 7, 5)}
    mod, params = tvmq.from_onnx(model)
    for found, expected in zip(tvmq.build(mod, params=params).run(feed), run_onnxruntime(model, feed), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("operator", "constant", "rounding", "fraction"), [
    ("Mul", 0.5, "Floor", (1, 2)), ("Mul", 0.7, "Floor", (7, 10)), ("Div", 3.0, "Ceil", (1, 3)), ("Mul", 1.0, "Ceil", (1, 1)),
    ("Mul", 0.3, "Ceil", None), ("Mul", 1e-9, "Floor", None), ("Mul", float("inf"), "Floor", None),
])  # fmt: skip
def test_fractions_equal_float32_at_all_sizes(
    operator: str, constant: float, rounding: str, fraction: tuple[int, int] | None
) -> None:
    found = find_fraction(operator, constant, rounding)
    assert (None if found is None else (found.numerator, found.denominator)) == fraction
    if fraction is None:
        return
    compute: dict[str, Callable[..., Any]] = {"Mul": np.multiply, "Div": np.divide}
    for n in (*range(100), LARGEST - 1, LARGEST):
        product = compute[operator](np.float32(n), np.float32(constant))
        size = ScaledSize(n, operator, constant)
        wanted, actual = (np.floor(product), size.floor()) if rounding == "Floor" else (np.ceil(product), size.ceil())
        assert wanted == actual, n


def test_arithmetic_that_is_not_followed_is_named() -> None:
    lost = "'root' (Sqrt), whose arithmetic on sizes is not followed; fix the input shapes with shape="
    nodes = scaled("half", "Floor")
    nodes[2].input[0] = "root"
    nodes.insert(2, node("Sqrt", ["product"], "root"))
    with pytest.raises(UnsupportedOpError) as error:
        from_onnx(build(nodes))
    assert f"layer 'y': Resize: its sizes come from layer {lost}" in str(error.value)
    nodes[-1] = node("Reshape", ["c", "sizes"], "y")
    with pytest.raises(UnsupportedOpError) as error:
        from_onnx(build(nodes))
    assert f"layer 'y': Reshape: the sizes of its result come from layer {lost}" in str(error.value)
    with pytest.raises(UnsupportedOpError, match="its sizes come from layer 'whole' .Ceil."):
        nodes = scaled("half", "Ceil")
        nodes[1] = node("Mul", ["f", "hard"], "product")
        model = build(nodes)
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.float32(0.3), "hard"))
        from_onnx(model)


REFUSED: dict[str, tuple[Nodes, str]] = {
    "pads without a limit": (
        [node("Slice", ["s", "two", "three"], "height"), node("Max", ["hw", "width"], "most"),
         node("Sub", ["most", "hw"], "amount"), *PAD],
        r"Pad: pads of max\(0, columns - rows\) have no limit that is proved; fix the input shapes",
    ),
    "reflected": (
        [node("Mod", ["hw", "c32"], "amount"), PAD[0], node("Pad", ["c", "pads"], "y", mode="reflect")],
        "Pad: mode reflect with amounts of dynamic sizes is not supported",
    ),
    "k": (
        [node("Div", ["width", "two"], "k"), onnx.helper.make_node("TopK", ["c", "k"], ["y", "places"])],
        "TopK: k is columns // 2, no constant; fix the input shapes",
    ),
    "unequal": (
        [*scaled("half", "Floor")[:-1], node("Resize", ["c", "", "", "sizes"], "r"), node("Concat", ["r", "c"], "y", axis=1)],
        r"Concat: sizes columns // 2 and columns of its inputs are not proved to be equal; fix the input shapes",
    ),
    "scale": (
        [node("Resize", ["c", "", "odd"], "y")], "Resize: scale 0.123457 of a dynamic dimension is not supported",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_sizes_that_are_refused(name: str) -> None:
    nodes, words = REFUSED[name]
    if name == "scale":
        model = build(nodes)
        scale = np.float32([1, 1, 0.1234567, 0.1234567])
        model.graph.initializer.append(onnx.numpy_helper.from_array(scale, "odd"))
    else:
        model = build(nodes, ["y"])
    with pytest.raises(UnsupportedOpError, match=words):
        from_onnx(model)


def test_a_slice_that_may_leave_its_tensor_is_refused() -> None:
    nodes = [node("Add", ["width", "two"], "more"), node("Slice", ["c", "zero", "more", "three"], "y")]
    mod, params = from_onnx(build(nodes))
    with pytest.raises(ModelError, match=r"a slice up to columns \+ 2 of columns is not proved to stay inside for all"):
        tvmq.build(mod, params=params)


WINDOWS = [
    node("Div", ["hw", "two"], "blocks"), node("Slice", ["blocks", "zero", "one"], "above"),
    node("Slice", ["blocks", "one", "two"], "beside"), node("Slice", ["s", "zero", "one"], "n"),
    node("Concat", ["n", "four", "above", "two", "beside", "two"], "sizes", axis=0), node("Reshape", ["c", "sizes"], "y"),
]  # fmt: skip
FOCUS = [
    *(node("Slice", ["c", start, "end", "three", "two"], name) for start, name in (("zero", "even"), ("one", "odd"))),
    node("Concat", ["even", "odd"], "halved", axis=1),
    *(node("Slice", ["halved", start, "end", "two", "two"], name) for start, name in (("zero", "up"), ("one", "low"))),
    node("Concat", ["up", "low"], "y", axis=1),
]


@pytest.mark.parametrize(("nodes", "multiple"), [
    (WINDOWS, 2),
    (FOCUS, 2),
    ([node("SpaceToDepth", ["c"], "y", blocksize=2)], 2),
    ([node("SpaceToDepth", ["c"], "y", blocksize=3)], 3),
    ([node("Resize", ["c", "", "scales"], "y", coordinate_transformation_mode="asymmetric", nearest_mode="floor")], 2),
])  # fmt: skip
def test_what_holds_for_multiples_alone_takes_these(nodes: Nodes, multiple: int) -> None:
    from tvmq.graph.analysis.limits import size_limits

    model = build(nodes)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.float32([1, 1, 0.5, 1.5]), "scales"))
    mod, params = from_onnx(model)
    assert [size_limits(mod)[name].multiple for name in ("rows", "columns")] == [multiple] * 2
    feed = {"x": floats(1, 3, 6 * multiple, 4 * multiple)}
    assert_close(tvmq.build(mod, params=params).run(feed), run_onnxruntime(model, feed))


def test_other_numbers_of_sizes() -> None:
    """Numbers alone, fractions of them, and what is mixed."""
    assert I64 is np.int64 and ScaledSize(8, "Mul", 0.5).floor() == 4 and ScaledSize(9, "Mul", 0.5).ceil() == 5
    assert ScaledSize(8, "Mul", 1e-9).floor() is None and ScaledSize(8, "Mul", 1e-9).ceil() is None
