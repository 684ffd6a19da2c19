"""Memory that tensors of dynamic sizes share, where their calls are apart.

A slot is as large as its largest tensor. Which tensors share one is chosen for sizes of USUAL, and is right for all.

Tests: tests/codegen/compile/test_dynamic_main.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tvm import tirx
from tvm.sym import Analyzer
from tvm.tirx.analysis import undefined_vars
from tvm_ffi import structural_equal

ALIGNMENT = 64
USUAL = 64  # of each dynamic dimension
LEAST_BYTES = 4096
Size = Any  # an int or an expression of dynamic dimensions


@dataclass
class SharedStorage:
    """Memory of intermediate results: bytes, the first and the last call that use it."""

    size: Size
    first: int = -1
    last: int = -1

    def meets(self, other: SharedStorage) -> bool:
        """True if both are used at a time."""
        return self.first <= other.last and other.first <= self.last


@dataclass
class Slot:
    """Memory that storages have one after the other; bytes: at usual sizes."""

    bytes: int
    storages: list[SharedStorage] = field(default_factory=list)

    @property
    def size(self) -> Size:
        """Bytes of the largest, as a multiple of ALIGNMENT."""
        sizes: list[Size] = []
        for storage in self.storages:
            if not any(are_alike(storage.size, size) for size in sizes):
                sizes.append(storage.size)
        largest = sizes[0]
        for size in sizes[1:]:
            largest = tirx.max(int64_of(largest), int64_of(size))
        return Analyzer().simplify((int64_of(largest) + (ALIGNMENT - 1)) // ALIGNMENT * ALIGNMENT)


def share_slots(storages: Sequence[SharedStorage]) -> tuple[list[Slot], dict[int, int]]:
    """Slots, and {storage: number of its slot}, for storages that a call uses.

    >>> share_slots([SharedStorage(100, 0, 1), SharedStorage(64, 1, 2), SharedStorage(10, 2, 3)])[1]
    {0: 0, 1: 1, 2: 0}
    """
    slots: list[Slot] = []
    chosen: dict[int, int] = {}
    usual = [_usual(storage.size) for storage in storages]
    for number in sorted((n for n, one in enumerate(storages) if one.first >= 0), key=lambda n: -usual[n]):
        own = storages[number]
        free = [i for i, slot in enumerate(slots) if not any(own.meets(other) for other in slot.storages)]
        alike = [i for i in free if are_alike(slots[i].storages[0].size, own.size)]
        if not free:
            slots.append(Slot(usual[number]))
        chosen[number] = (alike or sorted(free, key=lambda i: slots[i].bytes) or [len(slots) - 1])[0]
        slots[chosen[number]].storages.append(own)
    return slots, chosen


def power_of_two(size: Size) -> Any:
    """The next power of two from LEAST_BYTES on."""
    if isinstance(size, int | tirx.IntImm):
        size = int(size)
        return 1 << (max(size, LEAST_BYTES) - 1).bit_length()
    bits = tirx.clz(tirx.max(int64_of(size), int64_of(LEAST_BYTES)) - 1)
    return tirx.shift_left(int64_of(1), int64_of(64) - tirx.Cast("int64", bits))


def _usual(size: Size) -> int:
    if isinstance(size, int):
        return size
    analyzer = Analyzer()
    for var in undefined_vars(size):
        analyzer.bind(var, int64_of(USUAL))
    return int(analyzer.simplify(size))


def are_alike(a: Size, b: Size) -> bool:
    """True for the same number, or the same expression."""
    return bool(structural_equal(int64_of(a), int64_of(b)))


def int64_of(size: Size) -> Any:
    """A size as an expression of 64 bits."""
    return tirx.IntImm("int64", size) if isinstance(size, int) else size
