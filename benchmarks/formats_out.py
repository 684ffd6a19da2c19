"""Networks as TFLite and TOSA, run by the tools of these formats: values that differ from the compiled module.

    pip install "tvmq[tflite]" ai-edge-litert tflite-micro ethos-u-vela; pip install --no-deps tosa-tools
    python benchmarks/formats_out.py
    python benchmarks/formats_out.py --tasks dscnn_digits --samples 2

Each network is quantized for its format and exported; tools run the file on the codes of real test samples, and each
result is compared with that of `exe["quantized_main"]`. LiteRT's reference kernels and tflite-micro compute what the
module says, and so does TOSA's reference model: a value that differs is an error. "layers" compares all tensors of the
file that hold a variable of the module. LiteRT's usual kernels (XNNPACK) round once, see litert_kernels.py: their
differing values are counted. Vela compiles the file for an Ethos-U55 and an Ethos-U85 and tells its estimate of cycles.


Bounds: no value differs where kernels are references.  Exit code 1 where one does.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness.command import Command, argument
from harness.model import Model, core_samples
from harness.report import columns
from harness.zoo import DIGITS, Feeds, chosen_tasks, first_inputs

import tvmq
from tests.support.devices import tflite_runtimes as runtimes
from tvmq import reference
from tvmq.errors import TvmqError

ZOO = ("dscnn_digits", "resnet8_cifar10", "mbconv_se_cifar10", "cell_detector", "unet_membrane", "squeezenet1_1",
       "efficientnet_lite0", "crepe_tiny", "ppocr_cls")  # fmt: skip
CALIBRATION = 64
Samples = list[tuple[list[np.ndarray], list[np.ndarray]]]


def differing(export: Any, compared: Samples, run: Callable[[list[np.ndarray]], list[np.ndarray]]) -> tuple[int, int]:
    """Values in all, and how many differ."""
    values = wrong = 0
    for codes, wanted in compared:
        given = [end.to_file(array) for end, array in zip(export.inputs, codes, strict=True)]
        for end, found, array in zip(export.outputs, run(given), wanted, strict=True):
            values += array.size
            wrong += int((end.from_file(found) != array).sum())
    return values, wrong


def tflite_rows(task: Any, samples: int) -> list[dict[str, Any]]:
    """Rows of LiteRT and tflite-micro, which run the file."""
    name = task.name
    qmod, compared = network(task, samples, "tflite")
    with tempfile.TemporaryDirectory() as folder:
        export = tvmq.to_tflite(qmod, Path(folder) / f"{name}.tflite")
        data = export.path.read_bytes()
        cycles = {key: vela(export.path, chip) for key, chip in CHIPS.items()}
    print(f"{name}: {export}".replace(folder + "/", ""), flush=True)
    with runtimes.silent():
        reference, usual, micro = runtimes.litert(data), runtimes.litert(data, kernels="usual"), runtimes.micro(data)
        watched = runtimes.litert(data, keeps=True)
    count = len(export.outputs)
    runs = {
        "LiteRT reference": (lambda given: runtimes.run_litert(reference, given), True),
        "tflite-micro": (lambda given: runtimes.run_micro(micro, given, count), True),
        "LiteRT usual": (lambda given: runtimes.run_litert(usual, given), False),
    }
    rows = [row(name, "TFLite", tool, differing(export, compared, run), export.size, exact)
            for tool, (run, exact) in runs.items()]  # fmt: skip
    rows[0] |= cycles
    found = between(qmod, export, compared, watched)
    inside = row(name, "TFLite", "LiteRT reference, layers", found, export.size, True)
    return [rows[0], inside, *rows[1:]]


def between(qmod: Any, export: Any, compared: Samples, interpreter: Any) -> tuple[int, int]:
    """Values in all tensors of the file that hold a variable of the module, by the definition; and how many differ."""
    places = {detail["name"]: detail["index"] for detail in interpreter.get_tensor_details()}
    values = wrong = 0
    for codes, _ in compared:
        true: dict[str, np.ndarray] = {}
        reference.run(qmod, codes, function="quantized_main", watch=true.__setitem__)
        runtimes.run_litert(interpreter, [end.to_file(a) for end, a in zip(export.inputs, codes, strict=True)])
        for name, end in export.tensors.items():
            if name in true and end.name in places:
                values += true[name].size
                wrong += int((end.from_file(interpreter.get_tensor(places[end.name])) != true[name]).sum())
    return values, wrong


def tosa_rows(task: Any, samples: int) -> list[dict[str, Any]]:
    """Rows of TOSA's reference model, which runs the file."""
    import tosa_reference_model as model

    name = task.name
    qmod, compared = network(task, samples, "tosa")
    with tempfile.TemporaryDirectory() as folder:
        export = tvmq.to_tosa(qmod, Path(folder) / f"{name}.tosa")
        data = export.path.read_bytes()
    print(f"{name}: {export}".replace(folder + "/", ""), flush=True)

    def run(given: list[np.ndarray]) -> list[np.ndarray]:
        with runtimes.silent():
            found, status = model.run(data, given)
        if status != model.GraphStatus.TOSA_VALID:
            raise SystemExit(f"{name}: the reference model says {status}")
        return list(found)

    return [row(name, "TOSA", "reference model", differing(export, compared, run), export.size, True)]


def vela(path: Path, chip: str) -> str:
    """The estimate of cycles for one inference; why there is none otherwise."""
    folder = path.parent / chip
    command = [str(Path(sys.executable).parent / "vela"), str(path), "--output-dir", str(folder),
               "--accelerator-config", chip]  # fmt: skip
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        return "no vela"
    except subprocess.CalledProcessError as error:
        print(f"{path.name}: vela for {chip}: {error.stderr.strip().splitlines()[-1]}")
        return "refused"
    (summary,) = folder.glob(f"{path.stem}_summary_*.csv")
    with summary.open() as file:
        line = next(iter(csv.DictReader(file)))
    return f"{float(line['cycles_total']):.0f}"


CHIPS = {"u55": "ethos-u55-128", "u85": "ethos-u85-256"}
COLUMNS = columns(
    "network {model} | format {format} | tool {tool} | values {values} | differing {differing} | bytes {bytes}",
    "cycles U55-128 {u55} | U85-256 {u85}",
)


def network(task: Any, samples: int, target: str) -> tuple[Any, Samples]:
    """The integer module, and codes in and out of its core by compiled code."""
    model = Model.of_task(task)
    with tvmq.qconfig(partition_conversions="fully_integral"):
        qmod = tvmq.quantize(model.module, model.params, Feeds(task, CALIBRATION), target=target)
    return qmod, core_samples(qmod, first_inputs(task, samples))


def row(name: str, form: str, tool: str, found: tuple[int, int] | None, size: int | str, exact: bool) -> dict[str, Any]:
    """A line of the table."""
    values, wrong = found if found is not None else ("-", "-")  # type: ignore[assignment]
    return {"model": name, "format": form, "tool": tool, "values": values, "differing": wrong, "bytes": size,
            "u55": "", "u85": "", "exact": exact}  # fmt: skip


def measure(options: Namespace) -> Iterator[dict[str, Any]]:
    """Export, run, compare."""
    for task, _ in chosen_tasks(options):
        for form, rows_of in (("TFLite", tflite_rows), ("TOSA", tosa_rows)):
            try:
                yield from rows_of(task, options.samples)
            except TvmqError as error:
                print(f"{task.name}, {form}: {error}", flush=True)
                yield row(task.name, form, "refused", None, "-", False)


def missed(rows: list[dict[str, Any]], _options: Namespace) -> list[str]:
    """Kernels that are references, and yet differ."""
    wrong = [row for row in rows if row["exact"] and row["differing"]]
    return [f"{row['model']} by {row['tool']}: {row['differing']} differ" for row in wrong]


main = Command(
    __doc__, COLUMNS, measure, missed, (DIGITS, *ZOO),
    arguments=[argument("--samples", type=int, default=8, help="test samples of each network")],
)  # fmt: skip

if __name__ == "__main__":
    main()
