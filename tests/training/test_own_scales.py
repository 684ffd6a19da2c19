"""Training of quantized models, which begins with their own scales and integers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

import tvmq  # noqa: E402
from tests.support.models.quantized_models import Maker  # noqa: E402
from tests.training.small_network import QUICKLY, samples, small_network  # noqa: E402
from tvmq import training  # noqa: E402
from tvmq.errors import UnsupportedOpError  # noqa: E402
from tvmq.training.check import first_difference  # noqa: E402
from tvmq.training.forms import conversions  # noqa: E402


def quantized(tmp_path: Path) -> Any:
    """A network behind an exporter of QuantizeLinear and DequantizeLinear."""
    with tvmq.qconfig(**{**QUICKLY, "nbit_weight": 8}):
        module = tvmq.quantize(*tvmq.from_onnx(small_network()), [samples(8)], guard=None)
    tvmq.to_onnx(module, tmp_path / "quantized.onnx")
    return tvmq.from_onnx(tmp_path / "quantized.onnx")


def train(net: Any, steps: int = 3) -> list[float]:
    optimizer, losses = torch.optim.SGD(net.parameters(), lr=1e-2), []
    for seed in range(steps):
        loss = (net(torch.from_numpy(samples(8, seed))) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.slow
def test_training_begins_with_the_integers_of_the_model(tmp_path: Path) -> None:
    model, x = quantized(tmp_path), samples(4, seed=9)
    net = training.prepare(*model)
    (start,) = tvmq.reference.run(tvmq.quantize(*model), {"x": x})
    np.testing.assert_array_equal(net(torch.from_numpy(x)).detach().numpy(), start)
    losses = train(net)
    assert losses[-1] < losses[0]
    module = training.convert(net)
    assert first_difference(net, module, [torch.from_numpy(x)]) is None
    (compiled,) = tvmq.build(module).run({"x": x})
    np.testing.assert_array_equal(net(torch.from_numpy(x)).detach().numpy(), compiled)
    assert not np.array_equal(compiled, start)


def test_roundings_between_floats_stay(tmp_path: Path) -> None:
    """A rounded input of a function that no integers compute, and a dense layer behind it."""
    make = Maker()
    x = make.rounded(make.node("Softmax", [make.rounded(make.input("x", (2, 8)), 0.05, 128)]), 0.004, 0)
    y = make.node("MatMul", [x, make.weight((8, 4), 0.01)])
    net = training.prepare(*tvmq.from_onnx(make.model(y, types=["float32"])))
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((2, 8)).astype(np.float32))
    net(x).sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for name, parameter in net.named_parameters() if "weight" in name[-6:])
    assert first_difference(net, training.convert(net), [x]) is None


def test_results_of_codes_are_refused() -> None:
    make = Maker()
    x = make.rounded(make.input("x", (2, 8)), 0.05, 128)
    y = make.quantized(make.node("MatMul", [x, make.weight((8, 4), 0.01)]), 0.1, 100)
    with pytest.raises(UnsupportedOpError, match=r"is an input or a result of codes \(uint8\), and gradients need floats"):
        training.prepare(*tvmq.from_onnx(make.model(y)))


def test_a_rounding_by_channels_between_floats_is_refused() -> None:
    place: Any = SimpleNamespace(name="q", call=SimpleNamespace(attrs=None))
    with pytest.raises(UnsupportedOpError, match="layer 'q': quantize with 3 scales has no form with a gradient"):
        conversions._by_constants(place, torch.zeros(3), np.ones(3, np.float32), np.zeros(3, np.int32))
