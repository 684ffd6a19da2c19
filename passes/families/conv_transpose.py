"""Transposed convolution in integers over one, two or three spatial axes; absorbs bias, relu and clip.

Before                                            After
    c = conv2d_transpose(sq(x), sq(w))                a = tvmq.conv_transpose(x, w) in int32; what lies between and
    b = add(c, bias)                                      around the codes of x is its zero point
    y = clip(b, 0, 6)                                 b = add(a, round(bias / (s_x * s_w)) - z_x * sum(w))
                                                      y = requantize(b, s_x * s_w / s_y, bounds from the clip)

The kernel is [in, out / groups, ...]: one scale for each entry of its second axis, the same in all groups; for a
depthwise one, whose second axis is 1, one for each of its first.

Tests: tests/tools/analysis/test_compare.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.graph import ops
from tvmq.graph.view import View, rank_of, shape_of
from tvmq.passes.families.base import Codes, Family, Group, Realizer, WeightFacts
from tvmq.passes.families.convolution import (
    LAYOUTS,
    TRANSPOSED_LAYOUTS,
    absorbing_group,
    finish_sums,
    over_channels,
    refusal,
)
from tvmq.passes.families.weights import integer_bias, weight_codes


class ConvTranspose(Family):
    """Transposed convolution over one, two or three spatial axes."""

    name, facts_type = "conv_transpose", WeightFacts
    anchor = weighted = windowed = True
    bias_axis = 1

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A transposed convolution with a constant weight, channels first."""
        spatial = rank_of(value) - 2
        reason = refusal(value, LAYOUTS[spatial][0], TRANSPOSED_LAYOUTS[spatial])
        return reason or absorbing_group(self.name, view, var, value, int(value.ty.shape[1]))

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit the sums, add and requantize."""
        call = realizer.view.value[group.root]
        x = realizer.codes(group.inputs[0])
        weight, scale = weight_codes(realizer, group)
        groups = int(call.attrs.groups)
        filters = numerics.filters_first(weight, groups)
        scale = per_output_channel(scale, weight.shape, groups)
        bias = integer_bias(realizer, group, filters, scale, x)
        sums = self.sums(call, x.var, relax.const(weight), zero_point=x.zero_point)
        return finish_sums(realizer, group, sums, bias, np.float64(x.scale) * scale.astype(np.float64))

    def sums(self, call: relax.Call, x: relax.Expr, y: relax.Expr, *, zero_point: int = 0) -> relax.Call:
        """Transposed convolution of the centred codes."""
        attrs = call.attrs
        return ops.conv_transpose(
            x,
            y,
            strides=[int(s) for s in attrs.strides],
            padding=[int(p) for p in attrs.padding],
            output_padding=[int(p) for p in attrs.output_padding],
            dilation=[int(d) for d in attrs.dilation],
            groups=int(attrs.groups),
            zero_point=zero_point,
        )

    def spread_scale(self, call: relax.Call, scale: np.ndarray) -> np.ndarray:
        """Scales of the output channels."""
        scale = per_output_channel(scale, tuple(shape_of(call.args[1])), int(call.attrs.groups))
        return over_channels(scale, rank_of(call) - 2) if scale.ndim else scale


def per_output_channel(scale: np.ndarray, weight_shape: tuple[int, ...], groups: int) -> np.ndarray:
    """Scales of a weight's channel axis (see `weight_axis`) as those of the output channels; one stays one."""
    if scale.size == 1 or scale.size == weight_shape[1] * groups:
        return scale
    return np.tile(scale, groups)


FAMILY = ConvTranspose()
