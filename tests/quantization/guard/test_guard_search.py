"""The search of the guard for the precision of each layer: regions, steps, trials."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import pytest
from tvm import relax

from tvmq.quantization.guard.bound import Figure, Guard
from tvmq.quantization.guard.raising import CODES_AT_RUN_TIME, Search, _give_last_products_back, _steps, raise_precision
from tvmq.quantization.guard.regions import kinds, regions
from tvmq.quantization.guard.rehearsal import Precision
from tvmq.quantization.guard.trials import Trials


def _layer(key: str, op: str, inputs: list[str], macs: int = 0) -> dict[str, Any]:
    return {
        "op": op, "family": op, "precision": "int8", "macs": macs, "members": [key], "inputs": inputs, "layers": [key],
        "root": key,
    }  # fmt: skip


def test_regions_end_at_products_and_streams_and_kinds_join_them():
    names = ["multiply", "average", "conv2d", "multiply", "average", "add"]
    inputs = [["x"], ["l0"], ["l1"], ["l2"], ["l3"], ["l4", "l1"]]
    layers = {f"l{i}": _layer(f"l{i}", op, inputs[i], 9 * (op == "conv2d")) for i, op in enumerate(names)}
    assert regions(layers) == [["l0", "l1"], ["l3", "l4"], ["l5"]]
    found = kinds(layers, _view(layers))
    assert sorted(part.keys for part in found) == [("l0", "l1", "l3", "l4"), ("l5",)]
    assert found[0].seconds >= found[1].seconds > 0


def _view(layers: dict[str, Any], size: int = 64) -> Any:
    """The part of a View that forecasts read: every tensor has `size` numbers, every layer is read."""
    ty = SimpleNamespace(ty=relax.TensorType((size,), "float32"))
    names = [*layers, "x"]
    return SimpleNamespace(value={}, var=dict.fromkeys(names, ty), readers=dict.fromkeys(names, ["result"]))


def test_steps_raise_precision_until_all_is_float():
    layers = {name: _layer(name, "dense", ["x"], macs=10**6) for name in ("a", "b", "c")}
    layers["norm"] = _layer("norm", "multiply", ["a"])
    found = dict(_steps(["norm"], ["a", "b", "c"], ["b"], layers, _view(layers)))
    assert list(found) == [
        "only products in 8 bits", CODES_AT_RUN_TIME, "the first product in float too",
        "the first 2 products in float too", "all in float",
    ]  # fmt: skip
    assert found["all in float"] == Precision(frozenset(layers))
    assert found[CODES_AT_RUN_TIME] == Precision(frozenset(["norm"]), frozenset(["b"]))
    dear = dict(_steps(["norm"], ["a", "b", "c"], ["b"], layers, _view(layers, size=10**6)))
    assert list(dear).index(CODES_AT_RUN_TIME) > 1  # conversions of much cost more than a product in float
    assert list(dict(_steps([], ["a"], [], layers, _view(layers)))) == ["all in float"]


def test_one_trial_too_many_is_none_and_equal_ones_are_measured_once():
    class Rehearsal:
        def effective_precision(self, precision: Precision) -> Precision:
            return Precision(precision.floats - {"reshape"})

        def figure(self, precision: Precision, least: float = -math.inf) -> Figure:
            return Figure(float(len(precision.floats)))

    trials = Trials(Rehearsal(), most=1)  # type: ignore[arg-type]
    for names in (["a"], ["a", "reshape"]):
        trial = trials.attempt(Precision(frozenset(names)))
        assert trial is not None and trial.figure == Figure(1.0)
    assert trials.tried == 1 and trials.is_over
    assert trials.attempt(Precision(frozenset(["b"]))) is None


def test_the_last_of_the_first_products_go_back_by_halves():
    class Rehearsal:
        def effective_precision(self, precision: Precision) -> Precision:
            return precision

        def figure(self, precision: Precision, least: float = -math.inf) -> Figure:
            return Figure(40.0 if precision.floats.issuperset(("lv0", "lv1", "lv2", "lv3", "lv4")) else 12.0)

    layers = {f"lv{i}": {"precision": "int8", "macs": 10} for i in range(9)}
    trials = Trials(Rehearsal())  # type: ignore[arg-type]
    before, eight = (trials.attempt(Precision(frozenset(list(layers)[:count]))) for count in (0, 8))
    search = Search(layers, before, eight)
    _give_last_products_back(search, trials, Guard())
    assert sorted(search.best.precision.floats) == ["lv0", "lv1", "lv2", "lv3", "lv4"]
    assert [text for text, _ in search.steps] == [
        "the last 2 of these products back to 8 bits",
        "the last 1 of these products back to 8 bits",
    ]


@pytest.mark.parametrize("needed, floats, steps, tried", [
    (99, "", ["only products in 8 bits", "the first 4 products in float too"], 3),  # and the norm back to 8 bits
    (1, "a", ["only products in 8 bits", "the first 4 products in float too",
              "the last 2 of these products back to 8 bits", "the last 1 of these products back to 8 bits"], 5),
])  # fmt: skip
def test_first_products_in_float_beyond_the_bound(needed: int, floats: str, steps: list[str], tried: int):
    """Products with little work become float together; those that are not needed become integers again."""

    class Rehearsal:
        dynamic = ()
        view = None

        def effective_precision(self, precision: Precision) -> Precision:
            return precision

        def figure(self, precision: Precision, least: float = -math.inf) -> Figure:
            if "norm" not in precision.floats:
                return Figure(5.0)
            return Figure(40.0 if precision.floats.issuperset("abcdefghijklmnopqrst"[:needed]) else 22.0)

    layers = {name: _layer(name, "dense", ["x"], macs=10) for name in "abcdefghijklmnopqrst"}
    layers["norm"] = _layer("norm", "multiply", ["a"])
    trials = Trials(Rehearsal())  # type: ignore[arg-type]
    trials.rehearsal.view = _view(layers)
    search = raise_precision(layers, Figure(3.0), trials, Guard())
    assert search.best.precision.floats == {"norm", *floats}
    assert [text for text, _ in search.steps][: len(steps)] == steps
    assert trials.tried == tried


def _chain(names: list[str]) -> Any:
    """The part of a View that the search reads: each layer reads the one before it, the last two are outputs."""
    view = _view(dict.fromkeys([*names, "norm"]))
    view.readers |= {one: [other] for one, other in itertools.pairwise(names)}
    view.readers[names[-3]] = names[-2:]
    view.readers |= dict.fromkeys(names[-2:], [])
    view.bindings = [(SimpleNamespace(name=name), None) for name in names]
    view.is_output = lambda name: name in names[-2:]
    return view


def test_heads_are_tried_before_everything_is_float():
    names = ["a", "b", "c", "d", "e", "box", "score"]
    layers = {name: _layer(name, "dense", ["x"], macs=10**9) for name in names}
    layers["norm"] = _layer("norm", "multiply", ["a"])

    class Rehearsal:
        dynamic = ()
        view = _chain(names)

        def effective_precision(self, precision: Precision) -> Precision:
            return precision

        def figure(self, precision: Precision, least: float = -math.inf) -> Figure:
            return Figure(32.0 if precision.floats.issuperset(("norm", "box", "score")) else 12.0)

    trials = Trials(Rehearsal())  # type: ignore[arg-type]
    search = raise_precision(layers, Figure(5.0), trials, Guard())
    assert [text for text, _ in search.steps] == [
        "only products in 8 bits", "the first product in float too", "the first 2 products in float too",
        "the first 4 products in float too", "the last 2 products in float too",
    ]  # fmt: skip
    assert search.best.precision.floats == {"norm", "box", "score"}
