"""Float operators as IEEE 754 and NumPy round them, whatever TVM's simplifier and LLVM make of fused loops.

LLVM contracts a product and a sum into one rounding; TVM turns a + b - b into a, a == a into true, a * 0 into 0 and
not (a < b) into a >= b, and stops at a / 0. Each is right for real numbers and wrong for float32.

Fences around products that another block reads.

LLVM contracts a product that feeds a sum into one rounding. While the product goes through memory it cannot;
once it is written into the sum's expression it would, and the result would change. A fence at the end of the
product keeps both roundings, so that functions give the same bits whether their blocks are inlined or not.

Tests: tests/formats/onnx/importer/test_folds.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax, s_tir, tirx

from tvmq.codegen.schedule.accesses import call_name
from tvmq.graph import ops
from tvmq.graph.evaluate import EXACT
from tvmq.graph.operators import where
from tvmq.graph.operators.record import ARITHMETIC, COMPARISON
from tvmq.graph.view import const_value, dtype_of, is_const, make_const, op_name

OPERATIONS = where(kind=ARITHMETIC, is_own=False)
COMPARISONS = where(kind=COMPARISON)


def rounds(value: relax.Expr) -> bool:
    """True for float operators that a fence must part from what follows, lest both be simplified together."""
    name = op_name(value)
    if not name or name.startswith("tvmq.") or name.startswith("call_") or not isinstance(value.ty, relax.TensorType):
        return False
    return dtype_of(value) == "float32" and (name in OPERATIONS or name not in EXACT)


def protect_rounding(value: relax.Expr, bind: Callable[[relax.Expr], relax.Var]) -> relax.Expr:
    """The operator in a form that is not simplified by itself; `bind` gives an expression a variable."""
    name = op_name(value)
    if name == "logical_not":
        return relax.op.bitwise_not(value.args[0])
    if name not in OPERATIONS | COMPARISONS or not all(_is_float(arg) for arg in value.args):
        return value
    if any(arg.ty.ndim for arg in value.args):
        a, b = (_as_vector(arg) if _is_zero(arg) else arg for arg in value.args)
    else:  # a vector of one would give the number an axis
        a, b = (bind(ops.fence(arg)) if _is_zero(arg) else arg for arg in value.args)
    if name in COMPARISONS or (name in ("subtract", "divide") and a.same_as(b)):
        a = bind(ops.fence(a))
    return relax.Call(value.op, [a, b], value.attrs, value.ty_args, value.span)


def _is_float(arg: relax.Expr) -> bool:
    return isinstance(arg.ty, relax.TensorType) and dtype_of(arg) == "float32"


def _is_zero(arg: relax.Expr) -> bool:
    return is_const(arg) and arg.ty.ndim == 0 and not const_value(arg).any()


def _as_vector(zero: relax.Expr) -> relax.Expr:
    """The constant as a vector of one: TVM writes numbers without axes into the loop, but reads vectors from memory."""
    return make_const(np.ascontiguousarray(const_value(zero).reshape(1)))


FLOATS = ("float16", "float32", "float64", "bfloat16")


def fence_products(func: Any) -> Any:
    """The function with a fence around each float product that is stored in a buffer of its own."""
    realize, root = func.body, func.body.block
    own = list(root.alloc_buffers)
    if not own:
        return func
    block = with_block_body(root, _in_statement(root.body, own))
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
        return s_tir.SBlockRealize(stmt.iter_values, stmt.predicate, with_block_body(stmt.block, body))
    if isinstance(stmt, tirx.BufferStore) and any(stmt.buffer.same_as(buffer) for buffer in own):
        return _with_fence(stmt)
    return stmt


def with_block_body(block: Any, body: Any) -> Any:
    """The block with another body."""
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
