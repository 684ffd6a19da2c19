"""From exceptions to exit codes: what a shell script may rely on.

0    done
1    an error that tvmq explains: one sentence on stderr, no traceback
2    the command line itself is wrong (typer says how)
3    the quantized model does not keep the bound of its guard: one sentence says why, nothing is saved without --force
130  interrupted; files are written whole or not at all
"""

from __future__ import annotations

import functools
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from tvmq.cli.start import import_tvm
from tvmq.errors import AccuracyWarning, TvmqError
from tvmq.memory import ROOM

FAILED, REFUSED, INTERRUPTED = 1, 3, 130


def guarded(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with tvmq's errors and Ctrl-C turned into a sentence and an exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        with _interrupts() as seen:
            try:
                import_tvm((*args, *kwargs.values()))
                return command(*args, **kwargs)
            except (Exception, KeyboardInterrupt) as error:
                # Inside of TVM an interrupt may become another error.
                if seen or isinstance(error, KeyboardInterrupt):
                    print("tvmq: interrupted; nothing half-written is left behind", file=sys.stderr)
                    raise typer.Exit(INTERRUPTED) from None
                if isinstance(error, MemoryError) and not isinstance(error, TvmqError):
                    print(f"tvmq: memory ran out; give fewer samples (--samples), {ROOM}", file=sys.stderr)
                    raise typer.Exit(FAILED) from None
                if isinstance(error, AccuracyWarning):
                    print(f"tvmq: {error}; nothing was saved, --force saves the model as it is", file=sys.stderr)
                    raise typer.Exit(REFUSED) from None
                if isinstance(error, TvmqError):
                    print(f"tvmq: {error}", file=sys.stderr)
                    raise typer.Exit(FAILED) from None
                raise

    return run


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """A list that grows with every interrupt (Ctrl-C) meanwhile; they raise KeyboardInterrupt as ever."""
    seen: list[int] = []

    def notice(number: int, _frame: Any) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    # Whoever has a handler of his own, or ignores interrupts, keeps it so; only the main thread may change it.
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield seen
        return
    signal.signal(signal.SIGINT, notice)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
