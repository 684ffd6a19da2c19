"""`tvmq.search` beside NNCF's accuracy control and an Optuna study, on samples that none of them saw.

    python benchmarks/search.py --zoo ../shared/zoo [--folder DIR] [--tasks a,b] [--minimize size] [--max-drop 0.3]
                                [--peers/--no-peers] [--quick] [--json out.json]

Samples   every other test sample judges the search; the others are the unseen ones of the table
Bound     --max-drop points of the task's metric
Rows      float; int8: everything in 8 bits; ours;
          optuna: a TPE study over the same space, measured by the same code, for as long as ours took;
          nncf: quantize_with_accuracy_control with the same samples and bound
Columns   drop on the samples of the search, and on the unseen ones with its paired standard error; forecast and
          measured time of a run, one thread; constants; share of int8; evaluations; minutes
Bounds    ours keeps max-drop + 2 paired standard errors on unseen samples, and no row that does is faster (smaller).
          Exit code 1 where one is missed.
"""

from __future__ import annotations

import tempfile
import time
from argparse import BooleanOptionalAction, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from hard_networks.tasks import fetched
from harness.command import Command, argument
from harness.report import columns
from harness.timing import median_seconds
from harness.zoo import Feeds, batch_one_shape, zoo_module

import tvmq
from tvmq.quantization.search.layers import describe_layers
from tvmq.quantization.search.loop import make_search_problem
from tvmq.quantization.search.space import Recipe
from tvmq.quantization.search.trials import Task as Trial
from tvmq.quantization.search.trials import TrialRunner

TASKS = ("mbconv_se_cifar10", "ppocr_cls", "vit_cifar10", "minilm_l6")
SECONDS = 0.5
POINTS = 100.0


@dataclass
class Row:
    """A line of the table; None where it does not apply."""

    task: str
    name: str
    seen: float | None
    unseen: float
    error: float
    forecast: float | None
    measured: float
    constants: int | None
    int8: float | None
    evaluations: int
    minutes: float


class Split:
    """Every other test sample of a task, as feeds, and its metric on some of them."""

    def __init__(self, task: Any, first: int, *, limit: int | None) -> None:
        self.task = task
        feeds = list(task.test_inputs(batch=1))
        self.index = np.arange(first, len(feeds), 2)[:limit]
        self.feeds = [feeds[i] for i in self.index]
        self.labels = self.index  # numbers of samples: the task has the labels

    def scores(self, outputs: Any, index: np.ndarray) -> np.ndarray:
        """Scores of samples by their numbers, in the task's own units."""
        from metrics import METRICS  # of the zoo

        outputs = outputs if isinstance(outputs, list) else [outputs]
        outputs = [np.asarray(one, np.float32) for one in outputs]
        joined = np.concatenate(outputs, -1) if self.task.spec.get("join") else outputs[0]
        labels = {name: values[index] for name, values in self.task._data("test")[1].items()}
        given = METRICS[self.task.metric](joined, labels)
        return np.asarray(given[1] if isinstance(given, tuple) else given, np.float64)

    def evaluate(self, run: Callable[[Any], Sequence[np.ndarray]]) -> np.ndarray:
        """Scores of all its samples."""
        rows = [run(feed) for feed in self.feeds]
        return self.scores([np.concatenate(parts) for parts in zip(*rows, strict=True)], self.index)


def measure(task: Any, minimize: str, max_drop: float, *, with_peers: bool, quick: bool) -> list[Row]:
    """The rows of one task."""
    seen, unseen = (Split(task, first, limit=48 if quick else None) for first in (0, 1))
    mod, params = tvmq.from_onnx(task.model_path, shape=batch_one_shape(task))
    calibration = list(Feeds(task))[: 32 if quick else None]
    floats = tvmq.build(mod, params=params)
    float_scores = [split.evaluate(floats.run) for split in (seen, unseen)]

    def row(name: str, run: Any, drop: float | None, minutes: float, evaluations: int, **facts: Any) -> Row:
        differences = float_scores[1] - unseen.evaluate(run)
        error = POINTS * differences.std(ddof=1) / np.sqrt(len(differences))
        known = {"forecast": None, "constants": None, "int8": None, **facts}
        measured = median_seconds(run, seen.feeds[:8], SECONDS)
        return Row(
            task.name, name, drop, POINTS * differences.mean(), error, measured=measured, evaluations=evaluations,
            minutes=minutes, **known,
        )  # fmt: skip

    def metric(outputs: Any, index: np.ndarray) -> np.ndarray:
        return seen.scores(outputs, index)

    wanted = {
        "data": seen.feeds, "labels": seen.labels, "metric": metric, "max_drop": max_drop / POINTS,
        "minimize": minimize, "rounds": 1 if quick else 6,
    }  # fmt: skip
    rows = [row("float", floats.run, 0.0, 0.0, 0)]
    with tempfile.TemporaryDirectory() as folder:
        found = tvmq.search(mod, params, calibration, output=folder, **wanted)
        whole = next(point for point in found.points if not point.recipe.layers and not point.recipe.network)
        for name, point in (("int8", whole), ("ours", found.best)):
            if point is None:
                continue
            config = found.recipe_config(point)
            executable = tvmq.build(tvmq.quantize(mod, params, calibration, config=config, guard=None))
            rows.append(row(
                name, executable.run, POINTS * point.drop, found.seconds / 60 if name == "ours" else 0.0,
                len(found.points) if name == "ours" else 1, forecast=point.seconds, constants=point.bytes,
                int8=point.int8,
            ))  # fmt: skip
    if with_peers:
        peers = study(mod, params, calibration, wanted, found, row), control(task, seen, calibration, max_drop, row)
        rows += [peer for peer in peers if peer is not None]
    return rows


def study(mod: Any, params: Any, calibration: Any, wanted: dict[str, Any], found: Any, row: Any) -> Row | None:
    """An Optuna study over the same space, as long as ours took."""
    try:
        import optuna
    except ImportError:
        print("optuna is not installed: no row of it")
        return None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    runner, layers = _runner(mod, params, calibration, wanted)
    figure = "seconds" if wanted["minimize"] == "latency" else "bytes"
    best: dict[str, Any] = {}
    begin = time.perf_counter()

    def objective(trial: Any) -> float:
        chosen = {key: trial.suggest_categorical(key, options) for key, options in layers.items()}
        recipe = Recipe.from_choice(chosen, {})
        (result,) = runner.run(Trial("verify", (), (recipe.layers,))).values()
        if "error" in result:
            raise optuna.TrialPruned
        holds = result["drop"] <= wanted["max_drop"]
        if holds and (not best or result[figure] < best["result"][figure]):
            best.update(recipe=recipe, result=result)
        return result[figure] * (1.0 if holds else 10.0 * (1 + result["drop"]))

    solver = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    solver.enqueue_trial({key: "int8" for key in layers})
    solver.optimize(objective, timeout=found.seconds)
    if not best:
        print("optuna found nothing that holds")
        return None
    executable = tvmq.build(runner.module(best["recipe"]))
    result = best["result"]
    return row(
        "optuna", executable.run, POINTS * result["drop"], (time.perf_counter() - begin) / 60, len(solver.trials),
        forecast=result["seconds"], constants=result["bytes"], int8=result["int8"],
    )  # fmt: skip


def _runner(
    mod: Any, params: Any, calibration: Any, wanted: dict[str, Any]
) -> tuple[TrialRunner, dict[str, list[str]]]:
    """Function that measures a recipe, and {layer: its options}: those of our search."""
    space = tvmq.SearchSpace()
    facts = {name: value for name, value in wanted.items() if name != "rounds"}
    problem = make_search_problem(mod, params, calibration, **facts)
    runner = TrialRunner(problem, space.names(wanted["minimize"]))
    return runner, {layer.key: list(layer.costs) for layer in describe_layers(runner, space, ())}


def control(task: Any, seen: Split, calibration: Any, max_drop: float, row: Any) -> Row | None:
    """NNCF: layers go back to float, one after the other, until the metric holds."""
    try:
        import nncf
        import openvino
    except ImportError:
        print("nncf or openvino is not installed: no row of them")
        return None
    calls: list[int] = []

    def run_of(compiled: Any) -> Callable[[Any], list[np.ndarray]]:
        request = compiled.create_infer_request()
        return lambda feed: [np.array(value) for value in request.infer(dict(feed)).values()]

    def validate(compiled: Any, _data: Any) -> tuple[float, None]:
        calls.append(1)
        return float(seen.evaluate(run_of(compiled)).mean()), None

    core = openvino.Core()
    core.set_property("CPU", {"INFERENCE_NUM_THREADS": 1})
    begin = time.perf_counter()
    model = core.read_model(task.model_path)
    model.reshape({name: list(feed.shape) for name, feed in seen.feeds[0].items()})
    data = [nncf.Dataset(feeds) for feeds in (calibration, seen.feeds)]
    quantized = nncf.quantize_with_accuracy_control(
        model, data[0], data[1], validation_fn=validate, max_drop=max_drop / POINTS, subset_size=len(calibration)
    )
    minutes = (time.perf_counter() - begin) / 60
    run = run_of(core.compile_model(quantized, "CPU"))
    drop = POINTS * float((seen.evaluate(run_of(core.compile_model(model, "CPU"))) - seen.evaluate(run)).mean())
    return row("nncf", run, drop, minutes, len(calls))


def missed(rows: Sequence[Row], minimize: str, max_drop: float) -> list[str]:
    """The bounds that a task misses, with the numbers."""
    by_name = {one.name: one for one in rows}
    ours = by_name.get("ours")
    if ours is None:
        return [f"{rows[0].task}: nothing was found"]
    texts = []
    if ours.unseen > max_drop + 2 * ours.error:
        texts.append(f"{ours.task}: drop {ours.unseen:+.2f} ± {ours.error:.2f} on unseen samples, {max_drop:g} asked")
    for other in rows:
        kept = other.name in ("optuna", "nncf") and other.unseen <= max_drop + 2 * other.error
        cost, own = (other.measured, ours.measured) if minimize == "latency" else (other.constants, ours.constants)
        if kept and cost is not None and own is not None and cost < 0.98 * own:
            texts.append(f"{ours.task}: {other.name} found {cost:g}, ours {own:g}")
    return texts


COLUMNS = columns(
    "task {task} | row {name} | drop seen {seen:+.2f} | drop unseen {unseen:+.2f} ± {error:.2f}",
    "forecast us {forecast_us:.1f} | measured us {measured_us:.1f} | constants {constants} | int8 % {int8_percent:.1f}",
    "evaluations {evaluations} | minutes {minutes:.1f}",
)
SCALES = {"forecast_us": ("forecast", 1e6), "measured_us": ("measured", 1e6), "int8_percent": ("int8", 100.0)}


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """The rows of each task."""
    more = fetched(options.folder) if options.folder is not None else {}
    known = {**zoo_module(options.zoo, "tasks").tasks(), **more}
    for name in [name for name in options.tasks.split(",") if name] or [*TASKS, *more]:
        if name not in known:
            print(f"{name} is not there: skipped")
            continue
        for row in measure(
            known[name], options.minimize, options.max_drop, with_peers=options.peers, quick=options.quick
        ):
            figures = vars(row)
            scaled = {to: None if figures[of] is None else figures[of] * by for to, (of, by) in SCALES.items()}
            yield {**figures, **scaled}


def all_missed(rows: list[dict[str, Any]], options: Namespace) -> list[str]:
    """Bounds that tasks miss."""
    found = [Row(**{name: value for name, value in row.items() if name not in SCALES}) for row in rows]
    groups = [list(group) for _, group in groupby(found, lambda row: row.task)]
    return [text for group in groups for text in missed(group, options.minimize, options.max_drop)]


main = Command(
    __doc__, COLUMNS, measure_all, all_missed, (), judges_quick=False,
    arguments=[
        argument("--folder", type=Path, help="a folder of more tasks, in the form of the zoo"),
        argument("--minimize", default="latency", help="latency or size"),
        argument("--max-drop", type=float, default=0.3, help="points of the metric"),
        argument("--peers", action=BooleanOptionalAction, default=True, help="NNCF and Optuna too, where installed"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
