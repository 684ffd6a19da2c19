"""Sums and means of float32 over the pixels of pictures of dynamic sizes.

Computes   numerics.float_sum, bit for bit
Layouts    NHWC, summed over rows and columns
Loops      parallel pictures; vectors of channels, one for each of the definition's 16 lanes, and its tree between them

Tests: tests/codegen/kernels/test_dynamic_sizes.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.norm.float_sum import GRAIN, tree
from tvmq.codegen.kernels.parts.builder import (
    Expr,
    FunctionBuilder,
    Register,
    Shape,
    flatten_buffer,
    load,
    spread,
    store,
    vector_type,
)
from tvmq.codegen.kernels.parts.float_vectors import LANES
from tvmq.codegen.kernels.parts.loops import make_opaque, over_dynamic_rows, over_lanes
from tvmq.codegen.kernels.parts.types import Isa, Kernel
from tvmq.codegen.kernels.parts.work import KernelWork


@dataclass(frozen=True)
class DynamicSum:
    """Static description: sums of pictures (batch, rows, columns, channels); names are sizes that only a run tells.

    mean  divides by the number of pixels
    """

    sizes: Shape
    channels: int
    mean: bool


def dynamic_sum(pictures: DynamicSum, isa: Isa) -> Kernel:
    """Kernel x (batch, rows, columns, channels) -> y (batch, channels), float32."""
    sizes, channels = pictures.sizes, pictures.channels
    name, lanes = f"dynamic_sum_{isa.name}", instructions(isa).lanes
    parameters = {"x": ((*sizes, channels), "float32"), "y": ((sizes[0], channels), "float32")}
    with FunctionBuilder(name, parameters) as function:
        x, y = (flatten_buffer(buffer) for buffer in function.buffers)
        count, batch = make_opaque(function.count(sizes[1:])), function.count(sizes[:1])
        whole = make_opaque(tirx.truncdiv(count, LANES))

        def start() -> Callable[[Expr], None]:
            def picture(number: Expr) -> None:
                begin = make_opaque(number * count * channels)

                def columns(first: Expr, size: int) -> None:
                    kind = vector_type("float32", size)
                    totals = [Register("float32", size) for _ in range(LANES)]
                    for total in totals:
                        total.set(spread(0.0, size, "float32"))

                    def add(pixel: Expr, lane: int) -> None:
                        source = begin + (pixel + lane) * channels + first
                        totals[lane].set(totals[lane].get() + load(x, source, kind))

                    with T.serial(0, whole) as i:
                        for lane in range(LANES):
                            add(i * LANES, lane)
                    for lane in range(LANES - 1):
                        with T.If(whole * LANES + lane < count), T.Then():
                            add(whole * LANES, lane)
                    value = tree([total.get() for total in totals], size)
                    if pictures.mean:
                        value = value / spread(T.Cast("float32", count), size)
                    store(y, number * channels + first, value, size)

                over_lanes(channels, lanes, columns)

            return picture

        over_dynamic_rows(batch, count * channels, GRAIN, start)
    return Kernel(name, function.prim_func, (), (name, pictures), work=KernelWork("float_column_sum"))


def choose_dynamic_sum(pictures: DynamicSum, isa: Isa) -> Kernel | None:
    """The kernel."""
    return dynamic_sum(pictures, isa)
