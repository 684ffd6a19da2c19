"""Networks as C on emulated microcontrollers: values that differ from the compiled module, flash and RAM.

    python benchmarks/c_export.py
    python benchmarks/c_export.py --tasks dscnn_digits,autoencoder --cores Cortex-M4 --samples 2 --fuzz 0

Each network is quantized with requantize="fixed_point" and partition_conversions="fully_integral", exported by
tvmq.export_c, compiled without any C library and run by QEMU on real test samples; the program compares each result
with what `exe["quantized_main"]` gave. flash: code and constants of the model alone; RAM: its arena; buffers: arrays of
the caller, for inputs and results; stack: the deepest chain of frames (-fstack-usage), without interrupts.

"Cortex-M0 code" is code of the M0 on a board of the M3, for networks that the micro:bit's 16 kB of RAM do not hold.
--fuzz N compares N random integral networks more, on this machine, with gcc's address and undefined sanitizers.

tflite-micro's columns need `pip install --no-deps tflite-micro flatbuffers`; see tflm_sizes.py for what they count.
Bounds: no value differs.  Exit code 1 where one does.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from harness.command import Command, argument
from harness.model import Model, core_samples
from harness.report import columns
from harness.zoo import DIGITS, Feed, Feeds, first_inputs, load_zoo

import tvmq
from tests.formats.c.random_cores import written
from tests.support.devices.c_harness import CORES, SANITIZED, Core, DoesNotFit, run_on, run_program
from tests.support.models.networks import Net

ZOO = ("dscnn_digits", "resnet8_cifar10", "crepe_tiny")
# The first has the shape of MLPerf Tiny's autoencoder; the second is one that a micro:bit holds
DENSE = {
    "autoencoder": (640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640),
    "small_autoencoder": (128, 64, 16, 64, 128),
}
CALIBRATION = 64
OPTIONS = {"requantize": "fixed_point", "partition_conversions": "fully_integral"}
Samples = list[tuple[list[np.ndarray], list[np.ndarray]]]


def stack_of(core: Core, source: Path) -> str:
    """The sum of the largest frames along run, a layer, a row and what finishes it."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "model.o"
        command = [*core.model_command, "-std=c99", "-fstack-usage", "-c", "-o", target, source]
        subprocess.run(command, check=True, cwd=folder)
        text = target.with_suffix(".su").read_text()
    frames = [(line.split("\t")[0].split(":")[-1], int(line.split("\t")[1])) for line in text.splitlines()]
    run = max((size for name, size in frames if name.endswith("_run")), default=0)
    leaves = [size for name, size in frames if re.match(r"finish|keep|rescale|clamp|wide|add_row|place", name)]
    layers = [size for name, size in frames if not name.endswith("_run")]
    return str(run + max(layers, default=0) + max(leaves, default=0))


def tflm(qmod: Any) -> tuple[str, str]:
    """Bytes of the flatbuffer and of the arena; why there are none otherwise."""
    try:
        from harness.tflm_sizes import sizes

        return tuple(str(number) for number in sizes(qmod))  # type: ignore[return-value]
    except ModuleNotFoundError:
        return "no wheel", "no wheel"
    except NotImplementedError as error:
        return "-", str(error)


@cache
def fuzz(count: int) -> dict[str, int]:
    """Random integral networks: compared, differing, and how many graphs had no integral form."""
    found, seed = {"networks": 0, "values": 0, "differing": 0, "without integral form": 0}, 0
    while found["networks"] < count:
        with tempfile.TemporaryDirectory() as folder:
            made = written(seed, folder)
            seed += 1
            if made is None:
                found["without integral form"] += 1
                continue
            export, codes, wanted = made
            values, differing = run_program(export, [(codes, wanted)], "gcc", ("-O0", *SANITIZED))
        found["networks"] += 1
        found["values"] += values
        found["differing"] += differing
    return found


COLUMNS = columns(
    "model {model} | core {core} | values {values} | differing {differing} | flash {flash} | RAM {ram}",
    "buffers {buffers} | stack {stack} | tflite-micro: file {tflm_file} | arena {tflm_arena}",
)


def autoencoder(samples: int, sizes: Sequence[int]) -> tuple[Any, list[Feed]]:
    """Dense layers of these sizes with random weights, on data of rank 16."""
    net = Net((1, sizes[0]), seed=5)
    y = net.inputs[0]
    for inputs, outputs in zip(sizes[:-2], sizes[1:-1], strict=True):
        y = net.op("Relu", net.dense(y, inputs, outputs))
    mod, params = tvmq.from_onnx(net.model(net.dense(y, *sizes[-2:])))
    random = np.random.default_rng(6)
    basis = random.standard_normal((16, sizes[0])) / 4
    data = [{"x": (random.standard_normal((1, 16)) @ basis).astype(np.float32)} for _ in range(CALIBRATION + samples)]
    with tvmq.qconfig(**OPTIONS):
        return tvmq.quantize(mod, params, data[:CALIBRATION], guard=None), data[CALIBRATION:]


def network(name: str, tasks: dict[str, Any], samples: int) -> tuple[Any, Samples]:
    """A quantized network, and samples of codes with the results of compiled code."""
    if name in DENSE:
        qmod, feeds = autoencoder(samples, DENSE[name])
    else:
        model, feeds = Model.of_task(tasks[name]), first_inputs(tasks[name], samples)
        with tvmq.qconfig(**OPTIONS):
            qmod = tvmq.quantize(model.module, model.params, Feeds(tasks[name], CALIBRATION))
    return qmod, core_samples(qmod, feeds)


def measure(name: str, tasks: dict[str, Any], cores: list[str], samples: int) -> Iterator[dict[str, Any]]:
    """The rows of one network."""
    qmod, compared = network(name, tasks, samples)
    file, arena = tflm(qmod)
    buffers = sum(array.nbytes for arrays in compared[0] for array in arrays)
    with tempfile.TemporaryDirectory() as folder:
        export = tvmq.export_c(qmod, folder, name=name)
        print(f"{name}: {export}".replace(folder + os.sep, ""), flush=True)
        for core in (CORES[c] for c in cores):
            row = {"model": name, "core": core.name, "values": "-", "differing": "-", "flash": "-", "ram": "-",
                   "stack": "-", "buffers": buffers, "tflm_file": file, "tflm_arena": arena}  # fmt: skip
            if core.missing:
                yield {**row, "values": f"no {core.missing}"}
                continue
            try:
                yield {**row, **vars(run_on(core, export, compared)), "stack": stack_of(core, export.source)}
            except DoesNotFit:
                yield {**row, "values": "does not fit"}


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """The rows of all networks."""
    names = options.tasks.split(",")
    tasks = load_zoo(options.zoo, ",".join(name for name in names if name not in DENSE))
    return (row for name in names for row in measure(name, tasks, options.cores.split(","), options.samples))


def fuzz_table(options: Namespace) -> tuple[str, list[str], list[list[str]]]:
    """The counts of random networks."""
    found = fuzz(options.fuzz)
    return "random networks", list(found), [list(map(str, found.values()))]


def missed(rows: list[dict[str, Any]], options: Namespace) -> list[str]:
    """Networks, and random networks, of which values differ."""
    wrong = [row for row in rows if row["differing"] not in ("-", 0)]
    texts = [f"{row['model']} on {row['core']}: {row['differing']} differ" for row in wrong]
    return [*texts, *(["random networks differ"] if fuzz(options.fuzz)["differing"] else [])]


main = Command(
    __doc__, COLUMNS, measure_all, missed, (*ZOO, DIGITS, *DENSE), more=lambda _, options: [fuzz_table(options)],
    arguments=[
        argument("--cores", default=",".join(CORES), help="names, separated by commas"),
        argument("--samples", type=int, default=4, help="test samples of each network"),
        argument("--fuzz", type=int, default=100, help="random networks on this machine"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
