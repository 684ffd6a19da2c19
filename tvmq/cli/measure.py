"""What `tvmq quantize` measures when the model is saved: int8 beside float on data, and their speed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.cli.files import write_whole
from tvmq.cli.judge import judge
from tvmq.cli.metrics import class_labels, metric_named, read_labels, usual_metric, width
from tvmq.cli.opening import Opened
from tvmq.cli.samples import Samples
from tvmq.cli.screen import notice, step
from tvmq.cli.speed import beside
from tvmq.errors import ConfigError, TargetError

IMAGENET = (1000, 1001)  # scores that pictures have without a softmax, more often than not


@dataclass(frozen=True)
class Wanted:
    """What to measure, as the command line has it."""

    compare: bool = True
    bench: bool = True
    threads: int = 1
    metric: str | None = None
    labels: Path | None = None
    save_samples: Path | None = None


def measured(exe: Any, found: Opened, wanted: Wanted, *, quiet: bool) -> dict[str, Any]:
    """Facts: "comparison", "speed", "samples_saved"; what was not wanted, or cannot run here, is absent or says why."""
    samples = found.samples
    if samples is None:
        return {}
    index = found.split.comparison
    facts: dict[str, Any] = {}
    if wanted.save_samples is not None:
        facts["samples_saved"] = save(wanted.save_samples, samples, index)
    if not wanted.compare and not wanted.bench:
        return facts
    try:
        exe.run(_first(samples, found.size))
    except TargetError as error:
        return {**facts, "comparison": {"skipped": f"{error}"}}
    float_exe = found.float_exe(quiet=quiet)
    if wanted.compare:
        facts["comparison"] = compared(exe, float_exe, found, wanted, quiet=quiet)
    if wanted.bench and not found.quantized:  # float would be the same model with conversions
        with step("measure speed", quiet=quiet):
            facts["speed"] = beside(exe, float_exe, _first(samples, found.size), wanted.threads)
    return facts


def compared(exe: Any, float_exe: Any, found: Opened, wanted: Wanted, *, quiet: bool) -> dict[str, Any]:
    """Agreement, and the metric where labels fit; see judge."""
    samples, index = found.samples, found.split.comparison
    assert samples is not None
    labels = read_labels(wanted.labels, samples) if wanted.labels else class_labels(samples)
    metric, reason = _metric(wanted, labels, samples, exe)
    classes = _classes(found, exe, labelled=metric in ("top1", "top5"))
    with step("compare with float", -(-len(index) // found.size), quiet=quiet) as advance:
        facts = judge(
            exe, float_exe, samples, index, found.size, metric=metric, labels=labels, classes=classes, advance=advance
        )
    facts["data"] = "random" if samples.random else "held out" if found.split.apart else "calibration"
    if metric is None:
        facts["no_metric"] = "" if labels is None else reason
    elif not quiet and metric == "top1" and samples.classes:
        _doubt(facts, exe)
    return facts


def _classes(found: Opened, exe: Any, *, labelled: bool) -> dict[int, str]:
    """{position: kind} of the outputs that say a class: by the graph, by labels that fit, or as ImageNet's scores."""
    from tvmq.graph.class_scores import class_outputs

    assert found.samples is not None
    shapes = [info.shape for info in exe.output_info]
    is_row = [shape[:1] == (found.size,) and width(shape) is not None for shape in shapes]
    kinds = {i: kind for i, kind in class_outputs(found.mod).items() if kind == "index" or is_row[i]}
    pictures = any(array.ndim == 4 for array in found.samples.arrays.values())
    if labelled or (pictures and is_row[0] and width(shapes[0]) in IMAGENET):
        kinds.setdefault(0, "scores")
    return kinds


def _metric(wanted: Wanted, labels: np.ndarray | None, samples: Samples, exe: Any) -> tuple[str | None, str]:
    """Name of the metric, or None and why."""
    if wanted.metric is not None:
        metric_named(wanted.metric)
        if labels is None:
            raise ConfigError(
                f"--metric: '{wanted.metric}' needs labels; give --labels, subfolders by class, an array 'labels' of "
                "the .npz, or a function that yields (batch, label)"
            )
        return wanted.metric, ""
    reason = usual_metric(labels, () if wanted.labels else samples.classes, exe.output_info[0].shape)
    return (None, reason) if reason else ("top1", "")


def _doubt(facts: dict[str, Any], exe: Any) -> None:
    """A float model that is hardly better than chance was not prepared as in training, or its classes differ."""
    count = max(2, int(np.prod(exe.output_info[0].shape[1:])))
    if facts["float"] < 2 / count or facts["float"] < 0.05:
        notice(
            f"float itself has {facts['float']:.1%}, near chance: are folders sorted by name in the order of the "
            "model's classes, and pictures prepared as in training (--normalize, --mean, --std, --color)?"
        )


def save(path: Path, samples: Samples, index: np.ndarray) -> str:
    """Prepared inputs, and labels, as .npz; returns the path."""
    arrays = samples.feed(index)
    labels = class_labels(samples)
    extra = {"labels": labels[index]} if labels is not None and "labels" not in arrays else {}
    write_whole(path, lambda file: np.savez(file, **{**arrays, **extra}))
    return str(path)


def _first(samples: Samples, size: int) -> dict[str, np.ndarray]:
    """A batch to measure with."""
    return samples.feed(np.arange(size) % len(samples))
