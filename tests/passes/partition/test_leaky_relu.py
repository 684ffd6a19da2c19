"""Leaky relu joined to the convolution or product before it."""

from __future__ import annotations

import pytest

from tests.passes.families.roads import integer_road, start
from tvmq.graph.view import View, op_name


def slopes(module: object) -> list[float]:
    """Slope of every requantize of a realized module."""
    return [round(v.attrs.negative_slope, 6) for _, v in View(module).bindings if op_name(v) == "tvmq.requantize"]


@pytest.mark.slow
def test_behind_a_convolution() -> None:
    n, y = start()
    road = integer_road(n, n.conv(n.op("LeakyRelu", y, alpha=0.1), 6, 4, 3))
    assert "tvmq.table" not in road.operators()
    assert 0.1 in slopes(road.quantized)


@pytest.mark.slow
def test_behind_a_depthwise_convolution_and_a_residual_add() -> None:
    n, y = start()
    z = n.op("LeakyRelu", n.conv(y, 6, 6, 3, groups=6), alpha=0.25)
    road = integer_road(n, n.conv(n.op("Add", y, z), 6, 4, 1))
    assert slopes(road.quantized).count(0.25) == 1


@pytest.mark.slow
def test_a_result_in_floats_is_leaky_too() -> None:
    n, y = start()
    road = integer_road(n, n.op("LeakyRelu", n.conv(y, 6, 4, 1), alpha=0.3))
    assert "nn.leakyrelu" in road.operators()


@pytest.mark.slow_cases("-0.2-False", "0.1-True")
@pytest.mark.parametrize("alpha, shared", [(-0.2, False), (1.5, False), (0.1, True)])
def test_other_slopes_and_sums_that_others_read_stay_tables(alpha: float, shared: bool) -> None:
    n, y = start()
    z = n.op("LeakyRelu", y, alpha=alpha)
    road = integer_road(n, n.conv(n.op("Add", y, z) if shared else z, 6, 4, 1))
    assert "tvmq.table" in road.operators() and set(slopes(road.quantized)) <= {1.0}
