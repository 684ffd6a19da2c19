"""`load`: saved models and C libraries, each told by how it begins. A library needs NumPy alone: TVM stays out.

Tests: tests/library/test_load_by_path.py
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tvmq.errors import ConfigError

if TYPE_CHECKING:
    import tvmq.runtime.executable

ELF = b"\x7fELF"


def load(
    path: str | Path | bytes | BinaryIO,
    *,
    sha256: str | None = None,
    num_threads: int | None = None,
    code: bool = True,
) -> tvmq.runtime.executable.Executable | Any:
    """A saved model as an executable; what `export_library` wrote as a model that runs without TVM.

    path         of a .tvmq file; or the folder of a library, its .so or its .json. Also the content of a .tvmq file:
                 bytes, as `Executable.to_bytes` gives them, or a file that is open for reading in binary mode
    num_threads  threads that it may use, whatever other models do; None: see `Executable.num_threads`
    code         False: without its machine code, whatever machine that is for. It cannot run, but its module can be
                 built for this machine, explained and exported

    Both hold machine code: load only what you trust, or give the `sha256`, which `save` returned for a .tvmq file; of a
    library it is that of its .so.
    raises  ArtifactError for a damaged or foreign file or another hash,
            TargetError for a CPU with features that this one lacks,
            ConfigError for a number of threads that a library cannot start
    """
    source = read_content(path)
    if isinstance(source, bytes) or not is_library(source):
        from tvmq.runtime import executable

        return executable.load(source, sha256=sha256, num_threads=num_threads, code=code)
    from tvmq.runtime.c_library import load_library

    if not code:
        raise ConfigError(
            f"load: '{source}' is a library, which has machine code alone; load the .tvmq file it was exported from"
        )
    return load_library(Path(source), sha256=sha256, num_threads=num_threads)


def read_content(source: Any) -> str | Path | bytes:
    """A path as it is; of everything else the bytes: those of an open file are the rest of it.

    raises  ConfigError for a file that is open for text, and what is neither
    """
    if isinstance(source, str | os.PathLike):
        return source if isinstance(source, str) else Path(source)
    content = source.read() if hasattr(source, "read") else source
    if isinstance(content, bytes | bytearray | memoryview):
        return bytes(content)
    if isinstance(content, str):
        raise ConfigError("load: the file is open for text; open it for reading in binary mode, 'rb'")
    kind = type(source).__name__
    raise ConfigError(f"load: takes a path, bytes or a file that is open for reading. Got {kind} instead")


def is_library(path: str | Path) -> bool:
    """True for a folder, a shared library and a .json file; the first bytes count, as a .tvmq may have any name."""
    try:
        path = Path(path)
        if not path.is_file():
            return path.is_dir()
        with path.open("rb") as file:
            begin = file.read(len(ELF))
    except (OSError, TypeError, ValueError):  # whoever opens it says why
        return False
    return begin == ELF or (path.suffix == ".json" and begin[:1] == b"{")
