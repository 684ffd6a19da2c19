"""What an executable takes and gives, and the checks of what it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmq.errors import DataError


@dataclass(frozen=True)
class TensorInfo:
    """An input or output: name, shape, element type; scale and zero point of the codes it has in the integer core."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    scale: Any = None
    zero_point: Any = None


def infos(described: Sequence[Mapping[str, Any]]) -> tuple[TensorInfo, ...]:
    """From a module's description."""
    return tuple(TensorInfo(**{**facts, "shape": tuple(facts["shape"])}) for facts in described)


def by_position(arrays: Sequence[np.ndarray], wanted: Sequence[TensorInfo]) -> dict[str, np.ndarray]:
    """Arrays in order as {name: array}."""
    if len(arrays) != len(wanted):
        names = [info.name for info in wanted]
        raise DataError(f"run: {len(arrays)} arrays given, the model takes {len(wanted)}: {names}")
    return {info.name: array for info, array in zip(wanted, arrays, strict=True)}


def checked_inputs(
    inputs: Mapping[str, np.ndarray], wanted: Sequence[TensorInfo], *, check_finite: bool
) -> list[np.ndarray]:
    """The arrays in order, of the right shape; raises DataError naming the input and what the model takes."""
    if not isinstance(inputs, Mapping):
        raise DataError(f"run: inputs must be a dictionary {{name: array}}. Got {type(inputs).__name__} instead")
    names = [info.name for info in wanted]
    for name in inputs:
        if name not in names:
            raise DataError(f"run: the model has no input '{name}'; it takes {names}")
    arrays = []
    for info in wanted:
        if info.name not in inputs:
            raise DataError(f"run: input '{info.name}' is missing; the model takes {names}")
        arrays.append(_checked(np.asarray(inputs[info.name]), info, check_finite))
    return arrays


def _checked(array: np.ndarray, info: TensorInfo, check_finite: bool) -> np.ndarray:
    if array.shape != info.shape:
        raise DataError(f"run: input '{info.name}' has shape {array.shape}, the model takes {info.shape}")
    if str(array.dtype) != info.dtype and not np.can_cast(array.dtype, info.dtype, "same_kind"):
        raise DataError(f"run: input '{info.name}' is {array.dtype}, the model takes {info.dtype}")
    if check_finite and array.dtype.kind == "f" and not np.isfinite(array).all():
        count = int((~np.isfinite(array)).sum())
        raise DataError(f"run: input '{info.name}' holds {count} NaN or infinite values of {array.size}; repair the preprocessing")
    return array
