"""`tvmq doctor`: what it prints, and its exit codes."""

from __future__ import annotations

import json

from tvmq.doctor.findings import note, ok, problem


def test_the_command(cli, monkeypatch):
    checks = {"x": lambda: [note("cache", "off", "unset it"), ok("python", "3.11")]}
    monkeypatch.setattr("tvmq.doctor.checkup.PLAIN", checks)
    monkeypatch.setattr("tvmq.doctor.checkup.WITH_TVM", {})
    result = cli("doctor")
    assert result.code == 0 and result.out.splitlines()[:2] == [
        "note     cache            off", "                          -> unset it",
    ]  # fmt: skip
    assert result.out.endswith("no problems\n") and "python" not in cli("doctor", "--quiet").out
    checks["y"] = lambda: [problem("numpy", "1.0", "newer")]
    result = cli("doctor", "--json")
    printed = json.loads(result.out)
    assert result.code == 1 and printed["problems"] == 1
    assert [finding["subject"] for finding in printed["findings"]] == ["cache", "python", "numpy", "tvm"]
    assert cli("doctor").out.endswith("1 problem: numpy\n")
