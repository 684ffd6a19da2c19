"""Images with channels last: the order of axes in files of other formats, and the steps between two orders.

Where a module has (N, C, H, W), TFLite and TOSA have (N, H, W, C), and (N, 1, L, C) for (N, C, L).

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tvm import relax

Ints = tuple[int, ...]
# For each axis of the file's tensor, the axis of the module's that it is; None for one put in, of size 1
Order = tuple[int | None, ...]
# Rank -> channels last, as convolutions and pools of TFLite take pictures
LAST: dict[int, Order] = {3: (0, None, 2, 1), 4: (0, 2, 3, 1)}


def module_order(rank: int) -> Order:
    """The order of the module.

    >>> module_order(2)
    (0, 1)
    """
    return tuple(range(rank))


def arrange_sizes(values: Sequence[int], order: Order, fill: int = 1) -> Ints:
    """Numbers for the axes of the module as numbers for those of the file.

    >>> arrange_sizes((1, 3, 8, 9), LAST[4]), arrange_sizes((1, 3, 8), LAST[3])
    ((1, 8, 9, 3), (1, 1, 8, 3))
    """
    return tuple(fill if axis is None else int(values[axis]) for axis in order)


def to_file_order(array: np.ndarray, order: Order) -> np.ndarray:
    """An array of the module as the file has it.

    >>> to_file_order(np.zeros((1, 3, 8)), LAST[3]).shape
    (1, 1, 8, 3)
    """
    transposed = array.transpose([axis for axis in order if axis is not None])
    return np.ascontiguousarray(transposed.reshape(arrange_sizes(array.shape, order)))


def to_module_order(array: np.ndarray, order: Order) -> np.ndarray:
    """An array of the file as the module has it: inverse of `to_file_order`.

    >>> to_module_order(np.zeros((1, 1, 8, 3)), LAST[3]).shape
    (1, 3, 8)
    """
    kept = [axis for axis in order if axis is not None]
    squeezed = array.reshape([n for n, axis in zip(array.shape, order, strict=True) if axis is not None])
    return np.ascontiguousarray(squeezed.transpose(np.argsort(kept)))


def to_two_axes(values: Sequence[int], fill: int = 1) -> Ints:
    """Options of one axis as options of two.

    >>> to_two_axes((3,)), to_two_axes((3, 2))
    ((1, 3), (3, 2))
    """
    return (fill,) * (2 - len(values)) + tuple(int(value) for value in values)


def layout_steps(shape: Ints, order: Order, wanted: Order, most_axes: int = 64) -> list[tuple[str, Ints]]:
    """Steps that bring a tensor from one order of axes to another: ("reshape", sizes), ("transpose", axes) or nothing.

    Where only axes of size 1 move nothing is transposed; a transpose of more than `most_axes` has axes merged.

    >>> layout_steps((1, 3, 8, 9), LAST[4], module_order(4))
    [('transpose', (0, 3, 1, 2))]
    >>> layout_steps((1, 3, 8), module_order(3), LAST[3])
    [('transpose', (0, 2, 1)), ('reshape', (1, 1, 8, 3))]
    >>> layout_steps((1, 3, 1, 1), LAST[4], module_order(4))
    [('reshape', (1, 3, 1, 1))]
    """
    steps: list[tuple[str, Ints]] = []
    sizes = arrange_sizes(shape, order)
    known, target = ([axis for axis in axes if axis is not None] for axes in (order, wanted))
    if [axis for axis in known if shape[axis] != 1] != [axis for axis in target if shape[axis] != 1]:
        if None in order:
            steps.append(("reshape", tuple(shape[axis] for axis in known)))
        axes, sizes = tuple(known.index(axis) for axis in target), tuple(shape[axis] for axis in target)
        if len(axes) > most_axes:
            merged, axes = collapse_transpose(tuple(shape[axis] for axis in known), axes)
            steps += [("reshape", merged), ("transpose", axes), ("reshape", sizes)]
        else:
            steps.append(("transpose", axes))
    if sizes != arrange_sizes(shape, wanted):
        steps.append(("reshape", arrange_sizes(shape, wanted)))
    return steps


def collapse_transpose(sizes: Ints, axes: Ints) -> tuple[Ints, Ints]:
    """An equal transpose of as few axes as possible: those of size 1 are dropped, those that move together joined.

    >>> collapse_transpose((1, 3, 2, 2, 80, 80), (0, 1, 4, 2, 5, 3)), collapse_transpose((2, 3, 4, 5), (2, 3, 0, 1))
    (((3, 2, 2, 80, 80), (0, 3, 1, 4, 2)), ((6, 20), (1, 0)))
    """
    kept = [axis for axis in range(len(sizes)) if sizes[axis] != 1]
    groups: list[list[int]] = []
    for axis in (axis for axis in axes if sizes[axis] != 1):
        if groups and kept.index(axis) == kept.index(groups[-1][-1]) + 1:
            groups[-1].append(axis)
        else:
            groups.append([axis])
    ordered = sorted(groups)
    return tuple(math.prod(sizes[a] for a in g) for g in ordered), tuple(ordered.index(g) for g in groups)


def code_bounds(call: relax.Call, uint8_offset: int) -> tuple[int, int]:
    """(qmin, qmax) of a requantize, as codes of the file."""
    return int(call.attrs.qmin) - uint8_offset, int(call.attrs.qmax) - uint8_offset


@dataclass(frozen=True)
class FileTensor:
    """An input or a result of the file.

    name        in the model and in the file's signature
    shape       in the module
    order       for each axis of the file's tensor the axis of the module's; None for one put in, of size 1
    scale       real value of one step
    zero_point  code of 0.0 in the file
    uint8_offset  offset between the codes of the module and those of the file: 128 for uint8, else 0
    dtype       in the module
    """

    name: str
    shape: Ints
    order: Order
    scale: float
    zero_point: int
    uint8_offset: int
    dtype: str

    def to_file(self, codes: np.ndarray) -> np.ndarray:
        """Numbers of the module as the file takes them: int8 for uint8, else their own type."""
        dtype = "int8" if self.uint8_offset else self.dtype
        return to_file_order((codes.astype(np.int64) - self.uint8_offset).astype(dtype), self.order)

    def from_file(self, codes: np.ndarray) -> np.ndarray:
        """Numbers of the file as the module has them."""
        return (to_module_order(codes, self.order).astype(np.int64) + self.uint8_offset).astype(self.dtype)


@dataclass(frozen=True)
class CoreExport:
    """File that an exporter wrote.

    path             the file
    size             bytes
    operators        {name in the format: how many}
    inputs, outputs  FileTensor: name, and scale and zero point of codes; `to_file` and `from_file` turn codes of the
                     module into those of the file, which are int8 and have channels last
    """

    path: Path
    size: int
    operators: dict[str, int]
    inputs: tuple[FileTensor, ...]
    outputs: tuple[FileTensor, ...]

    def __str__(self) -> str:
        counted = ", ".join(f"{count} {name}" for name, count in self.operators.items())
        return f"{self.path}: {self.size} bytes; {counted}"
