"""Weights for CPUs without VNNI, of 8 bits, of 8 bits that fit in lanes, or of 7: accuracy, and time of AVX2 code.

    python benchmarks/weights_without_vnni.py --zoo ../shared/zoo [--tasks a,b] [--folder DIR] [--quick] [--json FILE]
    python benchmarks/weights_without_vnni.py --times       # of the models that the first command left in --cache

Rows      8 bits: scales by the largest weight (weight_scale="max"); lanes: 8 bits, scales raised until two neighbours
          fit 16 bits (weight_scale="lanes"); 7 bits: reduce_range=True. A target adds nothing to these options: the
          integers of target=None and of an AVX2 target are equal where the options are
Columns   score of the guarded module in points, beside float with the paired standard error; SQNR of all outputs in dB
          without the guard and with it, and how many layers it gave more precision; seconds of processor time to
          quantize with the guard
          in 16 bits: share of the multiply-accumulates that AVX2 code makes by products of 16 bits, which are slower;
          of those whose kernel adds bytes in 16-bit lanes where that is proved (docs/speed.md)
Times     us: one sample, one thread, code for Haswell, the least of many runs, all by turns in one process
Bounds    not below float by more than a point (0.2 dB of psnr) or 2 paired standard errors. Exit code 1 where it is
          missed.
"""

from __future__ import annotations

import re
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from hard_networks.tasks import fetched
from harness.command import Command, argument
from harness.model import Model
from harness.report import Columns, columns
from harness.timing import least_seconds
from harness.zoo import Feeds, Figures, Scored, chosen_tasks, evaluate, score_figures, sqnr

import tvmq
from tvmq.graph.ledger import get_ledger
from tvmq.quantization.pipeline import USUAL_GUARD

WEIGHTS: dict[str, dict[str, Any]] = {
    "8 bits": {"weight_scale": "max", "reduce_range": False},
    "lanes": {"weight_scale": "lanes", "reduce_range": False},
    "7 bits": {"weight_scale": "max", "reduce_range": True},
}
TARGET = "llvm -mcpu=haswell"
TURNS, BLOCK = 20, 0.02  # of timing, and seconds of one
IN_16_BITS = re.compile(r"(\d+)% of the products in 16 bits")


def share_in_16_bits(executable: Any) -> float | None:
    """Per cent of the multiply-accumulates of lane kernels that are products of 16 bits; None without such kernels.

    Kernels of 16 bits alone, whose weights prove too little, count in full.
    """
    layers = get_ledger(executable.module).layers
    total = narrow = 0.0
    for name, note in executable.notes.items():
        if not note.startswith("int16"):
            continue
        macs = layers.get(name, {}).get("macs", 0)
        share = IN_16_BITS.search(note)
        total += macs
        narrow += macs * (int(share[1]) / 100 if share else 0.0 if "lanes proved" in note else 1.0)
    return 100 * narrow / total if total else None


def raised_layers(module: Any) -> int:
    """Number of layers to which the guard gave more precision."""
    return sum(str(entry.get("why", "")).startswith("guard:") for entry in get_ledger(module).layers.values())


def quantize_seconds(model: Model, feeds: Feeds, guard: str | None) -> tuple[Any, float]:
    """The integer module and the processor time it took."""
    begin = time.process_time()
    module = model.integer(feeds, guard=guard)
    return module, time.process_time() - begin


def measure_weights(task: Any, feeds: Feeds, name: str, reference: Scored, folder: Path) -> Figures:
    """The row of one choice; leaves its model, compiled for AVX2, in the folder."""
    model = Model.of_task(task)
    with tvmq.qconfig(**WEIGHTS[name]):
        guarded, seconds = quantize_seconds(model, feeds, USUAL_GUARD)
        raised = raised_layers(guarded)
        plain = quantize_seconds(model, feeds, None)[0] if raised else guarded
    scored = evaluate(task, tvmq.build(guarded).run)
    unguarded = evaluate(task, tvmq.build(plain).run) if raised else scored
    executable = tvmq.build(guarded, target=TARGET, num_threads=1)
    executable.save(model_path(folder, task.name, name))
    figures = score_figures(scored, reference)
    return {
        "task": task.name, "weights": name, **figures, "guarded": figures["sqnr"],
        "sqnr": sqnr(reference, unguarded), "raised": raised, "seconds": seconds,
        "in_16_bits": share_in_16_bits(executable), "points": 0.2 if task.metric == "psnr" else 1.0,
    }  # fmt: skip


def model_path(folder: Path, task: str, weights: str) -> Path:
    """File of a model compiled for AVX2."""
    return folder / f"avx2_{task}_{weights.replace(' ', '_')}.tvmq"


def measure_times(task: Any, folder: Path) -> Iterator[Figures]:
    """Least times of the models, as one row."""
    feed = next(iter(task.calibration(batch=1, limit=1)))
    runs = {
        name: tvmq.load(model_path(folder, task.name, name), num_threads=1).prepare_run(feed) for name in WEIGHTS
    }
    least = least_seconds(runs, TURNS, block=BLOCK, clock=time.thread_time)
    times = {name.partition(" ")[0]: 1e6 * seconds for name, seconds in least.items()}
    yield {
        "task": task.name, **{f"us_{name}": value for name, value in times.items()},
        "lanes": times["8"] / times["lanes"], "seven": times["8"] / times["7"],
    }  # fmt: skip


def all_tasks(options: Namespace) -> Iterator[tuple[Any, Feeds]]:
    """The chosen tasks of the zoo, then all of --folder."""
    yield from chosen_tasks(options)
    for task in () if options.folder is None else fetched(options.folder).values():
        yield task, Feeds(task)


def measure(options: Namespace) -> Iterator[Figures]:
    """The rows of each task."""
    options.cache.mkdir(parents=True, exist_ok=True)
    for task, feeds in all_tasks(options):
        if options.times:
            yield from measure_times(task, options.cache)
            continue
        reference = evaluate(task, Model.of_task(task).floats().run)
        for name in options.weights.split(","):
            yield measure_weights(task, feeds, name, reference, options.cache)


def missed(rows: list[Mapping[str, Any]], options: Namespace) -> list[str]:
    """Rows that lose more than the bound; says the means."""
    if options.times:
        gains = {name: float(np.exp(np.mean([np.log(row[name]) for row in rows]))) for name in ("lanes", "seven")}
        print("geometric means, 8 bits / others: " + ", ".join(f"{name} {gain:.3f}" for name, gain in gains.items()))
        return []
    for name in options.weights.split(","):
        some = [row for row in rows if row["weights"] == name]
        mean = {key: float(np.mean([row[key] for row in some])) for key in ("difference", "sqnr", "guarded")}
        text = "{}: mean of {}: {difference:+.3f} points, {sqnr:.2f} dB, guarded {guarded:.2f}"
        print(text.format(name, len(some), **mean))
    text = "{task}, {weights}: {difference:+.2f} ± {error:.2f} beside float; {points:g} or 2 s.e. allowed"
    return [text.format(**row) for row in rows if row["difference"] < -max(row["points"], 2 * row["error"])]


def columns_of(options: Namespace) -> Columns:
    """Columns of times, or of accuracy."""
    if options.times:
        return columns(
            "task {task} | 8 bits us {us_8:.1f} | lanes us {us_lanes:.1f} | 7 bits us {us_7:.1f}",
            "8 bits / lanes {lanes:.3f} | 8 bits / 7 bits {seven:.3f}",
        )
    return columns(
        "task {task} | weights {weights} | score {score:.2f} | - float {difference:+.2f} ± {error:.2f}",
        "SQNR {sqnr:.1f} | guarded {guarded:.1f} | raised {raised} | CPU s {seconds:.1f}",
        "in 16 bits {in_16_bits:.0f} %",
    )


main = Command(
    __doc__, columns_of, measure, missed, judges_quick=False,
    arguments=[
        argument("--times", action="store_true", help="time the models of an earlier run, which are in --cache"),
        argument("--weights", default=",".join(WEIGHTS), help="these rows alone, separated by commas"),
        argument("--folder", type=Path, help="more tasks, in the form of the zoo"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
