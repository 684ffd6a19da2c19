"""From exceptions to exit codes: what a shell script may rely on.

    0    done
    1    an error that tvmq explains: one sentence on stderr, no traceback
    2    the command line itself is wrong (typer says how)
    130  interrupted; files are written whole or not at all
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import typer

from tvmq.errors import TvmqError

FAILED, INTERRUPTED = 1, 130


def guarded(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with tvmq's errors and Ctrl-C turned into a sentence and an exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except TvmqError as error:
            print(f"tvmq: {error}", file=sys.stderr)
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt:
            print("tvmq: interrupted; nothing half-written is left behind", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None

    return run
