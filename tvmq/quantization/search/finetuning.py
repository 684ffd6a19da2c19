"""Finetuning as a choice of a search: integers of a recipe that are trained until they keep the bound.

Gradients are sums of floats, whose order depends on the number of threads and on the vectors of the CPU. So each model
is trained by one thread, and the version of torch and its vectors are in the key of a result: the same for any number
of workers of one machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import tvm

from tvmq.errors import ArtifactError, ConfigError
from tvmq.options.config import QConfig
from tvmq.quantization.pipeline import Finetuning
from tvmq.quantization.search.front import Point
from tvmq.quantization.search.goal import Goal
from tvmq.quantization.search.space import Recipe
from tvmq.quantization.static_quantization import model_hash

FINETUNED = 4  # models that are trained, at most


def check_finetuning(finetune: Any, config: QConfig) -> Finetuning | None:
    """Check the trainer; the result is without what it would call meanwhile.

    raises  ConfigError for what is no Distill, counts seconds, or does not fit the options
    """
    if finetune is None:
        return None
    if not hasattr(finetune, "check_config"):
        raise ConfigError(
            f"search: finetune must be a tvmq.training.Distill. Got {type(finetune).__name__} instead; use "
            "finetune=Distill(steps=300)"
        )
    if finetune.seconds is not None or finetune.steps is None:
        raise ConfigError("search: finetune= must count steps, seconds depend on the machine; use Distill(steps=300)")
    finetune.check_config(config)
    trainer: Finetuning = replace(finetune, watch=None, keep=None)
    return trainer


def worth_training(points: Iterable[Point], best: Point | None, goal: Goal, how: str) -> list[Recipe]:
    """The cheapest models that miss the bound, below the best one that keeps it, as recipes that are trained.

    how  in words
    """
    most = math.inf if best is None else getattr(best, goal.figure)
    missed = [point for point in points if not point.holds and getattr(point, goal.figure) < most]
    missed.sort(key=lambda point: point.order(goal.figure))
    return [replace(point.recipe, finetuned=how) for point in missed[:FINETUNED]]


def check_repeated(module: tvm.IRModule, judged: Mapping[str, Any]) -> None:
    """ArtifactError where training again gave other integers than those that were judged.

    judged  the result that was measured
    """
    if model_hash(module) != judged.get("module"):
        raise ArtifactError(
            "search: finetuning the best model again gave other integers than those that were judged, as another CPU "
            "does; search again on one machine, in a new folder"
        )
