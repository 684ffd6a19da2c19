"""group_matmul: rows of int8 codes times 4-bit weights with a scale for each group along the depth.

Computes   numerics.group_matmul, or group_offset_matmul where groups have offsets, bit for bit
Layouts    x [..., depth], weights in blocks of halves of bytes (nibble_blocks.py), output [..., columns]
Needs      an instruction that multiplies four unsigned by four signed bytes a lane (VNNI); groups of whole blocks
Sums       of the low halves, and of the high ones in place, 16 times as large: a mask is all that unpacks either.
           What the + 8 adds is 8 times the sum of the group's x, with whose negative the low sums begin; an eighth of
           it, an exact float, times the offset is what the offset adds
Loops      parallel chunks of panels; rows, ROWS at a time; groups; blocks
Bytes      of one row bound by reading the weights once: 21 instructions for 320 bytes of groups of 32
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.conv.nibble_blocks import BLOCK, OFFSET, PANEL, pack_blocks, pack_scales, recipe_of
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    Shape,
    bind,
    const,
    fence,
    load,
    prefetch,
    spread,
    store_first,
    vector_type,
    widen_index,
    workspace,
)
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque, over_rows
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.work import KernelWork

AHEAD = 4096  # bytes that are asked for ahead of those that are multiplied; 1024: 1.1 times as long
GRAIN = 80_000  # bytes of weights that take about 3 us, while threads that have just worked wait for more


@dataclass(frozen=True)
class GroupProduct:
    """Static description.

    leading        axes of x but the last; names are sizes that only a run tells
    depth, columns  of the weight
    size           of a group along the depth
    has_offsets    groups of the weight have an offset each
    group_scales   groups of a row of x have a scale each, not the row alone
    """

    leading: Shape
    depth: int
    columns: int
    size: int
    has_offsets: bool = False
    group_scales: bool = False

    @property
    def groups(self) -> int:
        """Groups along the depth."""
        return self.depth // self.size


def choose_group_matmul(
    product: GroupProduct, weight: np.ndarray, scale: np.ndarray, offset: np.ndarray | None, isa: Isa
) -> Kernel | None:
    """The kernel; None for weights of more than 4 bits, groups of no whole blocks, and CPUs without the instruction."""
    ins = instructions(isa)
    fits = weight.size > 0 and weight.min() >= -OFFSET and weight.max() < OFFSET and product.size % BLOCK == 0
    if not fits or (ins.taps, ins.x_dtype, ins.w_dtype) != (4, "uint8", "int8"):
        return None
    return group_matmul(product, weight, scale, offset, ins)


def group_matmul(
    product: GroupProduct, weight: np.ndarray, scale: np.ndarray, offset: np.ndarray | None, ins: Instructions
) -> Kernel:
    """Kernel x, x_scale, constants, y; offset: of a product that has some."""
    constants = [pack_blocks(weight, ins.lanes), pack_scales(scale, ins.lanes)]
    constants += [] if offset is None else [pack_scales(offset, ins.lanes)]
    known = math.prod(size for size in product.leading if isinstance(size, int))  # one of each dynamic size
    macs = known * product.depth * product.columns
    work = KernelWork("conv2d", 0.0, macs, True, lambda *_: macs / (ins.lanes * ins.taps))
    packed_from = weight, recipe_of(weight, ins.lanes)
    return _GroupMatmulTemplate(product, ins).kernel(constants, work, packed_from=packed_from)


class _GroupMatmulTemplate(Template):
    """Product of all groups; see the head of this file."""

    def __init__(self, product: GroupProduct, ins: Instructions) -> None:
        self.product, self.ins = product, ins
        leading, self.depth, self.columns = product.leading, product.depth, product.columns
        self.leading, self.size, self.groups = leading, product.size, product.groups
        self.width = PANEL * ins.lanes
        self.panels = -(-self.columns // self.width)
        one = all(isinstance(size, int) for size in leading) and math.prod(map(int, leading)) == 1
        self.rows = 1 if one or ins.registers < 32 else 2
        self.name = f"group{'_offset' * product.has_offsets}_matmul_{ins.name}_{self.rows}x{PANEL}"
        self.key = ("group_matmul", product, ins.name)

    def parameters(self) -> Parameters:
        of_groups: Parameters = {"scale": ((self.panels * self.groups * self.width,), "float32")}
        if self.product.has_offsets:
            of_groups |= {"offset": of_groups["scale"]}
        return {
            "x": ((*self.leading, self.depth), "int8"),
            "x_scale": ((*self.leading, self.groups if self.product.group_scales else 1), "float32"),
            "weight": ((self.panels * self.width * self.depth // 2,), "uint8"),
            **of_groups,
            "y": ((*self.leading, self.columns), "float32"),
        }

    def body(self, function: FunctionBuilder) -> None:
        self.x, self.x_scale, self.weight, self.scale = list(self.buffers.values())[:4]
        self.y = self.buffers["y"]
        count = function.count(self.leading)
        self.begin = self._begin(count)
        whole = self.columns // self.width
        cost = self.depth * self.width // 2

        def start() -> Callable[[Expr], None]:
            return lambda panel: self._panel(make_opaque(panel), count, self.width)

        over_rows(whole, cost, GRAIN, start)
        if self.columns % self.width:
            self._panel(make_opaque(const(whole)), count, self.columns % self.width)

    def _begin(self, count: Expr) -> Buffer:
        """int32 [rows, groups] that the low sums begin with."""
        begin = workspace(count * self.groups, "int32")
        with T.serial(0, count * self.groups) as index:
            at, total = make_opaque(index), Register("int32", 1)
            total.set(const(0))
            with T.serial(0, self.size) as k:
                total.set(total.get() + T.Cast("int32", load(self.x, at * self.size + k, "int8")))
            T.buffer_store(begin, total.get() * -OFFSET, [at])
        return begin

    def _panel(self, panel: Expr, count: Expr, valid: int) -> None:
        """All rows of so many columns."""

        def at(row: Expr, rows: int) -> None:
            self._tile(panel, make_opaque(row), rows, valid)

        if isinstance(count, int):
            with T.serial(0, count // self.rows) as tile:
                at(tile * self.rows, self.rows)
            if count % self.rows:
                at(const(count - 1), 1)
            return
        with T.serial(0, T.floordiv(count, self.rows)) as tile:
            at(tile * self.rows, self.rows)
        if self.rows > 1:
            with T.If(T.floormod(count, self.rows) > 0), T.Then():
                at(count - 1, 1)

    def _tile(self, panel: Expr, row: Expr, rows: int, valid: int) -> None:
        lanes = self.ins.lanes
        real = vector_type("float32", lanes)
        totals = [[Register("float32", lanes) for _ in range(PANEL)] for _ in range(rows)]
        low, high = ([[Register("int32", lanes) for _ in range(PANEL)] for _ in range(rows)] for _ in range(2))
        for total in sum(totals, []):
            total.set(spread(0.0, lanes, "float32"))
        vector = 4 * lanes
        blocks = self.size // BLOCK
        weights = make_opaque(panel * (self.depth // BLOCK * PANEL * vector))
        scales = make_opaque(panel * (self.groups * self.width))
        with T.serial(0, self.groups) as index:
            group = make_opaque(index)
            for r in range(rows):
                first = bind(spread(self.begin[(row + r) * self.groups + group], lanes))
                for v in range(PANEL):
                    low[r][v].set(first)
                    high[r][v].set(spread(0, lanes))
            base = widen_index(weights + group * (blocks * PANEL * vector))
            places = [widen_index((row + r) * self.depth + group * self.size) for r in range(rows)]
            with T.serial(0, blocks) as block:
                at = base + T.Cast("int64", block * (PANEL * vector))
                self._block(at, [place + T.Cast("int64", block * BLOCK) for place in places], low, high)
            places = [(row + r) * self.groups + group for r in range(rows)]
            factors = [self._factor(place) for place in places] if self.product.group_scales else []
            wholes = [self._sum_of_codes(place) for place in places] if self.product.has_offsets else []
            for v in range(PANEL):
                at = scales + (group * PANEL + v) * lanes
                scale = load(self.scale, at, real)
                offset = load(self.buffers["offset"], at, real) if wholes else None
                for r in range(rows):
                    both = bind(low[r][v].get() + T.shift_right(high[r][v].get(), spread(4, lanes)))
                    value = bind(fence(T.Cast(real, both) * scale))
                    if wholes:
                        value = bind(fence(value + bind(fence(wholes[r] * offset))))
                    if factors:
                        value = bind(fence(value * factors[r]))
                    totals[r][v].set(totals[r][v].get() + value)
        for r in range(rows):
            factor = None if self.product.group_scales else self._factor(row + r)
            for v in range(PANEL):
                here = min(lanes, valid - v * lanes)
                if here > 0:
                    value = totals[r][v].get()
                    value = value if factor is None else bind(fence(value * factor))
                    place = bind((row + r) * self.columns + panel * self.width + v * lanes)
                    store_first(self.y, place, value, lanes, here)

    def _factor(self, place: Expr) -> Expr:
        """Scale of a row, or of its group, in all lanes."""
        return bind(spread(self.x_scale[place], self.ins.lanes))

    def _sum_of_codes(self, place: Expr) -> Expr:
        """Sum of a group's x in all lanes, a float: what the low sums begin with, without its factor."""
        total = T.Cast("float32", self.begin[place]) * const(-1.0 / OFFSET, "float32")
        return bind(spread(bind(total), self.ins.lanes))

    def _block(self, at: Expr, places: list[Expr], low: list[list[Register]], high: list[list[Register]]) -> None:
        ins, lanes = self.ins, self.ins.lanes
        vector = 4 * lanes
        x = [[self._four(place + 4 * half) for half in range(2)] for place in places]
        for v in range(PANEL):
            prefetch(self.weight, at + (AHEAD + v * vector)) if v * vector % 64 == 0 else None
            codes = load(self.weight, at + v * vector, f"uint8x{vector}")
            halves = [bind(T.bitwise_and(codes, spread(mask, vector, "uint8"))) for mask in (0x0F, 0xF0)]
            for r in range(len(places)):
                for sums, half, operand in ((low, halves[0], x[r][0]), (high, halves[1], x[r][1])):
                    sums[r][v].set(ins.dot(sums[r][v].get(), half, operand))

    def _four(self, place: Expr) -> Expr:
        """Four neighbours of x in all lanes."""
        number = T.reinterpret("int32", self.x.vload([place], "int8x4"))
        return bind(T.reinterpret(f"int8x{4 * self.ins.lanes}", spread(number, self.ins.lanes)))
