"""Weights whose neighbours fit lanes of 16 bits: by hand, and codes of random weights in the order of the kernels."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq import numerics
from tvmq.calibration.observers import make_weight_observer
from tvmq.calibration.observers.lane_weights import MOST, neighbour_sums
from tvmq.codegen.kernels.conv.int16_accumulation import sums_fit_int16
from tvmq.numerics.spec import QuantSpec, choose_qparams

SYMMETRIC = QuantSpec("int8", symmetric=True, per_channel=True)
LANES_SCALE, MAX_SCALE = (make_weight_observer(name) for name in ("lanes", "max"))


def test_neighbours_by_hand() -> None:
    # channels 3, 5 of the first pixel, then 7, 1 of the second: 3 with 5, 7 with 1
    assert neighbour_sums(np.float32([[[[3, 7]], [[5, 1]]]]), 0).tolist() == [8.0]
    assert neighbour_sums(np.float32([[[[3, 7]], [[5, -1]]]]), 0).tolist() == [8.0]
    # three channels of two pixels are one run of six: 1 with 2, 4 with 8, 16 with 32
    assert neighbour_sums(np.float32([[[[1, 8]], [[2, 16]], [[4, 32]]]]), 0).tolist() == [48.0]
    # a matrix: each column is a channel, and the last of its rows has no neighbour
    assert neighbour_sums(np.float32([[1, -1], [2, -2], [4, -8]]), 1).tolist() == [4.0, 8.0]


def test_only_what_leaves_the_lanes_is_raised() -> None:
    weights = np.float32([[127, 0, -60, -60], [100, 100, 1, 1], [-80, -47, 0, 0]])
    assert LANES_SCALE.thresholds(weights, SYMMETRIC, 0)[1].tolist() == [127.0, 200.0, 127.0]
    assert LANES_SCALE.thresholds(weights, QuantSpec("int8", symmetric=True))[1] == 227.0  # 127 above 100
    for spec in (QuantSpec("int8", 7, symmetric=True, per_channel=True), QuantSpec("uint8", per_channel=True)):
        for ours, usual in zip(*(one.thresholds(weights, spec, 0) for one in (LANES_SCALE, MAX_SCALE)), strict=True):
            np.testing.assert_array_equal(ours, usual)
    depthwise = weights.reshape(6, 1, 2, 1)
    np.testing.assert_array_equal(*(one.thresholds(depthwise, SYMMETRIC, 0)[1] for one in (LANES_SCALE, MAX_SCALE)))


@pytest.mark.parametrize(("shape", "axis"), [
    ((9, 3, 3, 3), 0), ((16, 8, 3, 3), 0), ((8, 5, 7), 0), ((4, 6, 3, 3, 3), 0), ((37, 11), 1), ((6, 4, 3, 3), 1),
])  # fmt: skip
def test_rounded_neighbours_fit(shape: tuple[int, ...], axis: int) -> None:
    """Every lane of the nearest codes holds with activations up to 255; with the usual scales not every one does."""
    weights = np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)
    pytest.importorskip("torch", reason="the order of the kernels is that which training keeps")
    from tvmq.training.accumulators import LANES, order_of

    order = order_of(shape, axis, LANES, transposed=axis == 1 and len(shape) > 2)
    fits = {}
    for name, observer in (("lanes", LANES_SCALE), ("max", MAX_SCALE)):
        qparams = choose_qparams(*observer.thresholds(weights, SYMMETRIC, axis), SYMMETRIC, axis)
        codes = numerics.quantize(weights, qparams.scale, qparams.zero_point, axis=axis, dtype=np.int8, qmin=-127)
        pairs = order.rows(codes)
        groups = np.concatenate([pairs, np.zeros_like(pairs)], axis=1)[:, None, :, None]  # one lane each, one channel
        fits[name] = [bool(sums_fit_int16(group, 255)) for group in groups]
        assert name == "max" or numerics.sum_of_weights(pairs, together=False).max() <= MOST + 1
    assert all(fits["lanes"]) and not all(fits["max"])
