"""Saved models on an emulated GPU: all code is that of a GPU machine except for the kernels' binary."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++ on the PATH")
def test_a_saved_model_runs_on_the_device():
    command = [sys.executable, "-m", "tests.cuda_emulator.pretended_gpu"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    facts = json.loads(done.stdout.splitlines()[-1])
    assert facts["exact"] and facts["device"] and facts["median"] > 0 and facts["dynamic"] == [3, 10]
