"""A limit of time for a run: tests that would begin after it are skipped, and say so.

    pytest -m slow tests --most-minutes 40

Continuous integration has 75 minutes, and slow tests are its largest part. Files are rotated by the date, so that it is not
always the same tests that are left out on a slow machine.

Tests: tests/test_time_limit.py
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, MutableMapping, Sequence
from itertools import groupby

import pytest

START = "TVMQ_TESTS_START"  # second at which the run began, for all of its processes
SECONDS_OF_A_DAY = 86400


def begin_run(environment: MutableMapping[str, str], now: float) -> None:
    """Note when a run begins, in its first process."""
    environment[START] = str(now)


def rotate_files(files: Sequence[str], day: int) -> list[str]:
    """The files, beginning with another one each day.

    >>> rotate_files(["a", "b", "c"], 0), rotate_files(["a", "b", "c"], 4)
    (['a', 'b', 'c'], ['b', 'c', 'a'])
    """
    first = day % max(len(files), 1)
    return [*files[first:], *files[:first]]


class TimeLimit:
    """A plugin of pytest, in each process of a run; minutes: after which no test begins."""

    def __init__(self, minutes: float, environment: Mapping[str, str] | None = None) -> None:
        self.minutes = minutes
        self.start = float((os.environ if environment is None else environment)[START])

    def is_over(self, now: float) -> bool:
        """True for a time at which no test begins."""
        return now - self.start > 60 * self.minutes

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Begin with another file each day; tests of one file stay together."""
        files = {name: list(tests) for name, tests in groupby(items, key=lambda item: item.nodeid.split("::")[0])}
        day = int(self.start // SECONDS_OF_A_DAY)
        items[:] = [item for name in rotate_files(list(files), 37 * day) for item in files[name]]

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip what would begin too late."""
        if self.is_over(time.time()):
            pytest.skip(f"no time is left: the {self.minutes:g} minutes of --most-minutes are over")
