"""The int8 model beside the float one, on samples that were kept apart: agreement, and a metric where labels are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tvmq.cli.metrics import Metric, metric_named, width
from tvmq.cli.samples import Feeds, Samples

MOST_BYTES = 256_000_000  # of outputs that a metric needs at once


class Agreement:
    """Sums over batches: how far outputs are apart, and whether they name the same class."""

    def __init__(self, is_classifier: bool) -> None:
        self.signal = self.noise = 0.0
        self.same = self.count = 0
        self.is_classifier = is_classifier

    def add(self, ours: np.ndarray, theirs: np.ndarray) -> None:
        """Outputs of int8 and of float for some samples."""
        exact = theirs.astype(np.float64)
        self.signal += float(np.square(exact).sum())
        self.noise += float(np.square(exact - ours).sum())
        self.count += len(ours)
        if self.is_classifier:
            classes = (one.reshape(len(one), -1).argmax(axis=1) for one in (ours, theirs))
            self.same += int((next(classes) == next(classes)).sum())

    def to_dict(self) -> dict[str, Any]:
        """sqnr_db is None where both are equal, or float gives zeros alone."""
        known = self.noise > 0 and self.signal > 0
        sqnr = float(10 * np.log10(self.signal / self.noise)) if known else None
        same = {"same_class": self.same / self.count} if self.is_classifier and self.count else {}
        return {"sqnr_db": sqnr, "equal": self.noise == 0, **same}


def judge(
    exe: Any,
    float_exe: Any,
    samples: Samples,
    index: np.ndarray,
    size: int,
    *,
    metric: str | None,
    labels: np.ndarray | None,
    classes: bool = True,
    advance: Callable[[], None],
) -> dict[str, Any]:
    """Facts about the outputs of both on these samples.

    size      samples in a batch
    classes   the first output may be scores of classes
    metric    name of a metric or of the user's function, None without labels
    returns   {"samples", "outputs": {name: agreement}, "float", "int8": the metric's values}
    """
    infos = exe.output_info
    sums = [Agreement(classes and i == 0 and width(info.shape) is not None) for i, info in enumerate(infos)]
    kept: dict[str, list[list[np.ndarray]]] = {"float": [], "int8": []}
    measure = metric_named(metric) if metric else None
    index = _bounded(index, infos, size) if measure else index
    count = -(-len(index) // size)
    for number, feed in enumerate(Feeds(samples, index, size, count=count)):
        real = min(size, len(index) - number * size)
        found = {"float": _rows(float_exe.run(feed), real, size), "int8": _rows(exe.run(feed), real, size)}
        for one, ours, theirs in zip(sums, found["int8"], found["float"], strict=True):
            one.add(ours, theirs)
        if measure:
            kept = {name: [*rows, found[name]] for name, rows in kept.items()}
        advance()
    facts = {"samples": len(index), "outputs": {i.name: s.to_dict() for i, s in zip(infos, sums, strict=True)}}
    if measure and labels is not None:
        facts["metric"] = metric
        facts |= {name: _metric(measure, rows, labels[index]) for name, rows in kept.items()}
    return facts


def _rows(outputs: list[np.ndarray], real: int, size: int) -> list[np.ndarray]:
    """The rows of real samples; an output without a row for each sample as it is."""
    return [one[:real] if one.ndim and len(one) == size else one[None] for one in outputs]


def _bounded(index: np.ndarray, infos: Any, size: int) -> np.ndarray:
    """As many of the samples as their outputs may take memory."""
    one = sum(4 * int(np.prod([d for d in info.shape if isinstance(d, int)])) for info in infos) / max(1, size)
    return index[: max(size, int(MOST_BYTES / max(1.0, one)))]


def _metric(measure: Metric, rows: list[list[np.ndarray]], labels: np.ndarray) -> float:
    """The value for all samples: of the only output, or of a list of them."""
    joined = [np.concatenate(parts) for parts in zip(*rows, strict=True)]
    return float(measure(joined[0] if len(joined) == 1 else joined, labels))
