"""Results that are known, in a file: a search that was cut off goes on, and journals of several machines merge.

A row is (key, result). The key is a hash of all that the result depends on, so a row is true for ever, and the union of
two journals is a journal. SQLite writes each row whole: after kill -9 at most the running trials are missing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tvmq.base.schema import checked_fields, checked_number, checked_text, inside, refuse
from tvmq.base.text import printable, printable_texts
from tvmq.errors import ArtifactError, ConfigError, OutputError

TABLE = "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, result TEXT NOT NULL) WITHOUT ROWID"
# What else has its name, or changes what it holds, was not made by a search.
FOREIGN = "SELECT name FROM sqlite_master WHERE type IN ('view', 'trigger') OR (name = 'results' AND type != 'table')"
WAIT = 60.0  # seconds for another process that writes
NUMBERS, MAYBE_NUMBERS = ("seconds", "bytes", "sqnr", "int8", "samples"), ("drop", "low", "high")


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
            self._rows.execute("SELECT key, result FROM results LIMIT 0")
            foreign = self._rows.execute(FOREIGN).fetchone()
        except sqlite3.DatabaseError as error:
            self._rows.close()
            raise self._no_journal(str(error)) from error
        if foreign is not None:
            self._rows.close()
            raise self._no_journal(f"it holds {foreign[0]!r}, no table of results")

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, key: str) -> dict[str, Any] | None:
        """The result of this key, or None; ArtifactError for one that no search wrote."""
        with self._reading():
            row = self._rows.execute("SELECT result FROM results WHERE key = ?", (key,)).fetchone()
        return None if row is None else self._result(key, row[0])

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
        except sqlite3.DatabaseError as error:
            raise self._no_journal(str(error)) from error

    def merge(self, other: Path) -> int:
        """Take over what another journal knows; returns how many results are new.

        raises  ArtifactError where the two disagree, or the other one is no journal
        """
        if not other.exists():
            raise ArtifactError(f"search: there is no journal '{other}' to merge")
        before = len(self)
        with Journal(other) as read:
            with read._reading():
                rows = read._rows.execute("SELECT key, result FROM results").fetchall()
            results = {str(key): read._result(str(key), result) for key, result in rows}
        self.add(results)
        return len(self) - before

    def __len__(self) -> int:
        with self._reading():
            return int(self._rows.execute("SELECT COUNT(*) FROM results").fetchone()[0])

    def close(self) -> None:
        """Release the file."""
        self._rows.close()

    def _result(self, key: str, text: Any) -> dict[str, Any]:
        """A row as a result; its texts as they can be printed."""
        where = f"result {printable(key)[:16]}:"
        try:
            if not isinstance(text, str):
                refuse(where, f"must be JSON. Got {type(text).__name__} instead")
            return check_result(printable_texts(json.loads(text)), where)
        except ConfigError as error:
            raise self._no_journal(str(error)) from error
        except (ValueError, RecursionError) as error:
            raise self._no_journal(f"{where} is no JSON") from error

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._no_journal(str(error)) from error

    def _no_journal(self, why: str) -> ArtifactError:
        return ArtifactError(
            f"search: '{self.path}' is no journal of a search ({why}); move it away, or choose another folder"
        )


def check_result(data: Any, where: str) -> dict[str, Any]:
    """A result of the form that trials.py gives; ConfigError for all else."""
    known = ("error", "noise", "module", *NUMBERS, *MAYBE_NUMBERS)
    fields = dict(checked_fields(data, where, known))
    if "error" in fields:
        checked_text(fields["error"], inside(where, "error"))
        return fields
    required = ("noise",) if "noise" in fields else ("module", *NUMBERS, *MAYBE_NUMBERS)
    checked_fields(data, where, required, required)
    for name in required:
        if name == "module":
            checked_text(fields[name], inside(where, name))
        elif fields[name] is not None or name in NUMBERS:
            checked_number(fields[name], inside(where, name))
    if "noise" not in fields and fields["drop"] is not None:
        for name in ("low", "high"):
            checked_number(fields[name], inside(where, name))
    return fields


def _check_equal(key: str, text: str, known: sqlite3.Cursor) -> None:
    """ArtifactError for a second result that is another one: one of the two was not computed as promised."""
    if (row := known.fetchone()) is not None and row[0] != text:
        raise ArtifactError(
            f"search: two results for {printable(key[:16])}: {printable(str(row[0]))[:80]} and {printable(text)[:80]}; "
            "one of them comes from a faulty machine, or from another version of tvmq: keep the journals apart"
        )
