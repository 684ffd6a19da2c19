"""Thresholds, scales, multipliers and shifts equal Relay's: the rows of benchmarks/relay_golden.py."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.support.project import ROOT

PARTS = ("thresholds", "thresholds_of_models", "weights", "fixed_point", "defaults", "data_driven")


@pytest.fixture
def golden(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark, imported as a script of its folder would be."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("relay_golden")


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_every_row_is_equal(golden: Any, part: str) -> None:
    rows = list(getattr(golden, part)())
    assert rows
    assert [(row.reference, row.ours, row.what) for row in rows if not row.equal] == []


def test_no_part_is_left_out(golden: Any) -> None:
    assert tuple(part.__name__ for part in golden.PARTS) == PARTS


def test_a_difference_is_an_error(
    golden: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(golden, "rows", lambda: [golden.Row("a", "1", "1"), golden.Row("b", "1", "2")])
    with pytest.raises(SystemExit) as stop:
        golden.main(["--quick"])
    assert stop.value.code == 1 and "FAIL b\n1 bounds missed" in capsys.readouterr().out
    monkeypatch.setattr(golden, "rows", lambda: [golden.Row("a", "1", "1")])
    golden.main(["--quick"])
    assert "all bounds hold" in capsys.readouterr().out
