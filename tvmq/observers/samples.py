"""What all statistics ask of the arrays they are fed."""

from __future__ import annotations

import numpy as np

from tvmq.errors import DataError


def as_samples(x: np.ndarray, name: str) -> np.ndarray:
    """x as float32 with the samples on axis 0; a scalar is one sample.

    raises  DataError if x does not hold real numbers

    >>> as_samples(np.float64(3), "x").shape
    (1,)
    """
    x = np.asarray(x)
    if x.dtype.kind not in "fiub":
        raise DataError(f"calibrate, tensor {name!r}: real numbers are needed, got {x.dtype}; give float32")
    with np.errstate(over="ignore"):  # what leaves float32 becomes infinite and is refused as such
        return np.atleast_1d(x.astype(np.float32, copy=False))


def same_tensor(name: str, other_name: str, same_settings: bool) -> None:
    """Refuse to merge statistics of two tensors, or of one taken with different settings."""
    if name != other_name:
        raise DataError(f"merge: statistics of {name!r} and {other_name!r}; merge shards of one tensor only")
    if not same_settings:
        raise DataError(f"merge, tensor {name!r}: the shards were taken with different settings")
