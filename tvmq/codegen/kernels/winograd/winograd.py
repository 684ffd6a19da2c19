"""conv2d 3x3, stride 1, by Winograd's transforms in integers: the bits of the direct convolution, half of its work.

Computes   numerics.conv, then the epilogue, bit for bit, modulo 2^32 on the way (see scheme)
Layouts    x and output NHWC; weights transformed at compile time, [panel][position][pair of channels][vector][lane][2]
Needs      scheme.refusal() == "": sums below 2^25 for F(4x4,3x3); bias already holds -x_zero * sum(weights)
Loops      parallel chunk of tiles: copy of its rows with borders; block of tiles: transform to V [position][tile]
           [channel] int16; panel: `points`^2 matrix products to P [position][tile][channel] int32; transform, epilogue.
           Where there are few tiles, panels are divided among threads and share one V
Registers  rows x columns sums + columns weights + 1; 6 x 4 + 4 + 1 of 32 on AVX-512
Fallback   conv2d
Measured   benchmarks/kernels.py

Whether a convolution is computed by Winograd: only where it is proved exact, and then by modelled time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmq import numerics
from tvmq.codegen.kernels.conv.conv2d import check_operands, widths_for
from tvmq.codegen.kernels.conv.shape import ConvShape, convolution_work
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan, plan_epilogue
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Epilogue, Isa, Kernel
from tvmq.codegen.kernels.parts.packing import Packing, pack_channels
from tvmq.codegen.kernels.winograd.loops import WinogradLoops
from tvmq.codegen.kernels.winograd.scheme import F2, F4, Scheme, refusal
from tvmq.codegen.kernels.winograd.shape import WinogradShape, direct_cycles, shape_for, winograd_cycles
from tvmq.codegen.kernels.winograd.weights import pack_transformed
from tvmq.errors import BuildError

# Of the direct convolution's time: 36 int16 products for 144 of int8, and the transforms.
SHARE = 0.78
# The same without VNNI, where the direct one has int16 products as well.
SHARES = {"avx2": 0.41, "avx512bw": 0.37}


def winograd(
    conv: Conv2d,
    weight: np.ndarray,
    bias: np.ndarray,
    x_zero: int,
    epilogue: Epilogue,
    isa: Isa,
    *,
    scheme: Scheme = F4,
) -> Kernel:
    """Kernel of a convolution; parameters, types and epilogues are those of conv2d.

    raises    BuildError for what conv2d refuses, other shapes, and weights whose sums are too large
    """
    check_operands("winograd", conv, weight, bias)
    reason = why_unsuited(conv, isa) or refusal(weight, *conv.code_limits, scheme)
    if reason:
        raise BuildError(f"kernels, winograd: {reason}; use conv2d")
    return make_winograd(shape_for(conv, instructions(isa), x_zero, scheme), weight, bias, epilogue)


def why_unsuited(conv: Conv2d, isa: Isa) -> str:
    """Why these kernels do not compute such a convolution, whatever its weights; empty if they do."""
    if conv.kernel != (3, 3) or conv.strides != (1, 1) or conv.dilation != (1, 1) or conv.groups != 1:
        return "Winograd is for 3 x 3 kernels of stride 1, without dilation and groups"
    if conv.x_dtype == "int16":
        return "Winograd is for codes of 8 bits: transformed ones of 16 would not fit int16"
    if not instructions(isa).has_dot_int16:
        return f"Winograd needs products of pairs of int16, which {isa.name} lacks"
    return ""


def make_winograd(
    shape: WinogradShape,
    weight: np.ndarray,
    bias: np.ndarray,
    epilogue: Epilogue,
    loops: Callable[[str, WinogradShape, EpiloguePlan], WinogradLoops] = WinogradLoops,
) -> Kernel:
    """Kernel with given tiles and loops, of weights that have been checked."""
    conv = shape.conv
    bound = int(numerics.accumulator_bound(weight, *conv.code_limits, bias).max(initial=0))
    plan = plan_epilogue(epilogue, bound)
    permuted = plan.requantizer is not None
    packing = TransformedPacking(shape.ins, weight.shape, 1, 1, shape.panel_parts, permuted, shape.scheme)

    def pack(values: np.ndarray) -> np.ndarray:
        return pack_channels(np.broadcast_to(np.ravel(values), conv.filters), 1, packing.slots)

    constants = (packing.weights(weight), pack(bias), *plan.constants(pack))
    tile = shape.scheme.tile
    name = f"winograd{tile}x{tile}_{shape.ins.name}_{shape.rows}x{shape.columns}"
    direct = ConvShape(conv, widths_for(conv, shape.ins), 0)
    share = SHARES.get(direct.ins.name, SHARE)
    work = convolution_work(f"winograd{tile}x{tile}", direct, plan.steps, share=share)
    return loops(name, shape, plan).kernel(constants, work, packed_from=(weight, packing))


@dataclass(frozen=True)
class TransformedPacking(Packing):
    """Packing of transformed weights; neither groups nor runs."""

    scheme: Scheme

    @property
    def size(self) -> int:
        return self.scheme.positions * self.slots.size * 2 * -(-self.shape[1] // 2) * 2

    def weights(self, weight: np.ndarray) -> np.ndarray:
        """U in the order at the head of this file, flat int16."""
        return pack_transformed(weight, self.scheme.g, self.slots, self.parts)

    def recipe(self) -> dict[str, Any]:
        """See weights.py."""
        return {
            "g": [list(row) for row in self.scheme.g], "shape": [int(size) for size in self.shape[:2]],
            "slots": self.slots.tolist(), "parts": [list(part) for part in self.parts],
        }  # fmt: skip


# Modelled gain from which Winograd is taken: the model errs, and transformed weights need more memory.
LEAST_GAIN = 1.15


@dataclass(frozen=True)
class WinogradChoice:
    """The tiles of a Winograd kernel, or None for the direct one; and why, for people."""

    shape: WinogradShape | None
    note: str = ""


def choose_winograd(conv: Conv2d, weight: np.ndarray, x_zero: int, isa: Isa, *, direct: float = 1.0) -> WinogradChoice:
    """The choice for a convolution of codes with these weights (int8 OIHW).

    direct  so many times as fast as conv2d is the direct kernel that it would have (see conv2d_int16)
    The note is empty where Winograd is out of the question, for its shape or the instruction set.
    """
    if why_unsuited(conv, isa):
        return WinogradChoice(None)
    gains = {scheme: gain_of(conv, x_zero, isa, scheme) / direct for scheme in (F4, F2)}
    if gains[F4] < LEAST_GAIN:
        return WinogradChoice(
            None, f"Winograd {F4.name} would not be faster: {gains[F4]:.2f} times the speed by the cost model"
        )
    reason, refused = _refusal(conv, weight, F4), ""
    if reason:
        refused = f"Winograd {F4.name} would be {gains[F4]:.2f} times as fast, but {reason}"
        if gains[F2] < LEAST_GAIN or _refusal(conv, weight, F2):
            return WinogradChoice(None, refused)
    scheme = F2 if reason else F4
    text = f"Winograd {scheme.name}, {gains[scheme]:.2f} times as fast as the direct kernel by the cost model"
    shape = shape_for(conv, instructions(isa), x_zero, scheme)
    return WinogradChoice(shape, f"{text}; {refused}" if refused else text)


def gain_of(conv: Conv2d, x_zero: int, isa: Isa, scheme: Scheme) -> float:
    """So many times as fast as the direct kernel, by the cost model."""
    shape = shape_for(conv, instructions(isa), x_zero, scheme)
    return direct_cycles(shape, isa.tiles) / winograd_cycles(shape)


def _refusal(conv: Conv2d, weight: np.ndarray, scheme: Scheme) -> str:
    if numerics.fits_int4(weight):
        return "weights of 4 bits stay packed"
    reason = refusal(weight, *conv.code_limits, scheme)
    return f"is not proved exact: {reason}" if reason else ""
