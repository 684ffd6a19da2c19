"""Kernel, and the descriptions of a convolution and its epilogue that the templates take.

All shapes are NHWC; weights are OIHW ([filters, channels / groups, kernel rows, kernel columns]) as in the IR and
are packed by the template.

Tests: tests/codegen/kernels/parts/test_nibbles.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.numerics.code_type import CODE_TYPES
from tvmq.numerics.requantize_rule import RequantizeRule, rule_of_mode

if TYPE_CHECKING:
    from tvmq.codegen.kernels.parts.work import KernelWork


Tile = tuple[int, int]  # rows, columns
Tiles = Mapping[str, Tile]  # by parts/tiling.product_key
NO_TILES: Tiles = MappingProxyType({})


@dataclass(frozen=True)
class Isa:
    """An instruction set level that templates distinguish.

    name            of LEVELS in kernels/isa ("avx512vnni", "dotprod", "generic", ...); "cuda" for GPUs
    vector_bytes    width of the vectors used: 64, 32 or 16
    arch            of a GPU: 80 for sm_80
    tiles           measured on the machine that is compiled for: templates take them in place of those of the cost
                    model. Speed alone depends on them, so they are no part of equality
    """

    name: str
    vector_bytes: int
    arch: int = 0
    tiles: Tiles = field(default_factory=dict, compare=False)


# lowest and highest code of each type that kernels read
CODE_LIMITS = {dtype: CODE_TYPES[dtype].limits for dtype in ("uint8", "int8", "int16")}


@dataclass(frozen=True)
class Conv2d:
    """Static description of one convolution; a dense layer is a convolution of a 1 x 1 picture.

    padding     top, left, bottom, right
    x_dtype     "uint8", "int8", "int16" or "float32"
    """

    batch: int
    height: int
    width: int
    channels: int
    filters: int
    kernel: tuple[int, int] = (1, 1)
    strides: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1
    x_dtype: str = "uint8"

    @property
    def code_limits(self) -> tuple[int, int]:
        """Lowest and highest code of the input's type."""
        return CODE_LIMITS[self.x_dtype]

    @property
    def out_height(self) -> int:
        """Rows of the result."""
        span = (self.kernel[0] - 1) * self.dilation[0] + 1
        return (self.height + self.padding[0] + self.padding[2] - span) // self.strides[0] + 1

    @property
    def out_width(self) -> int:
        """Columns of the result."""
        span = (self.kernel[1] - 1) * self.dilation[1] + 1
        return (self.width + self.padding[1] + self.padding[3] - span) // self.strides[1] + 1

    @property
    def macs(self) -> int:
        """Multiply-accumulates."""
        return math.prod(self.out_shape) * self.channels // self.groups * math.prod(self.kernel)

    @property
    def out_shape(self) -> tuple[int, int, int, int]:
        """Shape of the result, NHWC."""
        return self.batch, self.out_height, self.out_width, self.filters


@dataclass(frozen=True, eq=False)
class Requantize:
    """Epilogue step: int32 accumulators to codes, numerics.requantize in mode "float".

    multiplier      float32 [filters]
    dtype           "uint8" or "int8"; "int16" alone, as the last step of a convolution or product
    negative_slope  0..1, what the multiplier of sums below 0 is multiplied by
    """

    multiplier: np.ndarray
    zero_point: int
    qmin: int
    qmax: int
    dtype: str = "uint8"
    negative_slope: float = 1.0


@dataclass(frozen=True, eq=False)
class FixedRequantize:
    """Epilogue step: the same in mode "fixed_point", and "power_of_two" as numerics puts it.

    multiplier      int32 [filters], 0..2^31-1
    shift           int32 [filters], at most 31
    rounding        of requantize_rule.ROUNDINGS
    dtype           "uint8" or "int8"; "int16" alone, as the last step of a convolution or product on CPUs
    """

    multiplier: np.ndarray
    shift: np.ndarray
    rounding: str
    zero_point: int
    qmin: int
    qmax: int
    dtype: str = "uint8"

    @property
    def rule(self) -> RequantizeRule:
        """How it rounds."""
        return rule_of_mode("fixed_point", self.rounding)


@dataclass(frozen=True, eq=False)
class Dequantize:
    """Epilogue step: int32 accumulators to float32, numerics.dequantize with zero point 0.

    scale  float32, one or one for each filter
    """

    scale: np.ndarray


@dataclass(frozen=True, eq=False)
class FloatSteps:
    """Epilogue step behind Dequantize: element-wise operators on floats, and codes of the result.

    steps     (operator, operands) of each further value; an operand is the number of a value (0: the floats of the
              sums), a float, or the name of an array of `channels`
    channels  float32 arrays, one number for each filter
    codes     scale, zero point, qmin, qmax and type of what quantize makes of the last value; None: it stays float
    """

    steps: tuple[tuple[str, tuple[int | float | str, ...]], ...]
    channels: dict[str, np.ndarray]
    codes: tuple[float, int, int, int, str] | None


@dataclass(frozen=True)
class AddStep:
    """Epilogue step: numerics.add of the codes so far (a) and a second input of the kernel (b, shape of the result).

    The second input is a data input of the kernel, after the first.
    """

    a_multiplier: int
    b_multiplier: int
    offset: int
    shift: int
    zero_point: int
    qmin: int
    qmax: int
    b_dtype: str = "uint8"
    dtype: str = "uint8"


@dataclass(frozen=True, eq=False)
class TableStep:
    """Epilogue step: 256-entry lookup of the codes so far; the dtype of `values` is that of the result."""

    values: np.ndarray


@dataclass(frozen=True)
class Clip:
    """Epilogue step of float kernels: min(max(x, low), high); infinities mean no bound."""

    low: float
    high: float


Epilogue = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Kernel:
    """A compiled-to-be function and the constants packed for it.

    name        says template, instruction set and tile, for example "conv2d_avx512vnni_6x4"; shown by explain and bench
    func        tirx.PrimFunc; parameters: data inputs, constants, one output
    constants   arrays in the order of the parameters
    key         hashable; kernels of equal key have the same func and may share it (their constants may differ)
    note        for people: why this kernel, and what a faster one would have needed
    packed_from what the first constant was made of, where it can be made again: weights, and a Packing or a recipe
    work        what it does, for the cost model; None for GPUs
    template    what writes its loops; None where a function has written them at once
    beside      the kernel whose loops it has as well, with constants of their own behind its own
    """

    name: str
    func: Any
    constants: tuple[np.ndarray, ...]
    key: tuple[Any, ...]
    note: str = ""
    packed_from: tuple[np.ndarray, Any] | None = None
    work: KernelWork | None = None
    template: Any = None
    beside: Kernel | None = None


KernelMaker = Callable[..., Kernel]
