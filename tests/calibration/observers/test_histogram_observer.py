"""The histogram observer and the error it minimises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmq.calibration.observers import make_observer
from tvmq.calibration.observers.base import TensorStatistics
from tvmq.calibration.observers.histogram import expected_error
from tvmq.calibration.observers.histogram_statistics import Histogram
from tvmq.errors import ConfigError
from tvmq.numerics.affine import dequantize, quantize
from tvmq.numerics.spec import QParams, QuantSpec, choose_qparams

SPECS = [
    QuantSpec("uint8"),
    QuantSpec("int8", symmetric=True),
    QuantSpec("uint8", bits=3),
    QuantSpec("int8", bits=2, symmetric=True),
    QuantSpec("int16", bits=12),
]


def draws(kind: str, seed: int = 0, size: int = 40000) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(size)
    made = {
        "normal": x,
        "relu": np.maximum(x, 0),
        "silu": 2 * x / (1 + np.exp(-2 * x)),
        "relu6": np.clip(5 * x, 0, 6),
        "outlier": np.concatenate([x, [300.0]]),
        "lognormal": np.exp(1.5 * x),
        "negative": -np.abs(x) - 1,
        "constant": np.full(size, 3.3),
        "zero": np.zeros(size),
        "one": np.array([-0.7]),
        "tiny": x * 1e-41,
        "huge": np.clip(x * 1e38, -3e38, 3e38),
    }[kind]
    return made.astype(np.float32)


SHAPES = ["normal", "relu", "silu", "relu6", "outlier", "lognormal", "negative"]
KINDS = [*SHAPES, "constant", "zero", "one", "tiny", "huge"]


def statistics_of(x: np.ndarray) -> TensorStatistics:
    statistics = TensorStatistics("t")
    statistics.update(x)
    return statistics


def real_error(x: np.ndarray, qparams: QParams) -> float:
    spec = qparams.spec
    codes = quantize(x, qparams.scale, qparams.zero_point, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax)
    again = dequantize(codes, qparams.scale, qparams.zero_point)
    return float(np.mean((x.astype(np.float64) - again) ** 2))


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize("kind", ["normal", "relu", "silu", "relu6", "lognormal", "negative"])
def test_expected_error_is_near_the_real_one(kind: str, spec: QuantSpec) -> None:
    x = draws(kind)
    histogram = statistics_of(x).histogram
    for share in (1.0, 0.6):
        qparams = choose_qparams(share * min(float(x.min()), 0), share * max(float(x.max()), 0), spec)
        assert expected_error(histogram, qparams) == pytest.approx(real_error(x, qparams), rel=0.03)


def test_expected_error_of_bins_wider_than_steps() -> None:
    histogram = statistics_of(draws("normal", size=200000)).histogram
    qparams = choose_qparams(-5.0, 5.0, QuantSpec("int16", bits=16))
    assert expected_error(histogram, qparams) == pytest.approx(float(qparams.scale) ** 2 / 12, rel=1e-6)


def test_expected_error_by_hand() -> None:
    histogram = Histogram()
    histogram.update(np.float32([0, 0, 0, 100]))
    qparams = QParams(1.0, 0, QuantSpec("uint8", bits=6))  # codes 0..63
    assert expected_error(histogram, qparams) == pytest.approx(37.0**2 / 4)
    assert expected_error(Histogram(), qparams) == 0.0


def test_weights_say_which_errors_matter() -> None:
    histogram = statistics_of(draws("normal")).histogram
    qparams = choose_qparams(-2.0, 2.0, QuantSpec("uint8"))
    ones = np.ones(len(histogram.counts))
    assert expected_error(histogram, qparams, ones) == expected_error(histogram, qparams)
    inside = (np.abs(histogram.edges[:-1]) < 1.9).astype(np.float64)
    assert expected_error(histogram, qparams, inside) < expected_error(histogram, qparams) / 10
    for bad in (ones[1:], -ones, ones * np.nan):
        with pytest.raises(ConfigError, match="weights must be finite, not negative and of shape"):
            expected_error(histogram, qparams, bad)


def test_expected_error_takes_no_channels() -> None:
    qparams = QParams([1.0, 2.0], 0, QuantSpec("int8", per_channel=True), axis=0)
    with pytest.raises(ConfigError, match="one scale"):
        expected_error(Histogram(), qparams)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 99), st.integers(1, 3000), st.sampled_from(SPECS))
def test_never_worse_than_minmax(kind: str, seed: int, size: int, spec: QuantSpec) -> None:
    statistics = statistics_of(draws(kind, seed, size))
    errors = {}
    for name in ("histogram", "minmax"):
        low, high = make_observer(name).thresholds(statistics, spec)
        assert low <= 0 <= high and (not spec.symmetric or low == -high)
        errors[name] = expected_error(statistics.histogram, choose_qparams(low, high, spec))
    assert errors["histogram"] <= errors["minmax"]


@pytest.mark.parametrize("spec", SPECS[:4], ids=str)
@pytest.mark.parametrize("kind", ["normal", "relu", "silu", "outlier", "lognormal"])
def test_near_the_best_of_a_full_search(kind: str, spec: QuantSpec) -> None:
    statistics = statistics_of(draws(kind))

    def error(ends: tuple[float, float]) -> float:
        return expected_error(statistics.histogram, choose_qparams(*ends, spec))

    low, high = make_observer("minmax").thresholds(statistics, spec)
    if spec.symmetric:
        full = [(-end, end) for end in np.linspace(0, high, 201)[1:]]
    else:
        lows = np.linspace(0, low, 16) if low else [0.0]
        full = [(one, other) for one in lows for other in np.linspace(0, high, 26)[1:]]
    assert error(make_observer("histogram").thresholds(statistics, spec)) <= 1.05 * min(map(error, full))


def test_the_ends_are_refined_beyond_the_grid() -> None:
    statistics = statistics_of(draws("normal"))
    spec = QuantSpec("int8", bits=4, symmetric=True)

    def error(end: float) -> float:
        return expected_error(statistics.histogram, choose_qparams(-end, end, spec))

    _, high = make_observer("histogram", grid=5, rounds=1, finalists=1).thresholds(statistics, spec)
    _, widest = make_observer("minmax").thresholds(statistics, spec)
    assert error(high) <= 1.01 * min(map(error, np.linspace(0, widest, 301)[1:]))
    assert error(high) < 0.99 * min(map(error, np.linspace(0, widest, 6)[1:]))


def test_low_and_high_are_clipped_independently() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(0, 1, 50000), -rng.exponential(1, 50000)]).astype(np.float32)
    low, high = make_observer("histogram").thresholds(statistics_of(x), QuantSpec("uint8"))
    assert 0.5 * x.min() > low > 0.95 * x.min() and 0.95 < high <= 1.0


def test_nothing_is_clipped_for_nothing() -> None:
    thresholds, spec = make_observer("histogram").thresholds, QuantSpec("uint8")
    assert thresholds(statistics_of(draws("relu6")), spec) == (0.0, 6.0)
    assert thresholds(statistics_of(draws("zero")), spec) == (0.0, 0.0)
    assert thresholds(TensorStatistics("t"), spec) == (0.0, 0.0)


def test_options_are_checked() -> None:
    with pytest.raises(ConfigError, match="grid must be at least 2. Got 1 instead"):
        make_observer("histogram", grid=1)
    with pytest.raises(ConfigError, match="unknown option 'gird'; known: grid"):
        make_observer("histogram", gird=3)
