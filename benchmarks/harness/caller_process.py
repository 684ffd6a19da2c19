"""Processes that call one model each (benchmarks/callers): their figures, and times of runs when asked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from harness import ROOT

CALLERS = ROOT / "benchmarks" / "callers"
FLAGS = ("-std=gnu11", "-O2", "-I", str(ROOT / "tvmq" / "library"))
LIBRARIES = ("-ldl", "-Wl,--no-as-needed", "-lpthread")


def find_compiler() -> str | None:
    """A C compiler of this machine."""
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def compile_caller(name: str, folder: Path) -> Path:
    """The program of callers/NAME.c."""
    compiler, program = find_compiler(), folder / f"call_{name}"
    assert compiler is not None
    subprocess.run([compiler, *FLAGS, CALLERS / f"{name}.c", "-o", program, *LIBRARIES], check=True)
    return program


class CallerProcess:
    """A process that has loaded a model and has run it once.

    figures  engine_ms, load_ms, first_ms; MiB: started, engine (with the engine), resident (after the first run)
    results  bytes of the outputs of that run
    raises   CallerError with what the process said where it fails
    """

    def __init__(self, command: Sequence[object], results: Path, threads: int) -> None:
        variables = {"TVM_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(ROOT)}
        self._log = tempfile.TemporaryFile("w+")
        with bound_to(threads):
            self._process = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True,
                env={**os.environ, **variables},
            )  # fmt: skip
        self.figures: dict[str, float] = self._answer()
        self.results = results.read_bytes()

    def seconds(self, count: int) -> np.ndarray:
        """Seconds of each of `count` runs."""
        assert self._process.stdin is not None
        print(count, file=self._process.stdin, flush=True)
        return np.array(self._answer())

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._log.close()

    def _answer(self) -> Any:
        """The next line that is JSON; runtimes may print others."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(("{", "[")):
                return json.loads(line)
        status = self._process.wait()
        self._log.seek(0)
        said = self._log.read().strip().splitlines()
        self.close()
        raise CallerError(said[-1] if said else f"the process ended with {status}")


class CallerError(Exception):
    """A process that could not load or run its model."""


@contextmanager
def bound_to(count: int) -> Iterator[None]:
    """Let processes that are started meanwhile have so many processors, the last ones."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(own)[-count:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)
