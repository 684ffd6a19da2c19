"""conv2d and matmul of bytes in int16 lanes: for x86 CPUs without VNNI, where the weights prove that it is exact.

Computes   what conv2d computes, bit for bit; the proof and what each instruction costs are in int16_accumulation
Layouts    as conv2d; weights [panel][entry][lane][tap], an entry is a group of four activations as bytes, or a pair as
           int16: a vector either way
Needs      vpmaddubsw; `sums_fit_int16` for every fold of every panel
Loops      those of implicit_gemm, but a tile walks the panel's table of entries: four groups at a time (fold4), two
           (fold2), single (fold1), then two pairs at a time, which are read from a copy of the input in 16 bits
Registers  rows sums, ones, four weights, an activation and two products; a panel is one vector of channels, as each
           more makes it less likely that a group holds for all
Fallback   conv2d, int16 products of pairs, always exact
Measured   benchmarks/kernels.py

Tests: tests/codegen/kernels/conv/test_int16_accumulation.py
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq import numerics
from tvmq.codegen.kernels.conv.conv2d import Integers, bias_for, check_operands
from tvmq.codegen.kernels.conv.implicit_gemm import Staged, TilesLoop
from tvmq.codegen.kernels.conv.int16_accumulation import TAPS, LanePlan, plan_panels
from tvmq.codegen.kernels.conv.shape import ConvShape, ConvTile, convolution_work
from tvmq.codegen.kernels.conv.staging import Stager
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.x86 import LaneInstructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    Register,
    Shape,
    bind,
    flatten_buffer,
    limit,
    load,
    prefetch,
    vector_type,
    widen_index,
)
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan, plan_epilogue
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Epilogue, Isa, Kernel
from tvmq.codegen.kernels.parts.packing import PanelRun, channel_slots, nibbles_for, pack_channels
from tvmq.codegen.kernels.parts.tiling import Tiling, cut_tiles
from tvmq.codegen.kernels.parts.weight_order import weight_lines

# Beyond this share of the instructions of int16 products a gain is not sure (measured: 0.90 runs 1.02 times as fast,
# 0.85 1.12 times, 0.69 1.34 to 1.41 times).
WORTH = 0.88
# Of a tile: with 9 LLVM runs out of registers (measured on Emerald Rapids, as all of these).
ROWS = 8
TURNS = 4  # panels that a tile is multiplied with in turn: 3 to 10 % less time than one
SLOWER = 1.06  # an instruction here, on average, than there
ROW_BITS = 20  # below the kernel row, in an entry of dynamic sizes
PROBED = 8  # panels that tell whether it is worth planning all
# numbers of a panel in the table: first weight, first entry of fold4, of fold2, of fold1, first pair of int16, end
BOUNDS = 6


def lane_kernel(
    template: str,
    conv: Conv2d,
    weight: np.ndarray,
    bias: np.ndarray,
    x_zero: int,
    epilogue: Epilogue,
    isa: Isa,
    codes: tuple[int, int] | None = None,
    buffers: tuple[Shape, Shape] | None = None,
    forms: tuple[type[Lanes], type[ConvShape]] | None = None,
) -> tuple[Kernel | None, str]:
    """The kernel, or None where int16 products are as fast; and in words what was proved, or what was missing.

    codes    lowest and highest code of x; None: all of the type
    forms    loops and shape of dynamic sizes
    others   as conv2d and conv2d.make_kernel
    """
    ins = instructions(isa).lane_form
    if ins is None or conv.x_dtype == "int16" or nibbles_for(weight, ins) is not None:
        return None, ""
    check_operands(template, conv, weight, bias)
    shape = (forms[1] if forms else ConvShape)(conv, ins, x_zero)
    if forms and conv.kernel[1] * conv.dilation[1] * conv.channels >= 1 << ROW_BITS:
        return None, ""
    highest = largest_activation(conv, x_zero, codes)
    probe = plan_lanes(shape, weight, epilogue, highest, most=PROBED)
    if probe.cost > WORTH:
        return None, f"int16 products; in int16 lanes {probe.shortfall}; weights or activations of 7 bits would hold"
    kernel, plan = make_lane_kernel(
        template, shape, weight, bias, epilogue, highest, buffers, loops=forms[0] if forms else None
    )
    return kernel, plan.note


def lane_gain(conv: Conv2d, weight: np.ndarray, x_zero: int, isa: Isa, codes: tuple[int, int] | None = None) -> float:
    """Estimated speed of the kernel in multiples of conv2d's, by its instructions; 1 where there is none."""
    ins = instructions(isa).lane_form
    if ins is None or conv.x_dtype == "int16" or nibbles_for(weight, ins) is not None:
        return 1.0
    plan = plan_lanes(ConvShape(conv, ins, x_zero), weight, (), largest_activation(conv, x_zero, codes), most=PROBED)
    return 1 / (SLOWER * max(plan.cost, 0.1)) if plan.cost <= WORTH else 1.0


def largest_activation(conv: Conv2d, x_zero: int, codes: tuple[int, int] | None) -> int:
    """Largest activation as `dot` takes it: uint8 code, or int8 code + 128; padding counts.

    >>> largest_activation(Conv2d(1, 1, 1, 4, 4, x_dtype="int8"), 0, (-64, 63))
    191
    """
    low, high = codes or conv.code_limits
    high = max(high, x_zero) if any(conv.padding) else high
    return max(1, high + 128 if conv.x_dtype == "int8" else high)


def plan_lanes(
    shape: ConvShape, weight: np.ndarray, epilogue: Epilogue, highest: int, most: int | None = None
) -> LanePlan:
    """Folding of every panel.

    highest  largest activation as `dot` takes it
    most     plan so many panels alone, for an estimate
    """
    slots = slots_of(shape, epilogue)
    lines = weight_lines(weight, shape.conv.groups, shape.run, slots, 1, shape.ins.w_dtype)
    # [group, vector, lane, element, 1] -> [panel, run, element of it, channel]
    lines = lines.reshape(-1, shape.ins.lanes, lines.shape[3])[:most].transpose(0, 2, 1)
    panels = plan_panels(lines.reshape(len(lines), -1, shape.run, shape.ins.lanes), highest)
    return LanePlan(panels, lines.shape[1])


def slots_of(shape: ConvShape, epilogue: Epilogue) -> np.ndarray:
    """Channel that stands in each slot."""
    permuted = plan_epilogue(epilogue).requantizer is not None
    return channel_slots(((1, shape.vectors),), shape.ins, permuted=permuted)


def element_offsets(shape: ConvShape, down: int) -> np.ndarray:
    """Offset of each element of a window from the start of the window; down: from a kernel row to the next."""
    conv = shape.conv
    rows = np.arange(conv.kernel[0]) * down
    runs = np.arange(shape.runs_per_row) * conv.dilation[1] * conv.channels
    return (rows[:, None, None] + runs[:, None] + np.arange(shape.run)).reshape(-1)


def make_lane_kernel(
    template: str,
    shape: ConvShape,
    weight: np.ndarray,
    bias: np.ndarray,
    epilogue: Epilogue,
    highest: int,
    buffers: tuple[Shape, Shape] | None = None,
    rows: int | None = None,
    loops: type[Lanes] | None = None,
) -> tuple[Kernel, LanePlan]:
    """Kernel and its plan; arguments as conv2d.make_kernel.

    highest  largest activation as `dot` takes it: code, or code + 128 of int8 codes
    rows     of a tile, instead of those that are usually best
    loops    of dynamic sizes: offsets of taps are then in two parts, kernel rows above ROW_BITS
    """
    conv = shape.conv
    low, high = conv.code_limits
    plan = plan_epilogue(epilogue, int(numerics.accumulator_bound(weight, low, high, bias).max(initial=0)))
    slots = slots_of(shape, epilogue)
    lanes = plan_lanes(shape, weight, epilogue, highest)
    shape = replace(shape, has_int16_copy=lanes.int16_share > 0)
    tiling = cut_tiles(shape.product, rows or min(ROWS, shape.product.pixels), 1)

    def pack(values: np.ndarray) -> np.ndarray:
        return pack_channels(np.broadcast_to(np.ravel(values), conv.filters), conv.groups, slots)

    down = 1 << ROW_BITS if loops else conv.dilation[0] * shape.row_pitch
    bounds, entries, packed = pack_plan(lanes, element_offsets(shape, down), shape.ins.lanes)
    constants = (packed, pack(bias_for(shape, weight, bias)), bounds, entries, *plan.constants(pack))
    name = f"{template}_{shape.ins.name}_{tiling.rows}x{tiling.columns}"
    sizes = len(packed), len(entries), max(len(panel.groups) + len(panel.int16_pairs) for panel in lanes.panels)
    as_int16 = ConvShape(conv, cast(LaneInstructions, shape.ins).int16_form, shape.x_zero)
    work = convolution_work(template, as_int16, plan.steps, share=SLOWER * lanes.cost)
    return (loops or Lanes)(name, shape, tiling, plan, buffers, sizes).kernel(constants, work, note=lanes.note), lanes


def pack_plan(lanes: LanePlan, offsets: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Table of panels, offsets of all entries, weights of all entries; never empty.

    offsets  of `element_offsets`
    width    channels of a vector
    """
    bounds: list[tuple[int, ...]] = []
    entries, weights, first = [], [], 0
    for panel in lanes.panels:
        twos, pairs = first + 4 * panel.fours, first + len(panel.groups)
        row = (first * width * TAPS, first, twos, pairs - panel.alone, pairs, pairs + len(panel.int16_pairs))
        bounds.append(row)
        first = bounds[-1][-1]
        entries += [offsets[panel.groups], offsets[panel.int16_pairs]]
        weights.append(panel.weight.transpose(0, 2, 1).reshape(-1))
        weights.append(panel.int16_weight.transpose(0, 2, 1).astype("<i2").reshape(-1).view(np.int8))
    bounds.append((first * width * TAPS, *[first] * (BOUNDS - 1)))
    return (
        np.array(bounds, np.int32).reshape(-1),
        np.concatenate([*entries, [0]]).astype(np.int32),
        np.concatenate([*weights, np.zeros(64, np.int8)]),
    )


class Lanes(Integers):
    """The PrimFunc; see the head of this file.

    sizes  bytes of weights, number of entries, most entries of a panel
    """

    ins: LaneInstructions

    def __init__(
        self,
        name: str,
        shape: ConvShape,
        tiling: Tiling,
        plan: EpiloguePlan,
        buffer_shapes: tuple[Shape, Shape] | None,
        sizes: tuple[int, int, int],
    ) -> None:
        super().__init__(name, shape, tiling, plan, buffer_shapes, None)
        self.sizes, self.key = sizes, (*self.key, sizes)

    def table_parameters(self) -> dict[str, tuple[Shape, str]]:
        """The table of panels and their entries."""
        count = self.conv.groups * self.tiling.panels + 1
        return {"panels": ((count * BOUNDS,), "int32"), "entries": ((self.sizes[1],), "int32")}

    def weight_shape(self) -> tuple[tuple[int], str]:
        """Shape and type of the packed weights."""
        return (self.sizes[0],), "int8"

    def _stage(self, begin: Expr, end: Expr, ranges: list[tuple[int, int]]) -> Staged:
        """See ConvLoops; beside: the codes of 16 bits."""
        shape, source = self.shape, (self.x, 0)
        if shape.is_staged:
            source = self._copy(Stager(self.ins, self.x, self.conv, shape.x_zero), begin, end, ranges)
        return *source, self._copy(self.widener, begin, end, ranges) if shape.has_int16_copy else None

    def _stage_dynamic(self, rows: int) -> tuple[Buffer, tuple[Buffer, Expr] | None]:
        source, _ = super()._stage_dynamic(rows)
        return source, (self._copy_dynamic(self.widener, rows), 0) if self.shape.has_int16_copy else None

    @property
    def widener(self) -> Stager:
        """Writes codes of 16 bits."""
        shift = self.ins.shift_of(self.conv.x_dtype)
        return Stager(self.ins, self.x, self.conv, self.shape.x_zero, dtype="int16", shift=shift)

    def _panels(
        self, run: PanelRun, panels: tuple[Expr, Expr], staged: Staged, group: Expr, over_tiles: TilesLoop
    ) -> None:
        """See ConvLoops; a tile is multiplied with some panels in turn, its activations in the first cache."""
        source, origin, beside = staged
        low, high = (bind(limit(panel - run.panel, run.count)) for panel in panels)
        with T.serial(0, T.floordiv(high - low + (TURNS - 1), TURNS)) as number:
            begin = bind(low + number * TURNS)
            end = bind(T.min(begin + TURNS, high))

            def tile(pixel: Expr, rows: int, index: Expr) -> None:
                with T.serial(begin, end) as panel:
                    vector = bind(panel + run.vector)
                    self._tile(ConvTile(source, origin, pixel, rows, index, group, vector, run, None, beside))

            over_tiles(tile)

    def offsets(self) -> Buffer:
        """Offsets of the entries from the start of a window."""
        return flatten_buffer(self.buffers["entries"])

    def windows(self, tile: ConvTile) -> list[Expr]:
        """Elements of the whole input at which the windows of a tile's pixels start."""
        return [self._window(tile.pixel + row, tile.group) for row in range(tile.rows)]

    def _tile(self, tile: ConvTile) -> None:
        """Sums of the rows, then codes."""
        table, self._entries = flatten_buffer(self.buffers["panels"]), self.offsets()
        sums = [row[0] for row in self._initial_sums(tile)]
        windows = self.windows(tile)
        panel = tile.panel.panel + (tile.vector - tile.panel.vector)
        row = bind((tile.group * self.tiling.panels + panel) * BOUNDS)
        weight, first, twos, alone, pairs, end = (load(table, row + i, "int32") for i in range(BOUNDS))
        following = self._next_panel_byte(tile, load(table, row + BOUNDS, "int32"))
        parts = [(first, twos, 4, self._fold), (twos, alone, 2, self._fold), (alone, pairs, 1, self._fold)]
        parts += [(pairs, end, 2, self._add_pairs)] if self.shape.has_int16_copy else []
        for begin, until, count, add in parts:
            source, origin = (tile.source, tile.origin) if add == self._fold or tile.beside is None else tile.beside
            starts = [widen_index(window - origin) for window in windows]
            # int64, or LLVM would keep an address of each of the vectors of a step
            entries, place = widen_index(begin), widen_index(weight + (begin - first) * self.vector)
            fetched = None if following is None else widen_index(following + (begin - first) * self.ins.vector_bytes)
            with T.serial(0, T.shift_right(until - begin, T.int32(count.bit_length() - 1))) as number:
                done = T.Cast("int64", number * count)
                # first, as LLVM would read all activations before a prefetch that follows them in the code
                for i in range(0 if fetched is None else count):
                    prefetch(self.weight, fetched + done * self.ins.vector_bytes + i * self.ins.vector_bytes)
                offsets = [widen_index(self._entries[entries + done + i]) for i in range(count)]
                weights = [
                    load(self.weight, place + done * self.vector + i * self.vector, f"int8x{self.vector}")
                    for i in range(count)
                ]
                add(sums, source, [[start + offset for offset in offsets] for start in starts], weights)
        self.store(tile, [[register] for register in sums])

    def _fold(self, sums: list[Register], source: Buffer, reads: list[list[Expr]], weights: list[Expr]) -> None:
        """Add the products of one, two or four groups to the sums of all rows, added in 16 bits before."""
        ins = self.ins
        ones = ins.ones()
        for register, places in zip(sums, reads, strict=True):
            products = [
                ins.multiply_bytes(ins.broadcast(source, place), weight)
                for place, weight in zip(places, weights, strict=True)
            ]
            register.set(ins.fold_products(register.get(), sum(products[1:], products[0]), ones))

    def _add_pairs(self, sums: list[Register], source: Buffer, reads: list[list[Expr]], weights: list[Expr]) -> None:
        """Add the products of pairs of int16."""
        ins = self.ins.int16_operands
        int16_weights = [bind(T.reinterpret(vector_type("int16", self.vector // 2), weight)) for weight in weights]
        for register, places in zip(sums, reads, strict=True):
            for place, weight in zip(places, int16_weights, strict=True):
                register.set(ins.dot_int16(register.get(), ins.broadcast(source, place), weight))

    def _next_panel_byte(self, tile: ConvTile, begin: Expr) -> Expr | None:
        """First byte of the next panel, of which the first tile fetches a line for each entry; None for one panel."""
        if self.tiling.panels * self.conv.groups == 1:
            return None
        return bind(T.min(begin, max(self.sizes[0] - self.sizes[2] * self.vector - 1, 0)))
