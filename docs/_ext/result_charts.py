"""Charts of the measurements: drawn while the site is built, from the files that the tables are printed from.

A block `<!-- results: NAME -->` of a page gets the charts of that file; its table, where it is a large one, folds below
them. The page in the repository holds the table alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dot_charts import Figure, Row, draw_chart
from pages import ROOT

# benchmarks/print_results.py writes what stands between
BLOCK = re.compile(r"<!-- results: (\S+)[^\n]*-->\n(.*?)<!-- end of results -->", re.S)
NUMBER = re.compile(r"^\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*(?:\u00b1\s*([\d.]+))?")
# Tables with more rows or columns are folded
MOST_ROWS, MOST_COLUMNS = 40, 9
Table = Sequence[dict[str, str]]
Reader = Callable[[str], "Figure | None"]


def read_figure(text: str) -> Figure | None:
    """The number that a cell begins with, and its error; None for a cell without one.

    >>> read_figure("-0.20 \u00b1 0.28"), read_figure("6.285 (0.81)"), read_figure("-")
    (Figure(value=-0.2, error=0.28), Figure(value=6.285, error=0.0), None)
    """
    match = NUMBER.match(text)
    return Figure(float(match[1]), float(match[2] or 0)) if match else None


def best_peer(text: str) -> Figure | None:
    """Signal to error of the column 'best peer'.

    >>> best_peer("ORT asym 19.0 dB -0.24").value
    19.0
    """
    match = re.search(r"(-?[\d.]+) dB", text)
    return Figure(float(match[1])) if match else None


@dataclass(frozen=True)
class Chart:
    """A chart of a table.

    title        its heading
    series       {name in the legend: column}
    names        columns that name a row
    divided_by   every figure of a row is divided by that of this column
    split        the column that names the series of its row, where a network has several rows; `series` has one column
    by_first     every figure is divided by that of the first row in its column
    reads        {column: function of its text}, where a figure is not what the text begins with
    """

    title: str
    series: dict[str, str]
    names: tuple[str, ...] = ("model",)
    divided_by: str = ""
    split: str = ""
    logarithmic: bool = False
    by_first: bool = False
    reads: dict[str, Reader] = field(default_factory=dict)


SPEED = "Milliseconds of a run, as multiples of those of tvmq int8 (1: as fast; right of it: slower)"
PEERS = {
    "tvmq int8": "tvmq int8", "OpenVINO int8": "ov int8", "onnxruntime int8": "ort int8", "tvmq float": "tvmq f32",
    "OpenVINO float": "ov f32", "onnxruntime float": "ort f32",
}  # fmt: skip
INT8 = {name: column for name, column in PEERS.items() if "int8" in name}
LATENCY = (Chart(SPEED, PEERS, divided_by="tvmq int8", logarithmic=True),)
BATCHES = (
    Chart(
        "Milliseconds of a batch, as multiples of those of the free batch",
        {"free batch": "free", "one by one": "one by one", "fixed batch": "fixed"},
        names=("network", "batch"), divided_by="free", logarithmic=True,
    ),
)  # fmt: skip
INVARIANCE = (
    Chart(
        "Different results of one sample, in batches and paddings of all kinds: the most (1 is the promise)",
        {"results": "results, most"}, names=("model", "contestant"), logarithmic=True,
    ),
)  # fmt: skip
CHARTS: dict[str, tuple[Chart, ...]] = {
    "accuracy": (
        Chart(
            "Signal to error of the outputs in dB, higher is better",
            {"tvmq": "SQNR", "onnxruntime": "ort SQNR", "best setting of a peer": "best peer"},
            names=("task",), reads={"best peer": best_peer},
        ),
        Chart(
            "Score of int8 minus that of float, in points, with its standard error",
            {"tvmq": "int8 - float"}, names=("task",),
        ),
    ),
    "latency": LATENCY,
    "latency--threads=2": LATENCY,
    "latency--batch=8": LATENCY,
    "latency_amx": LATENCY,
    "latency_intel": (Chart(SPEED, INT8, divided_by="tvmq int8", logarithmic=True),),
    "latency_avx2_weights": (
        Chart(
            "Milliseconds of a run, as multiples of those of tvmq's portable int8 (1: as fast; right of it: slower)",
            {"tvmq, portable": "lanes", "tvmq, 7 bits": "7 bits", "tvmq, finest scales": "tvmq int8",
             "OpenVINO int8": "ov int8", "tvmq float": "tvmq f32", "OpenVINO float": "ov f32"},
            divided_by="lanes", logarithmic=True,
        ),
    ),
    "latency--peers=all": (
        Chart(
            "Milliseconds of a run, as multiples of those of tvmq int8",
            {name: name for network in ("resnet18", "mobilenet_v2", "minilm_seq128")
             for name in (f"{network}, 1 thread", f"{network}, 2 threads")},
            names=("least, ms (ours / peer)",), by_first=True, logarithmic=True,
        ),
    ),
    "batches": BATCHES,
    "batches_two_threads": BATCHES,
    "quantizing": (
        Chart(
            "CPU seconds to quantize",
            {"tvmq, kernels in the cache": "ours, warm", "tvmq, no kernel in the cache": "ours, cold",
             "onnxruntime": "ort", "NNCF": "nncf"},
            names=("network",), logarithmic=True,
        ),
    ),
    "library": (
        Chart("Milliseconds of a run, one thread", {"": "ms, 1 thread"}, split="contestant", logarithmic=True),
        Chart("Resident memory in MiB", {"": "resident MiB"}, split="contestant", logarithmic=True),
    ),
    "detectors": (
        Chart("F1 of the boxes, beside those of float", {"": "F1 at 0.5"}, names=("network",), split="setting"),
    ),
    "hard_guarded": (
        Chart("Score in per cent", {"int8 with guard": "with guard", "float": "float"}, names=("network",)),
    ),
    "weights_without_vnni": (
        Chart("Signal to error in dB, by the weights", {"": "SQNR"}, names=("task",), split="weights"),
    ),
    "qdq": (
        Chart(
            "Signal to error in dB of models that others quantized",
            {"tvmq": "SQNR ours", "onnxruntime": "SQNR ort"},
        ),
    ),
    "training": (
        Chart(
            "Score in per cent", {"deployed": "deployed", "quantized, not trained": "quantized", "float": "float"},
            names=("task, bits",),
        ),
    ),
    "invariance_tasks": INVARIANCE,
    "invariance_minilm": INVARIANCE,
    "invariance_e5": INVARIANCE,
}  # fmt: skip


def read_table(name: str) -> Any:
    """The first table of a file of results: its columns and rows."""
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))["tables"][0]


def rows_of(chart: Chart, table: Table) -> list[Row]:
    """The rows of a chart; those without a figure are left out."""
    rows: dict[str, dict[str, Figure]] = {}
    for line in table:
        figures = rows.setdefault(" ".join(line[name] for name in chart.names), {})
        for name, column in chart.series.items():
            figure = chart.reads.get(column, read_figure)(line[column])
            unit = _unit(chart, column, line, table)
            if figure and unit and not (chart.logarithmic and figure.value <= 0):
                figures[line[chart.split] if chart.split else name] = Figure(figure.value / unit, figure.error / unit)
    return [(name, figures) for name, figures in rows.items() if figures]


def _unit(chart: Chart, column: str, line: dict[str, str], table: Table) -> float:
    """Divisor of a figure; 0 where that is missing."""
    if not chart.divided_by and not chart.by_first:
        return 1.0
    figure = read_figure(table[0][column] if chart.by_first else line[chart.divided_by])
    return figure.value if figure else 0.0


def charts_of(name: str) -> list[str]:
    """The charts of a file of results, as HTML."""
    table = read_table(name)
    lines = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    return [
        draw_chart(chart.title, rows_of(chart, lines), logarithmic=chart.logarithmic)
        for chart in CHARTS.get(name, ())
    ]


def with_charts(text: str) -> str:
    """A page whose blocks of results show charts first, and fold large tables below them.

    >>> with_charts("no results")
    'no results'
    """
    return BLOCK.sub(_with_charts, text)


def _with_charts(block: re.Match[str]) -> str:
    charts, (origin, *tables) = charts_of(block[1]), _parts(block[2])
    sizes = [_size(part) for part in tables if part.startswith("|")]
    if not charts and all(rows <= MOST_ROWS and columns <= MOST_COLUMNS for rows, columns in sizes):
        return block[0]
    size = ", ".join(f"{rows} rows, {columns} columns" for rows, columns in sizes)
    details = [f'<details class="figures"><summary>Table: {size}</summary>', *tables, "</details>"]
    return "\n\n".join([origin, *charts, *details])


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.strip().split("\n\n")]


def _size(table: str) -> tuple[int, int]:
    lines = table.splitlines()
    return len(lines) - 2, lines[1].count("|") - 1


def add_charts(app: Any, name: str, source: list[str]) -> None:
    """Called by sphinx with each page before it is parsed."""
    source[0] = with_charts(source[0])
