"""add: residual sum of two tensors of codes, in integers.

Computes   numerics.add, bit for bit
Layouts    any; both inputs and the output have the same one
Loops      parallel chunks of vectors
Measured   memory bound: 23 G elements/s from the L3 cache of a Zen 4 core

Tests: tests/codegen/kernels/elementwise/test_multiply.py
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.generic import Instructions, add_lanes
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    flatten_buffer,
    load,
    shape_of_sizes,
    store,
    vector_type,
)
from tvmq.codegen.kernels.parts.kernel_types import AddStep, Isa, Kernel
from tvmq.codegen.kernels.parts.loops import (
    Body,
    over_vectors,
)
from tvmq.codegen.kernels.parts.work import ADD_CYCLES, KernelWork
from tvmq.errors import BuildError

GRAIN = 200_000  # elements in about 10 us
LARGEST = {"uint8": 255, "int8": 128, "int16": 2**15}  # magnitude of a code


def add(shape: Sequence[int | str], step: AddStep, isa: Isa, a_dtype: str = "uint8") -> Kernel:
    """Kernel (a, b) -> y, all of this shape.

    step     the constants; a of a_dtype, b and y as it says
    raises   BuildError for types that are no codes, or constants that could leave int32
    """
    _check(step, a_dtype)
    ins = instructions(isa)
    shape = shape_of_sizes(shape)
    parameters = {"a": (shape, a_dtype), "b": (shape, step.b_dtype), "y": (shape, step.dtype)}
    name = f"add_{ins.name}"
    with FunctionBuilder(name, parameters) as function:
        a, b, y = (flatten_buffer(buffer) for buffer in function.buffers)
        over_vectors(function.count(shape), ins.vector_bytes, GRAIN, lambda: _adder(ins, step, a, b, y))
    return Kernel(
        name, function.prim_func, (), ("add", shape, step, a_dtype, ins.name), work=KernelWork("add", ADD_CYCLES)
    )


def _adder(ins: Instructions, step: AddStep, a: Buffer, b: Buffer, y: Buffer) -> Body:
    a_dtype = str(a.dtype)

    def body(offset: Expr, lanes: int) -> None:
        left = load(a, offset, vector_type(a_dtype, lanes))
        right = load(b, offset, vector_type(step.b_dtype, lanes))
        whole = lanes == ins.vector_bytes and "int16" not in (a_dtype, step.b_dtype, step.dtype)
        value = ins.add(left, right, step, a_dtype) if whole else add_lanes(left, right, step, lanes)
        store(y, offset, value, lanes)

    return body


def _check(step: AddStep, a_dtype: str) -> None:
    if not {a_dtype, step.b_dtype, step.dtype} <= set(LARGEST):
        raise BuildError(
            f"kernels, add: takes and gives codes of {', '.join(LARGEST)}. "
            f"Got {a_dtype} and {step.b_dtype} to {step.dtype} instead"
        )
    largest = [LARGEST[dtype] for dtype in (a_dtype, step.b_dtype)]
    reach = largest[0] * abs(step.a_multiplier) + largest[1] * abs(step.b_multiplier) + abs(step.offset)
    if reach > np.iinfo(np.int32).max:
        raise BuildError(
            f"kernels, add: the sum can reach {reach}, int32 ends at {np.iinfo(np.int32).max}; "
            f"use the constants of numerics.add_params"
        )


def choose_add(shape: Sequence[int | str], step: AddStep, a_dtype: str, isa: Isa) -> Kernel | None:
    """The kernel of a sum; None for types that are no codes."""
    return add(shape, step, isa, a_dtype) if {a_dtype, step.b_dtype} <= set(LARGEST) else None
