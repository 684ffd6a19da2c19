"""Latency at batch 1: tvmq in int8 and float against onnxruntime in int8 and float, and the time to load.

    python benchmarks/latency.py --zoo ../shared/zoo [--tasks a,b] [--threads 1] [--rounds 7] [--peers-only]

Names that the zoo's tasks lack are networks of its make_latency_models.py (random weights; needs torch once).
Blocks of the four variants alternate, round after round, so that a change of clock or load hits them all;
a figure is the median of all runs, `best` in the JSON the least of the rounds' medians.

Columns   milliseconds; ratios: tvmq int8 to onnxruntime float32 and to onnxruntime int8;
          load: seconds to load the saved int8 and float model in a fresh process that has TVM imported
Bounds    1. tvmq int8 faster than onnxruntime float32
          2. tvmq int8 not slower than 1.3 times onnxruntime int8
Exit code 1 where a bound is missed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import ours
import peers
from common import (
    PICTURE_TASKS,
    QUICK_CALIBRATION,
    Feed,
    Feeds,
    Predict,
    finish,
    load_zoo,
    machine,
    parser,
    print_table,
    set_threads,
    write_json,
    zoo_module,
)

NETWORKS = ("resnet18", "mobilenet_v2")
BLOCK_SECONDS, FEWEST, MOST = 0.15, 3, 60  # of one variant in one round
COLUMNS = (
    ("network", "{name}"),
    ("tvmq int8", "{tvmq int8:.3f}"),
    ("tvmq float", "{tvmq float:.3f}"),
    ("ort int8", "{ort int8:.3f}"),
    ("ort f32", "{ort f32:.3f}"),
    ("int8 / ort f32", "{beside_float:.2f}"),
    ("int8 / ort int8", "{beside_int8:.2f}"),
    ("load int8 s", "{load_int8:.2f}"),
    ("load float s", "{load_float:.2f}"),
)
PEER_COLUMNS = (COLUMNS[0], COLUMNS[3], COLUMNS[4])
LOAD = """
import sys, time, tvm, tvmq
tvmq.load
start = time.perf_counter()
tvmq.load(sys.argv[1])
print(time.perf_counter() - start)
"""


@dataclass(frozen=True)
class Network:
    """A float model to time, and samples to calibrate it with; the first is what it runs on."""

    name: str
    path: Path
    feeds: Iterable[Feed]


def networks(options: Any) -> list[Network]:
    """The tasks and networks that the command line names."""
    names = [name for name in options.tasks.split(",") if name]
    known = zoo_module(options.zoo, "tasks").tasks()
    tasks = load_zoo(options.zoo, ",".join(name for name in names if name in known))
    limit = QUICK_CALIBRATION if options.quick else None
    return [
        Network(name, Path(tasks[name].model_path), Feeds(tasks[name], limit))
        if name in tasks
        else random_network(name, options.zoo, options.cache)
        for name in names
    ]


def random_network(name: str, zoo: Path, cache: Path) -> Network:
    """A network of make_latency_models.py, exported once into the cache, and six random pictures."""
    path, pictures = cache / f"{name}.onnx", cache / f"{name}.npz"
    if not pictures.exists():
        cache.mkdir(parents=True, exist_ok=True)
        export(name, zoo, path, pictures)
    with np.load(pictures, allow_pickle=False) as arrays:
        return Network(name, path, [{"input": picture[None]} for picture in arrays["input"]])


def export(name: str, zoo: Path, path: Path, pictures: Path) -> None:
    """Write model and pictures with torch, by the exporter that needs no further package."""
    try:
        import torch
    except ImportError as error:
        raise SystemExit(f"latency: '{name}' is exported with torch, which is missing; pip install torch") from error
    module = zoo_module(zoo, "make_latency_models")
    if name not in module.MODELS:
        raise SystemExit(f"latency: no task and no network '{name}'; networks are {', '.join(module.MODELS)}")
    network, arguments, inputs = module.build(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it announces its successor
        torch.onnx.export(
            network, arguments, str(path), dynamo=False, opset_version=17, input_names=inputs,
            output_names=["output"],
        )  # fmt: skip
    size = arguments[0].shape[-1]
    np.savez(pictures, input=np.concatenate([module.image(1, size, 1 + i).numpy() for i in range(6)]))


def blocks(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[np.ndarray]]:
    """Seconds of the runs of each variant, a block a round, the variants taking turns."""
    for run in runs.values():
        for _ in range(3):
            run()
    times: dict[str, list[np.ndarray]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            count = int(np.clip(BLOCK_SECONDS / (time.perf_counter() - start), FEWEST, MOST))
            stamps = [time.perf_counter()]
            for _ in range(count):
                run()
                stamps.append(time.perf_counter())
            times[name].append(np.diff(stamps))
    return times


def load_seconds(executable: Any) -> float:
    """Seconds to load the saved executable in a fresh process; imports are not counted."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tvmq"
        executable.save(path)
        command = [sys.executable, "-c", LOAD, str(path)]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(result.stdout)


def bind(run: Predict, feed: Feed) -> Callable[[], object]:
    """A call with its input."""
    return lambda: run(feed)


def measure(network: Network, options: Any) -> dict[str, Any]:
    """All figures of one network."""
    quantized, _ = peers.int8_model(network.path, network.feeds, options.cache)
    feed = next(iter(network.feeds))
    runs = {
        "ort int8": bind(peers.session(quantized, options.threads), feed),
        "ort f32": bind(peers.session(network.path, options.threads), feed),
    }
    figures: dict[str, Any] = {"name": network.name, "threads": options.threads}
    if not options.peers_only:
        model = ours.Model.read(network.path, {name: array.shape for name, array in feed.items()})
        int8, plain = model.quantized(network.feeds).executable, model.floats()
        figures |= {"load_int8": load_seconds(int8), "load_float": load_seconds(plain)}
        runs |= {"tvmq int8": bind(ours.predict(int8), feed), "tvmq float": bind(ours.predict(plain), feed)}
    times = blocks(runs, options.rounds)
    figures |= {name: 1e3 * float(np.median(np.concatenate(parts))) for name, parts in times.items()}
    figures["best"] = {name: 1e3 * float(min(map(np.median, parts))) for name, parts in times.items()}
    if not options.peers_only:
        figures["beside_float"] = figures["tvmq int8"] / figures["ort f32"]
        figures["beside_int8"] = figures["tvmq int8"] / figures["ort int8"]
    return figures


def missed(figures: dict[str, Any]) -> list[str]:
    """The bounds that one network misses."""
    failures = []
    if figures["beside_float"] >= 1.0:
        failures.append("{name}: int8 takes {beside_float:.2f} of onnxruntime float32; below 1 asked")
    if figures["beside_int8"] > 1.3:
        failures.append("{name}: int8 takes {beside_int8:.2f} of onnxruntime int8; at most 1.3 asked")
    return [text.format(**figures) for text in failures]


def main() -> None:
    """Command line; see the head of this file."""
    commands = parser("Latency of int8 and float, tvmq and onnxruntime.", tasks=NETWORKS + PICTURE_TASKS)
    commands.add_argument("--threads", type=int, default=1, help="of each runtime")
    commands.add_argument("--rounds", type=int, default=7, help="blocks of each variant")
    commands.add_argument("--peers-only", action="store_true", help="onnxruntime's columns alone; no bounds")
    options = commands.parse_args()
    set_threads(options.threads)
    print(machine(), flush=True)
    columns = PEER_COLUMNS if options.peers_only else COLUMNS
    figures = []
    for network in networks(options):
        figures.append(measure(network, options))
        print(", ".join(f"{title} {form.format(**figures[-1])}" for title, form in columns), flush=True)
    print_table([title for title, _ in columns], [[form.format(**f) for _, form in columns] for f in figures])
    failures = [] if options.peers_only else [text for f in figures for text in missed(f)]
    write_json(options.json, {"networks": figures, "failures": failures})
    if not options.peers_only:
        finish(failures)


if __name__ == "__main__":
    main()
