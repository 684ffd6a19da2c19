"""Any number of samples by a model of a fixed batch: runs one after another, whose results are joined.

`Executable.run` takes several samples where the model has a batch of one: an input of the model's shape (1, ...) may be
(n, ...), all of them for the same n. Sizes of other axes stay what they are. `Executable.run_many` also fills batches.

Tests: tests/runtime/test_sample_runs.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tvmq.base.deprecation import warn_user
from tvmq.errors import DataError
from tvmq.runtime.inputs import TensorInfo, fits

Run = Callable[[Mapping[str, Any]], list[np.ndarray]]
SAID = (
    "run: {} samples for a model of one sample run one by one; import the model with a dynamic batch to pass them at "
    "once, or call run_many, which does not warn"
)


def count_samples(inputs: Any, wanted: Sequence[TensorInfo]) -> int | None:
    """The number n of samples in inputs that a model of one takes one by one; None for all others.

    >>> x = TensorInfo("x", (1, 3), "float32")
    >>> count_samples({"x": np.zeros((4, 3))}, [x]), count_samples({"x": np.zeros((4, 2))}, [x])
    (4, None)
    >>> count_samples({"x": np.zeros((1, 3))}, [x]), count_samples({"x": np.zeros((0, 3))}, [x])
    (None, None)
    """
    if not isinstance(inputs, Mapping) or set(inputs) != {info.name for info in wanted}:
        return None
    counts = set()
    for info in wanted:
        shape = np.shape(inputs[info.name])
        if info.shape[:1] == (1,):
            if not shape or not fits((1, *shape[1:]), info.shape):
                return None
            counts.add(shape[0])
        elif not fits(shape, info.shape):
            return None
    count = counts.pop() if len(counts) == 1 else 0
    return count if count > 1 else None


def run_one_by_one(
    run: Run, inputs: Mapping[str, Any], wanted: Sequence[TensorInfo], outputs: Sequence[TensorInfo]
) -> list[np.ndarray] | None:
    """Results of several samples by a model of one, with a warning at the line of the user; None for other inputs.

    wanted, outputs  of the model
    raises           DataError for an output without a row for each sample
    """
    try:
        count = count_samples(inputs, wanted)
    except ValueError:  # ragged lists, which have no shape
        return None
    if count is None:
        return None
    warn_user(SAID.format(count))
    return run_many(run, inputs, wanted, outputs)


def run_many(
    run: Run, inputs: Mapping[str, Any], wanted: Sequence[TensorInfo], outputs: Sequence[TensorInfo], *,
    advance: Callable[[], None] | None = None,
) -> list[np.ndarray]:  # fmt: skip
    """Results of any number of samples, batch by batch; the last batch is filled up, and the filling dropped.

    inputs   {name: array}, samples first; single numbers are passed to each run
    advance  called after each run
    raises   DataError for inputs of different lengths or none, and for an output without a row for each sample
    """
    arrays = {name: _as_array(name, value) for name, value in inputs.items()}
    lengths = {name: len(array) for name, array in arrays.items() if array.ndim}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        raise DataError(f"run: inputs must hold equally many samples, at least 1. Got {lengths}")
    size, samples = batch_size(wanted), next(iter(lengths.values()), 1)
    if samples == size:
        results = run(arrays)
        if advance is not None:
            advance()
        return results
    _check_rows(outputs, wanted, size, samples)
    parts = []
    for begin in range(0, samples, size):
        index = np.arange(begin, begin + size) % samples
        parts.append(run({name: array[index] if array.ndim else array for name, array in arrays.items()}))
        if advance is not None:
            advance()
    return [np.concatenate(rows)[:samples] for rows in zip(*parts, strict=True)]


def _as_array(name: str, value: Any) -> np.ndarray:
    try:
        return np.asarray(value)
    except ValueError as error:
        raise DataError(f"run: input '{name}' is a {type(value).__name__} that makes no array ({error})") from error


def batch_size(wanted: Sequence[TensorInfo]) -> int:
    """First dimension of the first input that has one; 1 if there is none, or if it is dynamic."""
    first = next((info.shape[0] for info in wanted if info.shape), 1)
    return first if isinstance(first, int) else 1


def _check_rows(outputs: Sequence[TensorInfo], wanted: Sequence[TensorInfo], size: int, samples: int) -> None:
    batch = next((info.shape[:1] for info in wanted if info.shape), ())
    for info in outputs:
        if info.shape[:1] not in ((size,), batch):
            raise DataError(
                f"run: output '{info.name}' of shape {info.shape} does not have one row per sample; "
                f"give exactly {size} samples. Got {samples} instead"
            )
