"""Batch norms with changing statistics: the forward pass stays deployable, gradients equal those of torch."""

from __future__ import annotations

import copy
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

import tvmq  # noqa: E402
from tests.training.torch_networks import Pictures, labels, pictures, pictures_model  # noqa: E402
from tvmq import training  # noqa: E402
from tvmq.errors import ConfigError  # noqa: E402
from tvmq.training.batch_norm import _Normalization  # noqa: E402
from tvmq.training.check import first_difference  # noqa: E402

STATISTICS = ("features.1.running_mean", "features.1.running_var", "features.4.running_mean", "features.4.running_var")


@pytest.fixture(scope="module")
def model() -> Any:
    return pictures_model()


@pytest.fixture
def net(model: Any) -> Any:
    return training.prepare(model, pictures(1, seed=1), [pictures(64, seed=2)], batch_norm="live")


def reference(net: Any, x: Any) -> Any:
    """Results of the module that `convert` makes now."""
    return torch.from_numpy(tvmq.reference.run(training.convert(net), {"x": x.numpy()})[0])


@pytest.mark.slow
def test_each_step_is_deployable(net: Any) -> None:
    x, y = pictures(32, seed=3) * 1.5, labels(32)
    before = {name: net.state_dict()[name].clone() for name in STATISTICS}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for step in range(4):
        scores = net.train()(x)
        if step in (0, 3):
            assert torch.equal(scores, reference(net, x)), step
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(scores, y).backward()
        optimizer.step()
    assert all(not torch.equal(net.state_dict()[name], before[name]) for name in STATISTICS)
    assert first_difference(net.eval(), training.convert(net), [x]) is None
    net.freeze_batch_norm().train()
    frozen = {name: net.state_dict()[name].clone() for name in STATISTICS}
    scores = net(x)
    assert torch.equal(scores, reference(net, x))
    torch.nn.functional.cross_entropy(scores, y).backward()
    assert all(torch.equal(net.state_dict()[name], frozen[name]) for name in STATISTICS)
    assert net.get_parameter("features.1.weight").grad.abs().sum() > 0


@pytest.mark.slow  # 140 passes
def test_statistics_follow_as_in_torch(model: Any, net: Any) -> None:
    """Statistics are those of the codes, so they agree within the rounding of 8 bits."""
    floats, x = copy.deepcopy(model).train(), pictures(48, seed=4) * 1.4 + 0.2
    with torch.no_grad():
        for _ in range(70):  # theirs are ahead of ours, which normalize by running ones
            floats(x)
            net.train()(x)
    wanted = floats.state_dict()
    for name in STATISTICS:
        unit = wanted[name.replace("mean", "var")].sqrt() if "mean" in name else wanted[name]
        assert ((net.state_dict()[name] - wanted[name]) / unit).abs().max() < 0.03, name
    first = model.state_dict()[STATISTICS[1]]
    assert ((first - wanted[STATISTICS[1]]) / first).abs().min() > 0.5
    state = net.float_state_dict()
    assert torch.equal(state["features.1.running_mean"], net.state_dict()["features.1.running_mean"])
    floats.load_state_dict(state)
    scores = floats.eval()(x)
    assert (scores - net.eval()(x)).square().sum() < 0.01 * scores.square().sum()


def test_gradient_is_that_of_a_normalization_by_the_batch() -> None:
    x = torch.randn(6, 3, 4, dtype=torch.float64, requires_grad=True)
    grad = torch.randn(6, 3, 4, dtype=torch.float64)
    normalized = torch.nn.functional.batch_norm(x, None, None, training=True, eps=1e-12)
    (wanted,) = torch.autograd.grad(normalized, x, grad)
    spread = x.detach().std((0, 2), correction=0, keepdim=True)
    (ours,) = torch.autograd.grad(_Normalization.apply(x, 1), x, grad / spread)
    torch.testing.assert_close(ours, wanted)


@pytest.mark.slow
def test_gamma_learns_as_in_torch(model: Any, net: Any) -> None:
    """The gradient of the last batch norm's gamma and beta beside that of the float model."""
    floats, x, y = copy.deepcopy(model).train(), pictures(64, seed=2), labels(64)
    torch.nn.functional.cross_entropy(floats(x), y).backward()
    torch.nn.functional.cross_entropy(net.train()(x), y).backward()
    for name in ("features.4.weight", "features.4.bias"):
        wanted, ours = floats.get_parameter(name).grad, net.get_parameter(name).grad
        assert torch.nn.functional.cosine_similarity(wanted, ours, dim=0) > 0.9, (name, wanted, ours)


@pytest.mark.slow
def test_what_live_statistics_ask_for(model: Any) -> None:
    data = [pictures(16, seed=2)]
    with tvmq.qconfig(per_channel=False), pytest.raises(ConfigError, match="needs a scale for each output channel"):
        training.prepare(model, pictures(1), data, batch_norm="live")
    torch.manual_seed(0)
    with tvmq.qconfig(bias_correction=False), pytest.raises(ConfigError, match=r"layer 'features.0': the batch norm behind it adds nothing yet"):
        training.prepare(Pictures().eval(), pictures(1), data, batch_norm="live")


@pytest.mark.slow
def test_powers_of_two_go_with_frozen_statistics(model: Any) -> None:
    with (
        tvmq.qconfig(requantize="power_of_two", weight_scale="power2"),
        pytest.raises(ConfigError, match="its scales are to be powers of two; use batch_norm='frozen'"),
    ):
        training.prepare(model, pictures(1, seed=1), [pictures(64, seed=2)], batch_norm="live")
