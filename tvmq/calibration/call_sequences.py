"""Calibration data of a model that hands a state to its next call: sequences of calls, in order.

Accepted, for a model of the inputs x and the states h:

    [[{"x": first}, {"x": second}, ...], ...]    sequences, each a list of calls as `exe.run` takes them, without h
    [{"x": first}, {"x": other}, ...]            sequences of one call
    {"x": array}                                 an array with one axis more than the input has the calls of a sequence
                                                 along its first; with two more, sequences along its first

A path to .npz holds the last form. The first call of a sequence may give the states as well: the sequence begins there.
What can be read only once is read once, into memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.base.array_file import ArrayFile
from tvmq.calibration.dataset import Feed, Input, check_batch
from tvmq.errors import DataError

Call = Feed  # of one call: what is given, and in the first one perhaps states


class CallSequences:
    """Checked sequences of a user's data; each is a list of calls.

    data    see the head of this file
    inputs  of the model, states included
    states  names of the inputs that are states
    raises  DataError for what is no sequence, and for calls that do not fit the model
    """

    def __init__(self, data: Any, inputs: Sequence[Input], states: Sequence[str]) -> None:
        self._states = [info for info in inputs if info.name in states]
        self._inputs = [info for info in inputs if info.name not in states]
        data = _read_file(Path(data)) if isinstance(data, str | Path) else data
        if isinstance(data, Mapping) or hasattr(data, "shape"):
            data = self._split(data)
        if not hasattr(data, "__iter__"):
            raise DataError(f"calibration data: cannot read {type(data).__name__}; give a list of sequences of calls")
        self._items = list(data) if isinstance(data, Iterator) else data

    def __iter__(self) -> Iterator[list[Call]]:
        for number, item in enumerate(self._items):
            calls = [item] if isinstance(item, Mapping) or hasattr(item, "shape") else list(item)
            if not calls:
                raise DataError(f"calibration data, sequence {number}: it has no calls; give at least one")
            yield [self._check_call(call, number, step) for step, call in enumerate(calls)]

    def _check_call(self, call: Any, number: int, step: int) -> Call:
        where = f"calibration data, sequence {number}, call {step}"
        if not isinstance(call, Mapping) and len(self._inputs) == 1:
            call = {self._inputs[0].name: call}
        if not isinstance(call, Mapping):
            names = [info.name for info in self._inputs]
            raise DataError(f"{where}: a call must be {{input: array}} of {names}. Got {type(call).__name__} instead")
        initial = [info for info in self._states if info.name in call]
        if initial and step:
            raise DataError(f"{where}: '{initial[0].name}' is a state, which the call before gives; leave it out")
        feed = {info.name: call[info.name] for info in initial}
        rest = {name: value for name, value in call.items() if name not in feed}
        checked = check_batch(rest, self._inputs, number)
        return checked | {name: np.asarray(value) for name, value in feed.items()}

    def _split(self, data: Any) -> list[Any]:
        """Sequences of arrays that have the calls along an axis of their own."""
        if not isinstance(data, Mapping):
            data = {self._inputs[0].name: data}
        arrays = {str(name): np.asarray(value) for name, value in data.items()}
        ranks = {info.name: len(info.shape) for info in self._inputs}
        extra = {array.ndim - ranks.get(name, array.ndim) for name, array in arrays.items()}
        extra -= {0} if len(extra) > 1 else set()  # what is the same in all calls, such as a sampling rate
        if extra == {0}:
            return [arrays]
        if len(extra) > 1 or not extra <= {1, 2}:
            sizes = ", ".join(f"{name} {list(array.shape)}" for name, array in arrays.items())
            raise DataError(
                f"calibration data: arrays of the sizes {sizes} are no sequences; the calls of a sequence lie along "
                "one axis in front of those of the input, sequences along one more"
            )
        if extra == {1}:
            return [_calls(arrays, ranks)]
        moving = {name for name, array in arrays.items() if array.ndim > ranks.get(name, array.ndim)}
        count = min(len(arrays[name]) for name in moving)
        parts = [{n: array[i] if n in moving else array for n, array in arrays.items()} for i in range(count)]
        return [_calls(part, ranks) for part in parts]


def _calls(arrays: Mapping[str, np.ndarray], ranks: Mapping[str, int]) -> list[dict[str, np.ndarray]]:
    """The calls of a sequence, which lie along the first axis of arrays that have one more than the input."""
    moving = {name for name, array in arrays.items() if array.ndim > ranks.get(name, array.ndim)}
    count = min(len(arrays[name]) for name in moving)
    return [{n: array[i] if n in moving else array for n, array in arrays.items()} for i in range(count)]


def _read_file(path: Path) -> Any:
    """The arrays of an .npz file, or the one of an .npy file."""
    if not path.exists():
        raise DataError(f"calibration data: no file '{path}'")
    try:
        file = ArrayFile(path)
        return file.array() if file.names is None else dict(file.items())
    except Exception as error:  # truncated archives raise many kinds
        raise DataError(
            f"calibration data: '{path}' is no readable .npz or .npy file ({error}); save it with numpy.savez"
        ) from error
