"""dynamic_attention: attention as one kernel for batches and lengths that only a run tells; see attention.py.

Computes   as attention, bit for bit
Layouts    as attention; distances may be products of dynamic sizes. The depth and the columns of v are numbers
Loops      as attention. Rows are cut into blocks of whole tiles of one size; rows behind the last one are the last one
           again, so that what is stored several times is equal. Keys are cut into panels of one size, then one of
           the vectors that are left, for each number of which there is code
Needs      codes of softmax that begin at 0 as `dot` takes them: then no sum exceeds int32, whatever the number of keys
Measured   benchmarks/free_sizes.py --kinds attention
"""

from __future__ import annotations

from collections.abc import Callable

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.attention import MOST_JOBS, AttentionTemplate
from tvmq.codegen.kernels.attention.shape import MOST_BLOCK, SCORE_BYTES, Attention, Cut, fits
from tvmq.codegen.kernels.attention.softmax_codes import MOST_ROWS
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import Expr, FunctionBuilder, bind, branch, const, quotient
from tvmq.codegen.kernels.parts.kernel_types import Dequantize, FixedRequantize, Isa, Kernel, Requantize
from tvmq.codegen.kernels.parts.loops import make_opaque
from tvmq.codegen.kernels.parts.tiling import MOST_COLUMNS, Product, Tiling, cut_tiles, cycles
from tvmq.codegen.kernels.parts.tiling import fits as is_tile

GRAIN = 500_000  # products in about 2 us: a job asks for scratch memory, each time 0.04 us
PACKED_GRAIN = 500_000  # codes of keys and values that are packed in about 10 us, where threads that wait begin
USUAL_ROWS, USUAL_KEYS, VECTORS = 64, 96, 12  # for which tiles are chosen; vectors of keys: a multiple of many
MOST_TILE = 8  # rows: half a tile is computed in vain, on average


def dynamic_attention(
    shape: Attention, score_scale: float, code_scale: float, step: Requantize | FixedRequantize | Dequantize, isa: Isa
) -> Kernel:
    """Kernel; parameters as of `attention`."""
    ins = instructions(isa)
    template = DynamicAttentionTemplate(shape, step, ins, choose_dynamic_cut(shape.depth, shape.columns, ins))
    return template.attention_kernel(score_scale, code_scale)


def choose_dynamic_cut(depth: int, columns: int, ins: Instructions, rows: int | None = None) -> Cut:
    """Tiles of both products, of as many rows, that take the least modelled time a row.

    rows  of a tile, where they are known; fewer if the registers do not hold them
    """

    def cut(rows: int) -> tuple[float, Cut]:
        block = MOST_BLOCK // rows * rows
        scores = Product(block, VECTORS, -(-depth // ins.taps))
        result = Product(block, -(-columns // ins.lanes), USUAL_KEYS // ins.taps)
        best = [min(_tilings(product, rows, ins), key=lambda item: item[0]) for product in (scores, result)]
        cost = best[0][0] * (USUAL_KEYS / (VECTORS * ins.lanes)) + best[1][0]
        group = max(size for size in range(1, MOST_ROWS + 1) if rows % size == 0)
        waste = 1 + rows / (2 * USUAL_ROWS)
        return cost / block * waste, Cut(block, group, best[0][1], best[1][1])

    possible = [rows for rows in range(1, MOST_TILE + 1) if ins.tile_registers(rows, 1) <= ins.registers]
    if rows is not None:
        possible = [min(rows, possible[-1])]
    return min(map(cut, possible), key=lambda item: item[0])[1]


def _tilings(product: Product, rows: int, ins: Instructions) -> list[tuple[float, Tiling]]:
    """Cuts into tiles of so many rows, and their modelled cycles."""
    columns = [n for n in range(1, MOST_COLUMNS + 1) if is_tile(product, rows, n, ins)]
    tilings = [cut_tiles(product, rows, n) for n in columns]
    return [(cycles(product, tiling, ins), tiling) for tiling in tilings]


class DynamicAttentionTemplate(AttentionTemplate):
    """Attention of dynamic sizes; see the head of this file."""

    def __init__(
        self, shape: Attention, step: Requantize | FixedRequantize | Dequantize, ins: Instructions, cut: Cut
    ) -> None:
        super().__init__(shape, step, ins, cut)
        self.tile = cut.scores.rows
        self.name = f"dynamic_{self.name}"
        self.key = (self.name, *self.key)

    def _count_keys(self, function: FunctionBuilder) -> Expr:
        """An expression where keys are known, too: tiles are chosen for any number of them."""
        keys = super()._count_keys(function)
        return bind(const(keys, "int32")) if isinstance(keys, int) else keys

    def _is_parallel(self, jobs: Expr) -> bool:
        return True

    def _cut_rows(self, keys: Expr) -> tuple[Expr, Expr]:
        rows = bind(quotient(self.rows + (self.tile - 1), self.tile) * self.tile)
        near = T.max(T.floordiv(SCORE_BYTES // (4 * self.tile), T.max(keys, 1)), 1) * self.tile
        self.memory_rows = bind(T.max(T.min(T.min(near, self.cut.block), rows), self.tile))
        self.block = make_opaque(self.memory_rows)
        blocks = make_opaque(T.floordiv(self.rows + (self.block - 1), self.block))
        return blocks, make_opaque(T.max(T.min(blocks, T.floordiv(MOST_JOBS, T.max(self.matrices, 1))), 1))

    def _pack_all(self, pack: Callable[[Expr], None]) -> None:
        if not isinstance(self.shape.rows, int):
            super()._pack_all(pack)
            return

        def pack_here() -> None:
            with T.serial(0, self.matrices) as matrix:
                pack(matrix)

        codes: Expr = const(self.shape.depth + self.shape.columns, "int64")
        for size in (self.matrices, self.softmax.keys):
            codes = codes * T.Cast("int64", size)
        branch(codes < PACKED_GRAIN, pack_here, lambda: super(DynamicAttentionTemplate, self)._pack_all(pack))

    def _jobs(self, blocks: Expr, chunks: Expr) -> None:
        count = bind(self.matrices * chunks)
        macs: Expr = const(self.shape.depth + self.shape.columns, "int64")
        for size in (self.matrices, self.rows, self.softmax.keys):
            macs = macs * T.Cast("int64", size)
        jobs = T.min(T.Cast("int64", count), T.max(T.floordiv(macs, const(GRAIN, "int64")), const(1, "int64")))
        jobs = make_opaque(T.Cast("int32", jobs))

        def run_chunks(begin: Expr, size: Expr) -> None:
            self._allocate()
            self._clear_weights()
            with T.serial(0, size) as index:
                self._chunk(make_opaque(begin + index), blocks, chunks, is_job=False)

        def run_jobs() -> None:
            with T.parallel(0, jobs) as job:
                begin = make_opaque(T.floordiv(job * count, jobs))
                run_chunks(begin, T.floordiv((job + 1) * count, jobs) - begin)

        if isinstance(self.shape.rows, int):  # of a single token: to wake threads takes three times as long as the work
            branch(jobs < 2, lambda: run_chunks(make_opaque(const(0, "int32")), count), run_jobs)
        else:
            run_jobs()

    def _allocate(self) -> None:
        block, self.block = self.block, self.memory_rows  # libraries compute sizes of memory from those of the inputs
        super()._allocate()
        self.block = block
        self.powers = self.scores, bind(block * self.softmax.pitch)

    def _begin_block(self, number: Expr) -> tuple[Expr, Expr]:
        first = make_opaque(number * self.block)
        rows = make_opaque(T.min(self.block, self.rows - first))
        self.last = bind(rows - 1)
        return first, make_opaque(quotient(rows + (self.tile - 1), self.tile) * self.tile)

    def _row_of_block(self, row: Expr) -> Expr:
        return T.min(row, self.last)

    def _places(self, target: Expr, row: Expr, rows: int) -> list[Expr]:
        pitch = self.operands["y"].row
        return [make_opaque(target + self._row_of_block(row + i) * pitch) for i in range(rows)]

    def _over_tiles(self, tiling: Tiling, rows: Expr, tile: Callable[[Expr, int], None]) -> None:
        with T.serial(0, quotient(rows, self.tile)) as index:
            tile(make_opaque(index * self.tile), self.tile)


def choose_dynamic_attention(
    shape: Attention, score_scale: float, code_scale: float, step: Requantize | FixedRequantize | Dequantize, isa: Isa
) -> Kernel | None:
    """The kernel; None for shapes, types and scales that do not fit."""
    ins = instructions(isa)
    from_zero = not ins.takes_bytes or shape.codes.zero_point + ins.shift_of(shape.codes.dtype) == 0
    is_proved = from_zero and fits(shape, score_scale, code_scale)
    return dynamic_attention(shape, score_scale, code_scale, step, isa) if is_proved else None
