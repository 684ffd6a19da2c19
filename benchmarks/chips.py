"""Chips described as data: what the zoo loses on them, what they lack, and their emulation beside compiled code.

    python benchmarks/chips.py --zoo ../shared/zoo [--tasks a,b] [--chips tensorrt,shifts16,...] [--quick]

Each task is quantized for each description; what the description does not have stays float. The three invented chips:

    shifts16      int8 without zero points, one scale a tensor, all scales powers of two, sums in 16 bits that wrap
    int4_groups   int8 activations that get scales at run time, weights of 4 bits with a scale for each 32 of them
    half          products of int8, everything between them in float16

Columns   float, chip         scores of the float model and of the emulated chip
          inside, outside     operators of the core in integers, and those that are not in the description
          differing           values of results and layers in which the emulator with the numbers of the module and the
                              compiled module differ, of a chip with float16 results in which the chip and compiled
                              code do: bound 0
          by the chip         results in which the chip's own numbers (accumulators, floats) make a difference
          overflows           sums that wrapped or saturated, of all sums of the samples
          saturated           codes that are an end of their type, of all codes
Exit code 1 where a bound is missed.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from harness.command import Command, argument
from harness.model import Model
from harness.report import columns
from harness.zoo import Feed, chosen_tasks, evaluate, first_inputs

import tvmq
from tvmq.backends import backend_named
from tvmq.backends.operator_entry import OperatorEntry
from tvmq.backends.tensor_forms import WeightForm
from tvmq.chips.comparison.on_chip import compare_with_chip
from tvmq.chips.emulation.arithmetic import Arithmetic
from tvmq.chips.emulation.emulator import Emulator
from tvmq.errors import TvmqError

INVENTED = {
    "shifts16": tvmq.Backend(
        "shifts16", activations=("int8",), requantize=("power_of_two",), per_channel=False, zero_points=False,
        accumulator_bits=16, overflow="wrap", division=False, wide=False, streams=(), floats=False,
    ),
    "int4_groups": tvmq.Backend(
        "int4_groups", activations=("int8",), activation_scales="run_time",
        operators=(OperatorEntry(("*",), weights=WeightForm(("int4",), "per_group", group_size=32)),),
    ),
    "half": tvmq.Backend(
        "half", families=frozenset(("conv1d", "conv2d", "dense", "matmul")), activations=("int8",),
        float_type="float16",
    ),
}  # fmt: skip
TASKS = ("dscnn_digits", "resnet8_cifar10", "mbconv_se_cifar10", "crepe_tiny", "vit_cifar10")
CHIPS = ("tensorrt", "tflite", "tosa", *INVENTED)
VERIFIED = 2  # samples of which every layer is compared


def described(name: str) -> tvmq.Backend:
    """A description by its name."""
    return INVENTED.get(name) or backend_named(name)


def as_module(_family: str = "", *, depthwise: bool = False) -> Arithmetic:
    """A chip that computes what the module says."""
    return Arithmetic()


def measure(task: Any, model: Model, feeds: Iterable[Feed], name: str, floats: float) -> dict[str, Any]:
    """Measure one row."""
    backend = described(name)
    module = tvmq.quantize(model.module, model.params, feeds, target=backend, guard=None)
    executable = tvmq.build(module)
    found = tvmq.check_backend(module, backend)
    tests = first_inputs(task, VERIFIED)
    usual = tvmq.emulate(module, backend) if numbers_of_module(backend) else Emulator(module, as_module, name)
    equal = compare_with_chip(executable, usual, tests)
    chip = tvmq.emulate(module, backend)
    by_chip = results = 0
    for feed in tests:
        for ours, theirs in zip(executable.run(feed), chip.run(feed), strict=True):
            by_chip, results = by_chip + int(np.sum(ours != theirs)), results + ours.size
    chip.clear()
    scored = evaluate(task, chip.run)
    counted = ("overflows", "sums", "saturated", "codes")
    totals = {key: sum(getattr(layer, key) for layer in chip.layers) for key in counted}
    compared = sum(layer.values for layer in equal.layers) + equal.values
    differing = equal.differing + sum(layer.differing for layer in equal.layers)
    if backend.float_type != "float32":  # its roundings are casts of the module
        differing, compared = differing + by_chip, compared + results
    return {
        "task": task.name, "chip": name, "float": floats, "score": scored.score,
        "inside": sum(count for dtype, count in found.dtypes.items() if "float" not in dtype),
        "outside": len({violation.variable for violation in found.violations}),
        "differing": differing, "values": compared,
        "by_chip": by_chip, "results": results, **totals,
    }  # fmt: skip


def numbers_of_module(backend: tvmq.Backend) -> bool:
    """True for a description whose accumulators and floats are those of compiled code."""
    return backend.overflow == "proved" and backend.float_type == "float32"


COLUMNS = columns(
    "task {task} | chip {chip} | float {float:.2f} | score {score:.2f} | inside {inside} | outside {outside}",
    "differing {differing} of {values} | by the chip {by_chip} of {results} | overflows {overflows} of {sums}",
    "saturated {saturated} of {codes}",
)


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """A row of each task and chip that takes it."""
    for task, feeds in chosen_tasks(options):
        model = Model.of_task(task)
        floats = evaluate(task, model.floats().run).score
        for chip in options.chips.split(","):
            try:
                yield measure(task, model, feeds, chip, floats)
            except TvmqError as error:
                print(f"{task.name}, {chip}: refused: {str(error).splitlines()[0]}", flush=True)


main = Command(
    __doc__, COLUMNS, measure_all,
    lambda rows, _: [f"{r['task']}, {r['chip']}: {r['differing']} values differ" for r in rows if r["differing"]],
    TASKS, arguments=[argument("--chips", default=",".join(CHIPS), help="names, separated by commas")],
)  # fmt: skip

if __name__ == "__main__":
    main()
