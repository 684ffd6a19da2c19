"""The channels-last form of an integral core, of which the files of formats with channels last are printed.

A node says all that a printer needs: spatial options for two axes, the bias as in the module, the border and the zero
point as codes of the file. Pending nodes are printed when it is known what reads them: a bias, a requantize.

    CoreConvolution, CoreConvTranspose, MatrixProduct, SumPool, PendingPad   pending
    CoreMaxPool, Extreme, CoreConcat, Slice, RepeatPixels                    printed at once

Tests: tests/formats/exporting/test_core.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tvmq.formats.exporting.layouts import LAST, Ints, Order, arrange_sizes, to_two_axes
from tvmq.numerics.windows import both_sides

if TYPE_CHECKING:
    from tvmq.formats.exporting.core_writer import CoreWriter

Sides = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class CoreTensor:
    """A tensor of the file.

    place         its number or name in the file
    shape         in the module
    order         of its axes in the file
    dtype         in the file
    uint8_offset  codes of the module minus those of the file: 128 for uint8, else 0
    scale, zero   real value of one step, and the code of 0.0 in the file, where the format has them
    """

    place: Any
    shape: Ints
    order: Order
    dtype: str = "int8"
    uint8_offset: int = 0
    scale: np.float32 = np.float32(1)
    zero: int = 0

    @property
    def sizes(self) -> Ints:
        """Shape in the file."""
        return arrange_sizes(self.shape, self.order)

    @property
    def is_channels_last(self) -> bool:
        """True for channels last."""
        return self.order == LAST.get(len(self.shape))


@dataclass(frozen=True)
class SlidingWindows:
    """How windows slide over rows and columns.

    sizes    of the image, border not counted
    results  number of windows
    before   border before the first element
    """

    sizes: Ints
    results: Ints
    kernel: Ints
    strides: Ints
    dilation: Ints
    before: Ints

    @property
    def spans(self) -> Ints:
        """Elements from a window's first to its last along each axis."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True))

    @property
    def _after(self) -> Ints:
        """Elements that windows reach behind the image; below 0 where they leave its last ones out."""
        axes = zip(self.sizes, self.results, self.strides, self.spans, self.before, strict=True)
        return tuple((count - 1) * stride + span - size - before for size, count, stride, span, before in axes)

    @property
    def border(self) -> Sides:
        """Border that windows reach: (before, after).

        >>> SlidingWindows((8, 8), (4, 3), (3, 3), (2, 2), (1, 1), (1, 0)).border
        ((1, 0), (0, 0))
        """
        return tuple((before, max(after, 0)) for before, after in zip(self.before, self._after, strict=True))

    @property
    def extent(self) -> Ints:
        """Sizes of the part of the image that windows reach.

        >>> SlidingWindows((8, 8), (4, 3), (3, 3), (2, 2), (1, 1), (1, 0)).extent
        (8, 7)
        """
        return tuple(size + min(after, 0) for size, after in zip(self.sizes, self._after, strict=True))


def windows_of(
    x: CoreTensor, shape: Ints, kernel: Ints, strides: Ints, padding: Ints, dilation: Ints = ()
) -> SlidingWindows:
    """Windows over one or two axes of an image as windows over two; `shape` is that of the result."""
    rank = len(kernel)
    before = tuple(side for side, _ in both_sides(padding, rank))
    sizes, results, kernel, strides, dilation = (
        to_two_axes(values) for values in (x.shape[2:], shape[2:], kernel, strides, dilation or (1,) * rank)
    )
    return SlidingWindows(sizes, results, kernel, strides, dilation, to_two_axes(before, 0))


class Pending:
    """Value without a tensor: its operator is printed when it is known what reads it.

    no_bias  name, for messages, of its sum with a constant, which no printer writes
    """

    no_bias: ClassVar[str]

    def with_bias(self, writer: CoreWriter, bias: np.ndarray) -> Pending:
        """These sums with a constant added; refused by default."""
        raise writer.unsupported_error(self.no_bias)


@dataclass(frozen=True)
class PendingPad(Pending):
    """Codes with a border that the convolutions which read it take as their padding.

    width  (before, after) of each axis of the module
    code   in the border
    """

    no_bias = "a sum of codes and a constant"
    x: CoreTensor
    width: Sides
    code: int


@dataclass(frozen=True)
class WeightedSum(Pending):
    """int32 sums with a constant int8 weight, and an int64 bias for each filter; `shape` is that of the result."""

    filter_axis: ClassVar[int]
    x: CoreTensor
    weight: np.ndarray
    bias: np.ndarray
    shape: Ints

    def with_bias(self, writer: CoreWriter, bias: np.ndarray) -> WeightedSum:
        """These sums with a constant added to each channel."""
        return replace(self, bias=writer.add_to_bias(self.bias, bias))

    def bias_around(self, writer: CoreWriter, zero: int) -> np.ndarray:
        """Bias, int32, of sums over weight * (code - zero), where the module has sums over weight * code of its own."""
        rest = tuple(axis for axis in range(4) if axis != self.filter_axis)
        share = (zero + self.x.uint8_offset) * self.weight.astype(np.int64).sum(axis=rest)
        return writer.to_int32_bias(self.bias + share)


@dataclass(frozen=True)
class CoreConvolution(WeightedSum):
    """Weight (filters, depth, rows, columns).

    border   code outside of the image
    """

    filter_axis = 0
    windows: SlidingWindows
    groups: int
    border: int


@dataclass(frozen=True)
class MatrixProduct(WeightedSum):
    """Rows by a constant matrix, as pixels by a weight (filters, depth, 1, 1)."""

    filter_axis = 0
    zero: int

    def as_pixels(self, writer: CoreWriter) -> CoreTensor:
        """Rows as an image of one column, channels last."""
        depth = self.weight.shape[1]
        x = writer.reshape(self.x, (math.prod(self.x.shape) // depth, 1, 1, depth), f"{writer.layer}_pixels")
        return replace(x, shape=(x.shape[0], depth, 1, 1), order=LAST[4])


@dataclass(frozen=True)
class CoreConvTranspose(WeightedSum):
    """Weight (channels, filters, rows, columns).

    sides  cut off the result: (before, after) of rows and columns
    zero   code between pixels
    """

    filter_axis = 1
    strides: Ints
    sides: Sides
    zero: int


@dataclass(frozen=True)
class SumPool(Pending):
    """int32 sums under windows, of differences from `zero`; `shape` has all axes."""

    no_bias = "a sum of a pool and a constant"
    x: CoreTensor
    windows: SlidingWindows
    shape: Ints
    zero: int


@dataclass(frozen=True)
class CoreMaxPool:
    """Largest codes under windows, channels last."""

    x: CoreTensor
    windows: SlidingWindows


@dataclass(frozen=True)
class Extreme:
    """The larger (MAXIMUM) or smaller (MINIMUM) of a tensor and another one, or constant codes of the module."""

    code: str
    x: CoreTensor
    other: CoreTensor | np.ndarray


@dataclass(frozen=True)
class CoreConcat:
    """Parts in one order along an axis of the file."""

    parts: list[CoreTensor]
    axis: int


@dataclass(frozen=True)
class Slice:
    """Elements from begin to end in steps, for each axis of the module; `hint` names the result."""

    x: CoreTensor
    bounds: list[tuple[int, int, int]]
    shape: Ints
    hint: str


@dataclass(frozen=True)
class RepeatPixels:
    """Each pixel repeated by whole factors, channels last."""

    x: CoreTensor
    shape: Ints
