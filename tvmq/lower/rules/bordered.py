"""1 x 1 convolutions of padded pictures: padding becomes one pixel, known beforehand, which a kernel puts around."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tvmq import numerics
from tvmq.kernels.parts.types import Conv2d, Requantize, Table
from tvmq.lower.rules.epilogue import Finish
from tvmq.lower.select import conv2d_kernel, frame_kernel

if TYPE_CHECKING:
    from tvmq.lower.lowerer import Lowerer


def bordered_convolution(
    lowerer: Lowerer, conv: Conv2d, weight: np.ndarray, x_zero: int, source: str, finish: Finish
) -> bool:
    """Convolution of the picture alone, then its border; False, and nothing is emitted, for other convolutions."""
    pixel = _border(conv, weight, x_zero, finish)
    if pixel is None:
        return False
    inner = replace(conv, padding=(0, 0, 0, 0))
    around = frame_kernel(inner.out_shape, conv.padding, pixel, lowerer.isa)
    kernel = conv2d_kernel(inner, weight, finish.bias, x_zero, finish.epilogue, lowerer.isa)
    if kernel is None or around is None:
        return False
    dtype = str(pixel.dtype)
    x = lowerer.call(kernel, [lowerer.nhwc(source)], inner.out_shape, dtype, f"{finish.end}_inner")
    lowerer.give_nhwc(finish.end, lowerer.call(around, [x], conv.out_shape, dtype, finish.end))
    return True


def _border(conv: Conv2d, weight: np.ndarray, x_zero: int, finish: Finish) -> np.ndarray | None:
    """Codes of a pixel of padding; None unless the convolution is 1 x 1, in integers, and pads."""
    steps = finish.epilogue
    fits = conv.kernel == conv.strides == conv.dilation == (1, 1) and conv.groups == 1 and any(conv.padding)
    if not fits or conv.x_dtype == "float32" or not steps or finish.bias is None:
        return None
    if not isinstance(steps[0], Requantize) or not all(isinstance(step, Table) for step in steps[1:]):
        return None
    # the bias holds -x_zero times this sum; an exact int32, as all sums of the layer are
    sums = finish.bias.astype(np.int64) + x_zero * weight.astype(np.int64).sum(axis=(1, 2, 3))
    first = steps[0]
    codes = numerics.requantize(
        sums.astype(np.int32), first.multiplier, zero_point=first.zero_point, axis=0, qmin=first.qmin, qmax=first.qmax,
        dtype=first.dtype, negative_slope=first.negative_slope,
    )  # fmt: skip
    for step in steps[1:]:
        codes = numerics.table(codes, step.values)
    return np.asarray(codes)
