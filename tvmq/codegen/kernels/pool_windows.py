"""Windows of pooling over pictures: sizes, taps, and which of them lie inside; for fixed and for dynamic sizes.

Tests: tests/codegen/kernels/test_dynamic_sizes.py
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.parts.builder import Expr, FunctionBuilder
from tvmq.codegen.kernels.parts.loops import make_opaque

Size = Any  # an int, a name, or the expression that a run makes of it


@dataclass(frozen=True)
class Pool2d:
    """Windows over pictures; a name is a size that only a run tells, of which it makes an expression (`at_run`).

    padding    top, left, bottom, right
    ceil_mode  round the number of windows up
    out_sizes  batch, rows and columns of the result, where a size is dynamic
    is_inner   it stands for windows none of which leaves its columns
    """

    batch: Size
    height: Size
    width: Size
    channels: int
    kernel: tuple[int, int]
    strides: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilation: tuple[int, int] = (1, 1)
    ceil_mode: bool = False
    out_sizes: tuple[Size, ...] = ()
    is_inner: bool = False

    @property
    def axes(self) -> tuple[WindowAxis, WindowAxis]:
        """Rows and columns."""
        return self._axis(0, self.height), self._axis(1, self.width)

    def _axis(self, i: int, size: Expr) -> WindowAxis:
        sides = self.padding[i], self.padding[i + 2]
        options = self.kernel[i], self.strides[i], self.dilation[i], *sides, self.ceil_mode
        return WindowAxis(size, *options, is_inner=self.is_inner and i == 1)

    @property
    def in_shape(self) -> Any:
        """Shape of the input, NHWC."""
        return self.batch, self.height, self.width, self.channels

    @property
    def out_shape(self) -> Any:
        """Shape of the result, NHWC."""
        rows, columns = self.axes
        return (*(self.out_sizes or (self.batch, rows.windows, columns.windows)), self.channels)

    def at_run(self, function: FunctionBuilder) -> Pool2d:
        """Pool with the sizes of a run as expressions."""
        batch, height, width, *out_sizes = (
            function.sizes.get(str(size), size) for size in (self.batch, self.height, self.width, *self.out_sizes)
        )
        return replace(self, batch=batch, height=height, width=width, out_sizes=tuple(out_sizes))

    @property
    def always_taps(self) -> bool:
        """True if every window has a tap inside, whatever the size."""
        # the last window begins at most so far behind the end
        late = [stride - 1 if self.ceil_mode else 0 for stride in self.strides]
        sides = zip(self.kernel, self.padding[:2], self.padding[2:], late, strict=True)
        return self.dilation == (1, 1) and all(before < size > after + more for size, before, after, more in sides)

    @property
    def row_cost(self) -> Expr:
        """Codes that an output row reads, each as often as it is read."""
        return self.out_shape[2] * (self.channels * prod(self.kernel))


@dataclass(frozen=True)
class WindowAxis:
    """Windows along one axis of `size` elements; of a size that only a run tells each has a tap inside."""

    size: Expr
    kernel: int
    stride: int
    dilation: int
    before: int
    after: int
    ceil_mode: bool
    is_inner: bool = False

    @property
    def windows(self) -> int:
        """Number of windows, of a size that is known."""
        room = self.size + self.before + self.after - (self.kernel - 1) * self.dilation - 1
        return (room + (self.stride - 1 if self.ceil_mode else 0)) // self.stride + 1

    def valid_taps(self, window: int) -> range:
        """Taps of a window that lie inside."""
        first = window * self.stride - self.before
        inside = [t for t in range(self.kernel) if 0 <= first + t * self.dilation < self.size]
        return range(inside[0], inside[-1] + 1) if inside else range(0)

    @property
    def always_inside(self) -> bool:
        """True if no window leaves the axis."""
        if self.is_inner:
            return True
        if not isinstance(self.size, int):
            return not (self.before or self.after or self.ceil_mode)
        return all(len(self.valid_taps(window)) == self.kernel for window in (0, self.windows - 1))

    def inner_windows(self, count: Expr) -> tuple[Expr, Expr]:
        """First of `count` windows that lies wholly inside, and one beyond the last."""
        if isinstance(self.size, int):
            inside = [window for window in range(count) if len(self.valid_taps(window)) == self.kernel] or [0, -1]
            return inside[0], inside[-1] + 1
        first = T.min(-(-self.before // self.stride), count)
        room = self.size - 1 - (self.kernel - 1) * self.dilation + self.before
        beyond = T.min(T.floordiv(T.max(room, -1) + self.stride, self.stride), count)
        first = make_opaque(first)
        return first, make_opaque(T.max(beyond, first))

    @property
    def may_be_empty(self) -> bool:
        """True if some window lies wholly outside."""
        return isinstance(self.size, int) and any(not self.valid_taps(window) for window in range(self.windows))

    def taps(self, window: Expr) -> list[Expr]:
        """Element of each tap of a window, moved to the nearest tap inside."""
        first = make_opaque(window * self.stride - self.before)
        elements = [first + tap * self.dilation for tap in range(self.kernel)]
        if self.always_inside:
            return elements
        # taps lie at multiples of the dilation from the first: so does what replaces them
        lowest = T.floormod(first, self.dilation)
        highest = self.size - 1 - T.floormod(self.size - 1 - first, self.dilation)
        moved = [T.max(T.min(element, highest), lowest) for element in elements]
        return [make_opaque(T.max(T.min(element, self.size - 1), 0)) for element in moved]

    def inside(self, window: Expr) -> list[Expr | None]:
        """Condition for each tap of a window to lie inside; None for always."""
        if self.always_inside:
            return [None] * self.kernel
        elements = [make_opaque(window * self.stride - self.before + tap * self.dilation) for tap in range(self.kernel)]
        return [T.And(element >= 0, element < self.size) for element in elements]

    def bounds(self, window: Expr) -> tuple[Expr, Expr, Expr]:
        """First element, first tap inside, and one beyond the last tap inside."""
        first = make_opaque(window * self.stride - self.before)
        if self.always_inside:
            return first, 0, self.kernel
        low = T.floordiv(T.max(-first, 0) + self.dilation - 1, self.dilation)
        high = T.floordiv(T.max(self.size - 1 - first, -1) + self.dilation, self.dilation)
        end = make_opaque(T.min(high, self.kernel))
        return first, make_opaque(T.min(low, end)), end
