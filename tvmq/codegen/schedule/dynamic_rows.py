"""Neighbouring axes whose sizes only a run tells as one loop, in vectors.

Before    for i in 8: for h in H: for w in W:    y[i, h, w] = f(x[i, h, w], b[i])
After     for i in 8:
              for v in H * W // 16:              y'[i * H * W + 16 v + 0..15] = f(x'[...], b'[i])
              for t in H * W % 16:               the same for what vectors leave

y' and x' are the same memory in one dimension. LLVM makes the vectors of loops without fences by itself. TVM's
schedules cut no loop whose length is an expression, so the loops are made here.

Tests: tests/codegen/schedule/test_dynamic_rows.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tvm
import tvm_ffi
from tvm import s_tir, sym, tirx
from tvm.ir.expr import TensorLoad

from tvmq.codegen.schedule.accesses import LoopBlock, describe, walk
from tvmq.codegen.schedule.float_rounding import with_block_body

Expr = Any


def vectorize_rows(func: Any, vector_bytes: int) -> Any:
    """The function with vectors in those of its nests that `takes_rows` names."""
    root = func.body.block
    views = _Views(func.params)
    nests = list(root.body.seq) if isinstance(root.body, tirx.SeqStmt) else [root.body]
    changed = [_vectorize_nest(nest, views, vector_bytes) for nest in nests]
    if all(new.same_as(old) for new, old in zip(changed, nests, strict=True)):
        return func
    body = _in_order(changed)
    realize = s_tir.SBlockRealize(func.body.iter_values, func.body.predicate, with_block_body(root, body))
    return func.with_body(_in_order([*views.declarations(), realize]))


def _in_order(statements: list[Any]) -> Any:
    return tirx.SeqStmt(statements) if len(statements) > 1 else statements[0]


def takes_rows(block: Any, facts: LoopBlock, params: Sequence[Any], vector_bytes: int) -> bool:
    """True for an element-wise block of dynamic sizes and no axis of known size that fills vectors.

    Without fences several axes must become one: LLVM makes vectors of one axis by itself.
    """
    return _first_of_rows(block, facts, params, vector_bytes) < len(block.iter_vars)


def _first_of_rows(block: Any, facts: LoopBlock, params: Sequence[Any], vector_bytes: int) -> int:
    """First of the variables that become one loop; behind the last one for blocks that are left alone."""
    count = len(block.iter_vars)
    if not facts.dynamic or any(facts.reduced) or (facts.has_fence and not facts.takes_vectors):
        return count
    length = facts.extent(facts.contiguous_tail(range(count)))
    if length > 1 and length % max(1, vector_bytes // facts.widest_bytes) == 0:
        return count
    accesses = _accesses(block, facts)
    first = _dense_tail(accesses, block, facts)
    moving = [buffer for buffer, indices in accesses if _moves(indices, block, first)]
    # what is no parameter keeps its axes
    has_views = all(any(param.same_as(buffer) for param in params) for buffer in moving)
    first = first if has_views else max(first, count - 1)
    return first if facts.has_fence or first < count - 1 else count


def _moves(indices: Sequence[Expr], block: Any, first: int) -> bool:
    """True if an index has one of the block's variables from `first` on, other than those that are always 0."""
    analyzer = sym.Analyzer()
    rows = [one.var for one in block.iter_vars[first:] if not analyzer.can_prove_equal(one.dom.extent, 1)]
    return any(variable.same_as(node) for index in indices for node in walk(index) for variable in rows)


def _accesses(block: Any, facts: LoopBlock) -> list[tuple[Any, Sequence[Expr]]]:
    """Buffer and indices of the store and all loads."""
    loads = [(node.source, node.indices) for node in facts.nodes if isinstance(node, TensorLoad)]
    return [(block.body.buffer, block.body.indices), *loads]


class _Views:
    """Parameters as tensors of one dimension."""

    def __init__(self, params: Sequence[Any]) -> None:
        self.params, self._flat = list(params), dict[int, Any]()

    def flatten(self, buffer: Any) -> Any:
        """The parameter in one dimension."""
        number = next(i for i, param in enumerate(self.params) if param.same_as(buffer))
        if number not in self._flat:
            size = math.prod(buffer.shape, start=tirx.const(1, "int64"))
            self._flat[number] = tirx.decl_buffer([size], buffer.dtype, f"{buffer.name}_flat", data=buffer.data)
        return self._flat[number]

    def declarations(self) -> list[Any]:
        """A statement for each that was made."""
        return [tirx.DeclBuffer(flat, data=self.params[number].data) for number, flat in self._flat.items()]


def _vectorize_nest(nest: Any, views: _Views, vector_bytes: int) -> Any:
    """Loops in vectors; the nest itself where it is of another form."""
    loops, inner = [], nest
    while isinstance(inner, tirx.For):
        loops.append(inner)
        inner = inner.body
    if not isinstance(inner, s_tir.SBlockRealize) or len(loops) != len(inner.iter_values):
        return nest
    block, facts = inner.block, describe(inner.block, any_size=True)
    plain = all(value.same_as(loop.loop_var) for value, loop in zip(inner.iter_values, loops, strict=True))
    if facts is None or not plain:
        return nest
    first = _first_of_rows(block, facts, views.params, vector_bytes)
    lanes = max(1, vector_bytes // facts.widest_bytes) if facts.has_fence else 1
    return nest if first == len(loops) else _loops(block, first, views, lanes)


def _dense_tail(accesses: Sequence[Any], block: Any, facts: LoopBlock) -> int:
    """First of the variables from which on memory moves element by element, or stands still, in all accesses."""
    variables = [iteration.var for iteration in block.iter_vars]
    extents = [iteration.dom.extent for iteration in block.iter_vars]
    analyzer, first, step = sym.Analyzer(), len(variables), tirx.const(1, "int64")
    inner: list[bool] | None = None  # which accesses move along the variables behind
    while first > 0 and first - 1 not in facts.bare:
        strides = [_stride(buffer, indices, variables, first - 1) for buffer, indices in accesses]
        if any(stride is None for stride in strides):
            break
        if not analyzer.can_prove_equal(extents[first - 1], 1):
            moves = [not analyzer.can_prove_equal(stride, 0) for stride in strides]
            pairs = zip(moves, strides, strict=True)
            dense = all(not move or analyzer.can_prove_equal(stride, step) for move, stride in pairs)
            if not dense or inner not in (None, moves):
                break
            inner = moves
        step = step * extents[first - 1]
        first -= 1
    return first


def _stride(buffer: Any, indices: Sequence[Expr], variables: Sequence[Any], position: int) -> Expr | None:
    """Elements per step of a variable; None where it is no number of them."""
    total, step = tirx.const(0, "int64"), tirx.const(1, "int64")
    for index, extent in reversed(list(zip(indices, buffer.shape, strict=True))):
        if any(variables[position].same_as(node) for node in walk(index)):
            linear = sym.detect_linear_equation(index, [variables[position]])
            if not linear:
                return None
            total = total + linear[0] * step
        step = step * extent
    return total


def _loops(block: Any, tail: int, views: _Views, lanes: int) -> Any:
    """The loops over variables before the tail, and in them one over vectors and one over what they leave."""
    store = block.body
    variables = [iteration.var for iteration in block.iter_vars]
    extents = [iteration.dom.extent for iteration in block.iter_vars]
    total = math.prod(extents[tail:], start=tirx.const(1, "int64"))
    outer = [tirx.Var(f"i{axis}", "int64") for axis in range(tail)]
    vector, lane, rest = (tirx.Var(name, "int64") for name in ("vector", "lane", "rest"))

    def put(expr: Expr, position: Expr) -> Expr:
        """The expression with the loops' variables, the last of the tail at this position, its others 0."""
        values = [*outer, *([tirx.const(0, "int64")] * (len(variables) - tail - 1)), position]

        def value_of(var: Any) -> Any:
            places = [i for i, variable in enumerate(variables) if variable.same_as(var)]
            return values[places[0]] if places else var

        return tvm_ffi.structural_map(expr, (tvm.ir.Var, value_of))

    def store_at(position: Expr) -> Any:
        def reach(buffer: Any, indices: Sequence[Expr]) -> tuple[Any, list[Expr]]:
            if len(variables) - tail == 1:
                return buffer, [put(index, position) for index in indices]
            begins = [put(index, tirx.const(0, "int64")) for index in indices]
            if not _moves(indices, block, tail):
                return buffer, begins
            offset = tirx.const(0, "int64")
            for begin, extent in zip(begins, buffer.shape, strict=True):
                offset = offset * extent + begin
            return views.flatten(buffer), [offset + position]

        loads = (TensorLoad, lambda load: tirx.BufferLoad(*reach(load.source, load.indices)))
        value = put(tvm_ffi.structural_map(store.value, loads), position)
        buffer, indices = reach(store.buffer, store.indices)
        return tirx.BufferStore(buffer, value, indices)

    zero, width, serial = tirx.const(0, "int64"), tirx.const(lanes, "int64"), tirx.ForKind.SERIAL
    whole = tirx.floordiv(total, lanes)
    body: Any = tirx.For(rest, zero, total, serial, store_at(rest))
    if lanes > 1:
        vectors = tirx.For(lane, zero, width, tirx.ForKind.VECTORIZED, store_at(vector * lanes + lane))
        left = tirx.For(rest, zero, tirx.floormod(total, lanes), serial, store_at(whole * lanes + rest))
        body = tirx.SeqStmt([tirx.For(vector, zero, whole, serial, vectors), left])
    for variable, extent in reversed(list(zip(outer, extents, strict=False))):
        body = tirx.For(variable, zero, extent, serial, body)
    return body
