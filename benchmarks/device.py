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

import sys
import time
from typing import Any

import numpy as np
from common import (
    PICTURE_TASKS,
    QUICK_CALIBRATION,
    ROOT,
    Feed,
    Feeds,
    Scored,
    batch_one_shape,
    evaluate,
    finish,
    first_inputs,
    load_zoo,
    paired,
    parser,
    print_table,
    sqnr,
    write_json,
)
from ours import Model, predict

import tvmq
from tvmq.errors import TvmqError

sys.path.insert(0, str(ROOT))

from tests.support.devices.emulated_device import DEVICE, run  # noqa: E402  (tests are no package that is installed)

TASKS = (*PICTURE_TASKS, "crepe_tiny", "compact_sr_x2", "unet_membrane")
COLUMNS = (
    ("task", "{task}"), ("float", "{float:.2f}"), ("usual int8", "{usual:+.2f}"), ("device", "{device:+.2f}"),
    ("± (paired)", "{device_error:.2f}"), ("SQNR usual", "{usual_sqnr:.1f}"), ("SQNR device", "{device_sqnr:.1f}"),
    ("operators", "{operators}"), ("outside", "{outside}"), ("exact", "{exact}"),
    ("emulated", "{executed}"), ("s", "{seconds:.0f}"),
)  # fmt: skip
VERIFIED = 4  # samples on which the compiled module is compared with the definition; the first one runs on the device


def measure(task: Any, feeds: Feeds) -> dict[str, Any]:
    """The figures of one task."""
    model = Model.read(task.model_path, batch_one_shape(task))
    reference = evaluate(task, predict(model.floats()))
    usual = evaluate(task, predict(model.quantized(feeds).executable))
    start = time.perf_counter()
    module = tvmq.quantize(model.module, model.params, feeds, target=DEVICE)
    found = tvmq.check_backend(module, DEVICE)
    executable = tvmq.build(module)
    tests = first_inputs(task, VERIFIED)
    seconds = time.perf_counter() - start
    device = evaluate(task, predict(executable))
    return {
        "task": task.name,
        "float": reference.score,
        "seconds": seconds,
        "operators": sum(found.operators.values()),
        "outside": len({violation.variable for violation in found.violations}),
        "exact": "yes" if tvmq.verify(executable, tests).exact else "no",
        "executed": "equal" if all(executed_equally(module, executable, feed) for feed in tests[:1]) else "no",
        **_beside("usual", reference, usual),
        **_beside("device", reference, device),
    }


def executed_equally(module: Any, executable: Any, feed: Feed) -> bool:
    """True if the emulated device gives the codes that the compiled core gives, bit for bit."""
    core = executable["quantized_main"]
    codes = executable["quantize_inputs"].run(feed)
    compiled = core.run(dict(zip((info.name for info in core.input_info), codes, strict=True)))
    return all(np.array_equal(a, b) for a, b in zip(run(module, codes), compiled, strict=True))


def _beside(name: str, reference: Scored, scored: Scored) -> dict[str, float]:
    difference, error = paired(scored, reference)
    return {name: difference, f"{name}_error": error, f"{name}_sqnr": sqnr(reference, scored)}


def missed(figures: dict[str, Any]) -> list[str]:
    """The bounds: nothing outside of the description, exact."""
    task = figures["task"]
    outside = [f"{task}: {figures['outside']} operators are outside of the device"] if figures["outside"] else []
    inexact = [f"{task}: not exact"] if figures["exact"] != "yes" else []
    return outside + inexact + ([f"{task}: the device gives other codes"] if figures["executed"] != "equal" else [])


def main() -> None:
    """Print one row a task."""
    options = parser("An integer-only device", tasks=TASKS).parse_args()
    rows, failures = [], []
    for name, task in load_zoo(options.zoo, options.tasks, quick=options.quick).items():
        try:
            rows.append(measure(task, Feeds(task, QUICK_CALIBRATION if options.quick else None)))
        except TvmqError as error:
            failures.append(f"{name}: {error}")
            continue
        print(", ".join(f"{title} {form.format(**rows[-1])}" for title, form in COLUMNS), flush=True)
        failures += missed(rows[-1])
    print_table([title for title, _ in COLUMNS], [[form.format(**row) for _, form in COLUMNS] for row in rows])
    write_json(options.json, {"quick": options.quick, "tasks": rows, "failures": failures})
    finish(failures)


if __name__ == "__main__":
    main()
