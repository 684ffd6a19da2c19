"""Search for the float32 scale from which the constants of a requantize were computed.

Tests: tests/formats/exporting/test_formats_page.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

NEIGHBOURS = (0, 1, -1, 2, -2)  # steps of float32 around the quotient


def find_scales(quotient: np.ndarray, fits: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(float32 scales next to `quotient` for which `fits` holds, which of them do); the nearest where none does.

    quotient   float64, what the scales are about; one number counts as one scale
    fits       says for scales, float64, which of them give the constants

    >>> find_scales(np.float64([0.1]), lambda scale: scale < 0.1)
    (array([0.09999999], dtype=float32), array([ True]))
    """
    nearest = np.atleast_1d(np.asarray(quotient, np.float64)).astype(np.float32)
    result, matches = nearest.copy(), np.zeros(nearest.shape, bool)
    for steps in NEIGHBOURS:
        scale = nearest.copy()
        for _ in range(abs(steps)):
            scale = np.nextafter(scale, np.float32(np.inf if steps > 0 else 0), dtype=np.float32)
        good = ~matches & fits(scale.astype(np.float64))
        result[good] = scale[good]
        matches |= good
    return result, matches
