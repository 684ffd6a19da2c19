"""Calibration data in any form a user has, as checked batches of {input name: array}; read as often as needed.

Accepted: an iterable of dictionaries, of tuples (inputs in order, labels after them) or of single arrays, batch first;
a torch DataLoader, and torch tensors in the place of arrays, on any device and with or without gradients; a path to
.npz or .npy; an object with get_next(). What can be read only once (a generator, get_next) is spooled to a temporary
file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.base.array_file import ArrayFile
from tvmq.errors import DataError, MemoryLimitError, OutputError

Feed = dict[str, np.ndarray]


@dataclass(frozen=True)
class Input:
    """An input of the model: name, shape with the batch first (None: any size), dtype."""

    name: str
    shape: tuple[int | None, ...]
    dtype: str


class Dataset:
    """Checked batches of a user's data, in the batch size of the model.

    Iterating gives (feed, count): arrays of the model's batch size, of which the first `count` samples are real and
    the rest repeats of the last one. A single number belongs to all samples it comes with, which are then not joined
    with others; where all inputs are single numbers each item is one sample. Where inputs differ in their first sizes
    there is no batch: data then come in the shapes of the model. `notice` is called with one sentence when data have
    to be spooled.
    """

    def __init__(self, data: Any, inputs: Sequence[Input], notice: Any = None) -> None:
        self.inputs = list(inputs)
        if not self.inputs:
            raise DataError("data: the model has no inputs; there is nothing to run it on")
        self._source, self._spool = _reopenable(data), None
        if self._source is None:
            self._source = self._spool = _spool_items(data, self.inputs, notice)

    def __iter__(self) -> Iterator[tuple[Feed, int]]:
        batch = next((info.shape[0] for info in self.inputs if info.shape), 1) or 1
        if not _has_batch(self.inputs):
            yield from ((check_batch(item, self.inputs, number), batch) for number, item in enumerate(self._source))
            return
        joins = all(info.shape for info in self.inputs)
        waiting: list[Feed] = []
        have = 0
        for number, item in enumerate(self._source):
            feed = check_batch(item, self.inputs, number)
            waiting.append(feed)
            have += samples_in(feed)
            while have >= batch:
                joined = _join_batches(waiting)
                yield {name: value[:batch] if value.ndim else value for name, value in joined.items()}, batch
                have -= batch
                waiting = [{n: value[batch:] if value.ndim else value for n, value in joined.items()}] if have else []
            if have and not joins:
                yield _fill_batch(waiting, batch), have
                waiting, have = [], 0
        if have:
            yield _fill_batch(waiting, batch), have

    def items(self) -> Iterator[Feed]:
        """The checked items as they were given, neither cut nor joined."""
        yield from (check_batch(item, self.inputs, number) for number, item in enumerate(self._source))

    def first(self) -> Feed:
        """The first batch as it was given; DataError if there is none."""
        for item in self._source:
            return check_batch(item, self.inputs, 0)
        raise DataError("calibration data: there are no samples; give at least one, better 100 to 500")

    def __len__(self) -> int:
        """Number of samples, counted by reading once."""
        return sum(count for _, count in self)


def samples_in(feed: Mapping[str, np.ndarray]) -> int:
    """Length of the first input that has one; 1 for single numbers.

    >>> samples_in({"rate": np.float32(0.5), "x": np.zeros((4, 2))}), samples_in({"rate": np.float32(0.5)})
    (4, 1)
    """
    return next((len(value) for value in feed.values() if np.ndim(value)), 1)


def _has_batch(inputs: Sequence[Input]) -> bool:
    """True if all inputs but single numbers begin with one and the same size, or a dynamic one."""
    return len({info.shape[0] for info in inputs if info.shape and info.shape[0] is not None}) <= 1


def _join_batches(feeds: Sequence[Feed]) -> Feed:
    return feeds[0] if len(feeds) == 1 else {name: np.concatenate([f[name] for f in feeds]) for name in feeds[0]}


def _fill_batch(waiting: Sequence[Feed], batch: int) -> Feed:
    """Fill a batch with fewer samples by repeating the last one."""
    return {
        name: np.concatenate([value, np.repeat(value[-1:], batch - len(value), axis=0)]) if value.ndim else value
        for name, value in _join_batches(waiting).items()
    }


def _reopenable(data: Any) -> Any:
    """Something that can be iterated again and again, or None."""
    if isinstance(data, (str, Path)):
        return _file(Path(data))
    if isinstance(data, np.ndarray) or hasattr(data, "detach"):
        return [data]
    if isinstance(data, Mapping):
        return [dict(data)]
    if hasattr(data, "get_next") or isinstance(data, Iterator):
        return None
    if hasattr(data, "__iter__") or hasattr(data, "__getitem__"):
        return data
    raise DataError(
        f"calibration data: cannot read {type(data).__name__}; give an iterable of arrays, tuples or dictionaries, "
        "or a path to .npz or .npy"
    )


def _file(path: Path) -> list[Any]:
    """The one batch that a NumPy file holds."""
    if not path.exists():
        raise DataError(f"calibration data: no file '{path}'")
    try:
        file = ArrayFile(path)
        return [file.array()] if file.names is None else [dict(file.items())]
    except MemoryLimitError:
        raise
    except Exception as error:  # truncated archives raise many kinds
        raise DataError(
            f"calibration data: '{path}' is no readable .npz or .npy file ({error}); save it with numpy.savez"
        ) from error


def _items(data: Any) -> Iterator[Any]:
    if hasattr(data, "get_next"):
        while (item := data.get_next()) is not None:
            yield item
    else:
        yield from data


def _spool_items(data: Any, inputs: Sequence[Input], notice: Any) -> BatchSpool:
    """Copy what can be read only once to a temporary folder, removed with the object."""
    spool = BatchSpool(inputs)
    for item in _items(data):
        spool.add(item)
    if notice:
        notice(f"calibration data can be read only once: {spool.count} batches were copied to a temporary folder")
    return spool


class BatchSpool:
    """Checked batches in a temporary folder, which is removed with the object; read as often as needed.

    inputs  what the model takes
    """

    def __init__(self, inputs: Sequence[Input]) -> None:
        self._inputs, self.count = list(inputs), 0
        self._folder = tempfile.TemporaryDirectory(prefix="tvmq-data-")

    @property
    def name(self) -> str:
        """The folder."""
        return self._folder.name

    def add(self, item: Any) -> None:
        """Keep one more batch; DataError where it does not fit, OutputError where there is no room."""
        self.add_checked(check_batch(item, self._inputs, self.count))

    def add_checked(self, feed: Feed) -> None:
        """Keep a batch that was checked; OutputError where there is no room."""
        try:
            # in order, not by name: savez has an argument named "file"
            np.savez(Path(self.name, f"{self.count + 1:08d}.npz"), *feed.values())
        except OSError as error:
            raise OutputError(
                f"calibration data: batch {self.count} could not be copied to '{self.name}' ({error.strerror}); "
                "make room, set TMPDIR, or give data that can be read twice (a list, a file)"
            ) from error
        self.count += 1

    def __iter__(self) -> Iterator[Feed]:
        for number in range(1, self.count + 1):
            with np.load(Path(self.name, f"{number:08d}.npz"), allow_pickle=False) as batch:
                yield {info.name: batch[key] for info, key in zip(self._inputs, batch.files, strict=True)}


def _array(value: Any) -> np.ndarray:
    """A NumPy array of anything that holds numbers; torch's tensors come from any device and element type."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.to_dense() if getattr(value, "is_sparse", False) else value
        # NumPy has no bfloat16, and would need no other type that it lacks
        value = (value.float() if str(getattr(value, "dtype", "")) == "torch.bfloat16" else value).numpy()
    return np.asarray(value)


def _values(item: Any) -> list[Any]:
    """The inputs of a tuple, in order; those of a tuple or dictionary inside it, as loaders with labels give them."""
    if not isinstance(item, (tuple, list)):
        return [item]
    is_nested = any(isinstance(part, (tuple, list)) and any(hasattr(x, "shape") for x in part) for part in item)
    return [value for part in item for value in _values(part)] if is_nested else list(item)


def check_batch(item: Any, inputs: Sequence[Input], number: int) -> Feed:
    """Convert a batch to {name: array}; raises DataError naming the input, what was found and what the model takes.

    Inputs that the model does not have are refused; a DataLoader's labels after the inputs of a tuple are dropped.
    """
    where = f"calibration data, batch {number}"
    if isinstance(item, (tuple, list)) and item and isinstance(item[0], Mapping):
        item = item[0]  # the rest are labels
    if isinstance(item, Mapping):
        feed = {str(name): _array(value) for name, value in item.items()}
    else:
        feed = dict(zip((i.name for i in inputs), map(_array, _values(item)), strict=False))
    names = [i.name for i in inputs]
    for name in names:
        if name not in feed:
            raise DataError(f"{where}: input '{name}' is missing; it has {sorted(feed)}, the model takes {names}")
    for name in feed:
        if name not in names:
            raise DataError(f"{where}: the model has no input '{name}'; it takes {names}")
    feed = {info.name: checked_array(feed[info.name], info, where) for info in inputs}
    sizes = {name: len(value) for name, value in feed.items() if value.ndim}
    if not _has_batch(inputs):
        _check_sizes(sizes, inputs, where)
    elif len(set(sizes.values())) > 1:
        raise DataError(f"{where}: inputs differ in their number of samples: {sizes}")
    return feed


def _check_sizes(sizes: Mapping[str, int], inputs: Sequence[Input], where: str) -> None:
    for info in inputs:
        if info.shape and info.shape[0] not in (None, sizes[info.name]):
            raise DataError(
                f"{where}: input '{info.name}' begins with {sizes[info.name]}, the model takes {info.shape[0]}; "
                "its inputs differ in their first sizes, so they cannot be cut into batches"
            )


def checked_array(value: np.ndarray, info: Input, where: str) -> np.ndarray:
    """The array in the model's dtype; a single sample without batch dimension gets one."""
    shape = info.shape
    if value.ndim == len(shape) - 1 and _fits(value.shape, shape[1:]):
        value = value[None]
    if value.ndim != len(shape) or not _fits(value.shape[1:], shape[1:]):
        want = "x".join("?" if d is None else str(d) for d in ("batch", *shape[1:])) if shape else "a single number"
        raise DataError(f"{where}: input '{info.name}' has shape {value.shape}, the model takes {want}")
    if value.dtype.kind not in "fiub" or (np.dtype(info.dtype).kind in "iu" and value.dtype.kind == "f"):
        raise DataError(f"{where}: input '{info.name}' is {value.dtype}, the model takes {info.dtype}")
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        bad = np.argwhere(~np.isfinite(value))[0].tolist()
        raise DataError(
            f"{where}: input '{info.name}' holds {int((~np.isfinite(value)).sum())} NaN or infinite values, "
            f"first at {bad}; repair the preprocessing"
        )
    if np.dtype(info.dtype).kind in "iu" and value.size:
        limits = np.iinfo(info.dtype)
        if int(value.min()) < limits.min or int(value.max()) > limits.max:
            raise DataError(
                f"{where}: input '{info.name}' holds {int(value.min())}..{int(value.max())}, "
                f"{info.dtype} ends at {limits.min}..{limits.max}"
            )
    return np.ascontiguousarray(value, dtype=info.dtype).reshape(value.shape)  # it makes vectors of numbers


def _fits(shape: Sequence[int], wanted: Sequence[int | None]) -> bool:
    return len(shape) == len(wanted) and all(w is None or int(s) == w for s, w in zip(shape, wanted, strict=True))
