"""Models that onnxruntime quantized, imported with their own scales: our results beside onnxruntime's.

    python benchmarks/qdq.py --zoo ../shared/zoo [--tasks a,b] [--formats qdq,qoperator,dynamic] [--quick]

Models    each task, quantized by onnxruntime: QDQ and QOperator (static, per channel, uint8 activations, int8 weights,
          MinMax), dynamic (int8 weights)
Columns   score of the float model, of ours, of onnxruntime's (points); SQNR of each against float; differing: output
          values that differ from onnxruntime's, and of how many; largest: the largest difference in steps of the
          result's scale, where the result was quantized; back: values that differ after to_onnx and import (static
          only); definition: compiled values that differ from the NumPy definition on the first samples
Bounds    0 values that differ from the definition; scores within 2 standard errors of the paired difference from
          onnxruntime's. Exit code 1 where one is missed.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Sequence
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
    load_zoo,
    machine,
    paired,
    parser,
    print_table,
    sqnr,
    write_json,
)

FORMATS = ("qdq", "qoperator", "dynamic")
TASKS = ("resnet8_cifar10", "dscnn_digits", "mbconv_se_cifar10", "ppocr_cls", "squeezenet1_1")
SAMPLES = 2  # compared with the definition
COLUMNS = ("model", "float", "ours", "ort", "SQNR ours", "SQNR ort", "differing", "largest", "back", "definition")


def quantized(task: Any, kind: str, calibration: Any, folder: Path) -> Path:
    """The task's model as onnxruntime quantizes it."""
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_dynamic, quantize_static

    source, out = folder / f"{task.name}.float.onnx", folder / f"{task.name}.{kind}.onnx"
    peers._preprocess(Path(task.model_path), source)
    if kind == "dynamic":
        quantize_dynamic(str(source), str(out), weight_type=QuantType.QInt8, per_channel=True)
        return out
    kinds = {"qdq": QuantFormat.QDQ, "qoperator": QuantFormat.QOperator}
    options: dict[str, Any] = {
        "quant_format": kinds[kind], "per_channel": True, "activation_type": QuantType.QUInt8,
        "weight_type": QuantType.QInt8, "calibrate_method": CalibrationMethod.MinMax,
    }  # fmt: skip
    try:
        quantize_static(str(source), str(out), peers._Reader(calibration), **options)
    except ValueError:  # a bias beside a per-channel weight
        options["extra_options"] = {"QDQDisableWeightAdjustForInt32Bias": True}
        quantize_static(str(source), str(out), peers._Reader(calibration), **options)
    return out


def measure(task: Any, kind: str, reference: Scored, calibration: Any, folder: Path) -> dict[str, Any]:
    """One row."""
    import tvmq

    path = quantized(task, kind, calibration, folder)
    module = tvmq.quantize(*tvmq.from_onnx(path, shape=batch_one_shape(task)))
    executable = tvmq.build(module)
    ours, theirs = evaluate(task, executable.run), evaluate(task, peers.session(path))
    difference, error = paired(ours, theirs)
    return {
        "name": f"{task.name} {kind}", "float": reference.score, "ours": ours.score, "onnxruntime": theirs.score,
        "sqnr": sqnr(reference, ours), "sqnr_onnxruntime": sqnr(reference, theirs),
        "differing": differing(ours, theirs), "values": sum(o.size for o in ours.outputs),
        "largest": largest_step(module, ours, theirs), "difference": difference, "standard_error": error,
        "back": None if kind == "dynamic" else back(task, module, executable, folder / "back.onnx"),
        "definition": definition(task, module, executable),
    }  # fmt: skip


def differing(a: Scored, b: Scored) -> int:
    """Output values that are not equal."""
    return sum(int((x != y).sum()) for x, y in zip(a.outputs, b.outputs, strict=True))


def largest_step(module: Any, ours: Scored, theirs: Scored) -> float | None:
    """Largest difference in steps of the results' scales; None where a result was not quantized."""
    from tvmq.graph.view import View, const_value, op_name

    view, largest = View(module), 0.0
    for name, a, b in zip(view.outputs, ours.outputs, theirs.outputs, strict=True):
        call = view.value[name]
        if op_name(call) != "tvmq.dequantize" or str(call.args[0].ty.dtype) == "int32":
            return None
        largest = max(largest, float(np.abs(a - b).max()) / float(const_value(call.args[1])))
    return largest


def back(task: Any, module: Any, executable: Any, path: Path) -> int:
    """Values that differ after the way out and in again, on the first samples."""
    import tvmq

    tvmq.to_onnx(module, path)
    again = tvmq.build(tvmq.quantize(*tvmq.from_onnx(path)))
    return compared(task, executable.run, again.run, 50)


def definition(task: Any, module: Any, executable: Any) -> int:
    """Compiled values that differ from the definition."""
    import tvmq

    return compared(task, executable.run, tvmq.reference.Reference(module).run, SAMPLES)


def compared(task: Any, one: Any, other: Any, samples: int) -> int:
    """Values that differ between two ways to run a model."""
    count = 0
    for feed, _ in zip(task.test_inputs(batch=1), range(samples), strict=False):
        count += sum(int((a != b).sum()) for a, b in zip(one(feed), other(feed), strict=True))
    return count


def row(facts: dict[str, Any]) -> list[str]:
    """The cells of a table."""
    largest, returned = facts["largest"], facts["back"]
    return [
        facts["name"], f"{facts['float']:.2f}", f"{facts['ours']:.2f}", f"{facts['onnxruntime']:.2f}",
        f"{facts['sqnr']:.2f}", f"{facts['sqnr_onnxruntime']:.2f}", f"{facts['differing']} of {facts['values']}",
        "-" if largest is None else f"{largest:.0f}", "-" if returned is None else str(returned),
        str(facts["definition"]),
    ]  # fmt: skip


def failures(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The bounds that were missed."""
    missed = [f"{r['name']}: {r['definition']} values differ from the definition" for r in rows if r["definition"]]
    for r in rows:
        if abs(r["difference"]) > 2 * r["standard_error"] + 1e-9:
            missed.append(f"{r['name']}: score differs by {r['difference']:.2f} +- {r['standard_error']:.2f} points")
    return missed


def main() -> None:
    """Print the table."""
    arguments = parser(__doc__ or "", tasks=TASKS)
    arguments.add_argument("--formats", default=",".join(FORMATS), help="names, separated by commas")
    options = arguments.parse_args()
    logging.getLogger().setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    print(machine())
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for task in load_zoo(options.zoo, options.tasks, quick=options.quick).values():
            reference = evaluate(task, peers.session(task.model_path))
            feeds = Feeds(task, QUICK_CALIBRATION if options.quick else 100)
            for kind in options.formats.split(","):
                rows.append(measure(task, kind, reference, feeds, Path(folder)))
                print_table(COLUMNS, [row(rows[-1])])
    print_table(COLUMNS, [row(facts) for facts in rows])
    write_json(options.json, {"rows": rows})
    finish(failures(rows))


if __name__ == "__main__":
    main()
