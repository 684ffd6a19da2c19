"""Depthwise conv2d: uint8, int8 or int16 x int8 -> int32 -> codes or floats, NHWC, for every instruction set.

Computes   numerics.conv with one filter for each channel, then the epilogue, bit for bit
Layouts    x NHWC, weights packed (see plan), output NHWC
Needs      every partial sum within int32 (numerics.check_accumulator); bias holds -x_zero * sum(weights)
Loops      parallel band of output rows; block of channels; strip of columns; output row: the input rows that
           are new are copied to a ring (see copy_rows), then tiles of pixels, kernel rows, dots;
           last the steps over codes of the band
Registers  up to 16 sums of 32 registers (8 of 16): 4 pixels x 4 vectors of channels, which share the weights
Ring       as many rows as a window is high; a strip is so narrow that they stay in the L1 cache
Padding    rows of the kernel that lie outside are left out where they are many: their sums are in the bias
Fallback   fewer channels than a vector has lanes: narrower vectors, down to plain TIR with one lane
Measured   Zen 4, one core, padding included, G outputs/s on VNNI and AVX2: 3 x 3 56x56x144 7.7 and 4.0,
           14x14x384 7.9 and 3.4, stride 2 112x112x96 4.4 and 2.9; 5 x 5 28x28x240 3.4 and 2.0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq import numerics
from tvmq.codegen.kernels.conv.conv2d import shifted_bias
from tvmq.codegen.kernels.depthwise.copy_rows import RowCopier
from tvmq.codegen.kernels.depthwise.plan import (
    Blocks,
    DepthwisePacking,
    DepthwiseShape,
    divide,
    divide_up,
    pack_biases,
    stored_channels,
)
from tvmq.codegen.kernels.isa import instructions, level
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import (
    Expr,
    FunctionBuilder,
    Register,
    Shape,
    align_stack,
    const,
    load,
    slice_lanes,
    store,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan, plan_epilogue
from tvmq.codegen.kernels.parts.kernel_types import CODE_LIMITS, Conv2d, Epilogue, Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import SumTemplate
from tvmq.codegen.kernels.parts.work import KernelWork, step_cycles
from tvmq.errors import BuildError

RING_BYTES = 24 * 1024  # of a 32 KB L1 cache; the rest is for weights, input and output
LEAST_STEPS = 8  # of a strip, also where fewer fit
MACS, COPY = 26.0, 0.13  # multiply-accumulates in a cycle, cycles of an element copied to the ring (64-byte vectors)
MOST_PIXELS = 4  # of a tile: more would hold no more sums, or share weights that are in the cache anyway


class _OneLane(Instructions):
    """Scalars, for fewer than four channels."""

    vector_bytes = 4


def depthwise(conv: Conv2d, weight: np.ndarray, bias: np.ndarray, x_zero: int, epilogue: Epilogue, isa: Isa) -> Kernel:
    """Kernel of a depthwise convolution: groups, channels and filters are equal.

    weight    int8 [channels, 1, kernel rows, kernel columns]
    bias      int32 [channels], with -x_zero * sum(weights) already in it
    x_zero    code that padding is filled with
    epilogue  () for int32 sums, a dequantize step for floats, a requantize step to int16 codes alone, else a
              requantize step and any Add and Table steps
    raises    BuildError for shapes or types that do not fit
    """
    check_operands(conv, weight, bias)
    return make_kernel(
        DepthwiseLoops, DepthwiseShape(conv, instructions_for(conv, isa), x_zero), weight, bias, epilogue
    )


def make_kernel(
    loops: type[DepthwiseLoops],
    shape: DepthwiseShape,
    weight: np.ndarray,
    bias: np.ndarray,
    epilogue: Epilogue,
    *options: Any,
) -> Kernel:
    """Kernel with these loops; options: further arguments of theirs."""
    conv = shape.conv
    bound = numerics.accumulator_bound(weight, *conv.code_limits, bias)
    plan = plan_epilogue(epilogue, int(bound.max(initial=0)))

    def pack(values: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(np.broadcast_to(np.ravel(values), conv.channels)[shape.slots])

    packing = DepthwisePacking(shape)
    bias = shifted_bias(bias, weight, shape.ins.shift_of(conv.x_dtype))
    constants = packing.weights(weight), pack_biases(shape, weight, bias), *plan.constants(pack)
    return loops(shape, plan, *options).kernel(constants, _work(conv, plan.steps), packed_from=(weight, packing))


def _work(conv: Conv2d, steps: Sequence[Any]) -> KernelWork:
    outputs, inputs = math.prod(conv.out_shape), conv.batch * conv.height * conv.width * conv.channels
    total = outputs * math.prod(conv.kernel) / MACS + inputs * COPY
    cycles = step_cycles(steps)
    return KernelWork("depthwise", 0.0, conv.macs, True, lambda _, scale: scale * cycles * outputs / 64 + scale * total)


def check_operands(conv: Conv2d, weight: np.ndarray, bias: np.ndarray) -> None:
    """Refuse what is no depthwise convolution of codes, with a BuildError."""
    if conv.x_dtype not in CODE_LIMITS or weight.dtype != np.int8 or bias.dtype != np.int32:
        raise BuildError(
            f"kernels, depthwise: takes one of {', '.join(CODE_LIMITS)} input, int8 weights and int32 bias. "
            f"Got {conv.x_dtype}, {weight.dtype} and {bias.dtype}; use another template"
        )
    if not conv.groups == conv.channels == conv.filters or min(conv.out_shape) < 1:
        raise BuildError(
            f"kernels, depthwise: groups, channels and filters must be equal and the output not empty. "
            f"Got {conv.groups}, {conv.channels}, {conv.filters} and output {conv.out_shape}; use conv2d"
        )
    expected = (conv.channels, 1, *conv.kernel)
    if weight.shape != expected or bias.shape != (conv.channels,):
        raise BuildError(
            f"kernels, depthwise: weights must have shape {expected} and bias ({conv.channels},). "
            f"Got {weight.shape} and {bias.shape}"
        )


def instructions_for(conv: Conv2d, isa: Isa) -> Instructions:
    """Those of the level, or narrower ones that every CPU with those has, with a channel for each lane."""
    ins = instructions(isa).int16_operands if conv.x_dtype == "int16" else instructions(isa)
    narrow = level("avx2").int16_operands if ins.takes_int16 else level("avx2")
    half = ins.half_width or (narrow if ins.vector_bytes == 64 else ins)
    candidates = [ins, half, level("generic")]
    return next((candidate for candidate in candidates if candidate.lanes <= conv.channels), _OneLane())


class DepthwiseLoops(SumTemplate):
    """Depthwise convolution; see the head of this file.

    x_shape, y_shape  as the parameters have them: sizes, or names of what only a run tells
    extents           sizes that the loops count to
    """

    def __init__(self, shape: DepthwiseShape, plan: EpiloguePlan) -> None:
        self.shape, self.plan = shape, plan
        self.conv, self.ins, self.columns = shape.conv, shape.ins, shape.columns
        self.name = f"depthwise_{shape.ins.name}_{self.conv.kernel[0]}x{self.conv.kernel[1]}"
        padding = shape.x_zero if any(self.conv.padding) else None
        self.key = ("depthwise", self.conv, shape.ins.key, shape.ins.lanes, padding, plan.key)
        conv = self.conv
        self.x_shape: Shape = (conv.batch, conv.height, conv.width, conv.channels)
        self.y_shape: Shape = conv.out_shape
        self.extents = shape.extents

    def parameters(self) -> Parameters:
        conv, shape = self.conv, self.shape
        weights = shape.places * conv.kernel[0] * shape.row_weights
        parameters: Parameters = {"x": (self.x_shape, conv.x_dtype)} | self.plan.data_parameters(self.y_shape)
        parameters |= {"weight": ((weights,), self.ins.w_dtype), "bias": ((len(shape.biases) * shape.places,), "int32")}
        parameters |= self.plan.constant_parameters(shape.places)
        return parameters | {"y": (self.y_shape, self.plan.out_dtype)}

    def body(self, function: FunctionBuilder) -> None:
        tasks = self.extents.batch * self.extents.bands
        with (T.parallel if tasks > 1 else T.serial)(0, tasks) as task:
            self.band(task)

    def band(self, task: Expr) -> None:
        """A band of output rows of a picture; tasks count through the bands of all pictures."""
        bands, out_height = self.extents.bands, self.extents.out_height
        align_stack(self.ins.lanes)
        image = make_opaque(divide(task, bands))
        band = make_opaque(T.floormod(task, bands) if isinstance(bands, int) else task - image * bands)
        first, end = (make_opaque(divide((band + i) * out_height, bands)) for i in (0, 1))
        weights = 0
        for blocks in self.shape.blocks:
            _BlocksOfBand(self, blocks, weights, image, first, end).emit()
            weights += blocks.count * blocks.size * self.conv.kernel[0] * self.shape.row_weights
        if self.plan.steps:
            row = self.extents.out_width * self.conv.channels
            self.code_steps((image * out_height + first) * row, (end - first) * row)

    def code_steps(self, begin: Expr, count: Expr) -> None:
        """Add and Table steps over the codes of a band."""
        steps, extents = self.plan.code_steps(self.ins.full_width, self.buffers), self.extents
        least = extents.out_height // extents.bands * extents.out_width * self.conv.channels
        steps.run(self.buffers["y"], make_opaque(begin), make_opaque(count), least)


class _BlocksOfBand:
    """All blocks of one kind, in one band of output rows.

    weights  where their weights begin
    """

    def __init__(
        self, template: DepthwiseLoops, blocks: Blocks, weights: int, image: Expr, first: Expr, end: Expr
    ) -> None:
        self.template, self.blocks, self.weights = template, blocks, weights
        self.image, self.first, self.end = image, first, end
        self.shape, self.conv, self.ins = template.shape, template.conv, template.ins
        self.columns, self.extents = template.columns, template.extents
        self.copier = RowCopier(template.x, self.shape, self.extents, blocks.vectors)
        self.pixels = max(1, min(MOST_PIXELS, self.ins.registers // 2 // blocks.vectors))
        self.together = self.shape.steps_together(max(1, self.pixels // self.columns.outputs))
        itemsize, steps = np.dtype(self.ins.x_dtype).itemsize, self.extents.steps
        # steps behind a row that has fewer than a tile: see `_Tile._store`
        self.steps = steps if isinstance(steps, int) else make_opaque(T.max(steps, self.together))
        fitting = RING_BYTES // (self.shape.span * self.copier.step_size * itemsize) - self.columns.ahead
        fitting = max(fitting, LEAST_STEPS)
        self.strips = divide_up(self.steps, fitting)
        self.widest = divide_up(self.steps, self.strips)
        self.row_size = (self.widest + self.columns.ahead) * self.copier.step_size
        self.ring_size = self.shape.span * self.row_size
        if not isinstance(steps, int):
            # limits that hold anyway, for LLVM, which makes better loops of a known range: up to a quarter less time
            self.widest = make_opaque(T.max(T.min(self.widest, fitting), self.together))
            self.row_size = make_opaque((self.widest + self.columns.ahead) * self.copier.step_size)
            self.ring_size = self.shape.span * (fitting + self.columns.ahead) * self.copier.step_size

    def emit(self) -> None:
        """Loops over blocks, strips and rows."""
        blocks = self.blocks
        with T.serial(0, blocks.count) as index:
            self.channel = make_opaque(T.min(blocks.first + index * blocks.size, blocks.end - blocks.size))
            self.place = make_opaque(blocks.slot + index * blocks.size)
            per_block = blocks.size * self.conv.kernel[0] * self.shape.row_weights
            self.block_weights = make_opaque(self.weights + index * per_block)
            self.ring = workspace(self.ring_size, self.ins.x_dtype)
            with T.serial(0, self.strips) as strip:
                self._take_strip(strip)
                with T.serial(0, self.end - self.first) as number:
                    row = make_opaque(self.first + number)
                    self._copy_new_rows(row, number)
                    self._row(row)

    def _take_strip(self, strip: Expr) -> None:
        """Steps of a strip, and the padding columns in front of step 0."""
        self.left, self.offset = self.conv.padding[1], 0
        if isinstance(self.steps, int):
            self.step_first, self.step_end = (
                make_opaque(T.floordiv((strip + i) * self.steps, self.strips)) for i in (0, 1)
            )
            return
        # steps count from the strip's first; all strips are equally wide, the last one shifted back
        self.step_first, self.step_end = 0, self.widest
        self.offset = make_opaque(T.min(strip * self.widest, self.steps - self.widest))
        self.left = make_opaque(self.left - self.offset * self.columns.stride)

    def _copy_new_rows(self, row: Expr, number: Expr) -> None:
        """Bring the rows that output row `row`, the `number`-th of the band, reads into the ring."""
        conv, span, extents = self.conv, self.shape.span, self.extents
        count = make_opaque(T.Select(number == 0, span, min(span, conv.strides[0])))
        with T.serial(0, count) as i:
            padded_row = make_opaque(row * conv.strides[0] + span - count + i)
            y = make_opaque(padded_row - conv.padding[0])
            begin = make_opaque(T.floormod(padded_row, span) * self.row_size)
            end = make_opaque(self.step_end + self.columns.ahead)
            with T.If(T.And(y >= 0, y < extents.height)):
                with T.Then():
                    line = ((self.image * extents.height + y) * extents.width) * conv.channels + self.channel
                    following = make_opaque(T.min(y + conv.strides[0], extents.height - 1) - y)
                    ahead = following * (extents.width * conv.channels)
                    self.copier.copy(self.ring, begin, make_opaque(line), self.step_first, end, self.left, ahead)
                if self.shape.outside is None:
                    with T.Else():
                        self.copier.fill(self.ring, begin, end - self.step_first)

    def _row(self, row: Expr) -> None:
        """Compute an output row of the strip, in tiles of some steps; each as many pixels at a time as fit."""
        together = self.together
        self._rows_inside(row)
        pixels = [(ahead, output) for ahead in range(together) for output in range(self.columns.outputs)]
        count = T.floordiv(self.step_end - self.step_first + together - 1, together)
        with T.serial(0, count) as index:
            step = make_opaque(T.min(self.step_first + index * together, self.step_end - together))
            for begin in reversed(range(0, len(pixels), self.pixels)):
                _Tile(self, row, step, pixels[begin : begin + self.pixels]).emit()

    def _rows_inside(self, row: Expr) -> None:
        """Kernel rows that the output row reads, and where the bias of such rows begins."""
        shape = self.shape
        self.first_kernel_row, self.kernel_rows, self.bias = 0, self.conv.kernel[0], self.place
        if shape.outside is None:
            return
        above, inside = shape.rows_inside(row)
        self.first_kernel_row, self.kernel_rows = make_opaque(above), make_opaque(inside)
        if len(shape.biases) > 1:
            below = self.conv.kernel[0] - self.first_kernel_row - self.kernel_rows
            number = self.first_kernel_row * (shape.outside[1] + 1) + below
            self.bias = make_opaque(self.place + number * shape.places)


class _Tile:
    """Some output pixels of a block of channels; pixels: (steps ahead of `step`, output of that step)."""

    def __init__(self, band: _BlocksOfBand, row: Expr, step: Expr, pixels: list[tuple[int, int]]) -> None:
        self.band, self.row, self.step, self.pixels = band, row, step, pixels
        self.ins, self.vectors = band.ins, band.blocks.vectors

    def emit(self) -> None:
        """Sums, then codes or floats."""
        lanes, bias = self.ins.lanes, []
        for vector in range(self.vectors):
            kind = vector_type("int32", lanes)
            bias.append(load(self.band.template.bias, self.band.bias + vector * lanes, kind))
        self.sums = [[Register("int32", lanes) for _ in bias] for _ in self.pixels]
        for registers in self.sums:
            for register, value in zip(registers, bias, strict=True):
                register.set(value)
        with T.serial(0, self.band.kernel_rows) as number:
            self._kernel_row(self.band.first_kernel_row + number)
        self._store()

    def _kernel_row(self, kernel_row: Expr) -> None:
        band, conv, shape = self.band, self.band.conv, self.band.shape
        ring_row = T.floormod(self.row * conv.strides[0] + kernel_row * conv.dilation[0], shape.span)
        begin = make_opaque(ring_row * band.row_size + (self.step - band.step_first) * band.copier.step_size)
        weights = make_opaque(band.block_weights + kernel_row * (shape.row_weights * band.blocks.size))
        x_kind = vector_type(self.ins.x_dtype, shape.vector)
        w_kind = vector_type(self.ins.w_dtype, shape.vector)
        for (ahead, group), readers in self._reads():
            offset = ahead * band.copier.step_size + group * band.copier.group_size
            for vector in range(self.vectors):
                x = load(band.ring, begin + offset + vector * shape.vector, x_kind)
                for pixel, variant in readers:
                    at = weights + (variant * self.vectors + vector) * shape.vector
                    register = self.sums[pixel][vector]
                    register.set(self.ins.dot(register.get(), x, band.template.weight.vload([at], w_kind)))

    def _reads(self) -> Iterator[tuple[tuple[int, int], list[tuple[int, int]]]]:
        """((step ahead, group), [(pixel, variant of weights), ...]) for every group that the pixels read."""
        columns = self.band.columns
        readers: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for pixel, (ahead, output) in enumerate(self.pixels):
            for use in columns.uses[output]:
                where = (ahead + use.ahead, use.group)
                readers.setdefault(where, []).append((pixel, columns.variants.index(use.slots)))
        yield from sorted(readers.items())

    def _store(self) -> None:
        band, lanes, extents = self.band, self.ins.lanes, self.band.extents
        plan, constants = band.template.plan, []
        if plan.scaler is not None:
            places = [band.place + vector * lanes for vector in range(self.vectors)]
            constants = [plan.scaler.load(band.template.channel_constants, place, lanes) for place in places]
        line = make_opaque((band.image * extents.out_height + self.row) * extents.out_width)
        place = self._places(line)
        # Backwards: pixels beyond the row fall on its last pixel, whose own codes then replace them.
        for registers, (ahead, output) in reversed(list(zip(self.sums, self.pixels, strict=True))):
            begin = make_opaque(place(ahead, output))
            values = [register.get() for register in registers]
            if plan.requantizer is not None:
                codes = self._in_order(plan.requantizer.codes(self.ins, values, constants))
                store(band.template.y, begin, codes, self.vectors * lanes)
                continue
            self._store_vectors(begin, plan.reals(values, constants, self.ins) if constants else values)

    def _places(self, line: Expr) -> Callable[[int, int], Expr]:
        """Where the pixel of an (ahead, output) is stored; line: pixels before the row."""
        band, channels, width = self.band, self.band.conv.channels, self.band.extents.out_width
        outputs = band.columns.outputs

        def place(ahead: int, output: int) -> Expr:
            column = (self.step + ahead) * outputs + output
            return (line + (T.min(column, width - 1) if width % outputs else column)) * channels + band.channel

        if isinstance(width, int):
            return place
        # few instructions for each pixel: they count beside so few dots
        column = make_opaque((band.offset + self.step) * outputs)
        begin = make_opaque((line + column) * channels + band.channel)
        room = make_opaque((width - 1 - column) * channels)
        return lambda ahead, output: begin + T.min((ahead * outputs + output) * channels, room)

    def _in_order(self, codes: Expr) -> Expr:
        """Codes as `narrow_vectors` leaves them, channel by channel."""
        channels = np.empty(self.vectors * self.ins.lanes, np.int64)
        channels[self.ins.channel_order(self.vectors)] = stored_channels(self.ins, self.vectors)
        places = np.argsort(channels)
        if (places == np.arange(len(places))).all():
            return codes
        return tirx.Shuffle([codes], [const(int(place)) for place in places])

    def _store_vectors(self, begin: Expr, values: list[Expr]) -> None:
        """Sums, floats or int16 codes; of bytes four lanes at a time: so many stay neighbours."""
        order = stored_channels(self.ins, self.vectors)
        four = self.ins.lanes if self.ins.takes_int16 else min(4, self.ins.lanes)
        for vector, value in enumerate(values):
            for lane in range(0, self.ins.lanes, four):
                part = value if four == self.ins.lanes else slice_lanes(value, lane, four)
                store(self.band.template.y, begin + int(order[vector, lane]), part, four)
