"""tvm.contrib.utils: the temporary folder of old scripts.

Tests: tests/relay/test_paths.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path


class TempDirectory:
    """A folder that is removed with its last reader.

    >>> folder = tempdir()
    >>> _ = Path(folder.relpath("a.txt")).write_text("")
    >>> folder.listdir()
    ['a.txt']
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.temp_dir = self._folder.name

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self.temp_dir)

    def relpath(self, name: str) -> str:
        """Path of a file inside."""
        return str(self.path / name)

    def listdir(self) -> list[str]:
        """Names of what is inside, sorted."""
        return sorted(path.name for path in self.path.iterdir())

    def remove(self) -> None:
        """Remove the folder now."""
        self._folder.cleanup()

    def __truediv__(self, name: str) -> Path:
        return self.path / name


def tempdir(custom_path: str | None = None, keep_for_debug: bool | None = None) -> TempDirectory:
    """A new folder; the arguments change nothing."""
    return TempDirectory()
