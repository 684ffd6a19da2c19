"""Transformed weights in the order in which kernels of Winograd's convolution read them. NumPy only.

Files hold the plain weights, a fraction of the bytes; these are made when the model is loaded, from a recipe:

    {"g": the rows of G, "shape": [filters, channels], "slots": the channel in [vector][lane], "parts": [[size, count]]}

with G of the scheme (winograd/scheme.py), slots and parts of the packing (kernels/parts/packing.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvmq.kernels.parts.weight_order import checked_slots, panels

Matrix = Sequence[Sequence[int]]


def transform_weights(weight: np.ndarray, g: Matrix) -> np.ndarray:
    """U = G w G': int8 [filters, channels, 3, 3] -> int16 [points, points, filters, channels].

    >>> transform_weights(np.ones((1, 1, 3, 3), np.int8), ((1, 0, 0), (1, 1, 1), (1, -1, 1), (0, 0, 1)))[1, :, 0, 0]
    array([3, 9, 3, 3], dtype=int16)
    """
    matrix, (filters, channels) = np.asarray(g, np.float32), weight.shape[:2]
    points = len(matrix)
    # float32 holds these integers, and its matrix products are fast
    rows = (weight.astype(np.float32).reshape(-1, 3) @ matrix.T).reshape(-1, 3, points)
    both = (matrix @ rows.transpose(1, 0, 2).reshape(3, -1)).astype(np.int16)
    return np.ascontiguousarray(both.reshape(points, filters, channels, points).transpose(0, 3, 1, 2))


def pack_transformed(weight: np.ndarray, g: Matrix, slots: np.ndarray, parts: Sequence[Sequence[int]]) -> np.ndarray:
    """U as kernels read it, flat int16: [position][panel][step][vector][lane][2 channels].

    weight  int8 [filters, channels, 3, 3]
    slots   filter that stands in [vector, lane]; numbers beyond the last are padding
    parts   (vectors of a panel, panels) in turn
    """
    filters, channels = weight.shape[:2]
    steps = -(-channels // 2)
    padded = np.zeros((len(g) ** 2, slots.size, 2 * steps), np.int16)
    padded[:, :filters, :channels] = transform_weights(weight, g).reshape(-1, filters, channels)
    placed = padded[:, slots].reshape(-1, *slots.shape, steps, 2)
    ordered = [
        placed[:, first : first + columns].transpose(0, 3, 1, 2, 4).reshape(-1) for first, columns in panels(parts)
    ]
    return np.concatenate(ordered)


def pack_by_recipe(source: bytes, recipe: dict[str, Any], most: int) -> bytes:
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
    return pack_transformed(weight, recipe["g"], slots, recipe["parts"]).tobytes()
