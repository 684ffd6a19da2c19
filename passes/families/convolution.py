"""Convolution in integers over one, two or three spatial axes; what conv1d.py, conv2d.py and conv3d.py share.

Before                                            After
    c = conv(sq(x), sq(w))                            p = pad(x, value = zero point of x)
    b = add(c, bias)                                  a = conv(p, w) in int32
    y = clip(b, 0, 6)                                 b = add(a, round(bias / (s_x * s_w)) - z_x * sum(w))
                                                      y = requantize(b, s_x * s_w / s_y, bounds from the clip)
    y = maximum(b, one number a channel)              y = maximum(requantize(...), its code): so a batch norm behind a
                                                          relu arrives here, see prepare

Tests: tests/passes/families/test_average_pools.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.graph.analysis.float_region_costs import multiply_accumulates
from tvmq.graph.view import View, const_value, is_const, rank_of, shape_of
from tvmq.options.config import QConfig
from tvmq.options.rules import LayerFacts
from tvmq.passes.families.absorb import absorb_bias, absorb_channel_bounds, absorb_clip, is_channel_constant
from tvmq.passes.families.base import (
    BOUNDED_SUFFIX,
    Codes,
    Family,
    Group,
    Realizer,
    WeightFacts,
    encode_constant,
)
from tvmq.passes.families.weights import integer_bias, weight_codes

# spatial axes -> layouts of data and kernel
LAYOUTS = {1: ("NCW", "OIW"), 2: ("NCHW", "OIHW"), 3: ("NCDHW", "OIDHW")}
# spatial axes -> layout of the kernel of a transposed convolution
TRANSPOSED_LAYOUTS = {1: "IOW", 2: "IOHW", 3: "IODHW"}


class Convolution(Family):
    """Convolution; `spatial` is the number of axes that the window slides over."""

    facts_type = WeightFacts
    anchor = weighted = rounds_weights = windowed = reads_int16 = True
    bias_axis = 1

    def __init__(self, name: str, spatial: int) -> None:
        self.name = name
        self.spatial = spatial

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A convolution with a constant weight, channels first."""
        reason = refusal(value, *LAYOUTS[self.spatial])
        return reason or absorbing_group(self.name, view, var, value, shape_of(value.args[1])[0])

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit pad, convolution, add and requantize."""
        call = realizer.view.value[group.root]
        x = realizer.codes(group.inputs[0])
        weight, scale = weight_codes(realizer, group)
        bias = integer_bias(realizer, group, weight, scale, x)
        data = _pad_codes(realizer, group, x, [int(p) for p in call.attrs.padding])
        sums = self.sums(call, data, relax.const(weight), is_padded=True)
        return finish_sums(realizer, group, sums, bias, np.float64(x.scale) * scale.astype(np.float64))

    def sums(self, call: relax.Call, x: relax.Expr, y: relax.Expr, *, is_padded: bool = False) -> relax.Call:
        """Convolution of codes; is_padded: they have their border, else it is of zeros."""
        return getattr(relax.op.nn, f"conv{self.spatial}d")(
            x,
            y,
            strides=[int(s) for s in call.attrs.strides],
            padding=0 if is_padded else [int(p) for p in call.attrs.padding],
            dilation=[int(d) for d in call.attrs.dilation],
            groups=int(call.attrs.groups),
            out_dtype="int32",
        )

    def spread_scale(self, call: relax.Call, scale: np.ndarray) -> np.ndarray:
        """Scales of the filters."""
        return over_channels(scale, self.spatial) if scale.ndim else scale

    def sums_in_lanes(self, weight: tuple[int | str, ...]) -> bool:
        """True for all but depthwise convolutions, which have one input channel a filter."""
        return len(weight) <= 2 or weight[1] != 1

    def switched_off(self, layer: LayerFacts, config: QConfig) -> str | None:
        """Option that keeps convolutions in float, by number."""
        chosen = layer.index in (config.skip_conv_layers or ())
        return f"option skip_conv_layers: {layer.index}" if chosen else None


def refusal(value: relax.Call, data_layout: str, kernel_layout: str) -> str | None:
    """Why a convolution has no integer form, None if it has one."""
    if not is_const(value.args[1]):
        return "limit: the weight is computed in the graph, not constant"
    attrs = value.attrs
    if attrs.data_layout != data_layout or attrs.kernel_layout != kernel_layout:
        return f"limit: layout {attrs.data_layout} / {attrs.kernel_layout}"
    return None


def absorbing_group(family: str, view: View, var: relax.Var, value: relax.Call, filters: int) -> Group:
    """A convolution of so many output channels with the bias and the clip behind it."""
    rank = rank_of(value)
    members = [var.name]
    bias = absorb_bias(view, var.name, lambda b: is_channel_constant(b, rank, 1, filters))
    if bias:
        members.append(bias)
    bounds = absorb_channel_bounds(view, members[-1], rank, 1, filters)
    facts = WeightFacts(bounds=bounds, bias=bool(bias))
    clip = None if bounds else absorb_clip(view, members[-1])
    if clip:
        bounds = [clip[0]]
        facts.low, facts.high = clip[1:]
    members += bounds
    return Group(family, var.name, members, [value.args[0].name], macs=multiply_accumulates(value), facts=facts)


def over_channels(values: np.ndarray, spatial: int) -> np.ndarray:
    """Values of the channels in a shape that broadcasts over what a convolution gives."""
    return values.reshape((1, -1) + (1,) * spatial)


def finish_sums(
    realizer: Realizer, group: Group, sums: relax.Call, bias: np.ndarray, scale: np.ndarray
) -> Codes | relax.Expr:
    """The sums of a convolution with their bias, as codes or floats; `scale` is that of the sums."""
    acc = realizer.emit(sums, group.root)
    bias = over_channels(bias, rank_of(acc) - 2)
    acc = realizer.emit(relax.op.add(acc, relax.const(bias)), f"{group.root}_bias")
    result = realizer.requantize(acc, scale, group, axis=1)
    return _bound_channels(realizer, group, result) if group.facts.bounds else result


def _bound_channels(realizer: Realizer, group: Group, result: Codes | relax.Expr) -> Codes | relax.Expr:
    """The maximum and minimum behind the convolution, on codes with the bounds in codes, or on floats as they are."""
    for name in group.facts.bounds:
        call = realizer.view.value[name]
        bound = const_value(call.args[1])
        if isinstance(result, Codes):
            codes = encode_constant(bound, result.qparams)
            value = relax.Call(call.op, [result.var, relax.const(codes)])
            result = Codes(realizer.emit(value, f"{name}{BOUNDED_SUFFIX}"), result.qparams)
        else:
            result = realizer.emit(relax.Call(call.op, [result, relax.const(bound)]), f"{name}{BOUNDED_SUFFIX}")
    return result


def _pad_codes(realizer: Realizer, group: Group, x: Codes, padding: list[int]) -> relax.Expr:
    """The codes with a border of the zero point, which is the code of 0.0; padding: all befores, then all afters."""
    if not any(padding):
        return x.var
    spatial = len(padding) // 2
    sides = zip(padding[:spatial], padding[spatial:], strict=True)
    width = [0, 0, 0, 0, *(side for pair in sides for side in pair)]
    return realizer.emit(relax.op.nn.pad(x.var, width, pad_value=float(x.zero_point)), f"{group.root}_pad")
