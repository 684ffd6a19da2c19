"""Winograd's convolution in integers: its matrices, and the proof that they are exact. NumPy only.

For one tile of outputs along an axis, with B', G and A' the usual matrices of F(m, 3) (Winograd 1980; Lavin and Gray,
"Fast Algorithms for Convolutional Neural Networks", arXiv:1509.09308) the rows of G are scaled to integers and A'
takes the scales back up to one common factor d, so that for a patch x and a kernel w of one channel

    V = B' x B,  U = G w G',  A' (U * V) A = d^2 y       y: the plain convolution, * element by element

Everything is a sum of products of integers, so it holds modulo 2^32 whatever wraps on the way. With d^2 = odd * 2^shift
the product with the inverse of `odd` modulo 2^32 leaves 2^shift * y, and an arithmetic shift gives y: exactly so where
|2^shift * y| < 2^31. U and V must fit int16, in which they are multiplied.

Tests: tests/codegen/kernels/winograd/test_winograd.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tvmq import numerics

Matrix = tuple[tuple[int, ...], ...]
INT16_MAX = 2**15 - 1


@dataclass(frozen=True)
class Scheme:
    """F(tile x tile, 3 x 3).

    tile        outputs along an axis
    b, g, a     B' [points, points], G [points, 3] and A' [tile, points], all integers
    odd, shift  factor of the result: d^2 = odd * 2^shift
    """

    tile: int
    b: Matrix
    g: Matrix
    a: Matrix
    odd: int
    shift: int

    @property
    def points(self) -> int:
        """Inputs along an axis, and products."""
        return self.tile + 2

    @property
    def positions(self) -> int:
        """Products of a tile and a channel."""
        return self.points**2

    @property
    def inverse(self) -> int:
        """The inverse of `odd` modulo 2^32, as int32."""
        return (pow(self.odd, -1, 2**32) + 2**31) % 2**32 - 2**31

    @property
    def name(self) -> str:
        """Display name."""
        return f"F({self.tile}x{self.tile},3x3)"

    @property
    def sum_limit(self) -> int:
        """Sums of this magnitude are too large."""
        return 2 ** (31 - self.shift)


F4 = Scheme(
    4,
    ((4, 0, -5, 0, 1, 0), (0, -4, -4, 1, 1, 0), (0, 4, -4, -1, 1, 0), (0, -2, -1, 2, 1, 0), (0, 2, -1, -2, 1, 0),
     (0, 4, 0, -5, 0, 1)),
    ((1, 0, 0), (-1, -1, -1), (-1, 1, -1), (1, 2, 4), (1, -2, 4), (0, 0, 1)),
    ((6, 4, 4, 1, 1, 0), (0, 4, -4, 2, -2, 0), (0, 4, 4, 4, 4, 0), (0, 4, -4, 8, -8, 24)),
    odd=9, shift=6,
)  # fmt: skip
F2 = Scheme(
    2,
    ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1)),
    ((1, 0, 0), (1, 1, 1), (1, -1, 1), (0, 0, 1)),
    ((2, 1, 1, 0), (0, 1, -1, -2)),
    odd=1, shift=2,
)  # fmt: skip


def input_limit(scheme: Scheme, low: int, high: int) -> int:
    """The largest magnitude of V for codes from low to high.

    >>> input_limit(F4, 0, 255), input_limit(F4, -128, 127), input_limit(F2, 0, 255)
    (17340, 12768, 1020)
    """
    b = np.asarray(scheme.b, np.int64)
    both = np.kron(b, b)
    most = np.maximum(both * low, both * high).sum(axis=1).max()
    least = np.minimum(both * low, both * high).sum(axis=1).min()
    return int(max(most, -least))


def refusal(weight: np.ndarray, low: int, high: int, scheme: Scheme) -> str:
    """Why the scheme is not proved exact for these weights and codes from low to high; empty if it is.

    weight  int8 [filters, channels, 3, 3]

    >>> refusal(np.full((1, 114, 3, 3), -128, np.int8), 0, 255, F4)
    ''
    >>> refusal(np.full((1, 115, 3, 3), -128, np.int8), 0, 255, F4)
    'sums of filter 0 reach 33782400, F(4x4,3x3) is exact below 33554432'
    """
    bounds = numerics.accumulator_bound(weight, low, high)
    worst = int(bounds.argmax())
    if bounds[worst] >= scheme.sum_limit:
        return f"sums of filter {worst} reach {bounds[worst]}, {scheme.name} is exact below {scheme.sum_limit}"
    # holds for all 8-bit weights and codes and both schemes; it stands here so that a new scheme cannot forget it
    largest = max(input_limit(scheme, low, high), _largest_weight(scheme, weight))
    return f"transformed operands reach {largest}, int16 ends at {INT16_MAX}" if largest > INT16_MAX else ""


def _largest_weight(scheme: Scheme, weight: np.ndarray) -> int:
    """A bound on |U|: the sum of |G| along both axes times the largest weight."""
    rows = np.abs(np.asarray(scheme.g)).sum(axis=1).max()
    return int(rows**2 * np.abs(weight.astype(np.int64)).max(initial=0))
