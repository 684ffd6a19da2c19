"""Measurements of a worker: what layers cost, the error that each of them makes, whole recipes.

Errors of single layers are measured by a rehearsal (guard/rehearsal.py): one compiled float module whose roundings are
switched on layer by layer. Whole recipes are measured by the integer module that would be handed out.

Tests: tests/quantization/search/test_finetuning.py
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import tvm

from tvmq.calibration.dataset import Dataset, samples_in
from tvmq.calibration.observers.base import TensorStatistics
from tvmq.codegen.compile.evaluators import evaluator
from tvmq.codegen.performance.estimate import estimates
from tvmq.errors import TvmqError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.symbolic import dynamic_dimensions, inputs_of, with_sizes
from tvmq.graph.view import View, const_value, is_const
from tvmq.options.rules import DYNAMIC
from tvmq.passes.calibrate import calibrate
from tvmq.passes.fold_constants import fold_constants
from tvmq.quantization.guard.bound import Guard
from tvmq.quantization.guard.calibration_cache import Batch
from tvmq.quantization.guard.evidence import with_evidence
from tvmq.quantization.guard.judge import Judge
from tvmq.quantization.guard.rehearsal import Precision, Rehearsal
from tvmq.quantization.search.problem import Problem
from tvmq.quantization.search.scores import score_samples
from tvmq.quantization.search.sequential import is_decided, looks, measure_drop
from tvmq.quantization.search.space import FLOAT, INT8, Recipe, rule_of
from tvmq.quantization.stages import ROUNDING, StageContext, run_stages
from tvmq.quantization.static_quantization import StaticQuantization, model_hash

USUAL_SIZE = 64  # of a dynamic dimension that is no batch
Result = dict[str, Any]
Network = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Task:
    """A piece of work.

    kind      "verify" a recipe, "finetune" it before, the "noise" of one by a rehearsal, or "errors" of single layers
    network   options of the network
    choices   what is measured: ({key: option}, ...) as sorted pairs
    training  of "finetune": how, and with what
    """

    kind: str
    network: Network
    choices: tuple[tuple[tuple[str, str], ...], ...]
    training: str = ""

    def names(self) -> Iterator[tuple[str, ...]]:
        """Names of the results, one for each."""
        for choice in self.choices:
            yield (self.kind, json.dumps([choice, self.network]), *([self.training] if self.training else []))


class TrialRunner:
    """Measures what a problem asks for; what was compiled and calibrated serves all its trials.

    options  names of all options that a layer may have
    """

    def __init__(self, problem: Problem, options: Sequence[str]) -> None:
        self.problem, self._names = problem, tuple(options)
        self.prepared = problem.load_module()
        self._quantization = StaticQuantization(
            self.prepared, self._dataset(problem.calibration), problem.config, problem.backend
        )
        self._rehearsals: dict[Network, Rehearsal] = {}
        self._judges: dict[Network, Judge] = {}
        self._finetuned: dict[Recipe, tvm.IRModule] = {}

    def run(self, task: Task) -> dict[str, Result]:
        """Run a task: {key of a result: result}."""
        kinds = {"verify": self._verify, "finetune": self._finetune, "noise": self._noise, "errors": self._noise}
        measure = kinds[task.kind]
        keys = (self.problem.key_of(*name) for name in task.names())
        return {key: measure(task.network, choice) for key, choice in zip(keys, task.choices, strict=True)}

    @property
    def needs_statistics(self) -> bool:
        """True where ranges are chosen from statistics whose parts merge."""
        config = self.problem.config
        return config.observers != {"global_scale"} and config.momentum is None

    def collect_shard(self, number: int, count: int) -> dict[str, TensorStatistics]:
        """Statistics of one of `count` parts of the calibration data."""
        return self._quantization.collect_shard(self._dataset(self.problem.calibration[number::count]))

    def adopt(self, statistics: Mapping[str, TensorStatistics]) -> None:
        """Statistics of all calibration data, so that they need not be read."""
        self._quantization.adopt(statistics)

    def module(self, recipe: Recipe, names: Mapping[str, str] | None = None) -> tvm.IRModule:
        """The integer module of a recipe.

        names  {key: name} by which the ledger is to name layers in its rules; one that is trained names their keys
        """
        config = self.problem.config
        if recipe.finetuned:
            return self._train_recipe(recipe)
        return self._quantization.module(recipe.rules(config, names), config=recipe.config(config))

    def _train_recipe(self, recipe: Recipe) -> tvm.IRModule:
        """Train a recipe, once in a process."""
        if recipe not in self._finetuned:
            config = recipe.config(self.problem.config)
            config = replace(config, rules=(*recipe.rules(self.problem.config), *config.rules))
            assert self.problem.finetune is not None
            quantization = self._quantization.with_config(config)
            self._finetuned[recipe] = self.problem.finetune.repeatable_module(quantization)
        return self._finetuned[recipe]

    def rehearsal(self, network: Network) -> Rehearsal:
        """Rehearsal for these options of the network; compiled at its first trial."""
        if network not in self._rehearsals:
            config = Recipe(network=network).config(self.problem.config)
            annotated = self._quantization.annotate_model(config)
            nearest = replace(config, weight_rounding="nearest")
            usual = calibrate(annotated, self._quantization.calibration(annotated, nearest).ranges())
            calibrated = with_evidence(usual, self.judge(network).evidence) or usual
            variants = {
                name: self._round_weights(Recipe(network=network), name)
                for name in self._names
                if name not in (INT8, FLOAT, DYNAMIC)
            }
            is_dynamic = DYNAMIC in self._names and self.problem.backend.refuses_dynamic() is None
            self._rehearsals[network] = Rehearsal(
                calibrated, self.judge(network), evaluator, dynamic=is_dynamic, variants=variants
            )
        return self._rehearsals[network]

    def judge(self, network: Network) -> Judge:
        """Judge of the outputs by decibels."""
        if network not in self._judges:
            module, guard = self.module(Recipe(network=network)), Guard(sqnr=self.problem.goal.sqnr)
            batches = [Batch(dict(feed), count) for feed, count in self._dataset(self.problem.samples)]
            self._judges[network] = Judge(self.prepared, module, _spread_batches(batches), evaluator, guard)
        return self._judges[network]

    def _round_weights(self, recipe: Recipe, option: str) -> tvm.IRModule:
        """The calibrated module in which all layers have this option, weights rounded as they will be."""
        config = recipe.config(self.problem.config)
        config = replace(config, rules=(*config.rules, rule_of("*", option, config)))
        annotated = self._quantization.annotate_model(config)
        calibration = self._quantization.calibration(annotated, config)
        return run_stages(annotated, ROUNDING, StageContext(config, calibration=calibration))

    def _noise(self, network: Network, choice: Sequence[tuple[str, str]]) -> Result:
        """Noise of the outputs with these layers in codes and all others in float."""
        rehearsal, options = self.rehearsal(network), dict(choice)
        in_codes = {key for key, option in options.items() if option not in (FLOAT, DYNAMIC)}
        dynamic = frozenset(key for key, option in options.items() if option == DYNAMIC)
        precision = Precision(frozenset(rehearsal.groups) - in_codes - dynamic, dynamic)
        run = rehearsal.run_of(precision, {key: options[key] for key in in_codes})
        noise = self.judge(network).noise(run)
        return {"noise": noise if math.isfinite(noise) else None}

    def _verify(self, network: Network, choice: Sequence[tuple[str, str]]) -> Result:
        """Measure the integer module of a recipe: what it keeps and what it costs; "error" where there is none."""
        return self._measure(Recipe(tuple(choice), network))

    def _finetune(self, network: Network, choice: Sequence[tuple[str, str]]) -> Result:
        """Train the integers of a recipe and measure the result."""
        return self._measure(Recipe(tuple(choice), network, repr(self.problem.finetune)))

    def _measure(self, recipe: Recipe) -> Result:
        try:
            module = self.module(recipe)
        except TvmqError as error:
            return {"error": str(error)}
        seconds, constants = self.cost(module)
        sqnr = self.judge(()).figure(module).sqnr
        result = {
            "seconds": seconds, "bytes": constants, "sqnr": min(sqnr, 999.0) if sqnr > -999.0 else -999.0,
            "int8": _share(get_ledger(module).layers), "module": model_hash(module),
        }  # fmt: skip
        return {**result, **self._drop(module)}

    def _drop(self, module: tvm.IRModule) -> Result:
        """Drop of the mean score against float's; the samples are read until that is decided."""
        problem = self.problem
        if problem.metric is None or problem.goal.max_drop is None:
            return {"drop": None, "low": None, "high": None, "samples": sum(map(samples_in, problem.samples))}
        run, scores, rows = evaluator(module), np.zeros(0), self._float_scores
        for outputs, first, last in self._outputs(run, of_all=len(rows) == 1):
            part = score_samples(problem.metric, outputs, _labels(problem.labels, first, last))
            scores = np.concatenate([scores, part])
            if is_decided(rows, scores, problem.goal.max_drop):
                break
        drop = measure_drop(rows, scores)
        return {"drop": drop.mean, "low": drop.low, "high": drop.high, "samples": last}

    def _outputs(self, run: Any, *, of_all: bool) -> Iterator[tuple[list[np.ndarray], int, int]]:
        """(outputs, first and last sample) between two looks; all at once for a metric that gives one score."""
        total = sum(map(samples_in, self.problem.samples))
        ends, first, last, waiting = list(looks(total)) if not of_all else [total], 0, 0, []
        for feed, count in self._dataset(self.problem.samples):
            waiting.append([np.array(y)[:count] if np.ndim(y) else np.array(y)[None] for y in run(feed)])
            last += count
            if last >= ends[0]:
                yield [np.concatenate(parts) for parts in zip(*waiting, strict=True)], first, last
                first, waiting, ends = last, [], [end for end in ends if end > last]

    @cached_property
    def _float_scores(self) -> np.ndarray:
        """Scores of the float model for all samples."""
        problem = self.problem
        assert problem.metric is not None
        outputs, _, last = next(self._outputs(evaluator(self.prepared), of_all=True))
        return score_samples(problem.metric, outputs, _labels(problem.labels, 0, last))

    def float_score(self) -> float | None:
        """The mean score of the float model; None where no metric judges."""
        return None if self.problem.metric is None else float(self._float_scores.mean())

    def cost(self, module: tvm.IRModule) -> tuple[float, int]:
        """Forecast seconds of one sample, bytes of constants."""
        return estimates(one_sample(module), self.problem.cpu(), self.problem.machine)[1], constant_bytes(module)

    def layer_seconds(self, network: Network, option: str) -> dict[str, float]:
        """{key: forecast seconds} of the layers, all of which have this option."""
        config = replace(Recipe(network=network).config(self.problem.config), weight_rounding="nearest")
        owner = layer_of_source(get_ledger(self._quantization.module(config=config)).layers)
        rules = [] if option == INT8 else [rule_of("*", option, config)]
        module = self._quantization.module(rules, config=config)
        seconds: dict[str, float] = {}
        for estimate in estimates(one_sample(module), self.problem.cpu(), self.problem.machine)[0]:
            key = next((owner[source] for source in estimate.sources if source in owner), None)
            if key is not None:
                seconds[key] = seconds.get(key, 0.0) + estimate.time.total
        return seconds

    def _dataset(self, feeds: Sequence[Mapping[str, np.ndarray]]) -> Dataset:
        return Dataset([dict(feed) for feed in feeds], inputs_of(self.prepared))


def layer_of_source(layers: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """{name in the source: key}, the layer that multiplies where several compute it."""
    owner: dict[str, str] = {}
    for key, entry in sorted(layers.items(), key=lambda item: bool(item[1].get("macs"))):
        owner.update(dict.fromkeys(entry.get("layers", ()), key))
    return owner


def constant_bytes(module: tvm.IRModule) -> int:
    """Bytes of all constants of a module."""
    values = (arg for _, value in View(module).bindings for arg in getattr(value, "args", ()))
    return sum(const_value(arg).nbytes for arg in values if is_const(arg))


def one_sample(module: tvm.IRModule) -> tvm.IRModule:
    """The module with a batch of 1 where that is dynamic."""
    dynamic = dynamic_dimensions(module)
    sizes = {name: 1 if axis == 0 else USUAL_SIZE for name, (_, axis) in dynamic.items()}
    return fold_constants(with_sizes(module, sizes)) if sizes else module


def _share(layers: Mapping[str, Mapping[str, Any]]) -> float:
    """Share of the multiply-accumulates in 8 bits."""
    macs = {key: float(entry.get("macs") or 0) for key, entry in layers.items()}
    return sum(macs[key] for key, entry in layers.items() if entry["precision"] == "int8") / max(
        1.0, sum(macs.values())
    )


def _spread_batches(batches: list[Batch], most: int = 32) -> list[Batch]:
    """Batches of so many samples, evenly spread."""
    count = sum(batch.count for batch in batches)
    step = max(1, math.ceil(count / most))
    return batches[::step]


def _labels(labels: Any, first: int, last: int) -> Any:
    return None if labels is None else labels[first:last]
