"""tvmq.passes.partition.decoding: cases of tests/passes/cases/partition/decoding.py; here backends without floats."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.models.networks import Net, drive, feeds_of, run_onnx


def head() -> tuple[Net, str]:
    """Sizes times their stride beside scores, in one tensor."""
    n = Net((1, 3, 8, 8))
    y = n.op("Relu", n.conv("x", 3, 8))
    boxes = n.op("Mul", n.op("Softplus", n.conv(y, 8, 4)), n.constant(np.float32(40)))
    return n, n.op("Concat", boxes, n.op("Sigmoid", n.conv(y, 8, 2)), axis=1)


@pytest.mark.slow
def test_boxes_are_as_exact_as_their_convolution() -> None:
    """Nothing behind the last convolutions is rounded: scores beside boxes of forty and more."""
    n, y = head()
    model = n.model(y)
    road = drive(model)
    floats = {name for name, precision in road.precision().items() if precision == "float"}
    assert len(floats) == 4 and len(road.precision()) == 8
    feed = feeds_of(model)[0]
    wanted, got = run_onnx(model, feed)[0], road.executable.run(feed)[0]
    assert np.abs(wanted[:, 4:] - got[:, 4:]).max() < 0.02


@pytest.mark.slow
def test_a_core_without_floats_keeps_them_in_integers() -> None:
    n, y = head()
    road = drive(n.model(y), partition_conversions="fully_integral", requantize="fixed_point", least_snr=10.0)
    assert "float" not in road.precision().values()
