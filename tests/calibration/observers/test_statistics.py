"""Statistics: equal bytes however the samples are batched and merged; bounded memory; bad values refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmq.calibration.observers.base import TensorStatistics
from tvmq.calibration.observers.exact_sum import ExactSum
from tvmq.calibration.observers.histogram_statistics import BINS, Histogram
from tvmq.calibration.observers.range_statistics import RangeStatistics
from tvmq.errors import CalibrationError, DataError, RangeError

SPECIAL = np.float32([0, -0.0, 1, -1, 1e-45, -1e-45, 1e-38, 3e38, -3e38, 0.1, 8191, 8192, 1e-20, 127.5])


@st.composite
def sample_arrays(draw: st.DrawFn) -> np.ndarray:
    """Samples (n, channels, positions) of very different scales, with special values, sometimes one-sided."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (draw(st.integers(1, 12)), draw(st.integers(1, 4)), draw(st.integers(1, 30)))
    scales = 2.0 ** rng.integers(*draw(st.sampled_from([(-3, 4), (-140, 120)])), size=(shape[0], 1, 1))
    x = (rng.standard_normal(shape) * scales).astype(np.float32)
    special = rng.random(shape) < draw(st.sampled_from([0.0, 0.2]))
    x = np.where(special, rng.choice(SPECIAL, shape), x)
    return draw(st.sampled_from([x, np.maximum(x, 0), np.minimum(x, 0), x * 0]))


def fill(x: np.ndarray, cuts: list[int]) -> list[TensorStatistics]:
    """Shards of statistics, one for each piece of x between the cuts."""
    shards = []
    for piece in np.split(x, cuts):
        shard = TensorStatistics("t", channel_axis=1)
        shard.update(piece)
        shards.append(shard)
    return shards


def state(statistics: TensorStatistics) -> dict[str, bytes]:
    return {key: array.dtype.str.encode() + array.tobytes() for key, array in statistics.to_dict().items()}


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(sample_arrays(), st.data())
def test_batching_order_and_merging_change_no_byte(x: np.ndarray, data: st.DataObject) -> None:
    whole = fill(x, [])[0]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(x)), max_size=4)))
    shards = fill(x[data.draw(st.permutations(range(len(x))))], cuts)
    while len(shards) > 1:
        first = data.draw(st.integers(0, len(shards) - 2))
        shards[first : first + 2] = [shards[first].merge(shards[first + 1])]
    assert state(shards[0]) == state(whole)
    one_by_one = TensorStatistics("t", channel_axis=1)
    for sample in x:
        one_by_one.update(sample[None])
    assert state(one_by_one) == state(whole)


@settings(max_examples=60, deadline=None)
@given(sample_arrays())
def test_state_survives_its_dictionary(x: np.ndarray) -> None:
    whole = fill(x, [])[0]
    again = TensorStatistics.from_dict(whole.to_dict(), "t", channel_axis=1)
    assert state(again) == state(whole)
    assert state(again.merge(whole)) == state(whole.merge(again))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(sample_arrays())
def test_histogram_counts_what_it_says(x: np.ndarray) -> None:
    histogram = fill(x, [])[0].histogram
    ratio = np.trunc(x.astype(np.float64) / histogram.width).astype(np.int64).ravel()
    expected = np.bincount(ratio - histogram.first, minlength=len(histogram.counts))
    np.testing.assert_array_equal(histogram.counts, expected)
    assert len(histogram.counts) <= BINS and histogram.zeros == np.count_nonzero(x == 0)
    assert (histogram.low, histogram.high) == (x.min(), x.max())
    np.testing.assert_array_equal(histogram.magnitudes, np.bincount(np.abs(ratio), minlength=len(histogram.magnitudes)))
    # Half the width would need more bins, unless it is the least there is.
    finer = [int(np.trunc(end / histogram.width * 2)) for end in (min(x.min(), 0.0), max(x.max(), 0.0))]
    assert finer[1] - finer[0] >= BINS or histogram.exponent == -126


def test_edges_enclose_the_values_of_their_bins() -> None:
    histogram = Histogram()
    histogram.update(np.float32([-3.5, -1, -0.25, 0.5, 2, 9000]))
    edges = histogram.edges
    assert histogram.width == 2.0 and len(edges) == len(histogram.counts) + 1
    assert edges[0] == -3.5 and edges[-1] == 9000 and edges[1] == -2.0 and edges[2] == 2.0
    assert (np.diff(edges) >= 0).all()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(sample_arrays())
def test_means_are_exact_or_within_their_bound(x: np.ndarray) -> None:
    ranges = fill(x, [])[0].ranges
    lows = [Fraction(float(low)) for low in x.min(axis=(1, 2))]
    assert ranges.mean_low == float(sum(lows) / len(lows))
    for channel, mean in enumerate(ranges.channel_means):
        values = [Fraction(float(value)) for value in x[:, channel].ravel()]
        bound = Fraction(2) ** -28 * Fraction(float(np.abs(x).max())) + Fraction(2) ** -127
        assert abs(sum(values) / len(values) - Fraction(float(mean))) <= bound


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(sample_arrays())
def test_channel_means_are_those_of_the_rounded_values(x: np.ndarray) -> None:
    totals = np.zeros(x.shape[1], object)
    for sample in x:
        exponent = max(int(np.frexp(np.abs(sample).max())[1]), 28 - 126)
        steps = np.rint(np.ldexp(sample.astype(np.float64), 28 - exponent)).astype(np.int64)
        totals = totals + steps.sum(axis=1).astype(object) * Fraction(2) ** (exponent - 28)
    means = [float(total / (len(x) * x.shape[2])) for total in totals]
    assert fill(x, [])[0].ranges.channel_means.tolist() == means


def test_exact_sum_does_not_cancel() -> None:
    total = ExactSum()
    for value in (3e38, 1.0, -3e38, 1e-45):
        total.add_floats(np.float32([value]))
    assert total.mean(4) == 0.25  # 1 + 1e-45 rounds to 1
    assert ExactSum((2,)).mean(0).tolist() == [0.0, 0.0]


def test_channels_may_be_last() -> None:
    x = np.random.default_rng(0).standard_normal((5, 7, 3)).astype(np.float32)
    last, second = RangeStatistics(channel_axis=-1), RangeStatistics(channel_axis=1)
    last.update(x)
    second.update(x.transpose(0, 2, 1))
    np.testing.assert_array_equal(last.channel_means, second.channel_means)
    np.testing.assert_allclose(last.channel_means, x.mean(axis=(0, 1), dtype=np.float64), rtol=0, atol=1e-8)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_samples() -> None:
    def size(samples: int) -> int:
        statistics = TensorStatistics("t", channel_axis=1)
        rng = np.random.default_rng(1)
        for _ in range(samples):
            statistics.update(np.clip(rng.standard_normal((1, 4, 50)), -3, 3).astype(np.float32))
        return sum(array.nbytes for array in statistics.to_dict().values())

    few, many = size(20), size(2000)
    assert many <= BINS * 8 + 2000 and many <= few * 1.02 + 200


@pytest.mark.parametrize("shape", [(0,), (0, 3), (4, 0), (0, 3, 5)])
def test_empty_arrays_add_nothing(shape: tuple[int, ...]) -> None:
    statistics = TensorStatistics("t", channel_axis=1 if len(shape) > 1 else None)
    fresh = state(statistics)
    statistics.update(np.zeros(shape, np.float32))
    assert state(statistics) == fresh
    assert statistics.ranges.mean_high == 0.0 and statistics.ranges.channel_means is None
    assert statistics.histogram.edges.tolist() == [0.0, 0.0]


def test_scalars_and_other_types() -> None:
    statistics = TensorStatistics("t")
    statistics.update(np.float64(2.5))
    statistics.update(np.int64([3, -4]))
    statistics.update(np.float16([1]))
    assert statistics.ranges.samples == 4 and (statistics.ranges.low, statistics.ranges.high) == (-4.0, 3.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e39])
def test_what_is_not_finite_is_refused_and_changes_nothing(bad: float) -> None:
    statistics = TensorStatistics("conv1.out", channel_axis=1)
    statistics.update(np.float32([[1, 2]]))
    before = state(statistics)
    with pytest.raises(RangeError, match=r"'conv1\.out'.*NaN or infinite.*index \(1, 0\)"):
        statistics.update(np.array([[1, 2], [bad, 1]], np.float64))
    assert state(statistics) == before
    with pytest.raises(RangeError, match=r"'conv1\.out'"):
        statistics.histogram.update(np.array([bad]))


def test_arrays_that_do_not_fit_are_refused() -> None:
    statistics = RangeStatistics("fc", channel_axis=1)
    with pytest.raises(DataError, match="'fc': channel axis 1 does not fit shape"):
        statistics.update(np.zeros(3, np.float32))
    statistics.update(np.zeros((2, 3), np.float32))
    with pytest.raises(DataError, match="'fc': 4 channels after 3"):
        statistics.update(np.zeros((2, 4), np.float32))
    with pytest.raises(DataError, match="'fc': real numbers are needed, got complex64"):
        statistics.update(np.zeros((2, 3), np.complex64))


def test_more_values_than_the_sums_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tvmq.calibration.observers.range_statistics.MOST_TERMS", 10)
    statistics = RangeStatistics("fc", channel_axis=1)
    statistics.update(np.zeros((10, 3), np.float32))
    with pytest.raises(DataError, match="'fc': 11 values per channel, at most 10"):
        statistics.update(np.zeros((1, 3), np.float32))


def test_only_shards_of_one_tensor_merge() -> None:
    with pytest.raises(DataError, match="'a' and 'b'"):
        TensorStatistics("a").merge(TensorStatistics("b"))
    with pytest.raises(DataError, match="'a': the shards were taken with different settings"):
        RangeStatistics("a", channel_axis=1).merge(RangeStatistics("a"))
    two, three = RangeStatistics("a", channel_axis=1), RangeStatistics("a", channel_axis=1)
    two.update(np.zeros((1, 2), np.float32))
    three.update(np.zeros((1, 3), np.float32))
    with pytest.raises(DataError, match="'a': 2 channels and 3"):
        two.merge(three)


def test_without_a_histogram_the_error_says_what_to_do() -> None:
    statistics = TensorStatistics("t", with_histogram=False)
    statistics.update(np.float32([1]))
    assert "histogram.counts" not in statistics.merge(statistics).to_dict()
    with pytest.raises(CalibrationError, match="'t': this observer needs a histogram"):
        statistics.histogram.width  # noqa: B018
