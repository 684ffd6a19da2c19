"""Relay's thresholds from exact samples: golden values, from Relay's own compiled routine."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq.calibration.observers.kl_divergence import best_half_width
from tvmq.calibration.observers.minmax import range_of_threshold
from tvmq.errors import DataError, RangeError
from tvmq.numerics.spec import QuantSpec, choose_qparams
from tvmq.relay.quantize.thresholds import relay_kl_divergence, relay_percentile


def with_outliers() -> np.ndarray:
    x = np.random.RandomState(3).randn(100000)
    x[:10] = 40
    return x


GOLDEN = [
    (np.random.RandomState(0).randn(100000), "4.01401901", "4.8521175"),
    (np.maximum(np.random.RandomState(1).randn(100000), 0), "3.86700821", "4.1681175"),
    (np.random.RandomState(2).laplace(size=100000), "8.85678101", "10.552956"),
    (with_outliers(), "4.44444275", "40"),
    (np.random.RandomState(4).uniform(size=4320), "0.997615457", "0.99936402"),
    (np.zeros(1000), "0.0159354806", "0"),
]


NAMES = ["randn", "relu", "laplace", "outliers", "uniform", "zeros"]


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize(("samples", "kl", "percentile"), GOLDEN, ids=NAMES)
def test_golden_thresholds(samples: np.ndarray, kl: str, percentile: str) -> None:
    assert f"{relay_kl_divergence(samples.astype('float32')):.9g}" == kl
    assert f"{relay_percentile(samples.astype('float32')):.8g}" == percentile


def test_percentile_clips_from_100001_samples_on() -> None:
    x = np.arange(200000, dtype=np.float32) - 100000
    assert relay_percentile(x) == 100000 - 1  # the second largest of |x| but one: k = 199998


SPECS = [QuantSpec("int8", symmetric=True), QuantSpec("uint8"), QuantSpec("int8", bits=4)]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_range_gives_relays_step(spec: QuantSpec) -> None:
    scale = choose_qparams(*range_of_threshold(0.3, spec), spec).scale
    assert float(scale) == np.float32(0.3 / 2 ** (spec.bits - 1))


def test_bad_samples() -> None:
    with pytest.raises(DataError, match="'conv': no samples"):
        relay_percentile(np.zeros(0), "conv")
    with pytest.raises(RangeError, match="'conv'.*NaN"):
        relay_kl_divergence(np.array([1, np.nan]), "conv")


def slow_divergence(counts: np.ndarray, half: int, levels: int) -> float:
    """The routine as it is described, bin by bin."""
    zero = len(counts) // 2
    window = [0.0 if k == 0 else float(counts[zero - half + k]) for k in range(2 * half + 1)]
    p = [float(counts[zero - half + k]) for k in range(2 * half + 1)]
    p[0], p[-1] = float(sum(counts[: zero - half + 1])), float(sum(counts[zero + half :]))
    q = [0.0] * len(p)
    size = len(p) // levels
    for level in range(levels):
        span = range(level * size, (level + 1) * size if level < levels - 1 else len(p))
        filled = sum(window[k] != 0 for k in span)
        for k in span:
            if p[k] and filled:
                q[k] = sum(window[k] for k in span) / filled

    def smooth(values: list[float]) -> np.ndarray:
        zeros = values.count(0.0)
        raised = [1e-4 if v == 0 else v - 1e-4 * zeros / (len(values) - zeros) for v in values]
        return np.array(raised) / sum(raised)

    if not any(q):
        return float("inf")
    return float(np.sum(smooth(p) * np.log(smooth(p) / smooth(q))))


def test_search_equals_the_description() -> None:
    rng = np.random.default_rng(0)
    for levels in (3, 7, 15):
        counts = rng.poisson(40 * np.exp(-(np.linspace(-4, 4, 101) ** 2)))
        halves = range(levels // 2, 51)
        slow = [slow_divergence(counts, half, levels) for half in halves]
        assert best_half_width(counts, levels) == halves[int(np.argmin(slow))]


def test_search_with_too_few_bins_or_a_stride() -> None:
    assert best_half_width(np.ones(11, int), 31) == 5
    counts = np.random.default_rng(0).poisson(50 * np.exp(-(np.linspace(-6, 6, 2001) ** 2)))
    assert abs(best_half_width(counts, 255) - best_half_width(counts, 255, stride=4)) < 200
