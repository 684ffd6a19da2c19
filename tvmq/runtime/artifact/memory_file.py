"""Files for TVM, which reads and writes code by path only.

On Linux they lie in memory: nothing can leave them half-written, and no full disk makes LLVM end the process.
Elsewhere they lie in a temporary folder.

Tests: tests/runtime/artifact/test_quiet.py
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tvmq.errors import OutputError


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


def read_written_file(write: Callable[[str], Any]) -> bytes:
    """Bytes that a function writes to the path that it gets.

    >>> read_written_file(lambda path: Path(path).write_bytes(b"code"))
    b'code'

    raises  OutputError if it does not fit RLIMIT_FSIZE, which holds in memory, too
    """
    with memory_file() as path:
        write(path)
        data = Path(path).read_bytes()
    check_size("code", len(data) + 1)  # a file that is as long as it may be was cut
    return data


def object_file(library: Any) -> bytes:
    """The object file of TVM's LLVM module. LLVM ends the process where it cannot be written: that is asked before.

    raises  OutputError if it may not fit RLIMIT_FSIZE
    """
    if file_limit() is not None:  # its text is several times as long
        check_size("kernel", len(library.inspect_source("asm")))
    return read_written_file(lambda path: library.write_to_file(path, "o"))


def check_size(what: str, size: int) -> None:
    """OutputError where this process may not write files of that many bytes."""
    limit = file_limit()
    if limit is not None and size > limit:
        raise OutputError(
            f"build: a {what} may need a file of {size} bytes, and files of this process may have {limit} "
            "(RLIMIT_FSIZE); raise it with `ulimit -f`"
        )


def file_limit() -> int | None:
    """Most bytes that a file of this process may have; None where there is no bound."""
    try:
        import resource
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if limit == resource.RLIM_INFINITY else limit
