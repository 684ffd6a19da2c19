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

import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness.command import Command, argument, run_fresh
from harness.networks import find, runtime_files
from harness.report import columns

OURS, PEER = "tvmq", "ort"
CHILD = Path(__file__).with_name("loading_child.py")


def file_bytes(path: Path) -> int:
    """Bytes of a model's files; OpenVINO's weights lie in a second one."""
    weights = path.with_suffix(".bin")
    return path.stat().st_size + (weights.stat().st_size if path.suffix == ".xml" else 0)


def missed(figures: list[dict[str, Any]], _options: Any = None) -> list[str]:
    """The bounds that the table misses."""
    failures = []
    peers = {f["task"]: f for f in figures if f["runtime"] == PEER}
    for f in (f for f in figures if f["runtime"] == OURS):
        for key in ("resident", "peak"):
            if f[key] > peers[f["task"]][key]:
                failures.append(f"{f['task']}: {key} {f[key]:.1f} MiB, onnxruntime has {peers[f['task']][key]:.1f}")
    return failures


COLUMNS = columns(
    "model, runtime {task} {runtime} | file MB {file:.2f} | import MiB {imported:.1f} | peak MiB {peak:.1f}",
    "resident MiB {resident:.1f} | private MiB {private:.1f} | import s {import_seconds:.3f}",
    "load s {load_seconds:.3f} | load CPU s {load_cpu:.3f} | first run s {run_seconds:.3f}",
    "again s {again_seconds:.3f}",
)


def measure(files: dict[str, Path], inputs: Path, starts: int, python: str) -> dict[str, dict[str, float]]:
    """{runtime: the least of each figure over fresh processes}, by turns."""
    found: dict[str, dict[str, float]] = {}
    for _ in range(starts):
        for runtime, path in files.items():
            new = run_fresh(CHILD, runtime, path, inputs, python=python)
            old = found.get(runtime, new)
            found[runtime] = {key: min(value, old[key]) for key, value in new.items()}
    return found


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """The figures of all contestants for each model."""
    for name in options.tasks.split(","):
        network = find(name, options)
        with tempfile.TemporaryDirectory() as folder:
            inputs = Path(folder, "inputs.npz")
            np.savez(inputs, **network.feed())  # type: ignore[arg-type]
            models = runtime_files(network, options, Path(folder))
            found = measure(models, inputs, 1 if options.quick else options.starts, options.python)
            for runtime, path in models.items():
                yield {"task": name, "runtime": runtime, "file": file_bytes(path) / 1e6, **found[runtime]}


main = Command(
    __doc__, COLUMNS, measure_all, missed, ("resnet50",),
    arguments=[
        argument("--saved", type=Path, help="folder of files NAME.tvmq to load"),
        argument("--starts", type=int, default=5, help="fresh processes of each contestant"),
        argument("--python", default=sys.executable, help="interpreter of the fresh processes"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
