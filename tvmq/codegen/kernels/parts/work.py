"""Work of a kernel, as its template states it, for the cost model and the tuner of tiles.

Tests: tests/quantization/test_float_or_int8.py
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tvmq.codegen.cost import Machine
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.float_vectors import FloatVectors
from tvmq.codegen.kernels.parts.kernel_types import AddStep, TableStep
from tvmq.codegen.kernels.parts.tiling import Product, Tiling, choose_tiling, cycles

# Cycles that were measured (on Zen 4) to those of the model that chooses tiles, which needs ratios of tiles alone.
MEASURED = {"avx2": 0.49, "avx512bw": 0.68}
MEASURED_FLOATS = {"avx2": 0.64}  # the same of float32
ADD_CYCLES, TABLE_CYCLES = 12.0, 3.0  # for 64 codes
COPY_CYCLES = 3.0  # for 64 bytes that are written elsewhere
NORM_CYCLES = {"layer_norm": 11.0, "rms_norm": 8.0, "group_norm": 11.0}  # for 64 bytes


def no_cycles(_machine: Machine, _scale: float) -> float:
    """Cycles of kernels without products: none."""
    return 0.0


@dataclass(frozen=True, eq=False)
class KernelWork:
    """Work of a kernel.

    family         "conv2d", "depthwise", "quantize", ...
    vector_cycles  for 64 bytes of the widest tensor that is read or written, everything in the nearest cache
    macs           multiply-accumulates
    is_int8        the operands of the products are 8-bit codes
    cycles         (machine, vectors in 64 bytes) -> cycles beside those
    tiled          the product whose tile was chosen, and its instructions; None for kernels without tiles
    """

    family: str
    vector_cycles: float = 8.0
    macs: int = 0
    is_int8: bool = False
    cycles: Callable[[Machine, float], float] = no_cycles
    tiled: tuple[Product, Instructions] | None = None


def on_machine(ins: Instructions, machine: Machine) -> Instructions:
    """The instructions with the issue time of this machine."""
    if not machine.splits or ins.vector_bytes != 64:
        return ins
    slower = copy.copy(ins)
    slower.dot_cycles = 2 * ins.dot_cycles
    return slower


def product_cycles(product: Product, ins: Instructions, tiling: Tiling | None = None) -> float:
    """Cycles of a product by the tiles' model, scaled as they were measured."""
    shares = MEASURED_FLOATS if isinstance(ins, FloatVectors) else MEASURED
    return shares.get(ins.name, 1.0) * cycles(product, tiling or choose_tiling(product, ins), ins)


def step_cycles(steps: Sequence[Any]) -> float:
    """Cycles for 64 codes of the sums and tables behind a convolution."""
    added, looked_up = (sum(isinstance(step, kind) for step in steps) for kind in (AddStep, TableStep))
    return ADD_CYCLES * added + TABLE_CYCLES * looked_up
