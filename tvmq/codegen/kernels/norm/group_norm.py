"""Layer norm, rms norm, group norm and instance norm of float32 by tvmq's own definition.

Computes   numerics.group_norm, bit for bit; layer norm is one group of channels with one position each, rms norm the
           same without the mean
Layouts    [batch, channels, positions], a row (a group's channels) is contiguous
Loops      parallel chunks of rows; three walks over a row: mean, mean of squares, result; vectors of 16 lanes, as the
           definition sums
Rounding   products that feed a sum are fenced, or LLVM would round both at once (FMA)

Tests: tests/codegen/kernels/norm/test_norms.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    bind,
    const,
    fence,
    flatten_buffer,
    load,
    spread,
    store,
    vector_type,
)
from tvmq.codegen.kernels.parts.float_vectors import FLOAT, LANES, keep_first_lanes, load_tail, spread_float, sum_halves
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque, over_lanes, over_rows
from tvmq.codegen.kernels.parts.work import NORM_CYCLES, KernelWork

GRAIN = 20_000  # elements in about 10 us


@dataclass(frozen=True)
class GroupNorm:
    """Static description: the norm of x [batch, channels, positions] in groups of neighbouring channels.

    centred  False leaves the mean and beta out: rms norm
    """

    batch: int
    channels: int
    positions: int = 1
    groups: int = 1
    epsilon: float = 1e-5
    centred: bool = True

    @property
    def members(self) -> int:
        """Channels of a group."""
        return self.channels // self.groups

    @property
    def length(self) -> int:
        """Elements of a row."""
        return self.members * self.positions


def group_norm(norm: GroupNorm, isa: Isa) -> Kernel:
    """Kernel x, gamma [channels], beta [channels] (not for rms norm) -> y of the shape of x, float32."""
    kind = "rms_norm" if not norm.centred else "layer_norm" if norm.positions == 1 else "group_norm"
    shape = (norm.batch, norm.channels, norm.positions)
    factors = ("gamma", "beta") if norm.centred else ("gamma",)
    buffers = {"x": shape, **dict.fromkeys(factors, (norm.channels,)), "y": shape}
    name = f"{kind}_{isa.name}"
    with FunctionBuilder(name, {key: (extents, "float32") for key, extents in buffers.items()}) as function:
        x, *parameters, y = (flatten_buffer(buffer) for buffer in function.buffers)

        def start() -> Callable[[Expr], None]:
            def row(number: Expr) -> None:
                begin = make_opaque(number * norm.length)
                mean, r = _statistics(norm, x, begin)
                channel = make_opaque(T.floormod(number, norm.groups) * norm.members)
                _results(norm, (x, y, *parameters), begin, channel, mean, r)

            return row

        over_rows(norm.batch * norm.groups, norm.length, GRAIN, start)
    return Kernel(name, function.prim_func, (), (kind, norm), work=KernelWork(kind, NORM_CYCLES[kind]))


def _statistics(norm: GroupNorm, x: Buffer, begin: Expr) -> tuple[Expr, Expr]:
    """Mean (0 for rms norm) and 1 / sqrt(mean of squares + epsilon) of a row."""
    count = const(float(norm.length), "float32")
    rest = load_tail(x, begin, norm.length) if norm.length % LANES else None

    def lane_sum(value: Callable[[Expr], Expr]) -> Expr:
        """The sum of value(vector), which must keep zeros behind the row's end."""
        total = Register("float32", LANES)
        total.set(spread_float(0.0))
        if norm.length >= LANES:
            with T.serial(0, norm.length // LANES) as i:
                total.set(total.get() + value(load(x, begin + i * LANES, FLOAT)))
        if rest is not None:
            total.set(total.get() + keep_first_lanes(norm.length % LANES, value(rest)))
        return sum_halves(total.get(), lambda a, b: a + b)

    mean = bind(lane_sum(lambda vector: vector) / count if norm.centred else const(0.0, "float32"))

    def square(vector: Expr) -> Expr:
        d = bind(vector - spread(mean, LANES)) if norm.centred else vector
        return fence(d * d)

    variance = lane_sum(square) / count
    return mean, bind(const(1.0, "float32") / T.sqrt(variance + const(norm.epsilon, "float32")))


def _results(norm: GroupNorm, buffers: tuple[Buffer, ...], begin: Expr, channel: Expr, mean: Expr, r: Expr) -> None:
    """Write a row: channel by channel, or all channels at once where each has one position."""
    x, y, gamma, *beta = buffers

    def piece(i: Expr, lanes: int, factor: Callable[[Buffer], Expr]) -> None:
        d = load(x, i, vector_type("float32", lanes))
        if norm.centred:
            d = d - spread(mean, lanes)
        scaled = d * spread(r, lanes) * factor(gamma)
        store(y, i, fence(scaled) + factor(beta[0]) if beta else scaled, lanes)

    if norm.positions == 1:
        over_lanes(
            norm.length,
            LANES,
            lambda i, lanes: piece(
                begin + i, lanes, lambda source: load(source, channel + i, vector_type("float32", lanes))
            ),
        )
        return
    with T.serial(0, norm.members) as member:
        first = make_opaque(begin + member * norm.positions)
        # read once a channel
        values = {source: load(source, channel + member, "float32") for source in (gamma, *beta)}
        over_lanes(
            norm.positions,
            LANES,
            lambda i, lanes: piece(first + i, lanes, lambda source: spread(values[source], lanes)),
        )


def choose_group_norm(norm: GroupNorm, isa: Isa) -> Kernel | None:
    """The kernel; None where there are no elements."""
    return group_norm(norm, isa) if norm.batch * norm.length else None
