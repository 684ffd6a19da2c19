"""Comparison of two quantized tensors of different scales, decided on codes."""

from __future__ import annotations

import numpy as np

from tvmq.errors import ConfigError
from tvmq.spec import QParams

KINDS = ("greater", "greater_equal", "equal")


def compare_table(kind: str, x: QParams, y: QParams) -> np.ndarray:
    """For each code of x the least code of y whose real value is greater (greater_equal, equal); in table order.

    With t = table(x, this): x < y where y >= t ("greater"), x <= y where y >= t ("greater_equal"), x == y where
    y == t ("equal"). Where y has no such code the entry is one above its highest code.
    x, y     8-bit codes, one scale each
    returns  int16 (256,)
    raises   ConfigError for another kind, codes of more bits, or scales for each channel
    order    exact: (code - zero_point) * scale of both sides, integer times float32, is compared in float64

    >>> from tvmq.spec import QuantSpec
    >>> x, y = QParams(0.5, 0, QuantSpec()), QParams(1.0, 10, QuantSpec())
    >>> compare_table("greater", x, y)[[0, 1, 2, 255]], compare_table("equal", x, y)[[0, 1, 2]]
    (array([ 11,  11,  12, 138], dtype=int16), array([ 10, 256,  11], dtype=int16))
    """
    if kind not in KINDS:
        raise ConfigError(f"compare: the kind must be one of {', '.join(KINDS)}. Got {kind} instead")
    x_real, y_real = _real(x), _real(y)
    right = kind == "greater"
    position = np.searchsorted(y_real, x_real, "right") if right else np.searchsorted(y_real, x_real, "left")
    highest = np.iinfo(y.spec.dtype).max
    least = position + np.iinfo(y.spec.dtype).min
    if kind == "equal":
        reached = y_real[np.minimum(position, 255)] == x_real
        least = np.where(reached & (position < 256), least, highest + 1)
    return least.astype(np.int16)


def _real(qparams: QParams) -> np.ndarray:
    """Real values of all 256 codes: products of at most 9 and 24 bits, so exact in float64."""
    if qparams.axis is not None or qparams.spec.dtype not in ("uint8", "int8"):
        raise ConfigError(f"compare: takes 8-bit codes of one scale. Got {qparams.spec.dtype}, axis {qparams.axis}")
    limits = np.iinfo(qparams.spec.dtype)
    codes = np.arange(limits.min, limits.max + 1, dtype=np.float64)
    return (codes - float(qparams.zero_point)) * float(np.float32(qparams.scale))
