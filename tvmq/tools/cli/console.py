"""Output of commands: results on stdout (text or JSON), progress and notices on stderr.

On a terminal progress is a bar with the time left; in a log it is one line when a step begins and one when it
ends, without control characters.

Tests: tests/tools/cli/test_commands.py
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tvmq.base.text import printable


def notice(text: str) -> None:
    """Print a line to stderr: for the reader, not part of the result."""
    print(terminal_text(text), file=sys.stderr, flush=True)


def warning_printer() -> Callable[..., None]:
    """A stand-in for `warnings.showwarning`: each text once, without the line of source that it is about.

    Whoever runs a command did not write that line.
    """
    texts: set[str] = set()

    def show(message: Warning | str, *_place: Any, **_options: Any) -> None:
        """Print the warning; the place in the source, and a file, are left out."""
        text = str(message)
        if text not in texts:
            texts.add(text)
            notice(f"WARNING: {text}")

    return show


def terminal_text(text: str) -> str:
    """Text without control characters; its own newlines stay, those in file names are escaped."""
    for argument in filter(None, sys.argv[1:]):
        text = text.replace(argument, printable(argument))
    return "\n".join(map(printable, text.split("\n")))


def print_json(value: Mapping[str, Any]) -> None:
    """Print the result as one JSON object."""
    print(json.dumps(value, indent=2, default=_json_value))


def print_result(result: Any, *, as_json: bool) -> None:
    """Print a result of tvmq as text, or as JSON by its `to_dict`."""
    print_json(result.to_dict()) if as_json else print(result)


def _json_value(value: Any) -> Any:
    """JSON form of NumPy numbers and arrays; text for paths and the like."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def print_rows(rows: Sequence[Sequence[str]], *, indent: int = 2) -> None:
    """Print a table without lines: the first column left-aligned, the others right-aligned.

    >>> print_rows([["", "float", "int8"], ["accuracy", "98.0 %", "97.8 %"]])
                 float    int8
      accuracy  98.0 %  97.8 %
    """
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(max(map(len, rows)))]
    for row in rows:
        numbers = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=False)]
        print(" " * indent + "  ".join([row[0].ljust(widths[0]), *numbers]).rstrip())


def size_text(count: int) -> str:
    """Human-readable number of bytes.

    >>> size_text(999), size_text(176003), size_text(18_550_000)
    ('999 B', '176.0 kB', '18.6 MB')
    """
    for unit, factor in (("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} B"


def time_text(seconds: float) -> str:
    """Human-readable duration.

    >>> time_text(0.0000421), time_text(0.0123), time_text(3.21), time_text(190)
    ('42.1 us', '12.3 ms', '3.2 s', '190 s')
    """
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} us"
    if seconds < 1:
        return f"{seconds * 1e3:.1f} ms"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:.0f} s"


@contextmanager
def step(
    label: str, total: int | None = None, *, quiet: bool = False, counted: bool = True
) -> Iterator[Callable[[], None]]:
    """Show the progress of a step; yields a function to be called after each of its `total` parts.

    counted  True shows the number of parts done, False their share
    """
    if quiet:
        yield lambda: None
    elif sys.stderr.isatty():
        with _bar(label, total, counted) as advance:
            yield advance
    else:
        notice(f"{label} ...")
        start = time.perf_counter()
        yield lambda: None
        notice(f"{label}: {time_text(time.perf_counter() - start)}")


@contextmanager
def _bar(label: str, total: int | None, counted: bool) -> Iterator[Callable[[], None]]:
    """A progress bar on a terminal; it pulses if the number of parts is unknown."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = [TextColumn("{task.description:24}", markup=False), BarColumn(), TimeElapsedColumn()]
    if total:
        done = "{task.completed}/{task.total}" if counted else "{task.percentage:.0f} %"
        columns += [TextColumn(done), TimeRemainingColumn(), TextColumn("left")]
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(label, total=total)
        yield lambda: progress.advance(task)
        progress.update(task, completed=total or 1, total=total or 1)
