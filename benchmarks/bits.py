"""Bits other than 8: accuracy and size of each choice.

    python benchmarks/bits.py --zoo ../shared/zoo [--tasks resnet8_cifar10] [--modes 8x8,4x8] [--quick] [--turns]
    python benchmarks/bits.py --stream

Modes     MODES, bits of weights x activations x residual streams (float where there is no third number); "weights"
          leaves arithmetic in float
Columns   score in points, its difference to float with the paired standard error, SQNR of all outputs in dB, megabytes
          of all constants of the module, of the .tvmq file of this CPU, each also as a share of the float model's,
          milliseconds a sample, values that differ from the NumPy definition
          groups 32: a scale for each 32 neighbours of a matrix or row; only models whose sizes it divides
Turns     with --turns: microseconds a sample alone, of float and of each mode by turns in one process, the least of
          ROUNDS times REPEATS runs; pin it to a core (taskset -c 1)
Stream    with --stream: one row times a matrix of SIDE x SIDE in each form of PRODUCTS, by turns with a reading of as
          many bytes and of 64 MiB (the largest of so many int8): microseconds, bytes of codes and scales a second, and
          their share of the faster reading; pin it to a core
Bounds    0 differing values. Exit code 1 where one differs.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
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
SIDE, STREAM_ROUNDS = 4096, 150
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
DYNAMIC: dict[str, Any] = {"activations": "dynamic"}
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
    "weights 4 data": Mode({**WEIGHTS, "nbit_weight": 4}),
    "weights 4 groups 32": Mode({**WEIGHTS, "nbit_weight": 4, "group_size": 32}, data=False),
    "weights 4 groups 32 mse": Mode({**WEIGHTS, "nbit_weight": 4, "group_size": 32, "weight_scale": "mse"}, data=False),
    "weights 4 mse data": Mode({**WEIGHTS, "nbit_weight": 4, "weight_scale": "mse"}),
    "weights 4 groups 32 data": Mode({**WEIGHTS, "nbit_weight": 4, "group_size": 32}),
    "dynamic 4": Mode({**DYNAMIC, "nbit_weight": 4}, data=False),
    "dynamic 4 groups 32": Mode({**DYNAMIC, "nbit_weight": 4, "group_size": 32}, data=False),
    "dynamic 4 groups 32 data": Mode({**DYNAMIC, "nbit_weight": 4, "group_size": 32}),
}


# form: its options, bits of a weight with its part of a scale
PRODUCTS: dict[str, tuple[dict[str, Any], float]] = {
    "weights 4": ({**WEIGHTS, "nbit_weight": 4}, 4),
    "weights 4 groups 32": ({**WEIGHTS, "nbit_weight": 4, "group_size": 32}, 5),
    "dynamic 8": (DYNAMIC, 8),
    "dynamic 4": ({**DYNAMIC, "nbit_weight": 4}, 4),
    "dynamic 4 groups 32": ({**DYNAMIC, "nbit_weight": 4, "group_size": 32}, 5),
    "dynamic 4 groups 128": ({**DYNAMIC, "nbit_weight": 4, "group_size": 128}, 4.25),
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


def product_model() -> Any:
    """One row times a matrix."""
    from onnx import TensorProto, helper, numpy_helper

    weight = np.random.default_rng(0).normal(size=(SIDE, SIDE)).astype(np.float32)
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, SIDE]) for name in ("x", "y")]
    node, constant = helper.make_node("MatMul", ["x", "w"], ["y"]), numpy_helper.from_array(weight, "w")
    graph = helper.make_graph([node], "product", values[:1], values[1:], [constant])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def least_seconds(runs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Of each run, by turns."""
    least = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            least[name] = min(least[name], time.perf_counter() - start)
    return least


def measure_stream() -> list[list[str]]:
    """Rows of the table of --stream: form, kernel, bytes, microseconds, GB/s, share of the stream."""
    import tvmq

    mod, params = tvmq.from_onnx(product_model())
    x = {"x": np.random.default_rng(1).normal(size=(1, SIDE)).astype(np.float32)}
    executables = {}
    for name, (options, _) in PRODUCTS.items():
        with tvmq.qconfig(**options):
            executables[name] = tvmq.build(tvmq.quantize(mod, params))
    read = {size: np.ones(size, np.int8) for size in (SIDE**2 * 5 // 8, 2**26)}
    runs = {name: partial(executable.run, x) for name, executable in executables.items()}
    least = least_seconds(runs | {f"stream of {size}": array.max for size, array in read.items()}, STREAM_ROUNDS)
    bits = {name: bits for name, (_, bits) in PRODUCTS.items()} | {f"stream of {size}": 0.0 for size in read}
    stream = max(size / least[f"stream of {size}"] for size in read)
    rows = []
    for name, seconds in least.items():
        size = int(SIDE**2 * bits[name] / 8) or int(name.rpartition(" ")[2])
        kernel = next((k for k in executables[name].kernels.values() if "float" not in k), "") if bits[name] else ""
        speed = size / seconds
        rows.append([name, kernel, str(size), f"{1e6 * seconds:.0f}", f"{speed / 1e9:.1f}", f"{speed / stream:.2f}"])
    return rows


def main() -> None:
    """Command line; see the head of this file."""
    command = parser("Bits other than 8.", tasks=("resnet8_cifar10", "dscnn_digits", "vit_cifar10", "minilm_l6"))
    command.add_argument("--modes", default=",".join(MODES), help="names, separated by commas")
    command.add_argument("--turns", action="store_true", help="nothing but times, modes by turns")
    command.add_argument("--stream", action="store_true", help="nothing but one product, beside a reading of memory")
    options = command.parse_args()
    print(machine(), flush=True)
    if options.stream:
        print_table(["form", "kernel", "bytes", "us", "GB/s", "/ stream"], measure_stream())
        return
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
