"""`tvmq.search`: rounds of proposals, each measured; what was measured corrects the next round.

    1  everything in 8 bits, for all options of the network; then the cheapest model there is, which is best if it holds
    2  the error of each layer by itself for each of its options
    3  proposals between an error that holds the bound and one that does not, AT_ONCE a round, until they are close
    4  with finetune=, the cheapest models that missed the bound, their integers trained

The rounds are the same for any number of workers, so the answer is the same.

Tests: tests/quantization/search/test_search.py
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import tvm

from tvmq.base.stage_progress import LOG
from tvmq.calibration.dataset import Dataset
from tvmq.codegen.compile.build import build
from tvmq.codegen.performance.machine import USUAL_CLOCK, machine_of
from tvmq.codegen.target.backend import backend_of, cpu_of
from tvmq.codegen.target.cpu import resolve_target
from tvmq.errors import ConfigError, DataError, OutputError
from tvmq.graph.symbolic import inputs_of
from tvmq.options.config import QConfig, current_qconfig
from tvmq.quantization.pipeline import Finetuning, prepare_model, refuse_state
from tvmq.quantization.search.finetuning import check_finetuning, check_repeated, worth_training
from tvmq.quantization.search.front import Point, SearchResult, best_of, pareto_front, recipe_json, write_text
from tvmq.quantization.search.goal import LATENCY, USUAL_SQNR, Goal
from tvmq.quantization.search.journal import Journal
from tvmq.quantization.search.layers import describe_layers, layer_names
from tvmq.quantization.search.problem import Problem, make_problem
from tvmq.quantization.search.propose import LPLayer, propose
from tvmq.quantization.search.scores import Named, load_metric
from tvmq.quantization.search.space import INT8, Recipe, SearchSpace
from tvmq.quantization.search.trials import Network, Result, Task, TrialRunner, one_sample
from tvmq.quantization.search.workers import Workers
from tvmq.runtime.executable import Executable
from tvmq.runtime.timing import time_by_turns

AT_ONCE = 4  # proposals of a round
ROUNDS = 6
ALIKE = 1.02  # times or sizes nearer than this factor: quality decides
CLOSE = 1.25  # errors nearer than this factor are one error
LEAST_NOISE = 1e-5  # 50 dB: more precision than that is float
CORRECTIONS = 4  # of a proposal whose layers' errors do not add up
TOLERANCE = 1.1  # how much more than its budget a rehearsal of a proposal may show
CHUNK = 24  # errors of single layers that one task measures, at most
JOURNAL = "journal.sqlite"


@dataclass(frozen=True)
class SearchProgress:
    """Progress of a search, reported after each result.

    stage    what is being measured
    done     tasks of this stage, of `total`
    best     the best point so far
    points   measured so far
    """

    stage: str
    done: int
    total: int
    best: Point | None
    points: int


def search(
    mod: tvm.IRModule,
    params: Mapping[str, np.ndarray] | None = None,
    dataset: Any = None,
    *,
    data: Any = None,
    labels: Any = None,
    metric: Named | None = None,
    max_drop: float | None = None,
    sqnr: float = USUAL_SQNR,
    minimize: str = LATENCY,
    space: SearchSpace | None = None,
    target: Any = None,
    config: QConfig | None = None,
    output: Path | str | None = None,
    rounds: int = ROUNDS,
    seconds: float | None = None,
    finetune: Finetuning | None = None,
    workers: int = 1,
    executor: Executor | None = None,
    shared: Callable[[Problem], Any] | None = None,
    advance: Callable[[SearchProgress], None] | None = None,
    measure: bool = True,
) -> SearchResult:
    """The fastest or smallest model within a bound: which layer gets which precision, and by which thresholds.

    mod, params  as `quantize` takes them
    dataset      calibration data, as there
    data         samples that judge; the calibration data by default, where no metric judges
    labels       of `data`, one for each sample, in their order
    metric       "top1", "top5", "mse", "map50" (docs/detectors.md), "module:function", or a function of (outputs,
                 labels); it gives a score for each sample, which ends trials early, or one for all; higher is better
    max_drop     how much less than float's the mean score may be, in its own units: 0.003 of top1 is 0.3 points
    sqnr         dB that the outputs must keep where no metric judges
    minimize     "latency": seconds of one sample by forecast; "size": bytes of the constants
    space        what may be chosen
    target       as `quantize` takes it; forecasts are for its CPU
    config       options that all models share; those of the qconfig around by default
    output       folder for journal.sqlite, best.tvmq, best.json, front.json, front.svg and the recipes; a search that
                 was cut off goes on from there. None: nothing is written
    rounds       of proposals, at most
    seconds      after which no other round begins; the answer then depends on the machine
    finetune     `tvmq.training.Distill(steps=...)`: at the end the integers of the cheapest models that missed the
                 bound learn the float model on the calibration data, and are judged as all others
    workers      processes of this machine; a script that asks for several needs `if __name__ == "__main__":`
    executor     any concurrent.futures.Executor instead
    shared       what represents the problem in the executor's tasks, such as Dask's client.scatter
    advance      called after each result
    measure      at the end, run float and the points of the front that keep the bound on this machine, interleaved;
                 files and choices do not depend on it
    raises       ConfigError for a bound, metric or option that is none, DataError for data that do not fit,
                 OutputError where the folder cannot be written, ArtifactError for a journal that is none

    >>> from tvmq.demo import load_demo
    >>> example = load_demo()
    >>> mod, params = tvmq.from_onnx(example.model)                                        # doctest: +SKIP
    >>> found = tvmq.search(mod, params, example.calibration, minimize="size", data=example.test[:200],
    ...                     labels=example.labels[:200], metric="top1", max_drop=0.01)      # doctest: +SKIP
    >>> found.best.bytes < found.floats["bytes"]                                           # doctest: +SKIP
    True
    """
    start = time.perf_counter()
    space = space or SearchSpace()
    problem = make_search_problem(
        mod, params, dataset, data=data, labels=labels, metric=metric, max_drop=max_drop, sqnr=sqnr, minimize=minimize,
        target=target, config=config, finetune=finetune,
    )  # fmt: skip
    folder = None if output is None else make_folder(Path(output))
    names = space.names(minimize)
    runner = TrialRunner(problem, names)
    deadline = None if seconds is None else start + seconds
    with (
        Journal(None if folder is None else folder / JOURNAL) as journal,
        Workers(runner, names, count=workers, executor=executor, share=shared) as crew,
    ):
        loop = _SearchLoop(runner, space, journal, crew, folder, advance, rounds, deadline)
        result = loop.run()
        result = measure_points(runner, result) if measure else result
        return replace(result, seconds=time.perf_counter() - start)


def make_search_problem(
    mod: tvm.IRModule,
    params: Mapping[str, np.ndarray] | None = None,
    dataset: Any = None,
    *,
    data: Any = None,
    labels: Any = None,
    metric: Named | None = None,
    max_drop: float | None = None,
    sqnr: float = USUAL_SQNR,
    minimize: str = LATENCY,
    target: Any = None,
    config: QConfig | None = None,
    finetune: Finetuning | None = None,
) -> Problem:
    """The problem that the trials of a search solve; arguments and errors as those of `search`."""
    goal = Goal(minimize, max_drop, sqnr)
    check_judge(goal, metric, data, labels)
    backend, cpu = backend_of(target), cpu_of(target)
    config = (config or current_qconfig()).for_backend(backend)
    finetune = check_finetuning(finetune, config)
    prepared, calibration = prepare_model(mod, params, dataset, config)
    refuse_state(prepared, "search")
    if calibration is None:
        raise DataError("search: dataset= is missing; ranges are chosen from calibration data, 100 to 500 samples")
    judged = calibration if data is None else Dataset(data, inputs_of(prepared))
    return make_problem(
        prepared, calibration, judged, labels, metric, goal, config, backend, cpu, machine_of(cpu, USUAL_CLOCK),
        finetune,
    )  # fmt: skip


def measure_points(runner: TrialRunner, result: SearchResult) -> SearchResult:
    """Measure a run of float and of the points that keep the bound, in seconds, where this CPU can run them."""
    cpu = runner.problem.cpu()
    if cpu.mcpu != resolve_target().mcpu or result.best is None:
        return result
    points = {str(index): point for index, point in enumerate(result.front) if point.holds}
    executables = {name: build(one_sample(runner.module(point.recipe)), target=cpu) for name, point in points.items()}
    executables["float"] = build(one_sample(runner.prepared), target=cpu)
    feed = {name: value[:1] if value.ndim else value for name, value in runner.problem.samples[0].items()}
    if not all(fits(exe, feed) for exe in executables.values()):
        return result  # the first sample has other sizes than those that forecasts are for
    seconds = time_by_turns({name: exe.prepare_run(feed) for name, exe in executables.items()})
    measured = {point: replace(point, measured=seconds[name]) for name, point in points.items()}
    return replace(
        result,
        best=measured.get(result.best, result.best),
        front=tuple(measured.get(point, point) for point in result.front),
        points=tuple(measured.get(point, point) for point in result.points),
        floats={**result.floats, "measured": seconds["float"]},
    )


def fits(exe: Executable, feed: Mapping[str, np.ndarray]) -> bool:
    """True if an executable takes arrays of these shapes."""
    return all(tuple(info.shape) == feed[info.name].shape for info in exe.input_info)


def check_judge(goal: Goal, metric: Named | None, data: Any, labels: Any) -> None:
    """ConfigError where bound, metric and data do not go together."""
    if (metric is None) != (goal.max_drop is None):
        argument = "metric" if metric is not None else "max_drop"
        raise ConfigError(f"search: metric= and max_drop= go together. Got {argument}= alone; give both, or neither")
    if metric is not None:
        load_metric(metric)
        if data is None or labels is None:
            raise ConfigError("search: metric= needs data= and labels= to be asked about, which chose no ranges")


def make_folder(folder: Path) -> Path:
    """The folder, made where there is none.

    raises  OutputError where it cannot be
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"search: the folder '{folder}' cannot be made ({error}); choose another one") from error
    return folder


@dataclass
class _SearchLoop:
    """State of a search: what was measured so far, and what is next."""

    runner: TrialRunner
    space: SearchSpace
    journal: Journal
    crew: Workers
    folder: Path | None
    advance: Callable[[SearchProgress], None] | None
    rounds: int
    deadline: float | None
    points: dict[Recipe, Point] = field(default_factory=dict)
    noises: dict[Recipe, float] = field(default_factory=dict)
    best: Point | None = None
    trials: int = 0

    @property
    def problem(self) -> Problem:
        return self.runner.problem

    @property
    def goal(self) -> Goal:
        return self.problem.goal

    def run(self) -> SearchResult:
        """Run all rounds."""
        networks = [tuple(sorted(network.items())) for network in self.space.networks]
        self._verify("all in 8 bits", [Recipe(network=network) for network in networks])
        network = self._best_network(networks)
        layers = describe_layers(self.runner, self.space, network)
        cheapest = Recipe.from_choice(propose(layers, math.inf) or {}, dict(network))
        self._verify("the cheapest", [cheapest])
        if cheapest in self.points and self.points[cheapest].holds:
            return self._finish()  # nothing can be better
        layers = self._with_errors(layers, network)
        self._measure_noise([Recipe(network=network), cheapest], layers)
        for number in range(1, self.rounds + 1):
            recipes = [] if self._is_late() else self._proposals(layers, network)
            if not recipes:
                break
            self._verify(f"round {number}", recipes)
        if self.problem.finetune is not None and not self._is_late():
            how = repr(self.problem.finetune)
            self._verify("finetuning", worth_training(self.points.values(), self.best, self.goal, how))
        return self._finish()

    def _best_network(self, networks: Sequence[Network]) -> Network:
        """The options of the network with which 8 bits hold and are cheapest, or else are nearest to float."""
        known = [point for network in networks if (point := self.points.get(Recipe(network=network))) is not None]
        if not known:
            raise ConfigError(f"search: the model cannot be quantized: {self._errors()}")
        holding = [point for point in known if point.holds] or known
        least = min(getattr(point, self.goal.figure) for point in holding)
        good = [point for point in holding if getattr(point, self.goal.figure) <= ALIKE * least]
        chosen = min(good, key=lambda point: (-point.sqnr, point.recipe.to_json()))
        return chosen.recipe.network

    def _errors(self) -> str:
        """Reasons for which the anchors failed."""
        keys = (
            name
            for network in self.space.networks
            for name in Task("verify", tuple(sorted(network.items())), ((),)).names()
        )
        results = (self.journal.get(self.problem.key_of(*name)) or {} for name in keys)
        return next((str(result["error"]) for result in results if "error" in result), "no worker survived it")

    def _with_errors(self, layers: Sequence[LPLayer], network: Network) -> list[LPLayer]:
        """Layers with the error that each of them makes by itself, for each option."""
        pairs = [(layer.key, option) for layer in layers for option in layer.errors]
        size = min(CHUNK, -(-len(pairs) // (2 * self.crew.count)))
        chunks = [pairs[start : start + size] for start in range(0, len(pairs), max(1, size))]
        tasks = [Task("errors", network, tuple((pair,) for pair in chunk)) for chunk in chunks]
        results = self._ask("errors of single layers", tasks)
        errors = {
            pair: _noise(results[self.problem.key_of(*name)])
            for chunk, task in zip(chunks, tasks, strict=True)
            for pair, name in zip(chunk, task.names(), strict=True)
            if self.problem.key_of(*name) in results
        }
        return [
            replace(layer, errors={option: errors.get((layer.key, option), math.inf) for option in layer.errors})
            for layer in layers
        ]

    def _proposals(self, layers: Sequence[LPLayer], network: Network) -> list[Recipe]:
        """Proposals for budgets between what holds and what does not; corrected where errors do not add up."""
        low, high = self._bracket()
        if high is None or high <= low * CLOSE:
            return []
        steps = [low * (high / low) ** ((index + 1) / (AT_ONCE + 1)) for index in range(AT_ONCE)]
        known = [self._all_options(layers, recipe) for recipe in self.points if recipe.network == network]
        scales, chosen = [1.0] * len(steps), [{}] * len(steps)  # type: list[float], list[dict[str, str]]
        open_steps = list(range(len(steps)))
        for _ in range(CORRECTIONS):
            for index in open_steps:
                chosen[index] = propose(layers, steps[index] / scales[index], known) or {}
            recipes = {index: Recipe.from_choice(chosen[index], dict(network)) for index in open_steps if chosen[index]}
            self._measure_noise(list(recipes.values()), layers)
            too_much = {
                index: self.noises[recipe] / steps[index]
                for index, recipe in recipes.items()
                if self.noises[recipe] > TOLERANCE * steps[index]
            }
            for index, factor in too_much.items():
                scales[index] *= min(factor, 1e3)
            open_steps = sorted(too_much)
            if not open_steps:
                break
        proposed = dict.fromkeys(Recipe.from_choice(choice, dict(network)) for choice in chosen if choice)
        return [recipe for recipe in proposed if recipe not in self.points]

    def _bracket(self) -> tuple[float, float | None]:
        """(largest error that holds the bound, smallest one beyond that does not, None where all hold)."""
        known = {recipe: self.noises[recipe] for recipe in self.points if recipe in self.noises}
        holding = [noise for recipe, noise in known.items() if self.points[recipe].holds]
        low = max(holding, default=LEAST_NOISE)
        failing = [noise for recipe, noise in known.items() if not self.points[recipe].holds and noise > low]
        return low, min(failing, default=None)

    def _all_options(self, layers: Sequence[LPLayer], recipe: Recipe) -> dict[str, str]:
        """{key: option} of all layers."""
        chosen = dict(recipe.layers)
        return {layer.key: chosen.get(layer.key, INT8) for layer in layers}

    def _measure_noise(self, recipes: Sequence[Recipe], layers: Sequence[LPLayer]) -> None:
        """Measure the noise of whole recipes by rehearsals."""
        new = [recipe for recipe in dict.fromkeys(recipes) if recipe not in self.noises]
        tasks = [Task("noise", r.network, (tuple(sorted(self._all_options(layers, r).items())),)) for r in new]
        results = self._ask("rehearsals", tasks)
        for recipe, task in zip(new, tasks, strict=True):
            self.noises[recipe] = _noise(results.get(self.problem.key_of(*next(task.names())), {}))

    def _verify(self, stage: str, recipes: Sequence[Recipe]) -> None:
        """Measure the integer modules of recipes."""
        tasks = {self._task(recipe): recipe for recipe in recipes}
        keys = {self.problem.key_of(*next(task.names())): recipe for task, recipe in tasks.items()}
        self._ask(stage, list(tasks), keys)

    def _task(self, recipe: Recipe) -> Task:
        if recipe.finetuned:
            return Task("finetune", recipe.network, (recipe.layers,), self.problem.training)
        return Task("verify", recipe.network, (recipe.layers,))

    def _ask(self, stage: str, tasks: Sequence[Task], keys: Mapping[str, Recipe] | None = None) -> dict[str, Result]:
        """{key: result} of all tasks; what the journal knows is not measured again."""
        results: dict[str, Result] = {}
        missing = []
        for task in tasks:
            known = {key: self.journal.get(key) for key in map(lambda name: self.problem.key_of(*name), task.names())}
            self._take({key: result for key, result in known.items() if result is not None}, results, keys)
            unknown = [choice for choice, result in zip(task.choices, known.values(), strict=True) if result is None]
            if unknown:
                missing.append(replace(task, choices=tuple(unknown)))
        for done, new in enumerate(self.crew.results(missing), 1):
            self.journal.add(new)
            self.trials += len(new)
            self._take(new, results, keys)
            LOG.info("search, %s: %d of %d results, best %s", stage, done, len(missing), self.best)
            if self.advance is not None:
                self.advance(SearchProgress(stage, done, len(missing), self.best, len(self.points)))
        return results

    def _take(self, new: Mapping[str, Result], results: dict[str, Result], keys: Mapping[str, Recipe] | None) -> None:
        """Turn results of recipes into points, and the best of them into a file."""
        results.update(new)
        for key, result in new.items() if keys is not None else ():
            recipe = keys[key]  # type: ignore[index]
            if "error" in result:
                continue
            self.points[recipe] = Point.from_result(recipe, result, self.goal)
            best = best_of(list(self.points.values()), self.goal)
            if best is not self.best:
                self.best = best
                self._save_best()

    def _save_best(self) -> None:
        if self.folder is None or self.best is None:
            return
        names = layer_names(self.runner, self.best.recipe.network)
        module = self.runner.module(self.best.recipe, names)
        if self.best.recipe.finetuned:
            key = self.problem.key_of(*next(self._task(self.best.recipe).names()))
            check_repeated(module, self.journal.get(key) or {})
        build(module, target=self.problem.cpu()).save(self.folder / "best.tvmq")
        config = self.best.recipe.config(self.problem.config)
        rules = (*self.best.recipe.rules(config, names), *config.rules)
        write_text(self.folder / "best.json", recipe_json(replace(config, rules=rules)))

    def _finish(self) -> SearchResult:
        """Make the result, and its files."""
        points = tuple(self.points.values())
        network = () if self.best is None else self.best.recipe.network
        score = self.runner.float_score()
        seconds, size = self.runner.cost(self.runner.prepared)
        result = SearchResult(
            self.goal, self.best, pareto_front(points), points, {"seconds": seconds, "bytes": size, "score": score},
            layer_names(self.runner, network), self.problem.config, self.trials, folder=self.folder,
        )  # fmt: skip
        if self.folder is not None:
            result.save(self.folder)
        return result

    def _is_late(self) -> bool:
        return self.deadline is not None and time.perf_counter() > self.deadline


def _noise(result: Mapping[str, Any]) -> float:
    return math.inf if result.get("noise") is None else float(result["noise"])
