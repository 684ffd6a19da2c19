"""Worker processes that end with the process that started them, however that ended.

A parent that is killed cannot tell its workers to stop: they hold both ends of the queue between them and would wait
for ever, each with a model in memory.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from multiprocessing.connection import wait
from threading import Thread


def end_with_parent() -> None:
    """End this worker when its parent ends; Ctrl-C is the parent's, which stops its workers itself."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_watch, args=(parent.sentinel,), name="watch of the parent", daemon=True).start()


def _watch(sentinel: int) -> None:
    """Wait for the parent's end of a pipe to close, which the system does whatever killed it."""
    wait([sentinel])
    os._exit(1)  # at once: whatever runs here is of no use to anybody
