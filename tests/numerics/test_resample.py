"""resample: order and rounding of each operation, any axis."""

from __future__ import annotations

import numpy as np

from tvmq import numerics


def test_each_product_and_sum_is_rounded_by_itself() -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 5, 3)).astype(np.float32)
    index = random.integers(0, 5, (3, 7))
    weight = random.standard_normal((3, 7)).astype(np.float32)
    found = numerics.resample(x, index, weight, axis=1)
    assert found.shape == (2, 7, 3) and found.dtype == np.float32
    for n, i, c in np.ndindex(2, 7, 3):
        total = np.float32(x[n, index[0, i], c] * weight[0, i])
        for tap in (1, 2):
            total = np.float32(total + np.float32(x[n, index[tap, i], c] * weight[tap, i]))
        assert found[n, i, c] == total


def test_one_tap_of_weight_one_copies_bits() -> None:
    x = np.float32([[np.inf, -0.0, 1e-45, 3.4e38]])
    found = numerics.resample(x, np.array([[3, 0, 1, 2]]), np.ones((1, 4), np.float32), axis=1)
    assert found.tobytes() == x[:, [3, 0, 1, 2]].tobytes()
