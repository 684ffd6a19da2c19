"""Fake-quantizers of users produce the codes that are deployed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

from tests.training.torch_networks import labels, pictures, pictures_model  # noqa: E402
from tvmq import training  # noqa: E402
from tvmq.errors import ConfigError  # noqa: E402
from tvmq.training.check import first_difference  # noqa: E402


class Even(torch.nn.Module):
    """Even codes alone."""

    def forward(self, weight: Any, scale: Any, qmin: int, qmax: int) -> Any:
        steps = weight / scale
        codes = 2 * torch.round(steps / 2).clamp(-(-qmin // 2), qmax // 2)
        return steps + (codes - steps).detach()


class Rounding(torch.nn.Module):
    """Up or down as is learned (AdaRound)."""

    def __init__(self, weight: Any) -> None:
        super().__init__()
        self.up = torch.nn.Parameter(torch.zeros_like(weight))

    def forward(self, weight: Any, scale: Any, qmin: int, qmax: int) -> Any:
        share = torch.sigmoid(self.up)
        steps = torch.floor((weight / scale).detach()) + (share > 0.5) + share - share.detach()
        return steps.clamp(qmin, qmax)


class Wrong(torch.nn.Module):
    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result

    def forward(self, weight: Any, scale: Any, qmin: int, qmax: int) -> Any:
        return self.result(weight / scale)


@pytest.fixture(scope="module")
def model() -> Any:
    return pictures_model()


def prepared(model: Any, quantizers: Any) -> Any:
    return training.prepare(model, pictures(1, seed=1), [pictures(32, seed=2)], quantizers=quantizers)


@pytest.mark.slow
def test_codes_are_what_the_module_gives(model: Any) -> None:
    net, x = prepared(model, {"*": Even(), "features.3": Rounding}), pictures(16, seed=3)
    names = [name for name, _ in net.named_parameters() if name.endswith(".up")]
    assert names == ["quantizers.weights.features.3.quantizer.up"]
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    for _ in range(3):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), labels(16)).backward()
        optimizer.step()
    module = training.convert(net)
    assert first_difference(net, module, [x]) is None
    codes = {name: layer.codes().detach().numpy() for name, layer in net._layers.items()}
    even = {name: bool((array % 2 == 0).all()) for name, array in codes.items()}
    assert even == {"features_0": True, "features_3_conv2d": False, "head_matmul": True}
    (deployed,) = (
        array for array in _constants(module) if array.dtype == np.int8 and array.shape == codes["features_3_conv2d"].shape
    )
    np.testing.assert_array_equal(deployed, codes["features_3_conv2d"])
    assert net.get_parameter(names[0]).detach().abs().sum() > 0


def _constants(module: Any) -> list[np.ndarray]:
    from tvmq.graph.view import View, const_value, is_const

    return [const_value(arg) for _, value in View(module).bindings for arg in getattr(value, "args", []) if is_const(arg)]


@pytest.mark.slow
def test_names_and_kinds_that_make_no_sense(model: Any) -> None:
    for sentence, quantizers in (
        (r"quantizers name 'feature.0', which no layer .* matches; there are 'features.0', 'features.3', 'head'",
         {"feature.0": Even()}),
        ("the quantizer of 'head' must be a torch.nn.Module or a function that makes one. Got int", {"head": 4}),
        ("layer 'head': its quantizer must be a torch.nn.Module. Got NoneType", {"head": lambda weight: None}),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=sentence):
            prepared(model, quantizers)


def test_results_that_are_no_codes(model: Any) -> None:
    quantizer = Wrong(lambda steps: steps)
    net = prepared(model, {"head": lambda _weight: quantizer})
    for sentence, result in (
        (r"layer 'head': Wrong must give whole numbers from -127 to 127, .* of 80 are none", lambda steps: steps),
        (r"layer 'head': Wrong must give whole numbers from -127 to 127, 80 of 80 are none, first 200",
         lambda steps: steps * 0 + 200),
        (r"layer 'head': Wrong must give a float32 tensor of shape \(8, 10\). Got torch.float64 \(8, 10\)",
         lambda steps: steps.double().round()),
        (r"layer 'head': Wrong must give a float32 tensor of shape \(8, 10\). Got torch.float32 \(80,\)",
         lambda steps: steps.flatten().round()),
        (r"Got int instead", lambda steps: 3),
    ):  # fmt: skip
        quantizer.result = result
        with pytest.raises(ConfigError, match=sentence):
            net(pictures(2, seed=3))
