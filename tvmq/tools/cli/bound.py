"""Bounds of `tvmq quantize`: --guard, or --metric with --max-drop; a model below its bound is refused.

Tests: tests/tools/cli/test_refusal.py
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import tvmq
from tvmq.errors import AccuracyWarning, ConfigError
from tvmq.tools.cli.console import notice
from tvmq.tools.cli.metrics import IN_POINTS, find_labels, metric_named
from tvmq.tools.cli.opening import QuantizationJob
from tvmq.tools.cli.samples import Feeds

LOWER_IS_BETTER = ("mse",)  # less is better
MOST_SAMPLES = 32  # for decibels; a metric takes all that are held out


def check_bound(guard: str, metric: str | None, max_drop: float | None) -> tvmq.Guard | None:
    """Parse and check the bound before the model is read; None for "none".

    raises  ConfigError for an invalid bound, and for --max-drop without --metric
    """
    if max_drop is not None and metric is None:
        raise ConfigError("--max-drop: there is no metric whose drop it could bound; add --metric top1")
    from tvmq.quantization.guard.bound import guard_of  # loads TVM

    text = guard.strip().lower()
    try:
        return None if text == "none" else guard_of(f"sqnr >= {text}" if text.isdecimal() else guard)
    except ConfigError:
        raise ConfigError(
            f"guard: '{guard}' is no bound; write 'sqnr >= 20' or 20, in decibels, or 'none'"
        ) from None


def parse_kinds(texts: Sequence[str] | None) -> dict[str, str]:
    """Kinds of outputs from --outputs.

    raises  ConfigError for a text without a kind

    >>> parse_kinds(["boxes=detections"]), parse_kinds(None)
    ({'boxes': 'detections'}, {})
    """
    pairs = [text.rpartition("=") for text in texts or ()]
    wrong = [kind for name, _, kind in pairs if not name]
    if wrong:
        raise ConfigError(f"--outputs: '{wrong[0]}' names no kind; write --outputs NAME=KIND, such as boxes=detections")
    return {name: kind for name, _, kind in pairs}


def resolve_guard(
    guard: tvmq.Guard | None, job: QuantizationJob, metric: str | None, max_drop: float | None, labels: Path | None, *,
    outputs: Sequence[str] | None = None, quiet: bool,
) -> tvmq.Guard | None:  # fmt: skip
    """The guard with the held-out samples; None without a bound or without real data.

    outputs  texts of --outputs
    raises   ConfigError for a metric without labels, and for outputs and kinds that do not exist
    """
    samples, kinds = job.samples, parse_kinds(outputs)
    if kinds:
        from tvmq.quantization.meaning.recognition import read_outputs  # loads TVM

        read_outputs(job.mod, kinds)
    if samples is None or samples.random or (guard is None and max_drop is None):
        return None
    index = job.split.comparison
    if max_drop is None or metric is None:
        most = max(1, MOST_SAMPLES // job.size) * job.size
        data = Feeds(samples, index[:most], job.size) if job.split.apart else None
        return replace(guard or tvmq.Guard(), data=data, outputs=kinds, advance=report_trials(quiet=quiet))
    named = find_labels(labels, samples)
    if named is None:
        raise ConfigError("--max-drop: the metric needs labels; give --labels, subfolders by class, 'labels' in .npz")
    feeds = Feeds(samples, index, job.size)
    return tvmq.Guard(
        metric=_metric_to_maximize(metric), max_drop=max_drop / 100 if metric in IN_POINTS else max_drop, data=feeds,
        labels=named[index[: len(feeds) * job.size]], advance=report_trials(quiet=quiet),
    )  # fmt: skip


def report_trials(*, quiet: bool) -> Callable[[int, int], None]:
    """Progress callback of the guard: a notice for each module that it tries."""

    def advance(tried: int, most: int) -> None:
        if not quiet:
            notice(f"guard: 8 bits are not enough, or just so; tried {tried} of at most {most} more precise variants")

    return advance


def _metric_to_maximize(name: str) -> Callable[[Sequence[np.ndarray], Any], float]:
    """A metric of a list of outputs, higher is better; functions of the user get the only output, or the list."""
    metric, sign = metric_named(name), -1.0 if name in LOWER_IS_BETTER else 1.0
    return lambda outputs, labels: sign * float(metric(outputs[0] if len(outputs) == 1 else outputs, labels))


@contextmanager
def refuse_on_guard(*, force: bool) -> Iterator[None]:
    """Turn the warning about a model below its bound into an error; with `force` it stays a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("always" if force else "error", AccuracyWarning)
        yield
