"""Exit codes of commands, on which shell scripts may rely.

0    done
1    an error that tvmq explains: one sentence on stderr, no traceback
2    the command line itself is wrong (typer says how)
3    the quantized model does not keep the bound of its guard: one sentence says why, nothing is saved without --force
130  interrupted; files are written whole or not at all

Commands start faster by importing TVM without torch where nothing of torch is used.

tvm_ffi imports torch wherever it is installed, to take tensors of it; that is two thirds of the time that TVM takes to
import. A command that reads neither a program of torch nor a function of the user's can do without.
"""

from __future__ import annotations

import contextlib
import functools
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from tvmq.base.memory import ROOM
from tvmq.errors import AccuracyWarning, TvmqError
from tvmq.tools.cli.screen import notice

# Endings of programs of torch, and what stands between the file and the name of a function (--data file.py:name)
OF_TORCH, OF_USERS = (".pt2", ".pt", ".pth"), ".py:"
TORCH = "torch"


def needs_torch(arguments: Iterable[Any]) -> bool:
    """True if a command with these arguments may meet tensors or programs of torch.

    >>> needs_torch(["net.onnx", "samples.py:batches"]), needs_torch(["net.onnx", None, ["a.npz"]])
    (True, False)
    """
    for argument in arguments:
        if isinstance(argument, list | tuple):
            if needs_torch(argument):
                return True
        elif str(argument).endswith(OF_TORCH) or OF_USERS in str(argument):
            return True
    return False


def import_tvm(arguments: Iterable[Any]) -> None:
    """Import TVM, without torch if a command with these arguments needs none; torch itself can be imported afterwards.

    Nothing on Windows, where torch must come first, and where either is imported already. A TVM that cannot be imported
    is left to the command, which says so.
    """
    there = {TORCH, "tvm_ffi"} & sys.modules.keys()
    if there or sys.platform == "win32" or needs_torch(arguments):
        return
    sys.modules[TORCH] = None  # type: ignore[assignment]  # an import raises ImportError
    try:
        with contextlib.suppress(Exception):
            import tvmq.graph.view  # noqa: F401  (the least of tvmq that has TVM)
    finally:
        del sys.modules[TORCH]


FAILED, REFUSED, INTERRUPTED = 1, 3, 130


def with_exit_codes(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command: tvmq's errors and Ctrl-C become a sentence on stderr and an exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        with _interrupts() as seen:
            try:
                import_tvm((*args, *kwargs.values()))
                return command(*args, **kwargs)
            except (Exception, KeyboardInterrupt) as error:
                # Inside of TVM an interrupt may become another error.
                if seen or isinstance(error, KeyboardInterrupt):
                    notice("tvmq: interrupted; nothing half-written is left behind")
                    raise typer.Exit(INTERRUPTED) from None
                if isinstance(error, MemoryError) and not isinstance(error, TvmqError):
                    notice(f"tvmq: memory ran out; give fewer samples (--samples), {ROOM}")
                    raise typer.Exit(FAILED) from None
                if isinstance(error, AccuracyWarning):
                    notice(f"tvmq: {error}; nothing was saved, --force saves the model as it is")
                    raise typer.Exit(REFUSED) from None
                if isinstance(error, TvmqError):
                    notice(f"tvmq: {error}")
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
