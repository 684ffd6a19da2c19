"""Units of learning: a step changes the results of a layer about equally for each kind of parameter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

import tvmq  # noqa: E402
from tests.training.small_network import QUICKLY, samples, small_network  # noqa: E402
from tvmq import training  # noqa: E402
from tvmq.training.optimizer import StepAdam  # noqa: E402
from tvmq.training.units import units_of  # noqa: E402


@pytest.fixture(scope="module")
def net() -> Any:
    with tvmq.qconfig(**QUICKLY):
        return training.prepare(*tvmq.from_onnx(small_network()), [samples(24)])


@pytest.mark.slow
def test_units_of_weights_biases_and_scales(net: Any) -> None:
    units = dict(units_of(net))
    assert set(units) == {parameter for parameter in net.parameters() if parameter.requires_grad}
    for layer, read in net.layers_and_inputs():
        scale = layer.scale().detach()
        weight, bias = layer.folding.source_weight(), layer.folding.source_bias()
        deployed = layer.folding.to_deployed_axes(units[weight])
        assert torch.equal(deployed, layer.along(scale).expand_as(deployed))
        largest = max(read.spec.qmax - read.zero_point, read.zero_point - read.spec.qmin)
        np.testing.assert_allclose(units[bias].reshape(-1), scale * read().detach() * largest / 2, rtol=1e-6)
        assert units[layer.scale.log2_ratio] == pytest.approx(math.log2(1 + 1 / 3) / 3)  # 3 bits: -3 .. 3
        assert float(units[read.log2_ratio]) == pytest.approx(math.log2(1 + 1 / largest) / largest)


def test_a_step_is_a_unit(net: Any) -> None:
    start = net.kept_state()
    optimizer = StepAdam(net)
    for parameter, _ in optimizer.units:
        parameter.grad = torch.full_like(parameter, -3.0)
    before = [parameter.detach().clone() for parameter, _ in optimizer.units]
    optimizer.step(0.5)
    for (parameter, unit), old in zip(optimizer.units, before, strict=True):
        moved = (parameter.detach() - old) / unit
        np.testing.assert_allclose(moved, np.full(moved.shape, 0.5), rtol=2e-3)
    net.load_state_dict(start)
