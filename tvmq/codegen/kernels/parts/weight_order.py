"""Weights in the order of a kernel's loop, as packing.py describes it. NumPy only, for a model that is loaded.

Files hold plain weights where packed ones are larger; these are made when the model is loaded, from a recipe:

    {"shape": [filters, channels / groups, kernel rows, columns], "groups", "run", "taps", "dtype" of a packed weight,
     "slots": the channel in [vector][lane], "parts": [[vectors of a panel, panels], ...], "turned": of a dense layer,
     "multiple": of the steps of a run; 1 if it is not there}

Plain weights are int8, or float32 where packed ones are. Those of volumes and transposed convolutions are moved first:
"from" of the recipe is {"shape", "flip": axes, "axes": their new order}.

Tests: tests/runtime/artifact/test_shared_weights.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

DTYPES = ("int8", "int16", "int32", "float32")


def plain_dtype(packed: str) -> np.dtype:
    """Type of the weights that these are made of.

    >>> plain_dtype("int16"), plain_dtype("float32")
    (dtype('int8'), dtype('float32'))
    """
    return np.dtype("float32" if packed == "float32" else "int8")


def panels(parts: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """(first vector, vectors) of every panel of [(size, count), ...].

    >>> list(panels([(3, 1), (2, 2)]))
    [(0, 3), (3, 2), (5, 2)]
    """
    first = 0
    for size, count in parts:
        for _ in range(count):
            yield first, size
            first += size


def order_weights(
    weight: np.ndarray,
    groups: int,
    run: int,
    slots: np.ndarray,
    parts: Sequence[Sequence[int]],
    taps: int,
    dtype: str,
    multiple: int = 1,
) -> np.ndarray:
    """Weights [filters, channels, kernel rows, kernel columns] in the order of a kernel's loop, flat.

    run    input elements of a run: kernel columns * channels, or channels
    slots  channel that stands in [vector, lane]
    taps   weights of a lane in a step
    dtype  of the packed weights
    multiple  the steps of a run are a multiple of it, the last ones zeros
    """
    lines = weight_lines(weight, groups, run, slots, taps, dtype, multiple)
    # [groups, vector, lane, step, tap] -> each panel [step, vector, lane, tap]
    ordered = [
        lines[:, first : first + columns].transpose(0, 3, 1, 2, 4).reshape(groups, -1)
        for first, columns in panels(parts)
    ]
    return np.ascontiguousarray(np.concatenate(ordered, axis=1)).reshape(-1)


def weight_lines(
    weight: np.ndarray, groups: int, run: int, slots: np.ndarray, taps: int, dtype: str, multiple: int = 1
) -> np.ndarray:
    """Weights as [groups, vector, lane, step, tap], zero where there is no channel or tap; arguments as above."""
    filters, channels, height, width = weight.shape
    steps = -(-run // (taps * multiple)) * multiple
    runs = height * width * channels // run
    # [groups, filters, runs, run] in the order of memory: kernel row, kernel column, channel
    lines = weight.transpose(0, 2, 3, 1).reshape(groups, filters // groups, runs, run)
    padded = np.zeros((groups, slots.size, runs, steps * taps), dtype)
    padded[:, : filters // groups, :, :run] = lines
    return padded[:, slots].reshape(groups, *slots.shape, runs * steps, taps)


def checked_slots(recipe: dict[str, Any], filters: int) -> np.ndarray:
    """The slots of a recipe; ValueError where they, the parts and the filters do not fit each other."""
    slots, parts = np.asarray(recipe["slots"], np.int64), recipe["parts"]
    if min(min(part) for part in parts) < 1 or filters < 1:
        raise ValueError("sizes below 1")
    if slots.ndim != 2 or len(slots) != sum(size * count for size, count in parts) or filters > slots.size:
        raise ValueError("sizes of packed weights that do not fit each other")
    if slots.min() < 0 or slots.max() >= slots.size:
        raise ValueError("slots outside of the weights")
    return slots


def order_by_recipe(source: bytes, recipe: dict[str, Any], most: int) -> bytes:
    """Packed weights from plain ones, as the head of this file says.

    most    bytes that they may have
    raises  any error, for a recipe that is none
    """
    filters, channels, height, width = recipe["shape"]
    groups, run, taps, dtype = (recipe[name] for name in ("groups", "run", "taps", "dtype"))
    multiple = recipe.get("multiple", 1)
    if min(channels, height, width, groups, run, taps, multiple) < 1 or dtype not in DTYPES:
        raise ValueError("sizes below 1, or weights of another type")
    slots = checked_slots(recipe, filters // groups)
    steps = height * width * channels // run * -(-run // (taps * multiple)) * multiple
    size = groups * slots.size * steps * taps * np.dtype(dtype).itemsize
    if size > most:
        raise ValueError(f"weights of more than {most} bytes")
    values = np.frombuffer(source, plain_dtype(dtype))
    values = values.reshape(-1, filters).T if recipe.get("turned") else values
    if "from" in recipe:
        moves = recipe["from"]
        values = np.flip(values.reshape(moves["shape"]), moves["flip"]).transpose(moves["axes"])
    weight = values.reshape(filters, channels, height, width)
    return order_weights(weight, groups, run, slots, recipe["parts"], taps, dtype, multiple).tobytes()
