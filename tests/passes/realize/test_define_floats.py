"""Sums and means that stayed float are of our own order."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net, assert_same, block, drive
from tvmq.passes.realize.define_floats import define_floats
from tvmq.reference import Reference

X = 'x: R.Tensor((2, 3, 4), "float32")'


@pytest.mark.slow
def test_before_and_after() -> None:
    body = "s = R.sum(x, axis=[-1])\nm = R.mean(x, axis=[1, 0], keepdims=True)\na = R.sum(x)\nt = R.add(R.mean(s), a)\ny = R.add(m, t)"
    ours = """s = R.tvmq.float_sum(x, axes=[2])
m = R.tvmq.float_sum(x, axes=[0, 1], keepdims=True, mean=True)
a = R.tvmq.float_sum(x, axes=[0, 1, 2])
t = R.add(R.tvmq.float_sum(s, axes=[0, 1], mean=True), a)
y = R.add(m, t)"""
    result = '(1, 1, 4), "float32"'
    assert_same(define_floats(block(X, body, result)), block(X, ours, result))
    found = define_floats(block(X, body, result))
    feed = {"x": np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)}
    assert np.array_equal(tvmq.build(found).run(feed)[0], tvmq.reference.run(found, feed)[0])


def test_integers_stay() -> None:
    mod = block('x: R.Tensor((2, 3), "int32")', "y = R.sum(x, axis=[1])", '(2,), "int32"')
    assert_same(define_floats(mod), mod)


@pytest.mark.slow
def test_a_float_mean_behind_integers_is_defined() -> None:
    net = Net((1, 3, 6, 6))
    x = net.op("Softmax", net.conv("x", 3, 4), axis=1)
    road = drive(net.model(net.op("ReduceMean", net.op("Exp", x), axes=[2, 3])))
    assert "tvmq.float_sum" in road.operators()
    assert not any("sum" in name for name in Reference(road.quantized).islands)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_an_average_of_the_whole_picture_is_a_mean(axes: int) -> None:
    shape = (2, 3, *(5, 4, 2)[:axes])
    places, ones = str(shape[2:]).replace(",)", "]").replace("(", "[").replace(")", "]"), ", 1" * axes
    x, result = f'x: R.Tensor({shape}, "float32")', f'(2, 3{ones}), "float32"'
    ours = block(x, f"y = R.tvmq.float_sum(x, axes={list(range(2, 2 + axes))}, keepdims=True, mean=True)", result)
    for body in (f"y = R.nn.avg_pool{axes}d(x, pool_size={places})", f"y = R.nn.adaptive_avg_pool{axes}d(x, {[1] * axes})"):
        found = define_floats(block(x, body, result))
        assert_same(found, ours)
    feed = {"x": np.random.default_rng(0).standard_normal(shape).astype(np.float32)}
    assert np.array_equal(tvmq.build(found).run(feed)[0], tvmq.reference.run(found, feed)[0])


@pytest.mark.parametrize(
    "body, size",
    [
        ("y = R.nn.avg_pool2d(x, pool_size=[2, 2], strides=[2, 2])", (2, 2)),
        ("y = R.nn.avg_pool2d(x, pool_size=[4, 4], padding=[1, 1, 0, 0], strides=[2, 2])", (1, 1)),
        ("y = R.nn.adaptive_avg_pool2d(x, [1, 2])", (1, 2)),
    ],
)
def test_pools_of_parts_of_the_picture_stay(body: str, size: tuple[int, int]) -> None:
    mod = block('x: R.Tensor((1, 3, 4, 4), "float32")', body, f'(1, 3, {size[0]}, {size[1]}), "float32"')
    assert_same(define_floats(mod), mod)
