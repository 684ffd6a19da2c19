"""Networks as TFLite and TOSA, run by the tools of these formats: values that differ from the compiled module.

    pip install ai-edge-litert tflite-micro ethos-u-vela
    python benchmarks/formats_out.py
    python benchmarks/formats_out.py --tasks dscnn_digits --samples 2

Each network is quantized for its format and exported; tools run the file on the codes of real test samples, and each
result is compared with that of `exe["quantized_main"]`. LiteRT's reference kernels and tflite-micro compute what the
module says: a value that differs is an error. LiteRT's usual kernels (XNNPACK and its own) round otherwise: their
differing values are counted. Vela compiles the file for an Ethos-U55 of 128 MACs and tells its estimate of cycles.

Bounds: no value differs where kernels are references.  Exit code 1 where one does.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import (
    ROOT,
    Feeds,
    batch_one_shape,
    finish,
    first_inputs,
    load_zoo,
    machine,
    parser,
    print_table,
    write_json,
)

import tvmq
from tvmq.demo import load_demo
from tvmq.errors import TvmqError

sys.path.insert(0, str(ROOT))

from tests import tflite_runtimes as runtimes  # noqa: E402

ZOO = ("dscnn_digits", "resnet8_cifar10", "mbconv_se_cifar10", "cell_detector", "unet_membrane", "squeezenet1_1",
       "efficientnet_lite0", "crepe_tiny")  # fmt: skip
CALIBRATION = 64
Samples = list[tuple[list[np.ndarray], list[np.ndarray]]]


def network(name: str, tasks: dict[str, Any], samples: int, target: str) -> tuple[Any, Samples]:
    """The integer module, and codes in and out of its core by compiled code."""
    if name == "digits":
        demo = load_demo()
        mod, params = tvmq.from_onnx(demo.model, shape={"image": (1, *demo.test.shape[1:])})
        data: Any = {"image": demo.calibration[:CALIBRATION]}
        feeds = [{"image": demo.test[i : i + 1]} for i in range(samples)]
    else:
        mod, params = tvmq.from_onnx(tasks[name].model_path, shape=batch_one_shape(tasks[name]))
        data, feeds = Feeds(tasks[name], CALIBRATION), first_inputs(tasks[name], samples)
    with tvmq.qconfig(partition_conversions="fully_integral"):
        qmod = tvmq.quantize(mod, params, data, target=target)
    exe = tvmq.build(qmod)
    first, core, found = exe["quantize_inputs"], exe["quantized_main"], []
    for feed in feeds:
        codes = [array.copy() for array in first.run(feed)]
        results = core.run({info.name: array for info, array in zip(core.input_info, codes, strict=True)})
        found.append((codes, [array.copy() for array in results]))
    return qmod, found


def differing(export: Any, compared: Samples, run: Callable[[list[np.ndarray]], list[np.ndarray]]) -> tuple[int, int]:
    """Values in all, and how many differ."""
    values = wrong = 0
    for codes, wanted in compared:
        given = [end.to_file(array) for end, array in zip(export.inputs, codes, strict=True)]
        for end, found, array in zip(export.outputs, run(given), wanted, strict=True):
            values += array.size
            wrong += int((end.from_file(found) != array).sum())
    return values, wrong


def tflite_rows(name: str, tasks: dict[str, Any], samples: int) -> list[dict[str, Any]]:
    """What LiteRT and tflite-micro make of the file."""
    qmod, compared = network(name, tasks, samples, "tflite")
    with tempfile.TemporaryDirectory() as folder:
        export = tvmq.to_tflite(qmod, Path(folder) / f"{name}.tflite")
        data, cycles = export.path.read_bytes(), vela(export.path)
    print(f"{name}: {export}", flush=True)
    reference, usual, micro = (
        runtimes.litert(data), runtimes.litert(data, reference=False), runtimes.micro(data)
    )  # fmt: skip
    count = len(export.outputs)
    runs = {
        "LiteRT reference": (lambda given: runtimes.run_litert(reference, given), True),
        "LiteRT usual": (lambda given: runtimes.run_litert(usual, given), False),
        "tflite-micro": (lambda given: runtimes.run_micro(micro, given, count), True),
    }
    rows = []
    for tool, (run, exact) in runs.items():
        values, wrong = differing(export, compared, run)
        rows.append({"model": name, "format": "TFLite", "tool": tool, "values": values, "differing": wrong,
                     "bytes": export.size, "cycles": cycles, "exact": exact})  # fmt: skip
    return rows


def vela(path: Path) -> str:
    """The estimate of cycles for one inference; why there is none otherwise."""
    command = [str(Path(sys.executable).parent / "vela"), str(path), "--output-dir", str(path.parent),
               "--accelerator-config", "ethos-u55-128"]  # fmt: skip
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        return "no vela"
    except subprocess.CalledProcessError as error:
        return f"refused: {error.stderr.strip().splitlines()[-1][:60] if error.stderr.strip() else 'no message'}"
    (summary,) = path.parent.glob(f"{path.stem}_summary_*.csv")
    with summary.open() as file:
        row = next(iter(csv.DictReader(file)))
    return f"{float(row['cycles_total']):.0f}"


COLUMNS = (("network", "model"), ("format", "format"), ("tool", "tool"), ("values", "values"),
           ("differing", "differing"), ("bytes", "bytes"), ("Vela: cycles", "cycles"))  # fmt: skip


def main() -> None:
    """Export, run, compare."""
    options = parser(__doc__, tasks=("digits", *ZOO))
    options.add_argument("--samples", type=int, default=8, help="test samples of each network")
    arguments = options.parse_args()
    names = arguments.tasks.split(",")
    tasks = load_zoo(arguments.zoo, ",".join(name for name in names if name != "digits"))
    rows: list[dict[str, Any]] = []
    for name in names:
        try:
            rows += tflite_rows(name, tasks, arguments.samples)
        except TvmqError as error:
            print(f"{name}: {error}", flush=True)
            rows.append({"model": name, "format": "TFLite", "tool": "refused", "values": "-", "differing": "-",
                         "bytes": "-", "cycles": "-", "exact": False})  # fmt: skip
    print_table([title for title, _ in COLUMNS], [[str(row[key]) for _, key in COLUMNS] for row in rows])
    print(machine())
    write_json(arguments.json, {"rows": rows})
    finish([f"{row['model']} by {row['tool']}: {row['differing']} differ" for row in rows
            if row["exact"] and row["differing"]])  # fmt: skip


if __name__ == "__main__":
    main()
