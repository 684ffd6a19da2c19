"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from tvmq.errors import OutputError


def write_whole(path: str | os.PathLike[str], data: bytes, caller: str) -> Path:
    """Write under another name and rename.

    caller   begins the message
    raises   OutputError if the file cannot be written
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except OSError as error:
        raise OutputError(
            f"{caller}: cannot write {str(path)!r}: {error.strerror}; choose another path or make room"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return path
