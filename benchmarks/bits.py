"""Bits other than 8: accuracy and size of each choice.

    python benchmarks/bits.py --zoo ../shared/zoo [--tasks resnet8_cifar10] [--modes 8x8,4x8] [--turns]
    python benchmarks/bits.py --zoo ../shared/zoo --tasks minilm_l6 --modes "8x8,dynamic,weights 8,weights 4"
    python benchmarks/bits.py --stream

Modes     MODES, bits of weights x activations x residual streams (float where there is no third number); "weights"
          leaves arithmetic in float, "dynamic" makes scales at run time: without calibration data
Columns   score in points, its difference to float with the paired standard error, SQNR of all outputs in dB, share of
          multiply-accumulates in 8 bits, megabytes of all constants of the module and of the .tvmq file of this CPU,
          each also as a share of the float model's, milliseconds a sample, values that differ from the NumPy definition
          groups 32: a scale for each 32 neighbours of a matrix or row; only models whose sizes it divides
Turns     with --turns: microseconds a sample alone, of float and of each mode by turns in one process, the least of
          ROUNDS times REPEATS runs; pin it to a core (taskset -c 1)
Stream    with --stream: one row times a matrix of SIDE x SIDE in each form of PRODUCTS, by turns with a reading of as
          many bytes and of 64 MiB (the largest of so many int8): microseconds, bytes of codes and scales a second, and
          their share of the faster reading; pin it to a core
Bounds    0 differing values; "dynamic" not below float by more than 1 point or 2 paired standard errors. Exit code 1
          where one is missed.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from harness.command import Command, argument
from harness.model import Model, constant_bytes, file_bytes, integer_share, onnx_model
from harness.report import Columns, columns
from harness.timing import least_seconds
from harness.zoo import Feeds, Scored, chosen_tasks, evaluate, first_inputs, score_figures

import tvmq

ROUNDS, REPEATS = 60, 5
SIDE, STREAM_ROUNDS = 4096, 150


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
    "dynamic": Mode(DYNAMIC, data=False),
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


def measure(task: Any, model: Model, feeds: Feeds, mode: str, reference: Scored, whole: int) -> dict[str, Any]:
    """Measure one mode of one task; whole: bytes of the float constants."""
    module = quantized(model, feeds, mode)
    executable = tvmq.build(module)
    tests = first_inputs(task, 2)
    constants, file = constant_bytes(module), file_bytes(executable)
    return {
        "task": task.name, "mode": mode, **score_figures(evaluate(task, executable.run), reference),
        "share": 100 * integer_share(module), "constants": constants / 1e6, "constants_share": constants / whole,
        "file": file / 1e6, "file_share": file / whole, "milliseconds": milliseconds(executable, tests),
        "differing": tvmq.verify(executable, tests).differing,
    }  # fmt: skip


def milliseconds(executable: Any, feeds: list[dict[str, np.ndarray]], repeat: int = 20) -> float:
    """The median of single runs."""
    times = []
    for feed in feeds * repeat:
        start = time.perf_counter()
        executable.run(feed)
        times.append(time.perf_counter() - start)
    return 1000 * float(np.median(times))


COLUMNS = columns(
    "task, mode {task} {mode} | score {score:.2f} | - float {difference:+.2f} ± {error:.2f} | SQNR {sqnr:.1f}",
    "int8 % {share:.1f} | constants MB {constants:.3f} | / float {constants_share:.3f} | file MB {file:.3f}",
    "/ float {file_share:.3f} | ms {milliseconds:.3f} | differing {differing}",
)
STREAM = columns(
    "form {form} | kernel {kernel} | bytes {bytes} | us {us:.0f} | GB/s {speed:.1f} | / stream {share:.2f}"
)


def quantized(model: Model, feeds: Feeds, mode: str) -> Any:
    """The integer module of a mode."""
    with tvmq.qconfig(**MODES[mode].options):
        return tvmq.quantize(model.module, model.params, feeds if MODES[mode].data else None)


def least_microseconds(task: Any, model: Model, feeds: Feeds, modes: list[str]) -> dict[str, float]:
    """Microseconds of float and of each mode, by turns."""
    executables = {"float": model.floats()} | {mode: tvmq.build(quantized(model, feeds, mode)) for mode in modes}
    (feed,) = first_inputs(task, 1)
    runs = {name: partial(executable.run, feed) for name, executable in executables.items()}
    return {name: 1e6 * seconds for name, seconds in least_seconds(runs, ROUNDS, REPEATS).items()}


def measure_stream() -> Iterator[dict[str, Any]]:
    """Rows of --stream: one row times a matrix, in each form, beside a reading of memory."""
    from onnx import helper

    weight = np.random.default_rng(0).normal(size=(SIDE, SIDE)).astype(np.float32)
    product = onnx_model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": [1, SIDE]}, {"w": weight})
    mod, params = tvmq.from_onnx(product)
    x = {"x": np.random.default_rng(1).normal(size=(1, SIDE)).astype(np.float32)}
    executables = {}
    for name, (options, _) in PRODUCTS.items():
        with tvmq.qconfig(**options):
            executables[name] = tvmq.build(tvmq.quantize(mod, params))
    sizes = {name: int(SIDE**2 * bits / 8) for name, (_, bits) in PRODUCTS.items()}
    read = {f"stream of {size}": np.ones(size, np.int8) for size in (SIDE**2 * 5 // 8, 2**26)}
    runs = {name: partial(executable.run, x) for name, executable in executables.items()}
    least = least_seconds(runs | {name: array.max for name, array in read.items()}, STREAM_ROUNDS)
    sizes |= {name: array.size for name, array in read.items()}
    stream = max(sizes[name] / least[name] for name in read)
    for name, seconds in least.items():
        kernels = executables[name].kernels.values() if name in executables else ()
        kernel, speed = next((k for k in kernels if "float" not in k), ""), sizes[name] / seconds
        yield {
            "form": name, "kernel": kernel, "bytes": sizes[name], "us": 1e6 * seconds, "speed": speed / 1e9,
            "share": speed / stream,
        }  # fmt: skip


def columns_of(options: Namespace) -> Columns:
    """Those of --stream, of --turns, or COLUMNS."""
    if options.turns:
        modes = ["float", *options.modes.split(",")]
        return (("task", "{task}"), *((f"{mode} us", lambda row, mode=mode: f"{row[mode]:.1f}") for mode in modes))
    return STREAM if options.stream else COLUMNS


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """Rows of the table that was chosen."""
    if options.stream:
        yield from measure_stream()
        return
    for task, feeds in chosen_tasks(options):
        model, modes = Model.of_task(task), options.modes.split(",")
        if options.turns:
            yield {"task": task.name, **least_microseconds(task, model, feeds, modes)}
            continue
        reference = evaluate(task, model.floats().run)
        whole = sum(np.asarray(array).nbytes for array in model.params.values())
        for mode in modes:
            yield measure(task, model, feeds, mode, reference, whole)


def missed(rows: list[dict[str, Any]], _options: Namespace | None = None) -> list[str]:
    """Bounds that the rows miss."""
    failures = [f"{r['task']} {r['mode']}: {r['differing']} values differ" for r in rows if r.get("differing")]
    return failures + [
        f"{r['task']} dynamic: {r['difference']:+.2f} ± {r['error']:.2f}; 1 point or 2 s.e. allowed"
        for r in rows
        if r.get("mode") == "dynamic" and r["difference"] < -max(1.0, 2 * r["error"])
    ]


main = Command(
    __doc__, columns_of, measure_all, missed, ("resnet8_cifar10", "dscnn_digits", "vit_cifar10", "minilm_l6"),
    arguments=[
        argument("--modes", default=",".join(MODES), help="names, separated by commas"),
        argument("--turns", action="store_true", help="nothing but times, modes by turns"),
        argument("--stream", action="store_true", help="nothing but one product, beside a reading of memory"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
