"""Files that commands read and write: arrays in, arrays out, and early errors for outputs that cannot be written."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.base.array_file import UNREADABLE, ArrayFile
from tvmq.base.text import printable
from tvmq.base.whole_file import Write, check_place, output_errors, write_file
from tvmq.calibration.data.pictures import SUFFIXES
from tvmq.calibration.dataset import samples_in
from tvmq.errors import DataError, ModelError, OutputError
from tvmq.runtime.sample_runs import batch_size

Arrays = dict[str, np.ndarray]
FLOAT_SUFFIXES = (".onnx", ".pt2")


def batch_of(exe: Any) -> int:
    """Batch size of an executable: 1 if its first dimension is dynamic, or no input has one."""
    return batch_size(exe.input_info)


def read_arrays(path: Path, names: Sequence[str], is_shared: Callable[[str, Any], bool] = lambda *_: False) -> Arrays:
    """{input name: array} from an .npz with one array for each input, or an .npy for a model of one input.

    names    inputs of the model, in order; arrays of other names are left out
    is_shared  True for an input and the shape of its array that belongs to all samples
    raises   DataError for a file that cannot be read, or lacks an input, or whose arrays differ in length
    """
    arrays = _select_inputs(_open_arrays(path, names), path, names)
    lengths = {n: array.shape[0] for n, array in arrays.items() if array.ndim and not is_shared(n, array.shape)}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        way_out = "" if 0 in lengths.values() else (
            "; an input whose batch is not the first axis, as the first state of an LSTM, is the same for all samples: "
            "one array of a batch of 1"
        )  # fmt: skip
        raise DataError(
            f"data: '{path}' must hold equally many samples of each input, at least 1. Got {lengths}{way_out}"
        )
    return arrays


def is_shared_by_all(shapes: Mapping[str, Sequence[int | None] | None], name: str, shape: Sequence[int]) -> bool:
    """True for the array of an input that does not begin with the batch, in the shape of a batch of one.

    Such is the first state of an LSTM, [layers, batch, hidden], where other inputs begin with the batch.

    >>> shapes = {"x": (None, 8), "h": (2, None, 32), "scales": (3,)}
    >>> [is_shared_by_all(shapes, "h", (2, n, 32)) for n in (1, 64)], is_shared_by_all(shapes, "x", (1, 8))
    ([True, False], False)
    >>> is_shared_by_all(shapes, "scales", (3,)), is_shared_by_all({"x": (3, 8), "y": (3, 4)}, "x", (3, 8))
    (True, False)
    """
    own = shapes.get(name)
    if not own or own[0] in (None, 1) or tuple(shape) != tuple(size or 1 for size in own):
        return False
    return any(other and other[0] in (None, 1) for other in shapes.values())


def split_shared(exe: Any, arrays: Arrays) -> tuple[Arrays, Arrays]:
    """Arrays of samples, and those that belong to every sample of an executable."""
    shapes = fixed_shapes(exe)
    shared = {name: array for name, array in arrays.items() if is_shared_by_all(shapes, name, array.shape)}
    return {name: array for name, array in arrays.items() if name not in shared}, shared


def fixed_shapes(exe: Any) -> dict[str, tuple[int | None, ...]]:
    """{input: shape} of an executable, None for dynamic dimensions."""
    return {info.name: tuple(None if isinstance(d, str) else d for d in info.shape) for info in exe.input_info}


def first_samples(arrays: Arrays, samples: int) -> Arrays:
    """The first samples of each input; scalars as they are."""
    return {name: array[:samples] if array.ndim else array for name, array in arrays.items()}


def check_arrays(path: Path) -> None:
    """Check before the work that a file is a readable .npz or .npy, without reading its values. raises DataError"""
    _open_arrays(path, ())


def member_names(path: Path) -> list[str]:
    """Names of the arrays of an .npz; none for an .npy. raises DataError as `read_arrays`"""
    return _open_arrays(path, ()).names or []


def read_member(path: Path, name: str) -> np.ndarray:
    """Read an array of an .npz. raises DataError as `read_arrays`"""
    return _member(_open_arrays(path, ()), name, path)


def _open_arrays(path: Path, names: Sequence[str]) -> ArrayFile:
    """Open a file without reading its arrays."""
    try:
        return ArrayFile(path)
    except FileNotFoundError:
        wanted = f"; make an .npz with {_quote_names(names)}" if names else "; check the path"
        raise DataError(f"data: there is no file '{path}'{wanted}") from None
    except UNREADABLE as error:
        if path.is_dir() or path.suffix.lower() in SUFFIXES:
            raise DataError(
                f"data: '{path}' is {'a folder' if path.is_dir() else 'a picture'}, not arrays; "
                "`tvmq quantize --save-samples FILE.npz` writes pictures as the model takes them"
            ) from None
        reason = "" if "magic string" in str(error) else f" ({error})"  # another kind of file altogether
        raise DataError(f"data: '{path}' is not an .npz or .npy file of plain arrays{reason}") from error


def _select_inputs(file: ArrayFile, path: Path, names: Sequence[str]) -> Arrays:
    """Pick the model's inputs from a file."""
    if file.names is None:
        if len(names) != 1:
            raise DataError(f"data: '{path}' is one array, but the model takes {_quote_names(names)}; save an .npz")
        return {names[0]: _member(file, "", path)}
    if len(names) == len(file.names) == 1:
        return {names[0]: _member(file, file.names[0], path)}
    missing = [name for name in names if name not in file.names]
    if missing:
        plain = all(name.isidentifier() for name in names)
        example = ", ".join(f"{name}=array" if plain else f"'{name}': array" for name in names)
        example = example if plain else f"**{{{example}}}"
        raise DataError(
            f"data: '{path}' lacks input '{missing[0]}' and holds {_quote_names(file.names)}; save it with "
            f"np.savez('{path}', {example})"
        )
    return {name: _member(file, name, path) for name in names}


def _member(file: ArrayFile, name: str, path: Path) -> np.ndarray:
    """Read an array; a damaged or pickled one is a DataError."""
    try:
        return file.array() if file.names is None else file[name]
    except UNREADABLE as error:
        raise DataError(f"data: '{name}' of '{path}' cannot be read ({error}); save it again") from error


def _quote_names(names: Sequence[str]) -> str:
    return ", ".join(f"'{printable(name)}'" for name in names) or "nothing"


class Batches:
    """Batches {name: array of `size` samples}, iterable repeatedly; scalars are passed as they are.

    count    how many batches; default: all that are full, but at least one. If samples run out they repeat from the
             beginning, so that every batch is full
    advance  called after each batch, for a progress bar

    >>> [feed["x"].tolist() for feed in Batches({"x": np.arange(5)}, 2, count=3)]
    [[0, 1], [2, 3], [4, 0]]
    """

    def __init__(
        self, arrays: Mapping[str, np.ndarray], size: int, advance: Callable[[], None] = lambda: None, *,
        count: int | None = None,
    ) -> None:  # fmt: skip
        self.arrays, self.size, self.advance = arrays, size, advance
        self.samples = samples_in(arrays)
        self.count = count or max(1, self.samples // size)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Arrays]:
        for i in range(self.count):
            index = np.arange(i * self.size, (i + 1) * self.size) % self.samples
            yield {name: array[index] if array.ndim else array for name, array in self.arrays.items()}
            self.advance()


def refuse_float_model(path: Path) -> None:
    """Refuse a float model where a saved one is meant, with the command that makes one. raises ModelError"""
    if path.suffix.lower() in FLOAT_SUFFIXES and path.is_file():
        raise ModelError(
            f"model: '{path}' is a float model, and this takes a saved one: `tvmq quantize {shlex.quote(str(path))} "
            "--data ...` makes it, and times float beside int8"
        )


def check_output(path: Path) -> None:
    """Check before the work that a file can be written there. raises OutputError"""
    folder = path.absolute().parent
    if path.is_dir():
        raise OutputError(f"output: '{path}' is a folder; name a file in it")
    if not folder.is_dir():
        raise OutputError(f"output: there is no folder '{folder}'; create it, or choose another --output")
    if not os.access(folder, os.W_OK):
        raise OutputError(f"output: no permission to write in '{folder}'; choose another --output")
    with output_errors(f"output: cannot write '{path}'", "choose another --output"):
        check_place(path)


def write_output(path: Path, content: bytes | Write) -> None:
    """Write a file under a temporary name beside it, then rename it, so that it exists whole or not at all.

    raises   OutputError, with nothing left behind
    """
    check_output(path)
    write_file(path, content, "output")
