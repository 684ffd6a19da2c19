"""Variables of the module in C: an array somewhere in memory, or a formula that its only reader writes out.

Tests: tests/formats/c/test_operators.py
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

Ints = tuple[int, ...]

# Element type -> its name in the C file (see files.py), and its size. Booleans are bytes of 0 and 1.
NAMES = {
    "bool": "u8",
    "uint8": "u8",
    "int8": "s8",
    "uint16": "u16",
    "int16": "s16",
    "uint32": "u32",
    "int32": "s32",
    "int64": "s64",
}
SIZES = {"u8": 1, "s8": 1, "u16": 2, "s16": 2, "u32": 4, "s32": 4, "s64": 8}
C_TYPES = {
    "u8": "uint8_t",
    "s8": "int8_t",
    "u16": "uint16_t",
    "s16": "int16_t",
    "u32": "uint32_t",
    "s32": "int32_t",
    "s64": "int64_t",
}
_numbers = itertools.count()


@dataclass(eq=False)
class Storage:
    """Bytes of one array, or of several that share them.

    place    name in C: that of a parameter or a constant; "" for a part of the arena
    size     bytes
    first_step, last_step   number of the step that writes it first, and that reads it last
    offset   in the arena, once it is planned
    parent   the storage whose bytes it takes over; None for bytes of its own
    """

    size: int
    place: str = ""
    first_step: int = -1
    last_step: int = -1
    offset: int = -1
    parent: Storage | None = None

    @property
    def root(self) -> Storage:
        """Storage whose bytes these are: the outermost one that this one lies inside of."""
        return self if self.parent is None else self.parent.root


@dataclass(eq=False)
class CTensor:
    """Array in C order."""

    shape: Ints
    type: str
    storage: Storage
    number: int = field(default_factory=lambda: next(_numbers))

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Size in memory."""
        return self.size * SIZES[self.type]

    @property
    def strides(self) -> Ints:
        """Distances between elements along each axis, in elements."""
        return strides_of(self.shape)

    @property
    def mark(self) -> str:
        """Placeholder of its address in the text of a step until the arena is planned."""
        return f"@{self.number}@"

    def with_shape(self, shape: Ints) -> CTensor:
        """Tensor of another shape in this memory."""
        return CTensor(shape, self.type, self.storage)


def in_arena(shape: Ints, dtype: str) -> CTensor:
    """A new array in the arena."""
    name = NAMES[dtype]
    return CTensor(shape, name, Storage(math.prod(shape) * SIZES[name]))


@dataclass(frozen=True)
class Operand:
    """An array as a loop reads it: the stride between its elements along each axis of the result.

    >>> a = in_arena((3, 1), "int8")
    >>> broadcast(a, (2, 3, 4)).strides
    (0, 1, 0)
    """

    tensor: CTensor
    strides: Ints
    offset: int = 0


@dataclass(frozen=True)
class Formula:
    """Values that are computed one by one.

    text       C expression in which {0}, {1}, ... are the elements of the operands
    """

    shape: Ints
    type: str
    operands: tuple[Operand, ...]
    text: str


def strides_of(shape: Ints) -> Ints:
    """Strides in C order, in elements.

    >>> strides_of((2, 3, 4))
    (12, 4, 1)
    """
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def broadcast(tensor: CTensor, shape: Ints) -> Operand:
    """The tensor as an operand of a result of that shape, as NumPy broadcasts."""
    lead = len(shape) - len(tensor.shape)
    own = strides_of(tensor.shape)
    return Operand(tensor, (0,) * lead + tuple(0 if n == 1 else s for n, s in zip(tensor.shape, own, strict=True)))


def broadcast_along(tensor: CTensor, axis: int, rank: int) -> Operand:
    """Operand that reads a vector along one axis."""
    return Operand(tensor, tuple(int(i == axis) for i in range(rank)))
