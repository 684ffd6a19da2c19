"""Fixtures that run the command line in this process, with or without TVM."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.linear_digits import linear_digits
from tvmq.demo import Demo, load_demo
from tvmq.tools.cli.main import main


@dataclass
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """cli("quantize", "m.onnx", ...) -> exit code and what was printed."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["tvmq", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_info:
            main()
        captured = capsys.readouterr()
        code = exit_info.value.code
        return Result(code if isinstance(code, int) else 0, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def example() -> Demo:
    """The embedded pictures of digits, and their labels."""
    return load_demo()


@pytest.fixture
def here(example: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the classifier digits.onnx."""
    (tmp_path / "digits.onnx").write_bytes(linear_digits(example))
    monkeypatch.chdir(tmp_path)
    return tmp_path


class FakeExecutable:
    """Doubles its input; takes batches of two."""

    def __init__(self) -> None:
        self.input_info = [SimpleNamespace(name="x", shape=(2, 3), dtype="float32")]
        self.output_info = [SimpleNamespace(name="y", shape=(2, 3), dtype="float32")]
        self.lowerings: dict[str, Any] = {}
        self.states = ()
        self.module, self.targets = "its module", [SimpleNamespace(name="haswell"), SimpleNamespace(name="znver4")]
        self.fed: list[np.ndarray] = []

    def run(self, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        assert feed["x"].shape == (2, 3)
        self.fed.append(feed["x"])
        return [2 * feed["x"]]

    def save(self, path: Path) -> str:
        Path(path).write_bytes(b"saved")
        return "e1b2"

    def benchmark(self, feed: dict[str, np.ndarray], *, repeat: int, threads: int) -> Any:
        self.run(feed)
        facts = {"median": 0.002, "fastest": 0.001}
        return SimpleNamespace(**facts, to_dict=lambda: facts)


class FakeReport:
    exact = True

    def to_dict(self) -> dict[str, Any]:
        layer = {"op": "conv2d", "precision": "int8", "why": "default"}
        return {"exact": self.exact, "layers": {"conv": layer}, "int8_share": 1.0}

    def summary(self) -> str:
        return "1 layer in int8"

    def __str__(self) -> str:
        return f"exact: {'yes' if self.exact else 'no'}"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Public functions replaced by fakes; records how they were called."""
    calls = SimpleNamespace(exe=FakeExecutable(), report=FakeReport(), quantized=None)

    def quantize(mod: Any, params: Any, data: Any = None, target: Any = None, tune: Any = None, **_: Any) -> str:
        feeds = [dict(feed) for feed in data] if data is not None else None
        calls.quantized = SimpleNamespace(mod=mod, feeds=feeds, config=tvmq.current_qconfig(), target=target)
        return "integer module"

    def build(mod: Any, target: Any = "llvm", params: Any = None, lowerings: Any = None) -> FakeExecutable:
        calls.built = SimpleNamespace(mod=mod, target=target, lowerings=lowerings)
        return calls.exe

    def load(path: Path, sha256: str | None = None, *, code: bool = True) -> FakeExecutable:
        calls.loaded = SimpleNamespace(path=Path(path), sha256=sha256)
        return calls.exe

    def verify(exe: Any, data: Any, *, backend: str | None = None) -> FakeReport:
        assert backend is None
        calls.verified = [feed["x"].shape for feed in data]
        return calls.report

    functions = {"quantize": quantize, "build": build, "load": load, "verify": verify}
    for name, function in {**functions, "explain": lambda model: calls.report}.items():
        # vars(): asking for the attribute would import the real one
        monkeypatch.setitem(vars(tvmq), name, function)
    monkeypatch.setattr("tvmq.tools.analysis.lane_products.describe_weights", lambda _: "for every CPU")
    return calls


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """An .npz of five samples for the input x."""
    path = tmp_path / "samples.npz"
    np.savez(path, x=np.arange(15, dtype=np.float32).reshape(5, 3))
    return path
