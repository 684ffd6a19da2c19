"""free_matmul: products of two tensors of 8-bit codes whose sizes only a run tells (attention over any length).

Computes   numerics.matmul of the centred codes, int32, bit for bit
Layouts    a [*batch, rows, depth], b [*batch, depth, columns], y [*batch, rows, columns]; any size may be free
Loops      parallel chunk: ROWS rows of one matrix; vectors of columns, the last one shifted back; depth
           fewer rows than ROWS are taken one by one, fewer columns than a vector as single numbers
Registers  ROWS vectors of sums + 1 of b + 1 of a
"""

from __future__ import annotations

from dataclasses import dataclass

from tvm.script.ir_builder import tirx as T

from tvmq.kernels.builder import (
    Buffer,
    Expr,
    Function,
    Register,
    Shape,
    bind,
    flat,
    load,
    spread,
    store,
    vector_type,
)
from tvmq.kernels.isa import instructions
from tvmq.kernels.types import Isa, Kernel

ROWS = 8
Size = int | str


@dataclass(frozen=True)
class FreeMatmul:
    """Sizes, numbers or names of free ones; types and zero points of both operands."""

    batch: tuple[Size, ...]
    rows: Size
    depth: Size
    columns: Size
    dtypes: tuple[str, str]
    zeros: tuple[int, int]


def free_matmul(product: FreeMatmul, isa: Isa) -> Kernel:
    """Kernel; parameters a, b, y."""
    lanes = instructions(isa).lanes
    p = product
    shapes: dict[str, tuple[Shape, str]] = {
        "a": ((*p.batch, p.rows, p.depth), p.dtypes[0]),
        "b": ((*p.batch, p.depth, p.columns), p.dtypes[1]),
        "y": ((*p.batch, p.rows, p.columns), "int32"),
    }
    name = f"free_matmul_{lanes}"
    with Function(name, shapes) as function:
        sizes = [function.count(part) for part in (p.batch, (p.rows,), (p.depth,), (p.columns,))]
        _Template(product, lanes, [flat(buffer) for buffer in function.buffers], sizes).body()
    return Kernel(name, function.prim_func, (), (name, product))


class _Template:
    """The loops; see the head of this file."""

    def __init__(self, product: FreeMatmul, lanes: int, buffers: list[Buffer], sizes: list[Expr]) -> None:
        self.product, self.lanes = product, lanes
        self.a, self.b, self.y = buffers
        self.batch, self.rows, self.depth, self.columns = sizes

    def body(self) -> None:
        """Whole tiles of rows where there are enough."""
        _choose(self.rows, ROWS, lambda: self._chunks(ROWS), lambda: self._chunks(1))

    def _chunks(self, tile: int) -> None:
        blocks = bind(T.floordiv(self.rows + (tile - 1), tile))
        with T.parallel(0, self.batch * blocks) as index:
            matrix = bind(T.floordiv(index, blocks))
            first = bind(T.min(T.floormod(index, blocks) * tile, self.rows - tile))
            self._rows(matrix, first, tile)

    def _rows(self, matrix: Expr, first: Expr, tile: int) -> None:
        """All columns of some rows."""

        def vectors() -> None:
            with T.serial(0, T.floordiv(self.columns + (self.lanes - 1), self.lanes)) as vector:
                self._tile(matrix, first, tile, bind(T.min(vector * self.lanes, self.columns - self.lanes)), self.lanes)

        def numbers() -> None:
            with T.serial(0, self.columns) as column:
                self._tile(matrix, first, tile, column, 1)

        _choose(self.columns, self.lanes, vectors, numbers)

    def _tile(self, matrix: Expr, first: Expr, tile: int, column: Expr, lanes: int) -> None:
        sums = [Register("int32", lanes) for _ in range(tile)]
        for register in sums:
            register.set(spread(0, lanes))
        a_begin = [bind((matrix * self.rows + first + row) * self.depth) for row in range(tile)]
        b_begin = bind(matrix * self.depth * self.columns + column)
        with T.serial(0, self.depth) as k:
            b = self._centred(self.b, b_begin + k * self.columns, 1, lanes)
            for row, register in enumerate(sums):
                a = self._centred(self.a, a_begin[row] + k, 0, 1)
                register.set(register.get() + (spread(a, lanes) if lanes > 1 else a) * b)
        for row, register in enumerate(sums):
            place = bind((matrix * self.rows + first + row) * self.columns + column)
            store(self.y, place, register.get(), lanes)

    def _centred(self, buffer: Buffer, offset: Expr, operand: int, lanes: int) -> Expr:
        """Codes less their zero point, int32."""
        codes = load(buffer, offset, vector_type(self.product.dtypes[operand], lanes))
        return bind(T.Cast(vector_type("int32", lanes), codes) - spread(self.product.zeros[operand], lanes))


def _choose(size: Expr, least: int, enough, few) -> None:  # type: ignore[no-untyped-def]
    """The code for at least so many, or for fewer; both where only the run tells."""
    if isinstance(size, int):
        (enough if size >= least else few)()
        return
    with T.If(size >= least):
        with T.Then():
            enough()
        with T.Else():
            few()
