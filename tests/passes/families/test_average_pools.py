"""Average pools: padding that counts, rounding up, one to three axes, adaptive ones."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tvmq
from tests.passes.families.roads import CHANNELS, integer_road, quantize_everywhere, start
from tests.support.models.networks import Net, block
from tvmq.graph.ledger import get_ledger


@pytest.mark.slow
def test_every_kind_of_padding() -> None:
    n, y = start()
    kinds = []
    for count, ceil, pads in itertools.product((0, 1), (0, 1), ([0] * 4, [1] * 4, [1, 0, 0, 1])):
        named = {"count_include_pad": count, "ceil_mode": ceil, "pads": pads}
        kinds.append(n.op("AveragePool", y, kernel_shape=[3, 3], strides=[2, 2], **named))
    integer_road(n, *(n.conv(kind, CHANNELS, 3, 1) for kind in kinds), least_snr=22.0)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("axes", [1, 3])
@pytest.mark.slow
def test_other_numbers_of_axes(axes: int) -> None:
    n = Net((2, 3, *[7, 6, 5][:axes]))
    y = n.op("Relu", n.op("Conv", "x", n.constant(n.weight(4, 3, *[3] * axes)), pads=[1] * 2 * axes))
    whole = n.op("AveragePool", y, kernel_shape=[2] * axes, strides=[2] * axes)
    padded = n.op(
        "AveragePool", y, kernel_shape=[3] * axes, strides=[2] * axes, pads=[1] * 2 * axes, count_include_pad=0
    )
    integer_road(n, whole, padded)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("shape, out_size, operator", [
    ((1, 2, 6, 4), (3, 2), "tvmq.sum_pool"),
    ((1, 2, 7, 5), (3, 2), "tvmq.adaptive_sum_pool"),
    ((1, 2, 4, 3), (6, 5), "tvmq.adaptive_sum_pool"),
])  # fmt: skip
@pytest.mark.slow_cases("shape0-*")
def test_adaptive_pools(shape: tuple[int, ...], out_size: tuple[int, int], operator: str) -> None:
    """Unequal and equal windows: exact, and near the float module."""
    result = f'(1, 2, {out_size[0]}, {out_size[1]}), "float32"'
    body = f"c = R.nn.conv2d(x, w, padding=1)\np = R.nn.adaptive_avg_pool2d(c, output_size={out_size})"
    weight = np.random.default_rng(0).standard_normal((2, 2, 3, 3)).astype(np.float32)
    mod = block(f'x: R.Tensor({shape}, "float32"), w: R.Tensor((2, 2, 3, 3), "float32")', body, result, w=weight)
    feeds = [{"x": np.random.default_rng(seed).standard_normal(shape).astype(np.float32)} for seed in range(4)]
    quantized = quantize_everywhere(mod, feeds, feeds[0])
    assert all(entry["precision"] == "int8" for entry in get_ledger(quantized).layers.values())
    assert operator in quantized.script()
    expected = tvmq.reference.run(quantized, feeds[0])[0]
    true = tvmq.build(mod).run(feeds[0])[0]
    assert np.abs(expected - true).max() < 0.05 * np.abs(true).max()
