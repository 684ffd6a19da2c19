"""First and second moments of what a convolution or product reads, exact in integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmq.numerics.gemm import multiply_matrices

# Places that count in each sample, evenly spaced: more of one picture tell little that is new.
PLACES = 256
# Taps whose products are kept together; more are split into blocks of equal size.
MOST_TAPS = 1152


@dataclass
class Moments:
    """Exact sums over rows of what the taps of a layer read; q - zero_point in int64.

    scale     real value of one step of what is read
    sums      int64 (groups, taps)
    products  for each block of taps, in order, int64 (groups, block, block)
    rows      number of rows summed

    >>> moments = Moments(0.5)
    >>> moments.add(np.array([[[1, 2], [3, 4]]]))
    >>> moments.rows, moments.sums, moments.products[0]
    (2, array([[4, 6]]), array([[[10, 14],
            [14, 20]]]))
    """

    scale: float
    rows: int = 0
    sums: np.ndarray | None = None
    products: list[np.ndarray] | None = None

    def add(self, rows: np.ndarray) -> None:
        """Add integers (groups, rows, taps) below 2^16; float64 holds all of the products of 2^20 rows exactly."""
        exact = rows.astype(np.float64)
        found = [_products(block).astype(np.int64) for block in blocks(exact)]
        sums = exact.sum(axis=1).astype(np.int64)
        self.rows += rows.shape[1]
        self.sums = sums if self.sums is None else self.sums + sums
        self.products = found if self.products is None else [a + b for a, b in zip(self.products, found, strict=True)]

    def means(self) -> np.ndarray:
        """Mean of each tap, float64 (groups, taps), in steps."""
        assert self.sums is not None  # of no rows there is no mean
        return self.sums / np.float64(self.rows)

    def matrices(self, *, centred: bool) -> list[np.ndarray]:
        """Mean products of each block, float64; `centred`: of the distances from the means (covariances)."""
        plain = [block / np.float64(self.rows) for block in self.products or ()]
        if not centred:
            return plain
        means = blocks(self.means()[:, None, :])
        return [block - mean.transpose(0, 2, 1) * mean for block, mean in zip(plain, means, strict=True)]


def _products(rows: np.ndarray) -> np.ndarray:
    """Sums of the products of each two taps (groups, taps, taps); BLAS halves the work for a single matrix."""
    if len(rows) == 1:
        return multiply_matrices(rows[0].T, rows[0])[None]
    return multiply_matrices(rows.transpose(0, 2, 1), rows)


def blocks(array: np.ndarray) -> list[np.ndarray]:
    """An array split along its last axis into as few blocks of at most MOST_TAPS as possible, equal but for one."""
    count = max(1, -(-array.shape[-1] // MOST_TAPS))
    return np.array_split(array, count, axis=-1)


def product_rows(codes: np.ndarray, zero_point: int) -> np.ndarray:
    """What a matrix product reads of codes (samples, ..., taps), or (taps) for one row: integers (1, rows, taps).

    >>> product_rows(np.uint8([3, 5]), 4)
    array([[[-1,  1]]], dtype=int32)
    """
    codes = np.atleast_2d(codes)
    flat = codes.reshape(len(codes), -1, codes.shape[-1])
    rows = flat[:, _places(flat.shape[1])].astype(np.int32) - zero_point
    return rows.reshape(1, -1, codes.shape[-1])


def window_rows(
    codes: np.ndarray,
    zero_point: int,
    *,
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> np.ndarray:
    """What a convolution reads of codes (samples, channels, spatial...): integers (groups, rows, taps).

    padding  all befores, then all afters; what lies there is 0
    taps     in the order of the weight: channel of the group, then place in the kernel

    >>> window_rows(np.arange(3).reshape(1, 1, 3), 1, kernel=[2], strides=[1], padding=[1, 0], dilation=[1], groups=1)
    array([[[ 0, -1],
            [-1,  0],
            [ 0,  1]]], dtype=int32)
    """
    samples, channels, *size = codes.shape
    rank = len(size)
    sides = [(int(padding[axis]), int(padding[axis + rank])) for axis in range(rank)]
    padded = np.pad(codes, [(0, 0), (0, 0), *sides], constant_values=zero_point)
    spans = [step * (taps - 1) + 1 for taps, step in zip(kernel, dilation, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(padded, spans, axis=tuple(range(2, 2 + rank)))
    every: tuple[Any, ...] = (slice(None), slice(None))
    windows = windows[(*every, *(slice(None, None, s) for s in strides), *(slice(None, None, d) for d in dilation))]
    results = windows.shape[2 : 2 + rank]
    places = np.unravel_index(_places(int(np.prod(results))), results)
    chosen = windows[(*every, *places)].reshape(samples, groups, channels // groups, len(places[0]), -1)
    rows = chosen.transpose(1, 0, 3, 2, 4).reshape(groups, samples * len(places[0]), -1)
    return rows.astype(np.int32) - zero_point


def _places(count: int) -> np.ndarray:
    """At most PLACES of so many, evenly spaced."""
    used = min(count, PLACES)
    return np.arange(used) * count // max(used, 1)
