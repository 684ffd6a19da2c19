"""Convolutions, integer and float: padding, bias, requantize, residual add, table or clip inside one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmq.codegen.fusion import Chain
from tvmq.codegen.lower import Lowerer
from tvmq.codegen.lowerings.epilogue import finish_of
from tvmq.codegen.select import conv2d_kernel
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, shape_of
from tvmq.kernels.types import Conv2d


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """One kernel for the chain; False for layouts and weights that are not ours."""
    view = lowerer.view
    call = view.value[chain.head]
    if call.attrs.data_layout != "NCHW" or call.attrs.kernel_layout != "OIHW" or not is_const(call.args[1]):
        return False
    source, padding, pad_value = _padding(view, chain)
    weight = const_value(call.args[1])
    x_dtype = dtype_of(view.var[source])
    if x_dtype not in ("uint8", "int8", "float32") or weight.dtype != ("float32" if x_dtype == "float32" else "int8"):
        return False
    batch, channels, height, width = shape_of(view.var[source])
    conv = Conv2d(
        batch,
        height,
        width,
        channels,
        weight.shape[0],
        kernel=weight.shape[2:],
        strides=_pair(call.attrs.strides),
        padding=padding,
        dilation=_pair(call.attrs.dilation),
        groups=int(call.attrs.groups),
        x_dtype=x_dtype,
    )
    finish = finish_of(view, chain, conv.filters)
    kernel = conv2d_kernel(conv, weight, finish.bias, pad_value, finish.epilogue, lowerer.isa)
    if kernel is None:
        return False
    inputs = [lowerer.nhwc(source), *(lowerer.nhwc(other) for other in finish.others)]
    result = lowerer.call(kernel, inputs, conv.out_shape, dtype_of(view.var[finish.end]), finish.end)
    lowerer.give_nhwc(finish.end, result)
    return True


def _pair(values: Any) -> tuple[int, int]:
    rows, columns = values
    return int(rows), int(columns)


def _padding(view: View, chain: Chain) -> tuple[str, tuple[int, int, int, int], int]:
    """Input of the chain, total padding (top, left, bottom, right) and the value of the border."""
    call = view.value[chain.head]
    top, left, bottom, right = (int(p) for p in call.attrs.padding)
    source = call.args[0]
    if chain.members[0] == chain.head:
        return source.name, (top, left, bottom, right), 0
    pad = view.value[chain.members[0]]
    width = [int(w) for w in pad.attrs.pad_width]
    assert op_name(pad) == "nn.pad" and not any((top, left, bottom, right)) and not any(width[:4])
    value = int(np.float64(pad.attrs.pad_value))
    return pad.args[0].name, (width[4], width[6], width[5], width[7]), value
