"""Latency of tvmq, onnxruntime and OpenVINO in int8 and float, every contestant on its best settings.

    python benchmarks/latency.py [--tasks a,b] [--threads 1] [--batch 1] [--rounds 5] [--level avx2] [--zoo DIR]
                                 [--peers all | a,b] [--environments DIR]

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
--peers   further peers, each in a process of its own (adapters/) with the interpreter of its environment, which
          peer_environments.py makes: they take turns with the others and have a table of their own; with --level
          those that can be limited (peer_environments.py says how), the others are refused with that reason
Bounds    1. geometric mean of int8 gain >= 1.4        2. int8 gain >= 1 / 1.03 less the A/A spread, every model
          3. beside float > 1, every model             4. geometric mean of float gain >= 1
          5. no further peer's int8 below ours by more than 2. allows
Exit code 1 where a bound is missed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import finish, machine, parser, print_table, set_threads, write_json
from further_peers import PEER_COLUMNS, FurtherPeers, missed_peers, peer_rows
from latency_models import NETWORKS, ZOO_TASKS, Network, find
from peer_environments import ENVIRONMENTS, chosen

BLOCK_SECONDS, FEWEST, MOST = 0.15, 3, 60  # of one contestant in one round
WARM_UP = 3
GAIN, SLACK = 1.4, 1.03
LEVELS = {"": "llvm", "avx2": "llvm -mcpu=haswell", "avx512bw": "llvm -mcpu=skylake-avx512"}
ONEDNN = {"avx2": "AVX2", "avx512bw": "AVX512_CORE"}
OURS, AGAIN, FLOAT = "tvmq int8", "tvmq int8 again", "tvmq f32"
INT8_PEERS = ("ort int8", "ov int8", "ov int8*")
F32_PEERS = ("ort f32", "ov f32")
FLOAT_PEERS = (*F32_PEERS, "ov float*")
UNLIMITED = ("ort f32", "ort int8")  # peers that --level does not reach
CONTESTANTS = (OURS, FLOAT, *INT8_PEERS, *FLOAT_PEERS)
CLOCKS = ("perf_counter", "process_time")
NAN = float("nan")
Run = Callable[[], object]
Timer = Callable[[int], np.ndarray]  # seconds of each of so many runs


def our_runs(network: Network, options: Any) -> tuple[dict[str, Run], dict[str, Any]]:
    """Our contestants, saved and loaded again as a user would, and what is known of the int8 one."""
    import ours

    import tvmq
    from tvmq.graph.ledger import get_ledger

    feed, target = network.feed(options.batch), LEVELS[options.level]
    model = ours.Model.read(network.path, {name: array.shape for name, array in feed.items()})
    quantized = model.quantized(network.feeds if options.batch == 1 else [feed], target, guard=network.guard)
    macs = sum(layer.get("macs", 0) for layer in get_ledger(quantized.module).layers.values())
    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, executable in ((OURS, quantized.executable), (FLOAT, model.floats(target))):
            executable.save(Path(folder) / "model.tvmq")
            runs[name] = tvmq.load(Path(folder) / "model.tvmq").prepare_run(feed)
    products, sums = quantized.executable.profile(feed, repeat=1).products
    return runs | {AGAIN: runs[OURS]}, {"macs": macs, "products": products, "sums": sums}


def peer_runs(network: Network, options: Any) -> dict[str, Run]:
    """The peers' contestants; those whose packages are missing are left out."""
    import openvino_peer
    import peers

    feed, threads = network.feed(options.batch), options.threads
    quantized, _ = peers.int8_model(network.path, network.feeds, options.cache)
    runs: dict[str, Run] = {}
    for name, path in (("ort f32", network.path), ("ort int8", quantized)):
        predict = peers.session(path, threads, options.batch)
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


def timed(run: Run, clock: Callable[[], float] = time.perf_counter) -> Timer:
    """Times runs of this very process."""

    def seconds(count: int) -> np.ndarray:
        stamps = [clock()]
        for _ in range(count):
            run()
            stamps.append(clock())
        return np.diff(stamps)

    return seconds


def blocks(runs: dict[str, Run], rounds: int) -> dict[str, list[np.ndarray]]:
    """`take_turns` of runs of this very process."""
    return take_turns({name: timed(run) for name, run in runs.items()}, rounds)


def take_turns(timers: dict[str, Timer], rounds: int) -> dict[str, list[np.ndarray]]:
    """Seconds of the runs of each contestant, a block a round, the contestants taking turns."""
    for seconds in timers.values():
        seconds(WARM_UP)
    times: dict[str, list[np.ndarray]] = {name: [] for name in timers}
    for _ in range(rounds):
        for name, seconds in timers.items():
            count = int(np.clip(BLOCK_SECONDS / seconds(1)[0], FEWEST, MOST))
            times[name].append(seconds(count))
    return times


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
    local = {key: timed(run, getattr(time, options.clock)) for key, run in {**ours_, **runs, "peak": peak_run}.items()}
    times = take_turns(local | further.timers(), options.rounds)
    further.close()
    figures: dict[str, Any] = {key: 1e3 * float(np.median(np.concatenate(parts))) for key, parts in times.items()}
    best = {key: 1e3 * float(min(map(np.median, parts))) for key, parts in times.items()}
    rate = peak_macs / figures["peak"] * options.threads  # in a millisecond
    peers = further.figures({key: 1e3 * float(min(map(np.min, parts))) for key, parts in times.items()})
    return {"name": name, "level": options.level, **facts, "peak_rate": rate, "best": best, "peers": peers, **figures}


def judged(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures with what follows from them."""

    def least(names: tuple[str, ...]) -> float:
        counted = [name for name in names if name in figures and not (figures["level"] and name in UNLIMITED)]
        return min((figures[name] for name in counted), default=NAN)

    again = figures[AGAIN] / figures[OURS]
    return {
        **dict.fromkeys(CONTESTANTS, NAN),
        **figures,
        "int8_gain": least(INT8_PEERS) / figures[OURS],
        "beside_float": least(FLOAT_PEERS) / figures[OURS],
        "float_gain": least(F32_PEERS) / figures[FLOAT],
        "spread": max(again, 1 / again) - 1,
        "gmacs": 1e-6 * figures["macs"] / figures[OURS],
        "share": figures["macs"] / figures[OURS] / figures["peak_rate"],
        "ceiling": figures["macs"] / figures["peak_rate"],
        "mmacs": 1e-6 * figures["macs"],
    }


COLUMNS = (
    ("model", "{name}"),
    ("MMACs", "{mmacs:.0f}"),
    *((name, "{" + name + ":.3f}") for name in CONTESTANTS),
    ("int8 gain", "{int8_gain:.2f}"),
    ("beside float", "{beside_float:.2f}"),
    ("float gain", "{float_gain:.2f}"),
    ("A/A", "{spread:.1%}"),
    ("GMAC/s", "{gmacs:.0f}"),
    ("of peak", "{share:.0%}"),
    ("ceiling", "{ceiling:.3f}"),
    ("int32 sums", "{sums}/{products}"),
)


def geometric_mean(values: list[float]) -> float:
    """Of positive numbers; NaN without any.

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


def in_child(name: str, options: Any, arguments: list[str]) -> dict[str, Any]:
    """`measure` in a fresh process."""
    environment = dict(os.environ, TVM_NUM_THREADS=str(options.threads), OMP_NUM_THREADS=str(options.threads))
    if options.level:
        environment["ONEDNN_MAX_CPU_ISA"] = ONEDNN[options.level]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "figures.json"
        command = [sys.executable, __file__, *arguments, "--tasks", name, "--json", str(out), "--child"]
        subprocess.run(command, env=environment, check=True)
        record: dict[str, Any] = json.loads(out.read_text())
    return record["figures"]  # type: ignore[no-any-return]


def main() -> None:
    """Command line; see the head of this file."""
    commands = parser("Latency of int8 and float: tvmq, onnxruntime, OpenVINO.", tasks=NETWORKS + ZOO_TASKS)
    commands.add_argument("--threads", type=int, default=1, help="of each runtime")
    commands.add_argument("--batch", type=int, default=1, help="samples of a run; only for models of a dynamic batch")
    commands.add_argument("--rounds", type=int, default=5, help="blocks of each contestant")
    commands.add_argument("--level", default="", choices=LEVELS, help="compile for a lesser CPU than this one")
    commands.add_argument("--clock", default=CLOCKS[0], choices=CLOCKS, help="time that passes, or that is computed")
    commands.add_argument("--peers", default="", help="further peers: all, or names separated by commas")
    commands.add_argument("--environments", type=Path, default=ENVIRONMENTS, help="folder of the peers' environments")
    commands.add_argument(
        "--child", action="store_true", help="measure in this very process; used by the command itself"
    )
    options = commands.parse_args()
    if options.peers and options.batch > 1:
        raise SystemExit("latency: --peers takes no --batch: their models are made for one sample")
    if options.clock != CLOCKS[0] and options.threads > 1:
        raise SystemExit(f"latency: --clock {options.clock} adds up the threads; it takes --threads 1")
    chosen(options.peers)
    set_threads(options.threads)
    if options.child:
        write_json(options.json, {"figures": measure(options.tasks, options)})
        return
    print(machine(), flush=True)
    models = []
    for name in filter(None, options.tasks.split(",")):
        models.append(judged(in_child(name, options, sys.argv[1:])))
        print(", ".join(f"{title} {form.format(**models[-1])}" for title, form in COLUMNS), flush=True)
    print_table([title for title, _ in COLUMNS], [[form.format(**f) for _, form in COLUMNS] for f in models])
    if options.peers:
        print_table(PEER_COLUMNS, [row for f in models for row in peer_rows(f)])
    means = {key: geometric_mean([f[key] for f in models]) for key in ("int8_gain", "beside_float", "float_gain")}
    print(", ".join(f"geometric mean of {key.replace('_', ' ')} {value:.3f}" for key, value in means.items()))
    failures = missed(models)
    write_json(options.json, {"models": models, "means": means, "failures": failures})
    finish(failures)


if __name__ == "__main__":
    main()
