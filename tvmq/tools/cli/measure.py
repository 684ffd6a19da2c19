"""Measurements of `tvmq quantize` on the saved model: int8 beside float on data, and the speed of both.

Tests: tests/tools/cli/test_quantize_alone.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import typer

from tvmq.errors import ConfigError, TargetError, TvmqError
from tvmq.tools.cli.arguments import RESULT
from tvmq.tools.cli.bound import parse_kinds
from tvmq.tools.cli.console import step
from tvmq.tools.cli.data import random_samples
from tvmq.tools.cli.doubts import add_doubt
from tvmq.tools.cli.files import write_output
from tvmq.tools.cli.judge import judge
from tvmq.tools.cli.metrics import (
    IN_POINTS,
    PRECISIONS,
    class_labels,
    count_classes,
    find_labels,
    metric_named,
    usual_metric,
)
from tvmq.tools.cli.onnxruntime_peers import onnxruntime_runs
from tvmq.tools.cli.opening import QuantizationJob
from tvmq.tools.cli.samples import Samples, split
from tvmq.tools.cli.speed import measure_speed
from tvmq.tools.doctor.label_order import describe_numbers

FEW_BOXES = 0.05  # mean precision below which the float model finds none of the labelled boxes
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
    peers         Also quantize with onnxruntime, and time its int8. Its float is timed wherever it is installed.
    threads       Threads of the speed measurement.
    save_samples  Write the preprocessed samples that judge the result as .npz, for verify, compare, run and bench.
    """

    PANEL: ClassVar[str] = RESULT
    labels: Path | None = None
    metric: str | None = None
    outputs: list[str] | None = None
    compare: bool = True
    bench: bool = True
    peers: bool = False
    threads: Annotated[int, typer.Option(min=1)] = 1
    save_samples: Path | None = None
    doctor: str = ""


def measure(exe: Any, job: QuantizationJob, options: Measurements, *, quiet: bool) -> dict[str, Any]:
    """Facts: "comparison", "speed", "samples_saved"; absent if not requested, with a reason if impossible."""
    if job.samples is None:
        options = replace(options, compare=False) if job.is_prequantized else options
        is_measured = options.compare or options.bench
        return _measure_without_data(exe, job, options, quiet=quiet) if is_measured else {}
    samples, index = job.samples, job.split.comparison
    facts: dict[str, Any] = {}
    if options.save_samples is not None:
        facts["samples_saved"] = save_samples(options.save_samples, samples, index)
    if not options.compare and not options.bench:
        return facts
    try:
        exe.run(_first_batch(samples, job.size))
    except TargetError as error:
        return {**facts, "comparison": {"skipped": f"{error}"}}
    # of a model that is quantized already it would be the same model with conversions: its speed says nothing
    float_exe = job.float_exe(quiet=quiet) if options.compare or not job.is_prequantized else None
    if options.compare:
        facts["comparison"] = compare_outputs(exe, float_exe, job, options, quiet=quiet)
    if options.bench:
        rival = None if job.is_prequantized else float_exe
        facts["speed"] = _measure_speed(exe, rival, job, options, quiet=quiet)
    return facts


def _measure_without_data(
    exe: Any, job: QuantizationJob, options: Measurements, *, quiet: bool
) -> dict[str, Any]:
    """Facts on random inputs, which show the speed; nothing where none can be made for the model."""
    random = random_samples(job.inputs)
    trial = replace(job, samples=random, split=split(len(random)))
    try:
        return measure(exe, trial, replace(options, save_samples=None), quiet=quiet)
    except TvmqError as error:
        reason = {"skipped": f"no samples, and random ones do not fit ({error})"}
        return {} if job.is_prequantized else {"comparison": reason}


def _measure_speed(
    exe: Any, float_exe: Any, job: QuantizationJob, options: Measurements, *, quiet: bool
) -> dict[str, Any]:
    """Speed of int8 and float, beside onnxruntime if the model is a file that it reads."""
    assert job.samples is not None
    feed = _first_batch(job.samples, job.size)
    with step("measure speed", quiet=quiet):
        is_onnx = job.path is not None and job.path.suffix.lower() == ".onnx"
        runs, reasons = (
            onnxruntime_runs(
                job.path, feed, options.threads, int8=options.peers, is_quantized=job.is_prequantized
            )
            if is_onnx and job.path
            else ({}, {})
        )
        speed = measure_speed(exe, float_exe, feed, options.threads, runs)
    return {**speed, **({"not_run": reasons} if reasons else {})}


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
            readings=bound_readings(job.mod, parse_kinds(options.outputs)),
            is_labelled=not usual_metric(labels, (), exe.output_info[0].shape), advance=advance,
        )  # fmt: skip
    facts["data"] = "random" if samples.random else "held out" if job.split.apart else "calibration"
    if metric is None:
        facts["no_metric"] = "" if labels is None else reason
    accuracy = facts["float"] if metric == "top1" else facts.get("float_top1")
    is_chance = accuracy is not None and is_near_chance(accuracy, exe.output_info[0].shape)
    if is_chance:
        facts["near_chance"] = True
    if numbers := facts.pop("other_numbers", {}):
        folders = " (class folders, sorted by name, must be in the order of its classes)" if samples.classes else ""
        add_doubt(job, f"{describe_numbers(numbers)}, so accuracy says nothing{folders}", options.doctor)
    elif accuracy is not None and is_chance:
        add_doubt(job, _near_chance(accuracy, samples), options.doctor)
    elif metric is not None and metric.partition(":")[0] in PRECISIONS and facts["float"] < FEW_BOXES:
        add_doubt(job, _no_boxes(metric, facts["float"]), options.doctor)
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
    >>> is_near_chance(0.55, (1, 2)), is_near_chance(0.62, (1, 2))
    (True, False)
    """
    chance = 1 / max(2, int(np.prod(scores[1:])))
    return accuracy < chance + min(chance, 0.15 * (1 - chance)) or accuracy < 0.05


def _near_chance(accuracy: float, samples: Samples) -> str:
    """Advice for a float model near chance: labels in another order than its classes, or inputs prepared otherwise."""
    question = (
        "are the class folders, sorted by name, in the order of the model's classes, and the pictures preprocessed as "
        "in training (--normalize, --mean, --std, --color)?"
        if samples.classes
        else "do labels number the classes as the model does, and are arrays preprocessed as in training "
        "(normalization, axis of the channels)?"
    )
    return f"the float model has {accuracy:.1%}, near chance, so the comparison says nothing of int8: {question}"


def _no_boxes(metric: str, precision: float) -> str:
    """Advice for a float detector that finds none of the labelled boxes."""
    return (
        f"the float model has {metric} {precision:.3f}, so the comparison says nothing of int8: are labels rows of "
        "class, x1, y1, x2, y2 in pixels of the input, classes numbered as the model does, and pictures prepared as in "
        "training?"
    )


def save_samples(path: Path, samples: Samples, index: np.ndarray) -> str:
    """Write preprocessed inputs, and labels, as .npz; returns the path."""
    arrays = samples.take(index)
    labels = class_labels(samples)
    extra = {"labels": labels[index]} if labels is not None and "labels" not in arrays else {}
    write_output(path, lambda file: np.savez(file, **{**arrays, **extra}))
    return str(path)


def _first_batch(samples: Samples, size: int) -> dict[str, np.ndarray]:
    """The first batch, to measure with."""
    return samples.take(np.arange(size) % len(samples))
