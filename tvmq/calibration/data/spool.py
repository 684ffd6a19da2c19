"""Rows on disk: samples that are read once and used often, in a file that nobody can forget to remove.

Tests: tests/calibration/data/test_pictures.py
"""

from __future__ import annotations

import tempfile

import numpy as np

from tvmq.errors import OutputError


class Spool:
    """Arrays of one shape and type, appended one by one; then one array that lives on disk.

    The file has no name where the system allows that, so it goes with the process, however that ends.

    >>> spool = Spool()
    >>> spool.append(np.arange(3)), spool.append(np.arange(3, 6))
    (None, None)
    >>> spool.array().tolist()
    [[0, 1, 2], [3, 4, 5]]
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="tvmq-data-")
        self._row: np.ndarray | None = None
        self.count = 0

    def append(self, row: np.ndarray) -> None:
        """Add a row. raises OutputError where there is no room."""
        self._row = row if self._row is None else self._row
        assert row.shape == self._row.shape and row.dtype == self._row.dtype
        try:
            self._file.write(np.ascontiguousarray(row).tobytes())
        except OSError as error:
            raise OutputError(
                f"data: sample {self.count} could not be kept in '{tempfile.gettempdir()}' ({error.strerror}); make "
                "room, set TMPDIR to a larger disk, or take fewer --samples"
            ) from error
        self.count += 1

    def array(self) -> np.ndarray:
        """All rows, read from disk as they are used; of shape (rows, *shape of a row)."""
        if self._row is None:
            return np.zeros(0)
        self._file.flush()
        shape = (self.count, *self._row.shape)
        if not all(shape):
            return np.zeros(shape, self._row.dtype)
        return np.memmap(self._file, dtype=self._row.dtype, mode="r", shape=shape)
