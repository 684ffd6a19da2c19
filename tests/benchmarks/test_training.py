"""benchmarks/training.py: its bounds, and two rows of the embedded example."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.project import ROOT


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("torch", reason="trains")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    sys.modules.pop("training", None)
    return importlib.import_module("training")


@pytest.mark.parametrize(("change", "words"), [
    ({}, None),
    ({"difference": -0.6}, "digits 4x8: -0.60 ± 0.10 points beside float, 0.5 may be lost"),
    ({"bits": "2x8", "difference": -1.5}, None),
    ({"bits": "2x8", "difference": -1.6}, "1.5 may be lost"),
    ({"bits": "2x8", "task": "vit_cifar10", "difference": -9.0}, None),
    ({"differing": 3}, "3 outputs differ, score +0.00"),
    ({"change": 0.1}, "score +0.10 by deployment"),
])  # fmt: skip
def test_bounds(script: Any, change: dict[str, Any], words: str | None) -> None:
    row = {"task": "digits", "bits": "4x8", "difference": -0.5, "error": 0.1, "differing": 0, "change": 0.0, **change}
    found = script.missed(row)
    assert len(found) == (words is not None)
    assert words is None or words in found[0]


def test_values_that_differ(script: Any) -> None:
    def scored(*values: float) -> Any:
        return script.Scored(0.0, np.zeros(1), [np.float32(values)])

    differing = importlib.import_module("harness.zoo").bit_differences
    assert differing(scored(1, 0), scored(1, 0)) == 0
    assert differing(scored(1, 0, 2), scored(1, -0.0, 3)) == 2


def test_rows_of_runs_made_apart(script: Any, tmp_path: Path) -> None:
    rows = [{"task": task, "bits": bits, "steps": steps} for task, bits, steps in (
        ("vit_cifar10", "8x8", 9), ("digits", "4x4", 30), ("digits", "8x8", 9), ("digits", "4x4", 20),
    )]  # fmt: skip
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file, part in zip(files, (rows[:2], rows[2:]), strict=True):
        file.write_text(json.dumps({"rows": part}))
    assert script.merged(files) == [rows[2], rows[1], rows[0]]


@pytest.mark.slow
def test_two_rows(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    table, figures = tmp_path / "table.md", tmp_path / "figures.json"
    monkeypatch.setattr(sys, "argv", [
        "training.py", "--tasks", "digits", "--bits", "8x8,2x4", "--quick", "--markdown", str(table), "--json", str(figures),
    ])  # fmt: skip
    script.main()
    rows = json.loads(figures.read_text())["rows"]
    assert [(row["bits"], row["differing"], row["change"], row["steps"]) for row in rows] == [
        ("8x8", 0, 0.0, 4), ("2x4", 0, 0.0, 4),
    ]  # fmt: skip
    assert len(table.read_text().splitlines()) == 4
    assert "0 outputs differ\nall bounds hold" in capsys.readouterr().out


@pytest.mark.slow
def test_steps_beside_float_steps(script: Any) -> None:
    """A quick row, and times that are medians by turns."""
    steps = importlib.import_module("training_steps")
    zoo = importlib.import_module("harness.zoo")
    task = zoo.digits_task(quick=True)
    row = steps.measure(task, 3, zoo.Feeds(task, 32))
    assert row["task"] == "digits" and row["ratio"] == row["integers"] / row["float"] > 0.2
    calls: list[str] = []
    found = steps.times({name: lambda name=name: calls.append(name) for name in "ab"}, 3)
    assert calls == ["a", "b"] * (3 + steps.WARM) and set(found) == {"a", "b"}
