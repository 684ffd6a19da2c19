"""Models that onnxruntime quantized, imported with their own scales: our results beside onnxruntime's.

    python benchmarks/qdq.py --zoo ../shared/zoo [--tasks a,b] [--formats qdq,qoperator,dynamic] [--quick]
    python benchmarks/qdq.py --zoo ../shared/zoo --tasks a --model a.onnx     # a quantized model of that task

Models    each task, quantized by onnxruntime: QDQ and QOperator (static, per channel, uint8 activations, int8 weights,
          MinMax), qdq_tensor (QDQ with one scale for each weight), dynamic (int8 weights); tvmq: quantized by us
          and written by to_onnx, for onnxruntime to run
Columns   score of the float model, of ours, of onnxruntime's (points); SQNR of each against float (dB), gap: ours
          minus onnxruntime's and its standard error over the samples; differing: output values that differ from
          onnxruntime's; operators: codes that differ where each operator gets the same codes as onnxruntime's
          (exact/operators.py), LSB the largest such difference (static only); back: values that differ after to_onnx
          and import (static only); definition: compiled values that differ from the NumPy definition on the first
          samples
Bounds    0 values that differ from the definition, 0 after the way back; one step for each operator; scores and SQNR
          within 2 standard errors of onnxruntime's, unless its sums saturate here. Exit code 1 where one is missed.
"""

from __future__ import annotations

import shutil
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from exact.operators import compare_operators
from harness import onnxruntime_peer
from harness.command import Command, argument
from harness.report import columns
from harness.zoo import Scored, batch_one_shape, chosen_tasks, count_unequal, evaluate, first_inputs, paired, sqnr

FORMATS = ("qdq", "qdq_tensor", "qoperator", "dynamic", "tvmq")
SAMPLES = 2  # compared with the definition
OPERATOR_SAMPLES = 4  # compared operator by operator
BACK_SAMPLES = 20  # compared with what comes back


def imported(task: Any, path: Path) -> Any:
    """The integer module of a quantized file."""
    import tvmq

    return tvmq.quantize(*tvmq.from_onnx(path, shape=batch_one_shape(task)))


def written(task: Any, calibration: Any, path: Path) -> Any:
    """The integer module that we make of the float model; the file is what to_onnx writes of it."""
    import tvmq

    module = tvmq.quantize(*tvmq.from_onnx(task.model_path, shape=batch_one_shape(task)), calibration)
    tvmq.to_onnx(module, path)
    return module


def measure(task: Any, kind: str, reference: Scored, path: Path, module: Any) -> dict[str, Any]:
    """Measure one row: a module, and the file that onnxruntime runs."""
    import tvmq

    executable = tvmq.build(module)
    ours, theirs = evaluate(task, executable.run), evaluate(task, onnxruntime_peer.session(path))
    difference, error = paired(ours, theirs)
    static, gap = kind != "dynamic", sqnr_gap(reference, ours, theirs)
    inputs = first_inputs(task, OPERATOR_SAMPLES)
    return {
        "name": f"{task.name} {kind}", "float": reference.score, "ours": ours.score, "onnxruntime": theirs.score,
        "sqnr": sqnr(reference, ours), "sqnr_onnxruntime": sqnr(reference, theirs),
        "gap": gap, "gap_text": "{:.2f} ± {:.2f}".format(*gap), "difference": difference, "standard_error": error,
        "differing": differing(ours, theirs), "values": sum(o.size for o in ours.outputs),
        "operators": asdict(compare_operators(path, inputs, path.parent)) if static else None,
        "back": back(task, module, executable, path.with_suffix(".back.onnx")) if static else None,
        "definition": definition(task, module, executable),
    }  # fmt: skip


def differing(a: Scored, b: Scored) -> int:
    """Output values that are not equal."""
    return count_unequal(a.outputs, b.outputs)


def sqnr_gap(reference: Scored, ours: Scored, theirs: Scored) -> tuple[float, float]:
    """SQNR of ours minus that of theirs in dB, and its standard error by the jackknife over the samples."""
    a, b = (squared_errors(reference, scored) for scored in (ours, theirs))
    if not (a.sum() and b.sum()):
        return (0.0, 0.0) if a.sum() == b.sum() else (float("nan"), 0.0)
    without = 10 * np.log10((b.sum() - b) / (a.sum() - a))
    error = np.sqrt((len(a) - 1) * np.mean((without - without.mean()) ** 2))
    return float(10 * np.log10(b.sum() / a.sum())), float(error)


def squared_errors(reference: Scored, scored: Scored) -> np.ndarray:
    """Squared errors of each sample, summed over all its values."""
    return sum(
        np.square((x - y).astype(np.float64)).reshape(len(x), -1).sum(1)
        for x, y in zip(reference.outputs, scored.outputs, strict=True)
    )


def back(task: Any, module: Any, executable: Any, path: Path) -> int:
    """Values that differ after the way out and in again, on the first samples."""
    import tvmq

    tvmq.to_onnx(module, path)
    again = tvmq.build(tvmq.quantize(*tvmq.from_onnx(path)))
    return compared(task, executable.run, again.run, BACK_SAMPLES)


def definition(task: Any, module: Any, executable: Any) -> int:
    """Compiled values that differ from the definition."""
    import tvmq

    return compared(task, executable.run, tvmq.reference.Reference(module).run, SAMPLES)


def compared(task: Any, one: Any, other: Any, samples: int) -> int:
    """Values that differ between two ways to run a model."""
    return sum(count_unequal(one(feed), other(feed)) for feed in first_inputs(task, samples))


def failures(rows: Sequence[dict[str, Any]], saturating: bool = False) -> list[str]:
    """The bounds that were missed; those beside onnxruntime hold where its sums do not saturate."""
    missed = []
    for r in rows:
        (gap, gap_error), operators = r["gap"], r["operators"]
        if r["definition"]:
            missed.append(f"{r['name']}: {r['definition']} values differ from the definition")
        if r["back"]:
            missed.append(f"{r['name']}: {r['back']} values differ after the way out and in")
        if saturating:
            continue
        if operators and operators["largest"] > 1:
            missed.append(f"{r['name']}: '{operators['worst']}' differs by {operators['largest']} steps")
        if abs(r["difference"]) > 2 * r["standard_error"] + 1e-9:
            missed.append(f"{r['name']}: score differs by {r['difference']:.2f} +- {r['standard_error']:.2f} points")
        if not abs(gap) <= 2 * gap_error + 0.05:
            missed.append(f"{r['name']}: SQNR differs by {gap:.2f} +- {gap_error:.2f} dB")
    return missed


def copied(path: Path, folder: Path) -> Path:
    """The model in a folder where others may be written beside it."""
    return path if path.parent == folder else Path(shutil.copy(path, folder))


COLUMNS = columns(
    "model {name} | float {float:.2f} | ours {ours:.2f} | ort {onnxruntime:.2f} | SQNR ours {sqnr:.2f}",
    "SQNR ort {sqnr_onnxruntime:.2f} | gap {gap_text} | differing {differing} of {values}",
    "operators {operators[differing]} of {operators[values]} | LSB {operators[largest]} | back {back}",
    "definition {definition}",
)


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """A row of each task and format."""
    onnxruntime_peer.be_quiet()
    with tempfile.TemporaryDirectory() as folder:
        for task, feeds in chosen_tasks(options, 100):
            reference = evaluate(task, onnxruntime_peer.session(task.model_path))
            for kind in [options.model.name] if options.model else options.formats.split(","):
                path, module = Path(folder) / f"{task.name}.tvmq.onnx", None
                if kind == "tvmq":
                    module = written(task, feeds, path)
                else:
                    file = options.model or onnxruntime_peer.quantize_format(task, kind, feeds, Path(folder))
                    path = copied(file, Path(folder))
                yield measure(task, kind, reference, path, module or imported(task, path))


main = Command(
    __doc__, COLUMNS, measure_all, lambda rows, _: failures(rows, onnxruntime_peer.saturates()),
    arguments=[
        argument("--formats", default=",".join(FORMATS), help="names, separated by commas"),
        argument("--model", type=Path, help="this quantized model of the one task named"),
    ],
    head=lambda _: [onnxruntime_peer.describe_sums(onnxruntime_peer.saturates())],
)  # fmt: skip

if __name__ == "__main__":
    main()
