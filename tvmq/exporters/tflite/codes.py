"""Codes of the module as tensors of the file: int8, channels last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Ints = tuple[int, ...]
# For each axis of the file's tensor, the axis of the module's that it is; None for one put in, of size 1
Order = tuple[int | None, ...]
# Rank -> channels last, as convolutions and pools of TFLite take pictures
LAST: dict[int, Order] = {3: (0, None, 2, 1), 4: (0, 2, 3, 1)}


def plain(rank: int) -> Order:
    """The order of the module.

    >>> plain(2)
    (0, 1)
    """
    return tuple(range(rank))


def in_order(values: Sequence[int], order: Order, fill: int = 1) -> Ints:
    """Numbers for the axes of the module as numbers for those of the file.

    >>> in_order((1, 3, 8, 9), LAST[4]), in_order((1, 3, 8), LAST[3])
    ((1, 8, 9, 3), (1, 1, 8, 3))
    """
    return tuple(fill if axis is None else int(values[axis]) for axis in order)


def arranged(array: np.ndarray, order: Order) -> np.ndarray:
    """An array of the module as the file has it.

    >>> arranged(np.zeros((1, 3, 8)), LAST[3]).shape
    (1, 1, 8, 3)
    """
    moved = array.transpose([axis for axis in order if axis is not None])
    return np.ascontiguousarray(moved.reshape(in_order(array.shape, order)))


def restored(array: np.ndarray, order: Order) -> np.ndarray:
    """An array of the file as the module has it: inverse of `arranged`.

    >>> restored(np.zeros((1, 1, 8, 3)), LAST[3]).shape
    (1, 3, 8)
    """
    kept = [axis for axis in order if axis is not None]
    moved = array.reshape([n for n, axis in zip(array.shape, order, strict=True) if axis is not None])
    return np.ascontiguousarray(moved.transpose(np.argsort(kept)))


@dataclass(frozen=True)
class Codes:
    """An activation.

    place   number of the tensor in the file
    shape   in the module
    order   of its axes in the file
    scale   real value of one step
    zero    code of 0.0, an int8
    moved   what was taken from the codes of the module: 128 of uint8, which TFLite's int8 kernels do not read, 0 of int8
    """

    place: int
    shape: Ints
    order: Order
    scale: np.float32
    zero: int
    moved: int

    @property
    def sizes(self) -> Ints:
        """Shape in the file."""
        return in_order(self.shape, self.order)

    @property
    def is_last(self) -> bool:
        """True for channels last."""
        return self.order == LAST.get(len(self.shape))

    @property
    def is_plain(self) -> bool:
        """True for the order of the module."""
        return self.order == plain(len(self.shape))


@dataclass(frozen=True)
class End:
    """An input or a result of the file.

    name        in the model and in the file's signature
    shape       in the module
    order       for each axis of the file's tensor the axis of the module's; None for one put in, of size 1
    scale       real value of one step
    zero_point  code of 0.0 in the file
    moved       what is taken from the codes of the module: 128 where those are uint8, else 0
    """

    name: str
    shape: Ints
    order: Order
    scale: float
    zero_point: int
    moved: int

    def to_file(self, codes: np.ndarray) -> np.ndarray:
        """Codes of the module as the file takes them: int8."""
        return arranged((codes.astype(np.int16) - self.moved).astype(np.int8), self.order)

    def from_file(self, codes: np.ndarray) -> np.ndarray:
        """Codes of the file as the module has them: int8, or uint8."""
        wide = restored(codes, self.order).astype(np.int16) + self.moved
        return wide.astype(np.uint8 if self.moved else np.int8)
