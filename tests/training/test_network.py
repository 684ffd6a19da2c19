"""The trained network computes the deployed integers: before, during and after training."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

import tvmq  # noqa: E402
from tvmq import training  # noqa: E402
from tvmq.demo import load_demo  # noqa: E402
from tvmq.training.check import first_difference  # noqa: E402
from tvmq.training.distill import Distill, finetune  # noqa: E402

STEPS, BATCH = 3, 32


@pytest.fixture(scope="module")
def pictures() -> np.ndarray:
    return load_demo().calibration


@pytest.fixture(scope="module")
def model() -> Any:
    return tvmq.from_onnx(onnx.load(io.BytesIO(load_demo().model)))


def prepared(model: Any, pictures: np.ndarray, **options: Any) -> Any:
    with tvmq.qconfig(**options):
        return training.prepare(*model, [pictures[:64]])


def train(net: Any, pictures: np.ndarray) -> None:
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    for step in range(STEPS):
        x = torch.from_numpy(pictures[step * BATCH : (step + 1) * BATCH])
        loss = torch.nn.functional.cross_entropy(net(x), torch.arange(BATCH) % 10)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    "options",
    [{}, {"nbit_weight": 4}, {"nbit_weight": 3, "nbit_input": 4}, {"requantize": "fixed_point"}],
    ids=lambda options: "-".join(map(str, options.values())) or "default",
)
def test_deployed_equals_trained(model: Any, pictures: np.ndarray, options: dict[str, Any]) -> None:
    net, x = prepared(model, pictures, **options), torch.from_numpy(pictures[100:140])
    assert first_difference(net, training.convert(net), [x]) is None
    before = net(x).detach()
    train(net, pictures)
    module = training.convert(net)
    assert first_difference(net, module, [x]) is None
    assert not torch.equal(net(x), before)
    for mode in (net.eval(), net.train()):
        compiled = tvmq.build(module).run({"image": x.numpy()})[0]
        np.testing.assert_array_equal(mode(x).detach().numpy(), compiled)


@pytest.mark.slow
def test_every_parameter_learns(model: Any, pictures: np.ndarray) -> None:
    net = prepared(model, pictures)
    train(net, pictures)
    still = [name for name, parameter in net.named_parameters() if not parameter.grad.abs().sum() > 0]
    # the scale of what the output is dequantized from, and of the pictures whose codes are clipped nowhere
    assert [name for name in still if not name.startswith("quantizers")] == []


@pytest.mark.slow
def test_start_is_what_quantize_gives(model: Any, pictures: np.ndarray) -> None:
    net, x = prepared(model, pictures), pictures[:20]
    quantized = tvmq.quantize(*model, [pictures[:64]], guard=None)
    expected = tvmq.reference.run(quantized, {"image": x})[0]
    np.testing.assert_array_equal(net(torch.from_numpy(x)).detach().numpy(), expected)


@pytest.mark.slow  # test_finetune.py has a network that learns in a blink
def test_distillation_brings_few_bits_nearer(model: Any, pictures: np.ndarray) -> None:
    net = prepared(model, pictures, nbit_weight=3)
    x = {"image": load_demo().test[:100]}
    wanted = tvmq.build(*model[:1], params=model[1]).run(x)[0]

    def error() -> float:
        return float(np.square(net(torch.from_numpy(x["image"])).detach().numpy() - wanted).mean())

    before = error()
    finetune(net, [pictures], Distill(steps=120))
    assert error() < 0.8 * before
    assert first_difference(net, training.convert(net), [torch.from_numpy(pictures[:16])]) is None
