"""Sums that a normalization or a softmax reads stay float; components without a convolution or product do, too."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.stages import partitioned
from tests.support.models.networks import Net, block, drive
from tvmq.graph.ledger import get_ledger

X = 'x: R.Tensor((1, 3, 4), "float32"), w: R.Tensor((4, 4), "float32"), g: R.Tensor((4,), "float32")'
ARRAYS = {"w": np.eye(4, dtype=np.float32), "g": np.ones(4, np.float32)}
PRODUCTS = "a = R.matmul(x, w)\nb = R.matmul(a, w)\n"
NORM = "R.nn.layer_norm({}, g, g, axes=[-1])"


def reasons(body: str) -> dict[str, str]:
    """{variable: "int8", or the reason for float}."""
    layers = get_ledger(partitioned(block(X, PRODUCTS + body, **ARRAYS))).layers
    return {name: "int8" if e["precision"] == "int8" else e["why"] for name, e in layers.items()}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"s = R.add(a, b)\ny = {NORM.format('s')}", "default: a layer norm reads this sum"),
        (f"s = R.add(a, b)\nn = {NORM.format('s')}\ny = R.add(s, n)", "default: a layer norm reads this sum"),
        ("s = R.add(a, b)\ny = R.tvmq.softmax(s)", "default: a softmax reads this sum"),
        (
            f"s = R.add(a, b)\nr = R.reshape(s, (3, 4))\nn = {NORM.format('r')}\ny = R.matmul(n, w)",
            "default: a layer norm reads this sum",
        ),
        (f"s = R.add(a, b)\nt = R.add(s, a)\ny = {NORM.format('t')}", "default: it is added to a sum that stays float"),
    ],
)
def test_sums_of_a_stream_stay_float(body: str, why: str) -> None:
    assert reasons(body)["s"].startswith(why)


@pytest.mark.parametrize("body", ["s = R.add(a, b)\ny = R.matmul(s, w)", "s = R.add(a, b)\ny = R.add(s, a)"])
def test_other_sums_become_integers(body: str) -> None:
    assert reasons(body)["s"] == "int8"


def test_operators_that_only_support_each_other_stay_float() -> None:
    """A reshape and a product that reads it would pay conversions for nothing: no convolution is near."""
    found = reasons(
        f"n = {NORM.format('b')}\nr = R.reshape(x, (1, 4, 3))\nt = R.permute_dims(r, [0, 2, 1])\ny = R.multiply(n, t)"
    )
    assert found["a"] == found["b"] == "int8"
    assert [found[name] for name in "rty"] == ["default: an operator between float operators stays float"] * 3


@pytest.mark.slow
def test_outliers_of_a_residual_stream_survive() -> None:
    """One channel is a thousand times larger than the others; the layer norm's small channels keep their signal."""
    n = Net((1, 5, 8))
    x = n.op("Mul", "x", n.constant(np.float32([1000, 1, 1, 1, 1, 1, 1, 1])))
    y = n.op("Add", x, n.op("MatMul", "x", n.constant(n.weight(8, 8))))
    normalized = n.op("LayerNormalization", y, n.constant(np.float32([0.001] + [1] * 7)), axis=-1)
    road = drive(n.model(n.op("MatMul", normalized, n.constant(n.weight(8, 4)))), least_snr=30)
    assert "tvmq.add" not in road.operators()
