"""The highest rate of multiply-accumulates of an instruction set: a loop of dot products of registers.

Computes   sums that nobody reads, of `ROUNDS * UNROLL` broadcast activations and as many weights as half the registers
Loops      rounds; UNROLL activations; one `dot` for each register of sums, all independent

Tests: tests/codegen/custom_lowering/test_own_functions.py
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import FunctionBuilder, Register, load, spread, store, vector_type
from tvmq.codegen.kernels.parts.float_vectors import float_vectors
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel

ROUNDS, UNROLL = 1000, 2  # 20 to 50 us of one core


class Peak(NamedTuple):
    """A kernel to be timed: its arguments, and how many multiply-accumulates it does."""

    kernel: Kernel
    arrays: tuple[np.ndarray, ...]
    macs: int


def peak(isa: Isa, dtype: str) -> Peak:
    """The loop for products of codes ("int8") or of floats ("float32")."""
    ins = float_vectors(isa) if dtype == "float32" else instructions(isa)
    # sums and as many weights; the activations come from memory, or LLVM would multiply once for all
    count, reads = (ins.registers - 4) // 2, ROUNDS * UNROLL
    size, sums_dtype = ins.lanes * ins.taps, "float32" if dtype == "float32" else "int32"
    lengths = {
        "x": (reads * ins.taps, ins.x_dtype),
        "w": (count * size, ins.w_dtype),
        "y": (count * ins.lanes, sums_dtype),
    }
    with FunctionBuilder("peak", {name: ((length,), kind) for name, (length, kind) in lengths.items()}) as function:
        x, w, y = function.buffers
        weights = [load(w, i * size, vector_type(ins.w_dtype, size)) for i in range(count)]
        sums = [Register(sums_dtype, ins.lanes) for _ in range(count)]
        for register in sums:
            register.set(spread(0, ins.lanes, sums_dtype))
        with T.serial(0, ROUNDS) as i:
            for turn in range(UNROLL):
                activations = ins.broadcast(x, (i * UNROLL + turn) * ins.taps)
                for register, weight in zip(sums, weights, strict=True):
                    register.set(ins.dot(register.get(), activations, weight))
        for i, register in enumerate(sums):
            store(y, i * ins.lanes, register.get(), ins.lanes)
    name = f"peak_{ins.name}_{dtype}"
    arrays = tuple(np.zeros(length, kind) for length, kind in lengths.values())
    return Peak(Kernel(name, function.prim_func, (), (name,)), arrays, reads * count * size)
