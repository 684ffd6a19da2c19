"""Quantized tensors, layers by hand, three ways to quantize a torch model: the way of a text on quantization in torch.

    python examples/founding/torch_tensors.py

It needs torch: pip install "tvmq[torch]".
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.ao.quantization import DeQuantStub, QuantStub

import tvmq
import tvmq.functional as F
from tvmq import QParams, QTensor, QuantSpec, quantize_tensor
from tvmq.errors import UnsupportedOpError

RANDOM = np.random.default_rng(0)
FILTERS = QuantSpec("int8", symmetric=True, per_channel=True)


def hold_tensors() -> None:
    """Per tensor and per channel: print, read the codes, move, order, compare, save."""
    x = RANDOM.normal(size=(100, 100)).astype(np.float32)
    q = quantize_tensor(x, QParams(0.04, 127, QuantSpec("uint8")))
    print(q[0, :4])
    print("codes:", q[0, :4].int_repr(), "float32", x.nbytes, "bytes, codes", q.nbytes)
    assert np.abs(q.dequantize() - x).max() <= 0.02 + 1e-6
    w = quantize_tensor(x, "max", FILTERS, axis=0)
    assert w.scale.shape == (100,) and w.T.axis == 1 and w.reshape(100, 10, 10).axis == 0
    assert np.array_equal(np.sort(q, 1).codes, np.sort(q.codes, 1)) and float(q.max()) == q.dequantize().max()
    assert int(q.argmin()) == int(q.codes.argmin()) and np.array_equal(np.asarray(q > 0), q.dequantize() > 0)
    try:
        print(q + q)
    except UnsupportedOpError as error:
        print("q + q:", error)
    with tempfile.TemporaryDirectory() as folder:
        w.save(Path(folder) / "w.npz")
        assert np.array_equal(QTensor.load(Path(folder) / "w.npz").codes, w.codes)


def choose_scales() -> None:
    """The observers of the text, and how far each is off."""
    x = np.append(RANDOM.normal(size=9999), 12.0).astype(np.float32)
    for name in ("minmax", "percentile", "histogram", "kl_divergence"):
        q = quantize_tensor(x, name)
        print(f"{name:14} scale {float(q.scale):.5f}  mean squared error {np.square(q.dequantize() - x).mean():.2e}")


def run_layers() -> None:
    """A small network out of functionals, by the definition and compiled."""
    x = quantize_tensor(RANDOM.normal(size=(2, 3, 16, 16)), "minmax")
    w = quantize_tensor(RANDOM.normal(size=(8, 3, 3, 3)), "max", FILTERS, axis=0)
    head = quantize_tensor(RANDOM.normal(size=(10, 8 * 8 * 8)), "max", FILTERS, axis=0)
    bias = RANDOM.normal(size=8).astype(np.float32)

    def network(**options: Any) -> QTensor:
        y = F.relu(F.conv2d(x, w, bias, padding=1, scale=0.12, zero_point=128, **options))
        y = F.max_pool(F.add(y, y, scale=0.24, zero_point=128, **options), 2, **options)
        return F.linear(y.reshape(2, -1), head, scale=8.0, zero_point=128, **options)

    by_definition, compiled = network(), network(target="llvm")
    print("functionals:", int((by_definition.codes != compiled.codes).sum()), "of", compiled.size, "codes differ")
    assert np.array_equal(by_definition.codes, compiled.codes)


def run_modules() -> None:
    """A quantized module of a float one, with its batch norm and relu folded: what the functional gives."""
    from tvmq import training

    torch.manual_seed(0)
    conv = nn.Conv2d(3, 8, 3, padding=1)
    layer = training.nn.Conv2d.from_float(
        nn.Sequential(conv, nn.BatchNorm2d(8), nn.ReLU()).eval(), scale=0.05, zero_point=0
    )
    x = quantize_tensor(RANDOM.normal(size=(2, 3, 9, 9)), "minmax")
    plain = training.nn.Conv2d.from_float(conv, scale=0.05, zero_point=100)
    w = quantize_tensor(conv.weight.detach().numpy(), "max", FILTERS, axis=0)
    expected = F.conv2d(x, w, conv.bias.detach().numpy(), padding=1, scale=0.05, zero_point=100)
    print("modules:", int((plain(x).codes != expected.codes).sum()), "of", expected.size, "codes differ;", layer)
    assert np.array_equal(plain(x).codes, expected.codes) and layer(x).shape == (2, 8, 9, 9)
    fake = training.FakeQuantize(w.qparams, learns=True)  # anywhere in a model of one's own, with gradients
    nn.functional.conv2d(torch.from_numpy(x.dequantize()), fake(conv.weight)).square().sum().backward()
    assert fake.scale.grad.abs().min() > 0 and conv.weight.grad.abs().max() > 0


class Net(nn.Module):
    """Convolutions with batch norm, a residual, a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())
        self.body = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())
        self.head = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores of four classes."""
        x = self.stem(x)
        return self.head((x + self.body(x)).mean((2, 3)))


def check_exact(qmod: Any, data: Sequence[Any], what: str) -> None:
    """Build, and compare with the definition."""
    verification = tvmq.verify(tvmq.build(qmod), data[:2])
    share = tvmq.explain(qmod).int8_share()
    print(f"{what}: {share:.0%} of the multiply-accumulates in int8, exact: {'yes' if verification.exact else 'no'}")
    assert verification.exact and share > 0.5


def quantize_models() -> None:
    """Dynamic for an LSTM, static and mixed for a convolutional network."""
    torch.manual_seed(0)
    texts = torch.randn(2, 7, 12)
    lstm = nn.LSTM(12, 24, batch_first=True).eval()
    mod, params = tvmq.from_torch(lstm, (texts,))
    with tvmq.qconfig(activations="dynamic"):
        check_exact(tvmq.quantize(mod, params), [texts], "dynamic")
    model, data = Net().eval(), [torch.randn(4, 1, 12, 12) for _ in range(8)]
    mod, params = tvmq.from_torch(model, (data[0],))
    check_exact(tvmq.quantize(mod, params, data), data, "static")
    with tvmq.qconfig(rules=[tvmq.Rule("head", activations="dynamic"), tvmq.Rule("stem.*", observer="histogram")]):
        check_exact(tvmq.quantize(mod, params, data), data, "mixed")


class Bordered(nn.Module):
    """Codes begin and end where stubs stand."""

    def __init__(self) -> None:
        super().__init__()
        self.quant, self.body, self.dequant, self.out = QuantStub(), Net(), DeQuantStub(), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores, and a layer behind the codes."""
        return self.out(self.dequant(self.body(self.quant(x))))


def place_borders() -> None:
    """Layers outside of the stubs stay float."""
    torch.manual_seed(0)
    model, data = Bordered().eval(), [torch.randn(4, 1, 12, 12) for _ in range(4)]
    qmod = tvmq.quantize(*tvmq.from_torch(model, (data[0],)), data, guard=None)
    kinds = [layer["precision"] for layer in tvmq.explain(qmod).ledger.layers.values()]
    print("borders:", kinds.count("int8"), "layers in int8 inside,", kinds.count("float"), "in float outside")
    assert kinds.count("int8") >= 4 and kinds[-1] == "float" and tvmq.verify(tvmq.build(qmod), data[:1]).exact


def train() -> None:
    """A few steps on the deployed integers with weights of 4 bits; the executable gives what the last one gave."""
    from tvmq import training

    torch.manual_seed(0)
    data = [torch.randn(8, 1, 12, 12) for _ in range(4)]
    with tvmq.qconfig(nbit_weight=4):
        net = training.prepare(Net().eval(), (data[0],), data)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-2)
    for _ in range(3):
        for x in data:
            loss = nn.functional.cross_entropy(net(x), (x.mean((1, 2, 3)) > 0).long())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    net.eval()
    trained, built = net(data[0]).detach().numpy(), tvmq.build(training.convert(net))(data[0].numpy())
    print("training:", int((trained != built).sum()), "of", built.size, f"scores differ, loss {loss.item():.2f}")
    assert np.array_equal(trained, built)


def main() -> None:
    """The steps of the text, in its order."""
    hold_tensors()
    choose_scales()
    run_layers()
    run_modules()
    quantize_models()
    place_borders()
    train()


if __name__ == "__main__":
    main()
