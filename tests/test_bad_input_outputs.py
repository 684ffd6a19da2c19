"""Outputs that cannot be written, and interrupts: nothing half-written is left behind."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.bad_input import make_place, network, quantize, refused
from tvmq.errors import (
    OutputError,
)


@pytest.fixture
def place(tmp_path, monkeypatch, capsys):
    """Folder without the saved model."""
    return make_place(tmp_path, monkeypatch, capsys)


def test_an_output_that_cannot_be_is_said_before_the_work(place):
    (place / "folder").mkdir()
    start = time.perf_counter()
    for output, word in ((place / "none" / "out.tvmq", "there is no folder"), (place / "folder", "is a folder")):
        files = ("quantize", place / "model.onnx", "--data", place / "data.npz", "-o", output)
        assert word in refused(place, *files)
    assert time.perf_counter() - start < 5


LIMITED = """
import resource, sys
from tvmq.tools.cli.main import main
from tvmq.calibration.dataset import Dataset, Input
import tvmq.base.whole_file as whole_file
write = whole_file.write_whole

def limited(path, content):
    # a disk on which only this many bytes have room; the process may be root, who may write everywhere
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    write(path, content)

whole_file.write_whole = limited
main()
"""


def environment(**more: str) -> dict[str, str]:
    """Environment of a process that finds tvmq where this one does, but no kernels that others compiled."""
    return {**os.environ, "TVMQ_CACHE": "", "PYTHONPATH": os.pathsep.join(sys.path), **more}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs limits of file sizes")
@pytest.mark.parametrize("before", [None, b"the model of yesterday"])
def test_a_disk_that_becomes_full(place, before):
    output = place / "out.tvmq"
    if before is not None:
        output.write_bytes(before)
    listing = place.listing()
    files = ["quantize", "model.onnx", "--data", "data.npz", "--output", "out.tvmq", "--force", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *files], cwd=place.folder, env=environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert done.stderr == "tvmq: save: 'out.tvmq' could not be written (File too large), nothing was changed; " \
        "make room or name another place\n"  # fmt: skip
    assert place.listing() == listing


@pytest.mark.slow
def test_a_folder_without_permission(place, monkeypatch):
    """Pretended, since root may write everywhere."""
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    assert "no permission to write in" in quantize(place)
    mod, params = tvmq.from_onnx(network())
    exe = tvmq.build(mod, params=params)

    def denied(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(OutputError, match=r"could not be written \(Permission denied\), nothing was changed"):
        exe.save(place / "out.tvmq")


# ---- interrupts


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("stage", ["import", "quantize", "build"])
def test_an_interrupt_leaves_nothing(digits, tmp_path, stage):
    """Ctrl-C while the command is at work: exit code 130, no output, no temporary files."""
    folder, temporary = tmp_path / "work", tmp_path / "tmp"
    folder.mkdir()
    temporary.mkdir()
    (folder / "digits.onnx").write_bytes(digits.example.model)
    np.savez(folder / "data.npz", image=digits.example.calibration)
    (folder / "out.tvmq").write_bytes(b"the model of yesterday")
    files = ["quantize", "digits.onnx", "--data", "data.npz", "--output", "out.tvmq", "--force"]
    with subprocess.Popen(
        [sys.executable, "-m", "tvmq.tools.cli", *files],
        cwd=folder, env=environment(TMPDIR=str(temporary)), stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        lines = []
        for line in process.stderr:
            lines.append(line)
            if line == f"{stage} ...\n":
                break
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    # Python ends by the signal itself where the interrupt met code that a library runs from C; shells call both 130
    assert process.returncode in (130, -signal.SIGINT), lines + [rest]
    *progress, last = rest.splitlines()  # a stage may end before the interrupt arrives
    assert last == "tvmq: interrupted; no partly written files are left"
    assert not any(line.startswith(("tvmq:", "Traceback", " ")) for line in progress), rest
    assert sorted(os.listdir(folder)) == ["data.npz", "digits.onnx", "out.tvmq"]
    assert (folder / "out.tvmq").read_bytes() == b"the model of yesterday"
    assert os.listdir(temporary) == []
