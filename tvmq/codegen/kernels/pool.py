"""Pooling in NHWC: maximum of codes or floats, and sums of centred codes with their requantize (averages).

Computes   numerics.max_pool; numerics.sum_pool or sum, then numerics.requantize; bit for bit
Loops      parallel chunks of output rows; output pixels; vectors of channels; taps of the window
Padding    is never read. A maximum of codes takes the nearest tap inside instead, which changes nothing; one of
           floats the lowest float, which ends a NaN as any other number does; a sum runs over the taps inside.
           A window wholly outside (ceil_mode) gives the lowest code, or 0
Fallback   plain TIR for every instruction set: LLVM makes vectors of the CPU's width
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    bind,
    bind_size,
    fence,
    flatten_buffer,
    llvm,
    load,
    spread,
    store,
    vector_type,
)
from tvmq.codegen.kernels.parts.epilogue import Parameters, plan_epilogue
from tvmq.codegen.kernels.parts.kernel_types import Epilogue, FixedRequantize, Isa, Kernel, Requantize
from tvmq.codegen.kernels.parts.loops import make_opaque, over_lanes, over_rows, plain_vectors
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.codegen.kernels.pool_windows import Pool2d
from tvmq.errors import BuildError
from tvmq.numerics.code_type import CODES_8

GRAIN = 300_000  # bytes read in about 10 us
FEW_TAPS = 16  # windows of so many are unrolled
INT32_MAX = 2**31 - 1
LARGEST = float(np.finfo(np.float32).max)

# reader(offset, lanes): result of a window for the channels from `offset`
Reader = Callable[[Expr, int], Expr]


def max_pool(pool: Pool2d, isa: Isa, dtype: str = "uint8") -> Kernel:
    """Kernel x -> highest code or float under each window.

    raises   BuildError for types other than int8, uint8 and float32, or windows that do not fit; for floats also
             where `takes_floats` is False
    """
    lanes = _check("max_pool", pool, dtype, isa, (*CODES_8, "float32") if takes_floats(pool) else CODES_8)
    name = f"max_pool_{isa.name}"
    with FunctionBuilder(name, {"x": (pool.in_shape, dtype), "y": (pool.out_shape, dtype)}) as function:
        x, y = (flatten_buffer(buffer) for buffer in function.buffers)
        key, pool = pool, pool.at_run(function)
        maximum = _few_taps_maximum if prod(pool.kernel) <= FEW_TAPS else _maximum

        def pixel(pool: Pool2d, image: Expr, window: tuple[Expr, Expr], begin: Expr) -> None:
            read_largest = maximum(pool, x, image, window)
            over_lanes(
                pool.channels,
                lanes,
                lambda offset, size: store(y, begin + offset, read_largest(offset, size), size),
            )

        _over_pixels(pool, pixel, apart=bool(pool.out_sizes) or prod(pool.kernel) > FEW_TAPS)
    return Kernel(name, function.prim_func, (), ("max_pool", key, dtype, isa.name), work=KernelWork("max_pool", 4.0))


def takes_floats(pool: Pool2d) -> bool:
    """True for windows of which `max_pool` has a kernel for floats: those of few taps."""
    return prod(pool.kernel) <= FEW_TAPS


def _maximum_of(a: Expr, b: Expr, kind: str) -> Expr:
    """T.max of uint8 becomes a compare and a blend on AVX-512: 3 times slower than vpmaxub. Of equal floats b."""
    if kind.startswith("float"):
        return bind(T.max(a, b))
    return bind(llvm(kind, "llvm.umax" if kind.startswith("u") else "llvm.smax", a, b))


def _few_taps_maximum(pool: Pool2d, x: Buffer, image: Expr, window: tuple[Expr, Expr]) -> Reader:
    """Maximum with all taps in a row, those outside moved inside."""
    rows, columns = (axis.taps(number) for axis, number in zip(pool.axes, window, strict=True))
    lines = [make_opaque((image * pool.height + row) * pool.width) for row in rows]
    places = [make_opaque((line + column) * pool.channels) for line in lines for column in columns]
    if str(x.dtype) == "float32":
        return _few_floats(x, places, _conditions(pool, window))
    bounds = [axis.bounds(n) for axis, n in zip(pool.axes, window, strict=True) if axis.may_be_empty]
    empty = [low >= high for _, low, high in bounds]
    dtype = str(x.dtype)

    def read_largest(offset: Expr, size: int) -> Expr:
        kind = vector_type(dtype, size)
        largest = load(x, places[0] + offset, kind)
        for place in places[1:]:
            largest = _maximum_of(largest, load(x, place + offset, kind), kind)
        for condition in empty:
            largest = T.Select(condition, spread(int(np.iinfo(dtype).min), size, dtype), largest)
        return largest

    return read_largest


def _conditions(pool: Pool2d, window: tuple[Expr, Expr]) -> list[list[Expr]]:
    """Conditions for each tap of a window to lie inside."""
    rows, columns = (axis.inside(number) for axis, number in zip(pool.axes, window, strict=True))
    return [[condition for condition in (row, column) if condition is not None] for row in rows for column in columns]


def _few_floats(x: Buffer, places: list[Expr], conditions: list[list[Expr]]) -> Reader:
    """Maximum of floats with all taps in a row; of a tap outside the lowest one."""

    def read_largest(offset: Expr, size: int) -> Expr:
        kind = vector_type("float32", size)
        # TVM and LLVM take the larger of this and x for x if they see the number, but -inf is below it
        largest = lowest = bind(fence(spread(-LARGEST, size, "float32")))
        for place, outside in zip(places, conditions, strict=True):
            value = load(x, place + offset, kind)
            for condition in outside:
                value = bind(T.Select(condition, value, lowest))
            largest = _maximum_of(largest, value, kind)
        return largest

    return read_largest


def _maximum(pool: Pool2d, x: Buffer, image: Expr, window: tuple[Expr, Expr]) -> Reader:
    """Maximum over the taps inside."""
    dtype, taps = str(x.dtype), _Taps(pool, image, window)

    def read_largest(offset: Expr, size: int) -> Expr:
        kind, largest = vector_type(dtype, size), Register(dtype, size)
        largest.set(spread(int(np.iinfo(dtype).min), size, dtype))
        taps.loop(lambda place: largest.set(_maximum_of(largest.get(), load(x, place + offset, kind), kind)))
        return largest.get()

    return read_largest


class _Taps:
    """The taps of one window that lie inside; `count` of them."""

    def __init__(self, pool: Pool2d, image: Expr, window: tuple[Expr, Expr]) -> None:
        self.pool = pool
        rows, columns = pool.axes
        row_first, self.row_low, row_high = rows.bounds(window[0])
        column_first, self.column_low, column_high = columns.bounds(window[1])
        self.origin = make_opaque((image * pool.height + row_first) * pool.width + column_first)
        self.rows, self.columns = make_opaque(row_high - self.row_low), make_opaque(column_high - self.column_low)
        self.count = self.rows * self.columns

    def loop(self, body: Callable[[Expr], None]) -> None:
        """body(where the channels of a tap begin)."""
        (down, across), pool = self.pool.dilation, self.pool
        with T.serial(0, self.rows) as i:
            line = self.origin + (self.row_low + i) * (down * pool.width) + self.column_low * across
            begin = make_opaque(line * pool.channels)
            with T.serial(0, self.columns) as j:
                body(begin + j * (across * pool.channels))


def sum_pool(
    pool: Pool2d,
    epilogue: Epilogue,
    isa: Isa,
    *,
    zero_point: int = 0,
    dtype: str = "uint8",
    factors: np.ndarray | None = None,
) -> Kernel:
    """Kernel x -> sums of (code - zero_point) under each window, or their codes.

    epilogue  () for int32 sums, or a requantize step; the kernel of a whole picture is the global average
    factors   int32 (rows, columns) of the output, multiply the sums (see numerics.average_factors)
    raises    BuildError for other types or steps, windows that do not fit, sums that could leave int32
    """
    lanes = _check("sum_pool", pool, dtype, isa)
    plan = plan_epilogue(epilogue, _reach(pool, zero_point, dtype, factors))
    if plan.steps:
        raise BuildError(f"kernels, sum_pool: one requantize step can follow. Got {len(epilogue)} steps instead")
    parameters: Parameters = {"x": (pool.in_shape, dtype)}
    own = () if factors is None else (np.ascontiguousarray(factors, np.int32),)
    parameters |= {"factors": (pool.out_shape[1:3], "int32")} if own else {}
    parameters |= plan.constant_parameters(pool.channels) | {"y": (pool.out_shape, plan.out_dtype)}
    name = f"sum_pool_{isa.name}"
    with FunctionBuilder(name, parameters) as function:
        x, *rest, y = (flatten_buffer(buffer) for buffer in function.buffers)
        key_pool, pool = pool, pool.at_run(function)

        def pixel(pool: Pool2d, image: Expr, window: tuple[Expr, Expr], begin: Expr) -> None:
            taps = _Taps(pool, image, window)
            start = make_opaque(taps.count * -zero_point)
            factor = load(rest[0], window[0] * pool.out_shape[2] + window[1], "int32") if own else None

            def piece(offset: Expr, size: int) -> None:
                sums = _sum(x, taps, start, offset, size)
                sums = sums if factor is None else bind(sums * spread(factor, size))
                if plan.requantizer is not None:
                    loaded = plan.requantizer.load(rest[len(own) :], offset, size)
                    sums = plan.requantizer.codes(plain_vectors(size), [sums], [loaded])
                store(y, begin + offset, sums, size)

            over_lanes(pool.channels, lanes, piece)

        _over_pixels(pool, pixel, apart=True)
    constants = own + plan.constants(lambda values: np.resize(values, pool.channels))
    key = ("sum_pool", key_pool, zero_point, dtype, bool(own), plan.key, isa.name)
    return Kernel(name, function.prim_func, constants, key, work=KernelWork("sum_pool", 4.0))


def _sum(x: Buffer, taps: _Taps, start: Expr, offset: Expr, size: int) -> Expr:
    """start + the codes under a window."""
    kind, dtype = vector_type("int32", size), str(x.dtype)
    total = Register("int32", size)
    total.set(spread(start, size))
    taps.loop(lambda place: total.set(total.get() + T.Cast(kind, load(x, place + offset, vector_type(dtype, size)))))
    return total.get()


def _over_pixels(
    pool: Pool2d, pixel: Callable[[Pool2d, Expr, tuple[Expr, Expr], Expr], None], *, apart: bool
) -> None:
    """pixel(pool, image, (row, column), where its channels begin) for all output pixels.

    apart  columns whose windows lie inside have a loop of their own: 5 x 5 takes 0.5 to 0.6 of the time so
    """
    batch, height, width, channels = pool.out_shape
    inner, columns = replace(pool, is_inner=True), pool.axes[1]

    def row(number: Expr) -> None:
        image, line = make_opaque(T.floordiv(number, height)), make_opaque(T.floormod(number, height))
        parts = [(pool, 0, width)]
        if apart and not columns.always_inside:
            first, beyond = columns.inner_windows(width)
            parts = [(pool, 0, first), (inner, first, beyond - first), (pool, beyond, width - beyond)]
        for windows, begin, count in parts:
            with T.serial(0, count) as index:
                column = index if len(parts) == 1 else begin + index
                pixel(windows, image, (line, column), make_opaque((number * width + column) * channels))

    over_rows(bind_size(batch * height), pool.row_cost, GRAIN, lambda: row)


def _check(stage: str, pool: Pool2d, dtype: str, isa: Isa, dtypes: tuple[str, ...] = CODES_8) -> int:
    """Elements of a vector."""
    if dtype not in dtypes:
        raise BuildError(f"kernels, {stage}: takes {' or '.join(dtypes)}. Got {dtype} instead")
    if min(size for size in pool.out_shape if isinstance(size, int)) < 1:
        raise BuildError(f"kernels, {stage}: windows {pool} give an output of shape {pool.out_shape}")
    return instructions(isa).vector_bytes // np.dtype(dtype).itemsize


def _reach(pool: Pool2d, zero_point: int, dtype: str, factors: np.ndarray | None) -> int:
    """Bound on the magnitude of a sum; BuildError if it leaves int32."""
    limits = np.iinfo(dtype)
    largest = max(limits.max - zero_point, zero_point - limits.min, limits.max, -limits.min, abs(zero_point))
    reach = int(largest) * pool.kernel[0] * pool.kernel[1]
    if factors is not None:
        if factors.shape != pool.out_shape[1:3]:
            raise BuildError(
                f"kernels, sum_pool: factors must have shape {pool.out_shape[1:3]}. Got {factors.shape} instead"
            )
        reach *= int(np.abs(factors).max(initial=1))
    if reach > INT32_MAX:
        raise BuildError(f"kernels, sum_pool: sums can reach {reach}, int32 ends at {INT32_MAX}; keep it in float")
    return reach


def global_sum(
    shape: Sequence[int], epilogue: Epilogue, isa: Isa, *, zero_point: int = 0, dtype: str = "uint8"
) -> Kernel:
    """Kernel x (N, H, W, C) -> sums over all pixels of a picture, or their codes: (N, 1, 1, C)."""
    batch, height, width, channels = (int(extent) for extent in shape)
    pool = Pool2d(batch, height, width, channels, (height, width))
    return sum_pool(pool, epilogue, isa, zero_point=zero_point, dtype=dtype)


def choose_max_pool(pool: Pool2d, dtype: str, isa: Isa) -> Kernel | None:
    """The kernel of maximum pooling; None for types of two bytes, floats under some windows, and dynamic sizes of which
    a window may have no tap inside."""
    fits = dtype in CODES_8 or (dtype == "float32" and takes_floats(pool))
    fits = fits and (not pool.out_sizes or pool.always_taps)
    return max_pool(pool, isa, dtype) if fits else None


def choose_sum_pool(
    pool: Pool2d, step: Requantize | FixedRequantize, zero_point: int, dtype: str, isa: Isa
) -> Kernel | None:
    """The kernel of sums under windows, requantized; None for other types than 8-bit codes, and dynamic sizes of which
    a window may have no tap inside."""
    fits = dtype in CODES_8 and (not pool.out_sizes or pool.always_taps)
    return sum_pool(pool, (step,), isa, zero_point=zero_point, dtype=dtype) if fits else None
