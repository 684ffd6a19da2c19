"""Where the arrays of all steps stand: parameters, constants, the arena; and the text with their addresses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tvmq.exporters.c.arena import lower_bound, plan
from tvmq.exporters.c.tensor import Operand, Storage, Tensor, strides_of
from tvmq.exporters.c.walk import Walk

MARK = re.compile(r"@\d+@")


def name_results(walk: Walk, results: Sequence[Tensor], places: Sequence[str]) -> None:
    """Results are written where the caller wants them; one that is written elsewhere already is copied."""
    walk.layer = "results"
    for result, place in zip(results, places, strict=True):
        storage = result.storage
        if not storage.place and storage.size == result.bytes:
            storage.place = place
            continue
        target = Tensor(result.shape, result.type, Storage(result.bytes, place=place))
        walk.copy(Operand(result, strides_of(result.shape)), result.shape, target)


def plan_arena(walk: Walk) -> tuple[int, int]:
    """Offsets for all arrays that are neither parameters nor constants; bytes of the arena, and the least possible."""
    for number, step in enumerate(walk.steps):
        for tensor in (*step.reads, *step.writes):
            storage = tensor.storage
            storage.first = number if storage.first < 0 else storage.first
            storage.last = max(storage.last, number)
    _share(walk)
    roots = {tensor.storage.root for tensor in walk.tensors.values()}
    inside = [storage for storage in roots if not storage.place and storage.size]
    inside.sort(key=lambda storage: storage.first)
    return plan(inside), lower_bound(inside)


def _share(walk: Walk) -> None:
    """Results take the place of an operand that nobody reads any more."""
    for number, step in enumerate(walk.steps):
        for result, operand in step.shared:
            own, other = result.storage, operand.storage.root
            free = not other.place and other.last == number and other.size >= own.size
            if own.inside is None and not own.place and own is not other and free and own.first == number:
                own.inside, other.last = other, max(other.last, own.last)


def text_of(walk: Walk) -> list[tuple[str, str]]:
    """(layer, statements) of each step, with addresses."""
    addresses = {mark: _address(tensor) for mark, tensor in walk.tensors.items()}
    return [(step.layer, MARK.sub(lambda match: addresses[match.group()], step.text)) for step in walk.steps]


def _address(tensor: Tensor) -> str:
    root = tensor.storage.root
    return root.place or f"({tensor.type} *)(arena.bytes + {max(root.offset, 0)})"
