"""Plan of a depthwise kernel: taps dealt to dots, channels dealt to blocks of vectors, and the rows that it reads.

A dot adds `taps` products to each lane (4 on VNNI, 2 for int16 pairs, 1 in plain TIR). The taps of a lane
are neighbouring columns of the picture, interleaved by a copy: a "group" holds `taps` columns of a block of
channels. A "step" is the period of the pattern along a row: it owns some groups and gives some output pixels,
whose dots read its own groups and those of the steps behind it. A kernel row of 3 taps with 4 products a dot:

    column of the picture    0 1 2 3 4 5
    group of step 0          x x x x          one every 2 columns, and so is a step: it gives 2 output pixels
    group of step 1              x x x x
    dot of output pixel 0    0 1 2 -          taps in the slots of a group, `-` has weight 0: slots (0, 1, 2, NO_TAP)
    dot of output pixel 1    - 0 1 2          the same copied group, other weights: slots (NO_TAP, 0, 1, 2)

Tests: tests/codegen/kernels/depthwise/test_depthwise.py
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.depthwise.weights import order_weights
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import Expr, limit, quotient
from tvmq.codegen.kernels.parts.kernel_types import Conv2d
from tvmq.codegen.kernels.parts.loops import make_opaque

NO_TAP = -1
MANY_BLOCKS = 4
BLOCK_BYTES = 16  # of a 128-bit block, inside which bytes are interleaved
MOST_BANDS = 12  # divides evenly among 1, 2, 3, 4 and 6 threads
SERIAL_MACS = 1_500_000  # about 20 us of one core: below, a parallel region costs more than it gains
OUTSIDE_SHARE = 0.03  # of kernel rows; below, a loop of known length gains as much as leaving them out


@dataclass(frozen=True)
class Use:
    """A dot: group `group` of the step `ahead` steps further; slots: tap of each column or NO_TAP."""

    ahead: int
    group: int
    slots: tuple[int, ...]


@dataclass(frozen=True)
class ColumnPlan:
    """The pattern along a row.

    stride   columns of the padded input from one step to the next
    groups   for each group of a step, the columns of its slots, counted from the step's first column
    uses     for each output pixel of a step, its dots for one kernel row
    """

    stride: int
    groups: tuple[tuple[int, ...], ...]
    uses: tuple[tuple[Use, ...], ...]

    @property
    def outputs(self) -> int:
        """Output pixels of a step."""
        return len(self.uses)

    @property
    def ahead(self) -> int:
        """Steps further than its own that a step reads."""
        return max(use.ahead for output in self.uses for use in output)

    @property
    def variants(self) -> tuple[tuple[int, ...], ...]:
        """The different `slots`: each needs its own vectors of weights."""
        return tuple(sorted({use.slots for output in self.uses for use in output}))

    @property
    def columns(self) -> tuple[int, int]:
        """Lowest and highest column offset of any slot."""
        offsets = [column for group in self.groups for column in group]
        return min(offsets), max(offsets)


def plan_columns(kernel: int, stride: int, dilation: int, taps: int, rows: int) -> ColumnPlan:
    """The cheapest pattern for kernel rows of `kernel` taps; rows: kernel rows that read a copied row.

    >>> plan_columns(3, 1, 1, 4, 3).uses
    ((Use(ahead=0, group=0, slots=(0, 1, 2, -1)),), (Use(ahead=0, group=0, slots=(-1, 0, 1, 2)),))
    """
    if dilation > 1:
        return _dilated_plan(kernel, stride, dilation, taps)
    spacings = [taps >> shift for shift in range(taps.bit_length())]
    plans = [_dense(kernel, stride, taps, spacing) for spacing in spacings]
    return min(plans, key=lambda plan: _cost(plan, rows, stride))


COPY_COST = 4.0  # copying a group, in dots of the same channels (8 shuffles, loads and stores of 4 vectors)
READ_COST = 0.5  # loading a group for its dots


def _cost(plan: ColumnPlan, rows: int, stride: int) -> float:
    """Instructions for one output pixel; an output row needs `stride` new rows (taken as that of columns)."""
    # A kernel of 3 x 3 with 4 taps a dot and stride 1, where three kernel rows read each copied row:
    #
    #     spacing 4   |0 1 2 3|4 5 6 7|       a step copies 1 group, gives 4 pixels; two of them straddle two groups:
    #                  . . . .                6 dots, 2 groups read       (3 (6 + 2/2) + 4) / 4 = 6.25
    #     spacing 2   |0 1 2 3|               1 group, 2 pixels, each within the group: columns 2, 3 are copied twice
    #                     |2 3 4 5|           2 dots, 1 group read        (3 (2 + 1/2) + 4) / 2 = 5.75, the least
    #     spacing 1   |0 1 2 3|               1 group for each pixel
    #                   |1 2 3 4|             1 dot, 1 group read         (3 (1 + 1/2) + 4) / 1 = 8.5
    #
    # Copies are shared by the kernel rows, dots are not. 5 x 5 takes spacing 4 (12.25), 7 x 7 spacing 2 again (19.5).
    dots = sum(len(output) for output in plan.uses)
    reads = len({(use.ahead, use.group) for output in plan.uses for use in output})
    new_rows = min(rows, stride)
    return (rows * (dots + READ_COST * reads) + new_rows * COPY_COST * len(plan.groups)) / plan.outputs


def _dense(kernel: int, stride: int, taps: int, spacing: int) -> ColumnPlan:
    """Groups of `taps` neighbouring columns, one every `spacing` columns."""
    # The pattern repeats where a group and an output pixel begin at the same column again
    period = lcm(spacing, stride)
    groups = tuple(tuple(range(first, first + taps)) for first in range(0, period, spacing))
    uses = []
    for origin in range(0, period, stride):
        output, column = [], origin
        while column < origin + kernel:
            # The last group that begins at this tap or before it reaches furthest to the right; its slots in front of
            # the tap, which belong to earlier dots or to no tap of this pixel, get weight 0
            first = column // spacing * spacing
            end = min(first + taps, origin + kernel)
            slots = tuple(c - origin if column <= c < end else NO_TAP for c in range(first, first + taps))
            output.append(Use(first // period, first % period // spacing, slots))
            column = end
        uses.append(tuple(output))
    return ColumnPlan(period, groups, tuple(uses))


def _dilated_plan(kernel: int, stride: int, dilation: int, taps: int) -> ColumnPlan:
    """Every output pixel has its own groups; slots without a tap repeat the last column."""
    groups: list[tuple[int, ...]] = []
    uses: list[Use] = []
    for first in range(0, kernel, taps):
        slots = tuple(tap if tap < kernel else NO_TAP for tap in range(first, first + taps))
        groups.append(tuple(min(tap, kernel - 1) * dilation for tap in range(first, first + taps)))
        uses.append(Use(0, len(uses), slots))
    return ColumnPlan(stride, tuple(groups), (tuple(uses),))


@dataclass(frozen=True)
class Blocks:
    """`count` blocks of `vectors` vectors of channels each.

    first   channel of the first block; the last block ends at channel `end` and may overlap the one before
    slot    first of their places in packed constants of channels
    """

    vectors: int
    count: int
    first: int
    end: int
    slot: int
    lanes: int

    @property
    def size(self) -> int:
        """Channels of a block."""
        return self.vectors * self.lanes

    def starts(self) -> list[int]:
        """First channel of each block."""
        return [min(self.first + index * self.size, self.end - self.size) for index in range(self.count)]


def plan_blocks(channels: int, lanes: int) -> list[Blocks]:
    """All channels, which are at least `lanes`, in blocks of 4, 2 or 1 vectors.

    >>> [(blocks.vectors, blocks.starts()) for blocks in plan_blocks(150, 16)]
    [(4, [0, 64]), (2, [118])]
    """
    plan: list[Blocks] = []
    first = slot = 0
    for vectors in (4, 2, 1):
        size = vectors * lanes
        rest = channels - first
        count, left = divmod(rest, size)
        # Few channels computed twice cost less than a narrower block. Each kind of block is also more code to
        # compile, which the rest behind many blocks is not worth.
        if left > size // 2 or (left and (vectors == 1 or count >= MANY_BLOCKS)):
            count, left = count + 1, 0
        if count == 0 or size > channels:
            continue
        plan.append(Blocks(vectors, count, first, channels - left, slot, lanes))
        first, slot = channels - left, slot + count * size
        if not left:
            break
    return plan


def quarter_order(vectors: int) -> tuple[int, ...]:
    """Order in memory of the four vectors that interleaving gives."""
    return (0, 2, 1, 3) if vectors == 2 else (0, 1, 2, 3)


def stored_channels(ins: Instructions, vectors: int) -> np.ndarray:
    """Channel of a block that stands at [vector, lane] of a copied group.

    Codes of 16 bits are interleaved lane by lane and stay in order. Of bytes
    quarter i holds, for each 128-bit block h, channels 16 h + 4 i and the next three.
    """
    # Four vectors of 16 int32 lanes (AVX512-VNNI), channels 0..63. Interleaving bytes inside of 128-bit blocks puts the
    # taps of a channel side by side, but leaves each block where it is:
    #
    #     block           h = 0         h = 1         h = 2         h = 3
    #     quarter 0        0  1  2  3   16 17 18 19   32 33 34 35   48 49 50 51      lanes of vector 0
    #     quarter 1        4  5  6  7   20 21 22 23   36 37 38 39   52 53 54 55      lanes of vector 1, and so on
    #
    # No lane is moved back: weights, biases and multipliers are packed in this order, and narrowing int32 to bytes
    # (X86.channel_order) undoes it.
    channels = vectors * ins.lanes
    order = np.arange(channels)
    if ins.taps > 1 and not ins.takes_int16:
        blocks = np.arange(0, max(channels, BLOCK_BYTES), BLOCK_BYTES)
        quarters = np.array(quarter_order(vectors))[:, None, None]
        order = (blocks[:, None] + 4 * quarters + np.arange(4)).ravel()
    return order[order < channels].reshape(vectors, ins.lanes)


def divide(value: Expr, divisor: Expr) -> Expr:
    """Quotient of numbers that are not negative, rounded down: TVM writes the operands of a floor several times."""
    return T.floordiv(value, divisor) if isinstance(divisor, int) else tirx.truncdiv(value, divisor)


def divide_up(value: Expr, divisor: Expr) -> Expr:
    """Quotient rounded up: an int of ints, else a variable."""
    if isinstance(value, int) and isinstance(divisor, int):
        return -(-value // divisor)
    return make_opaque(tirx.truncdiv(value + (divisor - 1), divisor))


@dataclass(frozen=True)
class Extents:
    """Sizes that the loops count to: ints, or expressions of what a run brings.

    steps   of an output row; the last may give fewer pixels
    bands   parallel parts of a picture; each copies the rows again that it shares with the one before
    """

    batch: Expr
    height: Expr
    width: Expr
    out_height: Expr
    out_width: Expr
    steps: Expr
    bands: Expr


@dataclass(frozen=True)
class DepthwiseShape:
    """Layout and loops that follow from a Conv2d and an instruction set."""

    conv: Conv2d
    ins: Any
    x_zero: int

    @cached_property
    def columns(self) -> ColumnPlan:
        """Plan that deals taps to dots."""
        conv = self.conv
        return plan_columns(conv.kernel[1], conv.strides[1], conv.dilation[1], self.ins.taps, conv.kernel[0])

    @cached_property
    def blocks(self) -> list[Blocks]:
        """Blocks of channels, dealt to vectors."""
        return plan_blocks(self.conv.channels, self.ins.lanes)

    @property
    def slots(self) -> np.ndarray:
        """Channel of each place in packed constants."""
        # 150 channels in vectors of 16: blocks begin at 0, 64 and 118, the last one moved back so that it is full.
        #     places     0 .. 63     64 .. 127     128 .. 159
        #     channels   0 .. 63     64 .. 127     118 .. 149      118 .. 127 are computed twice, equally
        orders = [(blocks, stored_channels(self.ins, blocks.vectors).ravel()) for blocks in self.blocks]
        return np.concatenate([start + order for blocks, order in orders for start in blocks.starts()])

    @property
    def places(self) -> int:
        """Channels as packed."""
        return sum(blocks.count * blocks.size for blocks in self.blocks)

    @property
    def span(self) -> int:
        """Input rows from the first to the last that an output row reads."""
        return (self.conv.kernel[0] - 1) * self.conv.dilation[0] + 1

    @property
    def picture_size(self) -> int:
        """Elements of a picture of the input."""
        return self.conv.height * self.conv.width * self.conv.channels

    @property
    def rows_of_band(self) -> int:
        """Output rows that a band has at least: four for each input row that it copies again."""
        return 4 * max(self.span - self.conv.strides[0], 1)

    @cached_property
    def extents(self) -> Extents:
        """Sizes that the loops count to."""
        conv, bands = self.conv, 1
        macs = conv.kernel[0] * conv.kernel[1] * int(np.prod(conv.out_shape))
        if macs >= SERIAL_MACS and conv.batch < MOST_BANDS:
            bands = max(1, min(MOST_BANDS // conv.batch, conv.out_height // self.rows_of_band))
        steps = -(-conv.out_width // self.columns.outputs)
        return Extents(conv.batch, conv.height, conv.width, conv.out_height, conv.out_width, steps, bands)

    def steps_together(self, most: int) -> int:
        """Steps in a tile; the last tile of a row is shifted back and may compute pixels again."""
        steps = self.extents.steps
        # several steps share the weights they load: about a sixth less time
        return min(range(1, min(most, steps) + 1), key=lambda n: -(-steps // n) * n * (1.2 if n == 1 else 1.0))

    def rows_inside(self, row: Expr) -> tuple[Expr, Expr]:
        """Kernel rows above the picture, and inside of it, at an output row; those of no padding are all inside."""
        conv = self.conv
        (kernel, dilation), first = (conv.kernel[0], conv.dilation[0]), row * conv.strides[0] - conv.padding[0]
        above = limit(quotient(dilation - 1 - first, dilation), kernel)
        not_below = limit(quotient(conv.height - first + dilation - 1, dilation), kernel)
        return above, limit(not_below - above, kernel)

    @cached_property
    def outside(self) -> tuple[int, int] | None:
        """Most kernel rows above and below the picture, if output rows leave them out; None if so few are there."""
        kernel, rows = self.conv.kernel[0], [self.rows_inside(row) for row in range(self.conv.out_height)]
        left_out = sum(kernel - inside for _, inside in rows)
        if left_out < OUTSIDE_SHARE * kernel * len(rows):
            return None
        return max(above for above, _ in rows), max(kernel - above - inside for above, inside in rows)

    @property
    def fill(self) -> int:
        """Code that padding holds as dots see it: shifted, where they take the other signedness."""
        return int(self.x_zero + self.ins.shift_of(self.conv.x_dtype))

    @property
    def biases(self) -> list[tuple[int, int]]:
        """(above, below) of each bias: rows that are left out have their share of the sum in it."""
        above, below = self.outside if self.outside and self.fill else (0, 0)
        return [(top, bottom) for top in range(above + 1) for bottom in range(below + 1)]

    @property
    def vector(self) -> int:
        """Elements of a vector that dots take."""
        return int(self.ins.lanes * self.ins.taps)

    @property
    def row_weights(self) -> int:
        """Weights of a kernel row, for each place."""
        return len(self.columns.variants) * int(self.ins.taps)


@dataclass(frozen=True)
class DepthwisePacking:
    """Packing of the weights of a kernel: enough to pack them again, where a file holds them plain."""

    shape: DepthwiseShape

    def recipe(self) -> dict[str, Any]:
        """See weights.py."""
        shape, kernel = self.shape, self.shape.conv.kernel
        variants = [[tap if tap != NO_TAP else kernel[1] for tap in slots] for slots in shape.columns.variants]
        orders = [stored_channels(shape.ins, blocks.vectors).ravel().tolist() for blocks in shape.blocks]
        return {
            "shape": [shape.conv.channels, 1, *map(int, kernel)], "dtype": str(shape.ins.w_dtype), "variants": variants,
            "blocks": [[order, blocks.starts()] for order, blocks in zip(orders, shape.blocks, strict=True)],
        }  # fmt: skip

    def weights(self, weight: np.ndarray) -> np.ndarray:
        """The weights as the kernel reads them."""
        recipe = self.recipe()
        return order_weights(weight, recipe["variants"], recipe["blocks"], recipe["dtype"])


def pack_biases(shape: DepthwiseShape, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """int32 [channels] -> [bias of `Shape.biases`][place], flat; may wrap, as sums modulo 2^32 do."""
    rows = weight.astype(np.int64).sum(axis=(1, 3))  # [channels, kernel rows]
    kernel = rows.shape[1]
    left_out = [rows[:, :above].sum(axis=1) + rows[:, kernel - below :].sum(axis=1) for above, below in shape.biases]
    shifted = [(bias + shape.fill * total).astype(np.int32)[shape.slots] for total in left_out]
    return np.concatenate(shifted)
