"""Ctrl-C and SIGTERM as KeyboardInterrupt: whoever opened a temporary folder or file removes it on the way out.

Tests: tests/tools/cli/test_exit_codes.py
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Signal -> its handler in a program that changed none
USUAL: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


@contextmanager
def catch_interrupts() -> Iterator[list[int]]:
    """List of the signals so far that end a program, SIGINT (Ctrl-C) and SIGTERM; each raises KeyboardInterrupt.

    A caller's own handler stays in place, and outside of the main thread, which alone may change them, all do.
    """
    seen: list[int] = []
    process = os.getpid()

    def interrupt(number: int, _frame: Any) -> None:
        if os.getpid() != process:  # a fork ends as it would without us
            signal.signal(number, USUAL[number])
            os.kill(os.getpid(), number)
            return
        seen.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield seen
        return
    before = {number: usual for number, usual in USUAL.items() if signal.getsignal(number) is usual}
    for number in before:
        signal.signal(number, interrupt)
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
