"""Comparison of int8 with float on held-out samples: agreement, and a metric if there are labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from tvmq.quantization.meaning.reading import OutputPairs
from tvmq.tools.cli.metrics import IN_POINTS, Metric, mean_metric, metric_named
from tvmq.tools.cli.samples import Feeds, Samples
from tvmq.tools.doctor.label_order import find_other_numbers

MOST_BYTES = 256_000_000  # of the outputs that a metric reads at once


class Agreement:
    """Agreement of two outputs, summed over batches: their difference, and whether they give the same class.

    kind   "scores": a score per class in each row; "index": a class; "": neither, as an embedding, boxes, a sequence
    """

    def __init__(self, kind: str = "") -> None:
        self.signal = self.noise = self.cosine = 0.0
        self.same = self.count = self.rows = 0
        self.kind = kind

    def add(self, ours: np.ndarray, theirs: np.ndarray) -> None:
        """Add the outputs of int8 and of float for some samples."""
        exact = theirs.astype(np.float64)
        self.signal += float(np.square(exact).sum())
        self.noise += float(np.square(exact - ours).sum())
        if self.kind == "scores":
            ours, theirs = (one.reshape(len(one), -1).argmax(axis=1) for one in (ours, theirs))
        if self.kind:
            self.same += int((ours == theirs).sum())
            self.count += ours.size
        elif theirs.dtype.kind == "f":
            self._add_angles(ours.reshape(len(ours), -1), exact.reshape(len(exact), -1))

    def _add_angles(self, ours: np.ndarray, theirs: np.ndarray) -> None:
        """Add the cosines between rows; rows of zeros and of a single number are left out."""
        lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
        has_angle = (lengths > 0) & (ours.shape[1] > 1)
        self.cosine += float(((ours * theirs).sum(axis=1)[has_angle] / lengths[has_angle]).sum())
        self.rows += int(has_angle.sum())

    def to_dict(self) -> dict[str, Any]:
        """Figures for JSON: sqnr_db (None if both are equal or float is zero), same_class for classes, else cosine."""
        known = self.noise > 0 and self.signal > 0
        sqnr = float(10 * np.log10(self.signal / self.noise)) if known else None
        same = {"same_class": self.same / self.count} if self.kind and self.count else {}
        cosine = {"cosine": self.cosine / self.rows} if self.rows else {}
        return {"sqnr_db": sqnr, "equal": self.noise == 0, **same, **cosine}


def judge(
    exe: Any, float_exe: Any, samples: Samples, index: np.ndarray, size: int, *, metric: str | None,
    labels: np.ndarray | None, classes: Mapping[int, str] = MappingProxyType({}), readings: Sequence[Any] = (),
    is_labelled: bool = False, advance: Callable[[], None],
) -> dict[str, Any]:  # fmt: skip
    """Compare the outputs of both models on these samples.

    size      batch size
    classes   {position: kind} of the outputs that give a class, see Agreement
    readings  of the float module, by which outputs are judged besides (quantization/meaning/)
    metric    name of a metric or of a function of the user; None without labels
    is_labelled  True if labels number the classes of the first output
    returns   {"samples", "outputs": {name: agreement}, "read": agreements by readings, "float", "int8": the metric's
              values, "margin" of shares of samples, "float_top1" beside another metric, "other_numbers" of classes
              (label_order.py)}
    """
    infos = exe.output_info
    sums = [Agreement(classes.get(position, "")) for position in range(len(infos))]
    kept: dict[str, list[list[np.ndarray]]] = {"float": [], "int8": []}
    measure = metric_named(metric) if metric else None
    index = _within_memory(index, infos, size) if measure else index
    pairs, count = OutputPairs(readings), -(-len(index) // size)
    for number, feed in enumerate(Feeds(samples, index, size, count=count)):
        real = min(size, len(index) - number * size)
        outputs = {"float": _rows(float_exe.run(feed), real, size), "int8": _rows(exe.run(feed), real, size)}
        for one, ours, theirs in zip(sums, outputs["int8"], outputs["float"], strict=True):
            one.add(ours, theirs)
        pairs.add(outputs["float"], outputs["int8"])
        if measure:
            kept = {name: [*rows, outputs[name]] for name, rows in kept.items()}
        advance()
    agreements = {info.name: one.to_dict() for info, one in zip(infos, sums, strict=True)}
    facts: dict[str, Any] = {"samples": len(index), "outputs": agreements}
    facts |= _describe_agreements(readings, pairs, [info.name for info in infos])
    if measure and labels is not None:
        facts["metric"] = metric
        facts |= {name: _metric(measure, rows, labels[index]) for name, rows in kept.items()}
        scores = np.concatenate([rows[0] for rows in kept["float"]])
        if metric in IN_POINTS:
            facts["margin"] = margin_of(facts["float"], len(index))
        elif is_labelled:
            facts["float_top1"] = mean_metric("top1")(scores, labels[index])
        if is_labelled:
            facts["other_numbers"] = find_other_numbers(scores, labels[index])
    return facts


def margin_of(share: float, samples: int) -> float:
    """Half of the 95 % interval of a share of samples, by Wilson: what so many of them leave open.

    >>> round(margin_of(0.8, 194), 3), round(margin_of(1.0, 12), 3)
    (0.056, 0.121)
    """
    z = 1.96
    spread = share * (1 - share) / samples + z * z / (4 * samples * samples)
    return float(z * np.sqrt(spread) / (1 + z * z / samples))


def _describe_agreements(readings: Sequence[Any], pairs: OutputPairs, names: Sequence[str]) -> dict[str, Any]:
    """{"read": agreements by the readings}, or nothing."""
    if not pairs.wanted:
        return {}
    from tvmq.quantization.meaning.agreement import measure_agreement  # loads TVM

    agreements = measure_agreement(readings, pairs.wanted, pairs.got)
    return {
        "read": [
            {**one.to_dict(), "outputs": [names[index] for index in one.outputs], "summary": str(one)}
            for one in agreements
        ]
    }


def _rows(outputs: list[np.ndarray], real: int, size: int) -> list[np.ndarray]:
    """Rows of real samples, without those that fill up the batch; an output without a row per sample as it is."""
    return [one[:real] if one.ndim and len(one) == size else one[None] for one in outputs]


def _within_memory(index: np.ndarray, infos: Any, size: int) -> np.ndarray:
    """The samples whose outputs fit into MOST_BYTES."""
    one = sum(4 * int(np.prod([d for d in info.shape if isinstance(d, int)])) for info in infos) / max(1, size)
    return index[: max(size, int(MOST_BYTES / max(1.0, one)))]


def _metric(measure: Metric, rows: list[list[np.ndarray]], labels: np.ndarray) -> float:
    """Value of the metric for all samples, from the only output or a list of all."""
    joined = [np.concatenate(parts) for parts in zip(*rows, strict=True)]
    return float(measure(joined[0] if len(joined) == 1 else joined, labels))
