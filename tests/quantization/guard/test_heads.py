"""tvmq.quantization.guard.heads: the order of choices, what is little work, and what stays."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest
from tvm import relax

import tvmq.quantization.guard.heads as search_of_heads
from tvmq.errors import RangeError
from tvmq.quantization.guard.bound import Figure, Guard
from tvmq.quantization.guard.heads import (
    MOST_MODULES,
    Counter,
    ModuleTrials,
    begin_search,
    depthwise_choices,
    larger_choices,
    little_choices,
    raise_depthwise,
    raise_little,
    raise_more,
)
from tvmq.quantization.guard.rehearsal import Precision

NAMES = ["a", "b", "c", "d", "e", "f", "g", "box", "score"]
LAYERS: dict[str, dict[str, Any]] = {
    name: {"op": "conv2d", "family": "conv2d", "precision": "int8", "macs": macs, "inputs": ["x"], "members": [name],
           "root": name, "why": "default", "layers": [name]}
    for name, macs in zip(NAMES, [100] * 7 + [10, 10], strict=True)
} | {"norm": {"op": "table", "family": "table", "precision": "int8", "macs": 0, "inputs": ["a"], "members": ["norm"],
              "root": "norm", "why": "default", "layers": ["norm"]}}  # fmt: skip


@pytest.fixture(autouse=True)
def parts_without_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts without a forecast."""
    part = lambda keys, *_: SimpleNamespace(keys=tuple(keys))  # noqa: E731
    monkeypatch.setattr(search_of_heads, "part_of", part)


def convolution(groups: int) -> relax.Call:
    """A convolution of eight channels in groups."""
    x, weight = (relax.Var("", relax.TensorType(size, "float32")) for size in ((1, 8, 4, 4), (8, 8 // groups, 3, 3)))
    return relax.op.nn.conv2d(x, weight, groups=groups)


def chain(filtered: str = "") -> Any:
    """The part of a View that is read: each product reads the one before it, the last two are outputs.

    filtered  products that are depthwise convolutions; the first one has groups of several channels
    """
    readers = {one: [other] for one, other in itertools.pairwise(NAMES)} | {"norm": []}
    readers["g"] = ["box", "score"]
    readers |= {"box": [], "score": []}
    bindings = [(SimpleNamespace(name=name), None) for name in NAMES]
    value = {name: convolution(8 if name in filtered else 2 if name == "a" else 1) for name in NAMES}
    return SimpleNamespace(
        readers=readers, bindings=bindings, value=value, is_output=lambda name: name in ("box", "score")
    )


def searched(figure_of: Any, start: float = 12.0, **options: Any) -> tuple[Any, ModuleTrials]:
    """The search where a choice of layers in float has this figure."""
    counter = Counter(options.pop("advance", None))
    trials = ModuleTrials(
        lambda precision: precision, lambda precision: Figure(figure_of(precision.floats)), counter, **options
    )
    return raise_all(trials, start), trials


def raise_all(trials: ModuleTrials, start: float = 12.0, layers: Any = LAYERS) -> Any:
    """The whole search from a figure."""
    search = begin_search(layers, Figure(start))
    raise_little(search, chain(), trials, Guard())
    raise_more(search, chain(), trials, Guard())
    return search


def test_little_work_is_spent_where_it_brings_most() -> None:
    """The best of a few choices, without what lies between products where that is as good."""
    ends = {"norm", "box", "score"}
    search, trials = searched(lambda floats: {True: 24.0, False: 15.0}[floats >= ends - {"norm"}])
    assert search.best.precision.floats == {"box", "score"} and search.best.figure.sqnr == 24.0
    assert trials.modules[search.best.precision] is search.best.precision
    assert [part.keys for part, _ in search.blamed] == [("box", "score")]
    assert [text for text, _ in search.steps] == [
        "2 of the last products in float", "1 of the first products in float", "what lies between products back to 8 bits",
    ]  # fmt: skip
    search, _ = searched(lambda floats: 24.0 if floats >= ends else 22.0 if floats >= ends - {"norm"} else 15.0)
    assert search.best.precision.floats == ends and len(search.blamed) == 2
    search, _ = searched(lambda floats: 26.0 if floats >= {"a"} else 22.0)
    assert search.best.precision.floats == {"a"}


def test_last_products_of_hardly_any_work_are_float_in_every_choice() -> None:
    """And only then: products at the end that are work are a choice of their own."""
    light = {name: {**entry, "macs": 1} if name in ("box", "score") else entry for name, entry in LAYERS.items()}
    choices = dict(little_choices(light, chain()))
    assert list(map(set, choices.values())) == [{"box", "score"}, {"a", "box", "score"}, {"g", "box", "score"}]
    assert set(dict(little_choices(LAYERS, chain()))["1 of the first products in float"]) == {"a"}
    more = [set(keys) for _, keys in larger_choices(light, chain())]
    assert all(keys >= {"box", "score"} for keys in more)
    assert more[:3] == [{*"abg", "box", "score"}, {*"efg", "box", "score"}, {*"abc", "box", "score"}]


def test_no_other_choice_is_tried_where_one_exceeds_the_bound_clearly() -> None:
    search, _ = searched(lambda floats: 30.0)
    assert [text for text, _ in search.steps] == [
        "2 of the last products in float", "what lies between products back to 8 bits"
    ]  # fmt: skip
    assert search.best.precision.floats == {"box", "score"}


def test_a_quarter_of_the_work_before_half_of_it() -> None:
    layers = {name: {**entry, "macs": 50 if name in "gf" else entry["macs"]} for name, entry in LAYERS.items()}
    more = [set(keys) for _, keys in larger_choices(layers, chain())]
    ends = {"box", "score"}
    assert more[:5] == [set("fg") | ends, {"a"}, set("afg") | ends, set("efg") | ends, set("abc")]
    assert more[5] == set("abcfg") | ends and len(more) == 8


def test_the_best_choice_is_tried_first_again_and_alone_where_it_holds() -> None:
    """With channels of one size: the choices that were worse before need no second module."""
    trials = ModuleTrials(lambda precision: precision, lambda precision: Figure(22.0 if "a" in precision.floats else 14.0))
    search = begin_search(LAYERS, Figure(12.0))
    raise_little(search, chain(), trials, Guard(), Precision(frozenset({"norm", "a"})))
    assert [text for text, _ in search.steps] == [
        "1 of the first products in float", "what lies between products back to 8 bits"
    ]  # fmt: skip
    assert search.best.precision.floats == {"a"}
    search, worse = begin_search(LAYERS, Figure(12.0)), Precision(frozenset({"norm", "box", "score"}))
    raise_little(search, chain(), trials, Guard(), worse)
    assert search.steps[0] == ("2 of the last products in float", Figure(14.0)) and len(search.steps) == 3


def test_half_of_the_work_then_all() -> None:
    search, _ = searched(lambda floats: 21.0 if floats >= {"norm", "e"} else 13.0)
    assert search.best.precision.floats == {"norm", "box", "score", "g", "f", "e"}
    search, _ = searched(lambda floats: 21.0 if floats >= {"norm", "a", "b"} and "g" not in floats else 13.0)
    assert search.best.precision.floats == {"norm", "a", "b", "c"}
    search, trials = searched(lambda floats: 40.0 if len(floats) == len(LAYERS) else 13.0)
    assert search.best.precision.floats == set(LAYERS) and search.steps[-1][0] == "all in float"
    assert trials.counter.tried <= MOST_MODULES


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

    trials = ModuleTrials(make, lambda precision: Figure(22.0))
    search = raise_all(trials)
    assert search.best.precision == Precision() and search.steps == [] and trials.counter.tried > 3
    calls: list[Any] = []
    search, trials = searched(
        lambda floats: 13.0, advance=lambda *so_far: calls.append(so_far), is_late=lambda: len(calls) >= 2
    )
    assert calls == [(1, MOST_MODULES), (2, MOST_MODULES)] and len(search.steps) == 2


def light_filters() -> tuple[dict[str, dict[str, Any]], Any]:
    """Layers of which c and e are depthwise convolutions and hardly any work."""
    return {name: {**entry, "macs": 5} if name in "ce" else entry for name, entry in LAYERS.items()}, chain("ce")


def test_depthwise_convolutions_with_more_and_more_of_the_first_products() -> None:
    layers, view = light_filters()
    choices = list(depthwise_choices(layers, view))
    assert [text for text, _ in choices] == [
        "2 depthwise convolutions in float", "2 depthwise convolutions and 1 of the first products in float"
    ]  # fmt: skip
    assert [set(keys) for _, keys in choices] == [{"c", "e"}, {"a", "c", "e"}]
    assert list(depthwise_choices(layers, chain())) == []
    assert list(depthwise_choices(LAYERS, chain("ce"))) == []  # a quarter of the work


def test_depthwise_convolutions_stay_in_float_where_they_brought_most() -> None:
    """The first choice clear of the bound is taken; where none keeps it, larger ones keep the filters in float."""
    layers, view = light_filters()

    def searched_by(figures: dict[frozenset[str], float], start: float = 12.0) -> Any:
        trials = ModuleTrials(lambda precision: precision, lambda one: Figure(figures[one.floats - {"norm"}]))
        search = begin_search(layers, Figure(start))
        raise_depthwise(search, view, trials, Guard())
        return search

    alone, more = frozenset("ce"), frozenset("ace")
    assert searched_by({alone: 28.0}).best.precision.floats == alone | {"norm"}
    assert searched_by({alone: 26.0, more: 26.6}).best.precision.floats == more | {"norm"}
    assert searched_by({alone: 21.0, more: 21.6}).best.precision.floats == more | {"norm"}
    assert searched_by({alone: 21.0, more: 21.4}).best.precision.floats == alone | {"norm"}
    assert searched_by({alone: 19.0, more: 19.2}).best.precision.floats == more | {"norm"}
    assert searched_by({alone: 21.0, more: 19.0}).best.precision.floats == alone | {"norm"}
    assert searched_by({}, start=25.0).steps == []
    trials = ModuleTrials(
        lambda precision: precision,
        lambda precision: Figure(22.0 if precision.floats >= {"b", "c", "e"} else 13.0 + ("c" in precision.floats)),
    )
    search = begin_search(layers, Figure(12.0))
    raise_depthwise(search, view, trials, Guard())
    assert search.best.figure.sqnr == 14.0
    raise_more(search, view, trials, Guard())
    assert search.best.precision.floats >= {"norm", "b", "c", "e"} and search.best.figure.sqnr == 22.0
    assert "and all depthwise convolutions" in search.steps[-1][0]
