"""Samples on emulated CPUs: qemu-x86_64 runs a saved model in a Python of its own."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from harness.zoo import Feed

EMULATOR = "qemu-x86_64"
CPUS = {"Haswell": 1, "IvyBridge": 2}  # and the level of the code that runs there; NumPy needs AVX under qemu 7


def check_cpus(names: Sequence[str]) -> None:
    """Raise SystemExit where one of these CPUs cannot be emulated."""
    unknown = [name for name in names if name not in CPUS]
    if unknown:
        raise SystemExit(f"invariance: --emulate {','.join(unknown)}: code is made for {', '.join(CPUS)}")
    if names and not shutil.which(EMULATOR):
        raise SystemExit(f"invariance: --emulate needs {EMULATOR}; install Debian's package qemu-user, or its like")


def write_feeds(path: Path, feeds: list[Feed]) -> None:
    """Write batches for `run_here`."""
    np.savez(path, **{f"{number} {name}": array for number, feed in enumerate(feeds) for name, array in feed.items()})


def hash_on(cpu: str, model: Path, feeds: Path) -> str:
    """sha256 of the model's first outputs of all batches on an emulated CPU, in hexadecimal digits."""
    script = Path(__file__).parents[1] / "invariance.py"
    command = [EMULATOR, "-cpu", cpu, sys.executable, script, "--child", f"{model},{feeds}"]
    done = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, text=True, check=True)
    return str(json.loads(done.stdout.splitlines()[-1]))


def run_here(what: str) -> str:
    """Hash the same on this CPU; what: "model,feeds"."""
    import tvmq

    model, feeds = what.split(",")
    executable = tvmq.load(model)
    with np.load(feeds) as file:
        given: dict[str, Feed] = {}
        for key in file.files:
            number, name = key.split(" ", 1)
            given.setdefault(number, {})[name] = file[key]
    return hash_arrays(executable.run(feed)[0] for feed in given.values())


def hash_arrays(arrays: Iterable[np.ndarray]) -> str:
    """sha256 of the bytes of arrays one behind the other."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
