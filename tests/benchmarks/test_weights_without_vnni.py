"""benchmarks/weights_without_vnni.py: its bound, its shares, and a quick run of both halves on the embedded example."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest


def row(**change: Any) -> dict[str, Any]:
    return {
        "task": "digits", "weights": "7 bits", "difference": -0.5, "error": 0.1, "sqnr": 30.0, "guarded": 30.0,
        "points": 1.0, **change,
    }  # fmt: skip


@pytest.mark.parametrize(("change", "count"), [
    ({}, 0), ({"difference": -1.1}, 1), ({"difference": -1.1, "error": 0.6}, 0),
    ({"difference": -0.5, "points": 0.2}, 1), ({"difference": -2.0, "weights": "lanes"}, 1),
])  # fmt: skip
def test_bound(script: Any, change: dict[str, Any], count: int) -> None:
    options = SimpleNamespace(times=False, weights=change.get("weights", "7 bits"))
    assert len(script("weights_without_vnni").missed([row(**change)], options)) == count


def test_share_of_kernels_by_their_notes(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = script("weights_without_vnni")
    layers = {name: {"macs": macs} for name, macs in (("a", 100), ("b", 300), ("c", 100), ("d", 500))}
    monkeypatch.setattr(module, "get_ledger", lambda _: SimpleNamespace(layers=layers))
    notes = {
        "a": "int16 lanes proved: 60 % fold2, 30 % fold1, 10% of the products in 16 bits",
        "b": "int16 lanes proved: 100 % fold2, 0 % fold1",
        "c": "int16 products; in int16 lanes 75% of the products are not proved (0.94 times the instructions)",
        "d": "winograd",
    }
    assert module.share_in_16_bits(SimpleNamespace(module=None, notes=notes)) == pytest.approx(22.0)
    assert module.share_in_16_bits(SimpleNamespace(module=None, notes={})) is None


@pytest.mark.slow
@pytest.mark.isa("avx2")
def test_quick_run(script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main = script("weights_without_vnni").main
    for more in ((), ("--times",)):
        main(["--tasks", "digits", "--cache", str(tmp_path), "--quick", *more])
    shown = capsys.readouterr().out
    assert all(f"weights {name}, score" in shown for name in ("8 bits", "lanes", "7 bits"))
    assert "8 bits / lanes" in shown and "geometric means" in shown
