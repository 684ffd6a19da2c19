"""Legalizations for what TVM gets wrong or lacks: extremes of infinities, signs of zero, sorting, import helpers."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import tvmq
from tests.support.models.onnx_models import make_model


def run(node: onnx.NodeProto, x: np.ndarray, **constants: np.ndarray) -> list[np.ndarray]:
    """The node's results, compiled."""
    mod, params = tvmq.from_onnx(make_model([node], {"x": x}, node.output, constants))
    exe = tvmq.build(mod, params=params)
    results = exe.run({"x": x})
    for compiled, defined in zip(results, tvmq.reference.run(exe.module, {"x": x}), strict=True):
        np.testing.assert_array_equal(compiled, defined)
    return results


@pytest.mark.slow
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("name", ["Max", "Min"])
def test_extremes_of_infinities(name: str, keepdims: int) -> None:
    x = np.float32([[[-np.inf, -np.inf], [1, np.inf]], [[np.inf, np.inf], [-3, -np.inf]]])
    for axes in ([0], [2], [0, 2], [0, 1, 2]):
        node = helper.make_node(f"Reduce{name}", ["x", "axes"], ["y"], keepdims=keepdims)
        (y,) = run(node, x, axes=np.array(axes, np.int64))
        expected = getattr(np, name.lower())(x, axis=tuple(axes), keepdims=bool(keepdims))
        np.testing.assert_array_equal(y, expected)


def test_extremes_of_integers() -> None:
    x = np.array([[3, -7], [5, 2]], np.int32)
    (y,) = run(helper.make_node("ReduceMax", ["x", "axes"], ["y"], keepdims=0), x, axes=np.array([1], np.int64))
    np.testing.assert_array_equal(y, [3, 5])


@pytest.mark.slow
def test_an_input_of_no_elements() -> None:
    (y,) = run(
        helper.make_node("ReduceMax", ["x", "axes"], ["y"], keepdims=0),
        np.zeros((2, 0), np.float32),
        axes=np.array([1], np.int64),
    )
    np.testing.assert_array_equal(y, np.float32([-np.inf, -np.inf]))


@pytest.mark.slow
def test_sorting_and_running_sums() -> None:
    x = np.float32([[3, 1, 2], [9, 8, 10]])
    values, indices = run(helper.make_node("TopK", ["x", "k"], ["v", "i"]), x, k=np.array([2], np.int64))
    np.testing.assert_array_equal(values, np.float32([[3, 2], [10, 9]]))
    np.testing.assert_array_equal(indices, [[0, 2], [2, 0]])
    (y,) = run(helper.make_node("CumSum", ["x", "axis"], ["y"], reverse=1), x, axis=np.array(1, np.int64))
    np.testing.assert_array_equal(y, x[:, ::-1].cumsum(1)[:, ::-1])


@pytest.mark.slow
def test_helper_functions_of_the_importer_are_compiled() -> None:
    x = np.float32([[1, 2], [3, 4]])
    (y,) = run(helper.make_node("Einsum", ["x", "x"], ["y"], equation="ij,kj->ik"), x)
    np.testing.assert_array_equal(y, x @ x.T)


@pytest.mark.slow
def test_numbers_keep_having_no_axis() -> None:
    """Zeros are hidden from the simplifier as vectors of one, but not where the result is a number."""
    x = np.float32([[3, -1], [2, 5]])
    nodes = [helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0), helper.make_node("Sub", ["zero", "m"], ["y"])]
    mod, params = tvmq.from_onnx(make_model(nodes, {"x": x}, ["y"], {"zero": np.float32(0)}))
    (y,) = tvmq.build(mod, params=params).run({"x": x})
    assert y.shape == () and y == -5


@pytest.mark.parametrize("alpha", [0.0, -0.2, 0.1, 1.5])
def test_leaky_relu_keeps_the_sign_of_zero(alpha: float) -> None:
    x = np.float32([-0.0, 0.0, -3, np.inf, -np.inf, np.nan, 2, -1e-40])
    (y,) = run(helper.make_node("LeakyRelu", ["x"], ["y"], alpha=alpha), x)
    with np.errstate(invalid="ignore"):
        expected = np.where(x >= 0, x, x * np.float32(alpha))
    np.testing.assert_array_equal(y, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(y)[known], np.signbit(expected)[known])
