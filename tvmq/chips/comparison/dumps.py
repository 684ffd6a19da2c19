"""Dumps of layers by a device: an .npz with an array a layer, or a folder of .npy files, read by layer name.

A name is compared by its letters and digits: signs between them become one underscore, those at the ends go, so that
"/stem/conv" is found as "stem_conv.npy", "stem/conv.npy" or "/stem/conv" of an .npz. A layer of several source names is
found by any of them, and by the name of its variable. An array holds all samples, its first dimension, or is the result
of one. Pictures may have their channels last, all of them: where one array fits only so, and none only as it is, all
are turned.

Tests: tests/tools/analysis/test_on_chip.py
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from tvmq.base.array_file import ArrayFile, array_errors
from tvmq.base.text import printable
from tvmq.errors import DataError


def key(name: str) -> str:
    """Key by which names are compared.

    >>> key("/stem/conv"), key("stem.conv"), key("stem_conv")
    ('stem_conv', 'stem_conv', 'stem_conv')
    """
    return re.sub(r"[^0-9A-Za-z]+", "_", name).strip("_").lower()


def _fits(shape: tuple[int, ...], wanted: tuple[int | str, ...]) -> tuple[bool, bool]:
    """Whether the sizes behind the samples fit as they are, and with the last one first.

    >>> _fits((8, 8, 3), (3, 8, 8)), _fits((8, 8, 8), (8, 8, 8)), _fits((10,), (10,))
    ((False, True), (True, True), (True, True))
    """

    def fit(sizes: tuple[int, ...]) -> bool:
        free = len(sizes) == len(wanted)
        return free and all(isinstance(b, str) or a == b for a, b in zip(sizes, wanted, strict=True))

    return fit(shape), fit((*shape[-1:], *shape[:-1]))


def _dump_errors(file: Path) -> AbstractContextManager[None]:
    return array_errors(f"compare: '{file}'", "give .npz or .npy files of plain arrays")


class Dumps:
    """The arrays of a file or folder, read when they are asked for.

    raises   DataError where there is none
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files: dict[str, tuple[ArrayFile, str | None]] = {}
        self._found: dict[str, np.ndarray] = {}
        self._at, self._last = 0, False
        if path.is_dir():
            for file in sorted(path.rglob("*.npy")):
                self._add(str(file.relative_to(path).with_suffix("")), file, None)
            for file in sorted(path.rglob("*.npz")):
                self._archive(file)
        elif path.exists():
            self._archive(path)
        if not self._files:
            raise DataError(
                f"compare: there are no dumps at '{path}'; give a folder of .npy files named as the layers, or an .npz"
            )

    def _archive(self, file: Path) -> None:
        with _dump_errors(file):
            names = ArrayFile(file).names
        for name in names or [file.stem]:
            self._add(name, file, name if names else None)

    def _add(self, name: str, file: Path, member: str | None) -> None:
        if key(name) in self._files:
            raise DataError(f"compare: two dumps at '{self.path}' are called '{key(name)}'; keep one")
        with _dump_errors(file):
            self._files[key(name)] = (ArrayFile(file), member)

    def match(self, layers: Mapping[str, tuple[str, ...]], shapes: Mapping[str, tuple[int | str, ...]]) -> None:
        """Find the dump of each layer.

        layers   {variable of a result: names of the layer}
        shapes   {variable: sizes of its result}, to tell where channels are
        raises   DataError where not one layer has a dump
        """
        self._found = {}
        for variable, names in layers.items():
            place = next((key(name) for name in (*reversed(names), variable) if key(name) in self._files), None)
            if place is not None:
                file, member = self._files[place]
                with _dump_errors(file.path):
                    self._found[variable] = file.array() if member is None else file[member]
        if not self._found:
            some = ", ".join(f"'{printable(name)}'" for name in list(self._files)[:3])
            known = ", ".join(f"'{printable(names[-1])}'" for names in list(layers.values())[:3])
            raise DataError(
                f"compare: none of {len(self._files)} dumps at '{self.path}' ({some}, ...) is named as a layer "
                f"({known}, ...); name the files as the layers"
            )

        fits = [_fits(array.shape[1:], shapes[name][1:]) for name, array in self._found.items()]
        self._last = (False, True) in fits and (True, False) not in fits

    def next_batch(self, count: int) -> None:
        """Go on to the next samples."""
        self._at += count

    def of(self, variable: str, result: np.ndarray) -> np.ndarray | None:
        """The dump of a layer for these samples, in the shape and type of its result; None if it has none.

        raises   DataError where it does not fit
        """
        whole = self._found.get(variable)
        if whole is None or not isinstance(result, np.ndarray):
            return None
        part = whole[self._at : self._at + len(result)] if whole.ndim == result.ndim and result.ndim else whole
        part = part.reshape(result.shape) if part.shape == result.shape[1:] and len(result) == 1 else part
        part = np.moveaxis(part, -1, 1) if self._last and part.ndim >= 3 else part
        if part.shape != result.shape:
            raise DataError(
                f"compare, dump of '{variable}': its shape is {whole.shape}, samples {self._at} to "
                f"{self._at + len(result) - 1} of the layer have {result.shape}"
            )
        if part.dtype.kind in "iu" and result.dtype.kind in "iu":
            return self._same_type(variable, part, result)
        if part.dtype != result.dtype:
            raise DataError(
                f"compare, dump of '{variable}': it holds {part.dtype.name}, the layer gives {result.dtype.name}; "
                "dump the codes themselves"
            )
        return part

    @staticmethod
    def _same_type(variable: str, part: np.ndarray, result: np.ndarray) -> np.ndarray:
        limits = np.iinfo(result.dtype)
        if part.size and (part.min() < limits.min or part.max() > limits.max):
            raise DataError(
                f"compare, dump of '{variable}': it holds {int(part.min())}..{int(part.max())}, the codes of the layer "
                f"are {result.dtype.name}; dump the codes themselves"
            )
        return part.astype(result.dtype)
