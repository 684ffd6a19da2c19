"""Checks of the arrays that statistics are fed.

A hash of calibration data that does not depend on how they are batched, ordered or sharded.

Tests: tests/calibration/observers/test_fingerprint.py
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

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


_MODULUS = 2**256


class Fingerprint:
    """Number of samples, and the sum of the SHA-256 of each sample modulo 2^256.

    It tells other data from the same data. Someone who wants to can make other data with the same sum.

    >>> one, other = Fingerprint(), Fingerprint()
    >>> one.update({"x": np.float32([[1], [2]])})
    >>> other.update({"x": np.float32([[2]])})
    >>> other.update({"x": np.float32([[1]])})
    >>> one.hexdigest() == other.hexdigest()
    True
    """

    def __init__(self) -> None:
        self.samples = 0
        self._total = 0

    def update(self, batch: Mapping[str, np.ndarray]) -> None:
        """Add a batch, {input name: array with the samples on axis 0}.

        Where the inputs differ in the length of axis 0 the batch counts as one sample.
        """
        arrays = {name: np.atleast_1d(np.asarray(array)) for name, array in sorted(batch.items())}
        lengths = {len(array) for array in arrays.values()}
        if len(lengths) != 1:
            self._add(arrays)
            return
        for index in range(lengths.pop()):
            self._add({name: array[index] for name, array in arrays.items()})

    def _add(self, sample: Mapping[str, np.ndarray]) -> None:
        digest = hashlib.sha256()
        for name, array in sample.items():
            head = f"{len(name)} {name} {array.dtype.str} {array.shape} "
            digest.update(head.encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        self._total = (self._total + int.from_bytes(digest.digest(), "little")) % _MODULUS
        self.samples += 1

    def merge(self, other: Fingerprint) -> Fingerprint:
        """The fingerprint of both together, as a new object."""
        merged = Fingerprint()
        merged.samples = self.samples + other.samples
        merged._total = (self._total + other._total) % _MODULUS
        return merged

    def hexdigest(self) -> str:
        """64 hexadecimal digits."""
        state = f"{self.samples} {self._total:064x}"
        return hashlib.sha256(state.encode()).hexdigest()
