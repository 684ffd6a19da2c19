"""Tile of a product of two activations: rows of one side times packed panels of the other, codes or floats.

Tests: tests/codegen/kernels/attention/test_batch_matmul.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, Register, load, spread, vector_type

Sums = list[list[Register]]


def begin_sums(ins: Instructions, rows: int, initial: Sequence[Expr], term: Callable[[int], Expr] | None) -> Sums:
    """Registers of a tile, [row][column], at what its columns and rows begin with.

    initial  a vector for each column
    term     what all sums of a row begin with besides, int32; None for nothing
    """
    sums = [[Register("int32", ins.lanes) for _ in initial] for _ in range(rows)]
    for row, line in enumerate(sums):
        extra = None if term is None else spread(term(row), ins.lanes)
        for register, value in zip(line, initial, strict=True):
            register.set(value if extra is None else value + extra)
    return sums


def multiply_tile(
    ins: Instructions, sums: Sums, rows: tuple[Buffer, Sequence[Expr]], panel: tuple[Buffer, Expr], steps: int
) -> None:
    """Add the products of all steps; rows and panel: a buffer and where each row, or the packed panel, begins."""
    (source, starts), (weights, begin) = rows, panel
    columns, vector = len(sums[0]), ins.lanes * ins.taps
    kind = vector_type(ins.w_dtype, vector)
    with T.serial(0, steps) as step:
        at = begin + step * (columns * vector)
        loaded = [load(weights, at + column * vector, kind) for column in range(columns)]
        for line, start in zip(sums, starts, strict=True):
            x = ins.broadcast(source, start + step * ins.taps)
            for register, weight in zip(line, loaded, strict=True):
                register.set(ins.dot(register.get(), x, weight))


def pad_columns(values: np.ndarray, columns: int, places: int) -> np.ndarray:
    """Pad constants, one or one a column, to every column of whole vectors."""
    result = np.zeros(places, np.asarray(values).dtype)
    result[:columns] = np.broadcast_to(np.ravel(values), columns)
    return result
