"""A peer in a process of its own: prepares a model and times it when asked, by lines.

    python serve.py ADAPTER MODEL.onnx SAMPLES.npz THREADS FOLDER [LEVEL [CLOCK]]

Started by benchmarks/peer_process.py with the interpreter of the peer's environment; needs NumPy and that peer alone.
First line out: {"contestants": {name: file of its output on the first sample}, "absent": {name: why}, "version": text}
or {"refused": why}.
Then, line for line: "COUNT NAME" in, the seconds of COUNT runs out, as a list. The end of the input ends the process.
What the peer's libraries print goes to the standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

CLOCK = "perf_counter"  # of `time`; process_time counts what the process computes
REASON = 110  # characters that a table has for it
Run = Callable[[], Any]  # gives the output on the first sample
Make = Callable[[], Run]  # what `prepare(job)` of an adapter has for each of its contestants


@dataclass(frozen=True)
class Job:
    """A model to prepare.

    feeds    {input name: array}, the calibration samples; the first one is what is timed
    threads  how many the peer may use
    folder   an empty one, for the files that the peer needs
    level    a lesser CPU that code is to be made for (`--level`), "" for this one
    """

    model: Path
    feeds: list[dict[str, np.ndarray]]
    threads: int
    folder: Path
    level: str = ""

    @property
    def feed(self) -> dict[str, np.ndarray]:
        """The sample that is timed."""
        return self.feeds[0]


def read_samples(path: Path) -> list[dict[str, np.ndarray]]:
    """The samples that `peer_process.write_samples` wrote: arrays named "number/input"."""
    samples: dict[int, dict[str, np.ndarray]] = {}
    with np.load(path) as arrays:
        for key in arrays.files:
            number, name = key.split("/", 1)
            samples.setdefault(int(number), {})[name] = arrays[key]
    return [samples[number] for number in sorted(samples)]


def prepared(adapter: str, job: Job) -> tuple[dict[str, Run], dict[str, Any]]:
    """The runs of the peer and the first line; no run where it cannot have the model."""
    try:
        module = importlib.import_module(adapter)
        runs: dict[str, Run] = {}
        outputs, absent = {}, {}
        for name, make in module.prepare(job).items():
            try:
                runs[name] = make()
                outputs[name] = str(job.folder / f"output{len(outputs)}.npy")
                np.save(outputs[name], np.asarray(runs[name]()))
            except Exception as error:  # whatever a peer raises is a line of the table
                runs.pop(name, None)
                outputs.pop(name, None)
                absent[name] = reason(error)
        return runs, {"contestants": outputs, "absent": absent, "version": module.version()}
    except Exception as error:
        return {}, {"refused": reason(error)}


def reason(error: Exception) -> str:
    """The first line that an exception has to say, as short as a table needs it."""
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {first.strip()}"[:REASON]


def seconds(run: Run, count: int, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Seconds of each of `count` runs, one after the other."""
    stamps = [clock()]
    for _ in range(count):
        run()
        stamps.append(clock())
    return np.diff(stamps).tolist()


def main(
    adapter: str, model: str, samples: str, threads: str, folder: str, level: str = "", clock: str = CLOCK
) -> None:
    """Prepare, then answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    job = Job(Path(model), read_samples(Path(samples)), int(threads), Path(folder), level)
    runs, first = prepared(adapter, job)
    print(json.dumps(first), file=answers, flush=True)
    for line in sys.stdin if runs else ():
        count, name = line.rstrip("\n").split(" ", 1)
        print(json.dumps(seconds(runs[name], int(count), getattr(time, clock))), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
