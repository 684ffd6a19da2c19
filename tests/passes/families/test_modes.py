"""Families whose integers depend on how sums are requantized, in the modes of integers alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.passes.families.roads import CHANNELS, assert_equal_everywhere, start
from tests.passes.families.test_scale_shift import column
from tests.support.models.networks import Net, drive, feeds_of

POOL = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4, "ceil_mode": 1, "count_include_pad": 1}
# The least signal to noise in dB, and the operator
KINDS: dict[str, tuple[float, Callable[[Net, str], str]]] = {
    "average": (15, lambda n, y: n.op("AveragePool", y, **POOL)),
    "sum": (15, lambda n, y: n.op("ReduceSum", y, n.constant(np.int64([2, 3])), keepdims=1)),
    "scales and slopes": (20, lambda n, y: n.op(
        "PRelu", n.op("Mul", n.op("MaxPool", y, kernel_shape=[1, 1]), column(n)), column(n, 0.1, 0.5)
    )),
    "leaky relu": (10, lambda n, y: n.op("LeakyRelu", y, alpha=0.1)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fixed_point", "power_of_two"])
@pytest.mark.parametrize("kind", KINDS)
def test_requantized_in_integers(kind: str, mode: str) -> None:
    n, y = start()
    least_snr, operator = KINDS[kind]
    model = n.model(n.conv(operator(n, y), CHANNELS, 4 if kind == "leaky relu" else 3, 1))
    road = drive(model, least_snr=least_snr, requantize=mode)
    if kind == "leaky relu":  # only float sums have slopes
        assert "tvmq.table" in road.operators()
        assert_equal_everywhere(road.quantized, feeds_of(model)[0])
