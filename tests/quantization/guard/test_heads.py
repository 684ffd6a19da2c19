"""tvmq.quantization.guard.heads: the order of choices, what is little work, and what stays."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest

import tvmq.quantization.guard.heads as search_of_heads
from tvmq.errors import RangeError
from tvmq.quantization.guard.bound import Figure, Guard
from tvmq.quantization.guard.heads import MOST_MODULES, ModuleTrials, raise_heads
from tvmq.quantization.guard.rehearsal import Precision

NAMES = ["a", "b", "c", "d", "e", "f", "g", "box", "score"]
LAYERS: dict[str, dict[str, Any]] = {
    name: {"op": "conv2d", "family": "conv2d", "precision": "int8", "macs": macs, "inputs": ["x"], "members": [name],
           "root": name, "why": "default", "layers": [name]}
    for name, macs in zip(NAMES, [100] * 7 + [10, 10], strict=True)
} | {"norm": {"op": "table", "family": "table", "precision": "int8", "macs": 0, "inputs": ["a"], "members": ["norm"],
              "root": "norm", "why": "default", "layers": ["norm"]}}  # fmt: skip


@pytest.fixture(autouse=True)
def by_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choices cost as many seconds as they have layers in float."""
    monkeypatch.setattr(search_of_heads, "float_seconds", lambda keys, *_: len(keys))
    part = lambda keys, *_: SimpleNamespace(keys=tuple(keys))  # noqa: E731
    monkeypatch.setattr(search_of_heads, "part_of", part)


def chain() -> Any:
    """The part of a View that is read: each product reads the one before it, the last two are outputs."""
    readers = {one: [other] for one, other in itertools.pairwise(NAMES)} | {"norm": []}
    readers["g"] = ["box", "score"]
    readers |= {"box": [], "score": []}
    bindings = [(SimpleNamespace(name=name), None) for name in NAMES]
    return SimpleNamespace(readers=readers, bindings=bindings, is_output=lambda name: name in ("box", "score"))


def searched(figure_of: Any, start: float = 12.0, **options: Any) -> tuple[Any, ModuleTrials]:
    """The search where a choice of layers in float has this figure."""
    trials = ModuleTrials(lambda precision: precision, lambda precision: Figure(figure_of(precision.floats)), **options)
    return raise_heads(LAYERS, chain(), Figure(start), trials, Guard()), trials


def test_little_work_is_spent_where_it_brings_most() -> None:
    """Several choices keep the bound; the best one stays, of nearly equal ones the cheapest."""
    figures = {frozenset({"norm"}): 20.5, frozenset({"box", "score"}): 23.9, frozenset({"norm", "box", "score"}): 24.2}
    search, trials = searched(lambda floats: figures.get(floats, 15.0))
    assert search.best.precision.floats == {"box", "score"} and search.best.figure.sqnr == 23.9
    assert trials.modules[search.best.precision] is search.best.precision
    assert [part.keys for part, _ in search.blamed] == [("box", "score")]
    assert [text for text, _ in search.steps][:2] == [
        "what lies between products in float", "the last 2 products in float",
    ]  # fmt: skip


def test_more_of_the_head_then_the_first_products_then_all() -> None:
    half = {"norm", "box", "score", "g", "f", "e"}
    search, _ = searched(lambda floats: 21.0 if floats >= half else 13.0)
    assert search.best.precision.floats == half
    search, _ = searched(lambda floats: 21.0 if floats >= {"norm", "a", "b"} and "g" not in floats else 13.0)
    assert search.best.precision.floats == {"norm", "a", "b"}
    search, trials = searched(lambda floats: 40.0 if len(floats) == len(LAYERS) else 13.0)
    assert search.best.precision.floats == set(LAYERS) and search.steps[-1][0] == "all in float"
    assert trials.tried <= MOST_MODULES


def test_what_helps_without_keeping_the_bound_stays_if_nothing_else_does() -> None:
    search, _ = searched(lambda floats: 16.0 if floats >= {"norm", "box"} else 13.0)
    assert search.best.figure.sqnr == 16.0
    search, _ = searched(lambda floats: 11.0)
    assert search.best.precision == Precision() and search.blamed == []


def test_what_cannot_be_made_is_left_out_and_late_searches_end() -> None:
    def make(precision: Precision) -> Any:
        if "norm" in precision.floats:
            raise RangeError("no range")
        return precision

    trials = ModuleTrials(make, lambda precision: Figure(22.0 if "box" in precision.floats else 13.0))
    search = raise_heads(LAYERS, chain(), Figure(12.0), trials, Guard())
    assert search.best.precision.floats == {"box", "score"}
    calls: list[int] = []
    search, trials = searched(lambda floats: 13.0, advance=lambda: calls.append(1), is_late=lambda: len(calls) >= 2)
    assert len(calls) == 2 == len(search.steps)
