"""A benchmark as a command: options, rows that are measured one by one, a table, bounds, and a file of results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import ROOT
from harness.report import RESULTS, Columns, Row, cells_of, finish, line_of, machine, print_table, write_result
from harness.zoo import TASKS

# Options that say where things lie, not what is measured: no part of the name of a file of results
PLACES = (
    "zoo",
    "cache",
    "json",
    "result",
    "quick",
    "child",
    "environments",
    "saved",
    "python",
    "save",
    "check",
    "file",
)
Argument = tuple[tuple[str, ...], dict[str, Any]]


def argument(*names: str, **options: Any) -> Argument:
    """An option, as `ArgumentParser.add_argument` takes it."""
    return names, options


class HelpFormatter(RawDescriptionHelpFormatter, ArgumentDefaultsHelpFormatter):
    """Formatter that keeps the head of a script as written, and adds the default of each option."""


@dataclass(frozen=True, eq=False)
class Command:
    """A benchmark; calling it measures, prints, judges and writes.

    about         the head of the script: its help text
    columns       of the table, or a function of the options that gives them
    measure       options -> rows; a text among them says what failed, and the others are still worth a look
    missed        (rows, options) -> bounds that are missed, with the numbers
    tasks         default of --tasks; None: the command has no tasks
    arguments     further options
    head          lines below the machine
    table         rows -> those that are printed, where several are one
    more          (rows, options) -> (title, headers, cells) of further tables
    child         works in this very process, for `--child NAME`: its result, if any, is printed as JSON
    child_option  name of that option
    judges_quick  False: no bound holds for few samples
    cache         default of --cache
    """

    about: str
    columns: Columns | Callable[[Namespace], Columns]
    measure: Callable[[Namespace], Iterable[Row | str]]
    missed: Callable[[list[Any], Namespace], list[str]] = lambda rows, options: []
    tasks: Sequence[str] | None = TASKS
    arguments: Sequence[Argument] = ()
    head: Callable[[Namespace], Sequence[str]] = lambda options: ()
    table: Callable[[list[Any]], list[Any]] = lambda rows: rows
    more: Callable[[list[Any], Namespace], Iterable[tuple[str, Sequence[str], list[list[str]]]]] = lambda rows, _: ()
    child: Callable[[Namespace], Any] | None = None
    child_option: str = "child"
    judges_quick: bool = True
    cache: Path = Path("build/benchmarks")

    @property
    def parser(self) -> ArgumentParser:
        """The command line."""
        result = ArgumentParser(description=self.about, formatter_class=HelpFormatter)
        if self.tasks is not None:
            folder = ROOT.parent / "shared" / "zoo"
            result.add_argument("--zoo", type=Path, default=folder, help="folder of tasks.py")
            result.add_argument("--tasks", default=",".join(self.tasks), help="names, separated by commas")
        result.add_argument("--cache", type=Path, default=self.cache, help="folder of models made for comparison")
        result.add_argument("--json", type=Path, help="the file of results; benchmarks/results/NAME.json without it")
        result.add_argument("--quick", action="store_true", help="few samples: a look, not a result, and no file")
        if self.child is not None:
            result.add_argument(f"--{self.child_option}", help="work on this in this very process and print JSON")
        for names, options in self.arguments:
            result.add_argument(*names, **options)
        return result

    def __call__(self, arguments: Sequence[str] | None = None) -> None:
        """Read the command line and do what it says; SystemExit with 1 where a bound is missed."""
        options = self.parser.parse_args(arguments)
        if self.child is not None and getattr(options, self.child_option):
            found = self.child(options)
            print(*([] if found is None else [json.dumps(found, default=float)]))
            return
        print(machine(), *self.head(options), sep="\n", flush=True)
        columns = self.columns(options) if callable(self.columns) else self.columns
        rows: list[Row] = []
        failures: list[str] = []
        for row in self.measure(options):
            if isinstance(row, str):
                failures.append(row)
            else:
                rows.append(row)
            print(row if isinstance(row, str) else line_of(columns, row), flush=True)
        titles, cells = [title for title, _ in columns], [cells_of(columns, row) for row in self.table(rows)]
        print_table(titles, cells)
        tables = [{"columns": titles, "rows": cells}]
        for title, headers, lines in self.more(rows, options):
            print(title)
            print_table(headers, lines)
            tables.append({"title": title, "columns": headers, "rows": lines})
        failures += self.missed(rows, options)
        record = {"script": self.script, "options": self.changed(options), "rows": rows, "failures": failures}
        write_result(self.result_path(options), record, *tables)
        finish(failures if self.judges_quick or not options.quick else [])

    @property
    def script(self) -> str:
        """Name of the script."""
        return Path(sys.modules[self.measure.__module__].__file__ or "").stem

    def changed(self, options: Namespace) -> dict[str, Any]:
        """{option: value} of all that are not as they come, apart from PLACES."""
        default = self.parser.get_default
        return {name: v for name, v in vars(options).items() if name not in PLACES and str(v) != str(default(name))}

    def result_path(self, options: Namespace) -> Path | None:
        """The file of results: none of a quick run without --json."""
        if options.json or options.quick:
            return options.json
        words = [self.script, *(f"{name}={_short(value)}" for name, value in self.changed(options).items())]
        return RESULTS / f"{'--'.join(words).replace('/', '_').replace(' ', '_')[:120]}.json"


def _short(value: Any) -> str:
    """A value as part of the name of a file."""
    if isinstance(value, list):
        return "+".join(map(_short, value))
    return value.stem if isinstance(value, Path) else str(value)


def run_fresh(
    script: str | Path,
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    python: str | Sequence[str] = sys.executable,
) -> Any:
    """The last line, read as JSON, that a script prints in a process of its own; CalledProcessError where it fails.

    python  the interpreter, or the words of a command that runs it
    """
    command = [*([python] if isinstance(python, str) else python), str(script), *map(str, arguments)]
    settings = {**os.environ, **(environment or {})}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=settings)
    return json.loads(done.stdout.splitlines()[-1])


def memory(field: str, file: str = "status") -> float:
    """A line of /proc/self/status in MiB: VmHWM is the peak of this program alone, unlike ru_maxrss."""
    for line in Path("/proc/self", file).read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"benchmark: /proc/self/{file} has no {field}; this benchmark needs Linux")
