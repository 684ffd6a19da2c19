"""conv2d in integers: also grouped, depthwise, dilated, with any padding; absorbs bias, relu, relu6 and clip.

Before                                            After
    c = conv2d(sq(x), sq(w))                          p = pad(x, value = zero point of x)
    b = add(c, bias)                                  a = conv2d(p, w) in int32
    y = clip(b, 0, 6)                                 b = add(a, round(bias / (s_x * s_w)) - z_x * sum(w))
                                                      y = requantize(b, s_x * s_w / s_y, bounds from the clip)
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.graph.macs import multiply_accumulates
from tvmq.graph.view import View, is_const, shape_of
from tvmq.passes.ops.base import Codes, Group, Realizer, absorb_bias, absorb_clip, is_channel_constant
from tvmq.passes.ops.weights import integer_bias, weight_codes


class Conv2d:
    """See the head of this file."""

    name = "conv2d"

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A convolution with a constant weight in NCHW / OIHW."""
        data, weight = value.args
        if not is_const(weight):
            return "limit: the weight is computed in the graph, not constant"
        if value.attrs.data_layout != "NCHW" or value.attrs.kernel_layout != "OIHW":
            return f"limit: layout {value.attrs.data_layout} / {value.attrs.kernel_layout}"
        filters = shape_of(weight)[0]
        members, low, high = [var.name], -np.inf, np.inf
        bias = absorb_bias(view, var.name, lambda b: is_channel_constant(b, 4, 1, filters))
        if bias:
            members.append(bias)
        clip = absorb_clip(view, members[-1])
        if clip:
            members.append(clip[0])
            low, high = clip[1:]
        facts = {"low": low, "high": high, "bias": bool(bias)}
        return Group(self.name, var.name, members, [data.name], macs=multiply_accumulates(value), facts=facts)

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit pad, conv2d, add and requantize."""
        call = realizer.view.value[group.root]
        x = realizer.codes(group.inputs[0])
        weight, scale = weight_codes(realizer, group)
        bias = integer_bias(realizer, group, weight, scale, x)
        data = _padded(realizer, group, x, [int(p) for p in call.attrs.padding])
        acc = realizer.emit(
            relax.op.nn.conv2d(
                data,
                relax.const(weight),
                strides=[int(s) for s in call.attrs.strides],
                padding=0,
                dilation=[int(d) for d in call.attrs.dilation],
                groups=int(call.attrs.groups),
                out_dtype="int32",
            ),
            group.root,
        )
        acc = realizer.emit(relax.op.add(acc, relax.const(bias.reshape(1, -1, 1, 1))), f"{group.root}_bias")
        product = np.float64(x.scale) * scale.astype(np.float64)
        return realizer.requantized(acc, product, group, axis=1)


def _padded(realizer: Realizer, group: Group, x: Codes, padding: list[int]) -> relax.Expr:
    """The codes with a border of the zero point, which is the code of 0.0."""
    if not any(padding):
        return x.var
    top, left, bottom, right = padding
    width = [0, 0, 0, 0, top, bottom, left, right]
    return realizer.emit(relax.op.nn.pad(x.var, width, pad_value=float(x.zero_point)), f"{group.root}_pad")


FAMILY = Conv2d()
