"""Calls a model from Python with NumPy and one runtime alone, and times runs when asked.

    python caller.py RUNTIME FILE INPUTS.npz RESULTS THREADS

RUNTIME   library: `tvmq.load` of a library's folder; ctypes: the same library without its Python checks, on arrays that
          stay; tvmq: a .tvmq file; ort: onnxruntime; litert: a .tflite file, whose inputs are codes
RESULTS   gets the bytes of the outputs of the first run
First line out: milliseconds of import, load and first run, MiB before the import, with it, and after that run. Then,
for each line "COUNT" in, the seconds of so many runs, as a list. The programs in C beside this file do the same.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

Feed = dict[str, np.ndarray]
Run = Callable[[], Sequence[np.ndarray]]
Load = Callable[[Path, Feed, int], Run]


def tvmq_loader() -> Load:
    """`tvmq.load` of .tvmq files, with TVM."""
    from tvmq.runtime.executable import load

    def load_run(path: Path, feed: Feed, threads: int) -> Run:
        exe = load(path, num_threads=threads)
        return lambda: exe.run(feed)

    return load_run


def library_loader() -> Load:
    """`tvmq.load` of libraries, which imports no TVM."""
    import tvmq.runtime.c_library  # noqa: F401   `load` imports it when it is called
    from tvmq.runtime.load_model import load

    def load_run(path: Path, feed: Feed, threads: int) -> Run:
        model = load(path, num_threads=threads)
        return lambda: model.run(feed)  # type: ignore[no-any-return]

    return load_run


def ctypes_loader() -> Load:
    """A library's function itself, called as the program in C does where there is no compiler for that."""
    import ctypes

    from tvmq.runtime.c_library import Buffer, CFunctions
    from tvmq.runtime.inputs import aligned_zeros

    def buffers(arrays: Sequence[np.ndarray]) -> ctypes.Array[Buffer]:
        return (Buffer * len(arrays))(*(Buffer(array.ctypes.data, array.nbytes) for array in arrays))

    def load_run(path: Path, feed: Feed, threads: int) -> Run:
        if threads > 1:
            raise SystemExit("caller: ctypes starts no pool")
        facts = json.loads(next(path.glob("*.json")).read_text())
        functions = CFunctions(path / f"lib{facts['name']}.so", facts["name"])
        functions.init()
        given = [aligned_zeros(array.shape, array.dtype) for array in feed.values()]
        for own, array in zip(given, feed.values(), strict=True):
            own[...] = array
        results = [aligned_zeros(tensor["shape"], tensor["dtype"]) for tensor in facts["outputs"]]
        workspace = aligned_zeros([functions.workspace_bytes(None, 1)], "uint8")
        arguments = None, buffers(given), buffers(results), buffers([workspace])[0], None
        kept = given, workspace  # addresses in the arguments do not keep arrays alive

        def run() -> list[np.ndarray]:
            assert kept
            if status := functions.run(*arguments):
                raise SystemExit(f"caller: {functions.text_of(status)}")
            return results

        return run

    return load_run


def ort_loader() -> Load:
    """Sessions of onnxruntime."""
    import onnxruntime

    def load_run(path: Path, feed: Feed, threads: int) -> Run:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
        return lambda: session.run(None, feed)  # type: ignore[no-any-return]

    return load_run


def litert_loader() -> Load:
    """Interpreters of LiteRT with its usual kernels; the inputs are already in its tensors."""
    from ai_edge_litert.interpreter import Interpreter

    def load_run(path: Path, feed: Feed, threads: int) -> Run:
        interpreter = Interpreter(str(path), num_threads=threads)
        interpreter.allocate_tensors()
        for detail, array in zip(interpreter.get_input_details(), feed.values(), strict=True):
            interpreter.set_tensor(detail["index"], array)
        places = [detail["index"] for detail in interpreter.get_output_details()]

        def run() -> list[np.ndarray]:
            interpreter.invoke()
            return [interpreter.get_tensor(place) for place in places]

        return run

    return load_run


LOADERS = {
    "library": library_loader,
    "ctypes": ctypes_loader,
    "tvmq": tvmq_loader,
    "ort": ort_loader,
    "litert": litert_loader,
}


def resident_mebibytes() -> float:
    """Resident memory of this process."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Rss:"))


def main(runtime: str, file: str, inputs: str, results: str, threads: str) -> None:
    """Load, run once, then answer until the input ends."""
    with np.load(inputs) as arrays:
        feed = dict(arrays)
    started, stamps = resident_mebibytes(), [time.perf_counter()]
    load = LOADERS[runtime]()
    stamps.append(time.perf_counter())
    engine = resident_mebibytes()
    stamps.append(time.perf_counter())
    run = load(Path(file), feed, int(threads))
    stamps.append(time.perf_counter())
    outputs = run()
    stamps.append(time.perf_counter())
    figures = {"started": started, "engine": engine, "resident": resident_mebibytes()}
    taken = 1e3 * np.diff(stamps)
    names = {"engine_ms": 0, "load_ms": 2, "first_ms": 3}
    Path(results).write_bytes(b"".join(np.ascontiguousarray(output).tobytes() for output in outputs))
    print(json.dumps({**{name: float(taken[place]) for name, place in names.items()}, **figures}), flush=True)
    for line in sys.stdin:
        stamps = [time.perf_counter()]
        for _ in range(int(line)):
            run()
            stamps.append(time.perf_counter())
        print(json.dumps(np.diff(stamps).tolist()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
