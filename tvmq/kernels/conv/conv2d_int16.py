"""conv2d and matmul of bytes in int16 lanes: for x86 CPUs without VNNI, where the weights prove that it is exact.

Computes   what conv2d computes, bit for bit; the proof and what each instruction costs are in lanes
Layouts    as conv2d; weights [panel][entry][vector][lane][tap], an entry is a group of four activations
Needs      vpmaddubsw; `lanes_hold` for every fold of every panel
Loops      those of conv_loops, but a tile walks the panel's table of entries: pairs (fold2), then single ones (fold1)
Registers  rows x columns sums, ones, two activations and a product; weights come from the nearest cache
Fallback   conv2d, int16 products of pairs, always exact
Measured   benchmarks/kernels.py
"""

from __future__ import annotations

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq import numerics
from tvmq.kernels.conv.conv2d import Integers, bias_for, check_operands
from tvmq.kernels.conv.implicit_gemm import ConvTile
from tvmq.kernels.conv.int16_accumulation import LanePlan, plan_panel
from tvmq.kernels.conv.shape import ConvShape, convolution_work
from tvmq.kernels.isa import instructions
from tvmq.kernels.isa.x86 import LaneInstructions
from tvmq.kernels.parts.builder import (
    Expr,
    Register,
    Shape,
    bind,
    flat,
    load,
    minimum,
    prefetch,
    vector_type,
    wide,
)
from tvmq.kernels.parts.epilogue import EpiloguePlan, plan_epilogue
from tvmq.kernels.parts.packing import channel_slots, nibbles_for, pack_channels
from tvmq.kernels.parts.tiling import Tiling, choose_tiling
from tvmq.kernels.parts.types import Conv2d, Epilogue, Isa, Kernel
from tvmq.kernels.parts.weight_order import panels, weight_lines

# Beyond this share of the instructions of int16 products a gain is not sure (measured: 0.63 runs 1.42 times as fast).
WORTH = 0.87
SLOWER = 1.12  # an instruction here, on average, than there: weights come from the cache
PROBED = 4  # panels that tell whether it is worth planning all
BOUNDS = 4  # numbers of a panel in the table: first weight, first entry, first one alone, end


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
) -> tuple[Kernel | None, str]:
    """The kernel, or None where int16 products are as fast; and in words what was proved, or what was missing.

    codes    lowest and highest code of x; None: all of the type
    others   as conv2d and conv2d.make_kernel
    """
    ins = instructions(isa).lane_form
    if ins is None or conv.x_dtype == "int16" or nibbles_for(weight, ins) is not None:
        return None, ""
    check_operands(template, conv, weight, bias)
    shape = ConvShape(conv, ins, x_zero)
    tiling = choose_tiling(shape.product, ins)
    highest = largest_activation(conv, x_zero, codes)
    probe = plan_lanes(shape, tiling, weight, epilogue, highest, most=PROBED)
    if probe.cost > WORTH:
        return None, f"int16 products; in int16 lanes {probe.shortfall}; weights or activations of 7 bits would hold"
    kernel, plan = make_lane_kernel(template, shape, tiling, weight, bias, epilogue, highest, buffers)
    return kernel, plan.note


def lane_gain(conv: Conv2d, weight: np.ndarray, x_zero: int, isa: Isa, codes: tuple[int, int] | None = None) -> float:
    """How many times as fast as conv2d the kernel is, by its instructions; 1 where there is none."""
    ins = instructions(isa).lane_form
    if ins is None or conv.x_dtype == "int16" or nibbles_for(weight, ins) is not None:
        return 1.0
    shape = ConvShape(conv, ins, x_zero)
    tiling = choose_tiling(shape.product, ins)
    plan = plan_lanes(shape, tiling, weight, (), largest_activation(conv, x_zero, codes), most=PROBED)
    return 1 / (SLOWER * max(plan.cost, 0.1)) if plan.cost <= WORTH else 1.0


def largest_activation(conv: Conv2d, x_zero: int, codes: tuple[int, int] | None) -> int:
    """Largest activation as `dot` takes it: uint8 code, or int8 code + 128; padding counts.

    >>> largest_activation(Conv2d(1, 1, 1, 4, 4, x_dtype="int8"), 0, (-64, 63))
    191
    """
    low, high = codes or ((0, 255) if conv.x_dtype == "uint8" else (-128, 127))
    high = max(high, x_zero) if any(conv.padding) else high
    return max(1, high + 128 if conv.x_dtype == "int8" else high)


def plan_lanes(
    shape: ConvShape,
    tiling: Tiling,
    weight: np.ndarray,
    epilogue: Epilogue,
    highest: int,
    most: int | None = None,
) -> LanePlan:
    """Folding of every panel.

    highest  largest activation as `dot` takes it
    most     plan so many panels alone, for an estimate
    """
    slots = slots_of(shape, tiling, epilogue)
    lines = weight_lines(weight, shape.conv.groups, shape.run, slots, shape.ins.taps, shape.ins.w_dtype)
    parts = [(group, *part) for group in lines for part in panels(tiling.panel_parts)][:most]
    # [vector, lane, step, tap] -> [step, tap, channel]
    shapes = shape.steps, shape.ins.taps, -1
    plans = [
        plan_panel(group[first : first + columns].transpose(2, 3, 0, 1).reshape(shapes), highest)
        for group, first, columns in parts
    ]
    return LanePlan(plans, [columns for _, _, columns in parts], shape.steps)


def slots_of(shape: ConvShape, tiling: Tiling, epilogue: Epilogue) -> np.ndarray:
    """Which channel stands where."""
    permuted = plan_epilogue(epilogue).requantizer is not None
    return channel_slots(tiling.panel_parts, shape.ins, permuted=permuted)


def group_offsets(shape: ConvShape) -> np.ndarray:
    """Where each group of activations begins, in elements from the start of the window."""
    conv = shape.conv
    rows = np.arange(conv.kernel[0]) * conv.dilation[0] * shape.row_pitch
    runs = np.arange(shape.runs_per_row) * conv.dilation[1] * conv.channels
    steps = np.arange(shape.run_steps) * shape.ins.taps
    return (rows[:, None, None] + runs[:, None] + steps).reshape(-1)


def make_lane_kernel(
    template: str,
    shape: ConvShape,
    tiling: Tiling,
    weight: np.ndarray,
    bias: np.ndarray,
    epilogue: Epilogue,
    highest: int,
    buffers: tuple[Shape, Shape] | None = None,
) -> tuple[Kernel, LanePlan]:
    """Kernel with a given tiling, and its plan; arguments as conv2d.make_kernel.

    highest  largest activation as `dot` takes it: code, or code + 128 of int8 codes
    """
    conv = shape.conv
    low, high = (0, 255) if conv.x_dtype == "uint8" else (-128, 127)
    plan = plan_epilogue(epilogue, int(numerics.accumulator_bound(weight, low, high, bias).max(initial=0)))
    slots = slots_of(shape, tiling, epilogue)
    lanes = plan_lanes(shape, tiling, weight, epilogue, highest)

    def pack(values: np.ndarray) -> np.ndarray:
        return pack_channels(np.broadcast_to(np.ravel(values), conv.filters), conv.groups, slots)

    bounds, entries, packed = pack_plan(lanes, group_offsets(shape), shape.ins.lanes)
    constants = (packed, pack(bias_for(shape, weight, bias)), bounds, entries, *plan.constants(pack))
    name = f"{template}_{shape.ins.name}_{tiling.rows}x{tiling.columns}"
    sizes = len(packed), len(entries), max(len(panel.order) for panel in lanes.panels)
    func = _Lanes(name, shape, tiling, plan, buffers, sizes).prim_func()
    key, work = (
        (name, shape.key, tiling, plan.key, buffers, sizes),
        convolution_work(template, shape, plan.steps, tiling),
    )
    return Kernel(name, func, constants, key, lanes.note, work=work), lanes


def pack_plan(lanes: LanePlan, offsets: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Table of panels, offsets of all entries, weights of all entries; never empty.

    offsets  of `group_offsets`
    width    channels of a vector
    """
    bounds, first_weight, first = [], 0, 0
    for panel, columns in zip(lanes.panels, lanes.columns, strict=True):
        bounds.append((first_weight, first, first + 2 * panel.pairs, first + len(panel.order)))
        first, first_weight = bounds[-1][3], first_weight + len(panel.order) * columns * width * 4
    bounds.append((first_weight, first, first, first))
    entries = [offsets[panel.order] for panel in lanes.panels]
    weights = [panel.weight.transpose(0, 2, 1).reshape(-1) for panel in lanes.panels]
    spare = np.zeros(64, np.int8)
    return (
        np.array(bounds, np.int32).reshape(-1),
        np.concatenate([*entries, [0]]).astype(np.int32),
        np.concatenate([*weights, spare]),
    )


class _Lanes(Integers):
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
        self.sizes = sizes

    def table_parameters(self) -> dict[str, tuple[Shape, str]]:
        """The table of panels and their entries."""
        count = self.conv.groups * self.tiling.panels + 1
        return {"panels": ((count * BOUNDS,), "int32"), "entries": ((self.sizes[1],), "int32")}

    def weight_shape(self) -> tuple[tuple[int], str]:
        """As packed."""
        return (self.sizes[0],), "int8"

    def _tile(self, tile: ConvTile) -> None:
        """Sums of rows x columns, then codes."""
        table, self._entries = (flat(self.buffers[name]) for name in ("panels", "entries"))
        sums = self._initial_sums(tile)
        starts = [wide(self._window(tile.pixel + row, tile.group) - tile.origin) for row in range(tile.rows)]
        panel = tile.panel.panel + (tile.vector - tile.panel.vector) // tile.panel.columns
        row = bind((tile.group * self.tiling.panels + panel) * BOUNDS)
        weight, first, alone, end = (load(table, row + i, "int32") for i in range(BOUNDS))
        following = self._following(tile, load(table, row + BOUNDS, "int32"))
        size = tile.panel.columns * self.vector
        with T.serial(0, T.shift_right(alone - first, T.int32(1))) as pair:
            entry = bind(first + pair * 2)
            self._fold(tile, sums, starts, entry, bind(weight + pair * (2 * size)), 2)
            self._fetch(following, pair * 2, 2)
        with T.serial(0, end - alone) as single:
            self._fold(tile, sums, starts, alone + single, bind(weight + (alone - first + single) * size), 1)
            self._fetch(following, alone - first + single, 1)
        self.store(tile, sums)

    def _fold(
        self, tile: ConvTile, sums: list[list[Register]], starts: list[Expr], entry: Expr, begin: Expr, count: int
    ) -> None:
        """Add the products of `count` entries to the sums, added in 16 bits before."""
        ins, columns = self.ins, tile.panel.columns
        kind = vector_type("int8", self.vector)
        offsets = [wide(self._entries[entry + i]) for i in range(count)]
        weights = [
            [load(self.weight, begin + (i * columns + column) * self.vector, kind) for column in range(columns)]
            for i in range(count)
        ]
        ones = ins.ones()
        for row in range(tile.rows):
            x = [ins.broadcast(tile.source, starts[row] + offset) for offset in offsets]
            for column in range(columns):
                products = [ins.multiply_bytes(x[i], weights[i][column]) for i in range(count)]
                register = sums[row][column]
                register.set(ins.folded(register.get(), sum(products[1:], products[0]), ones))

    def _following(self, tile: ConvTile, begin: Expr) -> Expr | None:
        """First byte of the next panel that this tile fetches; None for one panel."""
        if self.tiling.panels * self.conv.groups == 1:
            return None
        share = self.sizes[2] * self.ins.vector_bytes
        shares = -(-tile.panel.columns * self.sizes[2] * self.vector // share)
        most = max(self.sizes[0] - share - 1, 0)
        return bind(T.min(begin + minimum(tile.index, shares - 1) * share, most))

    def _fetch(self, following: Expr | None, entry: Expr, count: int) -> None:
        """A line of the next panel for each entry."""
        if following is not None:
            for i in range(count):
                prefetch(self.weight, following + (entry + i) * self.ins.vector_bytes)
