"""Operators folded at import against themselves computed as inputs; all of them in benchmarks/folding.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import tvmq
from tests.support.models.onnx_models import make_model
from tests.support.onnx_cases import load_cases
from tests.support.onnx_folds import (
    ALONE,
    EQUAL,
    KEPT,
    WRONG,
    computed,
    constants,
    difference,
    folded,
    is_foldable,
    judge,
    judge_all,
    sample,
)
from tvmq.formats.onnx.importer.from_onnx import from_onnx

CONSTANT = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)


def of_constant(op_type: str, x: np.ndarray, opset: int, **attributes: Any) -> onnx.ModelProto:
    """A model of one node on a constant."""
    node = helper.make_node(op_type, ["c"], ["y"], name="layer", **attributes)
    return make_model([node], {}, ["y"], {"c": x}, opset)


def of_rows(op_type: str, x: np.ndarray) -> np.ndarray:
    """Softmax and its kin of two dimensions, by their definition in float64."""
    if op_type == "Hardmax":
        return np.float64(np.arange(x.shape[1]) == x.argmax(1)[:, None])
    e = np.exp(x - np.float64(x.max(1, keepdims=True)))
    result = e / e.sum(1, keepdims=True)
    return np.log(result) if op_type == "LogSoftmax" else result


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -2])
@pytest.mark.parametrize("opset", [7, 10, 11, 12])
@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Hardmax"])
def test_softmax_of_constants_before_opset_13_is_of_rows(op_type: str, opset: int, axis: int | None) -> None:
    if opset < 11 and axis is not None and axis < 0:
        pytest.skip("these opsets have no negative axes")
    named = {} if axis is None else {"axis": axis}
    ours = folded(of_constant(op_type, CONSTANT, opset, **named))
    first = (1 if axis is None else axis) % 3
    rows = CONSTANT.reshape(int(np.prod(CONSTANT.shape[:first])), -1)
    assert ours is not None
    np.testing.assert_allclose(ours["y"], of_rows(op_type, rows).reshape(CONSTANT.shape), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Hardmax"])
def test_softmax_of_dynamic_shapes_before_opset_13_is_of_rows_or_refused(op_type: str) -> None:
    node = helper.make_node(op_type, ["x"], ["y"], name="layer", axis=1)
    model = make_model([node], {"x": ["n", 3, "m"]}, ["y"], opset=11)
    if op_type == "Hardmax":
        with pytest.raises(tvmq.errors.UnsupportedOpError, match="layer 'layer': Hardmax: dynamic dimensions before"):
            from_onnx(model)
        return
    mod, params = from_onnx(model)
    result = np.asarray(tvmq.build(mod, params=params)(CONSTANT))
    np.testing.assert_allclose(result.reshape(2, 12), of_rows(op_type, CONSTANT.reshape(2, 12)), rtol=1e-4, atol=1e-5)


BIG = np.array([[2**53 + 1, 2**53 + 1], [-(2**62) - 1, -(2**62) - 1]])


@pytest.mark.parametrize("op_type", ["ReduceMean", "ReduceMax", "ReduceMin", "Abs", "Neg", "Clip", "Sign", "Identity"])
def test_integers_of_64_bits_are_folded_exactly_or_not(op_type: str) -> None:
    named = {"axes": [1], "keepdims": 0} if op_type.startswith("Reduce") else {}
    ours = folded(of_constant(op_type, BIG, 13, **named))
    exact = {"Abs": np.abs(BIG), "Neg": -BIG, "Clip": BIG, "Identity": BIG, "Sign": np.sign(BIG)}
    assert ours is None or np.array_equal(ours["y"], exact.get(op_type, BIG[:, 0]))


PICTURE, RECURRENT = (1, 2, 6, 6), {"w": (1, 3, 2), "r": (1, 3, 3)}
UNSURE: dict[str, tuple[str, dict[str, tuple[int, ...]], dict[str, Any]]] = {  # where ONNX's reference is wrong
    "pool of auto_pad": ("MaxPool", {"x": PICTURE}, {"kernel_shape": [1, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    "pool of ceil_mode": ("MaxPool", {"x": (1, 2, 6)}, {"kernel_shape": [2], "pads": [1, 0], "ceil_mode": 1}),
    "mean of ceil_mode": ("AveragePool", {"x": PICTURE}, {
        "kernel_shape": [3, 2], "strides": [3, 3], "pads": [1, 1, 0, 0], "ceil_mode": 1}),
    "norm of ceil_mode": ("LpPool", {"x": PICTURE}, {"kernel_shape": [3, 4], "strides": [2, 2], "ceil_mode": 1}),
    "groups with a bias": ("ConvTranspose", {"x": PICTURE, "w": (2, 1, 2, 2), "b": (2,)}, {"group": 2}),
    "norm of p = 1": ("LpNormalization", {"x": PICTURE}, {"p": 1}),
    "window of one channel": ("LRN", {"x": PICTURE}, {"size": 1, "alpha": 0.1}),
    "cubic to one value": ("Resize", {"x": PICTURE, "": (), "s": (4,)}, {
        "mode": "cubic", "coordinate_transformation_mode": "pytorch_half_pixel"}),
    "clip of a cell": ("RNN", {"x": (2, 1, 2), **RECURRENT}, {"hidden_size": 3, "clip": 0.1}),
    "softmax of a row": ("LogSoftmax", {"x": (5,)}, {}),
    "hardmax of a row": ("Hardmax", {"x": (5,)}, {}),
}  # fmt: skip


@pytest.mark.parametrize("case", UNSURE)
def test_what_the_reference_computes_wrongly_is_left_or_equal_to_compiled_code(case: str) -> None:
    op_type, shapes, options = UNSURE[case]
    random = np.random.default_rng(1)
    values = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items() if name}
    values |= {"s": np.float32([1, 1, 0.2, 0.2])} if op_type == "Resize" else {}
    node = helper.make_node(op_type, list(shapes), ["y"], name="layer", **options)
    model = make_model([node], values, ["y"], opset=11 if op_type.endswith("max") else 18)
    ours = folded(constants(model, values))
    assert ours is None or np.allclose(ours["y"], computed(model, values)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.slow_cases("BatchNormalization", "ReduceSumSquare")
@pytest.mark.parametrize("operator", ["BatchNormalization", "ReduceSumSquare", "Squeeze"])
def test_an_operator_in_all_its_opsets(operator: str) -> None:
    folds = list(judge_all(sample([case for case in load_cases().values() if case.operator == operator])))
    assert folds and {fold.status for fold in folds} <= {EQUAL, KEPT}
    assert min(fold.opset for fold in folds) <= 11


def test_verdicts() -> None:
    case = load_cases()["test_softmax_axis_1"]
    fold = judge(case, 13)
    assert fold is not None and (fold.status, fold.operator, fold.opset) == (EQUAL, "Softmax", 13)
    right, wrong = np.float32([1, 2]), np.float32([1, 3])
    assert difference(right, right, case) == ""
    assert difference(right, wrong, case) == "1 of 2 differ, the first is 2.0 for 3.0"
    assert difference(right, wrong.astype(np.float64), case) == "float32[2] for float64[2]"


@pytest.mark.slow
def test_one_case_of_every_operator_in_all_its_opsets() -> None:
    cases = sample(list(load_cases().values()))
    folds = list(judge_all(cases))
    assert [fold for fold in folds if fold.status == WRONG] == []
    counts = {status: sum(fold.status == status for fold in folds) for status in (EQUAL, KEPT, ALONE)}
    assert counts[EQUAL] > 2 * (counts[KEPT] + counts[ALONE]) and all(is_foldable(case) for case in cases)
