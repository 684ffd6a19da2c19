"""Integers that float64 does not have: every operator that takes a number gives them to the last digit."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import tvmq
from tests.support.models.onnx_models import make_model
from tvmq.formats.onnx.importer.from_onnx import from_onnx

ODD, LOW, HIGH = 2**53 + 1, -(2**63), 2**63 - 1
BIG = np.array([[ODD, -ODD, 2**62 + 1, -(2**62) - 1], [HIGH, LOW, 7, -3]])
UNSIGNED = BIG.view(np.uint64)


def run(op_type: str, x: np.ndarray, *constants: Any, opset: int = 14, **attributes: Any) -> list[np.ndarray]:
    """Results of one node on x and constants, None left out."""
    names = ["" if value is None else f"c{position}" for position, value in enumerate(constants)]
    results = ["y", "places"] if op_type == "TopK" else ["y"]
    node = helper.make_node(op_type, ["x", *names], results, name="layer", **attributes)
    weights = {name: value for name, value in zip(names, constants, strict=True) if name}
    model = make_model([node], {"x": x}, results, weights, opset)
    mod, params = from_onnx(onnx.shape_inference.infer_shapes(model))
    return [np.asarray(result) for result in tvmq.build(mod, params=params).run({"x": x})]


def surrounded(x: np.ndarray, value: int) -> np.ndarray:
    """The array with a column before it and two rows after it."""
    return np.pad(x, ((0, 2), (1, 0)), constant_values=np.array(value, x.dtype))


@pytest.mark.parametrize("value", [-1, 2**53, ODD, 2**60 + 1, HIGH, LOW, -ODD])
def test_pad_with_any_number(value: int) -> None:
    amounts = np.array([0, 1, 2, 0])
    assert np.array_equal(run("Pad", BIG, amounts, np.int64(value))[0], surrounded(BIG, value))
    shifted = value % 2**64
    assert np.array_equal(run("Pad", UNSIGNED, amounts, np.uint64(shifted))[0], surrounded(UNSIGNED, shifted))


def test_pad_that_crops_too() -> None:
    found = run("Pad", BIG, np.array([-1, 0, 2, -2]), np.int64(ODD))[0]
    assert np.array_equal(found, np.array([[HIGH, LOW], [ODD, ODD], [ODD, ODD]]))


@pytest.mark.parametrize("x", [BIG, UNSIGNED], ids=["int64", "uint64"])
@pytest.mark.parametrize("bounds", [(None, None), (ODD, None), (None, ODD), (3, 2**62 + 1), (2**62 + 1, ODD), (0, HIGH)])
def test_clip_to_any_bounds(x: np.ndarray, bounds: tuple[int | None, int | None]) -> None:
    low, high = (None if bound is None else x.dtype.type(bound) for bound in bounds)
    wanted = x if low is None else np.maximum(x, low)
    assert np.array_equal(run("Clip", x, low, high)[0], wanted if high is None else np.minimum(wanted, high))


C = np.int64(ODD)
EXACT: dict[str, tuple[str, np.ndarray, tuple[Any, ...], dict[str, Any], np.ndarray]] = {
    "max": ("Max", BIG, (C,), {}, np.maximum(BIG, C)),
    "min": ("Min", BIG, (C,), {}, np.minimum(BIG, C)),
    "relu": ("Relu", BIG, (), {}, np.maximum(BIG, 0)),
    "where": ("Add", BIG, (C,), {}, BIG + C),
    "mul": ("Mul", BIG, (np.int64(3),), {}, BIG * 3),
    "div": ("Div", np.abs(BIG[:1]), (np.int64(3),), {}, np.abs(BIG[:1]) // 3),
    "mod": ("Mod", BIG, (C,), {}, np.mod(BIG, C)),
    "less": ("Less", np.array([2**53, ODD, ODD + 1]), (C,), {}, np.array([True, False, False])),
    "equal": ("Equal", np.array([2**53, ODD]), (C,), {}, np.array([False, True])),
    "pow": ("Pow", np.array([94906267, 3]), (np.int64(2),), {}, np.array([94906267**2, 9])),
    "reduce-max": ("ReduceMax", BIG, (), {"axes": [1], "keepdims": 0, "opset": 13}, BIG.max(1)),
    "reduce-min": ("ReduceMin", UNSIGNED, (), {"axes": [1], "keepdims": 0, "opset": 13}, UNSIGNED.min(1)),
    "reduce-sum": ("ReduceSum", BIG, (np.array([1]),), {"keepdims": 0}, BIG.sum(1)),
    "reduce-mean": ("ReduceMean", np.array([[ODD, ODD]]), (), {"axes": [1], "opset": 13}, np.array([[ODD]])),
    "top-k": ("TopK", np.array([2**53, ODD, 5]), (np.array([2]),), {}, np.array([ODD, 2**53])),
    "arg-max": ("ArgMax", np.array([2**53, ODD, 2**53]), (), {}, np.array([1])),
    "scatter": ("ScatterElements", BIG[0], (np.array([1]), np.array([ODD])), {"opset": 16}, np.array([ODD, ODD, *BIG[0, 2:]])),
    "one-hot": ("OneHot", np.array([1]), (np.int64(2), np.array([ODD, 2**62 + 1])), {}, np.array([[ODD, 2**62 + 1]])),
    "matmul": ("MatMul", np.array([[ODD, 2]]), (np.array([[3], [5]]),), {}, np.array([[ODD * 3 + 10]])),
    "einsum": ("Einsum", np.array([ODD, 5]), (np.array([1, 3]),), {"equation": "i,i->i"}, np.array([ODD, 15])),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_integers_of_64_bits_keep_all_digits(name: str) -> None:
    op_type, x, constants, named, wanted = EXACT[name]
    found = run(op_type, x, *constants, **named)[0]
    assert found.dtype == wanted.dtype and np.array_equal(found, wanted)


@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("axes", [[1], [0], None])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_a_mean_of_integers_has_their_type_and_is_rounded_towards_zero(dtype: str, axes: Any, keep: int) -> None:
    values = np.arange(15).reshape(3, 5) ** 2 % 11
    signs = (1, -1) if dtype.startswith("i") else (1,)
    for sign in signs:
        x = (sign * values).astype(dtype)
        found = run("ReduceMean", x, opset=13, keepdims=keep, **({} if axes is None else {"axes": axes}))[0]
        mean = x.astype(np.float64).mean(None if axes is None else tuple(axes), keepdims=bool(keep))
        assert found.dtype == x.dtype and np.array_equal(found, np.trunc(mean).astype(dtype))


def test_a_mean_of_int32_does_not_wrap() -> None:
    assert run("ReduceMean", np.full((1, 3), 2**31 - 1, np.int32), opset=13)[0].tolist() == [[2**31 - 1]]


@pytest.mark.parametrize("kind", ["Max", "Min", "Sum", "Prod", "SumSquare", "L1"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_reductions_of_integers_have_their_type(kind: str, dtype: str) -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]], dtype)
    wanted = {
        "Max": x.max(1), "Min": x.min(1), "Sum": x.sum(1), "Prod": x.prod(1), "SumSquare": (x * x).sum(1), "L1": x.sum(1),
    }[kind].astype(dtype)  # fmt: skip
    axes = {"axes": [1]} if kind != "Sum" else {}
    found = run(f"Reduce{kind}", x, *([np.array([1])] if kind == "Sum" else []), opset=13, keepdims=0, **axes)[0]
    assert found.dtype == np.dtype(dtype) and np.array_equal(found, wanted)


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_top_k_in_any_order_is_sorted(dtype: str, largest: int) -> None:
    x = np.array([5, 1, 9, 3, 7], dtype)
    values, places = run("TopK", x, np.array([3]), sorted=0, largest=largest)
    order = np.argsort(-x.astype(float) if largest else x)[:3]
    assert values.tolist() == x[order].tolist() and places.tolist() == order.tolist()
