"""few_rows: a product of few rows, uint8 or int8 x int8 -> int32 -> codes on NVIDIA GPUs: heads, squeeze and excite.

Computes   numerics.matmul, as numerics.conv of 1 x 1, then the epilogue, bit for bit
Layouts    x [rows, depth], weights [columns, depth], output [rows, columns]; NHWC if the rows are pixels
Needs      bias already holds -x_zero * sum(weights)
Threads    a warp has a column: its lanes read the column's weights in turn, 16 or 4 bytes each, multiply them with the
           same bytes of each row (dp4a), and add up at the end. A tile of tensor cores would be nearly empty, and
           leave most of the GPU without a block
Bytes      bound by reading the weights once; the rows come from the first cache

Tests: tests/codegen/kernels/cuda/test_cuda_depthwise.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.conv.conv2d import check_operands
from tvmq.codegen.kernels.cuda.builder import (
    WARP,
    CudaFunction,
    allocate_registers,
    call,
    join_conditions,
    move,
    put,
    unroll,
    value_of,
    view_as_int32,
    where,
)
from tvmq.codegen.kernels.cuda.conv2d import largest_sum
from tvmq.codegen.kernels.cuda.epilogue import LARGEST_EXACT, after_steps, is_codes, other_names, plan_steps, scale_sum
from tvmq.codegen.kernels.cuda.product import SHORT
from tvmq.codegen.kernels.parts.builder import Expr
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan, Parameters
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Epilogue, Kernel

WARPS = 4  # of a block
MOST_ROWS = 8  # sums of a thread; above, a tile of 32 rows is a quarter full


def has_few_rows(conv: Conv2d) -> bool:
    """True for products of few rows whose lines begin at words.

    >>> has_few_rows(Conv2d(4, 1, 1, 64, 10)), has_few_rows(Conv2d(1, 3, 3, 64, 10))
    (True, False)
    >>> has_few_rows(Conv2d(1, 1, 1, 63, 10))
    False
    """
    rows = conv.batch * conv.height * conv.width
    plain = conv.kernel == conv.strides == (1, 1) and conv.groups == 1 and not any(conv.padding)
    return plain and rows <= MOST_ROWS and conv.channels % 4 == 0


def few_rows(conv: Conv2d, weight: np.ndarray, bias: np.ndarray, epilogue: Epilogue) -> Kernel:
    """Kernel of a convolution that `has_few_rows` accepts; parameters x, the b of each Add, constants, y.

    others  as those of cuda.conv2d
    raises  BuildError for shapes, types or steps that do not fit
    """
    check_operands("cuda few_rows", conv, weight, bias)
    bound = largest_sum(conv, weight, bias)
    plan, is_exact = plan_steps(epilogue, bound), bound <= LARGEST_EXACT
    spread = plan.constants(lambda values: np.ascontiguousarray(np.broadcast_to(np.ravel(values), conv.filters)))
    template = _FewRowsTemplate(conv, plan, is_exact)
    name = f"few_rows_dp4a_{template.rows}"
    constants = np.ascontiguousarray(weight).reshape(-1), bias, *spread
    return Kernel(name, template.prim_func(name), constants, ("cuda", name, conv, plan.key, is_exact))


class _FewRowsTemplate:
    """The PrimFunc; see the head of this file."""

    def __init__(self, conv: Conv2d, plan: EpiloguePlan, is_exact: bool) -> None:
        self.conv, self.plan, self.is_exact = conv, plan, is_exact
        self.rows = conv.batch * conv.height * conv.width
        self.size = 4 if conv.channels % 16 == 0 else 1  # words of a load
        self.scale_names = list(plan.scaler.parameters(1)) if plan.scaler is not None else []

    def prim_func(self, name: str) -> Any:
        """The function."""
        conv, plan = self.conv, self.plan
        parameters: Parameters = {"x": ((conv.batch, conv.height, conv.width, conv.channels), conv.x_dtype)}
        parameters |= plan.data_parameters(conv.out_shape)
        parameters |= {"w": ((conv.filters * conv.channels,), "int8"), "bias": ((conv.filters,), "int32")}
        parameters |= plan.constant_parameters(conv.filters) | {"y": (conv.out_shape, plan.out_dtype)}
        blocks = -(-conv.filters // WARPS)
        with CudaFunction(name, parameters, (blocks, 1), WARPS * WARP) as function:
            self.buffers = function.flat_views(parameters)
            lane = value_of("lane", T.floormod(function.thread, WARP))
            column = value_of("column", function.block[0] * WARPS + T.floordiv(function.thread, WARP))
            # warps beyond the last column do its work again and store nothing
            self._add_up(value_of("existing", T.min(column, conv.filters - 1)), lane)
            self._write(column, lane)
        return function.prim_func

    def _add_up(self, column: Expr, lane: Expr) -> None:
        """sums[row] in every lane."""
        conv, size = self.conv, self.size
        pieces = conv.channels // (4 * size)
        x, w = (view_as_int32(self.buffers[name], int(self.buffers[name].shape[0]) // 4) for name in ("x", "w"))
        self.sums = allocate_registers("sums", self.rows)
        weights, codes = allocate_registers("weights", size), allocate_registers("codes", size)
        with unroll(self.rows, "row") as row:
            put(self.sums, row, 0)
        with T.serial(0, -(-pieces // WARP)) as turn:
            piece = value_of("piece", turn * WARP + lane)
            with where(True if pieces % WARP == 0 else piece < pieces):
                move(weights, 0, w, (column * pieces + piece) * size, size)
                with unroll(self.rows, "row") as row:
                    move(codes, 0, x, (row * pieces + piece) * size, size)
                    with unroll(size, "word") as word:
                        dot = f"tvmq_dp4a_{SHORT[conv.x_dtype]}s8"
                        put(self.sums, row, call("int32", dot, codes[word], weights[word], self.sums[row]))
        with unroll(self.rows, "row") as row:
            put(self.sums, row, call("int32", "tvmq_warp_sum", self.sums[row]))

    def _write(self, column: Expr, lane: Expr) -> None:
        """Lane r has row r."""
        filters, plan = self.conv.filters, self.plan
        total = self.sums[0]
        for row in range(1, self.rows):
            total = T.Select(lane == row, self.sums[row], total)
        total = value_of("sum", total)
        exists = True if filters % WARPS == 0 else column < filters
        with where(join_conditions(lane < self.rows, exists)):
            offset, *constants = [self.buffers[name][column] for name in ("bias", *self.scale_names)]
            result = scale_sum(plan, value_of("total", total + offset), constants, self.is_exact)
            at = value_of("at", lane * filters + column)
            if is_codes(plan):
                others = [T.Cast("int32", self.buffers[name][at]) for name, _ in other_names(plan)]
                result = T.Cast(plan.out_dtype, after_steps(plan, self.buffers, result, others))
            put(self.buffers["y"], at, result)
