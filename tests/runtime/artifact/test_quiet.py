"""Suppression of TVM's log lines, and files in memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tvmq.runtime.artifact.memory_file import memory_file, read_written_file
from tvmq.runtime.artifact.quiet import NOISE, STDERR, without_noise


def test_only_the_noise_is_held_back(capfd):
    with without_noise():
        os.write(STDERR, b"first\n" + b"[10:00] a.cc:1: " + NOISE[0] + b" 3\nsecond\n" + NOISE[1] + b"\nthird")
        assert capfd.readouterr().err == ""
    assert capfd.readouterr().err == "first\nsecond\nthird"


def test_what_was_held_comes_out_after_an_error(capfd):
    with pytest.raises(KeyboardInterrupt), without_noise():
        os.write(STDERR, b"said before\n")
        raise KeyboardInterrupt
    os.write(STDERR, b"said after\n")
    assert capfd.readouterr().err == "said before\nsaid after\n"


def test_python_and_c_keep_their_order(capfd):
    print("one", file=sys.stderr)
    with without_noise():
        os.write(STDERR, b"two\n")
    assert capfd.readouterr().err == "one\ntwo\n"


def test_no_descriptors_are_left_open():
    with without_noise():
        pass
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(20):
        with without_noise():
            pass
        read_written_file(lambda path: Path(path).write_bytes(b"x"))
    assert before == (len(os.listdir("/proc/self/fd")) if before else 0)


CLOSED = """
import os, sys
os.close(2)
sys.stderr = None
from tvmq.runtime.artifact.quiet import without_noise
with without_noise():
    print("inside")
print("outside")
"""


def test_a_closed_stderr_does_no_harm():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", CLOSED], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "inside\noutside\n")


@pytest.mark.parametrize("in_memory", [True, False])
def test_files_for_tvm(in_memory, monkeypatch, tmp_path):
    if not in_memory:
        monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with memory_file(b"content") as path:
        assert Path(path).read_bytes() == b"content"
        Path(path).write_bytes(b"other")
        assert Path(path).read_bytes() == b"other"
    assert read_written_file(lambda path: Path(path).write_bytes(b"code")) == b"code"
    with without_noise():
        pass
    assert os.listdir(tmp_path) == []
