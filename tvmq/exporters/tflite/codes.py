"""Codes of the module as tensors of the file: int8, channels last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tvmq.exporters.layouts import LAST, Ints, Order, in_order, plain


@dataclass(frozen=True)
class Codes:
    """An activation.

    place   number of the tensor in the file
    shape   in the module
    order   of its axes in the file
    scale   real value of one step
    zero    code of 0.0, an int8
    moved   offset between the codes of the module and these: 128 for uint8, which int8 kernels do not read, else 0
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
