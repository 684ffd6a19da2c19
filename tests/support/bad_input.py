"""A network, a folder with its data, and commands that are refused there.

Bad input is tested once through Python and once through the command line, in tests/test_bad_input_*.py: what is
refused, with which words, and that nothing is left behind. What concerns one part alone is tested there: ONNX files in
formats/onnx/importer/test_load.py, saved models in runtime/artifact/test_container_*.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.networks import Net
from tvmq.tools.cli.main import main

X = np.random.default_rng(0).standard_normal((8, 3, 8, 8)).astype(np.float32)


def network() -> onnx.ModelProto:
    """A convolution and a head."""
    n = Net((1, 3, 8, 8))
    y = n.op("GlobalAveragePool", n.op("Relu", n.conv("x", 3, 8)))
    return n.model(n.dense(n.op("Flatten", y), 8, 5))


@dataclass
class Place:
    """A folder with a model and its data; `command` runs the command line there."""

    folder: Path
    command: Callable[..., Any]

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def listing(self) -> dict[str, bytes]:
        """All files with their contents."""
        return {path.name: path.read_bytes() for path in sorted(self.folder.iterdir()) if path.is_file()}


@dataclass
class Result:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def make_place(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    """A folder without the saved model."""
    (folder / "model.onnx").write_bytes(network().SerializeToString())
    np.savez(folder / "data.npz", x=X)

    def command(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["tvmq", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_info:
            main()
        captured = capsys.readouterr()
        return Result(exit_info.value.code or 0, captured.out, captured.err)

    return Place(folder, command)


def save_network(folder: Path) -> Path:
    """The network, quantized and saved there."""
    mod, params = tvmq.from_onnx(network())
    path = folder / "model.tvmq"
    tvmq.build(tvmq.quantize(mod, params, X)).save(path)
    return path


def refused(place: Place, *arguments: object) -> str:
    """Sentence with which a command ends, having left the folder as it was."""
    before = place.listing()
    result = place.command(*arguments)
    lines = result.err.splitlines()
    assert result.code == 1 and result.out == "", result
    assert lines[-1].startswith("tvmq: ") and "Traceback" not in result.err
    # before it there may be lines of progress, on a terminal a bar
    assert all(line.endswith(" ...") or ": " in line for line in lines[:-1]), result.err
    assert place.listing() == before
    return lines[-1].removeprefix("tvmq: ")


def quantize(place: Place, *more: object) -> str:
    """The sentence of `tvmq quantize`."""
    files = (place / "model.onnx", "--data", place / "data.npz", "-o", place / "out.tvmq")
    return refused(place, "quantize", *files, *more)
