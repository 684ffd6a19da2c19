"""Child process of loading.py: with NumPy and one runtime alone, it loads a model and runs it.

python loading_child.py RUNTIME FILE INPUTS    prints the figures as JSON
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

Feed = dict[str, np.ndarray]
Load = Callable[[Path], Callable[[Feed], object]]


def tvmq_loader() -> Load:
    """Imports tvmq and TVM's runtime; a function that loads a file as a function that runs it."""
    from tvmq.runtime.executable import load

    return lambda path: load(path, num_threads=1).run


def ort_loader() -> Load:
    """Loader of onnxruntime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3

    def load(path: Path) -> Callable[[Feed], object]:
        session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
        return lambda feed: session.run(None, feed)

    return load


def ov_loader() -> Load:
    """Loader of OpenVINO."""
    import openvino

    settings = {"INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1}
    return lambda path: openvino.Core().compile_model(path, "CPU", settings)


LOADERS = {"tvmq": tvmq_loader, "ort": ort_loader, "ov": ov_loader}


def mebibytes(file: str, *names: str) -> float:
    """Sum of some lines of a file of /proc."""
    lines = (line.split() for line in Path("/proc/self", file).read_text().splitlines())
    return sum(int(words[1]) for words in lines if words[0].rstrip(":") in names) / 1024


def figures(runtime: str, path: Path, inputs: Path) -> dict[str, float]:
    """Memory and time of this process."""
    with np.load(inputs) as arrays:
        feed = dict(arrays)
    started = time.perf_counter()
    load = LOADERS[runtime]()
    stamps, imported, cpu = [time.perf_counter()], mebibytes("status", "VmRSS"), time.process_time()
    run = load(path)
    cpu = time.process_time() - cpu
    stamps.append(time.perf_counter())
    run(feed)
    stamps.append(time.perf_counter())
    resident = mebibytes("smaps_rollup", "Rss")
    found = {
        "import_seconds": stamps[0] - started, "imported": imported, "load_cpu": cpu,
        "load_seconds": stamps[1] - stamps[0], "run_seconds": stamps[2] - stamps[1],
        # the kernel notes the highest mark by and by, and may be a page behind
        "peak": max(mebibytes("status", "VmHWM"), resident), "resident": resident,
        "private": mebibytes("smaps_rollup", "Private_Clean", "Private_Dirty"),
    }  # fmt: skip
    again = time.perf_counter()
    _second = load(path)
    return {**found, "again_seconds": time.perf_counter() - again}


if __name__ == "__main__":
    print(json.dumps(figures(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))))
