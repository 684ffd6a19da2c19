"""Networks that 8 bits find hard, one cause each: without the guard, with products alone in integers, at the defaults.

    python benchmarks/hard.py [--networks a,b] [--folder DIR] [--quick] [--json out.json]

Networks  ten of our own, trained where --cache has none yet (hard_networks/; needs torch), and seven heads by formula
          (heads.py), whose score is what the float model reads from its outputs; with --folder those of a folder in the
          form of the zoo too (tasks.py, tasks.json)
Settings  float: the model as it came; unguarded: guard=None; products: Rule(no multiply-accumulates, None), so nothing
          but convolutions and products is in 8 bits, guard=None; default: tvmq.quantize with no option
Columns   score in points and its difference to float with the paired standard error; dB of the outputs, mean of the
          samples' own, of boxes as they are read (docs/detectors.md); ms, the median of runs one after another; values
          that differ from the NumPy definition
Bounds    of the default: 20 dB, not more than a point or 2 paired standard errors below float, faster than float; 0
          values that differ. Exit code 1 where one is missed.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from hard_networks.head_task import HeadTask
from hard_networks.tasks import load
from harness.command import Command, argument
from harness.model import Model
from harness.report import columns
from harness.timing import median_seconds
from harness.zoo import Feeds, Scored, evaluate, first_inputs, score_figures

import tvmq
from tvmq.quantization.meaning.agreement import bound_readings, worst_decibels
from tvmq.quantization.pipeline import USUAL_GUARD

LEAST_DB, MOST_POINTS = 20.0, 1.0
MOST_DB = 120.0  # of equal outputs
SECONDS = 0.5  # of runs that are timed, after one to warm up
PRODUCTS = (tvmq.Rule(lambda layer: layer.macs == 0, None),)
# Setting -> rules, guard
SETTINGS: dict[str, tuple[tuple[tvmq.Rule, ...], str | None]] = {
    "unguarded": ((), None),
    "products": (PRODUCTS, None),
    "default": ((), USUAL_GUARD),
}


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


COLUMNS = columns(
    "network {name} | setting {setting} | score {score:.2f} | - float {difference:+.2f} ± {error:.2f}",
    "dB {decibels:.1f} | ms {milliseconds:.3f} | differing {differing} | seconds {seconds:.1f}",
)


def measure(task: Any, *, seconds: float = SECONDS) -> Iterator[dict[str, Any]]:
    """The rows of one network."""
    model, samples = Model.of_task(task), first_inputs(task, 8)
    floats = model.floats()
    reference = evaluate(task, floats.run)

    readings = bound_readings(model.module) if isinstance(task, HeadTask) else []

    def row(setting: str, executable: Any, scored: Scored, **facts: Any) -> dict[str, Any]:
        taken = 1e3 * median_seconds(executable.run, samples, seconds)
        of_outputs = worst_decibels(readings, reference.outputs, scored.outputs) if readings else None
        own = decibels(reference, scored) if of_outputs is None else min(of_outputs, MOST_DB)
        figures = {"decibels": own, "milliseconds": taken, "differing": 0, "seconds": 0.0}
        return {"name": task.name, "setting": setting, **score_figures(scored, reference), **figures, **facts}

    yield row("float", floats, reference)
    for name, (rules, guard) in SETTINGS.items():
        begin = time.perf_counter()
        with tvmq.qconfig(rules=rules):
            module = model.integer(Feeds(task), guard=guard)
        taken = time.perf_counter() - begin
        executable = tvmq.build(module)
        differing = tvmq.verify(executable, samples[:2]).differing
        yield row(name, executable, evaluate(task, executable.run), differing=differing, seconds=taken)


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """The rows of all networks."""
    names = [name for name in options.networks.split(",") if name]
    for task in load(names, options.cache, folder=options.folder, quick=options.quick).values():
        yield from measure(task, seconds=0.01 if options.quick else SECONDS)


def all_missed(rows: list[dict[str, Any]], _options: Namespace) -> list[str]:
    """Bounds that networks miss."""
    return [text for _, group in groupby(rows, lambda row: row["name"]) for text in missed(list(group))]


main = Command(
    __doc__, COLUMNS, measure_all, all_missed, tasks=None, cache=Path("build/benchmarks/hard"), judges_quick=False,
    arguments=[
        argument("--networks", default="", help="names, separated by commas; all if empty"),
        argument("--folder", type=Path, help="a folder of more tasks, in the form of the zoo"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
