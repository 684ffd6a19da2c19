"""Sums, means, maxima and minima over any axes; differences of two tensors."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.families.roads import CHANNELS, integer_road, start

AXES = ([2, 3], [1], [3], [0, 2], [1, 2, 3])


@pytest.mark.thinned(4)
@pytest.mark.parametrize("operator", ["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"])
@pytest.mark.slow
def test_over_any_axes(operator: str) -> None:
    n, y = start()
    outputs = []
    for number, axes in enumerate(AXES):
        keepdims = 1 - number % 2
        if operator == "ReduceSum":
            outputs.append(n.op(operator, y, n.constant(np.int64(axes)), keepdims=keepdims))
        else:
            outputs.append(n.op(operator, y, axes=axes, keepdims=keepdims))
    gate = n.op("Sigmoid", outputs[0])
    road = integer_road(n, *outputs, n.conv(n.op("Mul", y, gate), CHANNELS, 3, 1), least_snr=15.0)
    assert {"ReduceMean": "tvmq.sum", "ReduceSum": "tvmq.sum", "ReduceMax": "max", "ReduceMin": "min"}[
        operator
    ] in road.operators()


@pytest.mark.slow
def test_sums_of_functions() -> None:
    """L1 norm, sum of squares, L2 norm: a table or a product before the sum, a table behind it."""
    n, y = start()
    kinds = [n.op(f"Reduce{kind}", y, axes=[1], keepdims=1) for kind in ("L1", "SumSquare", "L2")]
    road = integer_road(n, *(n.conv(kind, 1, 2, 1) for kind in kinds), least_snr=20.0)
    assert road.operators().count("tvmq.sum") == 3


@pytest.mark.slow
def test_differences() -> None:
    """Differences of two tensors, and of one and a smaller one, with the relu after it inside."""
    n, y = start()
    z = n.conv(y, CHANNELS, CHANNELS)
    road = integer_road(
        n,
        n.conv(n.op("Sub", y, z), CHANNELS, 3, 1),
        n.conv(n.op("Relu", n.op("Sub", z, y)), CHANNELS, 3, 1),
        n.conv(n.op("Sub", y, n.op("GlobalAveragePool", y)), CHANNELS, 3, 1),
        least_snr=20.0,
    )
    assert road.operators().count("tvmq.add") == 3 and "nn.relu" not in road.operators()
