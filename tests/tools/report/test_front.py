"""Fronts of searches as files: any value in any place is drawn or refused in one sentence."""

from __future__ import annotations

import copy
import json
import xml.dom.minidom
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tvmq.errors import DataError
from tvmq.tools.report.front import read_front

POINT = {"name": "a", "drop": 0.1, "low": 0.0, "high": 0.2, "sqnr": 30.0, "int8": 0.5, "holds": True, "seconds": 1e-3,
         "bytes": 5, "recipe": {"a": 1}}  # fmt: skip
FRONT: dict[str, Any] = {"points": [POINT, {**POINT, "name": "b", "seconds": 2e-3}], "best": "a",
                         "goal": {"minimize": "size", "max_drop": 0.1, "sqnr": None},
                         "float": {"seconds": 1, "bytes": 2, "score": 0}}  # fmt: skip
VALUES = (None, 0, -1, 1e308, 1e-320, 10**400, "x", "</svg>\ud800", [], {}, [1], {"a": 1}, True, float("nan"), ...)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield from [path] if path else []
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


@pytest.mark.parametrize("by_scores", [True, False])
def test_any_value_in_any_place(tmp_path: Path, by_scores: bool) -> None:
    front = copy.deepcopy(FRONT)
    if not by_scores:
        front["goal"] = {"minimize": "latency", "max_drop": None, "sqnr": 20.0}
        front["points"][1].update(drop=None, low=None, high=None)
    drawn = refused = 0
    for path in places(front):
        for value in VALUES:
            changed = copy.deepcopy(front)
            holder = changed
            for key in path[:-1]:
                holder = holder[key]
            if value is ...:
                del holder[path[-1]]
            else:
                holder[path[-1]] = value
            (tmp_path / "front.json").write_text(json.dumps(changed))
            try:
                xml.dom.minidom.parseString(read_front(tmp_path / "front.json")["svg"].encode())
                drawn += 1
            except DataError as error:
                assert str(error).startswith("report: ") and "\n" not in str(error)
                refused += 1
    assert drawn > 100 and refused > 100


def test_no_json(tmp_path: Path) -> None:
    for content in (b"", b"[" * 100_000, b"\xff\xfe\x00", b"5", b"null"):
        (tmp_path / "front.json").write_bytes(content)
        with pytest.raises(DataError, match=r"^report: .* give the front\.json of a search$"):
            read_front(tmp_path / "front.json")
