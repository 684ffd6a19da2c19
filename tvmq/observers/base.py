"""What an observer is: options, and a rule from statistics to the thresholds of a tensor."""

from __future__ import annotations

from typing import ClassVar, Protocol

from tvmq.observers.tensor_statistics import TensorStatistics
from tvmq.spec import QuantSpec

Range = tuple[float, float]

# A narrower range has to lower the error by this share before anything is clipped for it.
LEAST_GAIN = 1e-3


class Observer(Protocol):
    """A frozen dataclass whose fields are its options.

    needs  the statistics it reads: "ranges", "histogram", both, or nothing; histograms are taken where one reads them
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
