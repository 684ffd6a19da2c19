"""Affine quantization of real numbers: quantize, dequantize, the bias of a layer, and the check for NaN.

Quantization at run time: scales that are taken from the values themselves, one for each row, sample or tensor.

    scale = max|x| / 127                     over the reduced axes
    codes = clip(rint(x / scale), -127, 127)
    y     = float32(sums) * (scale_x * scale_w)

Symmetric: a zero point would cost a correction in every sum, and padding needs none. NaN is not seen by the maximum
and becomes the lowest code, as in `quantize`; infinities count as the largest float32.

Weights with several scales along an axis: one for each group of neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tvmq.errors import RangeError
from tvmq.numerics.codes import INT32_MAX, along_axis, check_zero_point, code_limits


def quantize(
    x: np.ndarray,
    scale: ArrayLike,
    zero_point: ArrayLike,
    *,
    axis: int | None = None,
    dtype: DTypeLike,
    qmin: int | None = None,
    qmax: int | None = None,
) -> np.ndarray:
    """q = clip(rint(x / scale) + zero_point, qmin, qmax).

    x           float32 (others are rounded to it first), any shape; infinities clip, NaN becomes qmin
    scale       float32, shape () or (x.shape[axis],); real units per step, positive, finite
    zero_point  int32, shape () or that of scale; the code that stands for 0.0, within qmin..qmax
    qmin, qmax  lowest and highest code; None is the limit of dtype
    returns     dtype (8 or 16 bits), shape of x
    raises      RangeError or ConfigError if a parameter is not as said
    order       divide in float32 (not times 1 / scale), round half to even, clip, add zero_point in integers
    source      ONNX QuantizeLinear

    >>> quantize(np.float32([0.25, 0.75, np.inf, np.nan]), 0.5, 1, dtype="int8")
    array([   1,    3,  127, -128], dtype=int8)
    """
    x = np.asarray(x, np.float32)
    low, high = code_limits(dtype, qmin, qmax)
    scale = along_axis(_checked_scale(scale), axis, x.shape)
    zero_point = along_axis(check_zero_point(zero_point, low, high), axis, x.shape)
    with np.errstate(all="ignore"):  # x / scale may overflow to infinity, which clips
        steps = np.asarray(x / scale)
        np.rint(steps, out=steps)
    # fmax takes the number where the other side is NaN. From here on all values are integers below 2^17,
    # which float32 holds: adding the zero point now gives the same codes as adding it to integers.
    zero_point = zero_point.astype(np.float32)
    np.fmax(steps, low - zero_point, out=steps)
    np.minimum(steps, high - zero_point, out=steps)
    steps += zero_point
    return np.asarray(steps.astype(dtype))


def dequantize(q: np.ndarray, scale: ArrayLike, zero_point: ArrayLike, *, axis: int | None = None) -> np.ndarray:
    """x = float32(q - zero_point) * scale.

    q           integer codes, any shape; q - zero_point must fit int32
    scale       float32, shape () or (q.shape[axis],); positive, finite
    zero_point  int32, shape () or that of scale
    returns     float32, shape of q
    order       subtract in int32, convert (exact below 2^24, else half to even), multiply in float32
    source      ONNX DequantizeLinear

    >>> dequantize(np.uint8([0, 3]), 0.5, 1)
    array([-0.5,  1. ], dtype=float32)
    """
    q = np.asarray(q)
    scale = along_axis(_checked_scale(scale), axis, q.shape)
    zero_point = along_axis(np.asarray(zero_point, np.int32), axis, q.shape)
    steps = np.asarray(np.subtract(q, zero_point, dtype=np.int32).astype(np.float32))
    with np.errstate(all="ignore"):  # may overflow to infinity, as the definition says
        return np.asarray(np.multiply(steps, scale, out=steps))


def quantize_bias(bias: np.ndarray, scale_x: ArrayLike, scale_w: ArrayLike) -> np.ndarray:
    """rint(bias / (scale_x * scale_w)): the bias in units of a layer's int32 sums.

    bias              real numbers, shape (F,)
    scale_x, scale_w  float32, shapes () or (F,)
    returns           int32, shape (F,)
    raises            RangeError if a bias is not finite or leaves int32, naming the channel
    order             product, then quotient in float64, rounded half to even
    source            the biases of ONNX QLinearConv

    >>> quantize_bias(np.float32([1.0, -0.3]), 0.5, [0.25, 0.01])
    array([  8, -60], dtype=int32)
    """
    unit = _checked_scale(scale_x).astype(np.float64) * _checked_scale(scale_w).astype(np.float64)
    with np.errstate(over="ignore"):
        steps = np.rint(np.asarray(bias, np.float64) / unit)
    bad = ~(np.abs(steps) <= INT32_MAX)
    if bad.any():
        channel = int(np.argmax(bad))
        raise RangeError(
            f"bias {np.ravel(bias)[channel]:g} of channel {channel} is {np.ravel(steps)[channel]:g} units of "
            f"{np.ravel(np.broadcast_to(unit, steps.shape))[channel]:g}, int32 ends at {INT32_MAX}; "
            f"a larger weight scale of this channel makes it fit"
        )
    return np.asarray(steps.astype(np.int32))


def check_finite(x: np.ndarray, name: str) -> None:
    """Refuse NaN and infinities in an array of any shape with a RangeError that names the tensor.

    >>> check_finite(np.float32([1, np.nan]), "image")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    tvmq.errors.RangeError: tensor 'image': 1 of 2 values are NaN or infinite, first nan at index (1,); ...
    """
    finite = np.isfinite(x)
    if finite.all():
        return
    count = int(np.size(x) - np.count_nonzero(finite))
    where = tuple(int(i) for i in np.unravel_index(int(np.argmin(finite)), np.shape(x)))
    raise RangeError(
        f"tensor {name!r}: {count} of {np.size(x)} values are NaN or infinite, "
        f"first {float(np.asarray(x)[where])} at index {where}; look at what makes them"
    )


def _checked_scale(scale: ArrayLike) -> np.ndarray:
    scale = np.asarray(scale, np.float32)
    bad = ~(np.isfinite(scale) & (scale > 0))
    if bad.any():
        channel = int(np.argmax(bad))
        place = f" at channel {channel}" if scale.ndim else ""
        raise RangeError(
            f"scale must be positive and finite. Got {np.ravel(scale)[channel]:g}{place} instead; "
            f"an all-zero channel needs scale 1"
        )
    return scale


LARGEST = np.float32(np.finfo(np.float32).max)
NORMAL = np.finfo(np.float32).smallest_normal


def dynamic_scale(x: np.ndarray, *, axes: Sequence[int], largest_code: int = 127) -> np.ndarray:
    """Scale of each slice of x along the other axes.

    x             float32
    axes          reduced; they stay with extent 1
    largest_code  2^(bits-1) - 1
    returns       float32, positive: max|x| / largest_code in float32; 1 where that is below the smallest normal
                  float32 (all zero, or nothing but NaN)

    >>> dynamic_scale(np.float32([[1.0, -127.0], [0.0, 0.0]]), axes=[1]).tolist()
    [[1.0], [1.0]]
    """
    magnitude = np.minimum(np.abs(np.asarray(x, np.float32)), LARGEST)
    largest = np.fmax.reduce(magnitude, axis=tuple(axes), keepdims=True, initial=np.float32(0))
    scale = np.asarray(largest / np.float32(largest_code), np.float32)
    return np.where(scale >= NORMAL, scale, np.float32(1))


def dynamic_quantize(x: np.ndarray, scale: np.ndarray, *, largest_code: int = 127) -> np.ndarray:
    """clip(rint(x / scale), -largest_code, largest_code), float32 division, half to even; scale broadcasts.

    x, scale  float32, shapes that broadcast; scale as `dynamic_scale` gives it
    returns   int8, shape of x; NaN becomes the lowest code

    >>> dynamic_quantize(np.float32([[0.5, -1.5, 300.0]]), np.float32([[1.0]])).tolist()
    [[0, -2, 127]]
    """
    with np.errstate(over="ignore"):  # saturates
        steps = np.rint(np.asarray(x, np.float32) / np.asarray(scale, np.float32))
    low, high = np.float32(-largest_code), np.float32(largest_code)
    return np.asarray(np.where(np.isnan(steps), low, np.clip(steps, low, high)).astype(np.int8))


def dynamic_dequantize(acc: np.ndarray, x_scale: np.ndarray, w_scale: np.ndarray) -> np.ndarray:
    """float32(acc) * (x_scale * w_scale), both products in float32; all three have shapes that broadcast.

    >>> dynamic_dequantize(np.int32([[6, -4]]), np.float32([[0.5]]), np.float32([1.0, 0.25])).tolist()
    [[3.0, -0.5]]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        factor = np.asarray(x_scale, np.float32) * np.asarray(w_scale, np.float32)
        return np.asarray(np.asarray(acc).astype(np.float32) * factor)


def group_dequantize(q: np.ndarray, scale: np.ndarray, *, axis: int, group_size: int) -> np.ndarray:
    """float32(q[..., i, ...]) * scale[..., i // group_size, ...]: one rounding.

    q         int8, any shape
    scale     float32, shape of q with `axis` divided by group_size
    returns   float32, shape of q
    raises    RangeError for scales of another shape
    source    ONNX DequantizeLinear with block_size

    >>> group_dequantize(np.int8([[1, 2, 3, 4]]), np.float32([[1.0, 0.5]]), axis=1, group_size=2)
    array([[1. , 2. , 1.5, 2. ]], dtype=float32)
    """
    wanted = tuple(d // group_size if i == axis else d for i, d in enumerate(q.shape))
    if scale.shape != wanted or q.shape[axis] % group_size:
        raise RangeError(
            f"group_dequantize: codes of shape {q.shape} in groups of {group_size} on axis {axis} "
            f"take scales of shape {wanted}. Got {scale.shape} instead"
        )
    return q.astype(np.float32) * np.repeat(scale.astype(np.float32), group_size, axis)
