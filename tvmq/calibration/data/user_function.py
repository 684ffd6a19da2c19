"""Samples from a function of the user's, named on the command line as module:function or file.py:function."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.base.text import LONGEST, printable
from tvmq.calibration.data.spool import Spool
from tvmq.calibration.dataset import Input, check_batch, samples_in
from tvmq.errors import ConfigError, DataError, TvmqError


def is_function(text: str) -> bool:
    """True for module:function and file.py:function; a file of that very name comes first.

    >>> is_function("my_data:batches"), is_function("data/load.py:batches"), is_function("pictures/")
    (True, True, False)
    """
    place, _, name = text.rpartition(":")
    return bool(place) and name.isidentifier() and not Path(text).exists()


def load_function(text: str, option: str) -> Callable[..., Any]:
    """The function that a text names; the current folder is searched as Python itself does.

    option   for messages, such as "--data"
    raises   ConfigError saying what is missing; errors inside of the module are the user's and keep their text
    """
    place, _, name = text.rpartition(":")
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else _import_module(place)
    except (Exception, SystemExit) as error:  # whatever the user's code raises
        raise ConfigError(f"{option}: '{place}' cannot be loaded ({_reason(error)}); mend it") from error
    function = getattr(module, name, None)
    if not callable(function):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise ConfigError(f"{option}: '{place}' has no function '{name}'; it has {', '.join(known) or 'none'}")
    return function


def check_place(text: str, option: str) -> None:
    """DataError if the file of file.py:function is not there; nothing of it is run."""
    place = Path(text.rpartition(":")[0])
    if place.suffix == ".py" and not place.is_file():
        raise DataError(f"{option}: there is no file '{place}'; check the path")


def _import_module(name: str) -> Any:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # a console script has its own folder there instead
    return importlib.import_module(name)


def _from_file(path: Path) -> Any:
    if not path.exists():
        raise FileNotFoundError(f"there is no file '{path}'")
    loaded = sys.modules.get(path.stem)
    if loaded is not None and getattr(loaded, "__file__", None) == str(path.resolve()):
        return loaded  # by another option already
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # it may import its neighbours
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def first_item(function: Callable[..., Any], text: str) -> Any:
    """The first thing that the function yields, to learn sizes from. raises DataError where there is none."""
    for item in _items(function, text):
        return item
    raise DataError(f"data: '{text}' yields nothing; it must yield batches: arrays, {{input: array}}, or tuples")


def _items(function: Callable[..., Any], text: str) -> Iterator[Any]:
    """The items that the function yields; DataError with its place for what its code raises."""
    count = 0
    try:
        for item in _batches(function, text):
            yield item
            count += 1
    except (TvmqError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"line {last.lineno} of '{last.filename}'"
        raise DataError(f"data: '{text}' ended in {_reason(error)} at batch {count}, {place}; mend it") from error


def _reason(error: BaseException) -> str:
    """An exception of the user's code, on one line."""
    return f"{type(error).__name__}: {printable(str(error))[:LONGEST]}"


def _batches(function: Callable[..., Any], text: str) -> Iterable[Any]:
    batches = function()
    if isinstance(batches, (np.ndarray, Mapping)) or hasattr(batches, "detach"):
        return [batches]
    if not hasattr(batches, "__iter__"):
        raise DataError(
            f"data: '{text}' returned {type(batches).__name__}; let it yield batches: arrays with the samples first, "
            "{input: array}, or tuples of inputs and a label"
        )
    return batches


def spool_samples(
    function: Callable[..., Any],
    text: str,
    inputs: list[Input],
    count: int,
    advance: Callable[[], None] = lambda: None,
) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
    """The first `count` samples that the function yields: arrays on disk by input, and labels if there are any.

    What follows the inputs in a tuple, and entries "label" and "labels" of a dictionary, are labels.
    """
    rows: dict[str, Spool] = {info.name: Spool() for info in inputs}
    labels: list[Any] = []
    have = 0
    for number, item in enumerate(_items(function, text)):
        item, label = _without_label(item, inputs)
        feed = _check_sizes(item, inputs, number)
        size = samples_in(feed)
        for name, value in feed.items():
            for row in value if value.ndim else [value] * size:
                rows[name].append(row)
        labels += [] if label is None else list(np.atleast_1d(_array(label)))
        for _ in range(size):
            advance()
        have += size
        if have >= count:
            break
    if not have:
        raise DataError(f"data: '{text}' yields nothing; it must yield batches: arrays, {{input: array}}, or tuples")
    arrays = {name: spool.array()[:count] for name, spool in rows.items()}
    return arrays, np.array(labels)[:count] if len(labels) == have else None


def _check_sizes(item: Any, inputs: list[Input], number: int) -> dict[str, np.ndarray]:
    """A checked batch; where the first one decided the sizes, a later one of others is told what to do."""
    try:
        return check_batch(item, inputs, number)
    except DataError as error:
        if number and "has shape" in str(error):
            raise DataError(
                f"{error}; sizes are those of the first batch: pad or cut all to one length, or keep sizes dynamic in "
                "Python (docs/sizes.md)"
            ) from error
        raise


def _without_label(item: Any, inputs: list[Input]) -> tuple[Any, Any]:
    """The inputs, and the label or None."""
    names = {info.name for info in inputs}
    if isinstance(item, Mapping):
        keys = [key for key in ("labels", "label") if key in item and key not in names]
        return _inputs_alone(item, names), item[keys[0]] if keys else None
    if isinstance(item, (tuple, list)) and item and isinstance(item[0], Mapping):
        return _inputs_alone(item[0], names), item[1] if len(item) > 1 else None
    if isinstance(item, (tuple, list)) and len(item) == len(inputs) + 1:
        return tuple(item[:-1]), item[-1]
    return item, None


def _inputs_alone(item: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    """The inputs alone, where all are there: tokenizers give more than many models take."""
    return {key: value for key, value in item.items() if key in names or not names <= item.keys()}


def left_out(item: Any, inputs: list[Input]) -> list[str]:
    """Entries of the first thing that a function yields which are neither inputs nor labels.

    >>> left_out({"ids": [1], "token_type_ids": [0], "labels": [3]}, [Input("ids", (1, 1), "int64")])
    ['token_type_ids']
    """
    entries = item[0] if isinstance(item, (tuple, list)) and item else item
    names = {info.name for info in inputs}
    if not isinstance(entries, Mapping) or not names <= entries.keys():
        return []
    return [key for key in entries if key not in names and key not in ("labels", "label")]


def without_label(item: Any, inputs: list[Input]) -> Any:
    """Inputs of an item that a function yields, its label dropped."""
    return _without_label(item, inputs)[0]


def _array(value: Any) -> np.ndarray:
    return np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
