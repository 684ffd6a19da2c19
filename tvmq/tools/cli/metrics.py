"""Metrics of accuracy: built-in ones and functions of the user, with the labels that they need.

Tests: tests/tools/cli/test_quantize_alone.py
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.base.array_file import ArrayFile
from tvmq.base.regular_file import check_regular
from tvmq.calibration.data.user_function import is_function, load_function
from tvmq.errors import ConfigError, DataError
from tvmq.tools.cli.samples import Samples

Metric = Callable[[Any, np.ndarray], float]
PRECISIONS = ("map50", "map")  # of boxes; decoded as "yolo", or as the name behind a colon says
IN_POINTS = ("top1", "top5")  # shares, whose drop is given in points: hundredths


def mean_metric(name: str) -> Metric:
    """The mean over samples of the scores that `tvmq.search` compares one by one; of "mse", where less is better, the
    error itself.

    >>> mean_metric("top1")(np.eye(3), np.array([0, 1, 1]))
    0.6666666666666666
    """

    def mean(outputs: Any, labels: np.ndarray) -> float:
        from tvmq.quantization.search.scores import METRICS as SCORES  # loads TVM

        return float((-1.0 if name == "mse" else 1.0) * np.mean(SCORES[name](outputs, labels)))

    return mean


METRICS: dict[str, Metric] = {name: mean_metric(name) for name in ("top1", "top5", "mse")}


def metric_named(text: str) -> Metric:
    """A built-in metric, or the user's module:function or file.py:function, called with (outputs, labels).

    raises  ConfigError with the names that exist
    """
    if text in METRICS:
        return METRICS[text]
    if text.partition(":")[0] in PRECISIONS:
        from tvmq.quantization.meaning.mean_precision import precision_named  # loads TVM

        return precision_named(text)  # type: ignore[return-value]
    if is_function(text):
        return load_function(text, "--metric")
    names = ", ".join((*METRICS, *PRECISIONS))
    raise ConfigError(f"--metric: must be one of {names}, or module:function or file.py:function. Got '{text}' instead")


def read_labels(path: Path, samples: Samples) -> np.ndarray:
    """Labels of the samples, in their order: an .npy, an .npz of one array, or text with one per line; for pictures
    also a .csv of "file name,label".

    raises  DataError if their number differs from that of the samples
    """
    with _readable(path):
        labels = _read_by_file_name(path, samples) if path.suffix.lower() == ".csv" else _read_ordered(path)
    if len(labels) < len(samples) or (samples.complete and len(labels) != len(samples)):
        raise DataError(
            f"--labels: '{path}' holds {len(labels)} labels for {len(samples)} samples; give one per sample"
        )
    return labels[: len(samples)]


def find_labels(path: Path | None, samples: Samples) -> np.ndarray | None:
    """Labels of a file if there is one, else those of the samples as class numbers."""
    return class_labels(samples) if path is None else read_labels(path, samples)


def format_metric(name: str, value: float) -> str:
    """Value of a metric as text.

    >>> format_metric("top1", 0.5), format_metric("mse", 0.5)
    ('50.00%', '0.5')
    """
    return f"{value:.2%}" if name in IN_POINTS else f"{value:.6g}"


def check_labels(path: Path) -> None:
    """Check before the model is read that labels can be read; a .csv is checked with its pictures. raises DataError"""
    with _readable(path):
        if path.suffix.lower() == ".csv":
            path.open("rb").close()
        else:
            _read_ordered(path)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Refuse a file of labels that cannot be read. raises DataError"""
    try:
        check_regular(path)
        yield
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or error
        raise DataError(
            f"--labels: '{path}' cannot be read as labels ({problem}); give an .npy, or one label per line"
        ) from error


def _read_ordered(path: Path) -> np.ndarray:
    if path.suffix.lower() == ".txt":
        return np.array([_read_number(word) for word in path.read_text().split()])
    file = ArrayFile(path)
    return file.array() if file.names is None else file[file.names[0]]


def _read_number(word: str) -> float:
    """A label of a .txt. raises ValueError"""
    try:
        return float(word) if "." in word else int(word)
    except ValueError:
        raise ValueError(f"'{word}' is no number") from None


def _read_by_file_name(path: Path, samples: Samples) -> np.ndarray:
    with path.open(newline="", encoding="utf-8") as file:
        rows = {row[0]: row[1] for row in csv.reader(file) if len(row) >= 2}
    missing = [name for name in samples.names if name not in rows and Path(name).name not in rows]
    if missing or not samples.names:
        what = f"no row for '{missing[0]}'" if missing else "file names, but the data are not pictures"
        raise DataError(f"--labels: '{path}' has {what}; write rows of file name,label")
    return np.array([int(rows.get(name, rows.get(Path(name).name, ""))) for name in samples.names])


def class_labels(samples: Samples) -> np.ndarray | None:
    """Class number of each sample: the name of its folder if all are numbers, else the position of the folder.

    >>> named = Samples({"x": np.zeros(3)}, "", np.array([0, 1, 1]), ("3", "10"))
    >>> class_labels(named).tolist()
    [3, 10, 10]
    """
    if samples.labels is None or not samples.classes or not all(name.isdecimal() for name in samples.classes):
        return samples.labels
    return np.array([int(name) for name in samples.classes])[samples.labels]


def usual_metric(labels: np.ndarray | None, classes: Sequence[str], shape: Sequence[int | str]) -> str:
    """Reason why top1 does not fit these labels and the first output, as a clause; "" if it does.

    shape   of the output for a batch
    """
    if labels is None:
        return "no labels"
    count = count_classes(shape)
    if count is None:
        return "the first output is not one score per class"
    if labels.dtype.kind not in "iu" or labels.ndim != 1:
        return "the labels are not class numbers; give --metric"
    if classes and not all(name.isdecimal() for name in classes) and len(classes) != count:
        return (
            f"{len(classes)} folders, but the model has {count} classes; name the folders by class number, or "
            "give --labels"
        )
    if labels.size and not 0 <= labels.min() <= labels.max() < count:
        return f"labels range from {labels.min()} to {labels.max()}, but the model has {count} classes"
    return ""


def count_classes(shape: Sequence[int | str]) -> int | None:
    """Number of classes of an output with this shape; None if it is not one score per class.

    >>> count_classes((1, 10)), count_classes((1, 10, 1, 1)), count_classes((1, 8, 24, 32)), count_classes((1, 1))
    (10, 10, None, None)
    """
    sizes = [size for size in shape[1:] if size != 1]
    return sizes[0] if len(sizes) == 1 and isinstance(sizes[0], int) else None
