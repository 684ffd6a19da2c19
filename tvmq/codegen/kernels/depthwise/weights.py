"""Weights of depthwise convolutions in the order in which their kernels read them. NumPy only, for loaded models.

A kernel reads a tap as often as output pixels of a step use it in different places of a dot, with zeros between: two to
six times the bytes. Files hold the plain weights; these are made when the model is loaded, from a recipe:

    {"shape": [channels, 1, kernel rows, kernel columns], "dtype" of a packed weight, "variants": the tap in [variant]
     [slot], the number of kernel columns where there is none, "blocks": [[the channel in each place of a block, counted
     from its first, the first channels of such blocks], ...]}

Tests: tests/runtime/artifact/test_shared_weights.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvmq.codegen.kernels.parts.weight_order import DTYPES, plain_dtype


def order_weights(
    weight: np.ndarray, variants: Sequence[Sequence[int]], blocks: Sequence[Sequence[Sequence[int]]], dtype: str
) -> np.ndarray:
    """[channels, 1, rows, columns] -> [block][kernel row][variant][place][slot], flat.

    variants  tap in [variant][slot]; -1, or the number of columns, is none
    blocks    (channels of the places of a block, first channels) of each kind of block
    """
    channels, _, rows, kernel = weight.shape
    # a column of zeros behind the last tap is what no tap reads
    padded = np.zeros((channels, rows, kernel + 1), dtype)
    padded[:, :, :kernel] = weight[:, 0]
    spread = padded[:, :, np.array(variants)]  # [channel, row, variant, slot]
    parts = []
    for order, firsts in blocks:
        block = spread[np.add.outer(np.array(firsts), np.array(order))]  # [block, place, row, variant, slot]
        parts.append(np.ascontiguousarray(block.transpose(0, 2, 3, 1, 4)).reshape(-1))
    return np.concatenate(parts)


def pack_by_recipe(source: Any, recipe: dict[str, Any], most: int) -> memoryview:
    """Packed weights from plain ones, int8 or float32, as the head of this file says.

    most    bytes that they may have
    raises  any error, for a recipe that is none
    """
    (channels, one, rows, kernel), dtype, blocks = recipe["shape"], recipe["dtype"], recipe["blocks"]
    variants = np.asarray(recipe["variants"], np.int64)
    if min(channels, rows, kernel) < 1 or one != 1 or dtype not in DTYPES or variants.ndim != 2:
        raise ValueError("sizes below 1, or weights of another type")
    if variants.min() < 0 or variants.max() > kernel:
        raise ValueError("taps outside of the kernel")
    places = sum(len(order) * len(firsts) for order, firsts in blocks)
    if (places + channels) * rows * variants.size * np.dtype(dtype).itemsize > 2 * most:
        raise ValueError(f"weights of more than {most} bytes")
    if any(min(order) + min(firsts) < 0 or max(order) + max(firsts) >= channels for order, firsts in blocks):
        raise ValueError("channels outside of the weights")
    weight = np.frombuffer(source, plain_dtype(dtype)).reshape(channels, 1, rows, kernel)
    return order_weights(weight, variants.tolist(), blocks, dtype).data.cast("B")
