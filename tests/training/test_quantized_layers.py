"""Quantized torch modules: what the functional of the same weight gives, folding, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import tvmq  # noqa: E402
import tvmq.functional as F  # noqa: E402
from tvmq.errors import ConfigError  # noqa: E402
from tvmq.numerics.spec import QuantSpec  # noqa: E402
from tvmq.training import nn  # noqa: E402

FILTERS = QuantSpec("int8", symmetric=True, per_channel=True)
TO = {"scale": 0.04, "zero_point": 120}


def quantized(*shape):
    return tvmq.quantize_tensor(np.random.default_rng(0).normal(size=shape), "minmax")


@pytest.mark.parametrize(("kind", "functional", "shape", "options"), [
    (nn.Conv1d, F.conv1d, (2, 4, 9), {"stride": 2, "padding": 1}),
    (nn.Conv2d, F.conv2d, (1, 4, 7, 7), {"padding": (1, 0), "dilation": 2, "groups": 2}),
    (nn.Conv3d, F.conv3d, (1, 4, 3, 4, 3), {}),
])  # fmt: skip
def test_convolutions(kind, functional, shape, options):
    module = kind.FLOAT(4, 6, 3 if shape[-1] > 3 else 2, **options)
    q = quantized(*shape)
    nn_result = kind.from_float(module, **TO)(q)
    w = tvmq.quantize_tensor(module.weight.detach().numpy(), "max", FILTERS, axis=0)
    expected = functional(q, w, module.bias.detach().numpy(), **options, **TO)
    assert nn_result.qparams == expected.qparams
    np.testing.assert_array_equal(nn_result.codes, expected.codes)


def test_linear_in_a_model():
    """Modules stand in a Sequential, and are near the float ones."""
    layers = torch.nn.Linear(12, 8, bias=False), torch.nn.Sequential(torch.nn.Linear(8, 5), torch.nn.ReLU())
    q = quantized(3, 12)
    model = torch.nn.Sequential(*(nn.Linear.from_float(layer, scale=0.03, zero_point=128) for layer in layers))
    result = np.asarray(model(q))
    exact = torch.nn.Sequential(*layers)(torch.from_numpy(q.dequantize())).detach().numpy()
    assert np.abs(result - exact).max() < 0.06 and result.min() >= 0
    assert "weight (8, 12) int8, scale=0.03, zero_point=128, relu=False" in repr(model)


def test_batch_norm_is_folded():
    conv, norm = torch.nn.Conv2d(3, 4, 1), torch.nn.BatchNorm2d(4)
    norm.running_mean.add_(1)
    norm.running_var.mul_(4)
    layer = torch.nn.Sequential(conv, norm, torch.nn.ReLU()).eval()
    q = quantized(1, 3, 5, 5)
    result = nn.Conv2d.from_float(layer, scale=0.02, zero_point=0, observer="mse")(q)
    exact = layer(torch.from_numpy(q.dequantize())).detach().numpy()
    assert np.abs(np.asarray(result) - exact).max() < 0.03
    nn.Conv2d.from_float(layer.train(), scale=0.02, zero_point=0)
    assert conv.training and norm.training and layer[0] is conv  # the float modules stay as they are


@pytest.mark.parametrize(("module", "message"), [
    (torch.nn.Linear(2, 2), r"QuantizedConv2d.from_float: takes a torch.nn.Conv2d. Got Linear instead"),
    (torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.Tanh()), "may stand a batch norm and a relu. Got Tanh"),
    (torch.nn.Conv2d(1, 1, 1, padding="same"), "padding must be numbers, of zeros. Got 'same', 'zeros' instead"),
    (torch.nn.Conv2d(1, 1, 3, padding=1, padding_mode="reflect"), r"Got \(1, 1\), 'reflect' instead"),
])  # fmt: skip
def test_what_is_refused(module, message):
    with pytest.raises(ConfigError, match=message):
        nn.Conv2d.from_float(module, **TO)
