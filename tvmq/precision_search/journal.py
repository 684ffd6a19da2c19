"""Results that are known, in a file: a search that was cut off goes on, and journals of several machines merge.

A row is (key, result). The key is a hash of all that the result depends on, so a row is true for ever, and the union of
two journals is a journal. SQLite writes each row whole: after kill -9 at most the running trials are missing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tvmq.errors import ArtifactError, OutputError

TABLE = "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, result TEXT NOT NULL) WITHOUT ROWID"
WAIT = 60.0  # seconds for another process that writes


class Journal:
    """Results by key.

    path    the file, made where there is none; None: in memory, gone with the process
    raises  OutputError where it cannot be opened, ArtifactError for a file that is no journal
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        try:
            self._rows = sqlite3.connect(":memory:" if path is None else path, timeout=WAIT)
        except sqlite3.OperationalError as error:
            raise OutputError(
                f"search: the journal '{path}' cannot be opened ({error}); choose another folder"
            ) from error
        try:
            self._rows.execute(TABLE)
            self._rows.commit()
        except sqlite3.DatabaseError as error:
            self._rows.close()
            raise ArtifactError(
                f"search: '{path}' is no journal of a search ({error}); move it away, or choose another folder"
            ) from error

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, key: str) -> dict[str, Any] | None:
        """The result of this key, or None."""
        row = self._rows.execute("SELECT result FROM results WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def add(self, results: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep results; all of them or, if it is cut off, none.

        raises  ArtifactError where another result is known for a key, OutputError where it cannot be written
        """
        texts = {key: json.dumps(result, sort_keys=True) for key, result in results.items()}
        try:
            with self._rows:
                for key, text in texts.items():
                    self._rows.execute("INSERT OR IGNORE INTO results VALUES (?, ?)", (key, text))
                    _check_equal(key, text, self._rows.execute("SELECT result FROM results WHERE key = ?", (key,)))
        except sqlite3.OperationalError as error:
            raise OutputError(f"search: '{self.path}' cannot be written ({error}); is the disk full?") from error

    def merge(self, other: Path) -> int:
        """Take over what another journal knows; returns how many results are new.

        raises  ArtifactError where the two disagree, or the other one is no journal
        """
        if not other.exists():
            raise ArtifactError(f"search: there is no journal '{other}' to merge")
        before = len(self)
        with Journal(other) as read:
            rows = read._rows.execute("SELECT key, result FROM results").fetchall()
        self.add({key: json.loads(result) for key, result in rows})
        return len(self) - before

    def __len__(self) -> int:
        return int(self._rows.execute("SELECT COUNT(*) FROM results").fetchone()[0])

    def close(self) -> None:
        """Release the file."""
        self._rows.close()


def _check_equal(key: str, text: str, known: sqlite3.Cursor) -> None:
    """ArtifactError for a second result that is another one: one of the two was not computed as promised."""
    if (row := known.fetchone()) is not None and row[0] != text:
        raise ArtifactError(
            f"search: two results for {key[:16]}: {row[0][:80]} and {text[:80]}; one of them comes from a faulty "
            "machine, or from another version of tvmq: keep the journals apart"
        )
