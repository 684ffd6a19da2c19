"""Agreement of two sets of outputs, each output judged by what people read from it.

Tests: tests/quantization/meaning/test_agreement.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm

from tvmq.numerics.deviation import Deviation
from tvmq.quantization.meaning.boxes import box_f1
from tvmq.quantization.meaning.detections import DetectionReading
from tvmq.quantization.meaning.reading import Outputs, Reading, decibels_of, sum_powers
from tvmq.quantization.meaning.recognition import fit_readings, read_outputs


@dataclass(frozen=True)
class OutputAgreement:
    """Agreement of the outputs that are read together.

    outputs   their positions
    text      what they were taken for
    decibels  {part: signal to error}
    box_f1    of the boxes at IoU 0.5, for detections; else None
    """

    outputs: tuple[int, ...]
    text: str
    decibels: Mapping[str, float]
    box_f1: float | None = None

    @property
    def worst(self) -> float:
        """dB of the worst part."""
        return min(self.decibels.values())

    def __str__(self) -> str:
        """
        >>> str(OutputAgreement((0,), "a mask", {"mask": 31.27}))
        'mask 31.3 dB (a mask)'
        """
        figures = [] if self.box_f1 is None else [f"box F1 {self.box_f1:.4f}"]
        figures += [f"{part} {_decibel_text(figure)}" for part, figure in self.decibels.items()]
        return f"{', '.join(figures)} ({self.text})"

    def to_dict(self) -> dict[str, Any]:
        """Fields for JSON; an infinite figure is None there."""
        decibels = {part: one if math.isfinite(one) else None for part, one in self.decibels.items()}
        return {"outputs": list(self.outputs), "text": self.text, "decibels": decibels, "box_f1": self.box_f1}


def _decibel_text(figure: float) -> str:
    return "equal" if figure == math.inf else f"{figure:.1f} dB"


def measure_agreement(
    readings: Sequence[Reading], wanted: Sequence[Outputs], got: Sequence[Outputs]
) -> list[OutputAgreement]:
    """Agreement by each of the readings that float's outputs fit; none without batches.

    wanted, got  all outputs of some batches, of the float model and of the other one
    """
    fitted = fit_readings(readings, wanted) if wanted else []
    return [_measure(reading, wanted, got) for reading in fitted]


def _measure(reading: Reading, wanted: Sequence[Outputs], got: Sequence[Outputs]) -> OutputAgreement:
    figures = decibels_of(sum_powers(reading, list(zip(wanted, got, strict=True))))
    f1 = None
    if isinstance(reading, DetectionReading):
        sides = [[image for outputs in side for image in reading.detections(outputs)] for side in (wanted, got)]
        f1 = box_f1(sides[0], sides[1])
    return OutputAgreement(reading.outputs, reading.describe(), dict(zip(reading.parts, figures, strict=True)), f1)


def bound_readings(module: tvm.IRModule, kinds: Mapping[str, str] | None = None) -> list[Reading]:
    """Readings of a float module by which outputs are judged instead of by their raw values."""
    return [reading for reading in read_outputs(module, kinds) if reading.is_bound]


def sorted_readings(module: tvm.IRModule) -> list[Reading]:
    """Readings of rows that the module sorts: rounding of the last bit changes their order, and so the raw values."""
    return [one for one in bound_readings(module) if isinstance(one, DetectionReading) and not one.doubles]


def worst_decibels(readings: Sequence[Reading], wanted: Outputs, got: Outputs) -> float:
    """Signal to error of the worst output, as one of the readings has it, else of the raw values.

    wanted, got  outputs of the float model and of another, for all samples
    """
    agreements = measure_agreement(readings, [wanted], [got])
    read = {index for one in agreements for index in one.outputs}
    pairs = enumerate(zip(wanted, got, strict=True))
    return min([*(one.worst for one in agreements), *(sqnr(a, b) for i, (a, b) in pairs if i not in read)])


def sqnr(wanted: np.ndarray, got: np.ndarray) -> float:
    """Signal to error of raw values, dB.

    >>> sqnr(np.float32([3, 4]), np.float32([3, 4.5]))
    20.0
    """
    deviation = Deviation()
    deviation.add(np.asarray(wanted, np.float64), np.asarray(got, np.float64))
    return deviation.figures().sqnr
