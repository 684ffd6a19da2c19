"""Vectors of the definition's float sums (numerics.lane_sum): 16 lanes, whatever the CPU's width, then a tree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.kernels.parts.builder import Buffer, Expr, bind, const, load, spread, store, vector_type
from tvmq.kernels.parts.loops import tail_pieces
from tvmq.numerics.float_sum import LANES

FLOAT = vector_type("float32", LANES)


def real(value: float | np.floating) -> Expr:
    """A float32 number in all lanes."""
    return spread(float(value), LANES, "float32")


def sum_halves(vector: Expr, combine: Callable[[Expr, Expr], Expr]) -> Expr:
    """Lane i with lane i + n / 2, until one lane is left: the tree of the definition."""
    lanes = LANES
    while lanes > 1:
        lanes //= 2
        low, high = (tirx.Shuffle([vector], [const(first + lane) for lane in range(lanes)]) for first in (0, lanes))
        vector = bind(combine(low, high))
    return vector


def tail(buffer: Buffer, begin: Expr, length: int) -> Expr:
    """The elements that whole vectors leave of buffer[begin : begin + length], zeros behind them."""
    count = length % LANES
    if length >= LANES:
        last = load(buffer, begin + (length - LANES), FLOAT)
        turned = tirx.Shuffle([last], [const((LANES - count + lane) % LANES) for lane in range(LANES)])
        return only(count, turned)
    scratch = T.alloc_buffer((LANES,), "float32")
    store(scratch, 0, real(0.0), LANES)
    for offset, lanes in tail_pieces(count, LANES):
        store(scratch, offset, load(buffer, begin + offset, vector_type("float32", lanes)), lanes)
    return load(scratch, 0, FLOAT)


def only(count: int, vector: Expr) -> Expr:
    """The first lanes of a vector, zeros behind them."""
    return bind(T.Select(T.ramp(0, 1, LANES) < spread(count, LANES), vector, real(0.0)))
