"""Checks of the samples alone: layout, NaN and infinite values, identical samples, outliers.

Tests: tests/tools/doctor/test_model_checks.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tvmq.tools.doctor.check_context import FEW, Arrays, CheckContext
from tvmq.tools.doctor.findings import Finding, note, ok, problem

ENOUGH = 32
FAR = 50.0  # times the median of the largest magnitudes of samples


def match_layouts(arrays: Arrays, shapes: Mapping[str, Sequence[int | None] | None]) -> tuple[Arrays, list[Finding]]:
    """Arrays transposed to the layout of the model, and a problem for each that had another layout.

    shapes  {input: shape of the model}, None for a dynamic dimension or an unknown rank
    """
    turned, findings = dict(arrays), []
    for name, array in arrays.items():
        shape = shapes.get(name)
        if shape is None or array.ndim != len(shape) or array.ndim < 3 or _fits(array.shape, shape):
            continue
        for words, axis, to in (("last", -1, 1), ("first", 1, -1)):
            moved = np.moveaxis(array, axis, to)
            if _fits(moved.shape, shape):
                turned[name] = np.ascontiguousarray(moved)
                findings.append(_layout_error(name, array, shape, words, axis, to))
                break
    return turned, findings


def _layout_error(name: str, array: np.ndarray, shape: Sequence[int | None], words: str, axis: int, to: int) -> Finding:
    wanted = ("?" if size is None else str(size) for size in shape)
    what = f"input '{name}': samples are {array.shape}, channels {words}; the model takes ({', '.join(wanted)})"
    remedy = f"x = numpy.moveaxis(x, {axis}, {to})   (the checks below use it)"
    return problem("layout", what, remedy, input=name, shape=list(array.shape), axis=axis, to=to)


def _fits(shape: Sequence[int], wanted: Sequence[int | None]) -> bool:
    """True if the shape matches except for the batch."""
    return all(want in (None, size) for size, want in zip(shape[1:], wanted[1:], strict=True))


def check_samples(context: CheckContext) -> Iterator[Finding]:
    """Describe each input in a line, or report its faults."""
    if context.samples < ENOUGH:
        few = "all are used to calibrate and to judge" if context.samples < 2 * FEW else "figures below are rough"
        yield note("samples", f"{context.samples}: {few}", f"give {ENOUGH} or more samples, as varied as in use")
    alike = find_alike(context.arrays)
    for text in alike:
        yield problem("samples", text, "give samples that differ, as they are in use; check the preprocessing")
    for name, array in context.arrays.items():
        faults = list(_find_faults(context, name, array))
        context.is_fatal = context.is_fatal or any(finding.subject == "data" for finding in faults)
        yield from faults or [_describe_values(name, array)]


def find_alike(arrays: Arrays) -> list[str]:
    """Faults of samples that hardly differ, in words: repeated ones, and inputs of one number alone.

    arrays  {input: samples first}; a sample is its values in all inputs, so a mask of ones is no fault

    >>> find_alike({"x": np.zeros((4, 3)), "mask": np.ones((4, 3))})
    ['all 4 samples are the same', 'each sample is one number repeated']
    >>> find_alike({"x": np.eye(4)[[0, 0, 1, 0]]}), find_alike({"x": np.eye(3)})
    (['2 of 4 samples differ, the others repeat them'], [])
    """
    rows = {name: array for name, array in arrays.items() if array.ndim and len(array) > 1}
    if not rows:
        return []
    count = min(map(len, rows.values()))
    distinct = len({tuple(array[i].tobytes() for array in rows.values()) for i in range(count)})
    texts = []
    if distinct == 1:
        texts.append(f"all {count} samples are the same")
    elif 2 * distinct <= count:
        texts.append(f"{distinct} of {count} samples differ, the others repeat them")
    long = [array.reshape(len(array), -1) for array in rows.values() if array[0].size > 1]
    if long and all((flat == flat[:, :1]).all() for flat in long):
        texts.append("each sample is one number repeated")
    return texts


def _find_faults(context: CheckContext, name: str, array: np.ndarray) -> Iterator[Finding]:
    where = f"input '{name}'"
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))
        what = f"{where}: {len(bad)} values are NaN or infinite, the first in sample {bad[0][0]}"
        yield problem("data", what, "repair the preprocessing: a division by 0 or a missing value", count=len(bad))
        return
    if array.ndim == 0 or not array.size:
        return
    flat = array.reshape(len(array), -1).astype(np.float64)
    highest = np.abs(flat).max(axis=1)
    usual = float(np.median(highest))
    far = np.flatnonzero(highest > FAR * usual)
    if usual > 0 and array.dtype.kind == "f" and len(far):
        what = f"{where}: sample {far[0]} reaches {highest[far[0]]:.4g}, typical samples {usual:.4g}"
        remedy = "an outlier widens the ranges for all samples: remove it if it is broken"
        yield problem("samples", what, remedy, outliers=[int(i) for i in far])


def _describe_values(name: str, array: np.ndarray) -> Finding:
    numbers = array.astype(np.float64)
    low, high, mean, std = (float(f(numbers)) for f in (np.min, np.max, np.mean, np.std))
    text = f"input '{name}': {array.shape} {array.dtype}, {low:.4g} to {high:.4g}, mean {mean:.4g}, deviation {std:.4g}"
    return ok("samples", text, low=low, high=high, mean=mean, std=std)
