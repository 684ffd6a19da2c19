"""ONNX models that compute with the shape of their input, and helpers that build and import them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import tvm
from frontend_models import make_model
from onnx import helper
from tvm import relax

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
        node("Resize", ["x", "", "", "target"], "y", mode="nearest", coordinate_transformation_mode="asymmetric"),
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
        "one": I64(1), "two": I64(2), "vector": np.array([1]), "zero": np.array([0]), "one1": np.array([1]),
        "minus_rest": np.array([-2]), "large": np.array([2**62]),
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
