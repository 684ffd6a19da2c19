"""conv2d: float32, NHWC, implicit matrix product, for every instruction set.

Computes   bias + sum of x * w over kernel row, kernel column, channel, in this order, then clip
Rounding   one fused multiply-add a product, on every CPU
Int4       weights of 4 bits are read as codes, each multiplied by its scale first: the bits of the same float weights
Loops      those of implicit_gemm, tiles and packing as conv2d; weights [step][vector][lane], padding made in a copy
Registers  rows x columns sums + columns weights + 1 activations; 6 x 4 + 4 + 1 of 32 on AVX-512
Measured   Zen 4, one core: 1 x 1 and 3 x 3 layers of ResNet-50 at 50-58 GMAC/s, AVX-512 and AVX2 (peak 59)
"""

from __future__ import annotations

import numpy as np

from tvmq import numerics
from tvmq.codegen.kernels.conv import int4_row
from tvmq.codegen.kernels.conv.implicit_gemm import ConvLoops
from tvmq.codegen.kernels.conv.shape import ConvShape, ConvTile, convolution_work
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    Register,
    Shape,
    bind,
    load,
    quotient,
    vector_type,
)
from tvmq.codegen.kernels.parts.float_vectors import check_arrays, clip, clip_of, float_vectors
from tvmq.codegen.kernels.parts.kernel_types import Clip, Conv2d, Epilogue, Isa, Kernel, Tiles
from tvmq.codegen.kernels.parts.packing import Int4Weights, Nibbles, Packing, pack_channels, weight_parameter
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.tiling import Tiling, choose_tiling, cut_tiles, product_key
from tvmq.errors import BuildError

PAGE = 4096  # bytes between addresses that share a set of the nearest cache
WAYS = 8  # lines of a set
LOW_TILE = {32: (6, 4), 16: (4, 2)}  # registers -> rows, columns


def conv2d_float(
    conv: Conv2d,
    weight: np.ndarray,
    bias: np.ndarray | None,
    epilogue: Epilogue,
    isa: Isa,
    *,
    int4: Int4Weights | None = None,
) -> Kernel:
    """Kernel of a float convolution; padding is zero.

    weight    float32 [filters, channels / groups, kernel rows, kernel columns]
    bias      float32 [filters] or None
    epilogue  () or one Clip
    int4    the same weights as codes, which the kernel then reads
    raises    BuildError for shapes, types or steps that do not fit
    """
    _check(conv)
    check_arrays("conv2d_float", weight, (conv.filters, conv.channels // conv.groups, *conv.kernel), bias, conv.filters)
    bounds = clip_of(epilogue, "conv2d_float")
    if int4 is not None and int4_row.is_int4_row(conv, int4, isa):
        return int4_row.int4_row(conv, int4, bias, bounds, isa)
    shape = ConvShape(conv, float_vectors(isa), 0)
    tiling = choose_float_tiling(shape, isa.tiles)
    return make_kernel("conv2d_float", shape, tiling, bounds, weight, bias, int4=int4)


def make_kernel(
    template: str,
    shape: ConvShape,
    tiling: Tiling,
    bounds: Clip,
    weight: np.ndarray,
    bias: np.ndarray | None,
    buffers: tuple[Shape, Shape] | None = None,
    int4: Int4Weights | None = None,
    loops: type[Floats] | None = None,
) -> Kernel:
    """Kernel with a given tiling; buffers: shapes of x and y if they are not NHWC; loops: others than Floats."""
    conv = shape.conv
    name = f"{template}_{shape.ins.name}_{tiling.rows}x{tiling.columns}"
    start = np.zeros(conv.filters, np.float32) if bias is None else bias
    values = weight if int4 is None else int4.codes
    packing = Packing(shape.ins, values.shape, conv.groups, shape.run, tiling.panel_parts, permuted=False)
    packed = packing.weights(values)
    constants: tuple[np.ndarray, ...] = (packed, pack_channels(start, conv.groups, packing.slots))
    groups = None
    if int4 is not None:
        name, groups = f"{name}_w4", (len(int4.scale), int4.group_size)
        scales = [pack_channels(scale, conv.groups, packing.slots) for scale in int4.scale]
        constants = (numerics.pack_int4(packed.astype(np.int8)), np.concatenate(scales), *constants[1:])
    work = convolution_work(template, shape, tiling=tiling)
    packed_from = (weight, packing.recipe()) if int4 is None else None
    loops = loops or Floats
    return loops(name, shape, tiling, bounds, buffers, groups).kernel(constants, work, packed_from=packed_from)


def choose_float_tiling(shape: ConvShape, tiles: Tiles) -> Tiling:
    """Tiling of least modelled time whose rows do not push each other out of the nearest cache."""
    tiling = choose_tiling(shape.product, shape.ins, tiles)
    if product_key(shape.product, shape.ins) in tiles:
        return tiling  # measured
    pitch = 4 * shape.conv.channels * shape.conv.strides[1]
    if tiling.rows * pitch <= WAYS * PAGE or pitch % (PAGE // 2):
        return tiling
    # neighbouring pixels fall into the same cache set and push each other out
    rows, columns = LOW_TILE[shape.ins.registers]
    return cut_tiles(shape.product, rows, columns)


def _check(conv: Conv2d) -> None:
    if conv.x_dtype != "float32":
        raise BuildError(f"kernels, conv2d_float: takes float32 input. Got {conv.x_dtype}")
    if conv.channels % conv.groups or conv.filters % conv.groups or min(conv.out_shape) < 1:
        raise BuildError(
            f"kernels, conv2d_float: {conv.channels} channels and {conv.filters} filters in {conv.groups} "
            f"groups give an output of shape {conv.out_shape}; this is no convolution"
        )


class Floats(ConvLoops):
    """Float convolution; see the head of this file."""

    def __init__(
        self,
        name: str,
        shape: ConvShape,
        tiling: Tiling,
        bounds: Clip,
        buffers: tuple[Shape, Shape] | None,
        groups: tuple[int, int] | None,
    ) -> None:
        nibbles = None if groups is None else Nibbles(shape.ins)
        super().__init__(name, shape, tiling, "float32", buffers, nibbles)
        self.bounds = bounds
        self.scales, self.group_size = groups or (0, 0)
        self.key = (name, shape.key, tiling, bounds, buffers, groups)

    def parameters(self) -> Parameters:
        channels = self.conv.groups * self.shape.vectors * self.ins.lanes
        x_shape, y_shape = self.buffer_shapes
        return {
            "x": (x_shape, "float32"),
            "weight": weight_parameter(channels * self.shape.steps, self.ins, self.nibbles),
            **({"scale": ((self.scales * channels,), "float32")} if self.scales else {}),
            "bias": ((channels,), "float32"),
            "y": (y_shape, "float32"),
        }

    def bind_buffers(self, buffers: dict[str, Buffer]) -> None:
        super().bind_buffers(buffers)
        self.x, self.weight, self.bias, self.y = (self.buffers[name] for name in ("x", "weight", "bias", "y"))
        self.scale = self.buffers.get("scale")

    def unpack(self, offset: Expr, vector: Expr, step: Expr) -> Expr:
        assert self.nibbles is not None
        channel = vector * self.ins.lanes
        if self.scales > 1:
            vectors = self.conv.groups * self.shape.vectors
            channel = channel + quotient(step, self.group_size) * (vectors * self.ins.lanes)
        scale = load(self.scale, bind(channel), vector_type("float32", self.ins.lanes))
        return self.nibbles.dequantize(self.nibbles.vector(self.weight, offset), scale)

    def store(self, tile: ConvTile, sums: list[list[Register]]) -> None:
        for row, registers in enumerate(sums):
            for column, register in enumerate(registers):
                value = clip(register.get(), self.bounds, self.ins.lanes)
                self.store_rows(tile, row, column, 1, 1, value)
