"""Trained models with labelled data, and their scores.

The zoo is a folder with a `tasks.py`, whose `tasks()` gives {name: task}. A task has
    model_path                           float32 ONNX file
    calibration(batch, limit)            yields {input name: float32 array}
    test_inputs(batch)                   likewise
    evaluate(predict, batch) -> score    higher is better; leaves `per_sample` and `standard_error`
    metric, input_name                   texts
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

PICTURE_TASKS = (
    "efficientnet_lite0", "squeezenet1_1", "resnet8_cifar10", "mbconv_se_cifar10", "ppocr_cls",
    "cell_detector", "dscnn_digits",
)  # fmt: skip
TRANSFORMERS = ("vit_cifar10", "minilm_l6")
TASKS = (*PICTURE_TASKS, "crepe_tiny", "compact_sr_x2", "unet_membrane", *TRANSFORMERS)
DIGITS = "digits"
IN_POINTS = {"psnr": 1.0}  # factor from a metric to the points we print; 100 for the shares of hits
QUICK_TEST, QUICK_CALIBRATION = 100, 32

Feed = dict[str, np.ndarray]
Predict = Callable[[Feed], Sequence[np.ndarray]]
Figures = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Scored:
    """Result of an evaluation: score and per-sample scores in points, and all outputs over all test samples."""

    score: float
    per_sample: np.ndarray
    outputs: list[np.ndarray]


class Feeds:
    """The calibration samples of a task one by one, at most `limit`; can be read again and again."""

    def __init__(self, task: Any, limit: int | None = None) -> None:
        self.task, self.limit = task, limit

    def __iter__(self) -> Iterator[Feed]:
        return iter(self.task.calibration(batch=1, limit=self.limit))


@dataclass(eq=False)
class ArrayTask:
    """A classifier and its arrays, in the form of the zoo's tasks.

    model_path    the ONNX file, or its bytes
    data          [n, ...] to calibrate with
    tests, labels to score with, a label for each sample or for each of its steps
    per_sample    scores of the last `evaluate`, one a sample
    """

    name: str
    model_path: Any
    data: np.ndarray
    tests: np.ndarray
    labels: np.ndarray
    input_name: str = "x"
    metric: str = "top1"
    per_sample: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def calibration(self, batch: int = 1, limit: int | None = None) -> Iterator[Feed]:
        """Yield the calibration samples, in order."""
        return self._batches(self.data[:limit], batch)

    def test_inputs(self, batch: int = 1) -> Iterator[Feed]:
        """Yield the test samples."""
        return self._batches(self.tests, batch)

    def _batches(self, values: np.ndarray, batch: int) -> Iterator[Feed]:
        return ({self.input_name: values[start : start + batch]} for start in range(0, len(values), batch))

    def evaluate(self, predict: Predict, batch: int = 1) -> float:
        """Share of right classes."""
        outputs = np.concatenate([predict(feed)[0] for feed in self.test_inputs(batch)])
        right = outputs.argmax(axis=1) == self.labels
        self.per_sample = right.reshape(len(right), -1).mean(axis=1)
        return float(self.per_sample.mean())


def digits_task(*, quick: bool = False) -> ArrayTask:
    """The embedded example."""
    from tvmq.demo import load_demo

    demo, count = load_demo(), QUICK_TEST if quick else None
    return ArrayTask(DIGITS, demo.model, demo.calibration, demo.test[:count], demo.labels[:count], "image")


def zoo_module(folder: Path, name: str) -> Any:
    """A script of the zoo, imported from its file."""
    path = folder / f"{name}.py"
    if not path.exists():
        raise SystemExit(f"benchmark: no zoo at {folder} ({name}.py is missing); give its folder with --zoo")
    spec = importlib.util.spec_from_file_location(f"zoo_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_zoo(folder: Path, names: str, *, quick: bool = False) -> dict[str, Any]:
    """The named tasks of a zoo, in the order of `names`; "digits" is the embedded example.

    names       separated by commas; of all TASKS those are left out, with a line, that this zoo lacks
    quick       keep the first test samples only
    """
    wanted = [name for name in names.split(",") if name]
    tasks = {DIGITS: digits_task(quick=quick)} if DIGITS in wanted else {}
    if set(wanted) > set(tasks):
        tasks |= zoo_module(folder, "tasks").tasks()
    missing = [name for name in wanted if name not in tasks]
    if missing and wanted == list(TASKS):
        print(f"left out, as the zoo lacks them: {', '.join(missing)}", flush=True)
        wanted = [name for name in wanted if name in tasks]
    elif missing:
        raise SystemExit(f"benchmark: the zoo at {folder} lacks {', '.join(missing)}; it has {', '.join(tasks)}")
    chosen = {name: tasks[name] for name in wanted}
    for task in chosen.values() if quick else ():
        _shorten(task)
    return chosen


def _shorten(task: Any) -> None:
    """Keep the first test samples, where every array of labels has one entry a sample."""
    if isinstance(task, ArrayTask):
        return
    inputs, labels = task._data("test")
    if all(len(values) == len(inputs) for values in labels.values()):
        kept = {key: values[:QUICK_TEST] for key, values in labels.items()}
        task._cache["test"] = (inputs[:QUICK_TEST], kept)


def chosen_tasks(options: Any, limit: int | None = None) -> Iterator[tuple[Any, Feeds]]:
    """Each task of the command line with its calibration samples: all, at most `limit`, or few of a quick run."""
    for task in load_zoo(options.zoo, options.tasks, quick=options.quick).values():
        yield task, Feeds(task, QUICK_CALIBRATION if options.quick else limit)


def first_inputs(task: Any, count: int) -> list[Feed]:
    """The first test samples of a task, one by one."""
    return list(islice(task.test_inputs(batch=1), count))


def batch_one_shape(task: Any) -> dict[str, tuple[int, ...]]:
    """{input: shape} of one sample, as `tvmq.from_onnx(shape=...)` takes it."""
    return {name: array.shape for name, array in next(iter(Feeds(task, 1))).items()}


def evaluate(task: Any, predict: Predict, batch: int = 1) -> Scored:
    """Score of a model, `batch` samples at once, with its outputs kept: those that fill the last batch too."""
    kept: list[list[np.ndarray]] = []

    def keep(feed: Feed) -> list[np.ndarray]:
        outputs = [np.array(output, np.float32) for output in predict(feed)]  # a copy: buffers may be reused
        kept.append(outputs)
        return outputs

    score = task.evaluate(keep, batch)
    points = IN_POINTS.get(task.metric, 100.0)
    outputs = [np.concatenate(parts) for parts in zip(*kept, strict=True)]
    return Scored(points * score, points * task.per_sample, outputs)


def standard_error(values: np.ndarray) -> float:
    """Standard error of the mean of `values`."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def paired(ours: Scored, other: Scored) -> tuple[float, float]:
    """Difference of two scores on the same samples, and its standard error (points)."""
    return ours.score - other.score, standard_error(ours.per_sample - other.per_sample)


def sqnr(reference: Scored, other: Scored) -> float:
    """Signal to noise of all outputs over all samples: 10 log10(sum f^2 / sum (f - q)^2), dB.

    >>> a = Scored(0.0, np.zeros(2), [np.array([3.0, 4.0])])
    >>> b = Scored(0.0, np.zeros(2), [np.array([3.0, 4.5])])
    >>> sqnr(a, b)
    20.0
    """
    signal = noise = 0.0
    for f, q in zip(reference.outputs, other.outputs, strict=True):
        signal += float(np.sum(np.square(f, dtype=np.float64)))
        noise += float(np.sum(np.square(f.astype(np.float64) - q)))
    return float(10 * np.log10(signal / noise)) if noise else float("inf")


def score_figures(scored: Scored, reference: Scored) -> Figures:
    """Score, its difference to the reference with the paired standard error, and SQNR."""
    difference, error = paired(scored, reference)
    return {"score": scored.score, "difference": difference, "error": error, "sqnr": sqnr(reference, scored)}


def count_unequal(some: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> int:
    """Values that are not equal, over all pairs of arrays."""
    return sum(int(np.count_nonzero(a != b)) for a, b in zip(some, others, strict=True))


def bit_differences(ours: Scored, other: Scored) -> int:
    """Values of the outputs that are not equal in every bit."""
    pairs = zip(ours.outputs, other.outputs, strict=True)
    return sum(int(np.count_nonzero(a.view(f"u{a.itemsize}") != b.view(f"u{b.itemsize}"))) for a, b in pairs)
