"""What all benchmarks share: the zoo of trained models, scores and their errors, tables, the machine.

One thread unless `set_threads` says otherwise, before TVM is imported. Benchmarks are scripts of this folder,
`python benchmarks/accuracy.py`, with tvmq installed. The zoo is a folder with a `tasks.py`, whose `tasks()`
gives {name: task}. A task has
    model_path                           float32 ONNX file
    calibration(batch, limit)            yields {input name: float32 array}
    test_inputs(batch)                   likewise
    evaluate(predict, batch) -> score    higher is better; leaves `per_sample` and `standard_error`
    metric, input_name                   texts
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

for _variable in ("TVM_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402  (reads OMP_NUM_THREADS)

ROOT = Path(__file__).parents[1]
PICTURE_TASKS = (
    "efficientnet_lite0", "squeezenet1_1", "resnet8_cifar10", "mbconv_se_cifar10", "ppocr_cls",
    "cell_detector", "dscnn_digits",
)  # fmt: skip
TRANSFORMERS = ("vit_cifar10", "minilm_l6")
TASKS = (*PICTURE_TASKS, "crepe_tiny", "compact_sr_x2", "unet_membrane", *TRANSFORMERS)
IN_POINTS = {"psnr": 1.0}  # factor from a metric to the points we print; 100 for the shares of hits
QUICK_TEST, QUICK_CALIBRATION = 100, 32

Feed = dict[str, np.ndarray]
Predict = Callable[[Feed], Sequence[np.ndarray]]


def first_inputs(task: Any, count: int) -> list[Feed]:
    """The first test samples of a task, one by one."""
    return [feed for feed, _ in zip(task.test_inputs(batch=1), range(count), strict=False)]


@dataclass(frozen=True, eq=False)
class Scored:
    """One evaluation: score and per-sample scores in points, and all outputs over all test samples."""

    score: float
    per_sample: np.ndarray
    outputs: list[np.ndarray]


class Feeds:
    """The calibration samples of a task one by one; can be read again and again.

    limit       at most so many; None = all
    """

    def __init__(self, task: Any, limit: int | None = None) -> None:
        self.task, self.limit = task, limit

    def __iter__(self) -> Iterator[Feed]:
        return iter(self.task.calibration(batch=1, limit=self.limit))


def parser(description: str, *, tasks: Sequence[str] = TASKS) -> argparse.ArgumentParser:
    """Command line with the options that all benchmarks have."""
    result = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    result.add_argument("--zoo", type=Path, default=ROOT.parent / "shared" / "zoo", help="folder of tasks.py")
    result.add_argument("--tasks", default=",".join(tasks), help="names, separated by commas")
    result.add_argument(
        "--cache", type=Path, default=Path("build/benchmarks"), help="folder of models made for comparison"
    )
    result.add_argument("--json", type=Path, help="also write the figures to this file")
    result.add_argument("--quick", action="store_true", help="few samples: a look, not a result")
    return result


def set_threads(count: int) -> None:
    """Threads of compiled code; call before TVM is imported."""
    os.environ["TVM_NUM_THREADS"] = str(count)


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
    """The named tasks of a zoo, in the order of `names`.

    names       separated by commas; of all TASKS those are left out, with a line, that this zoo lacks
    quick       keep the first test samples only
    """
    wanted = [name for name in names.split(",") if name]
    if not wanted:
        return {}
    tasks = zoo_module(folder, "tasks").tasks()
    missing = [name for name in wanted if name not in tasks]
    if missing and wanted == list(TASKS):
        print(f"left out, as the zoo lacks them: {', '.join(missing)}", flush=True)
        wanted = [name for name in wanted if name in tasks]
    elif missing:
        raise SystemExit(f"benchmark: the zoo at {folder} lacks {', '.join(missing)}; it has {', '.join(tasks)}")
    chosen = {name: tasks[name] for name in wanted}
    if quick:
        for task in chosen.values():
            _shorten(task)
    return chosen


def _shorten(task: Any) -> None:
    """Keep the first test samples, where every array of labels has one entry a sample."""
    inputs, labels = task._data("test")
    if all(len(values) == len(inputs) for values in labels.values()):
        kept = {key: values[:QUICK_TEST] for key, values in labels.items()}
        task._cache["test"] = (inputs[:QUICK_TEST], kept)


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


def of_network(net: Any) -> Predict:
    """The torch network as the function that tasks evaluate."""
    import torch

    from tvmq.graph.symbolic import inputs_of

    names = [given.name for given in inputs_of(net.integers)]

    @torch.no_grad()
    def predict(feed: Feed) -> list[np.ndarray]:
        outputs = net(*(torch.from_numpy(feed[name]) for name in names))
        return [output.numpy() for output in (outputs if isinstance(outputs, list) else [outputs])]

    return predict


def standard_error(values: np.ndarray) -> float:
    """Of the mean of `values`."""
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


def machine() -> str:
    """CPU, what it can do for int8, cores, and the versions that matter; one line."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    flags = set(facts.get("flags", "").split())
    wanted = ("avx2", "avx512f", "avx512bw", "avx512_vnni", "avx512_bf16", "amx_int8")
    packages = ("apache-tvm", "onnxruntime", "numpy")
    parts = [
        facts.get("model name", platform.processor() or platform.machine()),
        f"family {facts.get('cpu family', '?')} model {facts.get('model', '?')}",
        " ".join(flag for flag in wanted if flag in flags),
        f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.2f}",
        f"Python {platform.python_version()}",
        *(f"{package} {metadata.version(package)}" for package in packages),
    ]
    return ", ".join(part for part in parts if part)


def table_text(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with aligned columns: first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [headers, *rows]) for i in range(len(headers))]

    def line(cells: Sequence[str]) -> str:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        padded[0] = cells[0].ljust(widths[0])
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * width if i == 0 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    return "\n".join([line(headers), line(rule), *map(line, rows)])


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print `table_text`."""
    print(table_text(headers, rows), flush=True)


def write_json(path: Path | None, record: dict[str, Any]) -> None:
    """The figures and the machine they were measured on; nothing without a path."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine(), **record}, indent=1, default=float) + "\n")


def finish(failures: Sequence[str]) -> None:
    """Print the verdict; exit with 1 where a bound was missed."""
    for failure in failures:
        print(f"FAIL {failure}")
    print("all bounds hold" if not failures else f"{len(failures)} bounds missed", flush=True)
    if failures:
        raise SystemExit(1)
