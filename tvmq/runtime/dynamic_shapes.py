"""Runs of a model with dynamic shapes, sample by sample where samples are apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tvmq.base.memory import is_shortage
from tvmq.base.text import last_line
from tvmq.errors import ArtifactError, DataError
from tvmq.runtime.call_code import CallCode
from tvmq.runtime.inputs import TensorInfo


class SizedCode(NamedTuple):
    """Code for some sizes alone: its name, {dynamic dimension: size} of all that have one, and the function."""

    name: str
    sizes: Mapping[str, int]
    call: CallCode


Piece = tuple[CallCode, int]  # so many samples by this code


class DynamicRun:
    """The compiled main function for inputs of any size.

    main    code for all sizes
    batch   dimension whose samples are run one after the other, or as many at once as there is code for; main: one
    sized   code for common sizes; every one names the batch, if there is one
    """

    def __init__(
        self,
        main: CallCode,
        inputs: Sequence[TensorInfo],
        outputs: Sequence[TensorInfo],
        batch: str | None,
        sized: Sequence[SizedCode] = (),
    ) -> None:
        self._main, self._batch, self._sized = main, batch, tuple(sized)
        self._inputs = [info.name for info in inputs]
        self._by_sample = [_axis_of(info, batch) for info in inputs]
        self._joined = [_axis_of(info, batch) for info in outputs]
        self._planned: tuple[Mapping[str, int], list[Piece]] | None = None

    def run(self, arrays: Sequence[np.ndarray], sizes: Mapping[str, int]) -> list[np.ndarray]:
        """Run the pieces: a fresh array for each output."""
        pieces = self._pieces(sizes)
        if len(pieces) == 1:
            return self._call(pieces[0][0], arrays, fresh=True)
        if not pieces:  # what one sample would give tells the shapes
            one = [
                array if axis is None else np.zeros(_resize(array.shape, axis, 1), array.dtype)
                for array, axis in zip(arrays, self._by_sample, strict=True)
            ]
            results = self._call(self._main, one, fresh=True)
            return [
                row if axis is None else row[_between(axis, 0, 0)]
                for row, axis in zip(results, self._joined, strict=True)
            ]
        return self._one_after_another(arrays, pieces)

    def _one_after_another(self, arrays: Sequence[np.ndarray], pieces: Sequence[Piece]) -> list[np.ndarray]:
        whole: list[np.ndarray] = []
        count, begin = sum(size for _, size in pieces), 0
        for code, size in pieces:
            part = [
                array if axis is None else array[_between(axis, begin, begin + size)]
                for array, axis in zip(arrays, self._by_sample, strict=True)
            ]
            rows = self._call(code, part, fresh=False)
            if not whole:
                whole = [
                    row.copy()
                    if axis is None
                    else np.empty(_resize(row.shape, axis, row.shape[axis] // size * count), row.dtype)
                    for row, axis in zip(rows, self._joined, strict=True)
                ]
            for result, row, axis in zip(whole, rows, self._joined, strict=True):
                if axis is not None:
                    each = row.shape[axis] // size
                    result[_between(axis, begin * each, (begin + size) * each)] = row
            begin += size
        return whole

    def _pieces(self, sizes: Mapping[str, int]) -> list[Piece]:
        """Calls for these sizes, in order."""
        if self._planned is None or self._planned[0] != sizes:
            self._planned = sizes, self._plan(sizes)
        return self._planned[1]

    def _plan(self, sizes: Mapping[str, int]) -> list[Piece]:
        others = {name: size for name, size in sizes.items() if name != self._batch}
        fitting = [
            code for code in self._sized if all(others.get(name, size) == size for name, size in code.sizes.items())
        ]
        if self._batch is None:
            return [(fitting[0].call if fitting else self._main, 1)]
        widths = [(code.sizes[self._batch], code.call) for code in fitting]
        pieces: list[Piece] = []
        rest = sizes[self._batch]
        for width, code in sorted([*widths, (1, self._main)], key=lambda pair: -pair[0]):
            pieces += [(code, width)] * (rest // width)
            rest %= width
        return pieces

    def choose_code(self, sizes: Mapping[str, int]) -> SizedCode | None:
        """The code for these sizes that computes all samples; None where others have a part."""
        pieces = self._pieces(sizes)
        return next((code for code in self._sized if pieces and all(call is code.call for call, _ in pieces)), None)

    def _call(self, code: CallCode, arrays: Sequence[np.ndarray], *, fresh: bool) -> list[np.ndarray]:
        code.fit(arrays)
        try:
            results = code.run(arrays) if fresh else code.look(arrays)
        except (ValueError, RuntimeError) as error:
            if is_shortage(error):
                raise
            shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(self._inputs, arrays, strict=True))
            raise DataError(f"run: the model takes no inputs of these shapes, {shapes}: {last_line(error)}") from error
        if len(results) != len(self._joined):
            raise ArtifactError(
                f"run: the code gives {len(results)} results, its description names {len(self._joined)}; build the "
                "model and save it again"
            )
        return results


def _axis_of(info: TensorInfo, name: str | None) -> int | None:
    """The axis of a dimension, or of a multiple of it as "2 * rows"; None for a tensor without it."""
    words = [size.replace("*", " ").split() if isinstance(size, str) else [] for size in info.shape]
    return next((axis for axis, factors in enumerate(words) if name in factors), None)


def _between(axis: int, begin: int, end: int) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, slice(begin, end))


def _resize(shape: tuple[int, ...], axis: int, size: int) -> tuple[int, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])
