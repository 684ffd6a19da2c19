"""conv2d: uint8, int8 or int16 x int8 -> int32 -> codes, NHWC, an implicit matrix product, for every CPU.

Computes   numerics.conv, then the epilogue (numerics.requantize, add, table), bit for bit
Layouts    x NHWC, weights packed (see packing), those of 4 bits two to a byte, output NHWC
Needs      partial sums within int32 (numerics.check_accumulator); bias already holds -x_zero * sum(weights)
Loops      those of implicit_gemm; then the steps over codes while a chunk is in cache
Registers  rows x columns sums + columns weights + 1 activations; 6 x 4 + 4 + 1 of 32 on AVX-512
Reads      no im2col (see implicit_gemm); no copy either for unpadded uint8 on VNNI where runs are whole steps
Fallback   the same template on instruction set "generic": plain TIR
Measured   benchmarks/kernels.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq import numerics
from tvmq.codegen.kernels.conv.implicit_gemm import ConvLoops
from tvmq.codegen.kernels.conv.remainder_taps import in_steps
from tvmq.codegen.kernels.conv.shape import ConvShape, ConvTile, convolution_work
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import Expr, Register, Shape, bind, minimum
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan, plan_epilogue
from tvmq.codegen.kernels.parts.kernel_types import CODE_LIMITS, Conv2d, Epilogue, Isa, Kernel
from tvmq.codegen.kernels.parts.packing import (
    Nibbles,
    Packing,
    nibbles_for,
    pack_channels,
    panel_pieces,
    weight_parameter,
)
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import SumTemplate
from tvmq.codegen.kernels.parts.tiling import Tiling, choose_tiling
from tvmq.errors import BuildError

MOST_HALVES = 11  # vectors of half the width; of more the empty half of a whole one is less than a tenth


def conv2d(conv: Conv2d, weight: np.ndarray, bias: np.ndarray, x_zero: int, epilogue: Epilogue, isa: Isa) -> Kernel:
    """Kernel of a convolution; parameters x, the b of each Add, constants, y.

    weight    int8 [filters, channels / groups, kernel rows, kernel columns]
    bias      int32 [filters], with -x_zero * sum(weights) already in it
    x_zero    code that padding is filled with
    epilogue  () for int32 sums, (Dequantize,) for floats, else a requantize step and any Add and Table steps
    raises    BuildError for shapes, types or steps that do not fit
    """
    check_operands("conv2d", conv, weight, bias)
    shape = ConvShape(conv, instructions_for(conv, isa), x_zero)
    tiling = choose_tiling(shape.product, shape.ins, isa.tiles)
    return make_kernel("conv2d", shape, tiling, weight, bias, epilogue)


def instructions_for(conv: Conv2d, isa: Isa) -> Instructions:
    """Instructions that a convolution multiplies with: half vectors where they are full and whole ones are not."""
    ins = instructions(isa)
    return widths_for(conv, ins.int16_operands if conv.x_dtype == "int16" else ins)


def widths_for(conv: Conv2d, ins: Instructions) -> Instructions:
    """Instructions of the width that a convolution fills best, as `instructions_for` has them of a level's."""
    if conv.batch * conv.out_height * conv.out_width == 1:
        return ins
    filled = -(-conv.filters // conv.groups // (ins.lanes // 2))
    return ins.half_width if ins.half_width and filled % 2 and filled <= MOST_HALVES else ins.products


def make_kernel(
    template: str,
    shape: ConvShape,
    tiling: Tiling,
    weight: np.ndarray,
    bias: np.ndarray,
    epilogue: Epilogue,
    buffers: tuple[Shape, Shape] | None = None,
    loops: Callable[..., Integers] | None = None,
) -> Kernel:
    """Kernel with a given tiling; buffers: shapes of x and y if they are not NHWC; loops: others than Integers."""
    conv = shape.conv
    bound = int(numerics.accumulator_bound(weight, *conv.code_limits, bias).max(initial=0))
    plan = plan_epilogue(epilogue, bound)
    permuted = plan.requantizer is not None
    ordered = weight if shape.remainders is None else in_steps(weight, shape.remainders)
    run = shape.run if shape.remainders is None else ordered.shape[1]
    packing = Packing(shape.ins, ordered.shape, conv.groups, run, tiling.panel_parts, permuted)

    def pack(values: np.ndarray) -> np.ndarray:
        return pack_channels(np.broadcast_to(np.ravel(values), conv.filters), conv.groups, packing.slots)

    packed = packing.weights(ordered)
    nibbles = nibbles_for(weight, shape.ins)
    packed = packed if nibbles is None else numerics.pack_int4(packed)
    constants = (packed, pack(bias_for(shape, weight, bias)), *plan.constants(pack))
    name = f"{template}_{shape.ins.name}_{tiling.rows}x{tiling.columns}" + ("" if nibbles is None else "_w4")
    repacked = nibbles is None and shape.remainders is None and not shape.ins.takes_int16
    packed_from = (weight, packing) if repacked else None
    work = convolution_work(template, shape, plan.steps, tiling)
    loops = loops or Integers
    return loops(name, shape, tiling, plan, buffers, nibbles).kernel(constants, work, packed_from=packed_from)


def check_operands(template: str, conv: Conv2d, weight: np.ndarray, bias: np.ndarray) -> None:
    """Refuse what is no convolution, or not of the types that the template multiplies, with a BuildError."""
    if conv.channels % conv.groups or conv.filters % conv.groups or min(conv.out_shape) < 1:
        raise BuildError(
            f"kernels, {template}: {conv.channels} channels, {conv.filters} filters, {conv.groups} groups "
            f"and output {conv.out_shape}: no convolution; groups must divide both, windows must fit"
        )
    if conv.x_dtype not in CODE_LIMITS or weight.dtype != np.int8 or bias.dtype != np.int32:
        raise BuildError(
            f"kernels, {template}: input must be one of {', '.join(CODE_LIMITS)}, weights int8 and bias int32. "
            f"Got {conv.x_dtype}, {weight.dtype} and {bias.dtype} instead"
        )
    expected = (conv.filters, conv.channels // conv.groups, *conv.kernel)
    if weight.shape != expected or bias.shape != (conv.filters,):
        raise BuildError(
            f"kernels, {template}: weights must have shape {expected} and bias ({conv.filters},). "
            f"Got {weight.shape} and {bias.shape} instead"
        )


def bias_for(shape: ConvShape, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Bias for activations as `dot` takes them: codes q of the other signedness arrive as q + 128 or q - 128."""
    return shifted_bias(bias, weight, shape.ins.shift_of(shape.conv.x_dtype))


def shifted_bias(bias: np.ndarray, weight: np.ndarray, shift: int) -> np.ndarray:
    """Bias that makes up for activations that arrive as q + shift; weights OIHW."""
    # may wrap: such a dot adds modulo 2^32, and the sum itself fits
    return (bias.astype(np.int64) - shift * weight.astype(np.int64).sum(axis=(1, 2, 3))).astype(np.int32)


class Integers(SumTemplate, ConvLoops):
    """Integer convolution; see the head of this file."""

    def __init__(
        self,
        name: str,
        shape: ConvShape,
        tiling: Tiling,
        plan: EpiloguePlan,
        buffer_shapes: tuple[Shape, Shape] | None,
        nibbles: Nibbles | None,
    ) -> None:
        super().__init__(name, shape, tiling, "int32", buffer_shapes, nibbles)
        self.plan = plan
        self.key = (name, shape.key, tiling, plan.key, buffer_shapes)

    def parameters(self) -> Parameters:
        plan, (x_shape, y_shape) = self.plan, self.buffer_shapes
        channels = self.conv.groups * self.shape.vectors * self.ins.lanes
        parameters: Parameters = {"x": (x_shape, self.conv.x_dtype)} | plan.data_parameters(y_shape)
        parameters["weight"] = self.weight_shape()
        parameters["bias"] = ((channels,), "int32")
        parameters |= self.table_parameters()
        return parameters | plan.constant_parameters(channels) | {"y": (y_shape, plan.out_dtype)}

    def weight_shape(self) -> tuple[tuple[int], str]:
        """Shape and type of the packed weights."""
        shape = self.shape
        count = self.conv.groups * shape.vectors * self.ins.lanes * shape.steps * self.ins.taps
        return weight_parameter(count, self.ins, self.nibbles)

    def table_parameters(self) -> dict[str, tuple[Shape, str]]:
        """Further constants that the loops read; none unless overridden."""
        return {}

    def store(self, tile: ConvTile, sums: list[list[Register]]) -> None:
        """Sums of a tile to the output, as codes or as they are."""
        lanes, columns, requantizer = self.ins.lanes, tile.panel.columns, self.plan.requantizer
        channel = (tile.group * self.shape.vectors + tile.vector) * lanes
        if requantizer is None:
            self._store_sums(tile, sums, channel)
            return
        buffers = self.channel_constants
        constants = [requantizer.load(buffers, channel + i * lanes, lanes) for i in range(columns)]
        for first, count in panel_pieces(columns):
            row = 0
            while row < tile.rows:
                # four vectors fill a vector of codes, so narrow pieces take several rows at once
                rows = 4 // count if row + 4 // count <= tile.rows else 1
                values = [sums[r][first + i].get() for r in range(row, row + rows) for i in range(count)]
                codes = requantizer.codes(self.ins, values, constants[first : first + count] * rows)
                if rows > 1:
                    codes = self.ins.rows_in_order(codes, count, requantizer.dtype)
                self.store_rows(tile, row, first, count, rows, codes)
                row += rows

    def _store_sums(self, tile: ConvTile, sums: list[list[Register]], channel: Expr) -> None:
        """Sums as they are, or as floats."""
        lanes, real = self.ins.lanes, self.plan.dequantizer
        for column in range(tile.panel.columns):
            constants = () if real is None else real.load(self.channel_constants, channel + column * lanes, lanes)
            totals = [sums[row][column].get() for row in range(tile.rows)]
            values = self.plan.reals(totals, [constants] * tile.rows, self.ins)
            for row, value in enumerate(values):
                self.store_rows(tile, row, column, 1, 1, value)

    def finish_chunk(self, begin: Expr, end: Expr, panels: tuple[Expr, Expr]) -> None:
        """Add and Table steps over what the chunk has written."""
        if not self.plan.steps:
            return
        filters, lanes, y = self.conv.filters, self.ins.lanes, self.buffers["y"]
        steps = self.plan.code_steps(self.ins.full_width, self.buffers)
        if self.chunks.panel_chunks == 1:
            ranges = self.chunks.pixel_ranges
            least = self.least_pixels if self.has_dynamic_shape else min(high - low for low, high in ranges)
            steps.run(y, bind(begin * filters), bind((end - begin) * filters), least * filters)
            return
        channels = [bind(minimum(self.tiling.first_vector(panel) * lanes, filters)) for panel in panels]
        least = min(min(high * lanes, filters) - low * lanes for low, high in self.chunks.vector_ranges)
        with T.serial(begin, end) as pixel:
            steps.run(y, bind(pixel * filters + channels[0]), bind(channels[1] - channels[0]), least)
