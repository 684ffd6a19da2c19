"""Models that onnxruntime quantized, imported with their own scales: our results beside onnxruntime's.

    python benchmarks/qdq.py --zoo ../shared/zoo [--tasks a,b] [--formats qdq,qoperator,dynamic] [--quick]
    python benchmarks/qdq.py --zoo ../shared/zoo --tasks a --model a.onnx     # a quantized model of that task

Models    each task, quantized by onnxruntime: QDQ and QOperator (static, per channel, uint8 activations, int8 weights,
          MinMax), qdq_tensor (QDQ with one scale for each weight), dynamic (int8 weights); tvmq: quantized by us
          and written by to_onnx, for onnxruntime to run
Columns   score of the float model, of ours, of onnxruntime's (points); SQNR of each against float (dB), gap: ours
          minus onnxruntime's and its standard error over the samples; differing: output values that differ from
          onnxruntime's; operators: codes that differ where each operator gets the same codes as onnxruntime's
          (qdq_operators.py), LSB the largest such difference (static only); back: values that differ after to_onnx
          and import (static only); definition: compiled values that differ from the NumPy definition on the first
          samples
Bounds    0 values that differ from the definition, 0 after the way back; one step for each operator; scores and SQNR
          within 2 standard errors of onnxruntime's, unless its sums saturate on this CPU (peers.saturates). Exit code
          1 where one is missed.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import peers
from common import (
    QUICK_CALIBRATION,
    Feeds,
    Scored,
    batch_one_shape,
    evaluate,
    finish,
    first_inputs,
    load_zoo,
    machine,
    paired,
    parser,
    print_table,
    sqnr,
    write_json,
)
from qdq_operators import compare_operators

FORMATS = ("qdq", "qdq_tensor", "qoperator", "dynamic", "tvmq")
SAMPLES = 2  # compared with the definition
OPERATOR_SAMPLES = 4  # compared operator by operator
BACK_SAMPLES = 20  # compared with what comes back
COLUMNS = (
    "model", "float", "ours", "ort", "SQNR ours", "SQNR ort", "gap", "differing", "operators", "LSB", "back",
    "definition",
)  # fmt: skip


def quantized(task: Any, kind: str, calibration: Any, folder: Path) -> Path:
    """The task's model as onnxruntime quantizes it."""
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_dynamic, quantize_static

    source, out = folder / f"{task.name}.float.onnx", folder / f"{task.name}.{kind}.onnx"
    peers._preprocess(Path(task.model_path), source)
    if kind == "dynamic":
        quantize_dynamic(str(source), str(out), weight_type=QuantType.QInt8, per_channel=True)
        return out
    kinds = {"qdq": QuantFormat.QDQ, "qdq_tensor": QuantFormat.QDQ, "qoperator": QuantFormat.QOperator}
    options: dict[str, Any] = {
        "quant_format": kinds[kind], "per_channel": kind != "qdq_tensor", "activation_type": QuantType.QUInt8,
        "weight_type": QuantType.QInt8, "calibrate_method": CalibrationMethod.MinMax,
    }  # fmt: skip
    try:
        quantize_static(str(source), str(out), peers._Reader(calibration), **options)
    except ValueError:  # a bias beside a per-channel weight
        options["extra_options"] = {"QDQDisableWeightAdjustForInt32Bias": True}
        quantize_static(str(source), str(out), peers._Reader(calibration), **options)
    return out


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
    """One row: a module, and the file that onnxruntime runs."""
    import tvmq

    executable = tvmq.build(module)
    ours, theirs = evaluate(task, executable.run), evaluate(task, peers.session(path))
    difference, error = paired(ours, theirs)
    static = kind != "dynamic"
    inputs = first_inputs(task, OPERATOR_SAMPLES)
    return {
        "name": f"{task.name} {kind}", "float": reference.score, "ours": ours.score, "onnxruntime": theirs.score,
        "sqnr": sqnr(reference, ours), "sqnr_onnxruntime": sqnr(reference, theirs),
        "gap": sqnr_gap(reference, ours, theirs), "difference": difference, "standard_error": error,
        "differing": differing(ours, theirs), "values": sum(o.size for o in ours.outputs),
        "operators": asdict(compare_operators(path, inputs, path.parent)) if static else None,
        "back": back(task, module, executable, path.with_suffix(".back.onnx")) if static else None,
        "definition": definition(task, module, executable),
    }  # fmt: skip


def differing(a: Scored, b: Scored) -> int:
    """Output values that are not equal."""
    return sum(int((x != y).sum()) for x, y in zip(a.outputs, b.outputs, strict=True))


def sqnr_gap(reference: Scored, ours: Scored, theirs: Scored) -> tuple[float, float]:
    """SQNR of ours minus that of theirs in dB, and its standard error by the jackknife over the samples."""
    a, b = (squared_errors(reference, scored) for scored in (ours, theirs))
    if not (a.sum() and b.sum()):
        return (0.0, 0.0) if a.sum() == b.sum() else (float("nan"), 0.0)
    without = 10 * np.log10((b.sum() - b) / (a.sum() - a))
    error = np.sqrt((len(a) - 1) * np.mean((without - without.mean()) ** 2))
    return float(10 * np.log10(b.sum() / a.sum())), float(error)


def squared_errors(reference: Scored, scored: Scored) -> np.ndarray:
    """Of each sample, summed over all its values."""
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
    count = 0
    for feed in first_inputs(task, samples):
        count += sum(int((a != b).sum()) for a, b in zip(one(feed), other(feed), strict=True))
    return count


def row(facts: dict[str, Any]) -> list[str]:
    """The cells of a table."""
    operators, returned = facts["operators"], facts["back"]
    return [
        facts["name"], f"{facts['float']:.2f}", f"{facts['ours']:.2f}", f"{facts['onnxruntime']:.2f}",
        f"{facts['sqnr']:.2f}", f"{facts['sqnr_onnxruntime']:.2f}", "{:.2f} ± {:.2f}".format(*facts["gap"]),
        f"{facts['differing']} of {facts['values']}",
        f"{operators['differing']} of {operators['values']}" if operators else "-",
        str(operators["largest"]) if operators else "-", "-" if returned is None else str(returned),
        str(facts["definition"]),
    ]  # fmt: skip


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


def main() -> None:
    """Print the table."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--formats", default=",".join(FORMATS), help="names, separated by commas")
    arguments.add_argument("--model", type=Path, help="this quantized model of the one task named")
    options = arguments.parse_args()
    logging.getLogger().setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    saturating = peers.saturates()
    print(machine(), peers.describe_sums(saturating), sep="\n")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for task in load_zoo(options.zoo, options.tasks, quick=options.quick).values():
            reference = evaluate(task, peers.session(task.model_path))
            feeds = Feeds(task, QUICK_CALIBRATION if options.quick else 100)
            for kind in [options.model.name] if options.model else options.formats.split(","):
                path, module = Path(folder) / f"{task.name}.tvmq.onnx", None
                if kind == "tvmq":
                    module = written(task, feeds, path)
                else:
                    path = copied(options.model or quantized(task, kind, feeds, Path(folder)), Path(folder))
                rows.append(measure(task, kind, reference, path, module or imported(task, path)))
                print_table(COLUMNS, [row(rows[-1])])
    print_table(COLUMNS, [row(facts) for facts in rows])
    write_json(options.json, {"rows": rows})
    finish(failures(rows, saturating))


if __name__ == "__main__":
    main()
