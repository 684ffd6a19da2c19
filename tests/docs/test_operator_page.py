"""docs/operators.md is what docs/_ext/operator_pages.py prints from the tables of the code."""

import re
import sys

import pytest

from tests.support.project import ROOT

sys.path.append(str(ROOT / "docs" / "_ext"))

import operator_pages  # noqa: E402

from tests.support.operator_consumers import MATRIX  # noqa: E402
from tvmq.graph.operators import OPERATORS  # noqa: E402

TEXT = operator_pages.PAGE.read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]] for line in TEXT.splitlines() if line.startswith("| `")]


def test_it_is_printed_from_the_tables():
    pytest.importorskip("torch", reason="the tables of training and of the exporter to torch need it")
    assert operator_pages.page() == TEXT, "python docs/_ext/operator_pages.py --update"


def test_it_has_every_operator_once():
    names = [name for row in ROWS for name in re.findall(r"`([^`]+)`", row[0])]
    assert sorted(names) == sorted(OPERATORS)


def test_each_cell_has_a_function_or_a_sentence():
    numbers = set(re.findall(r"^\| (\d+) \| .+ \| .+\. \|$", TEXT, re.M))
    for row in ROWS:
        assert len(row) == len(MATRIX) + 1
        assert all(cell in ("✓", "–") or cell in numbers for cell in row[1:]), row


def test_the_tables_that_it_names_are_there():
    for consumer in MATRIX.values():
        for names, path in re.findall(r"((?:`\w+`(?: and )?)+) of `([\w/]+\.py)`", consumer.table):
            text = (ROOT / path).read_text(encoding="utf-8")
            for name in re.findall(r"`(\w+)`", names):
                assert re.search(rf"^(def )?{name}\b", text, re.M), f"{path} has no {name}"
