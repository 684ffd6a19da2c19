"""Conversions between real numbers, sums and codes, element by element: quantize, dequantize, requantize.

Computes   numerics.quantize, dequantize, requantize, bit for bit
Layouts    any; the channel axis, where there is one, is the last
Loops      parallel chunks of vectors in plain TIR; LLVM makes vectors of the CPU's width
Division   quantize divides, as the definition says: times 1 / scale would round otherwise

The change of layout that goes with a conversion at the border of the integer core is in transpose.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from numpy.typing import ArrayLike
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import (
    Expr,
    FunctionBuilder,
    Shape,
    flatten_buffer,
    load,
    shape_of_sizes,
    store,
    vector_type,
)
from tvmq.codegen.kernels.parts.epilogue import plan_epilogue
from tvmq.codegen.kernels.parts.float_vectors import quantize_vector
from tvmq.codegen.kernels.parts.kernel_types import CODE_LIMITS, Isa, Kernel, Requantize
from tvmq.codegen.kernels.parts.loops import (
    collapse,
    make_opaque,
    offset_of,
    over_lanes,
    over_rows,
    over_vectors,
    plain_vectors,
)
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.errors import BuildError
from tvmq.numerics.code_type import CODES_8

Strides = tuple[int, tuple[int, ...], tuple[int, ...]]
GRAIN = 100_000  # elements in about 10 us


def quantize(
    shape: Sequence[int | str],
    scale: ArrayLike,
    zero_point: int,
    isa: Isa,
    *,
    dtype: str = "uint8",
    qmin: int | None = None,
    qmax: int | None = None,
) -> Kernel:
    """Kernel x (float32) -> codes of the same shape; scale is one number and a constant of the kernel.

    raises   BuildError for a type that is no code, or several scales
    """
    shape = shape_of_sizes(shape)
    limits = code_range("quantize", dtype, qmin, qmax)
    scale = one_scale("quantize", scale)
    ins = instructions(isa)
    name = f"quantize_{ins.name}"
    parameters = {"x": (shape, "float32"), "scale": ((1,), "float32"), "y": (shape, dtype)}
    with FunctionBuilder(name, parameters, unaligned=("x",)) as function:
        x, divisor, y = (flatten_buffer(buffer) for buffer in function.buffers)

        def body(offset: Expr, lanes: int) -> None:
            value = load(x, offset, vector_type("float32", lanes))
            store(y, offset, quantize_vector(ins, value, divisor, lanes, zero_point, limits, dtype), lanes)

        over_vectors(function.count(shape), ins.vector_bytes, GRAIN, lambda: body)
    key = ("quantize", shape, zero_point, limits, dtype, ins.name)
    return Kernel(name, function.prim_func, (scale,), key, work=KernelWork("quantize", 5.0))


def quantize_view(
    x_shape: Sequence[int], view: Strides, scale: ArrayLike, codes: tuple[int, int, int, str], isa: Isa
) -> Kernel:
    """Kernel x (float32, shape `given`) -> codes of a view of x, whose last axis lies in one piece.

    view     offset, sizes and strides inside x, in elements
    codes    zero point, lowest and highest code, type
    raises   BuildError as `quantize`
    """
    zero_point, qmin, qmax, dtype = codes
    limits, scale = code_range("quantize", dtype, qmin, qmax), one_scale("quantize", scale)
    offset, shape, strides = view
    ins = instructions(isa)
    sizes, (steps, _) = collapse(shape, strides, [prod(shape[axis + 1 :]) for axis in range(len(shape))])
    length, name = sizes[-1], f"quantize_view_{ins.name}"
    parameters = {"x": (tuple(x_shape), "float32"), "scale": ((1,), "float32"), "y": (shape, dtype)}
    with FunctionBuilder(name, parameters, unaligned=("x",)) as function:
        x, divisor, y = (flatten_buffer(buffer) for buffer in function.buffers)

        def row(number: Expr) -> None:
            source = make_opaque(offset + offset_of(number, sizes[:-1], steps[:-1]))
            target = make_opaque(number * length)

            def body(at: Expr, lanes: int) -> None:
                value = load(x, source + at, vector_type("float32", lanes))
                store(y, target + at, quantize_vector(ins, value, divisor, lanes, zero_point, limits, dtype), lanes)

            over_lanes(length, ins.vector_bytes, body)

        over_rows(prod(sizes[:-1]), length, GRAIN, lambda: row)
    key = ("quantize_view", tuple(x_shape), view, zero_point, limits, dtype, ins.name)
    return Kernel(name, function.prim_func, (scale,), key, work=KernelWork("quantize_view", 2.0))


def code_range(stage: str, dtype: str, qmin: int | None, qmax: int | None) -> tuple[int, int]:
    """Lowest and highest code; None is the limit of the type; BuildError for other types than CODE_LIMITS."""
    if dtype not in CODE_LIMITS:
        raise BuildError(f"kernels, {stage}: codes must be one of {', '.join(CODE_LIMITS)}. Got {dtype} instead")
    limits = np.iinfo(dtype)
    return int(limits.min if qmin is None else qmin), int(limits.max if qmax is None else qmax)


def one_scale(stage: str, scale: ArrayLike) -> np.ndarray:
    """The scale as an array of one float32; BuildError for several different ones."""
    values = np.unique(np.asarray(scale, np.float32))
    if len(values) != 1:
        raise BuildError(f"kernels, {stage}: takes one scale. Got {len(values)} different ones instead")
    return values


def dequantize(shape: Sequence[int | str], dtype: str, scale: ArrayLike, zero_point: ArrayLike, isa: Isa) -> Kernel:
    """Kernel q -> x (float32) of the same shape.

    dtype              type of the codes or sums: uint8, int8, int16 or int32
    scale, zero_point  one number or one for each channel of the last axis; constants of the kernel.
                       q - zero_point must fit int32
    raises             BuildError for other types or shapes
    """
    shape = shape_of_sizes(shape)
    if dtype not in (*CODE_LIMITS, "int32"):
        raise BuildError(f"kernels, dequantize: takes {', '.join(CODE_LIMITS)} or int32. Got {dtype} instead")
    ins = instructions(isa)
    lanes = ins.vector_bytes
    scales, zeros, channels = _per_channel(shape, scale, zero_point, lanes)
    parameters = {
        "x": (shape, dtype),
        "scale": (scales.shape, "float32"),
        "zero_point": (zeros.shape, "int32"),
    }
    name = f"dequantize_{ins.name}"
    with FunctionBuilder(name, parameters | {"y": (shape, "float32")}) as function:
        x, factor, zero, y = (flatten_buffer(buffer) for buffer in function.buffers)

        def convert(offset: Expr, channel: Expr, count: int) -> None:
            kind = vector_type("int32", count)
            codes = T.Cast(kind, load(x, offset, vector_type(dtype, count))) - load(zero, channel, kind)
            real = T.Cast(vector_type("float32", count), codes) * load(factor, channel, vector_type("float32", count))
            store(y, offset, real, count)

        _walk(function, shape, channels, lanes, convert)
    key = ("dequantize", shape, dtype, channels, ins.name)
    return Kernel(name, function.prim_func, (scales, zeros), key, work=KernelWork("dequantize", 3.0))


def requantize(shape: Sequence[int], step: Requantize, isa: Isa) -> Kernel:
    """Kernel sums (int32) -> codes of the same shape; one multiplier, or one a channel of the last axis."""
    shape = tuple(int(extent) for extent in shape)
    ins = instructions(isa)
    plan = plan_epilogue((step,))
    channels = _channels(shape, np.size(step.multiplier))
    places = channels or ins.vector_bytes
    parameters = {"x": (shape, "int32")} | plan.constant_parameters(places) | {"y": (shape, step.dtype)}
    name = f"requantize_{ins.name}"
    with FunctionBuilder(name, parameters) as function:
        x, *constants, y = (flatten_buffer(buffer) for buffer in function.buffers)

        def convert(offset: Expr, channel: Expr, count: int) -> None:
            sums = load(x, offset, vector_type("int32", count))
            loaded = plan.requantizer.load(constants, channel, count)
            store(y, offset, plan.requantizer.codes(plain_vectors(count), [sums], [loaded]), count)

        _walk(function, shape, channels, ins.vector_bytes, convert)
    key = ("requantize", shape, channels, plan.key, ins.name)
    return Kernel(
        name,
        function.prim_func,
        plan.constants(lambda values: np.resize(values, places)),
        key,
        work=KernelWork("requantize", 3.0),
    )


def _walk(
    function: FunctionBuilder, shape: Shape, channels: int, lanes: int, convert: Callable[[Expr, Expr, int], None]
) -> None:
    """convert(offset, channel, lanes) over all elements; channels 0: all alike, the channel is 0."""
    if not channels:
        over_vectors(function.count(shape), lanes, GRAIN, lambda: lambda offset, count: convert(offset, 0, count))
        return

    def row(number: Expr) -> None:
        begin = make_opaque(number * channels)
        over_lanes(channels, lanes, lambda offset, count: convert(begin + offset, offset, count))

    over_rows(function.count(shape[:-1]), channels, GRAIN, lambda: row)


def _channels(shape: Shape, count: int) -> int:
    """Channels that `count` parameters are for; 0 if one serves all."""
    if count == 1:
        return 0
    if not shape or count != shape[-1]:
        raise BuildError(
            f"kernels: parameters must be one or those of the channels, the last axis of {shape}. Got {count} instead"
        )
    return count


def _per_channel(
    shape: Shape, scale: ArrayLike, zero_point: ArrayLike, lanes: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Scales and zero points as the kernel reads them, and the channels they are for (see `_channels`)."""
    scales, zeros = np.asarray(scale, np.float32).ravel(), np.asarray(zero_point, np.int32).ravel()
    channels = _channels(shape, max(scales.size, zeros.size))
    places = channels or lanes
    if {scales.size, zeros.size} - {1, places}:
        raise BuildError(f"kernels, dequantize: {scales.size} scales do not go with {zeros.size} zero points")
    return np.resize(scales, places), np.resize(zeros, places), channels


def choose_quantize(
    shape: Sequence[int | str], scale: np.ndarray, codes: tuple[int, int, int, str], isa: Isa
) -> Kernel | None:
    """The kernel of quantize; None for several scales and types that are no codes.

    codes   zero point, lowest and highest code, type
    """
    zero_point, qmin, qmax, dtype = codes
    fits = scale.size == 1 and dtype in CODE_LIMITS
    return quantize(shape, scale, zero_point, isa, dtype=dtype, qmin=qmin, qmax=qmax) if fits else None


def choose_quantize_view(
    x_shape: Sequence[int], view: Strides, scale: np.ndarray, codes: tuple[int, int, int, str], isa: Isa
) -> Kernel | None:
    """The kernel of a view's codes; None for several scales, int16, no elements, and a last axis in pieces."""
    _, shape, strides = view
    if scale.size != 1 or codes[3] not in CODES_8 or 0 in shape or strides[-1:] != (1,):
        return None
    return quantize_view(x_shape, view, scale, codes, isa)


def choose_dequantize(
    shape: Sequence[int | str], dtype: str, scale: np.ndarray, zero_point: np.ndarray, isa: Isa
) -> Kernel | None:
    """The kernel of dequantize; None for types that are neither codes nor sums."""
    return dequantize(shape, dtype, scale, zero_point, isa) if dtype in (*CODE_LIMITS, "int32") else None
