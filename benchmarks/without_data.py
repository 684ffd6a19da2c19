"""Quantization without calibration data beside the default: scales made at run time, and weights alone.

    python benchmarks/without_data.py --zoo ../shared/zoo [--tasks minilm_l6] [--quick] [--json out.json]

Modes     static: the default, with calibration data; dynamic: qconfig(activations="dynamic"); weights: int8 weights,
          qconfig(activations=None); weights 4: the same with nbit_weight=4
Columns   score in points, its difference to float with the paired standard error, SQNR of all outputs in dB,
          share of multiply-accumulates in 8 bits, bytes of all constants beside those of the float model (4-bit
          weights stand two to a byte), milliseconds a sample, values that differ from the NumPy definition
Bounds    0 differing values; dynamic not below float by more than 1 point or 2 paired standard errors.
          Exit code 1 where one is missed.
"""

from __future__ import annotations

import time
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
    load_zoo,
    machine,
    paired,
    parser,
    print_table,
    sqnr,
    write_json,
)

MODES: dict[str, dict[str, Any]] = {
    "static": {},
    "dynamic": {"activations": "dynamic"},
    "weights": {"activations": None},
    "weights 4": {"activations": None, "nbit_weight": 4},
}
COLUMNS = (
    ("task, mode", "{task} {mode}"),
    ("score", "{score:.2f}"),
    ("- float", "{difference:+.2f} ± {error:.2f}"),
    ("SQNR", "{sqnr:.1f}"),
    ("int8 %", "{share:.1f}"),
    ("constants", "{size:.2f}"),
    ("ms", "{milliseconds:.2f}"),
    ("differing", "{differing}"),
)
COMPARED = 2  # samples compared with the definition


def constant_bytes(module: Any) -> int:
    """Of all constants of a module, each counted once."""
    from tvmq.graph.view import View, is_const

    found = {}
    for _, value in View(module).bindings:
        for arg in getattr(value, "args", ()):
            if is_const(arg):
                found[arg] = arg.value.numpy().nbytes
    return sum(found.values())


def measure(task: Any, model: ours.Model, feeds: Feeds, mode: str, reference: Scored, whole: int) -> dict[str, Any]:
    """One mode of one task."""
    import tvmq

    with tvmq.qconfig(**MODES[mode]):
        module = tvmq.quantize(model.module, model.params, feeds if mode == "static" else None)
    executable = tvmq.build(module)
    tests = [feed for feed, _ in zip(task.test_inputs(batch=1), range(COMPARED), strict=False)]
    scored = evaluate(task, ours.predict(executable))
    start = time.perf_counter()
    for feed in tests * 5:
        executable.run(feed)
    milliseconds = 1000 * (time.perf_counter() - start) / (5 * len(tests))
    difference, error = paired(scored, reference)
    definition = tvmq.reference.Reference(module)
    differing = sum(
        int(np.count_nonzero(a != b))
        for feed in tests
        for a, b in zip(definition.run(feed), executable.run(feed), strict=True)
    )
    return {
        "task": task.name, "mode": mode, "score": scored.score, "difference": difference, "error": error,
        "sqnr": sqnr(reference, scored), "share": 100 * ours.integer_share(module),
        "size": constant_bytes(module) / whole, "milliseconds": milliseconds, "differing": differing,
    }  # fmt: skip


def missed(rows: list[dict[str, Any]]) -> list[str]:
    """What breaks a bound."""
    failures = [f"{r['task']} {r['mode']}: {r['differing']} values differ" for r in rows if r["differing"]]
    for r in rows:
        if r["mode"] == "dynamic" and r["difference"] < -max(1.0, 2 * r["error"]):
            failures.append(
                f"{r['task']} dynamic: {r['difference']:+.2f} ± {r['error']:.2f}; 1 point or 2 s.e. allowed"
            )
    return failures


def main() -> None:
    """Command line; see the head of this file."""
    options = parser("Quantization without calibration data.", tasks=("minilm_l6",)).parse_args()
    print(machine(), flush=True)
    rows = []
    for task in load_zoo(options.zoo, options.tasks, quick=options.quick).values():
        model = ours.Model.read(task.model_path, batch_one_shape(task))
        reference = evaluate(task, ours.predict(model.floats()))
        whole = sum(np.asarray(array).nbytes for array in model.params.values())
        feeds = Feeds(task, QUICK_CALIBRATION if options.quick else None)
        for mode in MODES:
            rows.append(measure(task, model, feeds, mode, reference, whole))
            print(", ".join(f"{title} {form.format(**rows[-1])}" for title, form in COLUMNS), flush=True)
    print_table([title for title, _ in COLUMNS], [[form.format(**row) for _, form in COLUMNS] for row in rows])
    failures = missed(rows)
    write_json(options.json, {"quick": options.quick, "rows": rows, "failures": failures})
    finish(failures)


if __name__ == "__main__":
    main()
