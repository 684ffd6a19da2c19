"""Linear and cubic resize of Relax as operators of our own, one for each axis that changes.

Before                                                   After
    y = image.resize2d(x, (h, w), method="linear")           r = tvmq.resample(x, rows, their weights, axis=2)
                                                             y = tvmq.resample(r, columns, their weights, axis=3)

Needs     float32 in NCHW and static sizes.
Leaves    nearest resize, which copies; regions of interest.
Numerics  places and weights in float64, rounded once; neighbours outside of the picture are the pixel at its edge.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tvm import relax, tirx

from tvmq.graph import ops
from tvmq.graph.view import dtype_of, op_name

# coordinate_transformation_mode -> places of the result's elements in the input, for (their numbers, old, new size)
PLACES: dict[str, Callable[[np.ndarray, int, int], np.ndarray]] = {
    "half_pixel": lambda i, old, new: (i + 0.5) * (old / new) - 0.5,
    "pytorch_half_pixel": lambda i, old, new: (i + 0.5) * (old / new) - 0.5 if new > 1 else 0.0 * i,
    "align_corners": lambda i, old, new: i * ((old - 1) / (new - 1)) if new > 1 else 0.0 * i,
    "asymmetric": lambda i, old, new: i * (old / new),
}


def resample_operators(call: relax.Expr) -> relax.Expr | None:
    """Our operators for a linear or cubic resize2d; None for anything else."""
    if op_name(call) != "image.resize2d" or dtype_of(call) != "float32" or call.attrs.layout != "NCHW":
        return None
    mode, method = str(call.attrs.coordinate_transformation_mode), str(call.attrs.method)
    sizes = [*list(call.args[0].ty.shape)[2:], *list(call.ty.shape)[2:]]
    if mode not in PLACES or method not in ("linear", "cubic") or any(not isinstance(s, tirx.IntImm) for s in sizes):
        return None
    x = call.args[0]
    for axis, old, new in zip((2, 3), map(int, sizes[:2]), map(int, sizes[2:]), strict=True):
        if old != new:
            places = PLACES[mode](np.arange(new, dtype=np.float64), old, new)
            index, weight = neighbours(places, old, call.attrs if method == "cubic" else None)
            x = ops.resample(x, relax.const(index), relax.const(weight), axis=axis)
    return x


def corners_meet(call: relax.Expr) -> bool:
    """True for a resize2d that aligns the corners of one row or column; TVM's own divides by their distance, 0."""
    if op_name(call) != "image.resize2d" or str(call.attrs.coordinate_transformation_mode) != "align_corners":
        return False
    return any(isinstance(size, tirx.IntImm) and int(size) == 1 for size in list(call.ty.shape)[2:])


def neighbours(places: np.ndarray, size: int, cubic: object = None) -> tuple[np.ndarray, np.ndarray]:
    """Index (int32) and weight (float32), both (taps, places), of the neighbours of each place.

    cubic  None for linear, else attributes with cubic_alpha and cubic_exclude

    >>> neighbours(np.array([-0.25, 0.25]), 2)[1]
    array([[0.25, 0.75],
           [0.75, 0.25]], dtype=float32)
    """
    left = np.floor(places)
    steps = np.arange(2)[:, None] if cubic is None else np.arange(-1, 3)[:, None]
    index = left + steps
    distance = np.abs(places - index)
    weight = 1.0 - distance if cubic is None else _keys(distance, float(cubic.cubic_alpha))  # type: ignore[attr-defined]
    if cubic is not None and cubic.cubic_exclude:  # type: ignore[attr-defined]
        weight = np.where((index >= 0) & (index < size), weight, 0.0)
        weight = weight / weight.sum(axis=0)
    return np.clip(index, 0, size - 1).astype(np.int32), weight.astype(np.float32)


def _keys(d: np.ndarray, a: float) -> np.ndarray:
    """The cubic kernel of Keys."""
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = a * (((d - 5) * d + 8) * d - 4)
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))
