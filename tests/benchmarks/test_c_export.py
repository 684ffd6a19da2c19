"""benchmarks/c_export.py on its smallest network: a row of each core that is there, the fuzz, and a core that is not."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any

import pytest


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_rows_of_the_smallest_network(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    script = script("c_export")
    absent = replace(script.CORES["Cortex-M4"], name="absent", compiler="no-such-gcc")
    monkeypatch.setitem(script.CORES, "absent", absent)
    rows = list(script.measure("small_autoencoder", {}, ["Cortex-M0", "RV32IMC", "absent"], 2))
    assert [row["core"] for row in rows] == ["Cortex-M0", "RV32IMC", "absent"]
    for row in rows[:2]:
        if script.CORES[row["core"]].missing:
            continue
        assert (row["values"], row["differing"], row["buffers"]) == (256, 0, 640)
        assert row["flash"] > 20000 and 64 <= row["ram"] < 200 and int(row["stack"]) > 0
    assert rows[2]["values"].startswith("no no-such-gcc") and rows[2]["differing"] == "-"
    found = script.fuzz(2)
    assert found["networks"] == 2 and found["values"] > 0 and found["differing"] == 0
