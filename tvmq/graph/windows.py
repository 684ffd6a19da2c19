"""The windows of a pool, from the shape of its result."""

from __future__ import annotations

from collections.abc import Sequence


def covering_padding(
    padding: Sequence[int],
    size: Sequence[int],
    out_size: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """Padding (all befores, then all afters) that gives `out_size` windows when their number is rounded down.

    Rounding up (ceil_mode) adds windows beyond the given padding; those that would begin in the padding are left out
    again, by TVM as by onnxruntime. Here the result's shape says what happened.

    >>> covering_padding((0, 0, 0, 0), (7, 8), (4, 4), (3, 2), (2, 2))
    (0, 0, 2, 0)
    """
    result = [int(p) for p in padding]
    rank = len(size)
    for axis in range(rank):
        stride = int(strides[axis])
        span = (int(kernel[axis]) - 1) * (int(dilation[axis]) if dilation else 1) + 1
        needed = (int(out_size[axis]) - 1) * stride + span - int(size[axis]) - result[axis]
        result[axis + rank] = max(min(result[axis + rank], needed + stride - 1), needed)
    return tuple(result)
