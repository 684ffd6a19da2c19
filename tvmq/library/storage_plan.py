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
class Span:
    """A storage: number of its bytes, the first and the last step that use it."""

    size: int
    first: int
    last: int

    def meets(self, other: Span) -> bool:
        """True if both are used at a time."""
        return self.first <= other.last and other.first <= self.last


@dataclass
class _Slot:
    """Memory that storages have one after the other; bytes: at usual sizes."""

    bytes: int
    spans: list[Span] = field(default_factory=list)


def share_storages(spans: Mapping[int, Span], table: SizeTable, usual: Mapping[str, int]) -> tuple[dict[int, int], int]:
    """{storage: number of its first byte}, and the number of all bytes.

    spans  {storage: its span}
    usual  sizes of the dynamic dimensions

    >>> share_storages({7: Span(100, 0, 1), 8: Span(64, 1, 2), 9: Span(10, 2, 3)}, SizeTable(), {})
    ({7: 0, 8: 128, 9: 0}, 192)
    """
    values = table.values(usual) if table.dimensions else []
    slots: list[_Slot] = []
    chosen: dict[int, int] = {}
    for storage, span in sorted(spans.items(), key=lambda one: -value_of(one[1].size, values)):
        free = [number for number, slot in enumerate(slots) if not any(span.meets(other) for other in slot.spans)]
        if not free:
            slots.append(_Slot(value_of(span.size, values)))
        # the smallest that is free; of equal ones that of an equal size, which is never the larger one
        chosen[storage] = min(
            free, key=lambda number: (slots[number].bytes, slots[number].spans[0].size != span.size), default=-1
        )
        chosen[storage] %= len(slots)
        slots[chosen[storage]].spans.append(span)
    begins, total = [], 0
    for slot in slots:
        begins.append(total)
        total = table.apply("add", total, table.align(table.maximum([span.size for span in slot.spans])))
    return {storage: begins[chosen[storage]] for storage in spans}, total
