"""Programs of `examples/` in other languages, those whose compiler is here: scores of the definition, byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tvmq
from tests.support.project import ROOT
from tvmq.runtime.artifact.native_library import runs_linux_x86

pytestmark = pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
EXAMPLES = ROOT / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/run.sh"))


@pytest.fixture(scope="module")
def files(digits, tmp_path_factory) -> Path:
    """Folder with what examples/make_library.py writes."""
    folder = tmp_path_factory.mktemp("examples")
    tvmq.export_library(digits.exe, folder, name="digits", static=True, onnxruntime=True)
    digits.pictures.astype("float32").tofile(folder / "pictures.f32")
    np.concatenate(digits.expected).tofile(folder / "scores.f32")
    tvmq.to_onnx(digits.module, folder / "digits_qdq.onnx")
    return folder


def run_examples(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """Result of examples/run_all.sh."""
    command = ["sh", EXAMPLES / "run_all.sh", folder, *names]
    environment = {**os.environ, "PYTHON": sys.executable}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_scores_are_those_of_the_definition(files, name):
    result = run_examples(files, name)
    if result.stdout.startswith(f"{name}: skipped: "):
        pytest.skip(result.stdout.strip())
    head, *report = result.stdout.splitlines()
    assert (result.returncode, head) == (0, f"{name}: equal"), result.stdout + result.stderr
    assert (name == "fastapi") == any("tvmq, a worker of 4: " in line for line in report)


@pytest.mark.slow
def test_another_score_is_a_failure(files, tmp_path):
    for path in files.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    scores = np.fromfile(files / "scores.f32", "float32")
    scores[-1] = np.nextafter(scores[-1], np.float32(np.inf))
    scores.tofile(tmp_path / "scores.f32")
    result = run_examples(tmp_path, "python_ctypes")
    assert result.returncode == 1 and "python_ctypes: failed" in result.stdout and "differ" in result.stdout


def test_all_examples_are_run():
    assert " ".join(NAMES) == "c cpp fastapi go node onnxruntime_python python_ctypes rust static"
    (line,) = [line for line in (EXAMPLES / "run_all.sh").read_text().splitlines() if "set -- " in line]
    assert sorted(line.partition("set -- ")[2].split()) == NAMES
