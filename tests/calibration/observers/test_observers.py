"""Observers of ranges: each against a computation by hand, and properties of every observer in the table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmq.calibration.observers import OBSERVERS, make_observer, needs_histogram
from tvmq.calibration.observers.auto import CANDIDATES, Auto, choose
from tvmq.calibration.observers.base import TensorStatistics
from tvmq.calibration.observers.histogram import expected_error
from tvmq.errors import CalibrationError, ConfigError
from tvmq.numerics.spec import QParams, QuantSpec, choose_qparams

UINT8, INT8 = QuantSpec("uint8"), QuantSpec("int8", symmetric=True)
INT16 = QuantSpec("int16", bits=16, symmetric=True)
SPECS = [UINT8, INT8, QuantSpec("int8"), QuantSpec("uint8", bits=2), INT16]


def statistics_of(*batches: object) -> TensorStatistics:
    statistics = TensorStatistics("t")
    for batch in batches:
        statistics.update(np.asarray(batch, np.float32))
    return statistics


@st.composite
def tensors(draw: st.DrawFn) -> np.ndarray:
    """(samples, values): several distributions, one-sided or not, from one value to a few hundred."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (draw(st.integers(1, 5)), draw(st.sampled_from([1, 2, 50, 300])))
    makers = [rng.standard_normal, rng.standard_cauchy, rng.random, np.zeros, np.ones]
    x = draw(st.sampled_from(makers))(shape) * 2.0 ** draw(st.integers(-130, 100))
    return draw(st.sampled_from([x, np.maximum(x, 0), -np.abs(x)])).astype(np.float32)


@pytest.mark.slow_cases("kl_divergence", "auto", "histogram")
@pytest.mark.parametrize("name", OBSERVERS)
@settings(max_examples=25, deadline=None)
@given(x=tensors(), spec=st.sampled_from(SPECS))
def test_contract_of_every_observer(name: str, x: np.ndarray, spec: QuantSpec) -> None:
    observer = make_observer(name)
    whole, parts = statistics_of(x), statistics_of(x[:1]).merge(statistics_of(x[1:]))
    low, high = observer.thresholds(whole, spec)
    assert isinstance(low, float) and isinstance(high, float)
    assert np.isfinite([low, high]).all() and low <= 0 <= high
    assert not spec.symmetric or low == -high
    assert observer.thresholds(parts, spec) == (low, high)  # equal, not near
    choose_qparams(low, high, spec)
    if "histogram" in observer.needs or "ranges" in observer.needs:  # never beyond what was seen
        seen_low, seen_high = make_observer("minmax").thresholds(whole, spec)
        assert seen_low <= low and high <= seen_high
        assert observer.thresholds(TensorStatistics("t"), spec) == (0.0, 0.0)
    assert repr(observer) == repr(make_observer(name)) and observer == make_observer(name)


@pytest.mark.parametrize("name", OBSERVERS)
@pytest.mark.parametrize("value", [0.0, 2.5, -2.5])
def test_constant_tensors_are_represented_exactly(name: str, value: float) -> None:
    if name == "global_scale":
        pytest.skip("looks at no data")
    low, high = make_observer(name).thresholds(statistics_of(np.full((4, 100), value)), UINT8)
    assert (low, high) == (min(value, 0.0), max(value, 0.0))


@pytest.mark.parametrize("name", OBSERVERS)
def test_needs_tell_the_truth(name: str) -> None:
    observer = make_observer(name)
    assert needs_histogram(name) == ("histogram" in observer.needs)
    plain = TensorStatistics("t", with_histogram=False)
    plain.update(np.float32([[1, 2]]))
    if "histogram" in observer.needs:
        with pytest.raises(CalibrationError, match="'t': this observer needs a histogram"):
            observer.thresholds(plain, UINT8)
    else:
        observer.thresholds(plain, UINT8)


def test_minmax() -> None:
    statistics = statistics_of([[1, 5]], [[-2, 3]])
    assert make_observer("minmax").thresholds(statistics, UINT8) == (-2.0, 5.0)
    assert make_observer("minmax").thresholds(statistics, INT8) == (-5.0, 5.0)


def test_moving_average_is_the_mean_of_the_extremes_of_the_samples() -> None:
    statistics = statistics_of([[1, 5], [-2, 3]], [[-5, 100]])
    assert make_observer("moving_average").thresholds(statistics, UINT8) == (-2.0, 36.0)
    assert make_observer("moving_average").thresholds(statistics, INT8) == (-36.0, 36.0)


def test_global_scale_has_relays_step_and_needs_no_data() -> None:
    for spec in (UINT8, INT8, QuantSpec("int8")):
        qparams = choose_qparams(*make_observer("global_scale", scale=8.0).thresholds(None, spec), spec)
        assert float(qparams.scale) == 8.0 / 128
    with pytest.raises(ConfigError, match="global_scale must be positive and finite. Got -1"):
        make_observer("global_scale", scale=-1)


def test_percentile_counts_values() -> None:
    x = np.arange(8192)  # a bin for each value
    observer = make_observer("percentile", percentile=99.0)
    assert observer.thresholds(statistics_of(x), UINT8) == (0.0, 8192.0 - 40)  # int(0.5 % of 8192) = 40
    assert observer.thresholds(statistics_of(x), INT8) == (-(8192.0 - 81), 8192.0 - 81)
    assert make_observer("percentile", percentile=100).thresholds(statistics_of(x), UINT8) == (0.0, 8191.0)


def test_percentile_is_asymmetric() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.standard_normal(100000), rng.exponential(3, 100000)]).astype(np.float32)
    low, high = make_observer("percentile", percentile=99.9).thresholds(statistics_of(x), UINT8)
    assert low == pytest.approx(np.quantile(x, 0.0005), rel=0.01)
    assert high == pytest.approx(np.quantile(x, 0.9995), rel=0.01)
    assert np.mean(x > high) <= 0.0005 and np.mean(x < low) <= 0.0005


@pytest.mark.parametrize("percentile", [50, 0, 100.5, float("nan")])
def test_percentile_out_of_range(percentile: float) -> None:
    with pytest.raises(ConfigError, match="percentile must be above 50"):
        make_observer("percentile", percentile=percentile)


def test_kl_divergence_clips_outliers_and_uses_both_sides() -> None:
    x = np.random.RandomState(3).randn(100000)
    x[:10] = 40
    low, high = make_observer("kl_divergence").thresholds(statistics_of(x), INT8)
    assert low == -high and 4 < high < 5  # Relay: 4.44, from exact samples
    low, high = make_observer("kl_divergence").thresholds(statistics_of(np.maximum(x, 0)), UINT8)
    assert low == 0 and 4 < high < 5


def test_kl_divergence_with_more_codes_than_bins_takes_the_whole_range() -> None:
    statistics = statistics_of(np.random.default_rng(0).standard_normal(1000))
    whole = make_observer("minmax").thresholds(statistics, INT16)
    assert make_observer("kl_divergence").thresholds(statistics, INT16) == whole
    with pytest.raises(ConfigError, match="windows must be at least 1"):
        make_observer("kl_divergence", windows=0)


def test_unknown_names_and_options() -> None:
    with pytest.raises(ConfigError, match="'calibrate_mode' must be one of auto, .*'minmx'.*mean 'minmax'"):
        make_observer("minmx")
    with pytest.raises(ConfigError, match="percentile observer: unknown option 'share'; known: percentile"):
        make_observer("percentile", share=3)
    with pytest.raises(ConfigError, match="unknown option 'share'; known: none"):
        make_observer("minmax", share=3)


@pytest.mark.slow
def test_auto_is_never_worse_than_a_candidate_by_more_than_its_margin() -> None:
    rng = np.random.default_rng(0)
    for x in (rng.standard_normal((8, 5000)), rng.standard_cauchy((8, 5000)), rng.random((8, 5000))):
        for spec in (UINT8, INT8, QuantSpec("uint8", bits=4)):
            statistics = statistics_of(x)
            candidates = Auto().candidates(statistics, spec)
            assert list(candidates) == list(CANDIDATES)

            def error(ends: tuple[float, float], statistics=statistics, spec=spec) -> float:  # noqa: ANN001
                return expected_error(statistics.histogram, choose_qparams(*ends, spec))

            chosen = error(make_observer("auto").thresholds(statistics, spec))
            assert chosen <= 1.002 * min(map(error, candidates.values()))


def spans(qparams: QParams) -> int:
    return round(float(qparams.scale) * 255)


def test_choose_takes_the_least_error_and_tells_all() -> None:
    candidates = {"a": (0.0, 4.0), "b": (-1.0, 7.0), "c": (0.0, 2.0)}
    choice = choose(candidates, UINT8, lambda qparams: {4: 3.0, 8: 5.0, 2: 4.0}[spans(qparams)])
    assert (choice.name, choice.low, choice.high) == ("a", 0.0, 4.0)
    assert choice.errors == {"a": 3.0, "b": 5.0, "c": 4.0}


def test_choose_keeps_the_widest_of_equals_whatever_the_order() -> None:
    candidates = {"a": (0.0, 4.0), "b": (-1.0, 7.0), "c": (0.0, 2.0)}
    for names in ("abc", "cba", "bca"):
        shuffled = {name: candidates[name] for name in names}
        assert choose(shuffled, UINT8, lambda qparams: 2.0).name == "b"
        assert choose(shuffled, UINT8, lambda qparams: float("nan")).name == "b"
        # A gain of less than 0.1 % is none.
        assert choose(shuffled, UINT8, lambda qparams: 2.0 - 1e-4 / spans(qparams)).name == "b"


def test_choose_judges_equal_ranges_once() -> None:
    asked = []
    choice = choose({"a": (0.0, 4.0), "b": (0.0, 4.0)}, UINT8, lambda qparams: asked.append(1) or 1.0)
    assert choice.name == "a" and choice.errors == {"a": 1.0, "b": 1.0} and len(asked) == 1
    with pytest.raises(CalibrationError, match="no candidates"):
        choose({}, UINT8, lambda qparams: 1.0)
