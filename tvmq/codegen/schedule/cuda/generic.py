"""A schedule for GPUs for every function of loops that no template made: each element of a result is one thread's.

    producers are written into their consumers    where that repeats no work that counts
    sums stay in a register of their thread       in the order of the definition
    what reads each sum once follows it there     bias, requantize, clip, ...
    softmax, norms and their kind are one kernel  see rows.py
    what remains is a kernel of its own           256 threads a block

A step that TVM refuses is left out. A function of another form runs in one thread: slow, and right.

Tests: tests/codegen/schedule/cuda/test_row_kernels.py
"""

from __future__ import annotations

import contextlib
from typing import Any

import tvm
from tvm import s_tir, tirx

from tvmq.codegen.schedule.accesses import LoopBlock, describe, walk
from tvmq.codegen.schedule.cuda.row_kernels import schedule_rows
from tvmq.codegen.schedule.generic import ENTRY, MOST_REPEATED, SCHEDULED, is_scheduled

THREADS = 256
# Operations: TVM's simplifier takes minutes for the integer softmax in expressions of 400, a second in those of 80.
LARGEST_EXPRESSION = 80
# Operations of a producer that a sum may repeat for each of its terms: a border, a conversion, a zero point.
LIGHT = 12
# Steps of rows as one kernel (rows.py); each step a kernel, sums in registers; nothing but threads.
WAYS = ("rows", "steps", "plain")
SPATIAL = tirx.IterVar.DataPar
REFUSED = (s_tir.ScheduleError, RuntimeError, ValueError)


def schedule_cuda(mod: tvm.IRModule) -> tvm.IRModule:
    """The module with a schedule for each function of loops that has none; see the head of this file."""
    result = mod.clone()
    for gvar, func in mod.functions_items():
        if isinstance(func, tirx.PrimFunc) and not is_scheduled(func) and not has_threads(func):
            result.update_func(gvar, schedule_function(func))
    return result


def has_threads(func: Any) -> bool:
    """True for functions that say themselves which thread does what."""
    return "threadIdx" in func.script() or "blockIdx" in func.script()


def schedule_function(func: Any) -> Any:
    """The function with all its loops bound to threads, marked so."""
    for way in WAYS:
        with contextlib.suppress(*REFUSED):
            return _schedule(func, way)
    return _schedule(func, "plain")


def _schedule(func: Any, way: str) -> Any:
    schedule = s_tir.Schedule(tvm.IRModule({ENTRY: func}), error_render_level="none")
    in_registers = way != "plain"
    if in_registers:
        _inline(schedule)
    if way == "rows" and schedule_rows(schedule, _blocks(schedule)):
        return schedule.mod[ENTRY].with_attr(SCHEDULED, True)
    done: set[str] = set()
    for block in _blocks(schedule):
        if schedule.get(block).name_hint not in done:
            done |= _bind(schedule, block, in_registers)
    return schedule.mod[ENTRY].with_attr(SCHEDULED, True)


def _blocks(schedule: Any) -> list[Any]:
    return list(schedule.get_child_blocks(schedule.get_sblock("root")))


def _inline(schedule: Any) -> None:
    for block in _blocks(schedule):
        with contextlib.suppress(*REFUSED):
            if _is_worth_inlining(schedule, block):
                schedule.compute_inline(block)


def _is_worth_inlining(schedule: Any, block: Any) -> bool:
    """True if the block, written into its consumers, repeats little and makes no large expression."""
    producer = schedule.get(block)
    consumers = [schedule.get(consumer) for consumer in schedule.get_consumers(block)]
    if not consumers or not _is_simple(producer) or not all(map(_is_simple_or_sum, consumers)):
        return False
    cost, buffer = _operations(producer), producer.body.buffer
    known = describe(producer)
    runs = 0
    for consumer in consumers:
        reads = sum(buffer.same_as(getattr(node, "source", None)) for node in walk(consumer.body.value))
        if _operations(consumer) + reads * cost > LARGEST_EXPRESSION:
            return False
        runs += _iterations(describe(consumer)) * reads
    if cost <= LIGHT or not any(map(_is_sum, consumers)):
        return known is None or runs <= known.iterations * MOST_REPEATED or cost <= LIGHT
    return known is not None and runs <= known.iterations


def _iterations(known: LoopBlock | None) -> int:
    return 0 if known is None else known.iterations


def _operations(block: Any) -> int:
    return sum(1 for _ in walk(block.body.value, addresses=False))


def _is_simple(block: Any) -> bool:
    """True for a block that stores each element once."""
    return isinstance(block.body, tirx.BufferStore) and all(v.iter_type == SPATIAL for v in block.iter_vars)


def _is_simple_or_sum(block: Any) -> bool:
    return isinstance(block.body, tirx.BufferStore)


def _is_sum(block: Any) -> bool:
    return any(v.iter_type != SPATIAL for v in block.iter_vars)


def _bind(schedule: Any, block: Any, in_registers: bool) -> set[str]:
    """Give the loops around a block to threads; names of the blocks that are done with it."""
    name = schedule.get(block).name_hint
    loops = schedule.get_loops(block)
    kinds = [v.iter_type for v in schedule.get(block).iter_vars]
    if len(loops) != len(kinds):
        _in_one_thread(schedule, block)
        return {name}
    spatial = [loop for loop, kind in zip(loops, kinds, strict=True) if kind == SPATIAL]
    reduced = [loop for loop, kind in zip(loops, kinds, strict=True) if kind != SPATIAL]
    if not spatial:
        spatial = [schedule.add_unit_loop(reduced[0] if reduced else block)]
    schedule.reorder(*spatial, *reduced)
    grid, thread = _split_blocks(schedule, schedule.fuse(*spatial))
    schedule.bind(grid, "blockIdx.x")
    schedule.bind(thread, "threadIdx.x")
    sums = bool(reduced) and in_registers
    return {name} | (_sum_in_register(schedule, block, thread, reduced[0]) if sums else set())


def _split_blocks(schedule: Any, loop: Any) -> list[Any]:
    """Blocks of threads; a single block has no thread to spare.

    Of one block TVM simplifies the loop over blocks away, and with it the condition that keeps spare threads from
    storing what a register holds: they would write past the end.
    """
    extent = schedule.get(loop).extent
    threads = min(THREADS, int(extent)) if isinstance(extent, tirx.IntImm) else THREADS
    return list(schedule.split(loop, [None, threads]))


def _sum_in_register(schedule: Any, block: Any, thread: Any, first: Any) -> set[str]:
    """Keep a sum in a register; what alone reads it, element by element, follows in the same thread."""
    name = schedule.get(block).name_hint
    follower = _follower(schedule, block)
    if follower is not None:
        with contextlib.suppress(*REFUSED):
            schedule.reverse_compute_at(follower, thread, preserve_unit_loops=True)
            schedule.set_scope(block, 0, "local")
            schedule.decompose_reduction(block, first)
            return {name, schedule.get(follower).name_hint}
    with contextlib.suppress(*REFUSED):
        stored = schedule.cache_write(block, 0, "local")
        schedule.reverse_compute_at(stored, thread, preserve_unit_loops=True)
        follower_name = schedule.get(stored).name_hint
        schedule.decompose_reduction(block, first)
        return {name, follower_name}
    return {name}


def _follower(schedule: Any, block: Any) -> Any:
    """The one block that reads the sums, each once; None if there is no such block."""
    consumers = schedule.get_consumers(block)
    if len(consumers) != 1 or not _is_simple(schedule.get(consumers[0])):
        return None
    producer, known = describe(schedule.get(block)), describe(schedule.get(consumers[0]))
    if producer is None or known is None:
        return None
    results = producer.extent([i for i, reduced in enumerate(producer.reduced) if not reduced])
    return consumers[0] if known.iterations == results else None


def _in_one_thread(schedule: Any, block: Any) -> None:
    """All loops around a block run in one thread."""
    loops = schedule.get_loops(block)
    schedule.bind(schedule.add_unit_loop(loops[0] if loops else block), "threadIdx.x")
