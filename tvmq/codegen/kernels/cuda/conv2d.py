"""conv2d and matmul: uint8 or int8 x int8 -> int32 -> codes on NVIDIA GPUs, an implicit matrix product.

Computes   numerics.conv, then the epilogue (numerics.requantize, dequantize, add, table), bit for bit
Layouts    x NHWC, weights packed (see windows), output NHWC
Needs      partial sums within int32 (numerics.check_accumulator); bias already holds -x_zero * sum(weights)
Blocks     output pixels of all pictures / tile.rows in x; groups and filters / tile.columns in y
Signs      dp4a and mma take bytes of different signs (by our device functions), so codes are multiplied as they are:
           no copy of the activations, no correction but the bias, which holds the zero point anyway
Tiles      see choose

Tests: tests/codegen/kernels/cuda/test_cuda_depthwise.py
"""

from __future__ import annotations

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq import numerics
from tvmq.codegen.kernels.conv.conv2d import check_operands
from tvmq.codegen.kernels.cuda.builder import (
    CudaFunction,
    address,
    allocate_shared,
    run,
    unroll,
    value_of,
    where,
)
from tvmq.codegen.kernels.cuda.choose import choose_tile
from tvmq.codegen.kernels.cuda.epilogue import LARGEST_EXACT, plan_steps
from tvmq.codegen.kernels.cuda.output import Output, OutputPlace, aligned_bytes
from tvmq.codegen.kernels.cuda.product import BlockProduct
from tvmq.codegen.kernels.cuda.tile import Tile
from tvmq.codegen.kernels.cuda.windows import Depth, LineCopies, PixelWindows, packed_channels, packed_weights
from tvmq.codegen.kernels.parts.builder import Buffer, Expr
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan, Parameters
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Epilogue, Kernel


def conv2d(
    conv: Conv2d,
    weight: np.ndarray,
    bias: np.ndarray,
    x_zero: int,
    epilogue: Epilogue,
    arch: int,
    tile: Tile | None = None,
) -> Kernel:
    """Kernel of a convolution; parameters x, the b of each Add, constants, y.

    weight    int8 [filters, channels / groups, kernel rows, kernel columns]
    bias      int32 [filters], with -x_zero * sum(weights) already in it
    x_zero    code that padding is filled with
    epilogue  () for int32 sums, (Dequantize,) for floats, else a requantize step and any Add and Table steps
    arch      of the GPU, 80 for sm_80
    tile      instead of the chosen one
    raises    BuildError for shapes, types or steps that do not fit
    """
    check_operands("cuda conv2d", conv, weight, bias)
    bound = largest_sum(conv, weight, bias)
    tile = tile or choose_tile(conv, arch)
    template = _CudaConvTemplate(conv, x_zero, plan_steps(epilogue, bound), tile, bound <= LARGEST_EXACT)
    return template.kernel(weight, bias)


def largest_sum(conv: Conv2d, weight: np.ndarray, bias: np.ndarray) -> int:
    """A bound on the size of any sum, bias included."""
    low, high = conv.code_limits
    return int(numerics.accumulator_bound(weight, low, high, bias).max(initial=0))


class _CudaConvTemplate:
    """The PrimFunc of one convolution; see the head of this file."""

    def __init__(self, conv: Conv2d, x_zero: int, plan: EpiloguePlan, tile: Tile, is_exact: bool) -> None:
        self.conv, self.x_zero, self.plan, self.tile, self.is_exact = conv, x_zero, plan, tile, is_exact
        self.depth = Depth(conv, tile.depth)
        self.pixels = conv.batch * conv.out_height * conv.out_width
        self.filters = conv.filters // conv.groups
        self.column_tiles = -(-self.filters // tile.columns)
        self.channels = conv.groups * self.column_tiles * tile.columns

    def kernel(self, weight: np.ndarray, bias: np.ndarray) -> Kernel:
        """The function and its constants."""
        conv, tile = self.conv, self.tile

        def pack(values: np.ndarray) -> np.ndarray:
            return packed_channels(np.broadcast_to(np.ravel(values), conv.filters), conv.groups, tile.columns)

        constants = packed_weights(weight, self.depth, tile.columns), pack(bias), *self.plan.constants(pack)
        name = f"conv2d_{tile.name}"
        zero = self.x_zero if any(conv.padding) else None
        return Kernel(name, self._prim_func(name), constants, self._key(name, zero))

    def _key(self, name: str, zero: int | None) -> tuple[object, ...]:
        return "cuda", name, self.conv, zero, self.tile, self.plan.key, self.is_exact

    def _parameters(self) -> Parameters:
        conv, plan = self.conv, self.plan
        parameters: Parameters = {"x": ((conv.batch, conv.height, conv.width, conv.channels), conv.x_dtype)}
        parameters |= plan.data_parameters(conv.out_shape)
        parameters["w"] = ((self.channels * self.depth.steps * self.depth.step,), "int8")
        parameters["bias"] = ((self.channels,), "int32")
        parameters |= plan.constant_parameters(self.channels)
        return parameters | {"y": (conv.out_shape, plan.out_dtype)}

    def _prim_func(self, name: str) -> object:
        tile, parameters = self.tile, self._parameters()
        blocks = -(-self.pixels // tile.rows), self.conv.groups * self.column_tiles
        with CudaFunction(name, parameters, blocks, tile.threads) as function:
            self._body(function.flat_views(parameters), function.block, function.thread)
        return function.prim_func

    def _body(self, buffers: dict[str, Buffer], block: tuple[Expr, Expr], thread: Expr) -> None:
        conv, tile = self.conv, self.tile
        panel = block[1]
        group = 0 if conv.groups == 1 else value_of("group", T.floordiv(panel, self.column_tiles))
        column = 0 if self.column_tiles == 1 else T.floormod(panel, self.column_tiles) * tile.columns
        first = value_of("first", block[0] * tile.rows)
        memory = allocate_shared("memory", tile.shared_bytes)
        windows = PixelWindows(buffers["x"], conv, tile, self.x_zero, thread)
        windows.find(first, group)
        weights = _Weights(buffers["w"], tile, panel * self.depth.steps, thread)
        product = BlockProduct(tile, (conv.x_dtype, "int8"), memory, thread)
        product.run(self.depth.steps, windows.copy, weights.copy)
        place = OutputPlace(
            first, value_of("first_column", column), self.pixels, self.filters, conv.filters,
            group * self.filters, value_of("first_channel", panel * tile.columns),
            aligned_bytes(conv.filters, self.filters), self.is_exact,
        )  # fmt: skip
        Output(tile, self.plan, buffers, place).write(product)


class _Weights:
    """Copies of packed weights to shared memory."""

    def __init__(self, weights: Buffer, tile: Tile, first_piece: Expr, thread: Expr) -> None:
        self.weights, self.tile, self.first_piece = weights, tile, first_piece
        self.copies = LineCopies(thread, tile.threads, tile.columns, tile.depth, 16, "b")

    def copy(self, target: Buffer, base: Expr, step: Expr) -> None:
        """Copies of a step; base: where the piece begins in shared memory."""
        tile, copies = self.tile, self.copies
        piece = (self.first_piece + step) * (tile.columns * tile.depth)
        with where(copies.condition), unroll(copies.passes, "p") as p:
            line = copies.line + p * copies.stride
            source = piece + line * tile.depth + copies.byte
            run("tvmq_copy16", address(target, base + line * tile.pitch + copies.byte), address(self.weights, source))
