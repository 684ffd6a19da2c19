"""Context of the checks of a model: the model, its samples, intermediate results, and measures of outputs.

Tests: tests/tools/doctor/test_model_checks.py
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import tvm

from tvmq.calibration.dataset import Dataset, Input, samples_in
from tvmq.codegen.compile.build import build
from tvmq.graph.symbolic import inputs_of
from tvmq.options.config import QConfig

Arrays = dict[str, np.ndarray]
# Outputs of all samples, in order -> one figure a sample, higher is better.
Score = Callable[[Sequence[np.ndarray], np.ndarray], np.ndarray]
FEW = 8


@dataclass
class CheckContext:
    """A float model, its samples, and results that later checks need.

    proto    the ONNX model; None for models of torch
    mod      its module, with `params`
    arrays   {input: samples}
    config   options of quantization
    labels   labels of the samples, or None
    deadline time.monotonic() after which no further trial begins
    is_fatal        True once a finding makes it pointless to run the model
    ran_out_of_time True once a trial was skipped because of the deadline
    outliers {layer: (place, ratio to the median)} of weights, which explain the worst layers
    channels ranges of the channels of every layer, which explain them too
    int8_result     results of the checks in loss.py
    """

    proto: Any
    mod: tvm.IRModule
    params: Mapping[str, Any]
    arrays: Arrays
    config: QConfig = field(default_factory=QConfig)
    labels: np.ndarray | None = None
    deadline: float = float("inf")
    is_fatal: bool = False
    ran_out_of_time: bool = False
    outliers: dict[str, tuple[str, float]] = field(default_factory=dict)
    channels: list[Any] = field(default_factory=list)
    int8_result: Any = None

    @cached_property
    def inputs(self) -> list[Input]:
        """Inputs of the model, without its weights."""
        return [info for info in inputs_of(self.mod) if info.name not in self.params]

    @cached_property
    def samples(self) -> int:
        """Number of samples."""
        return samples_in(self.arrays)

    @cached_property
    def float_run(self) -> Callable[[Mapping[str, Any]], list[np.ndarray]]:
        """The float model, compiled."""
        return build(self.mod, params=self.params).run

    def half(self, which: int) -> Arrays:
        """Every other sample: half 0 calibrates, half 1 judges; all samples if there are only a few."""
        step = slice(which, None, 2) if self.samples >= 2 * FEW else slice(None)
        return {name: array[step] if array.ndim else array for name, array in self.arrays.items()}

    def labels_of_half(self, which: int) -> np.ndarray | None:
        """Labels of the samples of `half(which)`."""
        if self.labels is None:
            return None
        return self.labels[which::2] if self.samples >= 2 * FEW else self.labels

    def is_late(self) -> bool:
        """True after the deadline; sets `ran_out_of_time`."""
        late = time.monotonic() > self.deadline
        self.ran_out_of_time = self.ran_out_of_time or late
        return late

    def outputs(self, run: Callable[[Mapping[str, Any]], Sequence[np.ndarray]], arrays: Arrays) -> list[np.ndarray]:
        """Outputs of all samples: concatenated where they have a row for each sample, else stacked by batch."""
        parts: list[list[np.ndarray]] = []
        for feed, count in Dataset(arrays, self.inputs):
            size = samples_in(feed)
            parts.append([y[:count] if y.ndim and len(y) == size else y[None] for y in map(np.asarray, run(feed))])
        return [np.concatenate(rows) for rows in zip(*parts, strict=True)]


def first_samples(arrays: Arrays, count: int) -> Arrays:
    """The first samples of each input; scalars as they are."""
    return {name: array[:count] if array.ndim else array for name, array in arrays.items()}


def class_scores(outputs: Sequence[np.ndarray]) -> np.ndarray | None:
    """Class scores (samples, classes); None if the model is not a classifier.

    >>> class_scores([np.zeros((4, 10))]).shape, class_scores([np.zeros((4, 3, 8, 8))])
    ((4, 10), None)
    """
    for y in outputs[:1]:
        flat = y.reshape(len(y), -1)
        if sum(size > 1 for size in y.shape[1:]) == 1 and flat.shape[1] <= 100_000 and y.dtype.kind == "f":
            return flat
    return None


def accuracy(outputs: Sequence[np.ndarray], labels: np.ndarray) -> np.ndarray | None:
    """1.0 for each sample whose highest score is that of its label, else 0.0; None if labels do not fit the outputs."""
    scores = class_scores(outputs)
    if scores is None or labels.shape != (len(scores),) or labels.dtype.kind not in "iu":
        return None
    return (scores.argmax(axis=1) == labels).astype(np.float64)
