"""How good each sample's outputs are, by labels: scores that two models can be compared by, sample by sample.

Tests: tests/quantization/search/test_parts.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tvmq.base.by_name import is_object_name, object_named
from tvmq.errors import ConfigError, DataError
from tvmq.quantization.meaning.mean_precision import METRICS as PRECISIONS
from tvmq.quantization.meaning.mean_precision import precision_named

# (outputs of some samples, their labels) -> a score for each of them, or one for all; higher is better
Metric = Callable[[Any, Any], Any]
Named = str | Metric


def top1_scores(outputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """1 for each sample whose greatest output is that of its class, else 0.

    >>> top1_scores(np.eye(3), np.array([0, 1, 1]))
    array([1., 1., 0.])
    """
    return _top_scores(outputs, labels, 1)


def top5_scores(outputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """1 for each sample whose class is among the five greatest outputs, else 0."""
    return _top_scores(outputs, labels, 5)


def _top_scores(outputs: np.ndarray, labels: np.ndarray, count: int) -> np.ndarray:
    rows = outputs.reshape(len(outputs), -1)
    best = np.argsort(-rows, axis=1, kind="stable")[:, :count]
    return (best == np.asarray(labels).reshape(-1, 1)).any(axis=1).astype(np.float64)


def mse_scores(outputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The mean squared error of each sample, negative: higher is better."""
    differences = outputs.astype(np.float64).reshape(np.shape(labels)) - labels
    return -np.mean(differences.reshape(len(outputs), -1) ** 2, axis=1)


METRICS: dict[str, Metric] = {"top1": top1_scores, "top5": top5_scores, "mse": mse_scores}


def load_metric(metric: Named) -> Metric:
    """A built-in metric, the function that "module:function" names, or the function itself.

    raises  ConfigError for a name that there is not
    """
    if callable(metric):
        return metric
    if metric in METRICS:
        return METRICS[metric]
    if (precision := precision_named(metric)) is not None:
        return precision
    if is_object_name(metric):
        function: Metric = object_named(metric, "search", "metric")
        return function
    names = ", ".join((*METRICS, *PRECISIONS))
    raise ConfigError(f"search: metric '{metric}' is none of {names} and no 'module:function'")


def score_samples(metric: Named, outputs: Sequence[np.ndarray], labels: Any) -> np.ndarray:
    """Scores (samples,), or (1,) of a metric that gives one number for all.

    outputs  one array for each output of the model; a model of one output hands over that
    raises   DataError for a number of scores that is neither, and for scores that are not finite
    """
    values = load_metric(metric)(outputs[0] if len(outputs) == 1 else list(outputs), labels)
    scores = np.atleast_1d(np.asarray(values, np.float64))
    if scores.ndim != 1 or len(scores) not in (1, len(outputs[0])):
        raise DataError(
            f"search: the metric gave an array of shape {scores.shape} for {len(outputs[0])} samples; it must give a "
            "number for each, or one"
        )
    if not np.isfinite(scores).all():
        raise DataError("search: the metric gave a score that is not finite; such a score cannot be compared")
    return scores
