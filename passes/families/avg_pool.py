"""Average pooling in integers: exact int32 sums of the windows, then a requantize by 1 / count.

Before                                            After
    p = avg_pool2d(sq(x))                             s = tvmq.sum_pool(x) of the centred codes
                                                      p = requantize(s, s_x / (count * s_p))
    p = adaptive_avg_pool2d(sq(x))                    s = tvmq.adaptive_sum_pool(x), the same behind it

One to three spatial axes; an adaptive pool whose windows are equal is an ordinary one.

From sums to averages: what pooling and mean share.

one count for all sums               requantize(sum, s_x / (count * s_y))
counts that differ (at the border)   requantize(sum * factor, s_x / (divisor * s_y)), factor = divisor / count
mode power_of_two                    the same with divisor 2^22 and rounded factors, since 1 / count is no shift

Tests: tests/passes/families/test_average_pools.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.graph import ops
from tvmq.graph.sizes import covering_padding
from tvmq.graph.view import View, make_const, op_name, sizes_of
from tvmq.passes.families.base import SUM_SUFFIX, BoundedFacts, Codes, Family, Group, Realizer, fact_field

# 255 * 2^22 is half of int32, and a factor is then off by at most count / 2^23 of itself.
POWER = 2**22


def emit_average(
    realizer: Realizer, sums: relax.Expr, x: Codes, counts: np.ndarray, group: Group
) -> Codes | relax.Expr:
    """Emit what makes averages of the sums of centred codes of `x`.

    sums    call that gives int32 sums
    counts  how many codes are in each: one number, or what broadcasts against the sums
    """
    acc = realizer.emit(sums, f"{group.root}{SUM_SUFFIX}")
    factors, divisor = factors_of(np.asarray(counts), realizer.mode)
    if np.any(factors != 1):
        acc = realizer.emit(relax.op.multiply(acc, make_const(factors)), f"{group.root}_weighted")
    return realizer.requantize(acc, np.atleast_1d(np.float64(x.scale) / divisor), group)


def factors_of(counts: np.ndarray, mode: str) -> tuple[np.ndarray, int]:
    """Integers and a divisor with factor / divisor = 1 / count."""
    first = int(counts.flat[0])
    counts = np.asarray(first) if np.all(counts == first) else counts
    if np.all(counts == first) and (is_shift(counts) or mode != "power_of_two"):
        return np.ones((), np.int32), first
    if mode == "power_of_two":
        return np.rint(POWER / counts).astype(np.int32), POWER
    return numerics.average_factors(counts)


def is_shift(counts: np.ndarray) -> bool:
    """True if dividing by the counts is one shift: all are the same power of two."""
    counts = np.asarray(counts)
    first = int(counts.flat[0])
    return bool(np.all(counts == first)) and first & (first - 1) == 0


# |code - zero point| of 8 bits
LARGEST_STEP, INT32_MAX = 255, 2**31 - 1
LAYOUTS = ("NCW", "NCHW", "NCDHW")


@dataclass
class WindowFacts(BoundedFacts):
    """Windows of a pool, or only the size of the result of an adaptive one whose windows differ.

    counted  how much of the padding counts as values
    """

    out_size: list[int] = field(default_factory=list)
    kernel: list[int] = field(default_factory=list)
    strides: list[int] = field(default_factory=list)
    padding: list[int] = field(default_factory=list)
    counted: list[int] = field(default_factory=list)
    low: float = fact_field(-np.inf)
    high: float = fact_field(np.inf)

    def counts(self, size: Sequence[int | str]) -> np.ndarray:
        """Elements under each window, those of the padding that counts included, those that rounding up adds never."""
        if any(isinstance(n, str) for n in size):  # `_dynamic_obstacle` sees to it that all windows count alike
            return np.asarray(math.prod(self.kernel))
        known = [int(n) for n in size]
        if self.out_size:
            return numerics.adaptive_counts(known, self.out_size)
        rank = len(known)
        whole = [n + self.counted[i] + self.counted[i + rank] for i, n in enumerate(known)]
        beyond = tuple(max(p - c, 0) for p, c in zip(self.padding, self.counted, strict=True))
        return numerics.window_counts(whole, kernel=tuple(self.kernel), strides=tuple(self.strides), padding=beyond)


class AveragePool(Family):
    """Average pooling by exact int32 sums of the windows."""

    name, facts_type = "avg_pool", WindowFacts

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A pool with channels second; padding may count or not, windows may reach beyond it (ceil_mode)."""
        if value.attrs.layout not in LAYOUTS:
            return f"limit: layout {value.attrs.layout}"
        size, out_size = (list(sizes_of(expr)[2:]) for expr in (value.args[0], var))
        dynamic = [d for d in (*size, *out_size) if isinstance(d, str)]
        reason = _dynamic_obstacle(value) if dynamic else None
        if reason:
            return f"limit: {reason} of a picture whose size is dynamic ({dynamic[0]})"
        known, known_out = ([int(d) for d in sizes if not dynamic] for sizes in (size, out_size))
        if op_name(value).startswith("nn.adaptive"):
            facts = _adaptive(known, known_out)
        elif any(int(d) != 1 for d in value.attrs.dilation):
            return "limit: dilated average pooling"
        else:
            facts = _windows(value.attrs, known, known_out)
        reason = _window_obstacle(facts.counts(size))
        return reason or Group(self.name, var.name, [var.name], [value.args[0].name], facts=facts)

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit the sums and their requantize."""
        x, facts = realizer.codes(group.inputs[0]), group.facts
        counts = facts.counts(sizes_of(x.var)[2:])
        if facts.out_size:
            sums = ops.adaptive_sum_pool(x.var, out_size=facts.out_size, zero_point=x.zero_point)
        else:
            sums = ops.sum_pool(
                x.var, kernel=facts.kernel, strides=facts.strides, padding=facts.padding, zero_point=x.zero_point
            )
        return emit_average(realizer, sums, x, counts, group)

    def average_counts(self, view: View, group: Group) -> np.ndarray:
        """Those of all windows."""
        counts: np.ndarray = group.facts.counts(sizes_of(view.value[group.root].args[0])[2:])
        return counts


def _dynamic_obstacle(value: relax.Call) -> str | None:
    """The kind of windows that needs a known size; None for those that all count alike, whatever the size."""
    if op_name(value).startswith("nn.adaptive"):
        return "adaptive windows"
    attrs = value.attrs
    kernel, padding = [int(k) for k in attrs.pool_size], [int(p) for p in attrs.padding]
    if attrs.ceil_mode or (any(padding) and not attrs.count_include_pad):
        return "windows that count less at the border"
    if any(side >= size for size, side in zip(kernel * 2, padding, strict=True)):
        return "windows in the padding alone"
    return None


def _windows(attrs: Any, size: list[int], out_size: list[int]) -> WindowFacts:
    kernel, strides = [int(k) for k in attrs.pool_size], [int(s) for s in attrs.strides]
    attr_padding = [int(p) for p in attrs.padding]
    padding = list(covering_padding(attr_padding, size, out_size, kernel, strides)) if size else attr_padding
    counted = attr_padding if attrs.count_include_pad else [0] * len(attr_padding)
    return WindowFacts(kernel=kernel, strides=strides, padding=padding, counted=counted)


def _adaptive(size: list[int], out_size: list[int]) -> WindowFacts:
    if any(n % m for n, m in zip(size, out_size, strict=True)):
        return WindowFacts(out_size=out_size)
    kernel, none = [n // m for n, m in zip(size, out_size, strict=True)], [0] * 2 * len(size)
    return WindowFacts(kernel=kernel, strides=kernel, padding=none, counted=none)


def _window_obstacle(counts: np.ndarray) -> str | None:
    """Why windows of these counts have no integer form, None if they have."""
    if counts.min() < 1:
        return "limit: a window lies wholly in the padding"
    unequal = np.unique(counts)
    if math.lcm(*(int(count) for count in unequal)) * LARGEST_STEP > INT32_MAX:
        return "limit: the common multiple of the windows' counts leaves int32"
    return None


FAMILY = AveragePool()
