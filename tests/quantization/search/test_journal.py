"""Journals of searches: a damaged file, another format or another search is refused in one sentence."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tvmq.errors import ArtifactError, OutputError
from tvmq.quantization.search.journal import Journal

MEASURED = {"seconds": 1e-5, "bytes": 900, "sqnr": 31.5, "int8": 1.0, "module": "5f", "drop": None, "low": None,
            "high": None, "samples": 16}  # fmt: skip
RESULTS = {"a": MEASURED, "b": {"noise": 0.5}, "c": {"noise": None}, "d": {"error": "no layer"},
           "e": {**MEASURED, "drop": 0.25, "low": 0.0, "high": 0.5}}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Journal(tmp_path / "journal.sqlite") as journal:
        journal.add(RESULTS)
    return tmp_path / "journal.sqlite"


def change(path: Path, *statements: str, values: tuple[Any, ...] = ()) -> None:
    rows = sqlite3.connect(path)
    for statement in statements:
        rows.execute(statement, values)
    rows.commit()
    rows.close()


def test_all_results_come_back_and_merge(path: Path, tmp_path: Path) -> None:
    with Journal(path) as journal:
        assert {key: journal.get(key) for key in RESULTS} == RESULTS and journal.get("z") is None
    with Journal(tmp_path / "other.sqlite") as other:
        assert other.merge(path) == len(RESULTS) and other.merge(path) == 0
        assert {key: other.get(key) for key in RESULTS} == RESULTS


@pytest.mark.parametrize("result, words", [
    ("{", "result a: is no JSON"), ("[" * 100_000, "is no JSON"), ("[]", "must be an object"), ("null", "must be an object"),
    ("{}", "result a: module: is missing|result a: noise"), (b"\x80\xff", "must be JSON. Got bytes"), ("5", "must be an object"),
    *((json.dumps({**MEASURED, name: value}), f"result a: {name}: must be a") for name, value in (
        ("seconds", float("nan")), ("bytes", float("inf")), ("sqnr", None), ("int8", "1.0"), ("module", 5), ("drop", "0"),
        ("low", [0]), ("samples", True), ("seconds", 10**400))),
    (json.dumps({**MEASURED, "drop": 0.5}), "low: must be a finite number"),
    (json.dumps({"noise": float("inf")}), "noise: must be a finite number"),
    (json.dumps({"error": 5}), "error: must be a text"), (json.dumps({"other": 5}), "other: unknown field"),
])  # fmt: skip
@pytest.mark.parametrize("how", ["get", "merge"])
def test_results_of_another_form(path: Path, tmp_path: Path, how: str, result: Any, words: str) -> None:
    change(path, "UPDATE results SET result = ? WHERE key = 'a'", values=(result,))
    with Journal(path) as journal, Journal(tmp_path / "other.sqlite") as other:
        with pytest.raises(ArtifactError, match=f"is no journal of a search .*({words}).*; move it away") as caught:
            journal.get("a") if how == "get" else other.merge(path)
        assert "\n" not in str(caught.value) and len(other) == 0


def test_texts_of_results_can_be_printed(path: Path) -> None:
    change(path, "UPDATE results SET result = ? WHERE key = 'd'", values=(json.dumps({"error": "\x1b[31mred\nline"}),))
    with Journal(path) as journal:
        assert journal.get("d") == {"error": "\\x1b[31mred\\nline"}
        with pytest.raises(ArtifactError, match="two results for d: ") as caught:
            journal.add({"d": {"error": "\x07"}})
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("statements", [
    ("DROP TABLE results", "CREATE TABLE results (a, b)"),
    ("DROP TABLE results", "CREATE VIEW results AS SELECT 'a' AS key, '{}' AS result"),
    ("CREATE TRIGGER t AFTER INSERT ON results BEGIN UPDATE results SET result = '{}' WHERE key = NEW.key; END",),
    ("CREATE VIEW other AS SELECT * FROM results",),
])  # fmt: skip
def test_tables_that_no_search_made(path: Path, statements: tuple[str, ...]) -> None:
    change(path, *statements)
    with pytest.raises(ArtifactError, match="is no journal of a search .*; move it away, or choose another folder$"):
        Journal(path)


def test_damaged_files(path: Path) -> None:
    with Journal(path) as journal:
        journal.add({f"{number:064x}": MEASURED for number in range(300)})
    whole = path.read_bytes()
    noise = bytearray(whole)
    noise[4096::97] = bytes(255 - byte for byte in noise[4096::97])
    for damaged in (whole[: len(whole) // 2], bytes(noise), b"hello", whole[:4096], b"\0" * 4096):
        path.write_bytes(damaged)
        with pytest.raises(ArtifactError, match="is no journal of a search .*; move it away"), Journal(path) as journal:
            for number in range(300):
                journal.get(f"{number:064x}")
            journal.add({"new": MEASURED})
            len(journal)
    path.unlink()
    path.mkdir()
    with pytest.raises(OutputError, match="cannot be opened"):
        Journal(path)
    assert os.listdir(path) == []
