"""First and second moments of what a convolution or product reads, exact in integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from tvmq.numerics.gemm import multiply_matrices, to_integers

# Rows that count: so many for each tap, and at most ROWS, of all samples together; of one sample at least LEAST_PLACES
# and at most MOST_PLACES. More tell little that is new: models of benchmarks/accuracy.py have the same signal to error
# within 0.1 dB with 256 rows of each of 200 samples. Weights of less than USUAL_BITS, which are rounded further, get
# MOST_PLACES of each sample (4 bits, few and all: resnet8_cifar10 20.9 and 22.2 dB, dscnn_digits 18.3 and 19.4;
# vit_cifar10 24.4 and 23.7, but 61.1 and 62.2 % right).
ROWS_OF_TAP, ROWS, LEAST_PLACES, MOST_PLACES = 128, 4096, 16, 256
USUAL_BITS = 8
# Of depthwise convolutions whose rows have more than WIDE values, which take longest: each of their groups has few taps
# (signal to error before and after: efficientnet_lite0 25.19 and 25.17 dB, mbconv_se_cifar10 28.05 and 27.95).
WIDE, ROWS_OF_WIDE_TAP, LEAST_WIDE_PLACES = 2048, 48, 6
GOLDEN = 0.6180339887498949  # its multiples are spread over an interval as evenly as can be
# Taps whose products are kept together; more are split into blocks of equal size.
MOST_TAPS = 1152
# Rows that are multiplied at once. float32 holds the sums of products of 8-bit codes exactly for EXACT_ROWS of them,
# 256 * 255 * 255 < 2^24; for more where the sums of squares stay below 2^24, since no sum of products passes the larger
# one of its two sums of squares. One that float32 rounds is off by far less than half of itself.
TURN, EXACT_ROWS, EXACT_SQUARES = 512, 256, 2.0**23


@dataclass
class Moments:
    """Exact sums over rows of what the taps of a layer read, q - zero_point.

    scale     real value of one step of what is read
    rows      number of rows summed
    joint     what has the products of several layers, in place of this one's own

    >>> moments = Moments(0.5)
    >>> moments.add(np.int16([[[1, 2], [3, 4]]]))
    >>> moments.rows, moments.totals()
    (2, [array([[4, 6]]), array([[[10, 14],
            [14, 20]]])])
    """

    scale: float
    rows: int = 0
    joint: Joint | None = field(default=None, repr=False)
    _totals: list[np.ndarray] | None = field(default=None, repr=False)
    _buffer: np.ndarray | None = field(default=None, repr=False)
    _filled: int = field(default=0, repr=False)

    def add(self, rows: np.ndarray) -> None:
        """Add integers (groups, rows, taps): of at most 255 in int16, below 2^16 in int32."""
        groups, count, taps = rows.shape
        if self._buffer is None:  # 2^20 products of 16-bit codes are exact in float64
            dtype = np.float32 if rows.dtype == np.int16 else np.float64
            self._buffer = np.empty_like(rows, dtype, order="K", shape=(groups, TURN, taps))  # copied as it lies
        self.rows += count
        while count:
            room = min(TURN - self._filled, count)
            self._buffer[:, self._filled : self._filled + room] = rows[:, :room]
            rows, count, self._filled = rows[:, room:], count - room, self._filled + room
            if self._filled == TURN:
                self._sum()

    def add_totals(self, count: int, totals: Sequence[np.ndarray]) -> None:
        """Add what `totals` of so many other rows gives."""
        self.rows += count
        self._totals = [a + b for a, b in zip(self.totals(), totals, strict=True)] if self._has_any() else [*totals]

    def _has_any(self) -> bool:
        return bool(self._filled) or self._totals is not None

    def _sum(self) -> None:
        """Empty the buffer into the sums."""
        assert self._buffer is not None
        exact, self._filled = self._buffer[:, : self._filled], 0
        sums = [to_integers(exact.sum(axis=1), np.int64, "moments"), *map(_products, blocks(exact))]
        if self._totals is None:
            self._totals = sums
        else:
            for total, more in zip(self._totals, sums, strict=True):
                np.add(total, more, out=total)

    def totals(self) -> list[np.ndarray]:
        """Sums int64 (groups, taps); then for each block of taps, in order, products int64 (groups, block, block)."""
        if self._filled:
            self._sum()
        assert self._totals is not None  # of no rows there is nothing
        return self._totals

    def means(self) -> np.ndarray:
        """Mean of each tap, float64 (groups, taps), in steps."""
        return self.totals()[0] / np.float64(self.rows)

    def matrices(self, *, centred: bool) -> list[np.ndarray]:
        """Mean products of each block, float64; `centred`: of the distances from the means (covariances)."""
        plain = [block / np.float64(self.rows) for block in self.totals()[1:]]
        if not centred:
            return plain
        means = blocks(self.means()[:, None, :])
        return [block - mean.transpose(0, 2, 1) * mean for block, mean in zip(plain, means, strict=True)]


@dataclass
class Joint:
    """Sums over the rows of all layers that use one weight, in real values, as their steps differ.

    uses      their moments, in order
    products  of each block of taps, float64 (groups, block, block), the uses added in their order
    """

    uses: list[Moments] = field(default_factory=list)
    products: list[np.ndarray] = field(default_factory=list)

    def add(self, use: Moments) -> None:
        """Add what another layer reads."""
        own = [block * np.float64(use.scale) ** 2 for block in use.totals()[1:]]
        self.products = [a + b for a, b in zip(self.products, own, strict=True)] if self.uses else own
        self.uses.append(use)

    def take(self, use: Moments) -> None:
        """Add the moments of a layer; its own products are given up, its means stay."""
        self.add(use)
        use.joint, use._totals = self, use.totals()[:1]

    def matrices(self, *, centred: bool) -> list[np.ndarray]:
        """As Moments.matrices, each use centred by its own means."""
        rows, products = np.float64(sum(use.rows for use in self.uses)), list(self.products)
        for use in self.uses if centred else ():
            weight = np.float64(use.scale) ** 2 * use.rows
            means = blocks(use.means()[:, None, :])
            products = [a - weight * (m.transpose(0, 2, 1) * m) for a, m in zip(products, means, strict=True)]
        return [block / rows for block in products]


def joint_matrices(uses: Sequence[Moments], *, centred: bool) -> list[np.ndarray]:
    """Mean products of each block over all rows that one weight multiplies, float64.

    Of several uses in real values; of one in steps. Rounding asks for ratios alone.

    >>> one, two = Moments(0.5), Moments(2.0)
    >>> one.add(np.int16([[[2, 0]]]))
    >>> two.add(np.int16([[[0, 1]]]))
    >>> joint_matrices([one, two], centred=False)
    [array([[[0.5, 0. ],
            [0. , 2. ]]])]
    """
    if len(uses) == 1 and uses[0].joint is None:
        return uses[0].matrices(centred=centred)
    if uses[0].joint is not None and all(use.joint is uses[0].joint for use in uses):
        return uses[0].joint.matrices(centred=centred)
    joint = Joint()
    for use in uses:
        joint.add(use)
    return joint.matrices(centred=centred)


def _products(rows: np.ndarray) -> np.ndarray:
    """Sums of the products of each two taps, int64 (groups, taps, taps); BLAS halves the work for a single matrix."""
    if len(rows) == 1:
        products = multiply_matrices(rows[0].T, rows[0])[None]
    else:
        products = multiply_matrices(rows.transpose(0, 2, 1), rows)
    if products.dtype == np.float32 and rows.shape[1] > EXACT_ROWS:
        if products.diagonal(axis1=1, axis2=2).max(initial=0) >= EXACT_SQUARES:
            parts = rows[:, :EXACT_ROWS], rows[:, EXACT_ROWS:]
            return np.add(*map(_products, parts))
    return to_integers(products, np.int64, "moments")


def blocks(array: np.ndarray) -> list[np.ndarray]:
    """An array split along its last axis into as few blocks of at most MOST_TAPS as possible, equal but for one."""
    count = max(1, -(-array.shape[-1] // MOST_TAPS))
    return np.array_split(array, count, axis=-1)


def product_rows(codes: np.ndarray, zero_point: int, places: int = MOST_PLACES) -> np.ndarray:
    """Rows that a matrix product reads of codes (samples, ..., taps), or (taps) for one row: integers (1, rows, taps).

    places   of each sample at most
    returns  int16 of 8-bit codes, else int32

    >>> product_rows(np.uint8([3, 5]), 4)
    array([[[-1,  1]]], dtype=int16)
    """
    codes = np.atleast_2d(codes)
    flat = codes.reshape(len(codes), -1, codes.shape[-1])
    rows = _subtract_zero_point(flat[:, choose_places(flat.shape[1], places)], zero_point)
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
    places: int = MOST_PLACES,
) -> np.ndarray:
    """Rows that a convolution reads of codes (samples, channels, spatial...): integers (groups, rows, taps).

    padding  all befores, then all afters; what lies there is 0
    places   of each sample at most
    returns  int16 of 8-bit codes, else int32
    taps     in the order of the weight: channel of the group, then place in the kernel

    >>> window_rows(np.int16([[[0, 1, 2]]]), 1, kernel=[2], strides=[1], padding=[1, 0], dilation=[1], groups=1)
    array([[[ 0, -1],
            [-1,  0],
            [ 0,  1]]], dtype=int32)
    """
    samples, channels, *size = codes.shape
    geometry = (kernel, strides, padding, dilation)
    inside, outside = _window_places(places, tuple(size), *(tuple(map(int, numbers)) for numbers in geometry))
    rows = _subtract_zero_point(codes.reshape(samples, channels, -1)[:, :, inside], zero_point)
    if outside is not None:
        rows[:, :, outside] = 0
    rows = rows.reshape(samples, groups, -1, inside.shape[1])
    # rows lie side by side in memory: nothing is moved where there is one sample
    return rows.transpose(1, 2, 0, 3).reshape(groups, -1, samples * inside.shape[1]).transpose(0, 2, 1)


def picture_rows(
    codes: np.ndarray,
    zero_point: int,
    *,
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    places: int = MOST_PLACES,
) -> np.ndarray:
    """`window_rows` of one group, of pictures with their channels last: codes (samples, rows, columns, channels).

    >>> options = {"kernel": [1, 1], "strides": [1, 1], "padding": [0] * 4, "dilation": [1, 1]}
    >>> picture_rows(np.uint8([[[[5, 6], [7, 8]]]]), 1, **options)
    array([[[4, 5],
            [6, 7]]], dtype=int16)
    """
    samples, *size, channels = codes.shape
    geometry = (kernel, strides, padding, dilation)
    inside, outside = _window_places(places, tuple(size), *(tuple(map(int, numbers)) for numbers in geometry))
    rows = _subtract_zero_point(codes.reshape(samples, -1, channels)[:, inside.T], zero_point)
    if outside is not None:
        rows[:, outside.T] = 0
    return rows.transpose(0, 1, 3, 2).reshape(1, samples * inside.shape[1], -1)


def window_places(
    size: Sequence[int],
    *,
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    places: int = MOST_PLACES,
) -> np.ndarray:
    """Where `window_rows` reads in a picture of this size: int32 (rows, taps), -1 for what lies outside.

    >>> window_places([3], kernel=[2], strides=[1], padding=[1, 0], dilation=[1])
    array([[-1,  0],
           [ 0,  1],
           [ 1,  2]], dtype=int32)
    """
    geometry = (kernel, strides, padding, dilation)
    inside, outside = _window_places(places, tuple(map(int, size)), *(tuple(map(int, numbers)) for numbers in geometry))
    flat = inside if outside is None else np.where(outside, -1, inside)
    return np.ascontiguousarray(flat.T, np.int32)


def _subtract_zero_point(codes: np.ndarray, zero_point: int) -> np.ndarray:
    """codes - zero_point: int16 of 8-bit codes, int32 of 16-bit ones."""
    dtype = np.dtype(np.int16 if codes.dtype.itemsize == 1 else np.int32)
    return np.subtract(codes, zero_point, dtype=dtype)


@lru_cache(maxsize=512)
def _window_places(
    wanted: int,
    size: tuple[int, ...],
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[np.ndarray, np.ndarray | None]:
    """(taps, places): where in the flat picture each tap reads; and where that is outside of it, None for nowhere."""
    rank = len(size)
    spans = [step * (taps - 1) + 1 for taps, step in zip(kernel, dilation, strict=True)]
    padded = [length + padding[axis] + padding[axis + rank] for axis, length in enumerate(size)]
    results = [(length - span) // step + 1 for length, span, step in zip(padded, spans, strides, strict=True)]
    places = np.unravel_index(choose_places(int(np.prod(results)), wanted), results)
    taps = np.unravel_index(np.arange(int(np.prod(kernel))), kernel)
    flat, outside = np.zeros((len(taps[0]), len(places[0])), np.intp), np.zeros((), bool)
    for axis, length in enumerate(size):
        at = taps[axis][:, None] * dilation[axis] + places[axis] * strides[axis] - padding[axis]
        outside = outside | (at < 0) | (at >= length)
        flat = flat * length + at.clip(0, length - 1)
    return flat, outside if outside.any() else None


def places_in_sample(samples: int, taps: int, groups: int = 1, bits: int = USUAL_BITS) -> int:
    """Rows that count of each of so many samples, for weights of so many bits.

    >>> places_in_sample(100, 9), places_in_sample(100, 576), places_in_sample(1, 576), places_in_sample(100, 9, 672)
    (16, 41, 256, 6)
    >>> places_in_sample(100, 9, bits=4)
    256
    """
    if bits < USUAL_BITS:
        return MOST_PLACES
    is_wide = groups > 1 and groups * taps > WIDE
    of_tap, least = (ROWS_OF_WIDE_TAP, LEAST_WIDE_PLACES) if is_wide else (ROWS_OF_TAP, LEAST_PLACES)
    rows = min(ROWS, of_tap * taps)
    return min(max(-(-rows // max(samples, 1)), least), MOST_PLACES)


def choose_places(count: int, wanted: int) -> np.ndarray:
    """At most `wanted` of so many places: one in each part of equal size, not always at its beginning.

    Evenly spaced places of a picture 64 wide would all lie in a few columns, whose borders and patterns are not the
    picture's (4 dB of signal to error on benchmarks/accuracy.py's unet_membrane).

    >>> choose_places(100, 4)
    array([ 0, 40, 55, 96])
    """
    if count <= wanted:
        return np.arange(count)
    parts = np.arange(wanted + 1) * count // wanted
    within = (np.arange(wanted) * GOLDEN) % 1.0
    return np.asarray(parts[:-1] + (within * np.diff(parts)).astype(np.int64))
