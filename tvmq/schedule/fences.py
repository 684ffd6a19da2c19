"""Fences around products that another block reads.

LLVM contracts a product that feeds a sum into one rounding. While the product goes through memory it cannot;
once it is written into the sum's expression it would, and the result would change. A fence at the end of the
product keeps both roundings, so that functions give the same bits whether their blocks are inlined or not.
"""

from __future__ import annotations

from typing import Any

from tvm import s_tir, tirx

from tvmq.schedule.accesses import call_name

FLOATS = ("float16", "float32", "float64", "bfloat16")


def fence_products(func: Any) -> Any:
    """The function with a fence around each float product that is stored in a buffer of its own."""
    realize, root = func.body, func.body.block
    own = list(root.alloc_buffers)
    if not own:
        return func
    block = _with_body(root, _in_statement(root.body, own))
    return func.with_body(s_tir.SBlockRealize(realize.iter_values, realize.predicate, block))


def _in_statement(stmt: Any, own: list[Any]) -> Any:
    """The statement with fences; forms other than those of the operator library stay as they are."""
    if isinstance(stmt, tirx.SeqStmt):
        return tirx.SeqStmt([_in_statement(part, own) for part in stmt.seq])
    if isinstance(stmt, tirx.For):
        body = _in_statement(stmt.body, own)
        parts = (stmt.loop_var, stmt.min, stmt.extent, stmt.kind)
        return tirx.For(*parts, body, stmt.thread_binding, stmt.annotations, stmt.step)
    if isinstance(stmt, s_tir.SBlockRealize):
        body = _in_statement(stmt.block.body, own)
        return s_tir.SBlockRealize(stmt.iter_values, stmt.predicate, _with_body(stmt.block, body))
    if isinstance(stmt, tirx.BufferStore) and any(stmt.buffer.same_as(buffer) for buffer in own):
        return _with_fence(stmt)
    return stmt


def _with_body(block: Any, body: Any) -> Any:
    return s_tir.SBlock(
        block.iter_vars,
        block.reads,
        block.writes,
        block.name_hint,
        body,
        block.init,
        block.alloc_buffers,
        block.match_buffers,
        block.annotations,
    )


def _with_fence(store: Any) -> Any:
    dtype = str(store.buffer.dtype)
    if dtype not in FLOATS or not _ends_in_product(store.value):
        return store
    value = tirx.op.call_llvm_pure_intrin(dtype, "llvm.arithmetic.fence", store.value)
    return tirx.BufferStore(store.buffer, value, store.indices)


def _ends_in_product(value: Any) -> bool:
    """True for a product, also as one side of a choice."""
    if isinstance(value, tirx.Select):
        return _ends_in_product(value.true_value) or _ends_in_product(value.false_value)
    if call_name(value) == "if_then_else":
        return any(_ends_in_product(side) for side in value.args[1:])
    return isinstance(value, tirx.Mul)
