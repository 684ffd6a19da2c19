"""Weights and per-channel constants in the order in which the kernels read them. NumPy only.

Output channels are cut into panels of whole vectors (see tiling). Inside a panel the weights stand in the
order of the loop: step by step, for each step the vectors of the panel, for each lane its `taps` weights.
Reduction steps run over runs: input elements that are neighbours in memory under a window, each run padded to
whole steps with zeros.

    weights   [groups][panel: step, vector][lane][tap]       channels beyond the last are zero
    channels  [groups][vector][lane]                         bias, multiplier; zero beyond the last channel

Nibbles: weights that a kernel reads two to a byte, half the memory of int8, an eighth of float32.

Order      that of the packed weights above, the first of two in the low half of a byte (numerics.pack_int4)
Unpacking  a byte is widened to two lanes, shifted against itself and masked: lane 2i is its low half, lane 2i + 1 its
           high one; (half ^ 8) - 8 gives the sign. Five instructions a vector on every instruction set

Tests: tests/codegen/kernels/parts/test_nibbles.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq import numerics
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, bind, load, spread, vector_type
from tvmq.codegen.kernels.parts.kernel_types import Kernel
from tvmq.codegen.kernels.parts.weight_order import order_weights, panels

PIECES = (4, 2, 1)  # vectors that one `narrow_vectors` takes


def panel_pieces(columns: int) -> list[tuple[int, int]]:
    """Pieces of a panel's vectors that are narrowed together: [(first vector, number of vectors), ...].

    >>> panel_pieces(7)
    [(0, 4), (4, 2), (6, 1)]
    """
    pieces, first = [], 0
    while first < columns:
        size = next(piece for piece in PIECES if piece <= columns - first)
        pieces.append((first, size))
        first += size
    return pieces


@dataclass(frozen=True)
class PanelRun:
    """Panels in turn that share their code.

    panel, vector  number of the first panel, and of its first vector
    columns        vectors of a panel
    count          number of panels
    channels       output channels of a panel that exist; fewer than columns * lanes in the last panel only
    """

    panel: int
    vector: int
    columns: int
    count: int
    channels: int


def panel_runs(parts: Sequence[tuple[int, int]], channels: int, lanes: int) -> list[PanelRun]:
    """The panels of [(size, count), ...] over so many output channels.

    >>> [(run.panel, run.columns, run.count, run.channels) for run in panel_runs([(2, 3)], 90, 16)]
    [(0, 2, 2, 32), (2, 2, 1, 26)]
    """
    runs: list[PanelRun] = []
    panel = 0
    for first, columns in panels(parts):
        valid = min(columns * lanes, channels - first * lanes)
        last = runs[-1] if runs else None
        if last and (last.columns, last.channels) == (columns, valid):
            runs[-1] = replace(last, count=last.count + 1)
        else:
            runs.append(PanelRun(panel, first, columns, 1, valid))
        panel += 1
    return runs


def channel_slots(parts: Sequence[tuple[int, int]], ins: Instructions, permuted: bool) -> np.ndarray:
    """Channel that stands in [vector, lane]; numbers beyond the last channel are padding.

    permuted  in the order that `narrow_vectors` undoes; False where sums are stored as they are
    """
    total = sum(size * count for size, count in parts)
    slots = np.arange(total * ins.lanes).reshape(total, ins.lanes)
    if permuted:
        for first, columns in panels(parts):
            for begin, count in panel_pieces(columns):
                low = first + begin
                slots[low : low + count] = low * ins.lanes + ins.channel_order(count)
    return slots


def pack_channels(values: np.ndarray, groups: int, slots: np.ndarray) -> np.ndarray:
    """[groups * channels] or one value for all -> [groups * vectors * lanes]; zero in padding."""
    values = np.ravel(values)
    per_group = len(values) // groups
    padded = np.zeros((groups, slots.size), values.dtype)
    padded[:, :per_group] = values.reshape(groups, per_group)
    return np.ascontiguousarray(padded[:, slots.ravel()]).reshape(-1)


@dataclass(frozen=True)
class Packing:
    """Packing of the weights of a kernel: enough to pack them again, where a file holds them once.

    ins        instruction set
    shape      of the weights, int8: [filters, channels / groups, kernel rows, kernel columns]
    run        as of `pack_weights`
    permuted   as of `channel_slots`
    """

    ins: Instructions
    shape: tuple[int, int, int, int]
    groups: int
    run: int
    parts: tuple[tuple[int, int], ...]
    permuted: bool

    @property
    def slots(self) -> np.ndarray:
        """Channel that stands in [vector, lane]."""
        return channel_slots(self.parts, self.ins, self.permuted)

    @property
    def size(self) -> int:
        """Bytes of the packed weights."""
        _, channels, height, width = self.shape
        steps = height * width * channels // self.run * -(-self.run // self.ins.taps)
        return self.groups * self.slots.size * steps * self.ins.taps * np.dtype(self.ins.w_dtype).itemsize

    def recipe(self) -> dict[str, Any]:
        """See weight_order.py."""
        return {
            "shape": [int(size) for size in self.shape], "groups": self.groups, "run": self.run, "taps": self.ins.taps,
            "dtype": self.ins.w_dtype, "slots": self.slots.tolist(), "parts": [list(part) for part in self.parts],
        }  # fmt: skip

    def weights(self, weight: np.ndarray) -> np.ndarray:
        """The weights as the kernel reads them."""
        return pack_weights(weight, self.groups, self.run, self.slots, self.parts, self.ins)


def pack_weights(
    weight: np.ndarray,
    groups: int,
    run: int,
    slots: np.ndarray,
    parts: Sequence[tuple[int, int]],
    ins: Instructions,
) -> np.ndarray:
    """Weights [filters, channels, kernel rows, kernel columns] in the order at the head of this file, flat.

    run  input elements of a run: kernel columns * channels, or channels
    """
    return order_weights(weight, groups, run, slots, parts, ins.taps, ins.w_dtype)


def packed_from(
    kernel: Kernel, weight: np.ndarray, shape: Sequence[int], axes: Sequence[int], flip: Sequence[int] = ()
) -> Kernel:
    """The kernel of weights that were made of others: reshaped, flipped along axes, and these in another order."""
    packing = kernel.packed_from[1] if kernel.packed_from is not None else None
    recipe = packing.recipe() if type(packing) is Packing else packing
    if not isinstance(recipe, dict) or "slots" not in recipe:
        return kernel
    moves = {"shape": [int(size) for size in shape], "flip": list(flip), "axes": list(axes)}
    return replace(kernel, packed_from=(weight, {**recipe, "from": moves}))


@dataclass(frozen=True, eq=False)
class Int4Weights:
    """Float weights that are codes of at most 4 bits times scales: numerics.group_dequantize along the reduction.

    codes       int8 [filters, channels / groups, kernel rows, kernel columns], in -8..7
    scale       float32 [groups of the reduction, filters]
    group_size  input channels of a group, of a 1 x 1 convolution; all of the reduction if there is one group
    """

    codes: np.ndarray
    scale: np.ndarray
    group_size: int


class Nibbles:
    """Vectors of `ins.lanes * ins.taps` weights, in the type in which `dot` takes them."""

    def __init__(self, ins: Instructions) -> None:
        self.count = ins.lanes * ins.taps
        self.bits = 8 * np.dtype(ins.w_dtype).itemsize
        self.is_float = ins.w_dtype == "float32"

    def vector(self, buffer: Buffer, begin: Expr) -> Expr:
        """The weights from weight `begin`, a multiple of `count`, of a flat buffer of bytes; int32 lanes for floats."""
        half, pair = self.count // 2, f"int{2 * self.bits}"
        data = load(buffer, T.floordiv(begin, 2) if not isinstance(begin, int) else begin // 2, f"uint8x{half}")
        words = bind(T.Cast(f"{pair}x{half}", data))
        both = T.bitwise_or(words, T.shift_left(words, spread(self.bits - 4, half, pair)))
        halves = T.bitwise_and(both, spread(15 | 15 << self.bits, half, pair))
        kind = f"int{self.bits}"
        lanes = T.reinterpret(vector_type(kind, self.count), halves)
        sign = spread(8, self.count, kind)
        return bind(T.bitwise_xor(lanes, sign) - sign)

    def dequantize(self, codes: Expr, scale: Expr) -> Expr:
        """float32 of codes: the product is rounded once, numerics.dequantize."""
        return bind(T.Cast(vector_type("float32", self.count), codes) * scale)


def nibbles_for(weight: np.ndarray, ins: Instructions) -> Nibbles | None:
    """Reader of these integer weights; None for weights of more than 4 bits."""
    return Nibbles(ins) if weight.size and numerics.fits_int4(weight) else None


def weight_parameter(count: int, ins: Instructions, nibbles: Nibbles | None) -> tuple[tuple[int], str]:
    """Shape and type of the buffer of so many weights."""
    return ((count,), ins.w_dtype) if nibbles is None else ((count // 2,), "uint8")
