"""Walks over graphs deeper than Python's stack, which visit each variable once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator

import pytest

from tvmq.graph.walk import reachable, resolve_each

DEEP = 50_000


@pytest.mark.slow
def test_a_chain_deeper_than_the_stack() -> None:
    def depth(name: str) -> Generator[str, int, int]:
        return 0 if name == "0" else 1 + (yield str(int(name) - 1))

    assert resolve_each(str(DEEP), depth) == DEEP


def test_each_variable_is_asked_once() -> None:
    asked: Counter[str] = Counter()

    def paths(name: str) -> Generator[str, int, int]:
        asked[name] += 1
        if name == "0":
            return 1
        below = str(int(name) - 1)
        return (yield below) + (yield below)

    known: dict[str, int] = {}
    assert resolve_each("100", paths, known) == 2**100  # ways through a fan
    assert resolve_each("50", paths, known) == 2**50
    assert set(asked.values()) == {1}
    assert len(asked) == 101


def test_reached_is_in_order_and_deep() -> None:
    assert reachable(["a"], {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}.__getitem__) == ["a", "b", "d", "c"]
    assert len(reachable(["0"], lambda name: [str(int(name) + 1)] if int(name) < DEEP else [])) == DEEP + 1
