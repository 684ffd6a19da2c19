"""Softmax, norms and their kind as one kernel: 16 threads, the lanes of the definition's sums, compute a row.

Before                                        After
    largest[row], powers[row, i],                 for rows of a block (threadIdx.y)
    lanes[row, j], result[row, i]                     each step: elements of the row over threadIdx.x
    each a kernel of its own                          what has one element a row: in registers of each thread
                                                      other steps: in shared memory

Needs     all steps have the same leading axes, the rows, and read each other's values of their own row only; the rows
          of a block fit into shared memory; sums are of one element or of a multiple of 16.
Numerics  none: every value is computed as before, sums by one thread in their order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tvm import tirx
from tvm.ir.expr import TensorLoad

from tvmq.codegen.schedule.accesses import LoopBlock, constant, describe, walk

THREADS = 16  # of a row; a sum is never shared between threads, and none of them is spare
MOST_ROWS = 16  # of a block
LONGEST = 2048  # elements that a thread computes or sums one after the other; more are left to all threads of the GPU
SHARED_BYTES = 48 * 1024  # what every GPU gives a block without being asked


def schedule_rows(schedule: Any, blocks: Sequence[Any]) -> bool:
    """Schedule all blocks of a function as one kernel; False, and nothing changed, where they are no steps of rows."""
    known = [describe(schedule.get(block)) for block in blocks]
    steps = [facts for facts in known if facts is not None]
    if len(blocks) < 2 or len(steps) < len(blocks) or not any(any(facts.reduced) for facts in steps):
        return False
    sizes = _rows(steps)
    *before, last = blocks
    if not sizes or any(steps[-1].reduced) or not all(_fits(facts, len(sizes)) for facts in steps):
        return False
    if all(_length(facts, len(sizes)) < THREADS for facts in steps):
        return False  # threads would only repeat each other
    if not all(_reads_own_row(schedule, block, len(sizes)) for block in blocks):
        return False
    bytes_of_row = sum(_length(facts, len(sizes)) * facts.accesses[0].itemsize for facts in steps[:-1])
    rows = next((n for n in (16, 8, 4, 2, 1) if sizes[-1] % n == 0 and n * bytes_of_row <= SHARED_BYTES), 0)
    if rows == 0:
        return False
    row = _bind_result(schedule, last, len(sizes), rows)
    for block, facts in reversed(list(zip(before, steps, strict=False))):
        _bind_step(schedule, block, row, _length(facts, len(sizes)))
    return True


def _length(facts: LoopBlock, rank: int) -> int:
    """Elements of a row."""
    return math.prod([size for size, reduced in zip(facts.extents, facts.reduced, strict=True) if not reduced][rank:])


def _fits(facts: LoopBlock, rank: int) -> bool:
    length = _length(facts, rank)
    summed = facts.extent([i for i, reduced in enumerate(facts.reduced) if reduced])
    in_turn = summed * (length if length == 1 else -(-length // THREADS))
    return in_turn <= LONGEST and (summed == 1 or length == 1 or length % THREADS == 0)


def _rows(steps: Sequence[LoopBlock]) -> tuple[int, ...]:
    """The leading extents that all steps have; none is summed over."""
    shared = [size for size, reduced in zip(steps[0].extents, steps[0].reduced, strict=True) if not reduced]
    for facts in steps[1:]:
        kept = [size for size, reduced in zip(facts.extents, facts.reduced, strict=True) if not reduced]
        same = [a == b for a, b in zip(shared, kept, strict=False)]
        shared = shared[: same.index(False) if False in same else len(same)]
    return tuple(shared)


def _reads_own_row(schedule: Any, block: Any, rank: int) -> bool:
    """True if a step reads what earlier steps wrote in its own row."""
    body = schedule.get(block)
    variables = [v.var for v in body.iter_vars][:rank]
    written = [schedule.get(producer).body.buffer for producer in schedule.get_producers(block)]
    for load in (node for node in walk(body.body.value) if isinstance(node, TensorLoad)):
        if any(load.source.same_as(buffer) for buffer in written):
            pairs = zip(load.indices, variables, load.source.shape, strict=False)
            if not all(variable.same_as(at) or constant(size) == 1 for at, variable, size in pairs):
                return False
    return True


def _bind_result(schedule: Any, block: Any, rank: int, rows: int) -> Any:
    """The result's loops: blocks, rows of a block, elements of a row; gives the loop over rows."""
    loops = schedule.get_loops(block)
    outer, row = schedule.split(loops[rank - 1], [None, rows])
    inner = loops[rank:] or [schedule.add_unit_loop(block)]
    schedule.bind(schedule.fuse(*loops[: rank - 1], outer), "blockIdx.x")
    schedule.bind(row, "threadIdx.y")
    _over_threads(schedule, inner)
    return row


def _bind_step(schedule: Any, block: Any, row: Any, length: int) -> None:
    """A step before the result, inside of the loop over rows."""
    schedule.compute_at(block, row, preserve_unit_loops=True)
    reduced = sum(v.iter_type != tirx.IterVar.DataPar for v in schedule.get(block).iter_vars)
    loops = schedule.get_loops(block)
    inner = loops[[schedule.get(loop).same_as(schedule.get(row)) for loop in loops].index(True) + 1 :]
    spatial, sums = inner[: len(inner) - reduced], inner[len(inner) - reduced :]
    if length == 1:
        schedule.set_scope(block, 0, "local")
    else:
        schedule.set_scope(block, 0, "shared")
        thread = _over_threads(schedule, spatial)
        if sums:
            stored = schedule.cache_write(block, 0, "local")
            schedule.reverse_compute_at(stored, thread, preserve_unit_loops=True)
    if sums:
        schedule.decompose_reduction(block, sums[0])


def _over_threads(schedule: Any, loops: Sequence[Any]) -> Any:
    _, thread = schedule.split(schedule.fuse(*loops), [None, THREADS])
    schedule.bind(thread, "threadIdx.x")
    return thread
