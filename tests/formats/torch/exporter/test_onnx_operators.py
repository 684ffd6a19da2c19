"""Each operator that the exporter of ONNX writes, in torch, beside onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.formats.importing.frontend_models import run_onnxruntime
from tests.support.models.onnx_models import make_model

torch = pytest.importorskip("torch")

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(2, 4, 5, 6)).astype(np.float32)
HALF = RANDOM.uniform(-0.9, 0.9, size=(2, 3, 4)).astype(np.float32)
LARGE = (1.5 + RANDOM.random((2, 3, 4))).astype(np.float32)
MASK = HALF > 0
Case = tuple[str, list[Any], dict[str, Any]]


def w(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape).astype(np.float32)


def i64(*values: int) -> np.ndarray:
    return np.asarray(values, np.int64)


WINDOW = {"kernel_shape": [3, 2], "strides": [2, 1]}
CASES: list[Case] = [
    *[(name, [HALF], {}) for name in (
        "Abs Acos Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Identity IsInf IsNaN Neg Reciprocal Relu Round Sigmoid "
        "Sign Sin Sinh Softplus Tan Tanh"
    ).split()],
    *[(name, [LARGE], {}) for name in ("Acosh", "Log", "Sqrt")],
    *[(name, [HALF, LARGE], {}) for name in ("Add", "Sub", "Mul", "Div", "Max", "Min")],
    *[(name, [HALF, HALF[::-1].copy()], {}) for name in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")],
    *[(name, [MASK, ~MASK[::-1]], {}) for name in ("And", "Or")],
    ("Max", [HALF], {}), ("Not", [MASK], {}), ("Pow", [LARGE, np.float32(2.5)], {}), ("Where", [MASK, HALF, LARGE], {}),
    *[(name, [X], {"axes": [1, -1], "keepdims": keep}) for name in ("ReduceMax", "ReduceMean", "ReduceMin") for keep in (0, 1)],
    ("ReduceSum", [X, i64(2)], {"keepdims": 0}), ("ReduceMean", [X], {"keepdims": 1}),
    ("Cast", [HALF], {"to": TensorProto.INT32}), ("Clip", [X, np.float32(-0.5), np.float32(0.3)], {}),
    ("Concat", [X, X[:, :1]], {"axis": 1}), ("Expand", [X[:, :1], i64(1, 3, 1, 1)], {}),
    ("Gather", [X, i64(0, -1)], {"axis": 2}), ("Gather", [X, i64(3)[0]], {"axis": 1}),
    ("GatherElements", [X, np.full((2, 4, 5, 2), -2, np.int64)], {"axis": 3}),
    ("InstanceNormalization", [X, w(4), w(4)], {"epsilon": 1e-3}), ("LayerNormalization", [X, w(5, 6), w(5, 6)], {"axis": 2}),
    ("LeakyRelu", [X], {"alpha": 0.2}), ("Softmax", [X], {"axis": 1}), ("LogSoftmax", [X], {"axis": -1}),
    ("MatMul", [X, w(6, 3)], {}), ("Gemm", [w(3, 5), w(5, 4), w(4)], {}), ("PRelu", [X, w(4, 1, 1)], {}),
    ("Pad", [X, i64(0, 0, 1, 0, 0, 1, 2, 0), np.float32(0.5)], {}), ("Pad", [X, i64(0, 0, 1, 2, 0, 0, 0, 1)], {"mode": "edge"}),
    ("Pad", [X, i64(0, 0, 1, 2, 0, 0, 0, 1)], {"mode": "reflect"}), ("Reshape", [X, i64(0, -1, 3)], {}),
    ("Slice", [X, i64(-1), i64(np.iinfo(np.int64).min), i64(2), i64(-1)], {}), ("Slice", [X, i64(1, 4), i64(9, 1), i64(1, 3), i64(2, -2)], {}),
    ("Squeeze", [X[:, :1], i64(1)], {}), ("Unsqueeze", [X, i64(0, 2)], {}), ("Tile", [X, i64(1, 2, 1, 3)], {}),
    ("Transpose", [X], {"perm": [0, 2, 3, 1]}),
    ("Conv", [X, w(6, 2, 3, 2), w(6)], {"group": 2, "pads": [1, 0, 2, 1], "strides": [2, 1], "dilations": [1, 2]}),
    ("Conv", [X[..., 0], w(3, 4, 3)], {"pads": [1, 1]}),
    ("ConvTranspose", [X, w(4, 3, 3, 2), w(3)], {"pads": [1, 0, 0, 1], "strides": [2, 2], "output_padding": [1, 0]}),
    ("AveragePool", [X], {**WINDOW, "pads": [1, 0, 0, 1]}), ("AveragePool", [X], {**WINDOW, "pads": [1, 0, 0, 1], "count_include_pad": 1}),
    ("AveragePool", [X], {**WINDOW, "pads": [1, 1, 1, 1]}), ("MaxPool", [X], {**WINDOW, "pads": [1, 0, 0, 1], "dilations": [1, 2]}),
    ("MaxPool", [X], {**WINDOW, "ceil_mode": 1}),
    ("Resize", [X, None, None, i64(2, 4, 10, 12)], {"mode": "nearest"}),
    ("Resize", [X, None, None, i64(2, 4, 3, 4)], {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
    ("Resize", [X, None, None, i64(2, 4, 9, 8)], {"mode": "linear"}),
    ("Resize", [X, None, None, i64(2, 4, 9, 8)], {"mode": "linear", "coordinate_transformation_mode": "align_corners"}),
]  # fmt: skip


def model_of(case: Case) -> onnx.ModelProto:
    """Model of one node, whose first input is fed and whose others are constants."""
    name, inputs, attributes = case
    names = [f"i{n}" if value is not None else "" for n, value in enumerate(inputs)]
    stored = {n: v for n, v in zip(names[1:], inputs[1:], strict=True) if n}
    node = helper.make_node(name, names, ["y"], name, **attributes)
    return make_model([node], {"i0": np.asarray(inputs[0])}, ["y"], stored, 17)


def computed(model: onnx.ModelProto, x: np.ndarray) -> list[np.ndarray]:
    from tvmq.formats.torch.exporter.build_module import TorchBuilder

    with torch.no_grad():
        found = TorchBuilder(model).module()(torch.from_numpy(x))
    return [part.numpy() for part in (found if isinstance(found, tuple) else (found,))]


def test_all_operators() -> None:
    for case in CASES:
        model = model_of(case)
        (mine,), (theirs,) = computed(model, case[1][0]), run_onnxruntime(model, {"i0": case[1][0]})
        assert mine.shape == theirs.shape and mine.dtype == theirs.dtype, case[0]
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5, err_msg=f"{case[0]} {case[2]}")


def test_parts_and_dynamic_sizes() -> None:
    """Split gives several; Shape, Gather and arithmetic compute sizes."""
    parts = helper.make_node("Split", ["i0", "sizes"], ["a", "b"], "split", axis=1)
    nodes = [
        parts,
        helper.make_node("Shape", ["i0"], ["shape"], "shape"),
        helper.make_node("Gather", ["shape", "first"], ["batch"], "batch", axis=0),
        helper.make_node("Mul", ["batch", "three"], ["more"], "more"),
        helper.make_node("Concat", ["more", "rest"], ["wanted"], "wanted", axis=0),
        helper.make_node("Reshape", ["b", "wanted"], ["y"], "reshape"),
    ]
    constants = {"sizes": i64(1, 3), "first": i64(0), "three": i64(3), "rest": i64(5, 6)}
    model = make_model(nodes, {"i0": ["n", 4, 5, 6]}, ["a", "y"], constants, 17)
    for batch in (X, X[:1]):
        for mine, theirs in zip(computed(model, batch), run_onnxruntime(model, {"i0": batch}), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_every_operator_has_a_case() -> None:
    from tvmq.formats.torch.exporter.onnx_operators import FUNCTIONS

    tested = {name for name, _, _ in CASES} | {"Split", "Shape", "Blocks"}  # the last in test_to_torch.py
    assert FUNCTIONS.keys() == tested
