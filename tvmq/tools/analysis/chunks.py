"""Calls of a stateful model cut into shorter calls, and joined into longer ones: along the axis of time.

    x [batch, time, 8]                  steps begin..end
    mask [batch, time, past + time]     the same, and columns up to the last of these steps
    rate []                             as it is

Tests: tests/tools/analysis/test_chunk_invariance.py
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tvmq.runtime.inputs import TensorInfo
from tvmq.state.model_states import ModelStates

Feed = dict[str, np.ndarray]
Shape = Sequence[int | str]


@dataclass(frozen=True)
class TimeAxis:
    """Where time lies in the inputs and outputs of a model.

    name      of the dynamic dimension
    states    of the model
    outputs   (name, shape) of the outputs that are no state
    """

    name: str
    states: ModelStates
    outputs: tuple[tuple[str, tuple[int | str, ...]], ...]

    def steps(self, feed: Mapping[str, np.ndarray]) -> int:
        """Steps of a call."""
        return self.states.sizes_in(feed)[self.name]

    def cut(self, feed: Mapping[str, np.ndarray], begin: int, end: int, past: int) -> Feed:
        """Steps begin..end of a call.

        past  rows that appended states have before the call
        """
        shapes, steps = dict(self.states.inputs), self.steps(feed)
        part: Feed = {}
        for name, array in feed.items():
            for axis, size in enumerate(shapes[name]):
                rows = slice(None)
                if size == self.name:
                    rows = slice(begin, end)
                elif self._counts_rows(size, array.shape[axis], past + steps):
                    rows = slice(0, past + end)
                array = array[(slice(None),) * axis + (rows,)]
            part[name] = array
        return part

    def _counts_rows(self, size: int | str, length: int, rows: int) -> bool:
        """True for an axis that has an item for each row that appended states will have."""
        is_free = isinstance(size, str) and size not in (self.name, self.states.batch)
        return is_free and length == rows and any(one.is_appended for one in self.states.tensors)

    def join(self, calls: Sequence[Feed]) -> Feed | None:
        """Calls that follow each other as one; None where an input counts rows, so that they cannot be joined."""
        if len(calls) == 1:
            return calls[0]
        joined: Feed = {}
        for name, shape in self.states.inputs:
            parts = [call[name] for call in calls]
            if any(isinstance(size, str) and size not in (self.name, self.states.batch) for size in shape):
                return None
            if self.name in shape:
                joined[name] = np.concatenate(parts, axis=list(shape).index(self.name))
            elif all(np.array_equal(part, parts[0]) for part in parts):
                joined[name] = parts[0]
            else:
                return None
        return joined

    def join_results(self, calls: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
        """Outputs of calls that follow each other as those of one: one after the other along time, the last of those
        that have no time."""
        joined = []
        for number, (_, shape) in enumerate(self.outputs):
            axis = time_axis(shape, self.name)
            parts = [call[number] for call in calls]
            joined.append(parts[-1] if axis is None else np.concatenate(parts, axis=axis))
        return joined


def time_axis(shape: Shape, name: str) -> int | None:
    """The axis of a dimension, or of a multiple of it; None for a shape without it.

    >>> time_axis(("batch", "2*time"), "time"), time_axis(("batch", 3), "time")
    (1, None)
    """
    words = [re.split(r"[*\s]+", size) if isinstance(size, str) else [] for size in shape]
    return next((axis for axis, parts in enumerate(words) if name in parts and "+" not in parts), None)


def find_time(states: ModelStates, outputs: Sequence[TensorInfo]) -> TimeAxis | None:
    """The axis of time: the free size by which appended states grow, else the first free size of the inputs that is not
    the batch; None where a call has one step."""
    grown = {one.pair.output: one for one in states.tensors if one.is_appended}
    words: set[str] = set()
    for info in outputs:
        if info.name in grown:
            words.update(re.findall(r"\w+", str(info.shape[grown[info.name].pair.axis or 0])))
    of_states = {size for one in states.tensors for size in one.shape if isinstance(size, str)}
    free = [size for _, shape in states.inputs for size in shape if isinstance(size, str)]
    candidates = [size for size in free if size != states.batch and size not in of_states]
    growing = [size for size in candidates if size in words]
    names = growing or candidates
    plain = tuple((info.name, tuple(info.shape)) for info in outputs if info.name not in states.outputs)
    return TimeAxis(names[0], states, plain) if names else None


class BatchJoiner:
    """Joins calls of several sessions along the batch, and takes the rows of the results apart."""

    def __init__(self, states: ModelStates, outputs: Sequence[TensorInfo], time: TimeAxis | None) -> None:
        self._states, self._is_flat = states, time is None
        plain = [tuple(info.shape) for info in outputs if info.name not in states.outputs]
        self._shapes: list[Shape] = [*plain, *(one.shape for one in states.tensors)]
        self._plain = len(plain)

    def join_inputs(self, calls: Sequence[Feed]) -> Feed:
        """Calls of several sessions as one of a batch."""
        joined: Feed = {}
        for name, shape in self._states.inputs:
            axis = axis_of(shape, self._states.batch)
            parts = [call[name] for call in calls]
            joined[name] = parts[0] if axis is None else np.concatenate(parts, axis=axis)
        return joined

    def row(self, values: np.ndarray, place: int, row: int) -> np.ndarray:
        """Part of one session, of the output or state at a place."""
        axis = axis_of(self._shapes[place], self._states.batch)
        return values if axis is None else np.take(values, [row], axis=axis)


def axis_of(shape: Shape, name: str) -> int | None:
    """The axis of a dynamic dimension; None for a shape without it."""
    return list(shape).index(name) if name in shape else None
