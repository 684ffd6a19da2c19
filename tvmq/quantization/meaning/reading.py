"""Readings: the ways in which people use outputs, each with a signal and an error in its own terms.

A figure of 20 dB says the same of all of them: an error of a tenth. For boxes it is an overlap (IoU) of 0.9, or one box
lost of a hundred; for scores a difference of 0.1 where the score is 1; for numbers a tenth of their amplitude.

Tests: tests/quantization/meaning/test_reading.py
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

Outputs = Sequence[np.ndarray]  # all outputs of a model for some samples
# Of float's highest score in the samples: below a quarter a score is of no use, below an eighth it is lost
USED, LOST = 1 / 4, 1 / 8
MOST_BYTES = 2**28  # of outputs that are kept until all are read
LEAST_SCORE = 0.1  # where no score reaches it, the samples show nothing that is to be detected


@dataclass(frozen=True)
class Reading(ABC):
    """Reading of some outputs.

    outputs  their positions in the model
    by_user  True where the user named the kind
    """

    outputs: tuple[int, ...]
    by_user: bool = False
    kind: ClassVar[str]
    judges: ClassVar[bool] = True  # False: by default the guard's bound is on the raw values all the same

    @property
    def is_bound(self) -> bool:
        """True if the guard's bound is on this reading instead of the raw values."""
        return self.judges or self.by_user

    def fit(self, wanted: Sequence[Outputs]) -> Reading | None:
        """The reading with what is to be learned from the float model's outputs; None where they do not fit it."""
        return self

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts, each judged by itself."""
        return (self.kind,)

    def is_comparable(self, wanted: Outputs, got: Outputs) -> bool:
        """True where `got` has the form that is read."""
        return all(wanted[index].shape == got[index].shape for index in self.outputs)

    @abstractmethod
    def powers(self, wanted: Outputs, got: Outputs) -> np.ndarray:
        """[parts, 2]: signal and error of some samples, to be summed over all."""

    def describe(self) -> str:
        """Description of the kind, with all that was learned."""
        return self.kind


def sum_powers(reading: Reading, batches: Sequence[tuple[Outputs, Outputs]]) -> np.ndarray:
    """[parts, 2] signal and error of all batches.

    Minus infinity dB where an output has another form than float's, or more values that are not finite.
    """
    total = np.zeros((len(reading.parts), 2))
    for wanted, got in batches:
        losses = (_count_not_finite(got[index]) > _count_not_finite(wanted[index]) for index in reading.outputs)
        if not reading.is_comparable(wanted, got) or any(losses):
            return np.array([[1.0, np.inf]] * len(total))
        total += reading.powers(wanted, got)
    return total


def _count_not_finite(values: np.ndarray) -> int:
    return int(values.size - np.isfinite(values).sum())


class OutputPairs:
    """Outputs of two models for the same samples, of as many as fit into MOST_BYTES: those that readings need.

    wanted, got  for each batch all outputs; those that no reading needs are empty
    """

    def __init__(self, readings: Sequence[Reading]) -> None:
        self.wanted: list[Outputs] = []
        self.got: list[Outputs] = []
        self._used = {index for reading in readings for index in reading.outputs}
        self._bytes = 0

    def add(self, wanted: Outputs, got: Outputs) -> None:
        """Keep the outputs of a batch, if there is room for them."""
        if not self._used or self._bytes >= MOST_BYTES:
            return
        for kept, outputs in ((self.wanted, wanted), (self.got, got)):
            kept.append([y if index in self._used else np.zeros(0, y.dtype) for index, y in enumerate(outputs)])
            self._bytes += sum(y.nbytes for y in kept[-1])


def decibels_of(powers: np.ndarray) -> list[float]:
    """Signal to error of each part, dB; infinite without an error, and where float has no signal.

    >>> decibels_of(np.array([[1.0, 0.01], [1.0, 0.0]]))
    [20.0, inf]
    """
    return [_decibels(float(signal), float(noise)) for signal, noise in powers]


def _decibels(signal: float, noise: float) -> float:
    if signal <= 0 or noise <= 0:
        return math.inf
    return 10 * math.log10(signal / noise) if math.isfinite(noise) else -math.inf


def is_share(values: np.ndarray) -> bool:
    """True for numbers from 0 to 1, as sigmoid and softmax give them."""
    return bool(values.size) and bool(values.min() >= -1e-3) and bool(values.max() <= 1 + 1e-3)


def replace_infinities(values: np.ndarray) -> np.ndarray:
    """float64, zeros for what is not finite."""
    return np.nan_to_num(np.asarray(values, np.float64), nan=0.0, posinf=0.0, neginf=0.0)
