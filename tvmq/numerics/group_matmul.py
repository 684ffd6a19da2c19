"""Rows of codes times a weight in groups with a scale each: exact sums in a group, floats from group to group."""

from __future__ import annotations

import numpy as np

from tvmq.errors import RangeError
from tvmq.numerics.gemm import matmul


def group_matmul(
    x: np.ndarray, x_scale: np.ndarray, w: np.ndarray, scale: np.ndarray, *, group_size: int
) -> np.ndarray:
    """Rows of codes with scales times a weight with a scale for each group along the depth.

    x           int8 [..., depth]
    x_scale     float32 [..., 1], of rows, or [..., depth / group_size], of the groups of rows
    w           int8 [depth, columns]
    scale       float32 [depth / group_size, columns]
    group_size  at most 4096: no sum of a group leaves int32, nor 16 times one of 4-bit weights
    returns     float32 [..., columns]
    order       t = 0; t = t + float32(int32 sum of the group) * scale for group 0, 1, ...; then t * x_scale; each
                conversion, product and sum rounded by itself. With scales of groups: t = t + (float32(sum) * scale) *
                x_scale, and that is all
    raises      RangeError for scales of another shape

    >>> ones = np.ones((4, 1), np.int8)
    >>> group_matmul(np.int8([[1, 2, 3, 4]]), np.float32([[2]]), ones, np.float32([[1], [0.5]]), group_size=2)
    array([[13.]], dtype=float32)
    >>> group_matmul(np.int8([[1, 2, 3, 4]]), np.float32([[2, 4]]), ones, np.float32([[1], [0.5]]), group_size=2)
    array([[20.]], dtype=float32)
    """
    return _multiply_groups("group_matmul", x, x_scale, w, scale, None, group_size)


def group_offset_matmul(
    x: np.ndarray, x_scale: np.ndarray, w: np.ndarray, scale: np.ndarray, offset: np.ndarray, *, group_size: int
) -> np.ndarray:
    """`group_matmul` of a weight whose groups have an offset each: code * scale + offset.

    offset   float32 [depth / group_size, columns]
    order    as of group_matmul; what a group adds is float32(sum of x * w) * scale + float32(sum of x) * offset, two
             products and a sum, each rounded by itself

    >>> codes, scale, offset = np.int8([[3], [1]]), np.float32([[2]]), np.float32([[-1]])     # weights 5 and 1
    >>> group_offset_matmul(np.int8([[1, 2]]), np.float32([[0.5]]), codes, scale, offset, group_size=2)
    array([[3.5]], dtype=float32)
    """
    if np.shape(offset) != np.shape(scale):
        raise RangeError(
            f"group_offset_matmul: scales of shape {np.shape(scale)} take offsets of that shape. Got "
            f"{np.shape(offset)} instead"
        )
    return _multiply_groups("group_offset_matmul", x, x_scale, w, scale, offset, group_size)


def _multiply_groups(
    name: str,
    x: np.ndarray,
    x_scale: np.ndarray,
    w: np.ndarray,
    scale: np.ndarray,
    offset: np.ndarray | None,
    group_size: int,
) -> np.ndarray:
    depth, columns = w.shape
    groups = depth // group_size
    if depth % group_size or scale.shape != (groups, columns):
        raise RangeError(
            f"{name}: a weight of shape {w.shape} in groups of {group_size} takes scales of shape "
            f"{(groups, columns)}. Got {scale.shape} instead"
        )
    rows, factors = np.asarray(x).reshape(-1, depth), np.asarray(x_scale, np.float32)
    if np.shape(x_scale)[-1:] not in ((1,), (groups,)):
        raise RangeError(
            f"{name}: rows of {groups} groups take one scale or {groups}. Got x_scale of shape {factors.shape} instead"
        )
    factors = factors.reshape(len(rows), -1)
    total = np.zeros((len(rows), columns), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for group, begin in enumerate(range(0, depth, group_size)):
            part = slice(begin, begin + group_size)
            value = matmul(rows[:, part], w[part]).astype(np.float32) * scale[group]
            if offset is not None:
                whole = rows[:, part].sum(axis=1, dtype=np.int32, keepdims=True)
                value = value + whole.astype(np.float32) * offset[group]
            total = total + (value if factors.shape[1] != groups else value * factors[:, group, None])
        total = total if factors.shape[1] == groups else total * factors
    return total.reshape(*np.shape(x)[:-1], columns)
