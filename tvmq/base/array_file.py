"""Arrays in .npz and .npy files: what their headers say is compared with the file and a bound before any data are read.

A few bytes of such a file can claim an array of any size, and zeros pack a thousandfold: what unpacks to more than
PACKING times its size, beyond UNPACKED_BASE, is refused.
"""

from __future__ import annotations

import math
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tvmq.base.memory import bytes_text, usable_memory
from tvmq.base.regular_file import check_regular
from tvmq.base.text import printable
from tvmq.errors import DataError, MemoryLimitError, TvmqError

UNPACKED_BASE = 1 << 30
# What NumPy and zipfile raise for damaged files; RuntimeError: encrypted, or packed in an unknown way.
UNREADABLE = (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError)
PACKING = 100  # masks and one-hot samples pack 20 to 60 times


@contextmanager
def array_errors(where: str, remedy: str) -> Iterator[None]:
    """DataError for what NumPy and zipfile raise for damaged files: where, why, what to do."""
    try:
        yield
    except TvmqError:
        raise
    except UNREADABLE as error:
        raise DataError(f"{where} cannot be read ({printable(str(error))}); {remedy}") from error


class ArrayFile:
    """An .npz or .npy; its arrays are read when they are asked for.

    path       of the file
    max_bytes  that all arrays together may have, unpacked; None: half of the memory of this machine, and what is
               plausible for the size of the file
    names      of the arrays in it; None for an .npy, which is one array
    raises     MemoryLimitError for a file that holds more, before it is read; ValueError for a file that holds less
               than it claims, or objects; what NumPy and zipfile raise for damaged files
    """

    def __init__(self, path: Path, max_bytes: int | None = None) -> None:
        self.path = path
        self._bound = max_bytes or usable_memory() // 2
        self._members: dict[str, str] | None = None
        check_regular(path)
        with path.open("rb") as file:
            is_archive = file.read(2) == b"PK"
            if not is_archive:
                file.seek(0)
                size = path.stat().st_size
                self._check(_array_bytes(file, size, f"'{path}'"), "it")
                return
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            total = 0
            for info in members:
                with archive.open(info) as packed:
                    total += _array_bytes(packed, info.file_size, f"'{info.filename[:-4]}' of '{path}'")
            self._check(total, f"its {len(members)} arrays" if len(members) > 1 else "its array")
            size = path.stat().st_size
            if max_bytes is None and total > UNPACKED_BASE + PACKING * size:
                raise MemoryLimitError(
                    f"data: '{path}', {bytes_text(size)}, would unpack to {bytes_text(total)}, which no samples do; if "
                    "they are yours, save them with numpy.savez, not numpy.savez_compressed"
                )
        self._members = {info.filename[:-4]: info.filename for info in members}

    @property
    def names(self) -> list[str] | None:
        """Names of the arrays of an .npz; None for an .npy."""
        return None if self._members is None else list(self._members)

    def __getitem__(self, name: str) -> np.ndarray:
        """Array of an .npz by its name."""
        assert self._members is not None
        with zipfile.ZipFile(self.path) as archive, archive.open(self._members[name]) as packed:
            return np.lib.format.read_array(packed, allow_pickle=False)

    def array(self) -> np.ndarray:
        """The array of an .npy."""
        with self.path.open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)

    def items(self) -> Iterator[tuple[str, np.ndarray]]:
        """(name, array) of an .npz, in order."""
        for name in self.names or ():
            yield name, self[name]

    def _check(self, count: int, what: str) -> None:
        if count > self._bound:
            raise MemoryLimitError(
                f"data: '{self.path}' is too large: {what} would take {bytes_text(count)}, at most "
                f"{bytes_text(self._bound)}, half of this machine's memory, is read; give fewer samples, or a "
                "function that yields batches"
            )


def _array_bytes(file: BinaryIO | Any, size: int, where: str) -> int:
    """Bytes of the array whose header begins here; the file has `size` bytes from there on.

    raises   ValueError for a file that cannot hold so many, or a negative size
    """
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            shape, _, dtype = read(file)
        except (tokenize.TokenError, SyntaxError, RecursionError, TypeError) as error:  # of Python's parser
            raise ValueError(f"{where} has a header that cannot be read") from error
    if any(length < 0 for length in shape):
        raise ValueError(f"{where} claims the shape {shape}")
    count = math.prod(shape) * dtype.itemsize
    if not dtype.hasobject and count > size - file.tell():
        raise ValueError(f"{where} claims {dtype.name}{list(shape)}, {bytes_text(count)}, and holds {bytes_text(size)}")
    return count
