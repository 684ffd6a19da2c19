"""1 x 1 convolutions of padded pictures: the picture alone is computed, its border is known; equal to the definition."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.models import Net, feeds_of
from tvmq.reference import run


@pytest.mark.thinned(3)
@pytest.mark.parametrize("activation", ["Relu", "Sigmoid", ""])
def test_equals_the_definition(activation: str) -> None:
    n = Net((2, 3, 5, 6))
    y = n.conv("x", 3, 20, kernel=1, pads=[1, 2, 1, 0])
    y = n.op(activation, y) if activation else y
    model = n.model(n.op("GlobalAveragePool", n.conv(y, 20, 4)))
    mod, params = tvmq.from_onnx(model)
    exe = tvmq.build(tvmq.quantize(mod, params, feeds_of(model)))
    assert any(kernel.startswith("frame") for kernel in exe.kernels.values())
    x = feeds_of(model, 1, seed=3)[0]["x"]
    (defined,) = run(exe.module, [x])
    np.testing.assert_array_equal(exe.run({"x": x})[0], defined)
