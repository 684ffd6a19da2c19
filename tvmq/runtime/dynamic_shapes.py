"""Runs of a model with dynamic shapes, sample by sample where samples are apart, on several threads if that pays."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tvmq.base.memory import is_shortage
from tvmq.base.text import last_line
from tvmq.errors import ArtifactError, DataError
from tvmq.runtime.call_code import CallCode
from tvmq.runtime.inputs import TensorInfo
from tvmq.runtime.threads import here

if TYPE_CHECKING:  # what most runs do without is imported where it is used
    from tvmq.runtime.sample_threads import SampleThreads

LEAST_SECONDS = 1e-3  # of all samples on this thread; a thread that waits begins 0.15 ms late
TRIALS = 3  # runs of samples one after another, of which the fastest counts: the first ones are slow
MOST_LOOPED = 64  # samples of a call
LOOPED_BYTES = 2**24  # of inputs


class SizedCode(NamedTuple):
    """Code for some sizes alone: its name, {dynamic dimension: size} of all that have one, and the function."""

    name: str
    sizes: Mapping[str, int]
    call: CallCode


class MachineCodes(NamedTuple):
    """Functions of a virtual machine.

    main    code for all sizes, of one sample where there is a batch
    sized   code for common sizes; every one names the batch, if there is one
    looped  main for any number of samples (compile/native_samples.py); None: there is none
    """

    main: CallCode
    sized: Sequence[SizedCode] = ()
    looped: CallCode | None = None


MAIN = -1
Piece = tuple[int, int]  # number of a sized code, or MAIN, and how many samples it computes


class DynamicRun:
    """The compiled main function for inputs of any size.

    codes   its functions
    batch   dimension whose samples are run one after the other, or as many at once as there is code for
    copied  makes the same codes on another virtual machine, so that samples can run at the same time; None: one by one
    """

    def __init__(
        self,
        codes: MachineCodes,
        inputs: Sequence[TensorInfo],
        outputs: Sequence[TensorInfo],
        batch: str | None,
        copied: Callable[[], MachineCodes] | None = None,
    ) -> None:
        self._codes, self._batch, self._copied = codes, batch, copied
        self._infos = inputs, outputs
        self._inputs = [info.name for info in inputs]
        self._by_sample = [_axis_of(info, batch) for info in inputs]
        self._joined = [_axis_of(info, batch) for info in outputs]
        self._planned: tuple[Mapping[str, int], list[Piece]] | None = None
        self._runs, self._pace = [self], _Pace({})
        self._threads: SampleThreads | None = None

    def run(self, arrays: Sequence[np.ndarray], sizes: Mapping[str, int]) -> list[np.ndarray]:
        """Run the pieces: a fresh array for each output."""
        pieces = self._pieces(sizes)
        if len(pieces) == 1:
            return self._call(self._code(pieces[0][0]), arrays, fresh=True)
        if not pieces:  # what one sample would give tells the shapes
            others = {name: size for name, size in sizes.items() if name != self._batch}
            one = [
                array if axis is None else np.zeros(_resize(array.shape, axis, _rows(info, axis, others)), array.dtype)
                for array, axis, info in zip(arrays, self._by_sample, self._infos[0], strict=True)
            ]
            results = self._call(self._codes.main, one, fresh=True)
            return [
                row if axis is None else row[_slice_along(axis, 0, 0)]
                for row, axis in zip(results, self._joined, strict=True)
            ]
        if self._copied is None or not 1 < here.count <= len(pieces):
            return self._one_after_another(arrays, pieces)
        others = {name: size for name, size in sizes.items() if name != self._batch}
        if self._pace.sizes != others:
            self._pace = _Pace(others)
        if self._pace.runs >= TRIALS and self._pace.seconds * sizes[self._batch or ""] >= LEAST_SECONDS:
            return self._on_threads(arrays, pieces, here.count)
        start = time.perf_counter()
        results = self._one_after_another(arrays, pieces)
        self._pace.add((time.perf_counter() - start) / sizes[self._batch or ""])
        return results

    def _on_threads(self, arrays: Sequence[np.ndarray], pieces: Sequence[Piece], count: int) -> list[np.ndarray]:
        """As many pieces as can be shared out evenly, each share by a thread; then the rest, here."""
        from tvmq.runtime.sample_threads import SampleThreads, share_out

        assert self._copied is not None
        self._threads = self._threads or SampleThreads()
        while len(self._runs) < count:
            self._runs.append(DynamicRun(self._copied(), *self._infos, self._batch))
        begins = np.cumsum([0, *(width for _, width in pieces)])
        shares = share_out([width for _, width in pieces[: len(pieces) - len(pieces) % count]], count)
        results = self._threads.run([
            partial(
                run._one_after_another,
                self._samples(arrays, begins[share.start], begins[share.stop], begins[-1]),
                pieces[share.start : share.stop],
            )
            for run, share in zip(self._runs, shares, strict=False)
        ])  # fmt: skip
        if (end := shares[-1].stop) < len(pieces):
            rest = self._samples(arrays, begins[end], begins[-1], begins[-1])
            results.append(self._one_after_another(rest, pieces[end:]))
        return [
            rows[0] if axis is None else np.concatenate(rows, axis)
            for axis, rows in zip(self._joined, zip(*results, strict=True), strict=True)
        ]

    def _one_after_another(self, arrays: Sequence[np.ndarray], pieces: Sequence[Piece]) -> list[np.ndarray]:
        whole: list[np.ndarray] = []
        count, begin = sum(width for _, width in pieces), 0
        for code, size in self._merge_singles(pieces, arrays):
            rows = self._call(code, self._samples(arrays, begin, begin + size, count), fresh=False)
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
                    result[_slice_along(axis, begin * each, (begin + size) * each)] = row
            begin += size
        return whole

    def _merge_singles(
        self, pieces: Sequence[Piece], arrays: Sequence[np.ndarray]
    ) -> Iterator[tuple[CallCode, int]]:
        """Code and samples of each call: single samples in calls of the loop, if there is one."""
        looped, singles = self._codes.looped, sum(number == MAIN for number, _ in pieces)
        yield from ((self._code(number), width) for number, width in pieces if number != MAIN)
        if looped is None:
            yield from itertools.repeat((self._codes.main, 1), singles)
            return
        samples = sum(width for _, width in pieces)
        size = sum(array.nbytes for array, axis in zip(arrays, self._by_sample, strict=True) if axis is not None)
        most = max(1, min(MOST_LOOPED, LOOPED_BYTES * samples // max(size, 1)))
        for begin in range(0, singles, most):
            yield looped, min(most, singles - begin)

    def _samples(self, arrays: Sequence[np.ndarray], begin: int, end: int, count: int) -> list[np.ndarray]:
        """Some of `count` samples of the inputs, each of which may have several rows of one."""
        return [
            array
            if axis is None
            else array[_slice_along(axis, array.shape[axis] // count * begin, array.shape[axis] // count * end)]
            for array, axis in zip(arrays, self._by_sample, strict=True)
        ]

    def _code(self, number: int) -> CallCode:
        return self._codes.main if number == MAIN else self._codes.sized[number].call

    def _pieces(self, sizes: Mapping[str, int]) -> list[Piece]:
        """Pieces for these sizes, in order: wide ones first, single samples last."""
        if self._planned is None or self._planned[0] != sizes:
            self._planned = sizes, self._plan(sizes)
        return self._planned[1]

    def _plan(self, sizes: Mapping[str, int]) -> list[Piece]:
        others = {name: size for name, size in sizes.items() if name != self._batch}
        fitting = [
            number
            for number, code in enumerate(self._codes.sized)
            if all(others.get(name, size) == size for name, size in code.sizes.items())
        ]
        if self._batch is None:
            return [(fitting[0] if fitting else MAIN, 1)]
        widths = [(self._codes.sized[number].sizes[self._batch], number) for number in fitting]
        pieces: list[Piece] = []
        rest = sizes[self._batch]
        for width, number in sorted([*widths, (1, MAIN)], key=lambda pair: -pair[0]):
            pieces += [(number, width)] * (rest // width)
            rest %= width
        return pieces

    def single_code(self, sizes: Mapping[str, int]) -> CallCode | None:
        """The code that computes everything in one call; None where a batch takes several."""
        pieces = self._pieces(sizes)
        return self._code(pieces[0][0]) if len(pieces) == 1 else None

    def choose_code(self, sizes: Mapping[str, int]) -> SizedCode | None:
        """The code for these sizes that computes all samples; None where others have a part."""
        numbers = {number for number, _ in self._pieces(sizes)}
        return self._codes.sized[numbers.pop()] if len(numbers) == 1 and numbers != {MAIN} else None

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


@dataclass
class _Pace:
    """Seconds of a sample in the fastest run of samples one after another, for these sizes of other dimensions."""

    sizes: Mapping[str, int]
    seconds: float = math.inf
    runs: int = 0

    def add(self, seconds: float) -> None:
        self.seconds, self.runs = min(self.seconds, seconds), self.runs + 1


def _axis_of(info: TensorInfo, name: str | None) -> int | None:
    """The axis of a dimension, or of a multiple of it as "2 * rows"; None for a tensor without it."""
    words = [size.replace("*", " ").split() if isinstance(size, str) else [] for size in info.shape]
    return next((axis for axis, factors in enumerate(words) if name in factors), None)


def _rows(info: TensorInfo, axis: int, sizes: Mapping[str, int]) -> int:
    """Rows of one sample along the axis of the batch, which is a multiple of it: "2 * batch" or "batch * words".

    sizes   those of the other dimensions

    >>> _rows(TensorInfo("x", ("n * words", 8), "float32"), 0, {"words": 5})
    5
    """
    factors = str(info.shape[axis]).replace("*", " ").split()
    return math.prod(int(factor) if factor.isdigit() else sizes.get(factor, 1) for factor in factors)


def _slice_along(axis: int, begin: int, end: int) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, slice(begin, end))


def _resize(shape: tuple[int, ...], axis: int, size: int) -> tuple[int, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])
