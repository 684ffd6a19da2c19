"""Sums that a normalization or a softmax reads stay float; components without a convolution or product do, too."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.models.networks import Net, drive


@pytest.mark.slow
def test_outliers_of_a_residual_stream_survive() -> None:
    """One channel is a thousand times larger than the others; the layer norm's small channels keep their signal."""
    n = Net((1, 5, 8))
    x = n.op("Mul", "x", n.constant(np.float32([1000, 1, 1, 1, 1, 1, 1, 1])))
    y = n.op("Add", x, n.op("MatMul", "x", n.constant(n.weight(8, 8))))
    normalized = n.op("LayerNormalization", y, n.constant(np.float32([0.001] + [1] * 7)), axis=-1)
    road = drive(n.model(n.op("MatMul", normalized, n.constant(n.weight(8, 4)))), least_snr=30)
    assert "tvmq.add" not in road.operators()
