"""Where the arrays of all steps stand: parameters, constants, the arena; and the text with their addresses.

Tests: tests/formats/c/test_export_c.py
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tvmq.formats.c.arena import lower_bound, plan
from tvmq.formats.c.tensor import CTensor, Operand, Storage, strides_of
from tvmq.formats.c.writer import CWriter

MARK = re.compile(r"@\d+@")


def name_results(writer: CWriter, results: Sequence[CTensor], places: Sequence[str]) -> None:
    """Write results to the caller's buffers; copy a result that already stands elsewhere."""
    writer.layer = "results"
    for result, place in zip(results, places, strict=True):
        storage = result.storage
        if not storage.place and storage.size == result.bytes:
            storage.place = place
            continue
        target = CTensor(result.shape, result.type, Storage(result.bytes, place=place))
        writer.copy(Operand(result, strides_of(result.shape)), result.shape, target)


def plan_arena(writer: CWriter) -> tuple[int, int]:
    """Assign offsets to all arrays but parameters and constants; bytes of the arena, and a lower bound."""
    for number, step in enumerate(writer.steps):
        for tensor in (*step.reads, *step.writes):
            storage = tensor.storage
            storage.first_step = number if storage.first_step < 0 else storage.first_step
            storage.last_step = max(storage.last_step, number)
    _share_operands(writer)
    roots = {tensor.storage.root for tensor in writer.tensors.values()}
    inside = [storage for storage in roots if not storage.place and storage.size]
    inside.sort(key=lambda storage: storage.first_step)
    return plan(inside), lower_bound(inside)


def _share_operands(writer: CWriter) -> None:
    """Give results the storage of an operand that no later step reads."""
    for number, step in enumerate(writer.steps):
        for result, operand in step.in_place:
            own, other = result.storage, operand.storage.root
            free = not other.place and other.last_step == number and other.size >= own.size
            if own.parent is None and not own.place and own is not other and free and own.first_step == number:
                own.parent, other.last_step = other, max(other.last_step, own.last_step)


def text_of(writer: CWriter) -> list[tuple[str, str]]:
    """(layer, statements) of each step, with addresses."""
    addresses = {mark: _address(tensor) for mark, tensor in writer.tensors.items()}
    return [(step.layer, MARK.sub(lambda match: addresses[match.group()], step.text)) for step in writer.steps]


def _address(tensor: CTensor) -> str:
    root = tensor.storage.root
    return root.place or f"({tensor.type} *)(arena.bytes + {max(root.offset, 0)})"
