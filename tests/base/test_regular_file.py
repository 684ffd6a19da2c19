"""Endless files (devices, pipes) are refused in a sentence by every reader of whole files, without opening them."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import numpy as np
import pytest

import tvmq
from tvmq.backends.json_form import read_backend
from tvmq.base.array_file import ArrayFile
from tvmq.calibration.observers.result import CalibrationResult
from tvmq.errors import TvmqError
from tvmq.tools.cli.metrics import check_labels, read_labels
from tvmq.tools.cli.options import read_config
from tvmq.tools.cli.samples import Samples
from tvmq.tools.cli.summary import is_saved_model
from tvmq.tools.report.front import read_front

READERS = {
    "load": tvmq.load,
    "load with a hash": lambda path: tvmq.load(path, sha256="0" * 64),
    "from_onnx": tvmq.from_onnx,
    "config": read_config,
    "backend": read_backend,
    "front": read_front,
    "calibration": CalibrationResult.load,
    "labels": lambda path: read_labels(path, Samples({"x": np.zeros(3)}, "")),
    "labels, early": check_labels,
}
PLACES = ["pipe", "socket", "folder", "/dev/zero", "/dev/random", "/dev/stdin"]


@pytest.fixture
def place(request, tmp_path: Path, monkeypatch) -> str:
    """A path that is no regular file."""
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    if request.param == "pipe":
        os.mkfifo("pipe")
    elif request.param == "socket":
        socket.socket(socket.AF_UNIX).bind("socket")
    elif request.param == "folder":
        Path("folder").mkdir()
    elif Path(request.param).is_file() or not Path(request.param).exists():
        pytest.skip(f"{request.param} is a file here, or is not there")
    return request.param


@pytest.mark.skipif(os.name != "posix", reason="pipes with names, devices")
@pytest.mark.parametrize("place", PLACES, indirect=True)
@pytest.mark.parametrize("reader", READERS)
def test_only_regular_files_are_read(place, reader):
    with pytest.raises(TvmqError, match="(a folder|a pipe|a socket|a device|directory)") as refused:
        READERS[reader](Path(place))
    assert "\n" not in str(refused.value)


@pytest.mark.skipif(os.name != "posix", reason="pipes with names, devices")
@pytest.mark.parametrize("place", PLACES, indirect=True)
def test_arrays_and_early_looks(place):
    with pytest.raises(OSError, match="not a regular file"):
        ArrayFile(Path(place))
    assert not is_saved_model(Path(place))
