"""A network that trains in an instant: convolution, pool and a dense layer, with a dynamic batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from tests.support.models.networks import Net

SHAPE = (2, 8, 8)
QUICKLY: dict[str, Any] = {
    "nbit_weight": 3, "calibrate_mode": "minmax", "weight_rounding": "nearest", "outlier_channels": False,
    "bias_correction": False,
}  # fmt: skip


def small_network() -> onnx.ModelProto:
    """Input x of shape (n, *SHAPE), ten scores."""
    net = Net(("n", *SHAPE))  # type: ignore[arg-type]
    y = net.op("Relu", net.conv("x", 2, 12))
    y = net.op("Relu", net.conv(y, 12, 12, strides=[2, 2]))
    y = net.op("Flatten", net.op("GlobalAveragePool", y), axis=1)
    return net.model(net.dense(y, 12, 10))


def samples(count: int, seed: int = 0) -> np.ndarray:
    """Smooth pictures."""
    rough = np.random.default_rng(seed).standard_normal((count, *SHAPE)).astype(np.float32)
    return rough + np.roll(rough, 1, axis=3) + np.roll(rough, 1, axis=2)
