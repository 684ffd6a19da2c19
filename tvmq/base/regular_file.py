"""Paths of files that are read whole: a device or a pipe never ends, or waits for a writer that never comes."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def check_regular(path: str | Path) -> None:
    """Nothing for a regular file, or one that is not there, which whoever opens it reports. The file is not opened.

    raises   OSError for a folder, a pipe, a socket and a device; ValueError for a null character in the name
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "something else")
        raise OSError(errno.EINVAL, f"it is {kind}, not a regular file", str(path))
