"""Parts of the search: sequential test, proposals, journal, space, scores, picture."""

from __future__ import annotations

import itertools
import math
import re
import sqlite3
from concurrent.futures import BrokenExecutor, Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmq.errors import ArtifactError, ConfigError, DataError, OutputError
from tvmq.options.config import QConfig
from tvmq.quantization.search.front import Point, SearchResult, best_of, pareto_front
from tvmq.quantization.search.goal import Goal
from tvmq.quantization.search.journal import Journal
from tvmq.quantization.search.picture import draw_front
from tvmq.quantization.search.propose import LPLayer, propose
from tvmq.quantization.search.scores import load_metric, mse_scores, score_samples, top5_scores
from tvmq.quantization.search.sequential import is_decided, looks, measure_drop
from tvmq.quantization.search.space import Recipe, SearchSpace, rule_of
from tvmq.quantization.search.trials import Task
from tvmq.quantization.search.workers import Workers

# the paired sequential test


@pytest.mark.parametrize("drop", [0.0, 0.025, 0.2])
def test_early_decisions_agree_with_late_ones(drop):
    """For 200 models each, early decisions are nearly always those after all samples."""
    random = np.random.default_rng(7)
    wrong = early = 0
    for _ in range(200):
        floats = (random.random(1000) < 0.8).astype(float)
        scores = np.where(random.random(1000) < drop, 0.0, floats)
        at = next(count for count in looks(1000) if is_decided(floats, scores[:count], 0.02))
        early += at < 1000
        sides = [measure_drop(floats, scores[:count]).mean <= 0.02 for count in (at, 1000)]
        wrong += sides[0] != sides[1]
    assert wrong <= 4
    assert early == 200 or drop == 0.025


def test_a_few_equal_samples_prove_nothing():
    floats = np.ones(4000)
    assert not is_decided(floats, floats[:64], 0.003)
    assert measure_drop(floats, floats[:64]).high > 0.01


def test_a_metric_of_one_score_has_no_interval():
    drop = measure_drop(np.array([0.9]), np.array([0.8]))
    assert drop.low == drop.mean == drop.high == pytest.approx(0.1)
    assert is_decided(np.array([0.9]), np.array([0.8]), 0.2)


# proposals


def layers_of(costs: list[list[float]], errors: list[list[float]]) -> list[LPLayer]:
    names = ("int8", "minmax", "float")
    return [
        LPLayer(str(i), (str(i),), dict(zip(names, cost, strict=True)), dict(zip(names, error, strict=True)), ())
        for i, (cost, error) in enumerate(zip(costs, errors, strict=True))
    ]


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.2, 3.0))
def test_a_proposal_is_the_cheapest_of_all_choices(seed, budget):
    random = np.random.default_rng(seed)
    costs, errors = random.random((4, 3)).tolist(), random.random((4, 3)).tolist()
    found = propose(layers_of(costs, errors), budget)
    names = ("int8", "minmax", "float")
    best = min(
        (
            sum(costs[i][o] for i, o in enumerate(choice))
            for choice in itertools.product(range(3), repeat=4)
            if sum(errors[i][o] for i, o in enumerate(choice)) <= budget
        ),
        default=None,
    )
    if best is None:
        assert found is None
    else:
        assert found is not None
        assert sum(costs[int(i)][names.index(o)] for i, o in found.items()) == pytest.approx(best, rel=1e-4)


@pytest.mark.slow
def test_conversions_keep_neighbours_together():
    """The middle layer alone would be cheaper in float, but its values would have to be converted twice."""

    def layer(name: str, cost: float, read: str | None) -> LPLayer:
        return LPLayer(name, (name,), {"int8": cost, "float": 1.0}, {"int8": 0.1}, ((read, 0.3),))

    chain = [layer("a", 0.5, None), layer("b", 1.2, "a"), layer("c", 0.5, "b")]
    assert propose(chain, math.inf) == {"a": "int8", "b": "int8", "c": "int8"}
    assert propose(chain, 0.25) == {"a": "float", "b": "float", "c": "int8"}  # nor is one of them read in codes


def test_no_choice_is_proposed_twice():
    layers = layers_of([[1.0, 2.0, 3.0]], [[0.1, 0.1, 0.0]])
    known: list[dict[str, str]] = []
    while (choice := propose(layers, 1.0, known)) is not None:
        assert choice not in known
        known.append(choice)
    assert [choice["0"] for choice in known] == ["int8", "minmax", "float"]


def test_without_the_solver_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy.optimize", None)
    with pytest.raises(ConfigError, match=re.escape("pip install 'tvmq[search]'")):
        propose(layers_of([[1.0, 2.0, 3.0]], [[0.0, 0.0, 0.0]]), 1.0)


# the journal


def test_journals_merge(tmp_path):
    with Journal(tmp_path / "a") as one, Journal(tmp_path / "b") as other:
        one.add({"x": {"noise": 0.1}, "both": {"noise": 1e-300}})
        other.add({"y": {"noise": None}, "both": {"noise": 1e-300}})
        assert one.merge(tmp_path / "b") == 1 and len(one) == 3
        assert one.get("y") == {"noise": None} and one.get("both") == {"noise": 1e-300} and one.get("z") is None


def test_journals_that_disagree_do_not_merge(tmp_path):
    with Journal(tmp_path / "a") as one, Journal(tmp_path / "b") as other:
        one.add({"x": {"noise": 0.1}})
        other.add({"w": {"noise": 0.3}, "x": {"noise": 0.2}})
        with pytest.raises(ArtifactError, match="two results for x"):
            one.merge(tmp_path / "b")
        assert len(one) == 1  # all or nothing
    with pytest.raises(ArtifactError, match="there is no journal"), Journal(None) as one:
        one.merge(tmp_path / "absent")


def test_a_journal_that_cannot_be_written_says_so(tmp_path):
    with pytest.raises(OutputError, match="cannot be opened"):
        Journal(tmp_path / "no" / "folder")
    with Journal(tmp_path / "a") as one:
        one._rows.execute("PRAGMA query_only = ON")
        with pytest.raises(OutputError, match="cannot be written"):
            one.add({"x": {}})


def test_a_damaged_journal_is_refused(tmp_path):
    with Journal(tmp_path / "a") as one:
        one.add({str(number): {"noise": number} for number in range(500)})
    content = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(b"\0" * 100 + content[100:])
    with pytest.raises(ArtifactError, match="is no journal"):
        Journal(tmp_path / "a")
    assert sqlite3.sqlite_version  # what says so


# space, recipes, scores


def test_a_recipe_survives_its_text():
    recipe = Recipe.from_choice(
        {"b": "float", "a": "weights4", "c": "int8"}, {"scheme": "symmetric", "dtype_input": "int8"}
    )
    assert Recipe.from_json(recipe.to_json()) == recipe
    assert [rule.match for rule in recipe.rules(QConfig(), {"a": "/head/Gemm"})] == ["/head/Gemm", "b"]
    assert recipe.config(QConfig()).scheme == "symmetric"


def test_weights_of_4_bits_have_a_scale_a_channel_where_the_options_do():
    assert rule_of("a", "weights4", QConfig()).weights.per_channel
    assert not rule_of("a", "weights4", QConfig(per_channel=False)).weights.per_channel


def test_a_space_of_unknown_options_is_refused():
    with pytest.raises(ConfigError, match="no option 'flaot' of a layer; did you mean 'float'"):
        SearchSpace(options=("flaot",))
    with pytest.raises(ConfigError, match="no option 'int7' of a layer"):
        SearchSpace(layers={"*": ["int7"]})
    with pytest.raises(ConfigError, match="names no options of the network"):
        SearchSpace(networks=())


def test_scores_of_samples():
    outputs = np.eye(8, dtype=np.float32)[[0, 1, 7]]
    assert top5_scores(outputs, np.array([0, 4, 6])).tolist() == [1.0, 1.0, 0.0]
    assert mse_scores(np.float32([[1, 2], [3, 4]]), np.float32([[1, 2], [3, 6]])).tolist() == [0.0, -2.0]
    assert score_samples(lambda y, _: len(y), [outputs], None).tolist() == [3.0]
    assert score_samples(lambda y, _: len(y), [outputs, outputs], None).tolist() == [2.0]
    assert load_metric("numpy:mean") is np.mean
    with pytest.raises(ConfigError, match="metric 'top7' is none of top1, top5, mse, map50, map"):
        load_metric("top7")
    with pytest.raises(DataError, match=r"array of shape \(2, 2\) for 3 samples"):
        score_samples(lambda *_: np.zeros((2, 2)), [outputs], None)
    with pytest.raises(DataError, match="not finite"):
        score_samples(lambda *_: float("nan"), [outputs], None)


# the answer


def point(loss: float, seconds: float, size: int, **changes: Any) -> Point:
    recipe = Recipe(((f"{loss} {seconds} {size}", "float"),))
    return replace(Point(recipe, loss, loss, loss, 9, 30.0, seconds, size, 1.0, loss <= 0.1), **changes)


def test_the_front_and_the_best():
    points = [point(0.0, 4.0, 9), point(0.05, 2.0, 9), point(0.06, 3.0, 9), point(0.3, 1.0, 4), point(0.0, 5.0, 9)]
    assert pareto_front(points) == (points[0], points[1], points[3])
    assert best_of(points, Goal(max_drop=0.1)) is points[1]
    assert best_of([points[3]], Goal("size", max_drop=0.1)) is None


@pytest.mark.parametrize("goal", [Goal(max_drop=0.1), Goal("size", max_drop=0.1), Goal(sqnr=25.0)])
def test_the_picture_shows_each_point(goal):
    points = tuple(
        point(0.0, 4e-4, 9000, sqnr=40.0 - n, drop=None if goal.max_drop is None else n / 20) for n in range(4)
    )
    result = SearchResult(goal, points[0], points, points, {"seconds": 1e-3, "bytes": 4e6, "score": 0.9}, {}, QConfig())
    text = draw_front(result.to_dict())
    assert text.count("<circle") == 5 and text.count('class="best"') == 1 and "float" in text
    assert all(0 <= float(place) <= 640 for place in re.findall(r'cx="([\d.-]+)"', text))


def test_the_picture_of_nothing():
    result = SearchResult(Goal(), None, (), (), {"seconds": 1e-3, "bytes": 4_000_000, "score": None}, {}, QConfig())
    assert draw_front(result.to_dict()).count("<circle") == 1  # float


# workers


class FaultyExecutor:
    """Runs tasks at once; those named `deadly` take their worker along."""

    def __init__(self, deadly: set[str]) -> None:
        self.deadly, self.ran = deadly, []

    def submit(self, function: Any, problem: Any, options: Any, task: Task) -> Future:
        future: Future = Future()
        self.ran.append(task.kind)
        if task.kind in self.deadly:
            future.set_exception(BrokenExecutor("a worker died"))
        else:
            future.set_result({task.kind: {"noise": 1.0}})
        return future


def test_a_worker_that_dies_costs_its_trial_only():
    executor = FaultyExecutor({"b"})
    runner: Any = type("Runner", (), {"problem": SimpleNamespace(statistics=None), "needs_statistics": False})()
    with Workers(runner, ("int8",), executor=executor) as workers:  # type: ignore[arg-type]
        results = list(workers.results([Task(kind, (), ((),)) for kind in "abc"]))
    assert sorted(key for result in results for key in result) == ["a", "c"]
    assert results.count({}) == 1 and executor.ran.count("b") == 3


def test_other_errors_of_a_worker_are_told():
    class Failing(FaultyExecutor):
        def submit(self, *_: Any) -> Future:
            future: Future = Future()
            future.set_exception(DataError("data: no"))
            return future

    runner: Any = type("Runner", (), {"problem": SimpleNamespace(statistics=None), "needs_statistics": False})()
    with Workers(runner, (), executor=Failing(set())) as workers, pytest.raises(DataError):  # type: ignore[arg-type]
        list(workers.results([Task("a", (), ((),))]))
