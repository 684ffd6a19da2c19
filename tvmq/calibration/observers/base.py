"""Base class of observers: options, and a rule from statistics to the thresholds of a tensor.

Everything observers ask about one tensor: its ranges and, where wanted, its histogram.

Tests: tests/calibration/observers/test_statistics.py
"""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from tvmq.calibration.observers.histogram_statistics import Histogram
from tvmq.calibration.observers.range_statistics import RangeStatistics, RunningRange
from tvmq.errors import CalibrationError
from tvmq.numerics.spec import QuantSpec


class TensorStatistics:
    """`ranges` (RangeStatistics) and `histogram` (Histogram, or None) of a tensor.

    name            of the tensor, for messages
    channel_axis    axis of the channels, for channel means; None: none are taken
    with_histogram  False saves the greater part of the time, for observers that need ranges only
    momentum        of running averages of the extremes of the arrays given to `update`, in their order; None: none
                    are taken. With them statistics cannot be merged or saved

    >>> statistics = TensorStatistics("x")
    >>> statistics.update(np.float32([[1, 5], [-1, 7]]))
    >>> statistics.ranges.high, statistics.histogram.values
    (7.0, 4)
    """

    def __init__(
        self,
        name: str = "",
        *,
        channel_axis: int | None = None,
        with_histogram: bool = True,
        momentum: float | None = None,
    ) -> None:
        self.name = name
        self._running = RunningRange(momentum) if momentum is not None else None
        self.ranges = RangeStatistics(name, channel_axis=channel_axis)
        self._histogram = Histogram(name) if with_histogram else None

    @property
    def histogram(self) -> Histogram:
        """The histogram; CalibrationError where none was taken."""
        if self._histogram is None:
            raise CalibrationError(
                f"calibrate, tensor {self.name!r}: this observer needs a histogram and none was taken; "
                f"use with_histogram=True, or calibrate_mode 'minmax', 'moving_average' or 'global_scale'"
            )
        return self._histogram

    @property
    def running(self) -> RunningRange:
        """Running averages of the extremes; CalibrationError where none were taken."""
        if self._running is None:
            raise CalibrationError(
                f"calibrate, tensor {self.name!r}: this observer needs running averages and none were taken; "
                "give qconfig(momentum=...) for the calibration"
            )
        return self._running

    @property
    def has_histogram(self) -> bool:
        """True if one is taken."""
        return self._histogram is not None

    def add_histogram(self, counted: Histogram) -> None:
        """Add values that were counted elsewhere, in bins as wide as ours or narrower."""
        self._histogram = self.histogram.merge(counted)

    def update(self, x: np.ndarray) -> None:
        """Add x, float32 with the samples on axis 0; RangeError for NaN or infinity (nothing is added)."""
        self.ranges.update(x)
        if self._histogram is not None:
            self._histogram.update(x)
        if self._running is not None:
            self._running.update(np.asarray(x, np.float32))

    def merge(self, other: TensorStatistics) -> TensorStatistics:
        """Statistics of both together, as a new object; CalibrationError where the order of the data matters."""
        if self._running is not None or other._running is not None:
            raise CalibrationError(
                f"calibrate, tensor {self.name!r}: running averages depend on the order of the data and cannot be "
                "merged; calibrate in one go, or leave out momentum"
            )
        merged = TensorStatistics(self.name, channel_axis=self.ranges.channel_axis, with_histogram=False)
        merged.ranges = self.ranges.merge(other.ranges)
        if self._histogram is not None or other._histogram is not None:
            merged._histogram = self.histogram.merge(other.histogram)
        return merged

    def to_dict(self) -> dict[str, np.ndarray]:
        """All state as arrays (for np.savez)."""
        fields = {f"ranges.{key}": array for key, array in self.ranges.to_dict().items()}
        if self._histogram is not None:
            fields.update({f"histogram.{key}": array for key, array in self._histogram.to_dict().items()})
        return fields

    @classmethod
    def from_dict(
        cls, fields: dict[str, np.ndarray], name: str = "", *, channel_axis: int | None = None
    ) -> TensorStatistics:
        """Inverse of `to_dict`."""
        statistics = cls(name, channel_axis=channel_axis, with_histogram=False)
        statistics.ranges = RangeStatistics.from_dict(_fields_under(fields, "ranges."), name, channel_axis=channel_axis)
        if "histogram.counts" in fields:
            statistics._histogram = Histogram.from_dict(_fields_under(fields, "histogram."), name)
        return statistics


def _fields_under(fields: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {key[len(prefix) :]: array for key, array in fields.items() if key.startswith(prefix)}


Range = tuple[float, float]

# A narrower range has to lower the error by this share before anything is clipped for it.
LEAST_GAIN = 1e-3


class Observer(Protocol):
    """Rule that chooses the range of a tensor from its statistics: a frozen dataclass whose fields are its options.

    needs  the statistics it reads: "ranges", "histogram", both, or nothing; histograms are taken where one reads them

    >>> class Extremes:
    ...     needs = ("ranges",)
    ...     def thresholds(self, statistics, spec):
    ...         return usable_range(statistics.ranges.low, statistics.ranges.high, spec)
    >>> statistics = TensorStatistics("x", with_histogram=False)
    >>> statistics.update(np.float32([[1, 5]]))
    >>> Extremes().thresholds(statistics, QuantSpec("uint8"))
    (0.0, 5.0)
    """

    needs: ClassVar[tuple[str, ...]]

    def thresholds(self, statistics: TensorStatistics, spec: QuantSpec) -> Range:
        """Ends of the range to be quantized: finite, low <= 0 <= high, low == -high where symmetric."""
        ...


def usable_range(low: float, high: float, spec: QuantSpec) -> Range:
    """The range widened to contain 0 and, where symmetric, mirrored; (0, 0) for the extremes of no values.

    >>> usable_range(1.0, 3.0, QuantSpec("uint8")), usable_range(1.0, 3.0, QuantSpec("int8", symmetric=True))
    ((0.0, 3.0), (-3.0, 3.0))
    """
    if low > high:
        return 0.0, 0.0
    low, high = min(low, 0.0), max(high, 0.0)
    if spec.symmetric:
        high = max(-low, high)
        low = -high
    return low + 0.0, high + 0.0  # + 0.0: no -0
