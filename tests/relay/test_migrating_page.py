"""The Python of MIGRATING.md runs unchanged, on a network that a reader would have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmq
from tests.docs.test_docs import blocks
from tests.support.project import ROOT
from tvmq import relay

RELAY, *TORCH = blocks(ROOT / "MIGRATING.md")
_RNG = np.random.default_rng(0)


def test_the_page_has_a_block_of_relay_and_two_of_training():
    assert "relay.quantize" in RELAY and ["prepare_qat" in TORCH[0], "training.prepare" in TORCH[1]] == [True, True]
    assert len(TORCH) == 2


def test_a_script_of_relay_runs():
    data = relay.var("data", shape=(1, 3, 6, 6))
    first = relay.nn.relu(relay.nn.conv2d(data, relay.var("w0"), channels=4, kernel_size=3))
    second = relay.nn.conv2d(first, relay.var("w1"), channels=4, kernel_size=3)
    params = {f"w{i}": _RNG.normal(size=(4, 3 + i, 3, 3)).astype("float32") for i in (0, 1)}
    mod = relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(second), second))
    dataset = [{"data": _RNG.normal(size=(1, 3, 6, 6)).astype("float32")} for _ in range(3)]
    names: dict[str, Any] = {"mod": mod, "params": params, "dataset": dataset}
    exec(RELAY, names)
    share = tvmq.explain(names["qmod"].relax).int8_share()
    assert 0 < share < 1  # Relay's default leaves the first convolution in float


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.parametrize("block", TORCH, ids=["was", "is"])
def test_a_loop_of_training_runs(block):
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.ReLU())
    example_inputs = (torch.randn(1, 1, 6, 6),)
    calibration = [(torch.randn(1, 1, 6, 6),) for _ in range(4)]
    names = {"torch": torch, "model": model, "example_inputs": example_inputs, "calibration": calibration}
    exec(block, names)
    result = names.get("exe") or names["quantized"]
    assert torch.as_tensor(result(example_inputs[0])).shape == (1, 2, 4, 4)
