"""A schedule for every function of loops that no template made: fused, vectorised, parallel, equal in value.

    products that a later block reads are fenced    so that inlining them makes no fused multiply-add
    producers are written into their consumers      where that repeats no work that counts, and no function of floats
                                                    comes into another
    tensors are flattened                           where vectors would run over the ends of rows (flatten.py)
    each nest that remains is scheduled             loop_nest.py; dynamic_rows.py where rows have dynamic lengths
    products and sums that are rounded once         are the same on every CPU (contraction.py)

A step that TVM refuses is left out; a function of another form keeps its plain loops.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tvm
from tvm import s_tir, tirx
from tvm_ffi import StructuralKey

from tvmq.base.tvm_internals import OPAQUE
from tvmq.codegen.kernels.parts.memoize import memoize
from tvmq.codegen.schedule.accesses import LoopBlock, describe
from tvmq.codegen.schedule.contraction import fix_contraction
from tvmq.codegen.schedule.dynamic_rows import takes_rows, vectorize_rows
from tvmq.codegen.schedule.flatten import flatten_block, with_parameters
from tvmq.codegen.schedule.float_rounding import fence_products
from tvmq.codegen.schedule.loop_nest import NestScheduler

SYMBOL = "global_symbol"
KERNEL = "tvmq.kernel"  # attribute of functions that our templates made: the kernel's name
SCHEDULED = "tirx.is_scheduled"
ENTRY = "main"  # name under which a Schedule works on a function
LARGEST_EXPRESSION = 400  # operations; what grows further compiles slowly
CHEAP = 20  # operations that may be repeated
MOST_REPEATED = 9  # times: a 3 x 3 window


def mark_kernel(func: Any, name: str) -> Any:
    """The PrimFunc with the attributes that keep fusion and schedules away from it."""
    return func.with_attr(KERNEL, name).with_attr("op_pattern", OPAQUE)


def schedule_generic(mod: tvm.IRModule, vector_bytes: int, has_fma: bool = True) -> tvm.IRModule:
    """The module with a schedule for each function of loops that has none; see the head of this file.

    vector_bytes  width of the target's vectors
    has_fma       True if it has fused multiply-add
    """
    result = mod.clone()
    for gvar, func in mod.functions_items():
        if isinstance(func, tirx.PrimFunc) and not is_scheduled(func):
            result.update_func(gvar, _schedule_once(func, vector_bytes, has_fma))
    return result


def _schedule_once(func: Any, vector_bytes: int, has_fma: bool) -> Any:
    """The function scheduled: a model is built several times while it is quantized, most of its loops unchanged."""
    symbol = func.attrs.get(SYMBOL) if func.attrs is not None else None
    plain = func if symbol is None else func.without_attr(SYMBOL)
    key = StructuralKey(plain), vector_bytes, has_fma
    scheduled = memoize(key, lambda: fix_contraction(schedule_function(plain, vector_bytes), has_fma))
    return scheduled if symbol is None else scheduled.with_attr(SYMBOL, symbol)


def is_scheduled(func: Any) -> bool:
    """True for our kernels, and for functions that say so or have no blocks."""
    marked = func.attrs is not None and (KERNEL in func.attrs or SCHEDULED in func.attrs)
    return marked or not isinstance(func.body, s_tir.SBlockRealize)


def schedule_function(func: Any, vector_bytes: int) -> Any:
    """The function scheduled and marked so; as it is if it has another form."""
    try:
        fenced = fence_products(func)
        schedule = s_tir.Schedule(tvm.IRModule({ENTRY: fenced}), error_render_level="none")
        _inline(schedule)
        for block in _blocks(schedule):
            with _if_possible():
                flatten_block(schedule, block, vector_bytes)
        for block in _blocks(schedule):
            facts = describe(schedule.get(block), any_size=True)
            if facts is not None and len(schedule.get_loops(block)) == len(facts.extents):
                if takes_rows(schedule.get(block), facts, schedule.mod[ENTRY].params, vector_bytes):
                    continue
                with _if_possible():
                    NestScheduler(schedule, block, facts, vector_bytes).run()
        scheduled = vectorize_rows(schedule.mod[ENTRY], vector_bytes)
        return with_parameters(scheduled, func).with_attr(SCHEDULED, True)
    except Exception:  # errors of TVM's passes have no common base; plain loops are right as well
        return func


@contextlib.contextmanager
def _if_possible() -> Iterator[None]:
    """Leave out the rest of the `with` block where a schedule step is refused."""
    with contextlib.suppress(s_tir.ScheduleError, RuntimeError, ValueError):
        yield


def _blocks(schedule: Any) -> list[Any]:
    return list(schedule.get_child_blocks(schedule.get_sblock("root")))


def _inline(schedule: Any) -> None:
    for block in _blocks(schedule):
        with _if_possible():
            if _is_worth_inlining(schedule, block):
                schedule.compute_inline(block)


def _is_worth_inlining(schedule: Any, block: Any) -> bool:
    """True if the block, written into its consumers, repeats little and makes no large expression."""
    producer = describe(schedule.get(block), any_size=True)
    consumers = [schedule.get(consumer) for consumer in schedule.get_consumers(block)]
    facts = (describe(consumer, any_size=True) for consumer in consumers)
    described = [known for known in facts if known is not None]
    if producer is None or any(producer.reduced) or not consumers or len(described) < len(consumers):
        return False
    if not all(_go_together(producer, known) for known in described):
        return False
    buffer, cheap, runs = schedule.get(block).body.buffer, producer.operations <= CHEAP, 0
    # TVM's code generator writes a bound value out in all that is computed from it: 11 s for sigmoid in tanh in sigmoid
    if producer.binds and any(known.is_bound(buffer) for known in described):
        return False
    for known in described:
        reads = sum(buffer.same_as(getattr(node, "source", None)) for node in known.nodes)
        if known.operations + reads * producer.operations > LARGEST_EXPRESSION:
            return False
        # LLVM finds repeated arithmetic, but not repeated calls
        runs += known.iterations * (1 if cheap else reads)
    return runs <= producer.iterations * (MOST_REPEATED if cheap else 1)


def _go_together(producer: LoopBlock, consumer: LoopBlock) -> bool:
    """False where one expression of both would stay scalar although one of the two need not."""
    branches = any(consumer.reduced) and producer.conditional
    return producer.takes_vectors == consumer.takes_vectors and not branches
