"""A function of one 8-bit tensor as a table of 256 codes: activations, and the rescaling before a concat.

Comparison of two quantized tensors of different scales, decided on codes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.affine import dequantize, quantize
from tvmq.numerics.code_type import CODES_8
from tvmq.numerics.spec import QParams


def table(q: np.ndarray, values: np.ndarray) -> np.ndarray:
    """y = values[q] for uint8, values[q + 128] for int8.

    q        uint8 or int8, any shape
    values   256 entries of any type
    returns  type of values, shape of q

    >>> table(np.int8([-128, 0, 127]), np.arange(256, dtype=np.uint8))
    array([  0, 128, 255], dtype=uint8)
    """
    q, values = np.asarray(q), np.asarray(values)
    if q.dtype not in (np.uint8, np.int8):
        raise ConfigError(f"table: codes must be uint8 or int8. Got {q.dtype.name} instead")
    if values.shape != (256,):
        raise ConfigError(f"table: values must have shape (256,). Got {values.shape} instead")
    if q.dtype == np.int8:
        values = np.roll(values, 128)  # now indexed by the bits of the code
    return np.asarray(np.take(values, q.view(np.uint8)))


def make_table(function: Callable[[np.ndarray], np.ndarray], in_qparams: QParams, out_qparams: QParams) -> np.ndarray:
    """Codes of function(x) for the 256 codes of x, in the order that `table` reads.

    function  float64 (256,) -> float64 (256,), the real values of the codes
    returns   the output's storage type, shape (256,); all 256 entries, also where the input uses fewer bits
    raises    ConfigError if a side is per channel or the input not of 8 bits, RangeError if a value is NaN
    order     x = dequantize(code) in float32, function in float64, rounded once to float32, y = quantize of that:
              what a model says that writes DequantizeLinear, the function, QuantizeLinear. It decides ties: hard-swish
              adds 3 to a zero, and 3 may lie half-way between two codes

    >>> from tvmq.numerics.spec import QuantSpec
    >>> x, y = QParams(0.5, 128, QuantSpec()), QParams(0.25, 0, QuantSpec())
    >>> table(np.uint8([0, 128, 129, 255]), make_table(lambda real: np.maximum(real, 0), x, y))
    array([  0,   0,   2, 254], dtype=uint8)
    """
    for side, qparams in (("input", in_qparams), ("output", out_qparams)):
        if qparams.axis is not None:
            raise ConfigError(
                f"table: the {side} must be quantized per tensor. Got {qparams.scale.size} scales instead"
            )
    if in_qparams.spec.dtype not in CODES_8:
        raise ConfigError(f"table: the input must be uint8 or int8. Got {in_qparams.spec.dtype} instead")
    codes = np.arange(256) + np.iinfo(in_qparams.spec.dtype).min
    real = real_values(in_qparams)
    with np.errstate(all="ignore"):  # the function may overflow to infinity, which clips
        result = np.asarray(function(real), np.float64)
    if result.shape != codes.shape:
        raise ConfigError(f"table: the function must give 256 values. Got shape {result.shape} instead")
    if np.isnan(result).any():
        index = int(np.argmax(np.isnan(result)))
        raise RangeError(
            f"table: the function gives NaN at {real[index]:g} (code {codes[index]:g}); "
            f"it must be defined on the whole input range"
        )
    spec, scale, zero_point = out_qparams.spec, out_qparams.scale, out_qparams.zero_point
    with np.errstate(over="ignore"):
        rounded = result.astype(np.float32)
    return quantize(rounded, scale, zero_point, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax)


def real_values(qparams: QParams) -> np.ndarray:
    """dequantize of the 256 codes of an 8-bit tensor: float32 values, given as float64.

    >>> from tvmq.numerics.spec import QuantSpec
    >>> real_values(QParams(0.5, 128, QuantSpec()))[[0, 128, 255]]
    array([-64. ,   0. ,  63.5])
    """
    codes = np.arange(256) + np.iinfo(qparams.spec.dtype).min
    return dequantize(codes, qparams.scale, qparams.zero_point).astype(np.float64)


def rescale_table(in_qparams: QParams, out_qparams: QParams) -> np.ndarray:
    """Table of the identity: the same real values in other codes, as the inputs of a concat need them.

    >>> from tvmq.numerics.spec import QuantSpec
    >>> x, y = QParams(0.5, 0, QuantSpec()), QParams(1.0, 10, QuantSpec())
    >>> table(np.uint8([0, 3, 200]), rescale_table(x, y))
    array([ 10,  12, 110], dtype=uint8)
    """
    return make_table(lambda x: x, in_qparams, out_qparams)


KINDS = ("greater", "greater_equal", "equal")


def compare_table(kind: str, x: QParams, y: QParams) -> np.ndarray:
    """For each code of x the least code of y whose real value is greater (greater_equal, equal); in table order.

    With t = table(x, this): x < y where y >= t ("greater"), x <= y where y >= t ("greater_equal"), x == y where
    y == t ("equal"). Where y has no such code the entry is one above its highest code.
    x, y     8-bit codes, one scale each
    returns  int16 (256,)
    raises   ConfigError for another kind, codes of more bits, or scales for each channel
    order    exact: (code - zero_point) * scale of both sides, integer times float32, is compared in float64

    >>> from tvmq.numerics.spec import QuantSpec
    >>> x, y = QParams(0.5, 0, QuantSpec()), QParams(1.0, 10, QuantSpec())
    >>> compare_table("greater", x, y)[[0, 1, 2, 255]], compare_table("equal", x, y)[[0, 1, 2]]
    (array([ 11,  11,  12, 138], dtype=int16), array([ 10, 256,  11], dtype=int16))
    """
    if kind not in KINDS:
        raise ConfigError(f"compare: the kind must be one of {', '.join(KINDS)}. Got {kind} instead")
    x_real, y_real = _real_values(x), _real_values(y)
    right = kind == "greater"
    position = np.searchsorted(y_real, x_real, "right") if right else np.searchsorted(y_real, x_real, "left")
    highest = np.iinfo(y.spec.dtype).max
    least = position + np.iinfo(y.spec.dtype).min
    if kind == "equal":
        reached = y_real[np.minimum(position, 255)] == x_real
        least = np.where(reached & (position < 256), least, highest + 1)
    return least.astype(np.int16)


def _real_values(qparams: QParams) -> np.ndarray:
    """Real values of all 256 codes: products of at most 9 and 24 bits, so exact in float64."""
    if qparams.axis is not None or qparams.spec.dtype not in CODES_8:
        raise ConfigError(f"compare: takes 8-bit codes of one scale. Got {qparams.spec.dtype}, axis {qparams.axis}")
    limits = np.iinfo(qparams.spec.dtype)
    codes = np.arange(limits.min, limits.max + 1, dtype=np.float64)
    return (codes - float(qparams.zero_point)) * float(np.float32(qparams.scale))
