"""Transformed weights in the order in which kernels of Winograd's convolution read them. NumPy only.

Files hold the plain weights, a fraction of the bytes; these are made when the model is loaded, from a recipe:

    {"g": the rows of G, "shape": [filters, channels], "slots": the channel in [vector][lane], "parts": [[size, count]]}

with G of the scheme (winograd/scheme.py), slots and parts of the packing (kernels/parts/packing.py).

Tests: tests/codegen/kernels/winograd/test_winograd.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvmq.codegen.kernels.parts.weight_order import checked_slots, panels

Matrix = Sequence[Sequence[int]]


def transform_weights(weight: np.ndarray, g: Matrix) -> np.ndarray:
    """U = G w G': int8 [filters, channels, 3, 3] -> int16 [points, points, filters, channels].

    >>> transform_weights(np.ones((1, 1, 3, 3), np.int8), ((1, 0, 0), (1, 1, 1), (1, -1, 1), (0, 0, 1)))[1, :, 0, 0]
    array([3, 9, 3, 3], dtype=int16)
    """
    filters, channels = weight.shape[:2]
    result = np.empty((len(g), len(g), filters, channels), np.int16)
    transform_taps(weight.transpose(2, 3, 0, 1).astype(np.int16), g, result)
    return result


def transform_taps(taps: np.ndarray, g: Matrix, result: np.ndarray) -> None:
    """int16 [3, 3, ...] -> [points, points, ...]; the entries of G are small, so these are additions."""
    columns = [_combine(taps.swapaxes(0, 1), row) for row in g]
    for number, column in enumerate(columns):
        for place, row in enumerate(g):
            result[place, number] = _combine(column, row)


def _combine(parts: np.ndarray, factors: Sequence[int]) -> np.ndarray:
    """Sum of parts times factors."""
    total = None
    for part, factor in zip(parts, factors, strict=True):
        if factor == 0:
            continue
        if total is None:
            total = part * np.int16(factor) if factor != 1 else part
        elif abs(factor) == 1:
            total = total + part if factor == 1 else total - part
        else:
            total = total + part * np.int16(factor)
    return total if total is not None else np.zeros_like(parts[0])


def pack_transformed(weight: np.ndarray, g: Matrix, slots: np.ndarray, parts: Sequence[Sequence[int]]) -> np.ndarray:
    """U as kernels read it, flat int16: [panel][position][step][vector][lane][2 channels].

    weight  int8 [filters, channels, 3, 3]
    slots   filter that stands in [vector, lane]; numbers beyond the last are padding
    parts   (vectors of a panel, panels) in turn
    """
    filters, channels = weight.shape[:2]
    steps = -(-channels // 2)
    padded = np.zeros((3, 3, slots.size, 2 * steps), np.int16)
    padded[:, :, :filters, :channels] = weight.transpose(2, 3, 0, 1)
    result, done = np.empty(len(g) ** 2 * 2 * steps * slots.size, np.int16), 0
    for first, columns in panels(parts):
        # plain weights are a fraction of what they become, so these are put in order
        panel = padded[:, :, slots[first : first + columns]].reshape(3, 3, columns, -1, steps, 2)
        taps = np.ascontiguousarray(panel.transpose(0, 1, 4, 2, 3, 5)).reshape(3, 3, -1)
        end = done + len(g) ** 2 * taps.shape[-1]
        transform_taps(taps, g, result[done:end].reshape(len(g), len(g), -1))
        done = end
    return result


def pack_by_recipe(source: Any, recipe: dict[str, Any], most: int) -> memoryview:
    """Packed weights from plain ones, as the head of this file says.

    most    bytes that they may have
    raises  any error, for a recipe that is none
    """
    filters, channels = recipe["shape"]
    slots = checked_slots(recipe, filters)
    if channels < 1:
        raise ValueError("sizes below 1")
    if len(recipe["g"]) ** 2 * slots.size * (channels + 1) * 2 > most:
        raise ValueError(f"weights of more than {most} bytes")
    weight = np.frombuffer(source, np.int8).reshape(filters, channels, 3, 3)
    return pack_transformed(weight, recipe["g"], slots, recipe["parts"]).data.cast("B")
