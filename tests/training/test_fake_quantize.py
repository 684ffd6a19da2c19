"""FakeQuantize: the definition forward, gradients, ranges of batches, and what from_torch makes of it."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402

import tvmq  # noqa: E402
from tests.tensors.strategies import qtensors  # noqa: E402
from tvmq.errors import CalibrationError, ConfigError  # noqa: E402
from tvmq.numerics.spec import QParams, QuantSpec, choose_qparams  # noqa: E402
from tvmq.training.fake_quantize import FakeQuantize  # noqa: E402

HALF = QParams(0.5, 3, QuantSpec())
FILTERS = QuantSpec("int8", symmetric=True, per_channel=True)
X = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)


@settings(deadline=None, max_examples=40)
@given(qtensors())
def test_forward_is_the_definition(q):
    if len(np.unique(q.zero_point)) > 1:
        return
    x = (q.dequantize() * np.float32(1.37) + np.float32(0.1)).astype(np.float32)
    expected = tvmq.quantize_tensor(x, q.qparams).dequantize()
    np.testing.assert_array_equal(FakeQuantize(q.qparams)(torch.from_numpy(x)).numpy(), expected)


def test_gradient_passes_where_nothing_saturates():
    x = torch.tensor([0.3, -2.0, 200.0, 1.2], requires_grad=True)
    FakeQuantize(HALF)(x).sum().backward()
    assert x.grad.tolist() == [1, 0, 0, 1]


def test_a_scale_that_learns():
    fake, x = FakeQuantize(HALF, learns=True), torch.tensor([0.3, 200.0])
    fake(x).sum().backward()
    assert fake.scale.grad.item() == pytest.approx((1 - 0.3 / 0.5) + 252)  # LSQ: rounded - x / scale, and the end
    with torch.no_grad():
        fake.scale.mul_(2)
    assert float(fake.qparams.scale) == 1.0 and fake(x).tolist() == [0.0, 200.0]


def test_ranges_of_batches():
    fake = FakeQuantize(QuantSpec("int8", symmetric=True), momentum=0.75)
    with pytest.raises(CalibrationError, match="no range is known; run batches in training mode, or give QParams"):
        fake.eval()(torch.zeros(2))
    fake.train()(torch.tensor([0.0, 4.0]))
    fake(torch.tensor([-4.0, 8.0]))
    assert fake.qparams == choose_qparams(-1.0, 5.0, fake.spec)
    fake.eval()(torch.tensor([100.0]))
    assert fake.qparams == choose_qparams(-1.0, 5.0, fake.spec)
    other = FakeQuantize(fake.spec)
    other.load_state_dict(fake.state_dict())
    assert other.qparams == fake.qparams and "int8, bits=8, symmetric=True" in repr(other)


class Net(torch.nn.Module):
    """A convolution with fake-quantizers put by hand."""

    def __init__(self, learns):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        weight = tvmq.quantize_tensor(self.conv.weight.detach().numpy(), "max", FILTERS, axis=0)
        self.input, self.weight = FakeQuantize(QuantSpec()), FakeQuantize(weight.qparams, learns=learns)
        self.output = FakeQuantize(QuantSpec())

    def forward(self, x):
        y = torch.nn.functional.conv2d(self.input(x), self.weight(self.conv.weight), self.conv.bias)
        return self.output(y.relu())


@pytest.mark.slow
@pytest.mark.parametrize("learns", [False, True])
def test_from_torch_takes_the_scales_over(learns):
    net, x = Net(learns), torch.from_numpy(np.random.default_rng(0).normal(size=(2, 3, 8, 8)).astype(np.float32))
    net(x)
    net.eval()
    qmod = tvmq.quantize(*tvmq.from_torch(net, (x,)))
    assert tvmq.explain(qmod).int8_share() == 1.0
    result = tvmq.build(qmod)(x.numpy())
    q = tvmq.quantize_tensor(x.numpy(), net.input.qparams)
    w = tvmq.quantize_tensor(net.conv.weight.detach().numpy(), net.weight.qparams)
    scale = net.output.qparams
    y = tvmq.functional.conv2d(q, w, net.conv.bias.detach().numpy(), scale=scale.scale, zero_point=scale.zero_point)
    np.testing.assert_array_equal(y.relu().dequantize(), result)


def test_what_does_not_fit():
    with pytest.raises(ConfigError, match="params must be QParams or a QuantSpec. Got 'int8' instead"):
        FakeQuantize("int8")
    with pytest.raises(ConfigError, match="channels must have one zero point; give a symmetric spec"):
        FakeQuantize(QParams([0.5, 0.5], [3, 4], QuantSpec(per_channel=True), 0))
    with pytest.raises(ConfigError, match="a scale that learns needs a start; give QParams, not a QuantSpec"):
        FakeQuantize(QuantSpec(), learns=True)
