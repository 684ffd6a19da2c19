"""benchmarks/search.py: its bounds, and the whole table of one small task."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import ROOT


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("torch", reason="trains the hard networks")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("search")


def row(script: Any, name: str, unseen: float, measured: float, constants: int | None = 100) -> Any:
    return script.Row("net", name, 0.1, unseen, 0.1, 1e-4, measured, constants, 1.0, 9, 1.0)


def test_bounds(script):
    floats, ours = row(script, "float", 0.0, 9e-4), row(script, "ours", 0.4, 2e-4)
    assert script.missed([floats, ours, row(script, "optuna", 0.2, 2e-4)], "latency", 0.3) == []
    assert "drop +0.40 ± 0.10 on unseen samples, 0.1 asked" in script.missed([floats, ours], "latency", 0.1)[0]
    assert (
        "nncf found 0.0001, ours 0.0002"
        in script.missed([floats, ours, row(script, "nncf", 0.2, 1e-4)], "latency", 0.3)[0]
    )
    assert script.missed([floats, ours, row(script, "nncf", 0.9, 1e-4)], "latency", 0.3) == []
    assert (
        "optuna found 50, ours 100"
        in script.missed([floats, ours, row(script, "optuna", 0.2, 2e-4, 50)], "size", 0.3)[0]
    )
    assert script.missed([floats], "latency", 0.3) == ["net: nothing was found"]


@pytest.mark.slow
def test_one_task(script, zoo: Path, tmp_path: Path):
    sys.modules.pop("metrics", None)
    script.main([
        "--zoo", str(zoo), "--tasks", "dscnn_digits", "--quick", "--no-peers", "--minimize", "size", "--json", str(tmp_path / "out.json"),
    ])  # fmt: skip
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [one["name"] for one in rows] == ["float", "int8", "ours"]
    assert rows[2]["constants"] < rows[1]["constants"]
