"""Places of storages that are used one after the other in the same memory, also where their sizes are dynamic.

Storages whose steps are apart share a slot, which has the size of its largest; slots stand side by side. What is shared
was chosen for usual sizes of the dynamic dimensions, and is right for all.

Tests: tests/library/test_size_table.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tvmq.library.size_table import SizeTable, value_of


@dataclass(frozen=True)
class Lifetime:
    """A storage: number of its bytes, the first and the last step that use it."""

    size: int
    first: int
    last: int

    def meets(self, other: Lifetime) -> bool:
        """True if both are used at a time."""
        return self.first <= other.last and other.first <= self.last


@dataclass
class _Slot:
    """Memory that storages have one after the other; bytes: at usual sizes; begin: number of its first byte."""

    bytes: int
    lifetimes: list[Lifetime] = field(default_factory=list)
    begin: int = 0


def share_storages(
    lifetimes: Mapping[int, Lifetime], table: SizeTable, usual: Mapping[str, int]
) -> tuple[dict[int, int], int]:
    """{storage: number of its first byte}, and the number of all bytes.

    lifetimes  {storage: its lifetime}
    usual      sizes of the dynamic dimensions

    >>> share_storages({7: Lifetime(100, 0, 1), 8: Lifetime(64, 1, 2), 9: Lifetime(10, 2, 3)}, SizeTable(), {})
    ({7: 0, 8: 128, 9: 0}, 192)
    """
    values = table.values(usual) if table.dimensions else []
    slots: list[_Slot] = []
    chosen: dict[int, _Slot] = {}
    for storage, own in sorted(lifetimes.items(), key=lambda one: -value_of(one[1].size, values)):
        free = [slot for slot in slots if not any(own.meets(other) for other in slot.lifetimes)]
        if free:  # the smallest; of equal ones that of the same size, which is the larger one for no sizes
            slot = min(free, key=lambda slot: (slot.bytes, slot.lifetimes[0].size != own.size))
        else:
            slots.append(slot := _Slot(value_of(own.size, values)))
        slot.lifetimes.append(own)
        chosen[storage] = slot
    total = 0
    for slot in slots:
        slot.begin = total
        largest = table.maximum([one.size for one in slot.lifetimes])
        total = table.apply("add", total, table.align(largest))
    return {storage: chosen[storage].begin for storage in lifetimes}, total
