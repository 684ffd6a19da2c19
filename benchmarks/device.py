"""An integer-only device: the pictures, sounds and texts of the zoo, quantized for its description, checked and scored.

    python benchmarks/device.py
    python benchmarks/device.py --tasks resnet8_cifar10,dscnn_digits --quick

The device takes int8 with one scale for each tensor, requantizes by shifts, and has no zero points, no division, no
64-bit integers and no floats. For each task: the score of the float model, what the usual integer module and the one of
the device lose, their signal to noise, how many operators of the core lie outside of the description (bound: 0), and
whether compiled results equal the definition.
"""

from __future__ import annotations

import time
from typing import Any

from common import (
    PICTURE_TASKS,
    QUICK_CALIBRATION,
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

TASKS = (*PICTURE_TASKS, "crepe_tiny", "compact_sr_x2", "unet_membrane")
SHIFTS = tvmq.Backend(
    "shifts",
    activations=("int8",),
    requantize=("power_of_two",),
    per_channel=False,
    zero_points=False,
    division=False,
    wide=False,
    streams=(),
    floats=False,
)
COLUMNS = (
    ("task", "{task}"), ("float", "{float:.2f}"), ("usual int8", "{usual:+.2f}"), ("device", "{device:+.2f}"),
    ("± (paired)", "{device_error:.2f}"), ("SQNR usual", "{usual_sqnr:.1f}"), ("SQNR device", "{device_sqnr:.1f}"),
    ("operators", "{operators}"), ("outside", "{outside}"), ("exact", "{exact}"), ("s", "{seconds:.0f}"),
)  # fmt: skip
VERIFIED = 4  # samples on which the compiled module is compared with the definition


def measure(task: Any, feeds: Feeds) -> dict[str, Any]:
    """The figures of one task."""
    model = Model.read(task.model_path, batch_one_shape(task))
    reference = evaluate(task, predict(model.floats()))
    usual = evaluate(task, predict(model.quantized(feeds).executable))
    start = time.perf_counter()
    module = tvmq.quantize(model.module, model.params, feeds, target=SHIFTS)
    found = tvmq.check_backend(module, SHIFTS)
    executable = tvmq.build(module)
    seconds = time.perf_counter() - start
    device = evaluate(task, predict(executable))
    return {
        "task": task.name,
        "float": reference.score,
        "seconds": seconds,
        "operators": sum(found.operators.values()),
        "outside": len({violation.variable for violation in found.violations}),
        "exact": "yes" if tvmq.verify(executable, first_inputs(task, VERIFIED)).exact else "no",
        **_beside("usual", reference, usual),
        **_beside("device", reference, device),
    }


def _beside(name: str, reference: Scored, scored: Scored) -> dict[str, float]:
    difference, error = paired(scored, reference)
    return {name: difference, f"{name}_error": error, f"{name}_sqnr": sqnr(reference, scored)}


def missed(figures: dict[str, Any]) -> list[str]:
    """The bounds: nothing outside of the description, exact."""
    task = figures["task"]
    outside = [f"{task}: {figures['outside']} operators are outside of the device"] if figures["outside"] else []
    return outside + ([f"{task}: not exact"] if figures["exact"] != "yes" else [])


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
