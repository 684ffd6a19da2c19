"""The plan of the arena: where in one array of bytes each intermediate result stands.

Two results share bytes if none of them is needed after the other one is written. Finding the smallest arena is a
packing problem; the largest results first, each at the lowest free offset, is within some percent of the bound on
networks (Pisarchyk and Lee 2020, "greedy by size"). Of several such orders, improved step by step, the best one is
taken.

Tests: tests/formats/c/test_export_c.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tvmq.formats.c.tensor import Storage

ALIGNMENT = 8
ROUNDS = 40
Order = Callable[[Storage], tuple[int, ...]]
ORDERS: tuple[Order, ...] = (
    lambda s: (-s.size, s.first_step),
    lambda s: (s.first_step - s.last_step, -s.size),
    lambda s: (s.first_step, -s.size),
    lambda s: (-s.size * (s.last_step - s.first_step + 1), s.first_step),
)


def plan(storages: Sequence[Storage]) -> int:
    """Give each storage its offset; the bytes that the arena needs.

    >>> a, b = Storage(100, first_step=0, last_step=1), Storage(60, first_step=1, last_step=2)
    >>> c = Storage(90, first_step=2, last_step=3)
    >>> plan([a, b, c]), a.offset, b.offset, c.offset
    (168, 0, 104, 0)
    """
    least = lower_bound(storages)
    best = min((_improve_plan(sorted(storages, key=order), least) for order in ORDERS), key=_total)
    for storage, offset in best.items():
        storage.offset = offset
    return _total(best)


def _improve_plan(storages: list[Storage], least: int) -> dict[Storage, int]:
    """The best of up to ROUNDS plans, each of which places first the storage that ended highest in the one before."""
    best = offsets = _place_storages(storages)
    for _ in range(ROUNDS):
        total = _total(offsets)
        if total <= least:
            break
        highest = next(storage for storage, offset in offsets.items() if offset + _round_up(storage.size) == total)
        storages = [highest, *(storage for storage in storages if storage is not highest)]
        offsets = _place_storages(storages)
        best = min(best, offsets, key=_total)
    return best


def _total(offsets: dict[Storage, int]) -> int:
    return max((offset + _round_up(storage.size) for storage, offset in offsets.items()), default=0)


def lower_bound(storages: Sequence[Storage]) -> int:
    """Bytes that are needed at one time, whatever the plan.

    >>> lower_bound([Storage(100, first_step=0, last_step=1), Storage(60, first_step=1, last_step=2)])
    168
    """
    live = ([s for s in storages if s.first_step <= time.first_step <= s.last_step] for time in storages)
    return max((sum(_round_up(s.size) for s in group) for group in live), default=0)


def _place_storages(storages: Sequence[Storage]) -> dict[Storage, int]:
    offsets: dict[Storage, int] = {}
    for storage in storages:
        occupied = sorted(
            (offset, offset + _round_up(other.size))
            for other, offset in offsets.items()
            if other.first_step <= storage.last_step and storage.first_step <= other.last_step
        )
        offset = 0
        for begin, end in occupied:
            if offset + _round_up(storage.size) <= begin:
                break
            offset = max(offset, end)
        offsets[storage] = offset
    return offsets


def _round_up(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
