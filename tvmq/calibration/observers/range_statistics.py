"""Extremes, their mean over the samples, and channel means of a tensor: streamed and merged without rounding.

Extremes          float32 minimum and maximum of everything seen.
Mean extremes     the float32 minimum and maximum of each sample, summed exactly (`ExactSum`).
Channel means     each sample is put on its own grid, 2^(e - 28) with 2^e > max|sample|: rint(x * 2^(28 - e)),
                  half to even. These integers are summed exactly. A mean is off by less than 2^-28 of the
                  largest magnitude seen.

A sample's contribution depends on that sample alone, and all sums are exact: the result is the same, byte for
byte, however the samples are batched, ordered, sharded and merged.

Extremes of batches, averaged exponentially in the order in which they come, as training frameworks do it.

Tests: tests/calibration/observers/test_statistics.py
"""

from __future__ import annotations

import numpy as np

from tvmq.calibration.observers.exact_sum import INTEGER_BITS, MOST_TERMS, ExactSum
from tvmq.calibration.observers.samples import as_samples, same_tensor
from tvmq.errors import CalibrationError, DataError
from tvmq.numerics.affine import check_finite

# 2^(28 - e) has to be a normal float32.
LOWEST_EXPONENT = INTEGER_BITS - 126
# Sums of so many integers below 2^28 are exact in float64.
MOST_POSITIONS = 2 ** (53 - INTEGER_BITS)
# Values handled at a time: 256 kB of float32 stay in the cache.
BLOCK = 2**16


class RangeStatistics:
    """Minimum, maximum, mean of per-sample extremes, and, with `channel_axis`, channel means.

    name          of the tensor, for messages
    channel_axis  axis of the channels in the arrays given to `update`, not 0; None: no channel means

    >>> statistics = RangeStatistics("x", channel_axis=1)
    >>> statistics.update(np.float32([[1, 5], [-1, 7]]))
    >>> statistics.low, statistics.high, statistics.mean_high, statistics.channel_means.tolist()
    (-1.0, 7.0, 6.0, [0.0, 6.0])
    """

    def __init__(self, name: str = "", *, channel_axis: int | None = None) -> None:
        self.name = name
        self.channel_axis = channel_axis
        self.samples = 0
        self.values = 0
        self.low, self.high = float("inf"), float("-inf")
        self._lows, self._highs = ExactSum(), ExactSum()
        self._channels: ExactSum | None = None
        self._channel_values = 0

    def update(self, x: np.ndarray) -> None:
        """Add x, float32 with the samples on axis 0.

        raises  RangeError for NaN or infinity, DataError for a shape that does not fit; nothing is added then
        """
        x = as_samples(x, self.name)
        if x.size == 0:
            return
        flat = x.reshape(len(x), -1)
        lows, highs = flat.min(axis=1), flat.max(axis=1)
        if not (np.isfinite(lows).all() and np.isfinite(highs).all()):
            check_finite(x, self.name)
        sums = None if self.channel_axis is None else self._channel_sums(x, lows, highs)
        self.add_samples(lows, highs, sums, flat.shape[1])

    def add_samples(self, lows: np.ndarray, highs: np.ndarray, sums: np.ndarray | None, values: int) -> None:
        """Add samples of which these are known.

        lows, highs  extremes, finite float32 (samples,)
        sums         int64 (samples, channels): of the values on the grid of their sample; None: no channel means
        values       of each sample
        raises       DataError for a number of channels or values that does not fit; nothing is added then
        """
        # Adding 0 turns -0 into 0: which of the two a minimum gives depends on the order.
        lows, highs = lows + np.float32(0), highs + np.float32(0)
        if sums is not None:
            self._check_channels(len(lows), sums.shape[1], values)
            if self._channels is None:
                self._channels = ExactSum(sums.shape[1:])
            self._channels.add(sums, _grid_exponents(lows, highs) - INTEGER_BITS)
            self._channel_values += len(lows) * values // sums.shape[1]
        self._lows.add_floats(lows)
        self._highs.add_floats(highs)
        self.low, self.high = min(self.low, float(lows.min())), max(self.high, float(highs.max()))
        self.samples += len(lows)
        self.values += len(lows) * values

    def _channel_sums(self, x: np.ndarray, lows: np.ndarray, highs: np.ndarray) -> np.ndarray:
        axis = self._checked_axis(x)
        others = tuple(i for i in range(1, x.ndim) if i != axis)
        scales = np.ldexp(np.ones(len(x), np.float32), INTEGER_BITS - _grid_exponents(lows, highs))
        scales = scales.reshape(-1, *[1] * (x.ndim - 1))
        step = max(1, BLOCK * len(x) // x.size)
        sums = []
        for start in range(0, len(x), step):
            block = x[start : start + step] * scales[start : start + step]
            np.rint(block, out=block)
            sums.append(block.sum(axis=others, dtype=np.float64).astype(np.int64))
        return np.concatenate(sums)

    def _checked_axis(self, x: np.ndarray) -> int:
        """The channel axis from the front; refuses what does not fit."""
        assert self.channel_axis is not None
        axis = self.channel_axis + x.ndim * (self.channel_axis < 0)
        if not 0 < axis < x.ndim:
            raise DataError(
                f"calibrate, tensor {self.name!r}: channel axis {self.channel_axis} does not fit shape "
                f"{x.shape}; give an axis in 1..{x.ndim - 1}, or None"
            )
        self._check_channels(len(x), x.shape[axis], x.size // len(x))
        return axis

    def _check_channels(self, samples: int, channels: int, values: int) -> None:
        """Refuse another number of channels than before, and sums that could overflow."""
        if self._channels is not None and self._channels.shape != (channels,):
            raise DataError(
                f"calibrate, tensor {self.name!r}: {channels} channels after {self._channels.shape[0]}; "
                f"the channel axis must not change between samples"
            )
        positions = values // channels
        if positions > MOST_POSITIONS or self._channel_values + samples * positions > MOST_TERMS:
            raise DataError(
                f"calibrate, tensor {self.name!r}: {self._channel_values + samples * positions} values per channel, at "
                f"most {MOST_TERMS} (and {MOST_POSITIONS} per sample) are summed exactly; use fewer samples"
            )

    def merge(self, other: RangeStatistics) -> RangeStatistics:
        """Statistics of both together, as a new object."""
        same_tensor(self.name, other.name, self.channel_axis == other.channel_axis)
        merged = RangeStatistics(self.name, channel_axis=self.channel_axis)
        merged.samples, merged.values = self.samples + other.samples, self.values + other.values
        merged.low, merged.high = min(self.low, other.low), max(self.high, other.high)
        merged._lows, merged._highs = self._lows.merge(other._lows), self._highs.merge(other._highs)
        merged._channel_values = self._channel_values + other._channel_values
        merged._channels = _merge_sums(self._channels, other._channels, self.name)
        return merged

    @property
    def mean_low(self) -> float:
        """Mean over the samples of each sample's minimum, rounded once; 0 where nothing was seen."""
        return float(self._lows.mean(self.samples))

    @property
    def mean_high(self) -> float:
        """Mean over the samples of each sample's maximum, rounded once; 0 where nothing was seen."""
        return float(self._highs.mean(self.samples))

    @property
    def channel_means(self) -> np.ndarray | None:
        """float64 (channels,); None without `channel_axis` or without data."""
        return None if self._channels is None else self._channels.mean(self._channel_values)

    def to_dict(self) -> dict[str, np.ndarray]:
        """All state as arrays (for np.savez); the name and the axis are not part of it."""
        fields: dict[str, np.ndarray] = {
            "counts": np.array([self.samples, self.values, self._channel_values], np.int64),
            "extremes": np.array([self.low, self.high], np.float32),
        }
        for key, part in (("lows", self._lows), ("highs", self._highs), ("channels", self._channels)):
            if part is not None:
                fields.update({f"{key}.{field}": array for field, array in part.to_dict().items()})
        return fields

    @classmethod
    def from_dict(
        cls, fields: dict[str, np.ndarray], name: str = "", *, channel_axis: int | None = None
    ) -> RangeStatistics:
        """Inverse of `to_dict`."""
        statistics = cls(name, channel_axis=channel_axis)
        statistics.samples, statistics.values, statistics._channel_values = (int(count) for count in fields["counts"])
        statistics.low, statistics.high = (float(extreme) for extreme in fields["extremes"])
        statistics._lows, statistics._highs = _part(fields, "lows"), _part(fields, "highs")
        if "channels.totals" in fields:
            statistics._channels = _part(fields, "channels")
        return statistics


def _grid_exponents(lows: np.ndarray, highs: np.ndarray) -> np.ndarray:
    """e of the grid of each sample, from its extremes."""
    return np.maximum(np.frexp(np.maximum(-lows, highs))[1], LOWEST_EXPONENT)


def _part(fields: dict[str, np.ndarray], key: str) -> ExactSum:
    return ExactSum.from_dict({field: fields[f"{key}.{field}"] for field in ("exponents", "totals")})


def _merge_sums(a: ExactSum | None, b: ExactSum | None, name: str) -> ExactSum | None:
    if a is None or b is None:
        return a or b
    if a.shape != b.shape:
        raise DataError(
            f"merge, tensor {name!r}: {a.shape[0]} channels and {b.shape[0]}; merge shards of one tensor only"
        )
    return a.merge(b)


class RunningRange:
    """Running averages of the extremes of batches, in float32.

    momentum  share of the old value that each batch leaves, in (0, 1): torch's MovingAverageMinMaxObserver has
              averaging_constant = 1 - momentum, TensorFlow's moving averages decay = momentum

    The first batch gives the first values. A later one moves them by (1 - momentum) * (extreme - value), each
    operation rounded once; so the result depends on the batches and on their order.

    >>> running = RunningRange(0.75)
    >>> for batch in ([0.0, 4.0], [-4.0, 8.0]):
    ...     running.update(np.float32(batch))
    >>> running.low, running.high
    (-1.0, 5.0)
    """

    def __init__(self, momentum: float) -> None:
        self.momentum = momentum
        self._extremes: np.ndarray | None = None

    def update(self, x: np.ndarray) -> None:
        """Add a batch: all of x, finite float32; an empty one changes nothing."""
        if x.size == 0:
            return
        extremes = np.array([x.min(), x.max()], np.float32)
        old = self._extremes
        share = np.float32(1 - self.momentum)
        self._extremes = extremes if old is None else old + share * (extremes - old)

    @property
    def low(self) -> float:
        """Average of the minima; CalibrationError before the first batch."""
        return float(self._known_extremes()[0])

    @property
    def high(self) -> float:
        """Average of the maxima; CalibrationError before the first batch."""
        return float(self._known_extremes()[1])

    def _known_extremes(self) -> np.ndarray:
        if self._extremes is None:
            raise CalibrationError("calibrate: a running average of extremes saw no values; give calibration data")
        return self._extremes
