"""tvmq.training.own_rounding: FakeQuantize by the user's own code, straight through or by a gradient of the user's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tvmq.errors import ConfigError
from tvmq.extension import simulate_by
from tvmq.numerics.spec import QParams, QuantSpec

torch = pytest.importorskip("torch")
QPARAMS = QParams(0.5, 3, QuantSpec())  # -1.5 .. 126


def truncate(x: Any, scale: Any, low: Any, high: Any, attributes: dict[str, Any]) -> Any:
    """Towards zero instead of to the nearest."""
    assert (attributes["kind"], attributes["dtype"], attributes["axis"]) == ("input", "uint8", -1)
    return np.clip(np.trunc(x / scale), low, high) * scale


def loops(*_operands: Any) -> Any:
    raise AssertionError("a definition is there")


@pytest.fixture(autouse=True)
def usual_afterwards() -> Iterator[None]:
    yield
    simulate_by(None)


def rounded(**options: Any) -> tuple[list[float], list[float], Any]:
    """Results, gradients of x, and the module."""
    from tvmq.training.fake_quantize import FakeQuantize

    fake = FakeQuantize(QPARAMS, **options)
    x = torch.tensor([0.8, -0.8, -2.0, 200.0], requires_grad=True)
    y = fake(x)
    y.sum().backward()
    return y.tolist(), x.grad.tolist(), fake


def test_straight_through_without_a_gradient() -> None:
    assert rounded()[0] == [1.0, -1.0, -1.5, 126.0]
    simulate_by(loops, truncate)
    y, slopes, fake = rounded(learns=True)
    assert (y, slopes) == ([0.5, -0.5, -1.5, 126.0], [1.0, 1.0, 0.0, 0.0])
    assert float(fake.scale.grad) != 0.0


def test_a_gradient_of_the_users() -> None:
    simulate_by(loops, truncate, lambda x, scale, low, high, attributes: np.where(x > 0, 0.25, 2.0))
    assert rounded()[:2] == ([0.5, -0.5, -1.5, 126.0], [0.25, 2.0, 2.0, 0.25])
    simulate_by(loops, truncate, lambda x, scale, low, high, attributes: 0.5)
    assert rounded()[1] == [0.5] * 4


def test_by_relays_name() -> None:
    from tvmq.relay.op import get, register_compute

    name = "relay.op.annotation.simulated_quantize"
    register_compute(
        name, loops, definition=lambda attrs, arrays: truncate(*arrays, {"kind": "input", "dtype": "uint8", "axis": -1}),
        gradient=lambda attrs, arrays: np.full(arrays[0].shape, float(attrs.bits)),
    )  # fmt: skip
    assert rounded()[:2] == ([0.5, -0.5, -1.5, 126.0], [8.0] * 4)
    get(name).reset_attr("FTVMCompute")
    assert rounded()[0] == [1.0, -1.0, -1.5, 126.0]


def test_gradients_of_another_shape_are_refused() -> None:
    simulate_by(loops, truncate, lambda x, scale, low, high, attributes: np.zeros(3))
    with pytest.raises(ConfigError, match=r"simulate_by: gradient must give a slope for each value, shape \(4,\). Got \(3,\)"):
        rounded()
    with pytest.raises(ConfigError, match="simulate_by: gradient must be a function. Got a int instead"):
        simulate_by(loops, truncate, 3)
