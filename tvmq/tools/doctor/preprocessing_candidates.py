"""Preprocessings to try on samples, each of which corrects a common mistake.

Tests: tests/tools/doctor/test_model_checks.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

# Mean and deviation of red, green and blue of ImageNet's pictures in 0..1, which most vision networks are trained with
MEAN, STD = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)
BYTES, UNIT = 4.0, 1.6  # samples beyond the first are not in 0..1; samples within the second are not bytes


@dataclass(frozen=True)
class Preprocessing:
    """A change of the samples.

    description       what it does, in words that follow "samples"
    code              Python expression of an array x, with the channels after the batch
    apply             function of the array
    reorders_channels True if it only changes the order of the channels
    """

    description: str
    code: str
    apply: Callable[[np.ndarray], np.ndarray]
    reorders_channels: bool = False

    @property
    def in_full(self) -> str:
        """The code, with the numbers that it names, as they are multiplied with channels first."""
        names = {"MEAN": MEAN, "STD": STD}
        numbers = [
            f"{name} = np.reshape({[round(float(value), 3) for value in array]}, (3, 1, 1))"
            for name, array in names.items()
            if name in self.code
        ]
        return f"{self.code}, with {' and '.join(numbers)}" if numbers else self.code


def _by_channel(values: np.ndarray, rank: int) -> np.ndarray:
    return values.reshape(-1, *[1] * (rank - 2))


def _normalize(x: np.ndarray) -> np.ndarray:
    return (x - _by_channel(MEAN, x.ndim)) / _by_channel(STD, x.ndim)


def _undo(x: np.ndarray) -> np.ndarray:
    return x * _by_channel(STD, x.ndim) + _by_channel(MEAN, x.ndim)


SWAP = Preprocessing(
    "in the other order of channels (BGR for RGB, or back)", "x[:, ::-1]", lambda x: x[:, ::-1], reorders_channels=True
)
TURN = Preprocessing(
    "read with the last axis as channels", "np.moveaxis(x, -1, 1)", lambda x: np.moveaxis(x, -1, 1)
)
FROM_BYTES = (
    Preprocessing("divided by 255: 0..1", "x / 255", lambda x: x / 255),
    Preprocessing("scaled to -1..1", "x / 127.5 - 1", lambda x: x / 127.5 - 1),
)
FROM_UNIT = (
    Preprocessing("multiplied by 255: 0..255", "x * 255", lambda x: x * 255),
    Preprocessing("scaled to -1..1", "2 * x - 1", lambda x: 2 * x - 1),
)
FROM_CENTRED = (
    Preprocessing("moved from -1..1 to 0..1", "(x + 1) / 2", lambda x: (x + 1) / 2),
    Preprocessing("moved from -1..1 to 0..255", "(x + 1) * 127.5", lambda x: (x + 1) * 127.5),
)
LEAST_SIDE = 8  # pixels of a picture without an axis of channels
NORMALIZED = "normalized by ImageNet's mean and deviation"


def is_picture(shape: Sequence[int]) -> bool:
    """True for samples shaped like pictures: (batch, channels, height, width) in any order, or without channels.

    >>> is_picture((8, 3, 32, 32)), is_picture((8, 28, 28)), is_picture((8, 1, 512)), is_picture((8, 16000))
    (True, True, False, False)
    """
    return len(shape) == 4 or (len(shape) == 3 and min(shape[1:]) >= LEAST_SIDE)


def candidate_preprocessings(x: np.ndarray) -> Iterator[Preprocessing]:
    """Preprocessings that make sense for the range of these samples (batch, channels, ...)."""
    low, high = float(x.min()), float(x.max())
    coloured = x.ndim == 4 and x.shape[1] == 3
    if x.ndim >= 3 and x.shape[1] == x.shape[-1] > 1 and np.moveaxis(x, -1, 1).shape == x.shape:
        yield TURN  # another layout, which fits by accident
    if coloured:
        yield SWAP
    if high > BYTES or low < -BYTES:
        yield from _from_bytes(low, coloured)
    elif low >= 0 and high <= UNIT:
        yield from FROM_UNIT
        if coloured:
            yield Preprocessing(NORMALIZED, "(x - MEAN) / STD", _normalize)
    elif low < 0:
        yield from FROM_CENTRED
        if coloured:
            yield Preprocessing(f"not {NORMALIZED}: 0..1", "x * STD + MEAN", _undo)
            yield Preprocessing(f"not {NORMALIZED}: 0..255", "255 * (x * STD + MEAN)", lambda x: 255 * _undo(x))


def _from_bytes(low: float, coloured: bool) -> Iterator[Preprocessing]:
    """Candidates for values in the range of bytes, which are 0..255 or signed."""
    yield FROM_BYTES[0]
    if low >= 0:
        yield FROM_BYTES[1]
        if coloured:
            yield Preprocessing(NORMALIZED, "(x / 255 - MEAN) / STD", lambda x: _normalize(x / 255))
            yield Preprocessing(
                "less ImageNet's mean: around 0", "x - 255 * MEAN", lambda x: x - 255 * _by_channel(MEAN, x.ndim)
            )
