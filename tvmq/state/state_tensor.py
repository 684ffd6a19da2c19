"""`StateTensor`: what a model says of one of its states, and the arrays that it begins with.

Tests: tests/state/test_session_state.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmq.errors import ConfigError, DataError
from tvmq.state.pair import APPENDED, StatePair


@dataclass(frozen=True)
class StateTensor:
    """A state of a compiled model.

    pair   its input and output, how it changes, and the scale of its codes
    shape  of the input; dynamic dimensions are names
    dtype  "uint8", "int8" or "int16" codes, or the model's own type
    """

    pair: StatePair
    shape: tuple[int | str, ...]
    dtype: str

    @property
    def name(self) -> str:
        """Name of the input."""
        return self.pair.input

    @property
    def is_appended(self) -> bool:
        """True for a cache that grows with each call."""
        return self.pair.kind == APPENDED

    def begin(self, sizes: Mapping[str, int]) -> np.ndarray:
        """The array before the first call: without rows where rows are appended.

        sizes    {dynamic dimension: size}
        raises   ConfigError for a dimension that has no size
        """
        shape = []
        for axis, size in enumerate(self.shape):
            if self.is_appended and axis == self.pair.axis:
                shape.append(0)
            elif isinstance(size, int) or size in sizes:
                shape.append(size if isinstance(size, int) else sizes[size])
            else:
                raise ConfigError(
                    f"new_state: axis {axis} of state '{self.name}' has the free size '{size}', which is not the "
                    f"batch; give its size, new_state(sizes={{'{size}': ...}})"
                )
        return self.encode(np.full(shape, self.pair.initial, np.float32))

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Real values, finite ones, as the model keeps them: numerics.quantize, of which libraries need no copy.

        raises   DataError for real values of a state whose codes have a scale for each row
        """
        if self.pair.scale is None:
            array = np.asarray(values)
            if array.size and array.dtype.kind == "f" and np.dtype(self.dtype).kind in "iu":
                raise DataError(
                    f"state '{self.name}' is kept in codes with a scale for each row, which calls make; begin without "
                    "rows, and let a call append them"
                )
            return array.astype(self.dtype)
        limits = np.iinfo(self.dtype)
        steps = np.rint(np.asarray(values, np.float32) / np.float32(self.pair.scale)).astype(np.int64)
        return np.clip(steps + self.pair.zero_point, limits.min, limits.max).astype(self.dtype)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**self.pair.to_json(), "shape": list(self.shape), "dtype": self.dtype}

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> StateTensor:
        """Inverse of `to_json`."""
        return cls(StatePair.from_json(entry), tuple(entry["shape"]), entry["dtype"])

    def __str__(self) -> str:
        codes = f" codes of scale {self.pair.scale:.6g}" if self.pair.scale is not None else ""
        return f"{self.pair}: {self.dtype}[{', '.join(map(str, self.shape))}]{codes}"

