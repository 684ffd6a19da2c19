"""exp, log and similar functions: near float64, and defined at the ends of their range."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tvmq.numerics.elementary import ELEMENTARY, TURN_END, cos, sin

POINTS = np.concatenate([
    np.linspace(-100, 100, 4001), np.linspace(-10, 10, 8001), np.linspace(-0.01, 0.01, 101), np.geomspace(1e-38, 3e38, 4001),
    [0.0, -0.0, 1e-45, 1e-40, 1e-30, 88.72, 88.73, 200, -86.9, -103.9, -150, 3e38, -3e38, np.inf, -np.inf, np.nan],
]).astype(np.float32)  # fmt: skip
_erf = np.vectorize(math.erf, otypes=[np.float64])
EXPECTED = {
    "exp": np.exp,
    "log": np.log,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "erf": _erf,
    "sin": np.sin,
    "cos": np.cos,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "square": lambda x: x * x,
    "nn.silu": lambda x: x / (1 + np.exp(-x)),
    "nn.gelu": lambda x: 0.5 * x * (1 + _erf(x * math.sqrt(0.5))),
    "nn.gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))),
}
# largest relative and absolute error; gelu of numbers far below zero is a difference of nearly equal numbers
BOUNDS = {
    "sin": (2e-7, 1.5e-7),
    "cos": (2e-7, 1.5e-7),
    "exp": (2.5e-7, 1e-44),
    "sigmoid": (4e-7, 1e-38),
    "nn.silu": (4e-7, 2e-36),
    "nn.gelu": (1e-6, 1.5e-6),
    "nn.gelu_tanh": (1e-6, 1.5e-6),
}


@pytest.mark.parametrize("name", ELEMENTARY)
def test_near_float64(name: str) -> None:
    with np.errstate(all="ignore"):
        y = ELEMENTARY[name](POINTS)
        expected = EXPECTED[name](POINTS.astype(np.float64))
        single = expected.astype(np.float32)
    assert y.dtype == np.float32
    whole = np.isfinite(single)
    np.testing.assert_array_equal(y[~whole], single[~whole])
    if name in ("sin", "cos"):  # beyond its end an angle has no direction: neighbours are half a radian apart
        whole &= np.abs(POINTS) <= TURN_END
    relative, absolute = BOUNDS.get(name, (5e-7, 1e-37))
    np.testing.assert_allclose(y[whole], expected[whole], rtol=relative, atol=absolute)


def test_angles() -> None:
    """Small angles to the last bits, quarters of turns, and angles of all sizes up to the end."""
    small = np.geomspace(1e-38, 0.7, 2000).astype(np.float32)
    np.testing.assert_allclose(sin(small), np.sin(small.astype(np.float64)), rtol=1.3e-7)
    assert cos(np.float32([0]))[0] == 1 and np.signbit(sin(np.float32([-0.0])))[0]
    random = np.random.default_rng(0)
    for limit in (10, 1e3, 1e5, float(TURN_END)):
        x = np.concatenate([random.uniform(-limit, limit, 20000), np.rint(random.uniform(-limit, limit, 5000))])
        x = np.concatenate([x, np.rint(x / np.pi * 2) * (np.pi / 2)]).astype(np.float32)
        x = x[np.abs(x) <= TURN_END]
        for function, real in ((sin, np.sin), (cos, np.cos)):
            np.testing.assert_allclose(function(x), real(x.astype(np.float64)), rtol=2e-7, atol=1.5e-7)
    np.testing.assert_array_equal(sin(np.float32([1e7, 3e38])), sin(TURN_END))


def test_order_of_exp() -> None:
    """The docstring of exp, one rounding at a time."""
    for x in np.float32([-103.5, -1.7, 0.3, 42.5, 88.5]):
        n = np.rint(x * np.float32(float.fromhex("0x1.715476p+0")))
        r = (x - n * np.float32(float.fromhex("0x1.63p-1"))) - n * np.float32(float.fromhex("-0x1.bd0106p-13"))
        coefficients = ("0x1.6a23cep-10", "0x1.123a2p-7", "0x1.5558f2p-5", "0x1.555492p-3", "0x1.fffffcp-2")
        q = np.float32(0)
        for text in coefficients:
            q = q * r + np.float32(float.fromhex(text))
        p = (q * r + np.float32(1)) * r + np.float32(1)
        half = int(n) >> 1
        expected = np.float32(np.float32(p * np.float32(2.0**half)) * np.float32(2.0 ** (int(n) - half)))
        assert ELEMENTARY["exp"](x[None])[0] == expected
