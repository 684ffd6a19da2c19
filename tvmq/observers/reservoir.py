"""A few samples kept of many, the same ones whatever the order and sharding: those of the smallest hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from tvmq.errors import ConfigError, DataError
from tvmq.observers.samples import as_samples, same_tensor

# Hash of the key, hash of the content, sample.
Entry = tuple[bytes, bytes, np.ndarray]


class Reservoir:
    """The `size` samples whose BLAKE2b hashes are smallest, in the order of their hashes.

    Memory is `size` samples. With keys (the numbers of the samples in the data set, say) reservoirs of
    different tensors keep the same samples; without, the hash is that of the sample's own bytes.

    >>> reservoir = Reservoir(2)
    >>> reservoir.update(np.float32([[1], [2], [3]]), keys=[0, 1, 2])
    >>> [sample.tolist() for sample in reservoir.samples]
    [[3.0], [1.0]]
    """

    def __init__(self, size: int, name: str = "") -> None:
        if size < 1:
            raise ConfigError(f"Reservoir: size must be at least 1. Got {size} instead")
        self.size = size
        self.name = name
        self._kept: list[Entry] = []

    def update(self, x: np.ndarray, keys: Sequence[int | str] | None = None) -> None:
        """Offer the samples of x, float32 with the samples on axis 0; `keys` names each of them."""
        x = as_samples(x, self.name)
        if keys is not None and len(keys) != len(x):
            raise DataError(f"reservoir {self.name!r}: {len(keys)} keys for {len(x)} samples; give one each")
        offered = list(self._kept)
        for index, sample in enumerate(x):
            digest = _content_digest(sample) if keys is None else _digest(str(keys[index]).encode())
            if len(self._kept) < self.size or digest <= self._kept[-1][0]:
                offered.append((digest, _content_digest(sample), sample))
        self._keep(offered)

    def _keep(self, offered: list[Entry]) -> None:
        smallest = sorted(offered, key=lambda entry: entry[:2])[: self.size]
        # Copies: a view would keep its whole batch alive.
        self._kept = [(key, content, np.array(sample)) for key, content, sample in smallest]

    def merge(self, other: Reservoir) -> Reservoir:
        """The reservoir of both together, as a new object."""
        same_tensor(self.name, other.name, self.size == other.size)
        merged = Reservoir(self.size, self.name)
        merged._keep(self._kept + other._kept)
        return merged

    @property
    def samples(self) -> list[np.ndarray]:
        """The samples kept, without the batch axis."""
        return [sample for _, _, sample in self._kept]

    def to_dict(self) -> dict[str, np.ndarray]:
        """All state as arrays (for np.savez); samples have to be of one shape."""
        digests = np.array([np.frombuffer(digest, np.uint8) for digest, _, _ in self._kept], np.uint8)
        shapes = {sample.shape for sample in self.samples}
        if len(shapes) > 1:
            raise DataError(f"reservoir {self.name!r}: shapes {sorted(shapes)} do not make one array")
        samples = np.array(self.samples, np.float32)
        return {"size": np.array(self.size), "digests": digests.reshape(-1, 8), "samples": samples}

    @classmethod
    def from_dict(cls, fields: dict[str, np.ndarray], name: str = "") -> Reservoir:
        """Inverse of `to_dict`."""
        made = cls(int(fields["size"]), name)
        pairs = zip(fields["digests"], np.asarray(fields["samples"], np.float32), strict=True)
        made._kept = [(digest.tobytes(), _content_digest(sample), sample) for digest, sample in pairs]
        return made


def _content_digest(sample: np.ndarray) -> bytes:
    return _digest(str(sample.shape).encode() + np.ascontiguousarray(sample).tobytes())


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=8).digest()
