"""Product of two tensors of codes, requantized; the second may broadcast (one factor for each channel).

Computes   numerics.multiply, then numerics.requantize, bit for bit
Layouts    any; both inputs and the output have the same axes
Loops      parallel chunks of rows; vectors. A row is the longest run in which b keeps step or stands still
Fallback   plain TIR for every instruction set: LLVM makes vectors of the CPU's width
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.errors import BuildError
from tvmq.kernels.builder import Buffer, Expr, Function, bind, flat, load, spread, store, vector_type
from tvmq.kernels.epilogue import Parameters, plan_epilogue
from tvmq.kernels.isa import instructions
from tvmq.kernels.loops import broadcast_strides, collapse, offset_of, opaque, over_lanes, over_rows, plain
from tvmq.kernels.types import Isa, Kernel, Requantize

GRAIN = 80_000  # elements in about 10 us
LARGEST_PRODUCT = 255 * 255
CODES = ("uint8", "int8")


def multiply(
    shape: Sequence[int],
    b_shape: Sequence[int],
    requantize: Requantize,
    isa: Isa,
    *,
    a_zero: int,
    b_zero: int,
    a_dtype: str = "uint8",
    b_dtype: str = "uint8",
) -> Kernel:
    """Kernel (a, b) -> y; a and y have `shape`, b broadcasts to it.

    requantize  one multiplier for all elements
    raises      BuildError for types that are no 8-bit codes, more multipliers, shapes that do not broadcast
    """
    shape, b_shape = (tuple(int(extent) for extent in given) for given in (shape, b_shape))
    multiplier = np.unique(np.asarray(requantize.multiplier, np.float32))
    _check(shape, b_shape, a_dtype, b_dtype, multiplier)
    lanes = instructions(isa).vector_bytes
    plan = plan_epilogue((requantize,), LARGEST_PRODUCT)
    parameters: Parameters = {"a": (shape, a_dtype), "b": (b_shape, b_dtype)}
    parameters |= plan.constant_parameters(lanes) | {"y": (shape, requantize.dtype)}
    name = f"multiply_{isa.name}"
    with Function(name, parameters) as function:
        a, b, *constants, y = (flat(buffer) for buffer in function.buffers)
        sizes, (b_strides,) = collapse(shape, broadcast_strides(shape, b_shape))
        inner, inner_stride = sizes[-1], b_strides[-1]

        def row(number: Expr) -> None:
            begin = opaque(number * inner)
            b_begin = opaque(offset_of(number, sizes[:-1], b_strides[:-1]))

            def piece(offset: Expr, size: int) -> None:
                left = _centred(a, begin + offset, size, a_zero)
                if inner_stride:
                    right = _centred(b, b_begin + offset, size, b_zero)
                else:
                    right = spread(_centred(b, b_begin, 1, b_zero), size)
                loaded = plan.requantizer.load(constants, 0, size)
                store(y, begin + offset, plan.requantizer.codes(plain(size), [left * right], [loaded]), size)

            over_lanes(inner, lanes, piece)

        over_rows(prod(sizes[:-1]), inner, GRAIN, lambda: row)
    key = ("multiply", shape, b_shape, a_dtype, b_dtype, a_zero, b_zero, plan.key, isa.name)
    return Kernel(name, function.prim_func, plan.constants(lambda values: np.resize(values, lanes)), key)


def _centred(source: Buffer, offset: Expr, lanes: int, zero_point: int) -> Expr:
    """int32 codes less their zero point; via int16, so that LLVM knows that products of int16 will do."""
    codes = load(source, offset, vector_type(str(source.dtype), lanes))
    narrow = T.Cast(vector_type("int16", lanes), codes) - spread(zero_point, lanes, "int16")
    return bind(T.Cast(vector_type("int32", lanes), narrow))


def _check(
    shape: tuple[int, ...], b_shape: tuple[int, ...], a_dtype: str, b_dtype: str, multiplier: np.ndarray
) -> None:
    if a_dtype not in CODES or b_dtype not in CODES or len(multiplier) != 1:
        raise BuildError(
            f"kernels, multiply: takes uint8 or int8 codes and one multiplier. "
            f"Got {a_dtype}, {b_dtype} and {len(multiplier)} multipliers"
        )
    if np.broadcast_shapes(shape, b_shape) != shape:
        raise BuildError(f"kernels, multiply: {b_shape} does not broadcast to {shape}; swap the operands")
