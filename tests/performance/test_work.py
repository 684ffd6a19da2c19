"""What the cost model and the tuner see of kernels in int16 lanes."""

from __future__ import annotations

import numpy as np

from tvmq.kernels.conv.choose import choose_convolution
from tvmq.kernels.isa import isa_named
from tvmq.kernels.parts.types import Conv2d

AVX2 = isa_named("avx2")


def test_kernels_in_lanes_are_products_of_their_own_instructions() -> None:
    conv, random = Conv2d(1, 6, 6, 64, 32), np.random.default_rng(0)
    for limit, name, taps in ((64, "avx2_lanes", 4), (128, "avx2", 2)):
        weight = random.integers(-limit, limit, (32, 64, 1, 1)).astype(np.int8)
        kernel = choose_convolution(conv, weight, None, 0, (), AVX2)
        assert kernel is not None and kernel.work is not None and kernel.work.family == "conv2d"
        found = kernel.work.tiled
        assert found is not None and (found[1].name, found[1].taps, found[0].steps) == (name, taps, 64 // taps)
