"""batch_matmul: products of two tensors of 8-bit codes, both given at run time (attention), on NVIDIA GPUs.

Computes   numerics.matmul of the centred codes, then requantize, dequantize or nothing, bit for bit
Layouts    each operand is a batch of matrices inside a buffer, at any distances (see MatrixOperand)
Blocks     rows / tile.rows in x; matrices and columns / tile.columns in y
Zero points  codes are multiplied as they are. The sum of (a - a_zero)(b - b_zero) is that of a b, less b_zero times
           the sum of the row of a, less a_zero times the sum of the column of b, plus depth a_zero b_zero. A thread
           adds up one line of each piece while it is in shared memory: 16 loads and 16 dp4a with ones a thread, beside
           32 to 128 multiply-adds of 64 bytes each. A zero point of 0 needs none
Needs      depth * 4 * 255 * 128 within int32 (MOST_DEPTH)

Tests: tests/codegen/kernels/cuda/test_cuda_batch_matmul.py
"""

from __future__ import annotations

import math

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.shape import BatchMatmul, check_product
from tvmq.codegen.kernels.cuda.builder import (
    CudaFunction,
    allocate_registers,
    allocate_shared,
    call,
    name_value,
    put,
    synchronize,
    unroll,
    value_of,
    view_as_int32,
    where,
)
from tvmq.codegen.kernels.cuda.choose import choose
from tvmq.codegen.kernels.cuda.epilogue import LARGEST_EXACT, plan_steps
from tvmq.codegen.kernels.cuda.lines import Lines, alignment, begin_of, make_right
from tvmq.codegen.kernels.cuda.output import Output, OutputPlace
from tvmq.codegen.kernels.cuda.product import SHORT, BlockProduct
from tvmq.codegen.kernels.cuda.tile import Tile
from tvmq.codegen.kernels.cuda.windows import packed_channels
from tvmq.codegen.kernels.parts.builder import Buffer, Expr
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan, Parameters
from tvmq.codegen.kernels.parts.kernel_types import Dequantize, FixedRequantize, Kernel, Requantize
from tvmq.errors import BuildError

MOST_GRID_ROWS = 65535  # blocks in y
ONES = 0x01010101
LARGEST_CODE = 255  # centred


def batch_matmul(
    product: BatchMatmul, step: Requantize | FixedRequantize | Dequantize | None, arch: int, tile: Tile | None = None
) -> Kernel:
    """Kernel; parameters a, b, the multiplier or scale (one or one a column of b), y.

    step    what becomes of the sums; None leaves them as int32
    raises  BuildError for shapes, types or steps that do not fit
    """
    check_product(product)
    matrices = math.prod(product.batch)
    tile = tile or choose(product.rows, product.columns, product.depth, matrices, arch)
    template = _CudaMatmulTemplate(product, plan_steps(() if step is None else (step,)), tile)
    name = f"batch_matmul_{tile.name}"
    key = ("cuda", name, product, tile, template.plan.key)
    return Kernel(name, template.prim_func(name), template.constants(), key)


class _CudaMatmulTemplate:
    """The PrimFunc of one product; see the head of this file."""

    def __init__(self, product: BatchMatmul, plan: EpiloguePlan, tile: Tile) -> None:
        self.product, self.plan, self.tile = product, plan, tile
        self.column_tiles = -(-product.columns // tile.columns)
        self.grid_rows = math.prod(product.batch) * self.column_tiles
        if self.grid_rows > MOST_GRID_ROWS:
            raise BuildError(
                f"kernels, cuda batch_matmul: {self.grid_rows} matrices and tiles of columns, a grid has at most "
                f"{MOST_GRID_ROWS}; cut the batch"
            )

    def constants(self) -> tuple[np.ndarray, ...]:
        """Multiplier or scale for every column of whole tiles."""
        columns = self.product.columns

        def pack(values: np.ndarray) -> np.ndarray:
            return packed_channels(np.broadcast_to(np.ravel(values), columns), 1, self.tile.columns)

        return self.plan.constants(pack)

    def prim_func(self, name: str) -> object:
        """The function."""
        product, tile = self.product, self.tile
        parameters: Parameters = {"a": (product.a.shape, product.a.dtype), "b": (product.b.shape, product.b.dtype)}
        parameters |= self.plan.constant_parameters(self.column_tiles * tile.columns)
        parameters["y"] = (product.y.shape, self.plan.out_dtype)
        blocks = -(-product.rows // tile.rows), self.grid_rows
        with CudaFunction(name, parameters, blocks, tile.threads) as function:
            self._body(function.flat_views(parameters), function.block, function.thread)
        return function.prim_func

    def _body(self, buffers: dict[str, Buffer], block: tuple[Expr, Expr], thread: Expr) -> None:
        product, tile = self.product, self.tile
        matrix = value_of("matrix", T.floordiv(block[1], self.column_tiles))
        first_column = value_of("first_column", T.floormod(block[1], self.column_tiles) * tile.columns)
        first_row = value_of("first_row", block[0] * tile.rows)
        size = alignment(product.a, product.a.row, product.depth)
        left = Lines("a", buffers["a"], tile, tile.rows, product.depth, product.rows, product.a.row, size)
        right = make_right("b", buffers["b"], product.b, tile, product.depth, product.columns)
        left.find(begin_of(product.a, product.batch, matrix), first_row, thread)
        right.find(begin_of(product.b, product.batch, matrix), first_column, thread)
        memory = allocate_shared("memory", tile.shared_bytes)
        sums = BlockProduct(tile, (product.a.dtype, product.b.dtype), memory, thread)
        lines = _LineSums(product, sums)
        sums.run(-(-product.depth // tile.depth), left.copy, right.copy, lines.visit)
        lines.share()
        begin = begin_of(product.y, product.batch, matrix)
        place = OutputPlace(
            first_row, first_column, product.rows, product.columns, product.y.row, value_of("y_begin", begin),
            first_column, alignment(product.y, product.y.row, product.columns),
            product.depth * LARGEST_CODE**2 <= LARGEST_EXACT,
        )  # fmt: skip
        _CentredOutput(tile, self.plan, buffers, place, lines).write(sums)


class _LineSums:
    """Sums of rows of a and columns of b, as far as zero points ask for them."""

    def __init__(self, product: BatchMatmul, block: BlockProduct) -> None:
        self.product, self.block, tile = product, block, block.tile
        self.constant = product.depth * product.a_zero * product.b_zero
        thread = block.thread
        # (name, zero point of the other side, dtype, where the pieces begin, line of this thread or beyond)
        self.sides = [
            ("rows", product.b_zero, product.a.dtype, block.left_piece, thread, tile.rows),
            ("columns", product.a_zero, product.b.dtype, block.right_piece, tile.threads - 1 - thread, tile.columns),
        ]
        self.sums = {side[0]: allocate_registers(f"sum_of_{side[0]}", 1) for side in self.sides if side[1]}
        self.shared: dict[str, Buffer] = {}
        for buffer in self.sums.values():
            put(buffer, 0, 0)

    def visit(self, stage: Expr) -> None:
        """Add up the lines of a piece."""
        tile = self.block.tile
        memory = view_as_int32(self.block.memory, tile.shared_bytes // 4)
        for name, zero, dtype, piece, line, lines in self.sides:
            if not zero:
                continue
            with where(True if lines == tile.threads else line < lines):
                begin = value_of("begin", T.floordiv(piece(stage) + line * tile.pitch, 4))
                with unroll(tile.depth // 4, "w") as w:
                    dot = f"tvmq_dp4a_{SHORT[dtype]}u8"
                    put(self.sums[name], 0, call("int32", dot, memory[begin + w], ONES, self.sums[name][0]))

    def share(self) -> None:
        """Share with all threads what the zero points add to the sums."""
        for name, zero, _, _, line, lines in self.sides:
            if not zero:
                continue
            kept = self.shared[name] = name_value(f"of_{name}", T.alloc_buffer((lines,), "int32", scope="shared"))
            with where(True if lines == self.block.tile.threads else line < lines):
                put(kept, line, self.sums[name][0] * -zero)
        if self.shared:
            synchronize()


class _CentredOutput(Output):
    """Output whose sums are those of centred codes."""

    def __init__(
        self, tile: Tile, plan: EpiloguePlan, buffers: dict[str, Buffer], place: OutputPlace, lines: _LineSums
    ) -> None:
        super().__init__(tile, plan, buffers, place)
        self.lines = lines

    def offset_of_column(self, column: Expr) -> Expr:
        kept = self.lines.shared.get("columns")
        return self.lines.constant if kept is None else kept[column] + self.lines.constant

    def offset_of_row(self, row: Expr) -> Expr:
        kept = self.lines.shared.get("rows")
        return 0 if kept is None else kept[row]
