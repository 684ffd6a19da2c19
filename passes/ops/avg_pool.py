"""Average pooling in integers: exact int32 sums of the windows, then a requantize by 1 / count (averages.py).

Before                                            After
    p = avg_pool2d(sq(x))                             s = tvmq.sum_pool2d(x) of the centred codes
                                                      p = requantize(s, s_x / (count * s_p))
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.graph import ops
from tvmq.graph.view import View, shape_of
from tvmq.graph.windows import covering_padding
from tvmq.passes.ops.averages import averaged
from tvmq.passes.ops.base import Codes, Group, Realizer

# |code - zero point| of 8 bits
LARGEST_STEP, INT32_MAX = 255, 2**31 - 1


class AveragePool:
    """See the head of this file."""

    name = "avg_pool2d"

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A pool in NCHW; padding may count or not."""
        attrs = value.attrs
        if attrs.layout != "NCHW":
            return f"limit: layout {attrs.layout}"
        if any(int(d) != 1 for d in attrs.dilation):
            return "limit: dilated average pooling"
        kernel, strides = [int(k) for k in attrs.pool_size], [int(s) for s in attrs.strides]
        size, out_size = shape_of(value.args[0])[2:], shape_of(var)[2:]
        given = [int(p) for p in attrs.padding]
        padding = list(covering_padding(given, size, out_size, kernel, strides))
        if padding != given and attrs.count_include_pad:
            return "limit: windows beyond the border that count padding (ceil_mode)"
        facts = {"low": -np.inf, "high": np.inf, "kernel": kernel, "strides": strides, "padding": padding}
        facts["counts_padding"] = bool(attrs.count_include_pad)
        reason = None if facts["counts_padding"] else _unequal_windows(window_counts(size, facts))
        return reason or Group(self.name, var.name, [var.name], [value.args[0].name], facts=facts)

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit the sums and their requantize."""
        x, facts = realizer.codes(group.inputs[0]), group.facts
        named = {name: facts[name] for name in ("kernel", "strides", "padding")}
        counts = np.asarray(math.prod(facts["kernel"]))
        if not facts["counts_padding"]:
            counts = window_counts(shape_of(x.var)[2:], facts)
        return averaged(realizer, ops.sum_pool2d(x.var, **named, zero_point=x.zero_point), x, counts, group)


def window_counts(size: Sequence[int], facts: Mapping[str, Any]) -> np.ndarray:
    """Pixels of the picture under each window."""
    named: dict[str, Any] = {name: tuple(facts[name]) for name in ("kernel", "strides", "padding")}
    return numerics.window_counts(size, **named)


def _unequal_windows(counts: np.ndarray) -> str | None:
    """Why windows of these counts have no integer form, None if they have."""
    if counts.min() < 1:
        return "limit: a window lies wholly in the padding"
    if math.lcm(*(int(count) for count in np.unique(counts))) * LARGEST_STEP > INT32_MAX:
        return "limit: the common multiple of the windows' counts leaves int32"
    return None


FAMILY = AveragePool()
