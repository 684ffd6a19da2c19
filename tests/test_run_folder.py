"""tests/support/run_folder.py: a run leaves no temporary folder, and removes those of runs that were killed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import pytest

from tests.support.project import ROOT
from tests.support.run_folder import OLD, make_run_folder


def test_old_folders_of_dead_processes_go(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    names = [
        f"run_{dead.pid}_old",
        f"run_{os.getpid()}_old",
        f"run_{dead.pid}_young",
        "run_of_others",
        f"other_{dead.pid}_old",
    ]
    for name in names:
        (tmp_path / name).mkdir()
        if not name.endswith("young"):
            os.utime(tmp_path / name, times=(time.time() - 2 * OLD,) * 2)
    folder = make_run_folder("run_")
    assert folder.name.startswith(f"run_{os.getpid()}_")
    assert {path.name for path in tmp_path.iterdir()} == {folder.name, *names[1:]}


LONG_TEST = """
import pathlib, time

def test_long():
    pathlib.Path("begun").touch()
    time.sleep(60)
"""


@pytest.mark.slow
def test_a_run_that_is_told_to_end_leaves_nothing(tmp_path):
    (tmp_path / "temporary").mkdir()
    (tmp_path / "test_long.py").write_text(LONG_TEST)
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", "test_long.py"]
    run = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        for _ in range(600):
            if (tmp_path / "begun").exists() or run.poll() is not None:
                break
            time.sleep(0.1)
        assert list((tmp_path / "temporary").glob(f"tvmq_tests_{run.pid}_*"))
        run.terminate()
        assert run.wait(30) == 2 and "KeyboardInterrupt" in run.stdout.read()
        assert not list((tmp_path / "temporary").iterdir())
    finally:
        run.kill()
