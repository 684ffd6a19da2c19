"""A transposed convolution as a convolution of more output channels, whose pixels are then spread. NumPy only.

Output o of an axis with stride s takes x[i] * w[j] where i * s + j * dilation = o + padding. So the outputs of one
residue of o + padding by s, a phase, are an ordinary convolution of x with every s-th tap. All phases together are
one convolution with s times the filters (on each axis), and depth_to_space puts its channels where they belong.

    taps of a phase   those j with j * dilation = phase modulo s; the kernel is as long as the longest phase
    channels          [group][phases of all axes][output channel of the group]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tvmq.numerics.conv_transpose import filters_first


@dataclass(frozen=True)
class SubpixelAxis:
    """Sizes of a transposed convolution, and of the convolution in its place, along one spatial axis.

    size     elements of x
    out      elements of the result
    taps     of the kernel
    padding  what is cut off before the result
    """

    size: int
    out: int
    taps: int
    stride: int
    padding: int
    dilation: int

    @property
    def skipped_blocks(self) -> int:
        """Whole blocks of phases before the result."""
        return self.padding // self.stride

    @property
    def offset(self) -> int:
        """Phases of the first block before the result."""
        return self.padding % self.stride

    @property
    def before(self) -> int:
        """Padding of the convolution before x."""
        return max(0, (self.taps - 1) * self.dilation // self.stride - self.skipped_blocks)

    @property
    def kernel(self) -> int:
        """Taps of the convolution."""
        return self.before + self.skipped_blocks + 1

    @property
    def after(self) -> int:
        """Padding of the convolution behind x."""
        blocks = -(-(self.offset + self.out) // self.stride)
        return max(0, blocks - 1 + self.kernel - self.before - self.size)

    def blocks(self, size: Any) -> Any:
        """Elements of the convolution's result for so many of x."""
        return size + (self.before + self.after - self.kernel + 1)

    def places(self) -> list[tuple[int, int, int]]:
        """(tap, its phase, its tap of the convolution) of all taps."""
        places = []
        for tap in range(self.taps):
            ahead, phase = divmod(tap * self.dilation, self.stride)
            places.append((tap, phase, self.before + self.skipped_blocks - ahead))
        return places


def subpixel_weights(weight: np.ndarray, axes: Sequence[SubpixelAxis], groups: int) -> np.ndarray:
    """Weight of the convolution.

    weight   [in, out / groups, kernel...]
    returns  [groups * phases * out / groups, in / groups, kernel...], the type of `weight`

    >>> axis = SubpixelAxis(size=4, out=8, taps=2, stride=2, padding=0, dilation=1)
    >>> subpixel_weights(np.int8([[[1, 3]]]), [axis], 1).tolist()
    [[[1]], [[3]]]
    """
    filters = filters_first(weight, groups)
    per_group, depth = weight.shape[1], filters.shape[1]
    strides, kernel = [axis.stride for axis in axes], [axis.kernel for axis in axes]
    result = np.zeros((groups, *strides, per_group, depth, *kernel), weight.dtype)
    source = filters.reshape(groups, per_group, depth, *weight.shape[2:])
    for index in np.ndindex(*weight.shape[2:]):
        places = [axis.places()[tap] for axis, tap in zip(axes, index, strict=True)]
        phase, tap = (tuple(place[i] for place in places) for i in (1, 2))
        result[(slice(None), *phase, slice(None), slice(None), *tap)] = source[(..., *index)]
    return result.reshape(groups * prod(strides) * per_group, depth, *kernel)


def subpixel_channels(values: np.ndarray, axes: Sequence[SubpixelAxis], groups: int) -> np.ndarray:
    """Constants of the output channels as constants of the convolution's channels.

    >>> axis = SubpixelAxis(size=4, out=8, taps=2, stride=2, padding=0, dilation=1)
    >>> subpixel_channels(np.array([1, 2]), [axis], 1).tolist(), subpixel_channels(np.array([1, 2]), [axis], 2).tolist()
    ([1, 2, 1, 2], [1, 1, 2, 2])
    """
    phases = prod(axis.stride for axis in axes)
    return np.ascontiguousarray(np.tile(values.reshape(groups, 1, -1), (1, phases, 1)).reshape(-1))
