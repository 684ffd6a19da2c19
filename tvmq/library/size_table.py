"""Numbers that a run computes from the sizes of dynamic dimensions: shapes, places, bytes.

A number of a plan is an integer: from 0 on itself, below 0 the entry ~number of a table. The first entries of the table
are the sizes that a run is given, each other one is an operation on numbers:

    0  rows        given
    1  columns     given
    2  -1 * -2     elements of [rows, columns]
    3  -3 * 4      bytes of it as float32

Each operation stands once. The runtime fills the table at the beginning of a run (sizes.h) and refuses sizes for which
an operation leaves 64 bits, or 32 where a kernel computes with so many.

Tests: tests/library/test_size_table.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from tvmq.errors import BuildError

ALIGNMENT = 64
# Operations of sizes.h, in its order
OPERATIONS = (
    "copy", "add", "subtract", "multiply", "floor_divide", "floor_modulo", "divide", "modulo", "minimum", "maximum",
    "less", "equal", "select", "shift_right", "int32", "length", "same",
)  # fmt: skip
NUMBERS = {name: number for number, name in enumerate(OPERATIONS)}
MOST_ENTRIES = 2048  # the runtime has them on its stack where no workspace is at hand
INT64 = range(-(2**63), 2**63)
RANGES = {"int32": range(-(2**31), 2**31), "length": range(2**31)}  # of results

Entry = tuple[int, int, int, int]  # operation, operands


class OutOfRange(Exception):
    """Sizes for which a number of the table is none that a run takes."""


def _floor(a: int, b: int) -> int:
    return a // b


def _truncate(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_COMPUTE: dict[str, Callable[[int, int, int], int]] = {
    "copy": lambda a, b, c: a,
    "add": lambda a, b, c: a + b,
    "subtract": lambda a, b, c: a - b,
    "multiply": lambda a, b, c: a * b,
    "floor_divide": lambda a, b, c: _floor(a, b),
    "floor_modulo": lambda a, b, c: a - _floor(a, b) * b,
    "divide": lambda a, b, c: _truncate(a, b),
    "modulo": lambda a, b, c: a - _truncate(a, b) * b,
    "minimum": lambda a, b, c: min(a, b),
    "maximum": lambda a, b, c: max(a, b),
    "less": lambda a, b, c: int(a < b),
    "equal": lambda a, b, c: int(a == b),
    "select": lambda a, b, c: b if a else c,
    "shift_right": lambda a, b, c: a >> b,
    "int32": lambda a, b, c: a,
    "length": lambda a, b, c: a,
    "same": lambda a, b, c: a,
}
DIVISIONS = ("floor_divide", "floor_modulo", "divide", "modulo")


@dataclass
class SizeTable:
    """The table in the making.

    dimensions  names of the dynamic dimensions
    entries     what is computed behind their sizes

    >>> table = SizeTable(("rows",))
    >>> table.apply("multiply", table.dimension("rows"), 4), table.apply("multiply", 3, 4)
    (-2, 12)
    >>> table.values({"rows": 5})
    [5, 20]
    """

    dimensions: tuple[str, ...] = ()
    entries: list[Entry] = field(default_factory=list)
    _known: dict[Any, int] = field(default_factory=dict)

    def copy(self) -> SizeTable:
        """A table that begins as this one."""
        return SizeTable(self.dimensions, list(self.entries), dict(self._known))

    def dimension(self, name: str) -> int:
        """Number of a dynamic dimension's size; KeyError for another name."""
        if name not in self.dimensions:
            raise KeyError(name)
        return ~self.dimensions.index(name)

    def constant(self, value: int) -> int:
        """Number of a constant, which may be negative."""
        return value if value >= 0 else self._add(("subtract", 0, -value, 0))

    def apply(self, operation: str, a: int, b: int = 0, c: int = 0) -> int:
        """Number of an operation's result."""
        if min(a, b, c) >= 0 and not (b == 0 and operation in DIVISIONS):
            return self.constant(_COMPUTE[operation](a, b, c))
        if operation in ("add", "multiply", "minimum", "maximum"):
            a, b = max(a, b), min(a, b)  # numbers of the table behind constants
        if (operation, a) in (("add", 0), ("multiply", 1)) or (operation in ("minimum", "maximum") and a == b):
            return b
        if (operation, a) == ("multiply", 0):
            return 0
        if (operation, b) in (("subtract", 0), ("floor_divide", 1)):
            return a
        return self._add((operation, a, b, c))

    def multiply(self, numbers: Sequence[int]) -> int:
        """Number of the product; of equal factors in any order it is the same."""
        constants, others = [n for n in numbers if n >= 0], [n for n in numbers if n < 0]
        return reduce(lambda a, b: self.apply("multiply", a, b), sorted(others), prod(constants))

    def add(self, numbers: Sequence[int]) -> int:
        """Number of the sum."""
        return reduce(lambda a, b: self.apply("add", a, b), numbers, 0)

    def maximum(self, numbers: Sequence[int]) -> int:
        """Number of the largest; 0 of none."""
        return reduce(lambda a, b: self.apply("maximum", a, b), dict.fromkeys(numbers), 0)

    def align(self, number: int) -> int:
        """Number of the next multiple of 64."""
        blocks = self.apply("floor_divide", self.apply("add", number, ALIGNMENT - 1), ALIGNMENT)
        return self.apply("multiply", blocks, ALIGNMENT)

    def length(self, number: int) -> int:
        """Number of an axis' size: a computed one is refused below 0 and beyond 31 bits, as limits do for others."""
        is_computed = number < 0 and ~number >= len(self.dimensions)
        return self.apply("length", number) if is_computed else number

    def require_same(self, a: int, b: int) -> None:
        """Refuse sizes for which two numbers differ."""
        if a != b:
            self.apply("same", a, b)

    def tensor_bytes(self, shape: Sequence[int], dtype: str) -> int:
        """Number of a tensor's bytes; kernels count its elements in 32 bits."""
        elements = self.apply("int32", self.multiply(shape)) if min(shape, default=0) < 0 else self.multiply(shape)
        return self.apply("multiply", elements, np.dtype(dtype).itemsize)

    def shape(self, shape: Sequence[int]) -> int:
        """Index of the first of entries, one behind the other, that hold the sizes of a tensor."""
        key = ("shape", *shape)
        if key not in self._known:
            self._known[key] = len(self.dimensions) + len(self.entries)
            for size in shape:
                self.entries.append((NUMBERS["copy"], size, 0, 0))
        return self._known[key]

    def uses(self, number: int, dimension: int) -> bool:
        """True for a number that depends on the size of a dimension, given by its place in the table."""
        if number >= 0 or ~number < len(self.dimensions):
            return number == ~dimension
        _, *operands = self.entries[~number - len(self.dimensions)]
        return any(self.uses(operand, dimension) for operand in operands)

    def values(self, sizes: Mapping[str, int]) -> list[int]:
        """The table for these sizes.

        raises   OutOfRange for sizes that a run refuses
        """
        values = [sizes[name] for name in self.dimensions]
        for operation, *operands in self.entries:
            a, b, c = (value_of(operand, values) for operand in operands)
            name = OPERATIONS[operation]
            if name in DIVISIONS and b == 0 or name == "same" and a != b:
                raise OutOfRange(f"{name} of {a} and {b}")
            value = _COMPUTE[name](a, b, c)
            if value not in RANGES.get(name, INT64):
                raise OutOfRange(f"{name} of {value}")
            values.append(value)
        return values

    def _add(self, entry: tuple[str, int, int, int]) -> int:
        if entry not in self._known:
            if len(self.entries) + len(self.dimensions) >= MOST_ENTRIES:
                raise BuildError(
                    f"export_library: the model computes more than {MOST_ENTRIES} numbers from its dynamic sizes; fix "
                    "some with tvmq.build(..., sizes={name: number})"
                )
            self._known[entry] = ~(len(self.dimensions) + len(self.entries))
            self.entries.append((NUMBERS[entry[0]], *entry[1:]))
        return self._known[entry]


def value_of(number: int, values: Sequence[int]) -> int:
    """What a number is for the values of a table.

    >>> value_of(7, [5, 20]), value_of(-2, [5, 20])
    (7, 20)
    """
    return number if number >= 0 else values[~number]
