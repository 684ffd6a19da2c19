"""Flat tensors for nests whose vectors run over the ends of rows.

Before    for i in 2: for j in 96: for k in 200:    y[i, j, k] = f(x[i, j, k])
After     for v in 38400:                           y'[v] = f(x'[v]), y' and x' the same memory in one dimension

As a loop over i * 19200 + j * 200 + k, cut into vectors of 16, the indices of a row of 200 become quotients that
TVM cannot put together again, and it emits sixteen scalar loads for a vector: 12 times slower. A loop over one
dimension has no quotients. LLVM sees to nests without fences by itself.

Tests: tests/codegen/schedule/test_generic.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tvm import tirx

from tvmq.codegen.schedule.accesses import LoopBlock, describe


def flatten_block(schedule: Any, block: Any, vector_bytes: int) -> None:
    """Make one loop of those along which memory moves element by element, if vectors need it."""
    facts = describe(schedule.get(block))
    if facts is None or any(facts.reduced) or not (facts.has_fence and facts.takes_vectors):
        return
    inner = facts.contiguous_tail(range(len(facts.extents)))
    if not _cross_rows(facts, inner, vector_bytes):
        return
    outer, dtype = len(facts.extents) - len(inner), str(schedule.get(block).iter_vars[0].var.ty)
    schedule.transform_block_layout(block, _index_map(facts.extents, outer, dtype))
    for kind in ("read", "write"):
        for number in range(len(_regions(schedule, block, kind))):
            shape = [int(extent) for extent in _regions(schedule, block, kind)[number].source.shape]
            if len(shape) > 1:
                schedule.transform_layout(block, (kind, number), _index_map(shape, 0, dtype))


def with_parameters(scheduled: Any, original: Any) -> Any:
    """The scheduled function with parameters of the original shapes, whose memory its flat ones are."""
    views = [
        tirx.DeclBuffer(flat, data=param.data)
        for flat, param in zip(scheduled.params, original.params, strict=True)
        if _rank(flat) != _rank(param)
    ]
    if not views:
        return scheduled
    pairs = zip(scheduled.params, original.params, strict=True)
    params = [flat if _rank(flat) == _rank(param) else param for flat, param in pairs]
    return tirx.PrimFunc(params, tirx.SeqStmt([*views, scheduled.body]), attrs=scheduled.attrs)


def _rank(param: Any) -> int:
    """Number of axes of a parameter; 0 for a size that is one."""
    return len(getattr(param, "shape", ()))


def _cross_rows(facts: LoopBlock, inner: Sequence[int], vector_bytes: int) -> bool:
    """True if a vector along these variables can begin in one row and end in the next."""
    wide = [facts.extents[i] for i in inner if facts.extents[i] > 1]
    lanes = max(1, vector_bytes // facts.widest_bytes)
    return len(wide) > 1 and wide[-1] % lanes != 0


def _regions(schedule: Any, block: Any, kind: str) -> Any:
    sblock = schedule.get(block)
    return sblock.reads if kind == "read" else sblock.writes


def _index_map(shape: Sequence[int], kept: int, dtype: str) -> Any:
    """(i, j, k) -> (first `kept` of them, place among the others)."""
    indices = [tirx.Var(f"i{axis}", dtype) for axis in range(len(shape))]
    steps = [math.prod(shape[axis + 1 :]) for axis in range(kept, len(shape))]
    terms = [index * step for index, step in zip(indices[kept:], steps, strict=True)]
    return tirx.IndexMap(indices, [*indices[:kept], sum(terms[1:], terms[0])], None)
