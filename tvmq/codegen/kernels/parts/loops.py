"""Loops of kernels that are no matrix products: parallel chunks, vectors of any power of two, broadcasting.

Facts of TVM 0.27 that shape them: a loop whose lower bound depends on the variable of an outer loop that does
not begin at 0 gets a wrong bound, so every loop here begins at 0; and the passes of TVM expand bound
variables, so addresses of inner loops are kept in memory (`make_opaque`), from which LLVM takes them out again.

Tests: tests/quantization/test_pipeline.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, Register, bind, branch, load, spread, store, vector_type

MOST_CHUNKS = 60  # divides evenly among 1 to 6 threads, and is no burden for one

# body(offset, lanes) handles `lanes` neighbouring elements
Body = Callable[[Expr, int], None]


def make_opaque(value: Expr) -> Expr:
    """The int32 value, read back from memory, so that TVM's passes do not look behind it."""
    register = Register("int32", 1)
    register.set(value)
    return bind(register.get())


def over_rows(rows: Expr, row_cost: Expr, grain: int, start: Callable[[], Callable[[Expr], None]]) -> None:
    """body(row) for range(rows), body = start(), in parallel chunks if there is work for two or more.

    rows      a number, or what only a run tells
    row_cost  elements, or another unit, of a row
    grain     as many of these units as take about 10 us
    start     is called once in each piece of code; what it emits stands before the loop of a chunk
    """
    is_known = isinstance(rows, int) and isinstance(row_cost, int)
    if is_known:
        chunks = min(MOST_CHUNKS, rows, rows * row_cost // grain)
    else:
        # Opaque: in code that no size reaches TVM sees that rows are 0, and refuses to divide by so many chunks.
        chunks = make_opaque(T.min(T.min(MOST_CHUNKS, rows), T.floordiv(rows * row_cost, grain)))

    def loop() -> None:
        body = start()
        with T.serial(0, rows) as row:
            body(row if is_known else make_opaque(row))

    def loop_in_chunks() -> None:
        with T.parallel(0, chunks) as index:
            begin = make_opaque(T.floordiv(index * rows, chunks))
            body = start()
            with T.serial(0, T.floordiv((index + 1) * rows, chunks) - begin) as i:
                body(make_opaque(begin + i))

    branch(chunks < 2, loop, loop_in_chunks)


def over_vectors(total: Expr, lanes: int, grain: int, start: Callable[[], Body]) -> None:
    """body(offset, lanes) for vectors that cover range(total); see `over_rows` and `tail_pieces`.

    What whole vectors leave of a number that only a run tells is done one by one.
    """
    is_known = isinstance(total, int)
    vectors = total // lanes if is_known else bind(T.floordiv(total, lanes))

    def start_vectors() -> Callable[[Expr], None]:
        body = start()
        return lambda vector: body(vector * lanes if is_known else make_opaque(vector * lanes), lanes)

    if not is_known or vectors:
        over_rows(vectors, lanes, grain, start_vectors)
    pieces = tail_pieces(total, lanes) if is_known else []
    if is_known and not pieces:
        return
    body = start()
    for offset, size in pieces:
        body(offset, size)
    if not is_known:
        with T.serial(0, total - vectors * lanes) as i:
            body(make_opaque(vectors * lanes + i), 1)


@lru_cache(maxsize=1024)
def tail_pieces(count: int, lanes: int) -> list[tuple[int, int]]:
    """(offset, lanes) of what whole vectors of `lanes` leave of range(count): powers of two that may overlap.

    >>> tail_pieces(100, 64), tail_pieces(24, 64), tail_pieces(3, 64)
    ([(36, 64)], [(0, 16), (16, 8)], [(0, 2), (2, 1)])
    """
    pieces = []
    begin = count // lanes * lanes
    while begin < count:
        covering = 1 << (count - begin - 1).bit_length()
        if covering <= count:
            pieces.append((count - covering, covering))
            break
        size = 1 << ((count - begin).bit_length() - 1)
        pieces.append((begin, size))
        begin += size
    return pieces


def over_lanes(count: Expr, lanes: int, body: Body) -> None:
    """body(offset, lanes) for vectors that cover range(count); some elements may be covered twice.

    Of a count that only a run tells the last vector is shifted back, and fewer elements go one by one.
    """
    if not isinstance(count, int):
        _over_dynamic_lanes(count, lanes, body)
        return
    if count >= lanes:
        with T.serial(0, count // lanes) as index:
            body(index * lanes, lanes)
    for offset, size in tail_pieces(count, lanes):
        body(offset, size)


def _over_dynamic_lanes(count: Expr, lanes: int, body: Body) -> None:
    with T.If(count >= lanes):
        with T.Then(), T.serial(0, T.floordiv(count + (lanes - 1), lanes)) as i:
            body(bind(T.min(i * lanes, count - lanes)), lanes)
        with T.Else(), T.serial(0, count) as i:
            body(i, 1)


def copy_elements(target: Buffer, begin: Expr, count: Expr, lanes: int, read: Callable[[Expr, int], Expr]) -> None:
    """target[begin : begin + count] = read(offset, lanes), in vectors."""
    over_lanes(count, lanes, lambda offset, size: store(target, begin + offset, read(offset, size), size))


def reader(buffer: Buffer, begin: Expr) -> Callable[[Expr, int], Expr]:
    """read(offset, lanes) of buffer[begin:]."""
    return lambda offset, size: load(buffer, begin + offset, vector_type(str(buffer.dtype), size))


def copy_lanes(target: Buffer, begin: Expr, source: Buffer, source_begin: Expr, count: Expr, lanes: int) -> None:
    """target[begin : begin + count] = source[source_begin : source_begin + count]."""
    copy_elements(target, begin, count, lanes, reader(source, source_begin))


def fill_lanes(target: Buffer, begin: Expr, value: Expr, count: Expr, lanes: int) -> None:
    """target[begin : begin + count] = value."""
    dtype = str(target.dtype)
    copy_elements(target, begin, count, lanes, lambda _, size: spread(value, size, dtype))


class PlainVectors(Instructions):
    """Instructions in plain TIR at any number of lanes: LLVM cuts vectors to what the CPU has."""

    name = "plain"

    def __init__(self, lanes: int) -> None:
        self.vector_bytes = 4 * lanes


@lru_cache(maxsize=8)
def plain_vectors(lanes: int) -> PlainVectors:
    """The plain vectors of so many lanes."""
    return PlainVectors(lanes)


def broadcast_strides(shape: Sequence[int], other: Sequence[int]) -> list[int]:
    """Elements from one index of each axis of `shape` to the next in an array `other` that broadcasts to it.

    >>> broadcast_strides((2, 5, 3), (2, 1, 3))
    [3, 0, 1]
    """
    strides, step = [], 1
    padded = [1] * (len(shape) - len(other)) + list(other)
    for extent, size in zip(reversed(padded), reversed(shape), strict=True):
        strides.append(step if extent == size and extent > 1 else 0)
        step *= extent
    return strides[::-1]


def collapse(shape: Sequence[int], *strides: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """Fewer axes for the same walk: neighbouring axes become one where all strides allow it.

    >>> collapse((2, 5, 3), [15, 3, 1], [3, 0, 1])
    ([2, 5, 3], [[15, 3, 1], [3, 0, 1]])
    >>> collapse((2, 5, 3), [15, 3, 1], [0, 0, 0])
    ([30], [[1], [0]])
    """
    axes = [(size, steps) for size, *steps in zip(shape, *strides, strict=True) if size > 1] or [
        (1, [1] * len(strides))
    ]
    merged = [axes[-1]]
    for size, steps in reversed(axes[:-1]):
        inner, inner_steps = merged[-1]
        if all(step == inner * inner_step for step, inner_step in zip(steps, inner_steps, strict=True)):
            merged[-1] = (size * inner, inner_steps)
        else:
            merged.append((size, steps))
    merged.reverse()
    return [size for size, _ in merged], [[steps[i] for _, steps in merged] for i in range(len(strides))]


def offset_of(row: Expr, sizes: Sequence[Expr], strides: Sequence[Expr]) -> Expr:
    """Sum of index * stride for a number that counts through axes of these sizes, the last one fastest."""
    offset: Expr = 0
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        if not isinstance(stride, int) or stride:
            inner = math.prod(sizes[axis + 1 :])
            offset = offset + T.floormod(T.floordiv(row, inner), size) * stride
    return offset
