"""What a device dumped of its layers: an .npz with an array a layer, or a folder of .npy files, read by layer name.

A name is compared without what no file name has in common with it: signs other than letters and digits become one
underscore, those at the ends go. "/stem/conv" is found as "stem_conv.npy", "stem/conv.npy" or "/stem/conv" of an .npz. A layer
of several source names is found by any of them, and by the name of its variable. An array holds all samples, its first
dimension, or is the result of one. Pictures may be NHWC: what has the shape of NCHW only when transposed is transposed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tvmq.array_file import ArrayFile
from tvmq.errors import DataError
from tvmq.text import printable


def key(name: str) -> str:
    """A name as it is compared.

    >>> key("/stem/conv"), key("stem.conv"), key("stem_conv")
    ('stem_conv', 'stem_conv', 'stem_conv')
    """
    return re.sub(r"[^0-9A-Za-z]+", "_", name).strip("_").lower()


class Dumps:
    """The arrays of a file or folder, read when they are asked for.

    raises   DataError where there is none
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files: dict[str, tuple[ArrayFile, str | None]] = {}
        self._found: dict[str, np.ndarray] = {}
        self._at = 0
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
        try:
            names = ArrayFile(file).names
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise DataError(f"compare: '{file}' is no .npz or .npy of plain arrays ({error})") from error
        for name in names or [file.stem]:
            self._add(name, file, name if names else None)

    def _add(self, name: str, file: Path, member: str | None) -> None:
        if key(name) in self._files:
            raise DataError(f"compare: two dumps at '{self.path}' are called '{key(name)}'; keep one")
        self._files[key(name)] = (ArrayFile(file), member)

    def match(self, layers: Mapping[str, tuple[str, ...]]) -> None:
        """Find the dump of each layer.

        layers   {variable of a result: names of the layer}
        raises   DataError where not one layer has a dump
        """
        self._found = {}
        for variable, names in layers.items():
            place = next((key(name) for name in (*reversed(names), variable) if key(name) in self._files), None)
            if place is not None:
                file, member = self._files[place]
                self._found[variable] = file.array() if member is None else file[member]
        if not self._found:
            some = ", ".join(f"'{printable(name)}'" for name in list(self._files)[:3])
            known = ", ".join(f"'{printable(names[-1])}'" for names in list(layers.values())[:3])
            raise DataError(
                f"compare: none of {len(self._files)} dumps at '{self.path}' ({some}, ...) is named as a layer "
                f"({known}, ...); name the files as the layers"
            )

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
        if part.shape != result.shape and part.ndim >= 3:
            turned = np.moveaxis(part, -1, 1)
            part = turned if turned.shape == result.shape else part
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
