"""Normalizations of Relax become operators of our own, equal in value to what they stand for."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import assert_same, block
from tvmq.graph.view import View, op_name
from tvmq.passes.prepare import prepare

SHAPE = (2, 6, 4, 5)
X = f'x: R.Tensor({SHAPE}, "float32")'
RANDOM = np.random.default_rng(0)
FEED = RANDOM.normal(size=SHAPE).astype(np.float32) * 3 + 1


def factors(*shape: int) -> dict[str, np.ndarray]:
    """gamma and beta."""
    gamma, beta = RANDOM.normal(size=(2, *shape)).astype(np.float32)
    return {"g": gamma, "b": beta}


def module(body: str, values: dict[str, np.ndarray]):
    signature = ", ".join([X, *(f'{name}: R.Tensor({value.shape}, "float32")' for name, value in values.items())])
    return block(signature, body, **values)


def expected(x: np.ndarray, values: dict[str, np.ndarray], rows: tuple[int, ...], where: list[int]) -> np.ndarray:
    """In float64: statistics over the axes `rows`; gamma and beta along the axes `where`."""
    x = x.astype(np.float64)
    d = x - x.mean(rows, keepdims=True)
    shape = [size if axis in where else 1 for axis, size in enumerate(x.shape)]
    g, b = (values[name].reshape(shape) for name in "gb")
    return d / np.sqrt((d * d).mean(rows, keepdims=True) + 1e-3) * g + b


CASES = {
    "last": ("R.nn.layer_norm(x, g, b, axes=[-1], epsilon=1e-3)", (5,), (3,), [3], ["layer_norm"]),
    "two": ("R.nn.layer_norm(x, g, b, axes=[2, 3], epsilon=1e-3)", (4, 5), (2, 3), [2, 3], ["layer_norm"]),
    "channels": (
        "R.nn.layer_norm(x, g, b, axes=[1], epsilon=1e-3)",
        (6,),
        (1,),
        [1],
        ["permute_dims", "layer_norm", "permute_dims"],
    ),
    "instance": (
        "R.nn.instance_norm(x, g, b, channel_axis=1, axes=[2, 3], epsilon=1e-3)",
        (6,),
        (2, 3),
        [1],
        ["group_norm"],
    ),
    "group of all": (
        "R.nn.group_norm(x, g, b, num_groups=1, channel_axis=1, axes=[2, 3], epsilon=1e-3)",
        (6,),
        (1, 2, 3),
        [1],
        ["group_norm"],
    ),
    "channels last": (
        "R.nn.group_norm(x, g, b, num_groups=5, channel_axis=3, axes=[1, 2], epsilon=1e-3)",
        (5,),
        (1, 2),
        [3],
        ["permute_dims", "group_norm", "permute_dims"],
    ),
}


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", CASES)
def test_values_are_kept_and_compiled_equals_the_definition(name: str) -> None:
    call, shape, rows, where, operators = CASES[name]
    values = factors(*shape)
    prepared = prepare(module(f"y = {call}", values))
    assert [op_name(value).removeprefix("tvmq.") for _, value in View(prepared).bindings] == operators
    (found,) = tvmq.build(prepared).run({"x": FEED})
    np.testing.assert_allclose(found, expected(FEED, values, rows, where), rtol=1e-5, atol=1e-5)
    reference = tvmq.reference.run(prepared, {"x": FEED})[0]
    assert np.array_equal(found.view(np.int32), reference.view(np.int32))


@pytest.mark.slow
def test_rms_norm() -> None:
    values = {"g": factors(5)["g"]}
    prepared = prepare(module("y = R.nn.rms_norm(x, g, axes=[-1], epsilon=1e-3)", values))
    assert_same(prepared, module("y = R.tvmq.rms_norm(x, g, axes=1, epsilon=0.001)", values))
    (found,) = tvmq.build(prepared).run({"x": FEED})
    root = np.sqrt((FEED.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-3)
    np.testing.assert_allclose(found, FEED / root * values["g"], rtol=1e-5)
    reference = tvmq.reference.run(prepared, {"x": FEED})[0]
    assert np.array_equal(found.view(np.int32), reference.view(np.int32))


@pytest.mark.slow
def test_log_softmax() -> None:
    prepared = prepare(module("y = R.nn.log_softmax(x, axis=1)", {}))
    assert_same(prepared, module("y = R.tvmq.log_softmax(x, axis=1)", {}))
    (found,) = tvmq.build(prepared).run({"x": FEED})
    power = np.exp(FEED.astype(np.float64))
    np.testing.assert_allclose(found, np.log(power / power.sum(1, keepdims=True)), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_factors_may_be_computed() -> None:
    signature = f'{X}, g: R.Tensor((5,), "float32")'
    prepared = prepare(block(signature, "h = R.abs(g)\ny = R.nn.layer_norm(x, g, h, axes=[-1])"))
    feed = {"x": FEED, "g": factors(5)["g"]}
    found, reference = tvmq.build(prepared).run(feed)[0], tvmq.reference.run(prepared, feed)[0]
    assert np.array_equal(found.view(np.int32), reference.view(np.int32))
