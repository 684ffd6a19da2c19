"""docs/glossary.md: every place that it names exists, and every word of the field is in it."""

import re

import pytest

from tests.support.project import ROOT

TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ROWS = [line.split("|")[1:-1] for line in TEXT.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
ENTRIES = [row for row in ROWS if row[0].strip() != "word"]
# Words that must be found in the code as well, at the place of the thing
SEARCHED = (
    "GPTQ", "SmoothQuant", "LLM.int8()", "cross-layer equalization", "bias correction", "implicit GEMM",
    "dynamic shape",
)  # fmt: skip


@pytest.mark.parametrize("row", ENTRIES, ids=lambda row: row[0].strip())
def test_places_are_there(row):
    places = re.findall(r"`([^`]+)`", row[2])
    assert len(row) == 3 and places
    for place in places:
        assert (ROOT / place).exists(), place


@pytest.mark.parametrize("word", SEARCHED)
def test_a_search_leads_to_the_place(word):
    row = next(row for row in ENTRIES if word in row[0])
    paths = [ROOT / place for place in re.findall(r"`([^`]+)`", row[2])]
    assert any(word.lower() in path.read_text(encoding="utf-8").lower() for path in paths)
