"""Memory and time of loading a saved int8 model: tvmq beside onnxruntime and OpenVINO.

    python benchmarks/loading.py [--tasks resnet50] [--zoo DIR] [--cache DIR] [--saved DIR] [--python FILE] [--quick]

Contestants   tvmq: a saved .tvmq; ort: onnxruntime's int8 (QDQ, per channel); ov: OpenVINO's (NNCF), where installed
Each starts a fresh process `--starts` times, one thread (loading_child.py: NumPy and the runtime alone): import, load,
one run, a second load. The contestants take turns; the least of each figure is printed.
Columns   megabytes of the file; MiB of resident memory (Linux) after the import of the runtime; then of the whole
          process: peak until one run was done, resident then, and of that private, which a further process of the same
          model needs again; seconds of the import, of loading (and of the processor), the first run, a second load
--saved   folder of files NAME.tvmq to load; without it, or without the file, the model is quantized and built first
--python  interpreter of the fresh processes: where torch is installed, tvm_ffi imports it; an environment without torch
          shows what a server takes that needs none
Bounds    resident memory of tvmq, and its peak, not above those of onnxruntime. Exit code 1 where one is missed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from common import finish, machine, parser, print_table, write_json
from latency_models import Network, find

OURS, PEER = "tvmq", "ort"
COLUMNS = (
    ("model, runtime", "{task} {runtime}"),
    ("file MB", "{file:.2f}"),
    ("import MiB", "{imported:.1f}"),
    ("peak MiB", "{peak:.1f}"),
    ("resident MiB", "{resident:.1f}"),
    ("private MiB", "{private:.1f}"),
    ("import s", "{import_seconds:.3f}"),
    ("load s", "{load_seconds:.3f}"),
    ("load CPU s", "{load_cpu:.3f}"),
    ("first run s", "{run_seconds:.3f}"),
    ("again s", "{again_seconds:.3f}"),
)
CHILD = Path(__file__).with_name("loading_child.py")


def measure(files: dict[str, Path], inputs: Path, starts: int, python: str) -> dict[str, dict[str, float]]:
    """{runtime: the least of each figure over fresh processes}, by turns."""
    found: dict[str, dict[str, float]] = {}
    for _ in range(starts):
        for runtime, path in files.items():
            command = [python, str(CHILD), runtime, str(path), str(inputs)]
            result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            new = json.loads(result.stdout.splitlines()[-1])
            old = found.get(runtime, new)
            found[runtime] = {key: min(value, old[key]) for key, value in new.items()}
    return found


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
        models = files(network, options, Path(folder))
        found = measure(models, inputs, options.starts, options.python)
        return [
            {"task": name, "runtime": runtime, "file": file_bytes(path) / 1e6, **found[runtime]}
            for runtime, path in models.items()
        ]


def missed(figures: list[dict[str, Any]]) -> list[str]:
    """The bounds that the table misses."""
    failures = []
    peers = {f["task"]: f for f in figures if f["runtime"] == PEER}
    for f in (f for f in figures if f["runtime"] == OURS):
        for key in ("resident", "peak"):
            if f[key] > peers[f["task"]][key]:
                failures.append(f"{f['task']}: {key} {f[key]:.1f} MiB, onnxruntime has {peers[f['task']][key]:.1f}")
    return failures


def main() -> None:
    """Command line; see the head of this file."""
    commands = parser("Memory and time of loading a saved int8 model.", tasks=["resnet50"])
    commands.add_argument("--saved", type=Path, help="folder of files NAME.tvmq to load")
    commands.add_argument("--starts", type=int, default=5, help="fresh processes of each contestant")
    commands.add_argument("--python", default=sys.executable, help="interpreter of the fresh processes")
    options = commands.parse_args()
    options.starts = 1 if options.quick else options.starts
    print(machine(), flush=True)
    figures = [row for name in options.tasks.split(",") for row in rows(name, options)]
    print_table([title for title, _ in COLUMNS], [[form.format(**f) for _, form in COLUMNS] for f in figures])
    failures = missed(figures)
    write_json(options.json, {"rows": figures, "failures": failures})
    finish(failures)


if __name__ == "__main__":
    main()
