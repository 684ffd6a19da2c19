"""Bits other than 8: accuracy and size of each choice.

    python benchmarks/bits.py --zoo ../shared/zoo [--tasks resnet8_cifar10] [--modes 8x8,4x8] [--quick] [--turns]

Modes     MODES, bits of weights x activations x residual streams (float where there is no third number); "weights"
          leaves arithmetic in float
Columns   score in points, its difference to float with the paired standard error, SQNR of all outputs in dB, megabytes
          of all constants of the module, of the .tvmq file of this CPU, each also as a share of the float model's,
          milliseconds a sample, values that differ from the NumPy definition
          groups 32: a scale for each 32 neighbours of a matrix or row; only models whose sizes it divides
Turns     with --turns: microseconds a sample alone, of float and of each mode by turns in one process, the least of
          ROUNDS times REPEATS runs; pin it to a core (taskset -c 1)
Bounds    0 differing values. Exit code 1 where one differs.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import ours
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
from without_data import constant_bytes

ROUNDS, REPEATS = 60, 5
COMPARED = 2  # samples compared with the definition
COLUMNS = (
    ("task, mode", "{task} {mode}"),
    ("score", "{score:.2f}"),
    ("- float", "{difference:+.2f} ± {error:.2f}"),
    ("SQNR", "{sqnr:.1f}"),
    ("constants MB", "{constants:.3f}"),
    ("/ float", "{constants_share:.3f}"),
    ("file MB", "{file:.3f}"),
    ("/ float", "{file_share:.3f}"),
    ("ms", "{milliseconds:.3f}"),
    ("differing", "{differing}"),
)


@dataclass(frozen=True)
class Mode:
    """Options of one choice, and whether they need calibration data."""

    options: dict[str, Any] = field(default_factory=dict)
    data: bool = True


WEIGHTS: dict[str, Any] = {"activations": None}
STREAMS: dict[str, Any] = {"residual_streams": "int16"}
MODES: dict[str, Mode] = {
    "8x8": Mode(),
    "4x8": Mode({"nbit_weight": 4}),
    "8x16": Mode({"dtype_input": "int16", "nbit_input": 16}),
    "8x12": Mode({"dtype_input": "int16", "nbit_input": 12}),
    "8x8x16": Mode(STREAMS),
    "8x8x16 fixed_point": Mode({**STREAMS, "requantize": "fixed_point"}),
    "8x8x16 power_of_two": Mode({**STREAMS, "requantize": "power_of_two"}),
    "4x8x16": Mode({**STREAMS, "nbit_weight": 4}),
    "weights 8": Mode(WEIGHTS, data=False),
    "weights 4": Mode({**WEIGHTS, "nbit_weight": 4}, data=False),
    "weights 4 groups 32": Mode({**WEIGHTS, "nbit_weight": 4, "group_size": 32}, data=False),
    "weights 4 groups 32 mse": Mode({**WEIGHTS, "nbit_weight": 4, "group_size": 32, "weight_scale": "mse"}, data=False),
}


def file_bytes(executable: Any) -> int:
    """Of the saved model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.tvmq"
        executable.save(path)
        return path.stat().st_size


def measure(task: Any, model: ours.Model, feeds: Feeds, mode: str, reference: Scored, whole: int) -> dict[str, Any]:
    """One mode of one task; whole: bytes of the float constants."""
    import tvmq

    with tvmq.qconfig(**MODES[mode].options):
        module = tvmq.quantize(model.module, model.params, feeds if MODES[mode].data else None)
    executable = tvmq.build(module)
    tests = first_inputs(task, COMPARED)
    checked = tvmq.verify(executable, tests)
    scored = evaluate(task, ours.predict(executable))
    difference, error = paired(scored, reference)
    constants, file = constant_bytes(module), file_bytes(executable)
    return {
        "task": task.name, "mode": mode, "score": scored.score, "difference": difference, "error": error,
        "sqnr": sqnr(reference, scored), "constants": constants / 1e6, "constants_share": constants / whole,
        "file": file / 1e6, "file_share": file / whole, "milliseconds": milliseconds(executable, tests),
        "differing": checked.differing,
    }  # fmt: skip


def milliseconds(executable: Any, feeds: list[dict[str, np.ndarray]], repeat: int = 20) -> float:
    """The median of single runs."""
    times = []
    for feed in feeds * repeat:
        start = time.perf_counter()
        executable.run(feed)
        times.append(time.perf_counter() - start)
    return 1000 * float(np.median(times))


def least_microseconds(task: Any, model: ours.Model, feeds: Feeds, modes: list[str]) -> dict[str, float]:
    """Of float and of each mode, by turns."""
    import tvmq

    executables = {"float": model.floats()}
    for mode in modes:
        with tvmq.qconfig(**MODES[mode].options):
            module = tvmq.quantize(model.module, model.params, feeds if MODES[mode].data else None)
        executables[mode] = tvmq.build(module)
    (feed,) = first_inputs(task, 1)
    least = dict.fromkeys(executables, float("inf"))
    for _ in range(ROUNDS):
        for name, executable in executables.items():
            start = time.perf_counter()
            for _ in range(REPEATS):
                executable.run(feed)
            least[name] = min(least[name], 1e6 * (time.perf_counter() - start) / REPEATS)
    return least


def main() -> None:
    """Command line; see the head of this file."""
    command = parser("Bits other than 8.", tasks=("resnet8_cifar10", "dscnn_digits", "vit_cifar10", "minilm_l6"))
    command.add_argument("--modes", default=",".join(MODES), help="names, separated by commas")
    command.add_argument("--turns", action="store_true", help="nothing but times, modes by turns")
    options = command.parse_args()
    print(machine(), flush=True)
    rows = []
    for task in load_zoo(options.zoo, options.tasks, quick=options.quick).values():
        model = ours.Model.read(task.model_path, batch_one_shape(task))
        if options.turns:
            feeds = Feeds(task, QUICK_CALIBRATION if options.quick else None)
            times = least_microseconds(task, model, feeds, options.modes.split(","))
            print(task.name, ", ".join(f"{name} {value:.1f} us" for name, value in times.items()), flush=True)
            continue
        reference = evaluate(task, ours.predict(model.floats()))
        whole = sum(np.asarray(array).nbytes for array in model.params.values())
        feeds = Feeds(task, QUICK_CALIBRATION if options.quick else None)
        for mode in options.modes.split(","):
            rows.append(measure(task, model, feeds, mode, reference, whole))
            print(", ".join(f"{title} {form.format(**rows[-1])}" for title, form in COLUMNS), flush=True)
    if options.turns:
        return
    print_table([title for title, _ in COLUMNS], [[form.format(**row) for _, form in COLUMNS] for row in rows])
    failures = [f"{row['task']} {row['mode']}: {row['differing']} values differ" for row in rows if row["differing"]]
    write_json(options.json, {"quick": options.quick, "rows": rows, "failures": failures})
    finish(failures)


if __name__ == "__main__":
    main()
