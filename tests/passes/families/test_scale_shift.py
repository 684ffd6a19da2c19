"""Constants that vary over a tensor: batch norm behind no convolution, positions, quotients; prelu."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.families.roads import CHANNELS, integer_road, start


def column(net, low: float = 0.3, high: float = 3.0) -> str:
    """A column with a number for each channel."""
    return net.constant(np.linspace(low, high, CHANNELS, dtype=np.float32).reshape(CHANNELS, 1, 1))


@pytest.mark.slow
def test_each_operator_of_a_tensor_and_constants() -> None:
    n, y = start()
    y = n.op("Add", y, n.conv("x", 3, CHANNELS, 1))  # no convolution that could absorb the constants
    picture = n.constant(n.weight(1, CHANNELS, 9, 8))
    row = n.constant(n.weight(1, 8))
    kinds = [
        n.op("Mul", y, column(n, -1.0)),
        n.op("Add", y, column(n)),
        n.op("Sub", y, column(n)),
        n.op("Sub", column(n), y),
        n.op("Div", y, column(n)),
        n.op("Add", y, picture),
        n.op("Mul", picture, y),
        n.op("Add", row, y),
        n.op("Relu", n.op("Add", n.op("Mul", y, row), picture)),
    ]
    road = integer_road(n, *(n.conv(kind, CHANNELS, 3, 1) for kind in kinds))
    assert road.operators().count("tvmq.scale_shift") == len(kinds)
    assert "permute_dims" not in road.operators() and "nn.relu" not in road.operators()


@pytest.mark.slow
def test_a_batch_norm_behind_a_concat_is_one_operator() -> None:
    n, y = start()
    joined = n.op("Concat", y, n.conv(y, CHANNELS, 3), axis=1)
    y = n.conv(n.op("Relu", n.batch_norm(joined, 9)), 9, 4)
    road = integer_road(n, y)
    names = road.operators()
    assert names.count("tvmq.scale_shift") == 1 and names[names.index("tvmq.scale_shift") + 1] == "nn.pad"


@pytest.mark.slow
def test_a_result_that_grows() -> None:
    """Positions that are added to one row for all."""
    n, y = start()
    pooled = n.op("ReduceMean", y, axes=[2], keepdims=1)
    positions = n.constant(n.weight(1, CHANNELS, 5, 8))
    integer_road(n, n.conv(n.op("Add", pooled, positions), CHANNELS, 3, 1))


@pytest.mark.slow
def test_prelu() -> None:
    n, y = start()
    slopes = n.constant(np.linspace(-0.2, 1.6, CHANNELS, dtype=np.float32).reshape(CHANNELS, 1, 1))
    one = n.constant(np.float32([0.3]))
    road = integer_road(
        n,
        n.conv(n.op("PRelu", y, slopes), CHANNELS, 3, 1),
        n.conv(n.op("PRelu", y, one), CHANNELS, 3, 1),
        n.op(
            "PRelu",
            n.dense(n.op("Flatten", n.op("GlobalAveragePool", y)), CHANNELS, 5),
            n.constant(np.float32([0.1, 0.2, 0, 1, 2])),
        ),
    )
    names = road.operators()
    assert (names.count("tvmq.prelu"), names.count("tvmq.table")) == (2, 1)
