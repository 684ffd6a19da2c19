"""Samples of a command: arrays in memory or on disk, their labels, and which of them are held out.

Tests: tests/tools/cli/test_judge.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tvmq.calibration.dataset import samples_in
from tvmq.tools.cli.files import Arrays, Batches

CALIBRATE, COMPARE = 256, 500  # samples at most, by default
FEWEST = 50  # with fewer none are held out: ranges need them all
SHARE = 5  # one in five is held out


@dataclass
class Samples:
    """Data to calibrate and judge a model.

    arrays   {input: array}, samples first; pictures are uint8, of shape (count, height, width, channels)
    origin   where they come from, in words
    labels   expected result of each sample, or None
    classes  names of the classes, where folders name them
    prepare  function from pictures to inputs; None for arrays that are inputs already
    skipped  files that could not be read
    names    of the files, where each sample is one
    complete True if these are all samples of the origin
    random   True for random values
    shared   {input: array} in the shape of the model, the same for every sample, such as the first state of an LSTM
    """

    arrays: Mapping[str, np.ndarray]
    origin: str
    labels: np.ndarray | None = None
    classes: tuple[str, ...] = ()
    prepare: Callable[[np.ndarray], np.ndarray] | None = None
    skipped: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    complete: bool = True
    random: bool = False
    shared: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return samples_in(self.arrays)

    def take(self, index: Sequence[int] | np.ndarray) -> Arrays:
        """These samples as inputs; single numbers as they are.

        >>> Samples({"x": np.arange(4.0), "rate": np.float32(2)}, "").take([1, 3])["x"].tolist()
        [1.0, 3.0]
        """
        arrays = {
            n: np.asarray(array[np.asarray(index)]) if np.ndim(array) else array for n, array in self.arrays.items()
        }
        arrays = {name: self.prepare(value) for name, value in arrays.items()} if self.prepare else arrays
        return {**arrays, **self.shared}


@dataclass(frozen=True)
class Split:
    """Indices of samples.

    calibration  samples that ranges are chosen from
    comparison   samples that judge the result
    apart        True if the two have none in common
    """

    calibration: np.ndarray
    comparison: np.ndarray
    apart: bool


def split(count: int, calibrate: int | None = None, held_out: int | None = None) -> Split:
    """Split samples into those that calibrate and those held out to compare: a fifth, and what calibration leaves.

    calibrate  number that calibrate, the first of those left; None: at most CALIBRATE, spread evenly
    held_out   number held out; None: a fifth, at most COMPARE, none of fewer than FEWEST samples

    >>> chosen = split(100)
    >>> len(chosen.calibration), len(chosen.comparison), chosen.comparison[:3].tolist()
    (80, 20, [4, 9, 14])
    >>> split(20).apart, len(split(20).comparison), len(split(20, calibrate=5).comparison)
    (False, 20, 15)
    """
    everything = np.arange(count)
    if held_out is None:
        spare = count - calibrate if calibrate is not None and calibrate < count else 0
        more = max(count // SHARE, count - CALIBRATE) if count >= FEWEST else 0
        held_out = min(COMPARE, max(spare, more))
    if not 0 < held_out < count:
        return Split(_pick_calibration(everything, calibrate), everything[:COMPARE], apart=False)
    if calibrate is not None and calibrate + held_out <= count:  # the first ones calibrate, as requested
        return Split(everything[:calibrate], calibrate + _spread(count - calibrate, held_out), apart=True)
    apart = _spread(count, held_out)
    return Split(_pick_calibration(np.setdiff1d(everything, apart), calibrate), apart, apart=True)


def _pick_calibration(index: np.ndarray, calibrate: int | None) -> np.ndarray:
    return index[:calibrate] if calibrate is not None else index[_spread(len(index), min(CALIBRATE, len(index)))]


def _spread(count: int, wanted: int) -> np.ndarray:
    """Indices spread evenly over 0..count, the last of each interval."""
    return (np.arange(1, wanted + 1) * count) // wanted - 1


class Feeds(Batches):
    """Full batches of some samples, prepared as inputs; can be iterated repeatedly. See Batches."""

    def __init__(self, samples: Samples, index: np.ndarray, size: int, *, count: int | None = None) -> None:
        super().__init__({"index": index}, size, count=count)
        self.source = samples

    def __iter__(self) -> Iterator[Arrays]:
        for batch in super().__iter__():
            yield self.source.take(batch["index"])
