"""conv2d: float32, NHWC, implicit matrix product, for every instruction set.

Computes   bias + sum of x * w over kernel row, kernel column, channel, in this order, then clip
Rounding   one fused multiply-add a product (two roundings on "generic" where the CPU has none)
Template   that of conv2d: same loops, tiles and packing; weights [step][vector][lane], padding made in a copy
Registers  rows x columns sums + columns weights + 1 activations; 6 x 4 + 4 + 1 of 32 on AVX-512
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmq.errors import BuildError
from tvmq.kernels.builder import Function, Register, flat, load, split
from tvmq.kernels.conv2d import _Template, _Tile
from tvmq.kernels.conv_shape import ConvShape
from tvmq.kernels.epilogue import EpiloguePlan
from tvmq.kernels.float_vectors import FloatVectors, check_arrays, clip, clip_of
from tvmq.kernels.packing import channel_slots, pack_channels, pack_weights
from tvmq.kernels.tiling import Tiling, choose_tiling
from tvmq.kernels.types import Clip, Conv2d, Epilogue, Isa, Kernel

PAGE = 4096  # bytes between addresses that share a set of the nearest cache
WAYS = 8  # lines of a set
LOW_TILE = {32: (6, 4), 16: (4, 2)}  # registers -> rows, columns


def conv2d_float(
    conv: Conv2d, weight: np.ndarray, bias: np.ndarray | None, epilogue: Epilogue, isa: Isa
) -> Kernel:
    """Kernel of a float convolution; padding is zero.

    weight    float32 [filters, channels / groups, kernel rows, kernel columns]
    bias      float32 [filters] or None
    epilogue  () or one Clip
    raises    BuildError for shapes, types or steps that do not fit
    """
    _check(conv)
    shape = (conv.filters, conv.channels // conv.groups, *conv.kernel)
    check_arrays("conv2d_float", weight, shape, bias, conv.filters)
    product = ConvShape(conv, FloatVectors(isa), 0)
    tiling = _tiling(product)
    return make_kernel("conv2d_float", product, tiling, clip_of(epilogue, "conv2d_float"), weight, bias)


def make_kernel(
    template: str, shape: ConvShape, tiling: Tiling, bounds: Clip, weight: np.ndarray, bias: np.ndarray | None
) -> Kernel:
    """Kernel with a given tiling."""
    conv = shape.conv
    name = f"{template}_{shape.ins.name}_{tiling.rows}x{tiling.columns}"
    slots = channel_slots(tiling.panel_parts, shape.ins, permuted=False)
    start = np.zeros(conv.filters, np.float32) if bias is None else bias
    constants = (
        pack_weights(weight, conv.groups, shape.run, slots, tiling.panel_parts, shape.ins),
        pack_channels(start, conv.groups, slots),
    )
    func = _FloatTemplate(name, shape, tiling, bounds).prim_func()
    return Kernel(name, func, constants, (template, shape.key, tiling, bounds))


def _tiling(shape: ConvShape) -> Tiling:
    tiling = choose_tiling(shape.pixels, shape.vectors, shape.steps, shape.ins)
    pitch = 4 * shape.conv.channels * shape.conv.strides[1]
    if tiling.rows * pitch <= WAYS * PAGE or pitch % (PAGE // 2):
        return tiling
    # neighbouring pixels fall into the same cache set and push each other out
    rows, columns = LOW_TILE[shape.ins.registers]
    pixels, panels = split(shape.pixels, rows), split(shape.vectors, columns)
    return Tiling(shape.pixels, pixels[0][0], panels[0][0], tuple(pixels), tuple(panels), False)


def _check(conv: Conv2d) -> None:
    if conv.x_dtype != "float32":
        raise BuildError(f"kernels, conv2d_float: takes float32 input. Got {conv.x_dtype}")
    if conv.channels % conv.groups or conv.filters % conv.groups or min(conv.out_shape) < 1:
        raise BuildError(
            f"kernels, conv2d_float: {conv.channels} channels and {conv.filters} filters in {conv.groups} "
            f"groups give an output of shape {conv.out_shape}; this is no convolution"
        )


class _FloatTemplate(_Template):
    """The PrimFunc of one float convolution."""

    def __init__(self, name: str, shape: ConvShape, tiling: Tiling, bounds: Clip) -> None:
        super().__init__(name, shape, tiling, EpiloguePlan(None, ()), None)
        self.bounds = bounds

    def prim_func(self) -> Any:
        """See the head of this file."""
        conv, shape = self.conv, self.shape
        channels = conv.groups * shape.vectors * self.ins.lanes
        parameters = {
            "x": ((conv.batch, conv.height, conv.width, conv.channels), "float32"),
            "weight": ((channels * shape.steps,), "float32"),
            "bias": ((channels,), "float32"),
            "y": (conv.out_shape, "float32"),
        }
        with Function(self.name, parameters) as function:
            self.x, self.weight, self.bias, self.y = (flat(buffer) for buffer in function.buffers)
            self._body()
        return function.prim_func

    def _initial_sums(self, tile: _Tile) -> list[list[Register]]:
        lanes, columns = self.ins.lanes, tile.panel.columns
        base = (tile.group * self.shape.vectors + tile.vector) * lanes
        bias = [load(self.bias, base + column * lanes, self.ins.kind) for column in range(columns)]
        sums = [[Register("float32", lanes) for _ in range(columns)] for _ in range(tile.rows)]
        for row in sums:
            for register, value in zip(row, bias, strict=True):
                register.set(value)
        return sums

    def _store(self, tile: _Tile, sums: list[list[Register]]) -> None:
        for row in range(tile.rows):
            for column in range(tile.panel.columns):
                value = clip(sums[row][column].get(), self.bounds, self.ins.lanes)
                self._store_rows(tile, row, column, 1, 1, value)
