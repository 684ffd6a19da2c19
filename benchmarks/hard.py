"""Networks that 8 bits find hard, one cause each: without the guard, with products alone in integers, at the defaults.

    python benchmarks/hard.py [--networks a,b] [--folder DIR] [--quick] [--json out.json]

Networks  ten of our own, trained where --cache has none yet (hard_networks.py; needs torch); with --folder those of a
          folder in the form of the zoo too (tasks.py, tasks.json)
Settings  float: the model as it came; unguarded: guard=None; products: Rule(no multiply-accumulates, None), so nothing
          but convolutions and products is in 8 bits, guard=None; default: tvmq.quantize with no option
Columns   score in points and its difference to float with the paired standard error; dB of the outputs, mean of the
          samples' own; ms, the median of runs one after another; values that differ from the NumPy definition
Bounds    of the default: 20 dB, not more than a point or 2 paired standard errors below float, faster than float; 0
          values that differ. Exit code 1 where one is missed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import ours
import typer
from common import (
    Feeds,
    Scored,
    batch_one_shape,
    evaluate,
    finish,
    first_inputs,
    machine,
    paired,
    print_table,
    write_json,
)
from hard_networks import load

import tvmq
from tvmq.quantization.pipeline import USUAL_GUARD

LEAST_DB, MOST_POINTS = 20.0, 1.0
COMPARED = 2  # samples compared with the definition
SECONDS = 0.5  # of runs that are timed, after one to warm up
PRODUCTS = (tvmq.Rule(lambda layer: layer.macs == 0, None),)
# Setting -> rules, guard
SETTINGS: dict[str, tuple[tuple[tvmq.Rule, ...], str | None]] = {
    "unguarded": ((), None),
    "products": (PRODUCTS, None),
    "default": ((), USUAL_GUARD),
}
COLUMNS = (
    ("network", "{name}"),
    ("setting", "{setting}"),
    ("score", "{score:.2f}"),
    ("- float", "{difference:+.2f} ± {error:.2f}"),
    ("dB", "{decibels:.1f}"),
    ("ms", "{milliseconds:.3f}"),
    ("differing", "{differing}"),
    ("seconds", "{seconds:.1f}"),
)


def decibels(reference: Scored, other: Scored) -> float:
    """Signal to noise of each sample's outputs, the mean of their dB; equal samples count 120 dB.

    >>> one = Scored(0.0, np.zeros(2), [np.array([[10.0], [1.0]])])
    >>> other = Scored(0.0, np.zeros(2), [np.array([[11.0], [1.1]])])
    >>> round(decibels(one, other), 3)
    20.0
    """
    rows = [
        np.concatenate([np.asarray(output, np.float64).reshape(len(output), -1) for output in scored.outputs], 1)
        for scored in (reference, other)
    ]
    signal, noise = (np.square(values).sum(axis=1) for values in (rows[0], rows[0] - rows[1]))
    return float(np.mean(10 * np.log10(np.maximum(signal, 1e-30) / np.maximum(noise, 1e-12 * signal + 1e-30))))


def milliseconds(executable: Any, feeds: Sequence[Any], seconds: float) -> float:
    """Of one run, the median."""
    executable.run(feeds[0])
    taken: list[float] = []
    while sum(taken) < seconds:
        begin = time.perf_counter()
        executable.run(feeds[len(taken) % len(feeds)])
        taken.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(taken)


def measure(task: Any, *, seconds: float = SECONDS) -> list[dict[str, Any]]:
    """The rows of one network."""
    model, samples = ours.Model.read(task.model_path, batch_one_shape(task)), first_inputs(task, 8)
    floats = model.floats()
    reference = evaluate(task, ours.predict(floats))
    rows = [_row(task.name, "float", reference, reference, milliseconds(floats, samples, seconds))]
    for name, (rules, guard) in SETTINGS.items():
        begin = time.perf_counter()
        with tvmq.qconfig(rules=rules):
            module = model.integer(Feeds(task), guard=guard)
        taken, executable = time.perf_counter() - begin, tvmq.build(module)
        scored = evaluate(task, ours.predict(executable))
        differing = tvmq.verify(executable, samples[:COMPARED]).differing
        row = _row(task.name, name, reference, scored, milliseconds(executable, samples, seconds))
        rows.append({**row, "differing": differing, "seconds": taken})
    return rows


def _row(name: str, setting: str, reference: Scored, scored: Scored, taken: float) -> dict[str, Any]:
    difference, error = paired(scored, reference)
    return {
        "name": name, "setting": setting, "score": scored.score, "difference": difference, "error": error,
        "decibels": decibels(reference, scored), "milliseconds": taken, "differing": 0, "seconds": 0.0,
    }  # fmt: skip


def missed(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The bounds that one network misses, with the numbers."""
    by_setting = {row["setting"]: row for row in rows}
    floats, default = by_setting["float"], by_setting["default"]
    checks = (
        (default["decibels"] >= LEAST_DB, "{decibels:.1f} dB, at least {least:g} asked"),
        (
            default["difference"] >= -max(MOST_POINTS, 2 * default["error"]),
            "{difference:+.2f} ± {error:.2f} points, {points:g} or 2 s.e. allowed",
        ),
        (default["milliseconds"] < floats["milliseconds"], "{milliseconds:.3f} ms, float {float_ms:.3f} ms"),
    )
    facts = {**default, "least": LEAST_DB, "points": MOST_POINTS, "float_ms": floats["milliseconds"]}
    failures = [f"{default['name']}: {text.format(**facts)}" for holds, text in checks if not holds]
    differing = [row for row in rows if row["differing"]]
    return failures + [f"{row['name']}, {row['setting']}: {row['differing']} values differ" for row in differing]


def cells(row: dict[str, Any]) -> list[str]:
    """A row of the table."""
    return [form.format(**row) for _, form in COLUMNS]


def main(
    networks: Annotated[str, typer.Option(help="names, separated by commas; all if empty")] = "",
    folder: Annotated[Path | None, typer.Option(help="a folder of more tasks, in the form of the zoo")] = None,
    cache: Annotated[Path, typer.Option(help="where trained networks are kept")] = Path("build/benchmarks/hard"),
    json: Annotated[Path | None, typer.Option(help="also write the figures to this file")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="hardly trained, few samples: a look, not a result")] = False,
) -> None:
    """Networks that 8 bits find hard, at the defaults and with products alone in integers."""
    print(machine(), flush=True)
    names = [name for name in networks.split(",") if name]
    tasks = load(names, cache, folder=folder, quick=quick)
    found = []
    for task in tasks.values():
        found.append(measure(task, seconds=0.01 if quick else SECONDS))
        for row in found[-1]:
            named = zip([title for title, _ in COLUMNS], cells(row), strict=True)
            print(", ".join(map(" ".join, named)), flush=True)
    print_table([title for title, _ in COLUMNS], [cells(row) for rows in found for row in rows])
    failures = [text for rows in found for text in missed(rows)]
    write_json(json, {"quick": quick, "rows": [row for rows in found for row in rows], "failures": failures})
    finish([] if quick else failures)


if __name__ == "__main__":
    typer.run(main)
