"""How the weights of a layer are rounded: chosen by calibration, kept in one file with its thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

# Arrays of the file: all codes as int8, and all shifts as float64, layer by layer.
ROUNDING_ARRAYS = ("weight_codes", "shifts")


@dataclass(frozen=True)
class Rounding:
    """The choice for one layer.

    codes  int8 in the shape of the weight
    shift  float64, one an output channel: what moves the bias by the mean error of this rounding; None: nothing does
    """

    codes: np.ndarray
    shift: np.ndarray | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rounding):
            return NotImplemented
        same_shift = (self.shift is None) == (other.shift is None)
        if same_shift and self.shift is not None:
            same_shift = np.array_equal(self.shift, np.asarray(other.shift))
        return same_shift and np.array_equal(self.codes, other.codes)

    __hash__ = None  # type: ignore[assignment]  # arrays have none


def describe_roundings(roundings: Mapping[str, Rounding]) -> list[dict[str, Any]]:
    """Description of them for a document: the shapes by which the arrays are dealt out."""
    return [
        {"root": root, "shape": list(one.codes.shape), "channels": None if one.shift is None else len(one.shift)}
        for root, one in roundings.items()
    ]


def pack_roundings(roundings: Mapping[str, Rounding]) -> dict[str, np.ndarray]:
    """The arrays of ROUNDING_ARRAYS."""
    codes = [one.codes.reshape(-1) for one in roundings.values()]
    shifts = [one.shift for one in roundings.values() if one.shift is not None]
    return {
        "weight_codes": np.concatenate([np.zeros(0, np.int8), *codes]),
        "shifts": np.concatenate([np.zeros(0), *shifts]),
    }


def unpack_roundings(
    descriptions: Iterable[Mapping[str, Any]], arrays: Mapping[str, np.ndarray]
) -> dict[str, Rounding]:
    """Inverse of `describe_roundings` and `pack_roundings`; ValueError where they do not fit each other."""
    codes, shifts = (arrays[name] for name in ROUNDING_ARRAYS)
    if codes.dtype != np.int8 or shifts.dtype != np.float64 or not np.isfinite(shifts).all():
        raise ValueError("roundings of other types, or not finite")
    roundings: dict[str, Rounding] = {}
    first = start = 0
    for description in descriptions:
        shape, channels = [int(size) for size in description["shape"]], description["channels"]
        size, count = int(np.prod(shape)), int(channels or 0)
        shift = None if channels is None else shifts[start : start + count]
        roundings[str(description["root"])] = Rounding(codes[first : first + size].reshape(shape), shift)
        first, start = first + size, start + count
    if (codes.shape, shifts.shape) != ((first,), (start,)):
        raise ValueError(f"{first} codes and {start} shifts expected, found {codes.shape} and {shifts.shape}")
    return roundings
