"""Average pooling in integers: exact int32 sums of the windows, then a requantize by 1 / count.

Before                                            After
    p = avg_pool2d(sq(x))                             s = tvmq.sum_pool2d(x) of the centred codes
                                                      p = requantize(s, s_x / (count * s_p))
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.graph import ops
from tvmq.graph.view import View, shape_of
from tvmq.passes.ops.base import Codes, Group, Realizer


class AveragePool:
    """See the head of this file."""

    name = "avg_pool2d"

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A pool in NCHW whose windows all count the same number of pixels."""
        attrs = value.attrs
        padding = [int(p) for p in attrs.padding]
        if attrs.layout != "NCHW":
            return f"limit: layout {attrs.layout}"
        if any(int(d) != 1 for d in attrs.dilation):
            return "limit: dilated average pooling"
        if any(padding) and not attrs.count_include_pad:
            return "limit: windows at the border count fewer pixels (count_include_pad=0 with padding)"
        kernel, strides = [int(k) for k in attrs.pool_size], [int(s) for s in attrs.strides]
        rows, columns = shape_of(value.args[0])[2:]
        exact = (
            (rows + padding[0] + padding[2] - kernel[0]) // strides[0] + 1,
            (columns + padding[1] + padding[3] - kernel[1]) // strides[1] + 1,
        )
        if exact != shape_of(var)[2:]:
            return "limit: windows beyond the border (ceil_mode)"
        facts = {"low": -np.inf, "high": np.inf, "kernel": kernel, "strides": strides, "padding": padding}
        return Group(self.name, var.name, [var.name], [value.args[0].name], facts=facts)

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit the sums and their requantize."""
        x, facts = realizer.codes(group.inputs[0]), group.facts
        call = ops.sum_pool2d(
            x.var,
            kernel=facts["kernel"],
            strides=facts["strides"],
            padding=facts["padding"],
            zero_point=x.zero_point,
        )
        acc = realizer.emit(call, f"{group.root}_sum")
        count = facts["kernel"][0] * facts["kernel"][1]
        return realizer.requantized(acc, np.atleast_1d(np.float64(x.scale) / count), group)


FAMILY = AveragePool()
