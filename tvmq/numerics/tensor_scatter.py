"""tensor_scatter: new entries in the place of old ones along an axis, such as the steps of a key-value cache."""

from __future__ import annotations

import numpy as np


def tensor_scatter(cache: np.ndarray, update: np.ndarray, write_indices: np.ndarray, *, axis: int) -> np.ndarray:
    """`cache` with the entries of `update` from an index on along `axis`; positions wrap round.

    cache          any type, [batch, ...]
    update         its type and shape, but along `axis`, where it has at most as many entries
    write_indices  integers [batch]: where the first entry of each sample is written
    axis           not that of the batch
    order          entry j of sample b stands at (write_indices[b] + j) mod size, for any integer write_indices[b]
    source         ONNX TensorScatter 24, mode "circular"; mode "linear" is the same wherever ONNX defines it

    >>> tensor_scatter(np.zeros((2, 4), np.int8), np.int8([[1, 2], [3, 4]]), np.array([1, 3]), axis=1)
    array([[0, 1, 2, 0],
           [4, 0, 0, 3]], dtype=int8)
    """
    axis %= cache.ndim
    result, size, count = cache.copy(), cache.shape[axis], update.shape[axis]
    if result.size:
        first = np.mod(np.asarray(write_indices, np.int64), size)
        places = (first[:, None] + np.arange(count)) % size
        shape = [cache.shape[0], *[1] * (cache.ndim - 1)]
        shape[axis] = count
        np.put_along_axis(result, places.reshape(shape), update, axis)
    return result
