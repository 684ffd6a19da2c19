"""Sums and means of floats over neighbouring axes, in the layout that their input has."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tvmq.graph.view import shape_of
from tvmq.kernels.norm.float_sum import FloatSum
from tvmq.lower.lowerer import Lowerer
from tvmq.lower.patterns.chains import Chain
from tvmq.lower.rules.elementwise import NHWC_AXIS
from tvmq.lower.select import float_sum_kernel


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """One kernel; False for axes with others between them."""
    call = lowerer.view.value[chain.head]
    source, axes, keepdims = call.args[0].name, [int(axis) for axis in call.attrs.axes], bool(call.attrs.keepdims)
    nhwc = _sums_pixels(lowerer, source, axes) and (keepdims or axes == [2, 3])
    x = lowerer.nhwc(source) if nhwc else lowerer.logical(source)
    axes = [NHWC_AXIS[axis] for axis in axes] if nhwc else axes
    if axes != list(range(axes[0], axes[-1] + 1)):
        return False
    shape = shape_of(x)
    parts = shape[: axes[0]], shape[axes[0] : axes[-1] + 1], shape[axes[-1] + 1 :]
    outer, count, inner = (math.prod(part) for part in parts)
    kernel = float_sum_kernel(FloatSum(outer, count, inner, bool(call.attrs.mean)), lowerer.isa)
    if kernel is None:
        return False
    flat = lowerer.reshaped(x, [outer, count, inner], f"{chain.result}_rows")
    total = lowerer.call(kernel, [flat], (outer, inner), "float32", f"{chain.result}_sums")
    kept = [1 if axis in axes else size for axis, size in enumerate(shape) if keepdims or axis not in axes]
    value = lowerer.reshaped(total, kept, chain.result)
    (lowerer.give_nhwc if nhwc and keepdims else lowerer.give_logical)(chain.result, value)
    return True


def _sums_pixels(lowerer: Lowerer, source: str, axes: Sequence[int]) -> bool:
    """True for axes of a picture in NHWC whose elements follow each other there in the definition's order."""
    return lowerer.rank4(source) and lowerer.has_nhwc(source) and (list(axes) == [2, 3] or len(axes) == 1)
