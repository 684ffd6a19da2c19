"""Charts of the site: each shows every figure of its columns, on every page that prints its file."""

from __future__ import annotations

import doctest
import re
import sys

import pytest

from tests.support.project import ROOT

sys.path.append(str(ROOT / "docs" / "_ext"))

import dot_charts  # noqa: E402
import result_charts  # noqa: E402
from dot_charts import Figure, draw_chart  # noqa: E402

PAGES = [*sorted((ROOT / "docs").glob("benchmarks*.md")), ROOT / "docs" / "detectors.md"]


@pytest.mark.parametrize("module", [dot_charts, result_charts], ids=lambda module: module.__name__)
def test_examples(module) -> None:
    result = doctest.testmod(module)
    assert result.attempted and not result.failed


@pytest.mark.parametrize("name", result_charts.CHARTS)
def test_every_figure_is_drawn(name) -> None:
    """A dot for each figure of the columns, and one for each name in the legend, in both drawings."""
    table = result_charts.read_table(name)
    for chart, html in zip(result_charts.CHARTS[name], result_charts.charts_of(name), strict=True):
        places = [table["columns"].index(column) for column in chart.series.values()]
        cells = [row[place] for row in table["rows"] for place in places]
        figures = [cell for cell in cells if re.search(r"\d", cell) and not (chart.logarithmic and float(cell.split()[0]) <= 0)]
        wide, narrow = html.split("<svg ")[1:]
        for svg in (wide, narrow):
            titles = re.findall(r"<title>([^,]+(?:, [^:]*)?): ", svg)
            assert len(titles) == len(figures) > 0
            assert svg.count("<circle") == len(titles) + len(re.findall(r'<text x="[\d.]+" y="\d+">', svg))
        assert max(float(x) for x in re.findall(r' cx="([\d.]+)"', narrow)) < 358


def test_every_chart_is_on_a_page() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    shown = {block[1] for text in texts for block in result_charts.BLOCK.finditer(text)}
    assert set(result_charts.CHARTS) <= shown


def test_large_tables_are_folded_and_keep_their_figures() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        drawn = result_charts.with_charts(text)
        lines = [line for line in text.splitlines() if line.startswith("|")]
        assert [line for line in drawn.splitlines() if line.startswith("|")] == lines
        assert drawn.count("<details") == drawn.count("</details>") and drawn.count("<!-- results") <= text.count("<!-- results")


def test_a_small_table_stays_as_it_is() -> None:
    page = (ROOT / "docs" / "benchmarks-cost.md").read_text(encoding="utf-8")
    block = next(found[0] for found in result_charts.BLOCK.finditer(page) if found[1] == "building")
    assert block in result_charts.with_charts(page)


def test_errors_are_bars_and_long_names_are_cut() -> None:
    svg = draw_chart("t", [("a" * 90, {"one": Figure(1.0, 0.25), "two": Figure(3.0)})])
    assert svg.count('class="error series0"') == 2 and "error series1" not in svg
    assert "\u2026</text>" in svg and "a" * 90 in svg


def test_a_logarithmic_axis_covers_the_figures() -> None:
    svg = draw_chart("t", [("net", {"one": Figure(0.03), "two": Figure(900.0)})], logarithmic=True)
    places = [float(place) for place in re.findall(r'cx="([\d.]+)" cy="\d+" r="(?:3.5|4.5)"><title>', svg)]
    assert len(places) == 4
    for layout, pair in ((dot_charts.WIDE, places[:2]), (dot_charts.NARROW, places[2:])):
        assert all(layout.labels <= place <= layout.width for place in pair)
