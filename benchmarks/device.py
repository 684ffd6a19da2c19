"""An integer-only device: the pictures and sounds of the zoo, quantized for its description, checked and scored.

    python benchmarks/device.py
    python benchmarks/device.py --tasks resnet8_cifar10,dscnn_digits --quick

The device takes int8 with one scale for each tensor, requantizes by shifts, and has no zero points, no division, no
64-bit integers and no floats. For each task: the score of the float model, what the usual integer module and the one of
the device lose, their signal to noise, how many operators of the core lie outside of the description (bound: 0),
whether compiled results equal the definition, and whether the emulated device, written apart from both
(tests/support/devices/emulated_device.py), computes the same codes.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np
from harness.command import Command
from harness.model import Model
from harness.report import columns
from harness.zoo import PICTURE_TASKS, Feed, Feeds, Figures, chosen_tasks, evaluate, first_inputs, score_figures

import tvmq
from tests.support.devices.emulated_device import DEVICE, run
from tvmq.errors import TvmqError

TASKS = (*PICTURE_TASKS, "crepe_tiny", "compact_sr_x2", "unet_membrane")
VERIFIED = 4  # samples on which the compiled module is compared with the definition; the first one runs on the device


def executed_equally(module: Any, executable: Any, feed: Feed) -> bool:
    """True if the emulated device gives the codes that the compiled core gives, bit for bit."""
    core = executable["quantized_main"]
    codes = executable["quantize_inputs"].run(feed)
    compiled = core.run(dict(zip((info.name for info in core.input_info), codes, strict=True)))
    return all(np.array_equal(a, b) for a, b in zip(run(module, codes), compiled, strict=True))


def missed(figures: Figures) -> list[str]:
    """The bounds: nothing outside of the description, exact."""
    task = figures["task"]
    outside = [f"{task}: {figures['outside']} operators are outside of the device"] if figures["outside"] else []
    inexact = [f"{task}: not exact"] if figures["exact"] != "yes" else []
    return outside + inexact + ([f"{task}: the device gives other codes"] if figures["executed"] != "equal" else [])


COLUMNS = columns(
    "task {task} | float {float:.2f} | usual int8 {usual:+.2f} | device {device:+.2f} | ± (paired) {device_error:.2f}",
    "SQNR usual {usual_sqnr:.1f} | SQNR device {device_sqnr:.1f} | operators {operators} | outside {outside}",
    "exact {exact} | emulated {executed} | s {seconds:.0f}",
)


def measure(task: Any, feeds: Feeds) -> Figures:
    """The figures of one task."""
    model = Model.of_task(task)
    reference = evaluate(task, model.floats().run)
    usual = score_figures(evaluate(task, model.quantized(feeds).executable.run), reference)
    start = time.perf_counter()
    module = tvmq.quantize(model.module, model.params, feeds, target=DEVICE)
    found = tvmq.check_backend(module, DEVICE)
    executable, tests = tvmq.build(module), first_inputs(task, VERIFIED)
    seconds = time.perf_counter() - start
    device = score_figures(evaluate(task, executable.run), reference)
    return {
        "task": task.name, "float": reference.score, "seconds": seconds, "operators": sum(found.operators.values()),
        "outside": len({violation.variable for violation in found.violations}),
        "exact": "yes" if tvmq.verify(executable, tests).exact else "no",
        "executed": "equal" if all(executed_equally(module, executable, feed) for feed in tests[:1]) else "no",
        "usual": usual["difference"], "usual_sqnr": usual["sqnr"], "device": device["difference"],
        "device_error": device["error"], "device_sqnr": device["sqnr"],
    }  # fmt: skip


def measure_all(options: Namespace) -> Iterator[Figures | str]:
    """A row of each task, or why there is none."""
    for task, feeds in chosen_tasks(options):
        try:
            yield measure(task, feeds)
        except TvmqError as error:
            yield f"{task.name}: {error}"


main = Command(__doc__, COLUMNS, measure_all, lambda rows, _: [text for row in rows for text in missed(row)], TASKS)

if __name__ == "__main__":
    main()
