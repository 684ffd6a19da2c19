"""matmul: float32, with a constant right side (a dense layer) or of two activations (attention).

Computes   bias + sum of a * b over the common dimension, in this order, then clip
Rounding   as in conv2d_float
Constant   the matrix is packed when compiled: a dense layer is a 1 x 1 convolution of M x 1 pixels
Two inputs parallel chunk: one panel (`columns` vectors of b's columns) of one pair of matrices; the panel is
           copied so that its rows stand side by side, then tiles of rows of a run over it
Registers  rows x columns sums + columns of b + 1 of a; 6 x 4 on AVX-512, 6 x 2 on AVX2
Measured   Zen 4, one core: attention products of 64-197 rows at 42-55 GMAC/s (peak 59)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.errors import BuildError
from tvmq.kernels.builder import (
    Buffer,
    Expr,
    Function,
    Register,
    bind,
    flat,
    load,
    over,
    split,
    spread,
    store,
    store_first,
    workspace,
)
from tvmq.kernels.conv2d_float import make_kernel
from tvmq.kernels.conv_shape import ConvShape
from tvmq.kernels.float_vectors import FloatVectors, check_arrays, clip_of, float_vectors
from tvmq.kernels.types import Conv2d, Epilogue, Isa, Kernel

SERIAL_MACS = 500_000  # about 10 us of one core: below, a parallel region costs more than it gains
TILES = {32: (6, 4), 16: (6, 2)}  # registers -> rows, columns


def dense_float(
    rows: int | tuple[int, ...], weight: np.ndarray, bias: np.ndarray | None, epilogue: Epilogue, isa: Isa
) -> Kernel:
    """Kernel of [*rows, depth] x constant [depth, columns] -> [*rows, columns].

    rows      number of rows, or the shape of all axes of x but the last
    weight    float32 [depth, columns]
    bias      float32 [columns] or None
    epilogue  () or one Clip
    raises    BuildError for shapes, types or steps that do not fit
    """
    if weight.ndim != 2:
        raise BuildError(f"kernels, dense_float: weights must be a matrix. Got shape {weight.shape}")
    depth, columns = weight.shape
    check_arrays("dense_float", weight, (depth, columns), bias, columns)
    leading = (rows,) if isinstance(rows, int) else tuple(rows)
    conv = Conv2d(1, 1, math.prod(leading), depth, columns, x_dtype="float32")
    picture = np.ascontiguousarray(weight.T).reshape(columns, depth, 1, 1)
    shape, bounds = ConvShape(conv, float_vectors(isa), 0), clip_of(epilogue, "dense_float")
    return make_kernel("dense_float", shape, bounds, picture, bias, ((*leading, depth), (*leading, columns)))


def matmul_float(batch: int, m: int, k: int, n: int, isa: Isa) -> Kernel:
    """Kernel of [batch, m, k] x [batch, k, n] -> [batch, m, n], both inputs given at run time.

    raises  BuildError for empty matrices
    """
    if min(batch, m, k, n) < 1:
        raise BuildError(f"kernels, matmul_float: [{batch}, {m}, {k}] x [{batch}, {k}, {n}] is empty")
    vectors = float_vectors(isa)
    most_rows, most_columns = TILES[vectors.registers]
    rows, columns = split(m, most_rows)[0][0], split(-(-n // vectors.lanes), most_columns)[0][0]
    name = f"matmul_float_{isa.name}_{rows}x{columns}"
    func = _Template(name, (batch, m, k, n), vectors).prim_func()
    return Kernel(name, func, (), ("matmul_float", batch, m, k, n, isa.name))


class _Template:
    """The PrimFunc of a product of two inputs."""

    def __init__(self, name: str, shape: tuple[int, int, int, int], vectors: FloatVectors) -> None:
        self.name, self.vectors = name, vectors
        self.batch, self.m, self.k, self.n = shape

    def prim_func(self) -> Any:
        """See the head of this file."""
        batch, m, k, n = self.batch, self.m, self.k, self.n
        parameters = {
            "a": ((batch, m, k), "float32"),
            "b": ((batch, k, n), "float32"),
            "y": ((batch, m, n), "float32"),
        }
        parallel = batch * m * k * n > SERIAL_MACS
        with Function(self.name, parameters) as function:
            self.a, self.b, self.y = (flat(buffer) for buffer in function.buffers)
            for first, columns, panels, width in self._panels():
                with (T.parallel if parallel else T.serial)(0, batch * panels) as index:
                    picture, panel = bind(T.floordiv(index, panels)), T.floormod(index, panels)
                    self._panel(picture, bind(first + panel * columns * self.vectors.lanes), columns, width)
        return function.prim_func

    def _panels(self) -> list[tuple[int, int, int, int]]:
        """[(first column of b, vectors, panels, columns of b in each), ...]; a ragged end stands alone."""
        lanes, found, first = self.vectors.lanes, [], 0
        for size, count in split(-(-self.n // lanes), TILES[self.vectors.registers][1]):
            whole = min(count, (self.n - first) // (size * lanes))
            if whole:
                found.append((first, size, whole, size * lanes))
            first += whole * size * lanes
            if whole < count:
                found.append((first, size, 1, self.n - first))
        return found

    def _panel(self, picture: Expr, first: Expr, columns: int, width: int) -> None:
        """Columns first .. first + width of the product of one pair of matrices."""
        pitch = columns * self.vectors.lanes
        panel = workspace(self.k * pitch, "float32")
        with T.serial(0, self.k) as row:
            self._copy(panel, row * pitch, bind((picture * self.k + row) * self.n + first), columns, width)

        def tile(row: Expr, rows: int) -> None:
            self._tile(bind(picture * self.m + row), rows, panel, first, columns, width)

        over(split(self.m, TILES[self.vectors.registers][0]), tile)

    def _copy(self, panel: Buffer, target: Expr, source: Expr, columns: int, width: int) -> None:
        """One row of b; what is beyond its end becomes zero."""
        lanes = self.vectors.lanes
        for column in range(columns):
            valid = min(lanes, width - column * lanes)
            begin = target + column * lanes
            if valid == lanes:
                store(panel, begin, load(self.b, source + column * lanes, self.vectors.kind), lanes)
                continue
            store(panel, begin, spread(0.0, lanes, "float32"), lanes)
            for lane in range(max(valid, 0)):
                store(panel, begin + lane, self.b[source + column * lanes + lane], 1)

    def _tile(self, row: Expr, rows: int, panel: Buffer, first: Expr, columns: int, width: int) -> None:
        vectors, lanes = self.vectors, self.vectors.lanes
        sums = [[Register("float32", lanes) for _ in range(columns)] for _ in range(rows)]
        for register in (register for line in sums for register in line):
            register.set(spread(0.0, lanes, "float32"))
        starts = [bind((row + i) * self.k) for i in range(rows)]
        with T.serial(0, self.k) as step:
            base = step * (columns * lanes)
            weights = [load(panel, base + column * lanes, vectors.kind) for column in range(columns)]
            for line, start in zip(sums, starts, strict=True):
                x = vectors.broadcast(self.a, start + step)
                for register, weight in zip(line, weights, strict=True):
                    register.set(vectors.dot(register.get(), x, weight))
        for i, line in enumerate(sums):
            target = bind((row + i) * self.n + first)
            for column, register in enumerate(line):
                valid = min(lanes, width - column * lanes)
                if valid > 0:
                    store_first(self.y, target + column * lanes, register.get(), lanes, valid)
