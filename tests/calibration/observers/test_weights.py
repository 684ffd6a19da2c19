"""The observers of weights: all channels at once, in any layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmq.calibration.observers import WEIGHT_OBSERVERS, make_observer, make_weight_observer
from tvmq.errors import ConfigError, DataError, RangeError
from tvmq.numerics.affine import dequantize, quantize
from tvmq.numerics.spec import QuantSpec, choose_qparams
from tvmq.options.config import qconfig

SYMMETRIC = QuantSpec("int8", symmetric=True, per_channel=True)
SPECS = [
    SYMMETRIC,
    QuantSpec("int8", symmetric=True),
    QuantSpec("int8", bits=4, symmetric=True, per_channel=True),
    QuantSpec("int8", bits=2, symmetric=True, per_channel=True),
    QuantSpec("uint8", per_channel=True),
]


def squared_error(weights: np.ndarray, low: np.ndarray, high: np.ndarray, spec: QuantSpec, axis: int) -> np.ndarray:
    """Per channel, by the definition of quantize and dequantize."""
    qparams = choose_qparams(low, high, spec, axis if spec.per_channel else None)
    options = {"axis": qparams.axis, "dtype": spec.dtype, "qmin": spec.qmin, "qmax": spec.qmax}
    codes = quantize(weights, qparams.scale, qparams.zero_point, **options)
    again = dequantize(codes, qparams.scale, qparams.zero_point, axis=qparams.axis)
    others = tuple(i for i in range(weights.ndim) if i != axis % weights.ndim)
    return ((weights.astype(np.float64) - again) ** 2).sum(axis=others)


@pytest.mark.parametrize("name", WEIGHT_OBSERVERS)
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_contract_of_every_weight_observer(name: str, spec: QuantSpec) -> None:
    rng = np.random.default_rng(0)
    sizes = 10.0 ** rng.integers(-20, 20, (5, 1, 1, 1))
    weights = (rng.standard_normal((5, 4, 3, 3)) * sizes).astype(np.float32)
    weights[2] = 0
    observer = make_weight_observer(name)
    low, high = observer.thresholds(weights, spec, axis=0)
    assert low.shape == high.shape == ((5,) if spec.per_channel else ())
    assert low.dtype == high.dtype == np.float64
    assert (low <= 0).all() and (high >= 0).all() and (not spec.symmetric or (low == -high).all())
    choose_qparams(low, high, spec, 0 if spec.per_channel else None)
    for axis in (1, -1):  # the same channels elsewhere
        moved = observer.thresholds(np.moveaxis(weights, 0, axis), spec, axis=axis)
        np.testing.assert_allclose(moved[1], high, rtol=0.05)
    per_tensor = observer.thresholds(weights, spec)
    assert per_tensor[0].shape == ()
    if spec.per_channel and name not in ("mse", "lanes"):  # each channel alone gives the same
        for channel in range(5):
            alone = observer.thresholds(weights[channel], spec)
            assert (alone[0], alone[1]) == (low[channel], high[channel])


@pytest.mark.parametrize("name", WEIGHT_OBSERVERS)
def test_bad_and_empty_weights(name: str) -> None:
    observer = make_weight_observer(name)
    with pytest.raises(RangeError, match=r"'conv1\.weight'.*NaN or infinite"):
        observer.thresholds(np.float32([[1, np.nan]]), SYMMETRIC, 0, "conv1.weight")
    with pytest.raises(DataError, match=r"'conv1\.weight': channel axis 2 does not fit shape \(3, 4\)"):
        observer.thresholds(np.zeros((3, 4)), SYMMETRIC, 2, "conv1.weight")
    for shape in [(3, 0), (0, 3), (3, 1)]:
        low, high = observer.thresholds(np.zeros(shape, np.float32), SYMMETRIC, axis=0)
        assert low.shape == high.shape == shape[:1]
        choose_qparams(low, high, SYMMETRIC, axis=0)


def test_max_by_hand() -> None:
    weights = np.float32([[1, -3], [2, 0.5], [0, 0]])
    low, high = make_weight_observer("max").thresholds(weights, SYMMETRIC, axis=0)
    assert high.tolist() == [3.0, 2.0, 0.0] and low.tolist() == [-3.0, -2.0, 0.0]
    low, high = make_weight_observer("max").thresholds(weights, QuantSpec("uint8", per_channel=True), axis=1)
    assert low.tolist() == [0.0, -3.0] and high.tolist() == [2.0, 0.5]


@pytest.mark.parametrize(
    ("largest", "threshold"),
    [(0.9, 1), (1, 1), (1.01, 2), (0.3, 0.5), (0, 1), (2**29, 2**29), (2**-140, 2**-140)],
)
def test_power2_rounds_up_and_makes_scales_powers_of_two(largest: float, threshold: float) -> None:
    weights = np.float32([[0, -largest]])
    symmetric = QuantSpec("int8", symmetric=True)
    for spec in (symmetric, QuantSpec("int8"), QuantSpec("int8", bits=4, symmetric=True)):
        low, high = make_weight_observer("power2").thresholds(weights, spec)
        steps = 2.0 ** (spec.bits - 1)
        assert high == threshold * (steps - 1) / steps
        assert low == (-high if spec.symmetric else -threshold)
        scale = float(choose_qparams(low, high, spec).scale)
        assert scale == max(threshold / steps, 2.0**-126)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 200]), st.sampled_from(SPECS))
def test_mse_is_never_worse_than_max(seed: int, size: int, spec: QuantSpec) -> None:
    weights = np.random.default_rng(seed).standard_t(3, (4, size)).astype(np.float32)
    errors = {}
    for name in ("mse", "max"):
        low, high = make_weight_observer(name).thresholds(weights, spec, axis=0)
        errors[name] = squared_error(weights, low, high, spec, 0)
    if not spec.per_channel:
        errors = {name: error.sum() for name, error in errors.items()}
    assert np.all(errors["mse"] <= errors["max"] * (1 + 1e-9))


@pytest.mark.slow
def test_mse_finds_the_best_of_a_fine_search() -> None:
    weights = np.random.default_rng(0).standard_normal((6, 500)).astype(np.float32)
    for bits in (2, 4, 8):
        spec = QuantSpec("int8", bits=bits, symmetric=True, per_channel=True)
        _, whole = make_weight_observer("max").thresholds(weights, spec, axis=0)
        low, high = make_weight_observer("mse").thresholds(weights, spec, axis=0)
        fine = [squared_error(weights, -whole * f, whole * f, spec, 0) for f in np.linspace(0.1, 1, 400)]
        assert np.all(squared_error(weights, low, high, spec, 0) <= 1.05 * np.min(fine, axis=0))
        assert np.all(high <= whole) and (bits != 2 or np.all(high < 0.6 * whole))


def test_mse_keeps_tiny_weights_apart() -> None:
    rows = np.random.default_rng(0).standard_normal((1, 300)).astype(np.float32)
    spec = QuantSpec("int8", bits=4, symmetric=True, per_channel=True)
    both = np.concatenate([rows, rows * np.float32(2.0**-90)])
    _, high = make_weight_observer("mse").thresholds(both, spec, axis=0)
    assert high[1] == high[0] * 2.0**-90  # float32 squares would underflow to 0


def test_options_are_checked() -> None:
    for options in ({"steps": 0}, {"least": 0.0}, {"least": 1.0}):
        with pytest.raises(ConfigError, match="mse: steps must be at least 1"):
            make_weight_observer("mse", **options)
    with pytest.raises(ConfigError, match="'weight_scale' must be one of max, power2, mse, lanes. Got 'pow2'"):
        make_weight_observer("pow2")


class Halved:
    """Half of the range, as `weight_scale="module:object"` names it."""

    def thresholds(self, weights, spec, axis=None, name=""):
        low, high = make_weight_observer("max").thresholds(weights, spec, axis, name)
        return low / 2, high / 2


class OfActivations:
    """The signature that observers of activations have."""

    def thresholds(self, statistics, spec):
        return 0.0, 1.0


def test_an_observer_of_ones_own_is_named_for_the_whole_network() -> None:
    config = qconfig(weight_scale=f"{__name__}:Halved")
    weights = np.float32([[1, -2], [3, 4]])
    spec = QuantSpec("int8", symmetric=True)
    low, high = make_weight_observer(config.weight_scale).thresholds(weights, spec)
    assert (low, high) == (-2.0, 2.0)
    with pytest.raises(ConfigError, match='or the "module:object" of an observer'):
        qconfig(weight_scale="halved")


@pytest.mark.parametrize(("make", "name", "words"), [
    (make_weight_observer, "OfActivations", r"has thresholds\(statistics, spec\); it is called as thresholds\(weights, spec, axis, name\)"),
    (make_weight_observer, "ConfigError", r"has no method thresholds\(weights, spec, axis, name\); see docs/extending.md"),
    (make_observer, "Three", r"has thresholds\(a, b, c\); it is called as thresholds\(statistics, spec\)"),
])  # fmt: skip
def test_a_wrong_signature_is_one_sentence(make: Any, name: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        make(f"{__name__}:{name}")


class Three:
    """A method of three arguments."""

    def thresholds(self, a, b, c):
        return a, b
