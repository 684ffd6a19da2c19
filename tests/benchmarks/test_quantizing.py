"""benchmarks/quantizing.py: its bounds and table, and one network measured in fresh processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import ROOT

FIGURES = {"cpu": 6.0, "seconds": 4.0, "peak": 100.0}


def test_bounds_and_cells(script: Any) -> None:
    report = script("harness.report")
    script = script("quantizing")
    found = {"ours, cold": FIGURES, "ours, warm": {**FIGURES, "cpu": 5.5}}
    assert script.missed("efficientnet_lite0", found) == ["efficientnet_lite0, ours, warm: 5.5 CPU seconds, 5 allowed"]
    assert script.missed("resnet8_cifar10", {"ours, cold": {**FIGURES, "cpu": 21.0}}) == [
        "resnet8_cifar10, ours, cold: 21.0 CPU seconds, 20 allowed",
        "resnet8_cifar10, ours, warm: nothing was measured",
    ]
    line = report.cells_of(script.COLUMNS, {"name": "net", "samples": 9, **found})
    assert line[:6] == ["net", "9", "6.0", "5.5", "-", "-"] and len(line) == 14


@pytest.mark.slow
def test_one_network(zoo: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks/quantizing.py"), "--zoo", str(zoo), "--tasks", "dscnn_digits"]
    command += ["--quick", "--no-peers", "--json", str(tmp_path / "f.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads((tmp_path / "f.json").read_text())["rows"][0]
    assert (
        all(figure > 0 for name in ("ours, cold", "ours, warm") for figure in figures[name].values())
        and len(figures) == 4
    )
