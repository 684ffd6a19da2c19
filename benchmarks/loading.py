"""Memory and time of loading a saved int8 model: tvmq beside onnxruntime and OpenVINO.

    python benchmarks/loading.py [--tasks resnet50] [--zoo DIR] [--cache DIR] [--saved DIR] [--quick]

Contestants   tvmq: a saved .tvmq; ort: onnxruntime's int8 (QDQ, per channel); ov: OpenVINO's (NNCF), where installed
Each starts a fresh process `--starts` times, one thread: import, load, one run. The median of each figure is printed.
Columns   megabytes of the file; MiB of resident memory (Linux) after the import of the runtime (and of the inputs);
          peak above that while loading, peak above that until one run was done, what is held then;
          seconds of loading and of the first run
--saved   folder of files NAME.tvmq to load; without it, or without the file, the model is quantized and built first
Bounds    peak of tvmq not above that of onnxruntime; loading under 2 s. Exit code 1 where one is missed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import Feed, finish, machine, parser, print_table, write_json
from latency_models import Network, find
from memory import memory

OURS, PEER = "tvmq", "ort"
MOST_SECONDS = 2.0
COLUMNS = (
    ("model, runtime", "{task} {runtime}"),
    ("file MB", "{file:.1f}"),
    ("import MiB", "{imported:.1f}"),
    ("load peak +MiB", "{load_peak:.1f}"),
    ("run peak +MiB", "{peak:.1f}"),
    ("held +MiB", "{held:.1f}"),
    ("load s", "{load_seconds:.3f}"),
    ("first run s", "{run_seconds:.3f}"),
)
Load = Callable[[Path], Callable[[Feed], object]]


def tvmq_loader() -> Load:
    """Imports tvmq and TVM; a function that loads a file as a function that runs it."""
    import tvmq

    load = tvmq.load  # the import of TVM waits for it
    return lambda path: load(path, num_threads=1).run


def ort_loader() -> Load:
    """The same of onnxruntime."""
    import peers

    return lambda path: peers.session(path)


def ov_loader() -> Load:
    """The same of OpenVINO."""
    import openvino

    settings = {"INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1}
    return lambda path: openvino.Core().compile_model(path, "CPU", settings)


LOADERS = {OURS: tvmq_loader, PEER: ort_loader, "ov": ov_loader}


def start_peak() -> float:
    """Resident memory in MiB, from which on the peak is counted anew where Linux allows that."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass  # then the peak of the import counts, too
    return memory("VmRSS")


def child(runtime: str, path: Path, inputs: Path) -> dict[str, float]:
    """The figures of this very process."""
    load = LOADERS[runtime]()
    with np.load(inputs) as arrays:
        feed = dict(arrays)
    imported, stamps = start_peak(), [time.perf_counter()]
    run = load(path)
    load_peak = memory("VmHWM") - imported
    stamps.append(time.perf_counter())
    run(feed)
    stamps.append(time.perf_counter())
    load_seconds, run_seconds = np.diff(stamps)
    return {
        "imported": imported, "load_peak": load_peak, "peak": memory("VmHWM") - imported,
        "held": memory("VmRSS") - imported, "load_seconds": load_seconds, "run_seconds": run_seconds,
    }  # fmt: skip


def measure(runtime: str, path: Path, inputs: Path, starts: int) -> dict[str, float]:
    """Medians over fresh processes."""
    command = [sys.executable, __file__, "--child", runtime, str(path), str(inputs)]
    found = []
    for _ in range(starts):
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found.append(json.loads(result.stdout.splitlines()[-1]))
    return {key: float(np.median([figures[key] for figures in found])) for key in found[0]}


def file_bytes(path: Path) -> int:
    """Of a model; OpenVINO's weights lie beside it."""
    weights = path.with_suffix(".bin")
    return path.stat().st_size + (weights.stat().st_size if path.suffix == ".xml" else 0)


def files(network: Network, options: Any, folder: Path) -> dict[str, Path]:
    """The saved model of each runtime that is installed."""
    import openvino_peer
    import peers

    saved = (options.saved or folder) / f"{network.name}.tvmq"
    if not saved.exists():
        import ours

        model = ours.Model.read(network.path, {name: array.shape for name, array in network.feed().items()})
        model.quantized(network.feeds, guard=network.guard).executable.save(saved)
    quantized, _ = peers.int8_model(network.path, network.feeds, options.cache)
    found = {OURS: saved, PEER: quantized}
    other = openvino_peer.int8_model(network, options.cache) if openvino_peer.available() else None
    return found if other is None else {**found, "ov": other}


def rows(name: str, options: Any) -> list[dict[str, Any]]:
    """The figures of all contestants for one model."""
    network = find(name, options)
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder, "inputs.npz")
        np.savez(inputs, **network.feed())  # type: ignore[arg-type]
        return [
            {"task": name, "runtime": runtime, "file": file_bytes(path) / 1e6,
             **measure(runtime, path, inputs, options.starts)}
            for runtime, path in files(network, options, Path(folder)).items()
        ]  # fmt: skip


def missed(figures: list[dict[str, Any]]) -> list[str]:
    """The bounds that the table misses."""
    failures = []
    peaks = {(f["task"], f["runtime"]): f["peak"] for f in figures}
    for f in (f for f in figures if f["runtime"] == OURS):
        most = peaks[f["task"], PEER]
        if f["peak"] > most:
            failures.append(f"{f['task']}: {f['peak']:.1f} MiB above the import, onnxruntime has {most:.1f}")
        if f["load_seconds"] >= MOST_SECONDS:
            failures.append(f"{f['task']}: loaded in {f['load_seconds']:.2f} s, under {MOST_SECONDS:.0f} asked")
    return failures


def main() -> None:
    """Command line; see the head of this file."""
    commands = parser("Memory and time of loading a saved int8 model.", tasks=["resnet50"])
    commands.add_argument("--saved", type=Path, help="folder of files NAME.tvmq to load")
    commands.add_argument("--starts", type=int, default=5, help="fresh processes of each contestant")
    commands.add_argument("--child", nargs=3, metavar=("RUNTIME", "FILE", "INPUTS"), help="measure in this process")
    options = commands.parse_args()
    if options.child:
        runtime, path, inputs = options.child
        print(json.dumps(child(runtime, Path(path), Path(inputs))))
        return
    options.starts = 1 if options.quick else options.starts
    print(machine(), flush=True)
    figures = [row for name in options.tasks.split(",") for row in rows(name, options)]
    print_table([title for title, _ in COLUMNS], [[form.format(**f) for _, form in COLUMNS] for f in figures])
    failures = missed(figures)
    write_json(options.json, {"rows": figures, "failures": failures})
    finish(failures)


if __name__ == "__main__":
    main()
