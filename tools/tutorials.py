"""Execute the tutorials into notebooks with outputs.

    python tools/tutorials.py [--output build/tutorials] [--jobs N] [--force] [01 06 ...]

Reads     tutorials/[0-9]*.py, percent format: `# %% [markdown]` begins a cell of text, `# %%` one of code
Writes    OUTPUT/<name>.ipynb, whole or not at all
Prints    a line for each: its seconds, or which cell failed, at which line, and what it said. One that asks for a
          package that is missing (`find_spec("torch") is None`) becomes a notebook without outputs
Fails     with status 1 if one of them failed; the others are executed nevertheless

A notebook that is newer than its tutorial and than all code of tvmq is kept. Kernels run in `tutorials/`, as a script
finds its own folder there, one after the other below four CPUs, so that measured times mean something.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

try:
    import jupytext
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
except ImportError as error:
    raise SystemExit(f"tutorials: {error.name} is missing; pip install -e '.[docs]'") from error

LANGUAGE = {"name": "python"}
ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tutorials"
CODE = ("tvmq", "passes", "tutorials")  # what a notebook's outputs follow from
LIMIT = 300  # seconds of a cell
QUIET = ["--IPKernelApp.log_level=40"]  # kernels warn of TCP, which only this machine reaches here
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class TutorialError(Exception):
    """A tutorial whose cell failed; the text says which, where and why."""


def tutorials(wanted: list[str], folder: Path = FOLDER) -> list[Path]:
    """The tutorials whose names begin with one of the given texts, all without any; SystemExit if there is none."""
    found = [path for path in sorted(folder.glob("[0-9]*.py")) if path.name.startswith(tuple(wanted) or "")]
    if not found:
        raise SystemExit(f"tutorials: none begins with {', '.join(wanted) or 'a digit'} in {folder}")
    return found


def is_fresh(notebook: Path, newest: float) -> bool:
    """True for a notebook made after the last change."""
    return notebook.exists() and notebook.stat().st_mtime >= newest


def last_change() -> float:
    """When the newest file that outputs depend on was written."""
    files = [Path(__file__), *(path for name in CODE for path in (ROOT / name).rglob("*") if path.suffix != ".pyc")]
    return max(path.stat().st_mtime for path in files if path.is_file())


def missing_package(text: str) -> str | None:
    """The first package that a tutorial asks for and that is not installed."""
    wanted = re.findall(r'find_spec\("(\w+)"\) is None', text)
    return next((name for name in wanted if importlib.util.find_spec(name) is None), None)


def executed(path: Path) -> Any:
    """The notebook of a tutorial with its outputs; TutorialError for the first cell that fails."""
    text = path.read_text(encoding="utf-8")
    notebook = jupytext.reads(text, fmt="py:percent")
    for number, cell in enumerate(notebook.cells, 1):
        cell["id"] = f"cell-{number}"  # random ones would differ in each run
    if missing_package(text) is not None:
        notebook.metadata["language_info"] = LANGUAGE  # without it Sphinx warns that it cannot color the cells
        return notebook
    client = NotebookClient(
        notebook,
        timeout=LIMIT,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": FOLDER}},
        extra_arguments=QUIET,
    )
    # pictures belong into the notebook, whatever the caller's matplotlib draws on
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    try:
        # tutorials leave their files to the system, which clears its temporary folder some day
        with TemporaryDirectory(prefix="tvmq_", ignore_cleanup_errors=True) as temporary:
            client.execute(env={**environment, "TMPDIR": temporary})
    except (CellExecutionError, CellTimeoutError, DeadKernelError, RuntimeError) as error:
        raise TutorialError(failure(text, notebook.cells, error)) from error
    notebook.metadata["language_info"] = LANGUAGE
    return notebook


def failure(text: str, cells: list[Any], error: Exception) -> str:
    """Sentence that names the failed cell, its line in the tutorial, and the error."""
    for number, cell in enumerate(cells, 1):
        for output in cell.get("outputs", ()):
            if output["output_type"] == "error":
                first = text[: max(text.find(cell["source"]), 0)].count("\n") + 1
                said = f"{output['ename']}: {output['evalue']}".removesuffix(": ")
                arrows = [
                    part for part in COLOURS.sub("", "\n".join(output["traceback"])).splitlines() if "-> " in part
                ]
                return "\n    ".join([f"cell {number}, from line {first}: {said}", *arrows])
    return f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}"


def make(path: Path, output: Path) -> bool:
    """Execute one tutorial, write its notebook when it is done, and say so; False if it failed."""
    start = time.time()
    try:
        notebook = executed(path)
    except TutorialError as error:
        print(f"tutorials/{path.name}: {error}", flush=True)
        return False
    target = output / f"{path.stem}.ipynb"
    part = target.with_name(f"{target.name}.part")
    part.write_text(nbformat.writes(notebook), encoding="utf-8")
    os.utime(part, (start, start))  # what changed meanwhile is not in it
    os.replace(part, target)
    missing = missing_package(path.read_text(encoding="utf-8"))
    said = f"{time.time() - start:.1f} s" if missing is None else f"not executed, {missing} is missing"
    print(f"tutorials/{path.name}: {said}", flush=True)
    return True


def main() -> int:
    """Command line; see the head of this file."""
    parser = argparse.ArgumentParser(description="Execute the tutorials into notebooks with outputs.")
    parser.add_argument("names", nargs="*", help="beginnings of names; all tutorials without any")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "tutorials")
    parser.add_argument("--jobs", type=int, default=2 if (os.cpu_count() or 1) >= 4 else 1, help="at the same time")
    parser.add_argument("--force", action="store_true", help="execute those that are up to date, too")
    given = parser.parse_args()
    chosen, newest = tutorials(given.names), last_change()
    given.output.mkdir(parents=True, exist_ok=True)
    stale = [p for p in chosen if given.force or not is_fresh(given.output / f"{p.stem}.ipynb", newest)]
    with ThreadPoolExecutor(max(given.jobs, 1)) as pool:
        done = list(pool.map(lambda path: make(path, given.output), stale))
    kept = f", {len(chosen) - len(stale)} up to date" if len(stale) < len(chosen) else ""
    print(f"{sum(done)} of {len(stale)} tutorials executed{kept}; {given.output}")
    return 0 if all(done) else 1


if __name__ == "__main__":
    raise SystemExit(main())
