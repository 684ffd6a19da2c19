"""Every public function that takes a module also takes a relay.IRModule."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tvmq import relay

SHAPE = (1, 3, 8, 8)
FEED = {"data": np.random.default_rng(0).normal(size=SHAPE).astype("float32")}


def network() -> tuple[relay.IRModule, dict[str, np.ndarray]]:
    sums = relay.nn.conv2d(relay.var("data", shape=SHAPE), relay.var("w"), channels=8, kernel_size=3)
    weight = np.random.default_rng(1).normal(size=(8, 3, 3, 3)).astype("float32")
    return relay.IRModule.from_expr(relay.nn.relu(sums)), {"w": weight}


@pytest.fixture(scope="module")
def quantized() -> relay.IRModule:
    with relay.quantize.qconfig(skip_conv_layers=[]):
        return relay.quantize.quantize(*network())


def test_floats_are_built_and_looked_at() -> None:
    mod, params = network()
    found = tvmq.build(mod, params=params).run(FEED)[0]
    np.testing.assert_allclose(found, tvmq.build(mod.relax, params=params).run(FEED)[0])
    assert "conv2d" in str(tvmq.inspect(mod, "llvm -mcpu=znver4", params, clock=3.7e9))
    assert tvmq.from_relax(mod, params)[1].keys() == {"w"}
    assert tvmq.run_calibration(mod, params, [FEED]).tensors


@pytest.mark.slow
def test_integers_are_built_and_looked_at(quantized: relay.IRModule, tmp_path) -> None:
    assert isinstance(quantized, relay.IRModule)
    assert tvmq.verify(tvmq.build(quantized), [FEED]).exact
    np.testing.assert_array_equal(*(tvmq.reference.run(one, FEED)[0] for one in (quantized, quantized.relax)))
    assert "conv2d" in str(tvmq.explain(quantized))
    assert str(tvmq.check_backend(quantized, "cpu")) == str(tvmq.check_backend(quantized.relax, "cpu"))
    assert "conv2d" in str(tvmq.compare(network(), quantized, [FEED]))
    tvmq.to_onnx(quantized, tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").exists()
