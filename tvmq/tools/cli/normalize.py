"""Normalization of pictures: as given, else from the model, else guessed from its outputs, else the usual one.

Tests: tests/tools/cli/test_quantize_alone.py
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.calibration.data.guess import PICTURES, Guess, by_custom, from_facts, from_pixels
from tvmq.calibration.data.normalization import NORMALIZATIONS, Normalization, replace_numbers
from tvmq.calibration.data.picture_preprocessing import normalize_pictures
from tvmq.calibration.data.pictures import Frame
from tvmq.tools.cli.metrics import class_labels, count_classes
from tvmq.tools.cli.model import ModelSource
from tvmq.tools.cli.picture_options import PictureOptions

if TYPE_CHECKING:
    from tvmq.tools.cli.opening import QuantizationJob


def choose_normalization(
    source: ModelSource, frame: Frame, options: PictureOptions, job: QuantizationJob, *, quiet: bool
) -> Guess:
    """Choose the normalization, with its confidence and reason; given values override the rest."""
    if options.normalizes():
        start = NORMALIZATIONS[options.normalize or "unit"]
        guess = Guess(start if frame.channels == 3 else replace(start, color="gray"), "sure", "as given")
    else:
        guess = _guess_normalization(source, frame, job, quiet=quiet)
    mean, std = options.numbers("mean"), options.numbers("std")
    overrides = {"mean": mean, "std": std, "scale": options.scale, "color": options.color}
    normalization = replace_numbers(guess.normalization, frame.channels, **overrides)  # type: ignore[arg-type]
    return replace(guess, normalization=normalization)


def _guess_normalization(source: ModelSource, frame: Frame, job: QuantizationJob, *, quiet: bool) -> Guess:
    from tvmq.graph.analysis.input_preprocessing import first_operators  # imports TVM

    first = first_operators(job.mod, job.params, frame.input)
    facts = from_facts(frame.channels, frame.dtype, first, source.metadata)
    if facts is not None:
        return facts
    exe, samples = job.float_exe(quiet=quiet), job.samples
    assert samples is not None
    classifier = count_classes(exe.output_info[0].shape) is not None and np.dtype(exe.output_info[0].dtype).kind == "f"
    if not classifier or len(samples) < 4:
        return by_custom(frame.channels, classifier=classifier)
    pictures = samples.arrays[frame.input][:PICTURES]
    labels = class_labels(samples)
    first_labels = None if labels is None else labels[:PICTURES]
    return from_pixels(frame.channels, lambda one: compute_scores(exe, frame, pictures, one, job.size), first_labels)


def compute_scores(exe: Any, frame: Frame, pictures: np.ndarray, normalization: Normalization, size: int) -> np.ndarray:
    """First output, a row per picture."""
    rows = []
    for start in range(0, len(pictures), size):
        index = np.arange(start, start + size) % len(pictures)
        output = exe.run({frame.input: normalize_pictures(pictures[index], frame, normalization)})[0]
        rows.append(output.reshape(size, -1))
    return np.concatenate(rows)[: len(pictures)]


def normalization_lines(guess: Guess) -> list[str]:
    """Lines with the choice, and how to choose another one."""
    line = f"inputs: {guess} ({guess.normalization.flags()})"
    if guess.confidence == "sure":
        return [line]
    return [
        line,
        "        if this is wrong, so are the ranges: --normalize, or --mean, --std, --scale, --color as in training",
    ]
