"""The harness: columns as templates, commands with rows, failures, children and files of results, times by turns."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def rows_of(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """Two rows and what failed between them."""
    yield {"name": "a", "ms": 1.25 * options.factor, "peer": None}
    yield "b: no such model"
    yield {"name": "c", "ms": 2.0}


@pytest.fixture
def command(script: Any) -> Any:
    """A command whose bound `c` misses, in the place of this file."""
    module, columns = script("harness.command"), script("harness.report").columns
    return module.Command(
        "About.", columns("model {name} | ms {ms:.2f} | peer {peer:.1f}"), rows_of,
        lambda rows, options: [f"{row['name']}: slow" for row in rows if row["ms"] > 1.5], tasks=None,
        arguments=[module.argument("--factor", type=float, default=1.0), module.argument("--files", nargs="*", type=Path)],
        more=lambda rows, options: [("more", ["x"], [["1"]])], child=lambda options: {"child": options.child},
    )  # fmt: skip


def test_a_command_prints_judges_and_writes(command: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "out.json"
    with pytest.raises(SystemExit):
        command(["--factor", "2", "--files", "a/b.onnx", "--json", str(file)])
    text = capsys.readouterr().out
    assert "| a     | 2.50 |    - |" in text and "model c, ms 2.00, peer -" in text
    assert text.endswith("FAIL b: no such model\nFAIL a: slow\nFAIL c: slow\n3 bounds missed\n")
    record = json.loads(file.read_text())
    assert (
        record["options"] == {"factor": 2.0, "files": ["a/b.onnx"]}
        and len(record["rows"]) == 2
        and len(record["failures"]) == 3
    )
    assert [table["rows"] for table in record["tables"]] == [[["a", "2.50", "-"], ["c", "2.00", "-"]], [["1"]]]
    assert record["script"] == "test_harness" and record["commit"] and record["date"]


def test_files_of_results_are_named_by_what_was_changed(command: Any) -> None:
    def name(*words: str) -> str | None:
        path = command.result_path(command.parser.parse_args(words))
        return None if path is None else path.name

    assert name() == "test_harness.json" and name("--factor", "2", "--cache", "x") == "test_harness--factor=2.0.json"
    assert name("--files", "a/b.onnx", "c.onnx") == "test_harness--files=b+c.json"
    assert name("--quick") is None and name("--quick", "--json", "here.json") == "here.json"


def test_a_child_prints_json_alone(command: Any, capsys: pytest.CaptureFixture[str]) -> None:
    command(["--child", "a"])
    assert capsys.readouterr().out == '{"child": "a"}\n'


def test_cells(script: Any) -> None:
    report = script("harness.report")
    found = report.columns("a {a} | of b {b[0]} of {b[1]}", "{last}")
    assert [title for title, _ in found] == ["a", "of b", ""]
    assert report.cells_of(found, {"a": 1, "b": (2, 3), "last": "x"}) == ["1", "2 of 3", "x"]
    assert report.cells_of((*found, ("c", lambda row: str(len(row)))), {"a": 0, "b": None}) == ["0", "-", "-", "2"]


def test_times_by_turns(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    timing, calls = script("harness.timing"), list[str]()
    runs = {name: lambda name=name: calls.append(name) for name in "ab"}
    assert set(timing.least_seconds(runs, 2, 3)) == {"a", "b"} and "".join(calls) == "aaabbb" * 2
    monkeypatch.setattr(timing, "BLOCK_SECONDS", 1e-9)
    times = timing.time_blocks({name: timing.timer_of(run) for name, run in runs.items()}, 2)
    assert [len(block) for block in times["a"]] == [timing.FEWEST] * 2
    assert timing.median_milliseconds({"a": [np.array([1.0, 3.0]), np.array([2.0])]}) == {"a": 2000.0}


def test_the_embedded_example_is_a_task(script: Any, tmp_path: Path) -> None:
    """Neither the embedded example nor an empty list of tasks needs the folder of a zoo."""
    zoo = script("harness.zoo")
    task = zoo.load_zoo(tmp_path, "digits", quick=True)["digits"]
    assert len(list(task.test_inputs())) == zoo.QUICK_TEST and zoo.load_zoo(tmp_path, "") == {}
    scored = zoo.evaluate(task, lambda feed: [np.eye(10)[task.labels[: len(feed["image"])]]], zoo.QUICK_TEST)
    assert scored.score == 100.0
