"""Weights with several scales along an axis: one for each group of neighbours."""

from __future__ import annotations

import numpy as np

from tvmq.errors import RangeError


def group_dequantize(q: np.ndarray, scale: np.ndarray, *, axis: int, group_size: int) -> np.ndarray:
    """float32(q[..., i, ...]) * scale[..., i // group_size, ...]: one rounding.

    q         int8, any shape
    scale     float32, shape of q with `axis` divided by group_size
    raises    RangeError for scales of another shape

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
