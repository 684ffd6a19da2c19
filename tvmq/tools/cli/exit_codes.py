"""Exit codes of commands, which shell scripts may rely on, and a faster import of TVM.

0    done
1    an error of tvmq: one sentence on stderr, no traceback
2    invalid command line (typer explains it)
3    the quantized model misses the bound of its guard: one sentence says why, nothing is saved without --force
4    the model was saved, but its figures mean nothing: samples, labels or their preparation are doubtful
130  interrupted by Ctrl-C; files are written whole or not at all, temporary ones are removed
143  the same by SIGTERM; `tvmq serve` ends with 0, as it was told to

TVM is imported by what needs it, after paths and options were checked. tvm_ffi imports torch wherever it is installed,
to accept its tensors, which takes two thirds of the time: commands that read neither torch programs nor functions of
the user import TVM without it.
"""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from tvmq.base.hidden_torch import hidden_torch
from tvmq.base.interruption import catch_interrupts
from tvmq.base.memory import ROOM
from tvmq.errors import AccuracyWarning, TvmqError
from tvmq.tools.cli.console import notice

# Suffixes of torch programs, and the text before the name of a function (--data file.py:name)
OF_TORCH, OF_USERS = (".pt2", ".pt", ".pth"), ".py:"


def needs_torch(arguments: Iterable[Any]) -> bool:
    """True if a command with these arguments may use tensors or programs of torch.

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


@contextmanager
def torch_hidden(arguments: Iterable[Any]) -> Iterator[None]:
    """Imports of TVM inside load no torch, if these arguments do not need it."""
    if needs_torch(arguments):
        yield
        return
    with hidden_torch():
        yield


FAILED, REFUSED, DOUBTFUL = 1, 3, 4
ENDED_BY = 128  # and the number of the signal, as shells say it


def with_exit_codes(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command: tvmq's errors Ctrl-C and SIGTERM become a sentence on stderr and an exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        with catch_interrupts() as seen:
            try:
                with torch_hidden((*args, *kwargs.values())):
                    return command(*args, **kwargs)
            except (Exception, KeyboardInterrupt) as error:
                # TVM may turn an interrupt into another error.
                if seen or isinstance(error, KeyboardInterrupt):
                    notice("tvmq: interrupted; no partly written files are left")
                    raise typer.Exit(ENDED_BY + (seen[0] if seen else signal.SIGINT)) from None
                if isinstance(error, MemoryError) and not isinstance(error, TvmqError):
                    notice(f"tvmq: out of memory; give fewer samples (--samples), {ROOM}")
                    raise typer.Exit(FAILED) from None
                if isinstance(error, AccuracyWarning):
                    notice(f"tvmq: {error}; nothing was saved; --force saves the model anyway")
                    raise typer.Exit(REFUSED) from None
                if isinstance(error, TvmqError):
                    notice(f"tvmq: {error}")
                    raise typer.Exit(FAILED) from None
                raise

    return run
