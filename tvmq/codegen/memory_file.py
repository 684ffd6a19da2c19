"""Files for TVM, which reads and writes code by path only.

On Linux they lie in memory: nothing can leave them half-written, and no full disk makes LLVM end the process.
Elsewhere they lie in a temporary folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


@contextmanager
def memory_file(content: bytes = b"") -> Iterator[str]:
    """Path of a file with this content, for as long as the context lasts."""
    if not hasattr(os, "memfd_create") or not os.path.isdir("/proc/self/fd"):
        with TemporaryDirectory(prefix="tvmq-") as folder:
            path = Path(folder, "code")
            path.write_bytes(content)
            yield str(path)
        return
    descriptor = os.memfd_create("tvmq")
    try:
        name = f"/proc/self/fd/{descriptor}"
        Path(name).write_bytes(content)
        yield name
    finally:
        os.close(descriptor)


def written(write: Callable[[str], Any]) -> bytes:
    """What a function writes to the path that it is given.

    >>> written(lambda path: Path(path).write_bytes(b"code"))
    b'code'
    """
    with memory_file() as path:
        write(path)
        return Path(path).read_bytes()
