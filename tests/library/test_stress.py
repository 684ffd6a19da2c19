"""Very many runs, forks and loads of a library in one process: no difference, no growth."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import tvmq
from tests.library.conftest import quantize_digits
from tests.library.test_export_library import needs_gcc
from tests.support.guarded_library import SANITIZED, compile_program, has_sanitizers
from tvmq.demo import load_demo
from tvmq.runtime.artifact.native_library import runs_linux_x86

pytestmark = [
    pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only"), needs_gcc,
]  # fmt: skip
LOADS = 1000


def check_stress(
    program: Path, library: Path, arrays: tuple[np.ndarray, np.ndarray], folder: Path, runs: int, loads: int
) -> None:
    """Run stress.c on an input and the output that is expected; all must be well, and forks must have happened."""
    files = folder / "in", folder / "out"
    for file, array in zip(files, arrays, strict=True):
        array.tofile(file)
    command = [program, library, "digits", str(runs), str(loads), *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    first, *lines, _ = done.stdout.splitlines()
    assert first.startswith(f"{loads} loads: 0 differ") and len(lines) == 2
    for line in lines:
        runs_text, rest = line.split(", ")
        assert runs_text == f"{8 * runs} runs in 8 threads"
        assert rest.endswith(" forks meanwhile: 0 differ") and not rest.startswith("0 ")


@pytest.mark.parametrize("runs", [1000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_eight_threads_forks_and_loads(runs, digits, tmp_path):
    program, arrays = compile_program("stress", tmp_path / "stress"), (digits.pictures[0], digits.expected[0])
    check_stress(program, digits.export.library, arrays, tmp_path, runs, LOADS)


@pytest.mark.slow
def test_nothing_is_left_behind(digits, tmp_path):
    """AddressSanitizer looks for leaks at the end; its own memory grows."""
    if not has_sanitizers():
        pytest.skip("gcc has no AddressSanitizer")
    program = compile_program("stress", tmp_path / "stress", (*SANITIZED, "-DGROWTH_KB=1000000"))
    check_stress(program, digits.export.library, (digits.pictures[0], digits.expected[0]), tmp_path, 100, 100)


@pytest.mark.slow
def test_forks_while_threads_share_parallel_loops(tmp_path):
    module, pictures = quantize_digits(32), np.ascontiguousarray(load_demo().test[:32], np.float32)
    library = tvmq.export_library(module, tmp_path / "digits").library
    arrays = pictures, tvmq.reference.run(module, {"image": pictures})[0]
    check_stress(compile_program("stress", tmp_path / "stress"), library, arrays, tmp_path, 1000, 100)
