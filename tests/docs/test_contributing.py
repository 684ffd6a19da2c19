"""CONTRIBUTING.md: the paths and the tables that its rows name exist."""

from __future__ import annotations

import re

import pytest

from tests.support.project import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = [line for line in TEXT.partition("## Files to touch")[2].splitlines() if re.match(r"\| (?!to add|---)", line)]
PATH = re.compile(r"`((?:tvmq|passes|tests|tools|docs|benchmarks|tutorials|setup\.cfg)[\w./<>-]*)`")
# `A` in `file`, `A` and `B` in `file`, `A` of `file`
TABLES = re.compile(r"((?:`[A-Za-z_]+`(?:, | or | and )?)+) (?:in|of) `([\w./-]+\.\w+)`")


def rows(text: str) -> str:
    return text.split("|")[1].strip()


@pytest.mark.parametrize("row", ROWS, ids=rows)
def test_paths_are_there(row):
    paths = PATH.findall(row)
    assert paths
    for path in paths:
        folder = re.sub(r"(<\w+>|\b(test_)?x\.(py|md)|NN_name\.py).*$", "", path)  # those that one writes
        assert (ROOT / folder).exists(), path


@pytest.mark.parametrize("row", [row for row in ROWS if TABLES.search(row)], ids=rows)
def test_tables_are_there(row):
    for names, path in TABLES.findall(row):
        text = (ROOT / path).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"^(class )?{name}\b.*[:=(]", text, re.M), f"{path} has no {name}"


def test_most_rows_name_a_table():
    assert sum(bool(TABLES.search(row)) for row in ROWS) > 15
