"""Rows of codes times a weight in groups with a scale each: exact sums in a group, floats from group to group."""

from __future__ import annotations

import numpy as np

from tvmq.errors import RangeError
from tvmq.numerics.gemm import matmul


def group_matmul(
    x: np.ndarray, x_scale: np.ndarray, w: np.ndarray, scale: np.ndarray, *, group_size: int
) -> np.ndarray:
    """Rows of codes with a scale each times a weight with a scale for each group along the depth.

    x           int8 [..., depth]
    x_scale     float32 [..., 1]
    w           int8 [depth, columns]
    scale       float32 [depth / group_size, columns]
    group_size  at most 4096: no sum of a group leaves int32, nor 16 times one of 4-bit weights
    returns     float32 [..., columns]
    order       t = 0; t = t + float32(int32 sum of the group) * scale for group 0, 1, ...; then t * x_scale; each
                conversion, product and sum rounded by itself
    raises      RangeError for scales of another shape

    >>> ones = np.ones((4, 1), np.int8)
    >>> group_matmul(np.int8([[1, 2, 3, 4]]), np.float32([[2]]), ones, np.float32([[1], [0.5]]), group_size=2)
    array([[13.]], dtype=float32)
    """
    depth, columns = w.shape
    if depth % group_size or scale.shape != (depth // group_size, columns):
        raise RangeError(
            f"group_matmul: a weight of shape {w.shape} in groups of {group_size} takes scales of shape "
            f"{(depth // group_size, columns)}. Got {scale.shape} instead"
        )
    rows = np.asarray(x).reshape(-1, depth)
    total = np.zeros((len(rows), columns), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for group, begin in enumerate(range(0, depth, group_size)):
            part = slice(begin, begin + group_size)
            total = total + matmul(rows[:, part], w[part]).astype(np.float32) * scale[group]
        total = total * np.asarray(x_scale, np.float32).reshape(-1, 1)
    return total.reshape(*np.shape(x)[:-1], columns)
