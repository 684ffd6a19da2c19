"""Scales and zero points are learned, or kept constant by an option."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

import tvmq  # noqa: E402
from tests.training.torch_networks import labels, pictures, pictures_model  # noqa: E402
from tvmq import training  # noqa: E402
from tvmq.numerics.spec import QParams, QuantSpec  # noqa: E402
from tvmq.training.check import first_difference  # noqa: E402
from tvmq.training.parameters import LearnedScale  # noqa: E402
from tvmq.training.straight_through import quantize_values  # noqa: E402


def prepared(**options: Any) -> Any:
    with tvmq.qconfig(nbit_input=4, calibrate_mode="percentile", percentile=97.0):
        return training.prepare(pictures_model(), pictures(1, seed=1), [pictures(64, seed=2)], **options)


@pytest.mark.slow
def test_zero_points_move_and_are_deployed() -> None:
    net, x = prepared(), pictures(32, seed=3)
    moving = {name: scale.zero_point for name, scale in net._scales.items() if scale.zero_shift is not None}
    assert {"x", "features_3"} <= set(moving)
    assert "features_2" not in moving  # behind relu 0.0 has the lowest code
    rest = [p for name, p in net.named_parameters() if "zero_shift" not in name]
    zeros = [p for name, p in net.named_parameters() if "zero_shift" in name]
    optimizer = torch.optim.Adam([{"params": rest, "lr": 1e-3}, {"params": zeros, "lr": 0.03}])
    for _ in range(6):
        loss = torch.nn.functional.cross_entropy(net(x), labels(32))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    moved = {name: net._scales[name].zero_point for name in moving}
    assert sum(moved[name] != moving[name] for name in moving) >= 2, (moving, moved)
    module = training.convert(net)
    assert first_difference(net, module, [x]) is None
    np.testing.assert_array_equal(tvmq.build(module).run({"x": x.numpy()})[0], net(x).detach().numpy())


def test_gradient_of_a_zero_point_is_that_of_what_saturates() -> None:
    """d(real) / d(zero point) = -scale where a code is at its end, else 0."""
    x = torch.tensor([-9.0, -1.0, 0.3, 2.0, 50.0])
    scale, offset = torch.tensor(0.5), torch.tensor(6.0, requires_grad=True)
    codes = quantize_values(x, scale, qmin=0, qmax=15, zero_point=6, offset=offset)
    assert codes.tolist() == [0, 4, 7, 10, 15]
    weights = torch.tensor([1.0, 10.0, 100.0, 1000.0, 10000.0])
    ((codes - 6) * scale * weights).sum().backward()
    assert offset.grad == -0.5 * (1 + 10000)


def test_zero_points_stay_among_the_codes() -> None:
    scale = LearnedScale(QParams(np.float32(0.1), np.int32(3), QuantSpec("uint8", 4)), learns_zero=True)
    seen = []
    for shift in (0.0, 0.2, -0.2, 5.0, -5.0):
        scale.zero_shift.data.fill_(shift)
        seen.append(scale.zero_point)
    assert seen == [3, 6, 0, 15, 0]


@pytest.mark.slow
def test_scales_stay_by_option() -> None:
    net = prepared(learn_scales=False)
    learned = [name for name, parameter in net.named_parameters() if parameter.requires_grad]
    assert learned and not [name for name in learned if name.startswith("quantizers")]
    start = {name: value.clone() for name, value in net.state_dict().items()}
    optimizer = torch.optim.AdamW((p for p in net.parameters() if p.requires_grad), lr=1e-2)
    torch.nn.functional.cross_entropy(net(pictures(8, seed=3)), labels(8)).backward()
    optimizer.step()
    changed = [name for name, value in net.state_dict().items() if not torch.equal(value, start[name])]
    assert sorted(changed) == sorted(learned)


@pytest.mark.slow
def test_a_step_of_sgd_moves_scales_by_small_shares() -> None:
    """The gradient of a logarithm is scaled so that one learning rate does for weights and scales."""
    net, x = prepared(), pictures(32, seed=3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    before = {name: p.detach().clone() for name, p in net.named_parameters()}
    for _ in range(5):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), labels(32)).backward()
        optimizer.step()
    ratios = torch.cat([p.detach().flatten() for name, p in net.named_parameters() if "log2_ratio" in name])
    weight = "features.3.weight"
    change = (net.get_parameter(weight) - before[weight]).norm() / before[weight].norm()
    assert 0.02 * change < ratios.abs().median() < ratios.abs().max() < 20 * change, (change, ratios)
