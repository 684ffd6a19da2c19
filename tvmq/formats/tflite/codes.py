"""Codes of the module as tensors of the file: int8, channels last.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tvmq.formats.exporting.layouts import LAST, Ints, Order, arrange_sizes, module_order


@dataclass(frozen=True)
class TfliteTensor:
    """An activation.

    place   number of the tensor in the file
    shape   in the module
    order   of its axes in the file
    scale   real value of one step
    zero    code of 0.0, an int8
    uint8_offset  codes of the module minus these: 128 for uint8, which int8 kernels do not read, else 0
    """

    place: int
    shape: Ints
    order: Order
    scale: np.float32
    zero: int
    uint8_offset: int

    @property
    def sizes(self) -> Ints:
        """Shape in the file."""
        return arrange_sizes(self.shape, self.order)

    @property
    def is_channels_last(self) -> bool:
        """True for channels last."""
        return self.order == LAST.get(len(self.shape))

    @property
    def is_module_order(self) -> bool:
        """True for the order of the module."""
        return self.order == module_order(len(self.shape))
