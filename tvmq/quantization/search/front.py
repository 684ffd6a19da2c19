"""The answer of a search: the best model, and the Pareto front of quality, time and size with its recipes.

Tests: tests/quantization/search/test_workers.py
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tvmq.base.whole_file import write_file
from tvmq.options.config import DEFAULTS, QConfig
from tvmq.quantization.search.goal import Goal
from tvmq.quantization.search.space import Recipe


@dataclass(frozen=True)
class Point:
    """A model that was measured.

    recipe     what was chosen
    drop       how much less than float's the mean score is, in units of the metric; None where no metric judges
    low, high  ends of its interval of 95 per cent
    samples    that judged it
    sqnr       signal to error of the worst output, dB
    seconds    of a run of one sample, by forecast
    bytes      of all constants
    int8       share of the multiply-accumulates in 8 bits
    holds      it keeps the bound
    measured   seconds of a run on this machine; None where it was not measured
    """

    recipe: Recipe
    drop: float | None
    low: float | None
    high: float | None
    samples: int
    sqnr: float
    seconds: float
    bytes: int
    int8: float
    holds: bool
    measured: float | None = field(default=None, compare=False)

    @staticmethod
    def from_result(recipe: Recipe, result: Mapping[str, Any], goal: Goal) -> Point:
        """Point of a recipe from what a worker measured."""
        names = ("drop", "low", "high", "samples", "sqnr", "seconds", "bytes", "int8")
        return Point(recipe, **{name: result[name] for name in names}, holds=goal.holds(result))

    @property
    def loss(self) -> float:
        """The drop, or less decibels: smaller is better."""
        return -self.sqnr if self.drop is None else self.drop

    def order(self, figure: str) -> tuple[Any, ...]:
        """Points that keep the bound in the order of how good they are; no two are equal."""
        return getattr(self, figure), self.loss, self.recipe.to_json()


@dataclass(frozen=True)
class SearchResult:
    """Result of a search.

    goal      what it was asked for
    best      the point that keeps the bound and is fastest, or smallest; None where only float keeps it
    front     points of which none is better in everything, from the best quality on
    points    all that were measured
    floats    {"seconds", "bytes", "score", "measured"} of the float model; score and measured may be None
    names     {key of a layer: its name as it is printed}
    config    options around the recipes
    trials    results that were measured in this run; what the journal knew is not counted
    seconds   that this run took
    folder    where its files are; None where none were asked for
    """

    goal: Goal
    best: Point | None
    front: tuple[Point, ...]
    points: tuple[Point, ...]
    floats: Mapping[str, Any]
    names: Mapping[str, str] = field(repr=False)
    config: QConfig = field(repr=False)
    trials: int = 0
    seconds: float = 0.0
    folder: Path | None = None

    def recipe_config(self, point: Point) -> QConfig:
        """Options by which `tvmq.quantize(..., config=..., guard=None)` makes the model of a point."""
        config = point.recipe.config(self.config)
        return replace(config, rules=(*point.recipe.rules(config, self.names), *config.rules))

    def recipe_json(self, point: Point) -> str:
        """Configuration of a point as a file for `tvmq quantize --config`."""
        return recipe_json(self.recipe_config(point))

    def to_dict(self) -> dict[str, Any]:
        """Dictionary for JSON, without what differs from run to run."""
        return {
            "goal": asdict(self.goal),
            "float": {name: self.floats.get(name) for name in ("seconds", "bytes", "score")},
            "best": None if self.best is None else self._name(self.best),
            "points": [self._facts(point) for point in self.front],
        }

    def _name(self, point: Point) -> str:
        return f"point-{self.front.index(point) + 1}"

    def _facts(self, point: Point) -> dict[str, Any]:
        facts = {
            name: getattr(point, name)
            for name in ("drop", "low", "high", "samples", "sqnr", "seconds", "bytes", "int8", "holds")
        }
        finetuned = {"finetuned": point.recipe.finetuned} if point.recipe.finetuned else {}
        return {"name": self._name(point), **facts, **finetuned, "recipe": json.loads(self.recipe_json(point))}

    def save(self, folder: Path) -> None:
        """front.json, front.svg and one point-N.json for each point of the front; old ones go.

        raises  OutputError where they cannot be written
        """
        from tvmq.quantization.search.picture import draw_front  # pictures are made where they are asked for

        write_text(folder / "front.json", json.dumps(self.to_dict(), indent=1) + "\n")
        write_text(folder / "front.svg", draw_front(self.to_dict()))
        for point in self.front:
            write_text(folder / f"{self._name(point)}.json", self.recipe_json(point))
        for old in folder.glob("point-*.json"):
            if old.stem not in {self._name(point) for point in self.front}:
                old.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a file; it is there whole or not at all.

    raises  OutputError
    """
    write_file(path, text.encode(), "search")


def recipe_json(config: QConfig) -> str:
    """The options that differ from the defaults."""
    defaults = DEFAULTS.to_dict()
    changes = {name: value for name, value in config.to_dict().items() if value != defaults[name]}
    return json.dumps(changes, indent=1) + "\n"


def pareto_front(points: Iterable[Point]) -> tuple[Point, ...]:
    """Points of which no other one is at least as good in loss, seconds and bytes; of equal ones the first.

    >>> one = Point(Recipe(), 0.1, None, None, 9, 30.0, 1e-3, 100, 1.0, True)
    >>> worse = replace(one, recipe=Recipe((("a", "float"),)), seconds=2e-3)
    >>> pareto_front([worse, one]) == (one,)
    True
    """
    ordered = sorted(points, key=lambda point: (point.loss, point.seconds, point.bytes, point.recipe.to_json()))
    front: list[Point] = []
    for point in ordered:
        if not any(_is_as_good(other, point) for other in front):
            front.append(point)
    return tuple(front)


def _is_as_good(one: Point, other: Point) -> bool:
    return one.loss <= other.loss and one.seconds <= other.seconds and one.bytes <= other.bytes


def best_of(points: Sequence[Point], goal: Goal) -> Point | None:
    """The best one that keeps the bound."""
    return min((point for point in points if point.holds), key=lambda point: point.order(goal.figure), default=None)
