"""Tables of documentation pages, printed from files of benchmarks/results.

A page holds the tables between two comments, `<!-- results: NAME -->` and `<!-- end of results -->`: machine, date and
commit of the file, and its tables; of `<!-- results: NAME columns: model | tvmq int8 -->` these columns alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from harness import ROOT
from harness.report import RESULTS, table_text

BLOCK = re.compile(r"(<!-- results: (\S+)(?: columns: (.*?))? -->\n).*?(<!-- end of results -->)", re.S)
UNKNOWN = "unknown"


def read_result(name: str) -> dict[str, Any]:
    """A file of results by its name."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        raise SystemExit(f"print_results: no {path.relative_to(ROOT)}")
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def origin_text(record: Mapping[str, Any]) -> str:
    """Origin of figures, as a sentence: CPU, load, date, versions, commit.

    >>> origin_text({"date": "2026-11-24", "machine": {"cpu": "AMD EPYC"}, "versions": {"numpy": "2.1"}})
    'AMD EPYC; 24 November 2026; numpy 2.1; commit unknown.'
    """
    facts, day = record.get("machine", {}), record.get("date", UNKNOWN)
    if day != UNKNOWN:
        day = f"{date.fromisoformat(day):%d %B %Y}".lstrip("0")
    numbers = ", ".join(f"{name} {version}" for name, version in record.get("versions", {}).items())
    parts = [facts.get("cpu", "CPU unknown"), facts.get("remark", ""), day if day != UNKNOWN else "date unknown"]
    parts += [numbers or "versions unknown", f"commit {record.get('commit', UNKNOWN)}"]
    return "; ".join(part for part in parts if part) + "."


def result_text(name: str, wanted: str = "") -> str:
    """The tables of a file, or columns of them by their titles, below the sentence that says their origin."""
    record = read_result(name)
    parts = [f"*{origin_text(record)}*"]
    for table in record["tables"]:
        titles = table["columns"]
        places = [titles.index(title.strip()) for title in wanted.split("|")] if wanted else range(len(titles))
        parts += [table["title"]] if table.get("title") else []
        rows = [[row[place] for place in places] for row in table["rows"]]
        parts.append(table_text([titles[place] for place in places], rows))
    return "\n\n".join(parts)


def filled_page(text: str) -> str:
    """The page with its tables anew."""
    return BLOCK.sub(lambda found: f"{found[1]}{result_text(found[2], found[3] or '')}\n\n{found[4]}", text)


def pages() -> list[Path]:
    """The pages that hold results."""
    return [p for p in sorted((ROOT / "docs").glob("*.md")) if BLOCK.search(p.read_text(encoding="utf-8"))]
