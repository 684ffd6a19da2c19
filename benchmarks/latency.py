"""Latency of tvmq, onnxruntime and OpenVINO in int8 and float, every contestant on its best settings.

    python benchmarks/latency.py [--tasks a,b] [--threads 1] [--batch 1] [--rounds 5] [--level avx2] [--zoo DIR]
                                 [--peers all | a,b] [--environments DIR] [--weights]

Models    networks of the zoo's make_latency_models.py (random weights) and its tasks
Contestants  tvmq int8 (default quantization; of random weights without the guard, as peers have none) and f32;
          onnxruntime f32 and int8 (QDQ, per channel, MinMax);
          OpenVINO f32 and int8 (NNCF, default), its float parts in f32 or (*) in its default precision
Each model has a process of its own. Blocks of all contestants alternate, round after round, so that a change of
clock or load hits them all; "tvmq int8" runs as two contestants (A/A), which shows what the run can tell apart.
With one thread everything is bound to one CPU.

Columns   milliseconds, medians of all runs; int8 gain: best peer's int8 / ours; float gain: best peer's f32 / ours;
          beside float: best peer's float of any precision / our int8;
          GMAC/s and share of the peak of the instruction set's dot product, measured between the same rounds;
          ceiling: the milliseconds at that peak, which exact Winograd layers alone can pass;
          int32 sums: products of codes whose sums reach memory before they become codes, of all products
--level   compile for a lesser CPU (avx2, avx512bw); OpenVINO is limited likewise by ONEDNN_MAX_CPU_ISA;
          onnxruntime has no such switch: it runs as it is, is shown, and does not count
--clock   process_time counts what a process computes and not what it waits for others: for busy machines, one thread
--weights also tvmq with weights for CPUs without VNNI (weights_without_vnni.py); bounds are those of the default
--peers   further peers, each in a process of its own (adapters/) with the interpreter of its environment, which
          peer_environments.py makes: they take turns with the others and have a table of their own; with --level
          those that can be limited (harness/peer_environments.py says how), the others are refused with that reason
Bounds    1. geometric mean of int8 gain >= 1.4        2. int8 gain >= 1 / 1.03 less the A/A spread, every model
          3. beside float > 1, every model             4. geometric mean of float gain >= 1
          5. no further peer's int8 below ours by more than 2. allows
Exit code 1 where a bound is missed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import further_peers, set_threads
from harness.command import Command, argument, run_fresh
from harness.further_peers import FurtherPeers, missed_peers, peer_rows
from harness.networks import NETWORKS, ZOO_TASKS, Network, find
from harness.peer_environments import ENVIRONMENTS, chosen
from harness.report import columns
from harness.timing import Run, median_milliseconds, time_blocks, timer_of

GAIN, SLACK = 1.4, 1.03
LEVELS = {"": "llvm", "avx2": "llvm -mcpu=haswell", "avx512bw": "llvm -mcpu=skylake-avx512"}
ONEDNN = {"avx2": "AVX2", "avx512bw": "AVX512_CORE"}
OURS, AGAIN, FLOAT = "tvmq int8", "tvmq int8 again", "tvmq f32"
INT8_PEERS = ("ort int8", "ov int8", "ov int8*")
F32_PEERS = ("ort f32", "ov f32")
FLOAT_PEERS = (*F32_PEERS, "ov float*")
UNLIMITED = ("ort f32", "ort int8")  # peers that --level does not reach
CONTESTANTS = (OURS, FLOAT, *INT8_PEERS, *FLOAT_PEERS)
WEIGHTS: dict[str, dict[str, Any]] = {"lanes": {"weight_scale": "lanes"}, "7 bits": {"reduce_range": True}}
CLOCKS = ("perf_counter", "process_time")
NAN = float("nan")


def our_runs(network: Network, options: Any) -> tuple[dict[str, Run], dict[str, Any]]:
    """Our contestants, saved and loaded again as a user would, and what is known of the int8 one."""
    import tvmq
    from tvmq.graph.ledger import get_ledger

    feed, target = network.feed(options.batch), LEVELS[options.level]
    from harness.model import Model

    model = Model.read(network.path, {name: array.shape for name, array in feed.items()})
    data = network.feeds if options.batch == 1 else [feed]
    quantized = model.quantized(data, target, guard=network.guard)
    macs = sum(layer.get("macs", 0) for layer in get_ledger(quantized.module).layers.values())
    executables = {OURS: quantized.executable, FLOAT: model.floats(target)}
    for name, weights in WEIGHTS.items() if options.weights else ():
        with tvmq.qconfig(**weights):
            executables[name] = model.quantized(data, target, guard=network.guard).executable
    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, executable in executables.items():
            executable.save(Path(folder) / "model.tvmq")
            runs[name] = tvmq.load(Path(folder) / "model.tvmq").prepare_run(feed)
    products, sums = quantized.executable.profile(feed, repeat=1).products
    return runs | {AGAIN: runs[OURS]}, {"macs": macs, "products": products, "sums": sums}


def peer_runs(network: Network, options: Any) -> dict[str, Run]:
    """The peers' contestants; those whose packages are missing are left out."""
    from harness import onnxruntime_peer, openvino_peer

    feed, threads = network.feed(options.batch), options.threads
    quantized, _ = onnxruntime_peer.int8_model(network.path, network.feeds, options.cache)
    runs: dict[str, Run] = {}
    for name, path in (("ort f32", network.path), ("ort int8", quantized)):
        predict = onnxruntime_peer.session(path, threads, options.batch)
        runs[name] = lambda predict=predict: predict(feed)
    if openvino_peer.available():
        floats, int8 = network.path, openvino_peer.int8_model(network, options.cache)
        contestants = [("ov f32", floats, "f32"), ("ov float*", floats, "")]
        contestants += [("ov int8", int8, "f32"), ("ov int8*", int8, "")] if int8 is not None else []
        for name, path, precision in contestants:
            try:
                runs[name] = openvino_peer.session(path, feed, precision, threads)
            except RuntimeError as error:  # limited to AVX2 it cannot compile some of its own models
                print(f"{network.name}: {name} left out: {str(error).strip().splitlines()[-1]}", file=sys.stderr)
    return runs


def peak(level: str) -> tuple[Run, int]:
    """A loop of the dot product of the best instruction set within `level`, and its multiply-accumulates."""
    import kernels

    from tvmq.codegen.target.cpu import resolve_target

    return kernels.peak_run(resolve_target(LEVELS[level]).isa.name)


def judged(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures with what follows from them."""

    def least(names: tuple[str, ...]) -> float:
        counted = [name for name in names if name in figures and not (figures["level"] and name in UNLIMITED)]
        return min((figures[name] for name in counted), default=NAN)

    again = figures[AGAIN] / figures[OURS]
    return {
        **figures,
        **{f"{name} gain": least(INT8_PEERS) / figures[name] for name in WEIGHTS if name in figures},
        "int8_gain": least(INT8_PEERS) / figures[OURS],
        "beside_float": least(FLOAT_PEERS) / figures[OURS],
        "float_gain": least(F32_PEERS) / figures[FLOAT],
        "spread": max(again, 1 / again) - 1,
        "gmacs": 1e-6 * figures["macs"] / figures[OURS],
        "share": figures["macs"] / figures[OURS] / figures["peak_rate"],
        "ceiling": figures["macs"] / figures["peak_rate"],
        "mmacs": 1e-6 * figures["macs"],
    }


def geometric_mean(values: list[float]) -> float:
    """Geometric mean of positive numbers; NaN without any.

    >>> geometric_mean([1.0, 4.0])
    2.0
    """
    return float(np.exp(np.mean(np.log(values)))) if values else NAN


def missed(models: list[dict[str, Any]]) -> list[str]:
    """The bounds that the table misses."""
    failures = []
    for f in models:
        if not f["int8_gain"] * (SLACK + f["spread"]) >= 1:
            failures.append("{name}: int8 gain {int8_gain:.2f}, A/A {spread:.1%}".format(**f))
        if not f["beside_float"] > 1:
            failures.append("{name}: a peer's float takes {beside_float:.2f} of our int8".format(**f))
        failures += missed_peers(f, SLACK + f["spread"])
    gain, floats = (geometric_mean([f[key] for f in models]) for key in ("int8_gain", "float_gain"))
    if not gain >= GAIN:
        failures.append(f"geometric mean of int8 gain {gain:.3f}; at least {GAIN} asked")
    if not floats >= 1:
        failures.append(f"geometric mean of float gain {floats:.3f}; at least 1 asked")
    return failures


COLUMNS = columns(
    "model {name} | MMACs {mmacs:.0f}", *(f"{name} {{{name}:.3f}}" for name in CONTESTANTS),
    "int8 gain {int8_gain:.2f} | beside float {beside_float:.2f} | float gain {float_gain:.2f} | A/A {spread:.1%}",
    "GMAC/s {gmacs:.0f} | of peak {share:.0%} | ceiling {ceiling:.3f} | int32 sums {sums}/{products}",
)  # fmt: skip
WEIGHTS_COLUMNS = columns(*(f"{name} {{{name}:.3f}} | {name}, gain {{{name} gain:.2f}}" for name in WEIGHTS))


def measure(name: str, options: Any) -> dict[str, Any]:
    """All figures of one model; peers start first, as TVM binds the thread that runs it."""
    if options.threads == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    network = find(name, options)
    runs = peer_runs(network, options)
    for run in runs.values():
        run()
    further = FurtherPeers.start(network, options)
    ours_, facts = our_runs(network, options)
    peak_run, peak_macs = peak(options.level)
    clock = getattr(time, options.clock)
    local = {key: timer_of(run, clock) for key, run in {**ours_, **runs, "peak": peak_run}.items()}
    times = time_blocks(local | further.timers(), options.rounds)
    further.close()
    figures: dict[str, Any] = median_milliseconds(times)
    best = {key: 1e3 * float(min(map(np.median, parts))) for key, parts in times.items()}
    rate = peak_macs / figures["peak"] * options.threads  # in a millisecond
    peers = further.figures({key: 1e3 * float(min(map(np.min, parts))) for key, parts in times.items()})
    return {"name": name, "level": options.level, **facts, "peak_rate": rate, "best": best, "peers": peers, **figures}


def measure_here(options: Namespace) -> dict[str, Any]:
    """The figures of the model `--child`, in this very process."""
    set_threads(options.threads)
    return measure(options.child, options)


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """A row of each model, from a fresh process."""
    environment = {"TVM_NUM_THREADS": str(options.threads), "OMP_NUM_THREADS": str(options.threads)}
    environment |= {"ONEDNN_MAX_CPU_ISA": ONEDNN[options.level]} if options.level else {}
    for name in filter(None, options.tasks.split(",")):
        yield judged(run_fresh(__file__, *sys.argv[1:], "--child", name, environment=environment))


def head(options: Namespace) -> list[str]:
    """Refuse options that do not go together; returns no lines."""
    if options.peers and options.batch > 1:
        raise SystemExit("latency: --peers takes no --batch: their models are made for one sample")
    if options.clock != CLOCKS[0] and options.threads > 1:
        raise SystemExit(f"latency: --clock {options.clock} adds up the threads; it takes --threads 1")
    chosen(options.peers)
    return []


def more_tables(models: list[dict[str, Any]], options: Namespace) -> list[tuple[str, list[str], list[list[str]]]]:
    """Further peers, and the geometric means."""
    titles = [title for title, _ in further_peers.COLUMNS]
    peers = [("further peers", titles, [row for f in models for row in peer_rows(f)])] if options.peers else []
    gains = [f"{name} gain" for name in WEIGHTS] if options.weights else []
    keys = ("int8_gain", "beside_float", "float_gain", *gains)
    means = {key: geometric_mean([f[key] for f in models]) for key in keys}
    names = [key.replace("_", " ") for key in means]
    return [*peers, ("geometric means", names, [[f"{value:.3f}" for value in means.values()]])]


main = Command(
    __doc__, lambda options: COLUMNS + (WEIGHTS_COLUMNS if options.weights else ()), measure_all,
    lambda rows, _: missed(rows), NETWORKS + ZOO_TASKS, head=head, more=more_tables,
    child=measure_here,
    arguments=[
        argument("--threads", type=int, default=1, help="of each runtime"),
        argument("--batch", type=int, default=1, help="samples of a run; only for models of a dynamic batch"),
        argument("--rounds", type=int, default=5, help="blocks of each contestant"),
        argument("--level", default="", choices=LEVELS, help="compile for a lesser CPU than this one"),
        argument("--clock", default=CLOCKS[0], choices=CLOCKS, help="time that passes, or that is computed"),
        argument("--weights", action="store_true", help="also weights for CPUs without VNNI"),
        argument("--peers", default="", help="further peers: all, or names separated by commas"),
        argument("--environments", type=Path, default=ENVIRONMENTS, help="folder of the peers' environments"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
