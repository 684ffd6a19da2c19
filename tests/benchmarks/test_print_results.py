"""Results as files, and the pages that are printed from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import ROOT


def test_pages_are_what_the_files_say(script: Any) -> None:
    pages = script("harness.pages")
    assert len(pages.pages()) >= 7
    for page in pages.pages():
        text = page.read_text(encoding="utf-8")
        assert pages.filled_page(text) == text, "run python benchmarks/print_results.py --update"


def test_every_file_says_where_its_figures_come_from(script: Any) -> None:
    pages = script("harness.pages")
    shown = "".join(page.read_text(encoding="utf-8") for page in pages.pages())
    for path in sorted((ROOT / "benchmarks/results").glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        assert {"script", "date", "commit", "machine", "versions", "tables"} <= record.keys(), path.name
        assert f"<!-- results: {path.stem} " in shown, f"{path.name} is on no page"
        for table in record["tables"]:
            assert all(len(row) == len(table["columns"]) for row in table["rows"]), path.name


def test_a_table_of_some_columns(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = script("harness.pages")
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    table = {"columns": ["model", "ms", "dB"], "rows": [["net", "1.50", "30"]]}
    (tmp_path / "a.json").write_text(json.dumps({"date": "unknown", "machine": {"cpu": "CPU"}, "tables": [table]}))
    page = "<!-- results: a columns: model | dB -->\nold\n<!-- end of results -->\n"
    assert pages.filled_page(page).splitlines()[1:] == [
        "*CPU; date unknown; versions unknown; commit unknown.*", "", "| model | dB |", "| ----- | -: |", "| net   | 30 |", "",
        "<!-- end of results -->",
    ]  # fmt: skip


def test_the_page_lists_every_script() -> None:
    text = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8").rpartition("| area |")[2]
    listed = [word.strip() for line in text.splitlines()[2:] for word in line.split("|")[2].split(",")]
    assert sorted(listed) == sorted({path.stem for path in (ROOT / "benchmarks").glob("*.py")} - {"loading_child"})
