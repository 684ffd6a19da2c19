"""Extremes of batches, averaged exponentially in the order in which they come, as training frameworks do it."""

from __future__ import annotations

import numpy as np

from tvmq.errors import CalibrationError


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
        """One more batch: all of x, finite float32; an empty one changes nothing."""
        if x.size == 0:
            return
        found = np.array([x.min(), x.max()], np.float32)
        old = self._extremes
        share = np.float32(1 - self.momentum)
        self._extremes = found if old is None else old + share * (found - old)

    @property
    def low(self) -> float:
        """Average of the minima; CalibrationError before the first batch."""
        return float(self._known()[0])

    @property
    def high(self) -> float:
        """Average of the maxima; CalibrationError before the first batch."""
        return float(self._known()[1])

    def _known(self) -> np.ndarray:
        if self._extremes is None:
            raise CalibrationError("calibrate: a running average of extremes saw no values; give calibration data")
        return self._extremes
