"""DynamicQuantizeLinear, ConvInteger, MatMulInteger: what their specification gives, and the definition bit for bit."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import tvmq
from tests.formats.importing.frontend_models import make_model
from tests.support.float_products import run_in_float
from tests.support.models.quantized_models import Maker, random_feed
from tvmq.errors import UnsupportedOpError
from tvmq.graph.ledger import get_ledger

RANDOM = np.random.default_rng(5)


def assert_equal_to_specification(model: onnx.ModelProto, feed: dict[str, np.ndarray]) -> dict[str, dict]:
    """Compiled, definition and specification agree in every value; gives the ledger's entries by operator."""
    module = tvmq.quantize(*tvmq.from_onnx(model))
    compiled, defined = tvmq.build(module).run(feed), tvmq.reference.run(module, feed)
    for ours, by_definition, theirs in zip(compiled, defined, run_in_float(model, feed), strict=True):
        np.testing.assert_array_equal(ours, by_definition)
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype and by_definition.shape == theirs.shape
    return {entry["op"]: entry for entry in get_ledger(module).layers.values()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mixed", "positive", "negative", "zero"])
def test_dynamic_quantize(kind: str) -> None:
    """Codes, scale and zero point; the range always holds 0."""
    x = RANDOM.standard_normal((3, 50)).astype(np.float32)
    x = {"mixed": x, "positive": np.abs(x) + 1, "negative": -np.abs(x) - 1, "zero": 0 * x}[kind]
    maker = Maker()
    codes = maker.node("DynamicQuantizeLinear", [maker.input("x", x.shape)])
    maker.nodes[-1].output.extend(["s", "z"])
    w = maker.constant(RANDOM.integers(-127, 128, (50, 4)).astype(np.int8))
    product = maker.node("MatMulInteger", [codes, w, "z"])
    model = maker.model(codes, "s", "z", types=["uint8", "float32", "uint8"])
    model.graph.output.append(onnx.helper.make_tensor_value_info(product, onnx.TensorProto.INT32, None))
    assert_equal_to_specification(model, {"x": x})


def convolution(weight: np.ndarray, point: np.ndarray, options: dict) -> onnx.ModelProto:
    """A ConvInteger."""
    nodes = [onnx.helper.make_node("ConvInteger", ["x", "w", "zx", "zw"], ["y"], "conv", **options)]
    inputs = {"x": ("uint8", (2, 4, 7, 9)), "zx": ("uint8", ())}
    model = make_model(nodes, inputs, ["y"], {"w": weight, "zw": point}, opset=13)
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT32
    return model


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("zero", [0, 128, "channels"])
@pytest.mark.parametrize(
    "options", [{}, {"pads": [1, 0, 2, 1]}, {"group": 2, "strides": [2, 1], "dilations": [1, 2]}, {"auto_pad": "VALID"}]
)
def test_convolution(zero: int | str, options: dict) -> None:
    """Padding is 0, which is the zero point of the run; weights int8 or uint8 around theirs."""
    weight = RANDOM.integers(-100, 101, (6, 4 // options.get("group", 1), 3, 2))
    point = np.int8(0)
    if zero == 128:
        weight, point = (weight + 128).astype(np.uint8), np.uint8(128)
    elif zero == "channels":
        point = np.int8([1, -2, 3, 4, -5, 6])
    weight = weight.astype(np.uint8 if zero == 128 else np.int8)
    model = convolution(weight, point, options)
    layers = assert_equal_to_specification(model, random_feed(model))
    assert layers["nn.conv2d"]["precision"] == "int8"
    assert layers["nn.conv2d"]["why"] == "the model: codes and scales are made at run time"


@pytest.mark.slow
@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_product(rank: int, dtype: str) -> None:
    """MatMulInteger, scaled and with a bias as quantize_dynamic writes it."""
    w = RANDOM.integers(-127, 128, (8, 5)).astype(np.int8)
    nodes = [
        onnx.helper.make_node("MatMulInteger", ["x", "w", "zx", "zw"], ["i"], "product"),
        onnx.helper.make_node("Cast", ["i"], ["f"], "cast", to=onnx.TensorProto.FLOAT),
        onnx.helper.make_node("Mul", ["f", "s"], ["m"], "scale"),
    ]
    shape = (3, 8) if rank == 2 else (2, 3, 8)
    model = make_model(
        nodes, {"x": (dtype, shape), "zx": (dtype, ())}, ["m"], {"w": w, "zw": np.int8(0), "s": np.float32(0.03)}
    )
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    layers = assert_equal_to_specification(model, random_feed(model))
    assert layers["matmul"]["precision"] == "int8"


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"pads": [1, 0, 2, 1]}, {"group": 4}, {"group": 2, "strides": [2, 1]}])
def test_weights_beyond_int8(options: dict) -> None:
    """uint8 weights whose zero point is far from 128, as quantize_dynamic writes them: nothing wraps around."""
    weight = RANDOM.integers(0, 256, (8, 4 // options.get("group", 1), 3, 2)).astype(np.uint8)
    model = convolution(weight, np.uint8(100), options)
    layers = assert_equal_to_specification(model, random_feed(model))
    assert layers["nn.conv2d"]["precision"] == "int8"


def test_computed_weights_are_refused() -> None:
    """ConvInteger of two inputs."""
    nodes = [onnx.helper.make_node("ConvInteger", ["x", "w"], ["y"], "conv")]
    model = make_model(nodes, {"x": ("uint8", (1, 1, 4, 4)), "w": ("int8", (1, 1, 1, 1))}, ["y"], opset=13)
    with pytest.raises(UnsupportedOpError, match="layer 'conv': ConvInteger: its weight is not a constant"):
        tvmq.from_onnx(model)


@pytest.mark.parametrize("left, right, constant", [
    ((3, 8), (8, 5), True), ((2, 3, 8), (8, 5), True), ((2, 3, 8), (2, 8, 5), False), ((1, 8), (8, 1), False),
])  # fmt: skip
def test_zero_points_of_rows_and_columns(left: tuple, right: tuple, constant: bool) -> None:
    """MatMulInteger is (A - a_zero_point) (B - b_zero_point) for each form of each zero point."""
    a, b = (RANDOM.integers(0, 256, shape).astype(np.uint8) for shape in (left, right))
    rows, columns = (*left[:-1], 1), (*right[:-2], 1, right[-1])
    a_forms = [(), (1,), rows] + [left[:1]] * (len(left) == 2)
    b_forms = [(), (1,), columns] + [right[-1:]] * (len(right) == 2)
    nodes, constants, wanted = [], {"b": b} if constant else {}, []
    for i, (a_form, b_form) in enumerate((a_form, b_form) for a_form in a_forms for b_form in b_forms):
        points = [RANDOM.integers(0, 256, form).astype(np.uint8) for form in (a_form, b_form)]
        constants |= {f"a{i}": points[0], f"b{i}": points[1]}
        nodes.append(onnx.helper.make_node("MatMulInteger", ["a", "b", f"a{i}", f"b{i}"], [f"y{i}"], f"product_{i}"))
        wide = [
            point.reshape(shape) if point.size > 1 else point
            for point, shape in zip(points, (rows, columns), strict=True)
        ]
        wanted.append((a - wide[0].astype(np.int32)) @ (b - wide[1].astype(np.int32)))
    inputs = {"a": ("uint8", left)} | ({} if constant else {"b": ("uint8", right)})
    model = make_model(nodes, inputs, [node.output[0] for node in nodes], constants)
    for output in model.graph.output:
        output.type.tensor_type.elem_type = onnx.TensorProto.INT32
    mod, params = tvmq.from_onnx(model)
    feed = {"a": a} | ({} if constant else {"b": b})
    for result, exact in zip(tvmq.build(mod, params=params).run(feed), wanted, strict=True):
        np.testing.assert_array_equal(result, exact)
