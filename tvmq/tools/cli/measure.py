"""Measurements of `tvmq quantize` on the saved model: int8 beside float on data, and the speed of both.

Speed is that of int8 and of our own float build by turns, on this CPU.

Tests: tests/tools/cli/test_quantize_alone.py
"""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import typer

from tvmq.errors import ConfigError, TargetError
from tvmq.tools.cli.arguments import RESULT
from tvmq.tools.cli.bound import parse_kinds
from tvmq.tools.cli.console import notice, step
from tvmq.tools.cli.files import write_output
from tvmq.tools.cli.judge import judge
from tvmq.tools.cli.metrics import IN_POINTS, class_labels, count_classes, find_labels, metric_named, usual_metric
from tvmq.tools.cli.opening import QuantizationJob
from tvmq.tools.cli.samples import Samples

ROUNDS = 9
ROUND_SECONDS = 0.06  # of each model in a round


def measure_speed(exe: Any, float_exe: Any, feed: Mapping[str, np.ndarray], threads: int) -> dict[str, Any]:
    """Median seconds of a run of both; rounds take turns, so that a busy machine slows both alike.

    returns  {"float_seconds", "int8_seconds", "ratio", "ratio_low", "ratio_high": over rounds, ...}
    """
    exes = {"float": float_exe, "int8": exe}
    first = {name: one.benchmark(feed, repeat=3, threads=threads).median for name, one in exes.items()}
    repeat = {name: max(1, min(1000, round(ROUND_SECONDS / seconds))) for name, seconds in first.items()}
    rounds = [
        {name: one.benchmark(feed, repeat=repeat[name], threads=threads).median for name, one in exes.items()}
        for _ in range(ROUNDS)
    ]
    ratios = sorted(one["float"] / one["int8"] for one in rounds)
    return {
        **{f"{name}_seconds": statistics.median(one[name] for one in rounds) for name in exes},
        "ratio": statistics.median(ratios), "ratio_low": ratios[1], "ratio_high": ratios[-2], "threads": threads,
        "cpu": f"{cpu_name()} ({exe.target.mcpu})", "cores": count_cores(), "load": load_average(),
    }  # fmt: skip


def cpu_name(path: Path = Path("/proc/cpuinfo")) -> str:
    """Name of the CPU, as the system gives it."""
    lines = path.read_text().splitlines() if path.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def count_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_average() -> float | None:
    """Load average: processes that want to run, this one included; None where the system does not report it."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


IMAGENET = (1000, 1001)  # scores that pictures have without a softmax, more often than not


@dataclass(frozen=True)
class Measurements:
    """Measurements requested on the command line, and the command that checks model and data.

    labels        Labels in the order of the samples (.npy, .txt), or a .csv of file,label. Default: subfolders, an
                  array 'labels' of the .npz, or what the function yields.
    metric        Accuracy metric: top1, top5, mse, map50 (boxes of a YOLO, labels class, x1, y1, x2, y2; or
                  map50:yolov5, map50:yolov8), or a function of (outputs, labels) as module:function or
                  file.py:function. Default: top1 if there are labels that fit.
    outputs       Kind of an output where its structure does not show it: detections, heatmap, classes, sequence, mask,
                  embedding or numbers. Example: --outputs boxes=detections
    compare       Compare the outputs of int8 and float.
    bench         Measure the speed of int8 and float.
    threads       Threads of the speed measurement.
    save_samples  Write the preprocessed samples that judge the result as .npz, for verify, compare, run and bench.
    """

    PANEL: ClassVar[str] = RESULT
    labels: Path | None = None
    metric: str | None = None
    outputs: list[str] | None = None
    compare: bool = True
    bench: bool = True
    threads: Annotated[int, typer.Option(min=1)] = 1
    save_samples: Path | None = None
    doctor: str = ""


def measure(exe: Any, job: QuantizationJob, options: Measurements, *, quiet: bool) -> dict[str, Any]:
    """Facts: "comparison", "speed", "samples_saved"; absent if not requested, with a reason if impossible."""
    samples = job.samples
    if samples is None:
        return {}
    index = job.split.comparison
    facts: dict[str, Any] = {}
    if options.save_samples is not None:
        facts["samples_saved"] = save_samples(options.save_samples, samples, index)
    if not options.compare and not options.bench:
        return facts
    try:
        exe.run(_first_batch(samples, job.size))
    except TargetError as error:
        return {**facts, "comparison": {"skipped": f"{error}"}}
    float_exe = job.float_exe(quiet=quiet)
    if options.compare:
        facts["comparison"] = compare_outputs(exe, float_exe, job, options, quiet=quiet)
    if options.bench and not job.is_prequantized:  # float would be the same model with conversions
        with step("measure speed", quiet=quiet):
            facts["speed"] = measure_speed(exe, float_exe, _first_batch(samples, job.size), options.threads)
    return facts


def compare_outputs(
    exe: Any, float_exe: Any, job: QuantizationJob, options: Measurements, *, quiet: bool
) -> dict[str, Any]:
    """Agreement, and the metric where labels fit; see judge."""
    from tvmq.quantization.meaning.agreement import bound_readings  # loads TVM

    samples, index = job.samples, job.split.comparison
    assert samples is not None
    labels = find_labels(options.labels, samples)
    metric, reason = _metric(options, labels, samples, exe)
    classes = _classes(job, exe, labelled=metric in IN_POINTS)
    with step("compare with float", -(-len(index) // job.size), quiet=quiet) as advance:
        facts = judge(
            exe, float_exe, samples, index, job.size, metric=metric, labels=labels, classes=classes,
            readings=bound_readings(job.mod, parse_kinds(options.outputs)), advance=advance,
        )  # fmt: skip
    facts["data"] = "random" if samples.random else "held out" if job.split.apart else "calibration"
    if metric is None:
        facts["no_metric"] = "" if labels is None else reason
    elif metric == "top1" and is_near_chance(facts["float"], exe.output_info[0].shape):
        facts["near_chance"] = True
        notice(_near_chance(facts["float"], samples, options.doctor))
    return facts


def _classes(job: QuantizationJob, exe: Any, *, labelled: bool) -> dict[int, str]:
    """{position: kind} of the outputs that say a class: by the graph, by labels that fit, or as ImageNet's scores."""
    from tvmq.graph.analysis.class_scores import class_outputs

    assert job.samples is not None
    shapes = [info.shape for info in exe.output_info]
    is_row = [shape[:1] == (job.size,) and count_classes(shape) is not None for shape in shapes]
    kinds = {i: kind for i, kind in class_outputs(job.mod).items() if kind == "index" or is_row[i]}
    pictures = any(array.ndim == 4 for array in job.samples.arrays.values())
    if labelled or (pictures and is_row[0] and count_classes(shapes[0]) in IMAGENET):
        kinds.setdefault(0, "scores")
    return kinds


def _metric(options: Measurements, labels: np.ndarray | None, samples: Samples, exe: Any) -> tuple[str | None, str]:
    """Name of the metric, or None and why."""
    if options.metric is not None:
        metric_named(options.metric)
        if labels is None:
            raise ConfigError(
                f"--metric: '{options.metric}' needs labels; give --labels, subfolders by class, an array 'labels' in "
                "the .npz, or a function that yields (batch, label)"
            )
        return options.metric, ""
    reason = usual_metric(labels, () if options.labels else samples.classes, exe.output_info[0].shape)
    return (None, reason) if reason else ("top1", "")


def is_near_chance(accuracy: float, scores: Sequence[int]) -> bool:
    """True for a model that finds classes hardly more often than one that guesses, or less often than one in twenty.

    scores  shape of its result, samples first

    >>> is_near_chance(0.19, (1, 10)), is_near_chance(0.31, (1, 10)), is_near_chance(0.04, (1, 1000))
    (True, False, True)
    """
    return accuracy < 2 / max(2, int(np.prod(scores[1:]))) or accuracy < 0.05


def _near_chance(accuracy: float, samples: Samples, doctor: str) -> str:
    """Advice for a float model near chance: labels in another order than its classes, or inputs prepared otherwise."""
    question = (
        "are the class folders, sorted by name, in the order of the model's classes, and the pictures preprocessed as "
        "in training (--normalize, --mean, --std, --color)?"
        if samples.classes
        else "do labels number the classes as the model does, and are arrays preprocessed as in training "
        "(normalization, axis of the channels)?"
    )
    return (
        f"WARNING: the float model has {accuracy:.1%}, near chance, so the comparison says nothing of int8: {question}"
        + (f" To find out: {doctor}" if doctor else "")
    )


def save_samples(path: Path, samples: Samples, index: np.ndarray) -> str:
    """Write preprocessed inputs, and labels, as .npz; returns the path."""
    arrays = samples.feed(index)
    labels = class_labels(samples)
    extra = {"labels": labels[index]} if labels is not None and "labels" not in arrays else {}
    write_output(path, lambda file: np.savez(file, **{**arrays, **extra}))
    return str(path)


def _first_batch(samples: Samples, size: int) -> dict[str, np.ndarray]:
    """The first batch, to measure with."""
    return samples.feed(np.arange(size) % len(samples))
