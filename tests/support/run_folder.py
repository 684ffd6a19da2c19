"""Temporary folders of a test run. Those of a run that was killed go when a later one begins."""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

# Another container may share the folder and not its numbers of processes: what is younger is left alone
OLD = 24 * 3600.0


def make_run_folder(prefix: str) -> Path:
    """A new temporary folder, with the number of this process in its name, and without those of dead ones beside it."""
    for other in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        if _is_left(other, prefix):
            shutil.rmtree(other, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}_"))


def _is_left(folder: Path, prefix: str) -> bool:
    """True if the process that made a folder is gone, for long."""
    number = re.match(r"(\d+)_", folder.name.removeprefix(prefix))
    try:
        return bool(number) and time.time() - folder.stat().st_mtime > OLD and not _runs(int(number[1]))
    except OSError:  # removed by another run
        return False


def _runs(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        return True
    return True


def end_as_by_ctrl_c() -> None:
    """SIGTERM of this process becomes KeyboardInterrupt, on which pytest removes what it made; forks end as usual."""
    process = os.getpid()

    def end(number: int, _frame: Any) -> None:
        if os.getpid() == process:
            raise KeyboardInterrupt
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, end)
