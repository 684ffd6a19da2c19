"""The cost model beside the clock: forecast and measured time of every call, int8 and float, one thread.

    python benchmarks/forecast.py --zoo ../shared/zoo [--tasks a,b] [--rounds 15] [--layers] [--level avx2]

Models are quantized with nominal ranges: times do not depend on them. The calls of one run are recorded and repeated
in their order, on the same memory, with a look at the clock between them, which is taken off.

--plain   the model alone, without what `tvmq.measure_machine` finds out about this machine
--level   compile for a lesser CPU (avx2, avx512bw), on this machine

Columns   calls; sum of the calls, measured and forecast, in ms; rank correlation (Spearman) over the calls;
          error: sum of |forecast - measured| by the sum of what was measured;
          factor: geometric mean over the calls of more than a microsecond of the larger by the smaller
Bounds    rank correlation of at least 0.8 and error of at most 0.35 over all calls of all models, int8 and float
Exit code 1 where a bound is missed.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from harness import set_threads
from harness.command import Command, argument
from harness.networks import NETWORKS, ZOO_TASKS, find
from harness.report import columns
from harness.zoo import Feed

import tvmq

LEVELS = {"": "llvm", "avx2": "llvm -mcpu=haswell", "avx512bw": "llvm -mcpu=skylake-avx512"}
KINDS = ("int8", "float")
LEAST_RANK, MOST_ERROR = 0.8, 0.35
LEAST = 1e-8  # seconds: below that nothing was measured
NOTICED = 1e-6  # seconds: below that the clock itself is the larger part


@dataclass
class Subject:
    """A model in one form, ready to be measured.

    calls      (name, seconds by the cost model) of each call, the start of a call apart
    run        makes all calls once and gives their seconds
    idle       the same with a function that does nothing: what the clock and the arguments cost
    """

    name: str
    kind: str
    calls: list[tuple[str, float]]
    run: Callable[[], list[float]]
    idle: Callable[[], list[float]]
    measured: list[float] = field(default_factory=list)


def subject(name: str, path: Any, feed: Feed, kind: str, level: str = "", *, plain: bool = False) -> Subject:
    """Build a model, forecast its calls, record one run."""
    import tvm
    import tvm_ffi
    from tvm import relax

    import tvmq
    from tvmq.codegen.cost import START
    from tvmq.codegen.performance.estimate import estimates
    from tvmq.codegen.performance.machine import machine_here
    from tvmq.runtime.profile import record_calls

    mod, params = tvmq.from_onnx(path, shape={key: array.shape for key, array in feed.items()})
    if kind == "int8":
        with tvmq.qconfig(calibrate_mode="global_scale"):
            mod, params = tvmq.quantize(mod, params, target=LEVELS[level]), {}
    exe = tvmq.build(mod, LEVELS[level], params=params)
    machine = machine_here(exe.target)
    forecast, _ = estimates(exe.module, exe.target, replace(machine, factors=()) if plain else machine)
    virtual = relax.VirtualMachine(exe._parts.code, tvm.cpu())
    tensors = [tvm.runtime.tensor(np.ascontiguousarray(array)) for array in exe["main"].check_inputs(feed)]
    nothing = tvm_ffi.get_global_func("testing.nop")
    calls = record_calls(virtual, lambda main: main(*tensors))
    if len(calls) != len(forecast):
        raise SystemExit(f"forecast: {name}, {kind}: {len(calls)} calls run, {len(forecast)} were forecast")
    named = [(e.call.kernel or e.call.symbol, e.time.total - START) for e in forecast]
    real, idle = ([(function, args) for _, function, args in calls], [(nothing, args) for _, _, args in calls])
    return Subject(name, kind, named, lambda: _times(real), lambda: _times(idle))


def _times(calls: Sequence[tuple[Callable[..., Any], tuple[Any, ...]]]) -> list[float]:
    """Seconds of each call, one after the other."""
    stamps = [time.perf_counter()]
    for function, args in calls:
        function(*args)
        stamps.append(time.perf_counter())
    return list(np.diff(stamps))


def measure(subjects: Sequence[Subject], rounds: int) -> None:
    """Medians of all calls, the models taking turns, less what looking at the clock costs."""
    times: list[list[np.ndarray]] = [[] for _ in subjects]
    for turn in range(rounds + 2):
        for one, own in zip(subjects, times, strict=True):
            idle, seconds = one.idle(), one.run()
            if turn > 1:
                own.append(np.asarray(seconds) - idle)
    for one, own in zip(subjects, times, strict=True):
        one.measured = np.maximum(np.median(own, axis=0), LEAST).tolist()


def ranks(values: np.ndarray) -> np.ndarray:
    """Places in the order, the same for equal values.

    >>> ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [1.5, 0.0, 1.5]
    """
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts + 1) / 2)[inverse]


def figures(measured: Sequence[float], forecast: Sequence[float]) -> dict[str, float]:
    """Rank correlation, error and factor of paired times."""
    real, told = np.asarray(measured), np.asarray(forecast)
    rank = float(np.corrcoef(ranks(real), ranks(told))[0, 1]) if len(real) > 2 else 1.0
    long = real > NOTICED
    factor = float(np.exp(np.mean(np.abs(np.log(told[long] / real[long]))))) if long.any() else 1.0
    return {
        "calls": len(real), "measured": float(real.sum()), "forecast": float(told.sum()), "rank": rank,
        "error": float(np.abs(told - real).sum() / real.sum()), "factor": factor,
    }  # fmt: skip


COLUMNS = columns(
    "model {name} | kind {kind} | calls {calls:.0f} | measured ms {measured_ms:.3f} | forecast ms {forecast_ms:.3f}",
    "rank {rank:.2f} | error {error:.2f} | factor {factor:.2f}",
)


def row_of(name: str, kind: str, found: dict[str, float]) -> dict[str, Any]:
    """A line of the table."""
    times = {f"{key}_ms": 1e3 * found[key] for key in ("measured", "forecast")}
    return {"name": name, "kind": kind, **found, **times}


def together(subjects: Sequence[Subject], kind: str) -> dict[str, Any]:
    """All models of a kind, each of which counts the same: its calls as shares of its time."""
    own = [one for one in subjects if one.kind == kind]
    real = np.concatenate([np.asarray(one.measured) / sum(one.measured) for one in own])
    told = np.concatenate([np.array([s for _, s in one.calls]) / sum(one.measured) for one in own])
    rank = figures(np.concatenate([one.measured for one in own]), [s for one in own for _, s in one.calls])
    return row_of("all", kind, {**rank, "error": float(np.abs(told - real).sum() / real.sum())})


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """The rows of all models, then of all together."""
    set_threads(1)
    if not options.plain:
        print("of this machine:", tvmq.measure_machine(again=True))
    subjects = []
    for name in filter(None, options.tasks.split(",")):
        network = find(name, options)
        feed = network.feed()
        subjects += [subject(name, network.path, feed, kind, options.level, plain=options.plain) for kind in KINDS]
    measure(subjects, options.rounds)
    for one in subjects:
        found = figures(one.measured, [second for _, second in one.calls])
        yield {**row_of(one.name, one.kind, found), "layers": list(zip(one.calls, one.measured, strict=True))}
    yield from (together(subjects, kind) for kind in KINDS if subjects)


def layer_tables(rows: list[dict[str, Any]], options: Namespace) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Every call of each model, with --layers."""
    for row in rows if options.layers else ():
        cells = [
            [name, f"{1e6 * real:.1f}", f"{1e6 * told:.1f}", f"{told / real:.2f}"]
            for (name, told), real in row.get("layers", ())
        ]
        if cells:
            title = f"{row['name']} {row['kind']}"
            yield title, [title, "measured us", "forecast us", "ratio"], cells


def missed(rows: list[dict[str, Any]], _options: Namespace) -> list[str]:
    """Bounds that all models together miss."""
    return [
        f"{row['kind']}: rank correlation {row['rank']:.2f}, error {row['error']:.2f}"
        for row in rows
        if row["name"] == "all" and (row["rank"] < LEAST_RANK or row["error"] > MOST_ERROR)
    ]


main = Command(
    __doc__, COLUMNS, measure_all, missed, (*NETWORKS, *ZOO_TASKS), more=layer_tables,
    arguments=[
        argument("--rounds", type=int, default=15, help="measurements of each call"),
        argument("--layers", action="store_true", help="also every call of every model"),
        argument("--plain", action="store_true", help="without what is measured of this machine"),
        argument("--level", default="", choices=LEVELS, help="compile for a lesser CPU than this one"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
