"""Winograd's convolution of dynamic sizes beside the direct one, which pictures of few pixels take.

Transformed weights are four times as many bytes. Where they come from beyond the second cache and serve a few tiles
alone, reading them takes most of the time: 80 -> 80 channels of 3 x 4 pixels take 22 us, and 5 us directly (measured in
a network, Emerald Rapids). Smaller ones stay near, and have no second kernel, which is code to compile.

Tests: tests/codegen/kernels/winograd/test_dynamic_winograd.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tvmq.codegen.kernels.parts.builder import Buffer, FunctionBuilder, branch
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.winograd.shape import WinogradShape
from tvmq.codegen.kernels.winograd.winograd import LEAST_GAIN, gain_of

FAR_WEIGHTS = 320 * 1024  # bytes of transformed weights from which few tiles are better computed directly
MOST_SIDE = 16
FEW = "few_"  # begin of the names of the direct kernel's constants


class TwoWays(Template):
    """Loops of both kernels in one function, the one for at most `most` pixels of the result, and the other."""

    def __init__(self, few: Kernel, many: Kernel, most: int) -> None:
        self.few, self.many, self.most = few.template, many.template, most
        self.constants = len(few.constants)
        self.name = many.name
        self.key = ("few pixels", most, self.few.key, self.many.key)

    def parameters(self) -> Parameters:
        parameters = self.many.parameters()
        result = parameters.pop("y")
        few = list(self.few.parameters().items())[-1 - self.constants : -1]
        return parameters | {f"{FEW}{name}": kind for name, kind in few} | {"y": result}

    def bind_buffers(self, buffers: dict[str, Buffer]) -> None:
        self.buffers = buffers
        for template, prefix in ((self.many, ""), (self.few, FEW)):
            own = {name: f"{prefix}{name}" for name in template.parameters()}
            template.bind_buffers({name: buffers[mine if mine in buffers else name] for name, mine in own.items()})

    def body(self, function: FunctionBuilder) -> None:
        pixels = function.count(self.many.parameters()["y"][0][:3])
        branch(pixels <= self.most, lambda: self.few.body(function), lambda: self.many.body(function))


def add_direct(many: Kernel, shape: WinogradShape, isa: Isa, make_direct: Callable[[], Kernel]) -> Kernel:
    """A kernel of Winograd's convolution with the direct one for few pixels; itself where that would not pay."""
    weight_bytes = shape.scheme.positions * shape.steps * shape.vectors * 4 * shape.ins.lanes
    most = _few_pixels(shape, isa) if weight_bytes >= FAR_WEIGHTS else 0
    if not most:
        return many
    few = make_direct()
    template = TwoWays(few, many, most)
    constants = (*many.constants, *few.constants)
    return template.kernel(constants, many.work, note=many.note, packed_from=many.packed_from, beside=few)


def _few_pixels(shape: WinogradShape, isa: Isa) -> int:
    """Pixels of the largest square that the direct kernel computes faster, by the cost model."""
    top, left, bottom, right = shape.conv.padding

    def is_slower(side: int) -> bool:
        conv: Any = replace(shape.conv, batch=1, height=side + 2 - top - bottom, width=side + 2 - left - right)
        return min(conv.height, conv.width) < 1 or gain_of(conv, shape.x_zero, isa, shape.scheme) < LEAST_GAIN

    sides = [side for side in range(1, MOST_SIDE + 1) if not is_slower(side)]
    return (min(sides, default=MOST_SIDE + 1) - 1) ** 2
