"""A run with --most-minutes skips what would begin later, and begins with another file each day."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.time_limit import SECONDS_OF_A_DAY, START, TimeLimit, begin_run


def limit(minutes: float, start: float) -> TimeLimit:
    environment: dict[str, str] = {}
    begin_run(environment, start)
    assert environment == {START: str(start)}
    return TimeLimit(minutes, environment)


def test_what_begins_later_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    late, item = limit(2, 1000.0), SimpleNamespace(nodeid="a.py::test")
    assert not late.is_over(1119.0) and late.is_over(1121.0)
    monkeypatch.setattr("time.time", lambda: 1119.0)
    late.pytest_runtest_setup(item)  # type: ignore[arg-type]
    monkeypatch.setattr("time.time", lambda: 1121.0)
    with pytest.raises(pytest.skip.Exception, match="the 2 minutes of --most-minutes are over"):
        late.pytest_runtest_setup(item)  # type: ignore[arg-type]


def test_another_file_is_first_each_day_and_no_test_is_lost() -> None:
    names = [f"{file}.py::test_{i}" for file in "abcde" for i in range(3)]
    orders = []
    for day in range(5):
        items: list[Any] = [SimpleNamespace(nodeid=name) for name in names]
        limit(1, day * SECONDS_OF_A_DAY + 5.0).pytest_collection_modifyitems(items)
        order = [item.nodeid for item in items]
        assert sorted(order) == names and all(order[i][0] == order[i + 2][0] for i in range(0, 15, 3))
        orders.append(order[0])
    assert len(set(orders)) == 5
