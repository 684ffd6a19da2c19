"""Repairs of convolutions, pools, normalizations and softmax.

The padding of convolutions and pools is made explicit: TVM's converters pad SAME_UPPER and SAME_LOWER with a TIR call,
or for pools by formulas unlike ONNX's.

Tests: tests/formats/onnx/importer/test_repairs.py
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tvm import relax

from tvmq.formats.onnx.importer.repairs.node import FIX_SHAPES, NodeCall, tensor_constant
from tvmq.graph.multiples import require_multiple
from tvmq.graph.sizes import is_multiple

STATIC = "fix the input shapes with shape=, or export with explicit pads"


def conv(call: NodeCall) -> None:
    """Conv: SAME_* and VALID become explicit pads."""
    _explicit_pads(call, call.shape(1)[2:])


def pool(call: NodeCall) -> None:
    """MaxPool, AveragePool, LpPool: as conv; the Indices output is refused."""
    if len(call.outputs) > 1:
        raise call.unsupported_error("its Indices output is not supported", "use only its first output")
    _explicit_pads(call, call.attributes["kernel_shape"])
    if call.op_type == "LpPool" and call.attributes.pop("ceil_mode", 0):
        _pad_last_windows(call, call.attributes["kernel_shape"])


def _pad_last_windows(call: NodeCall, kernel: list[int]) -> None:
    """LpPool of ceil_mode: zeros under the last windows; TVM takes a mean of what they hold times the whole window."""
    count, sizes = len(kernel), call.shape()[2:]
    if not all(isinstance(size, int) for size in sizes):
        raise call.unsupported_error("ceil_mode needs fixed height and width", STATIC)
    strides = call.attributes.get("strides", (1,) * count)
    dilations = call.attributes.get("dilations", (1,) * count)
    pads = call.attributes.get("pads", (0,) * (2 * count))
    ends = []
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        inside, window = size + pads[axis], (kernel[axis] - 1) * dilations[axis] + 1
        results = -((window - inside - pads[count + axis]) // stride) + 1
        results -= (results - 1) * stride >= inside  # a window starts before the padding at the end, or is none
        ends.append(max((results - 1) * stride + window - inside, 0))
    call.attributes["pads"] = (*pads[:count], *ends)


def conv_transpose(call: NodeCall) -> None:
    """ConvTranspose: output_shape, which TVM ignores, becomes explicit pads (ONNX's formula)."""
    target = call.attributes.pop("output_shape", None)
    if target is None:
        return
    sizes, kernel = call.shape()[2:], call.shape(1)[2:]
    if not all(isinstance(size, int) for size in [*sizes, *kernel]):
        raise call.unsupported_error("output_shape needs fixed input dimensions", STATIC)
    count = len(kernel)
    strides = call.attributes.get("strides", (1,) * count)
    dilations = call.attributes.get("dilations", (1,) * count)
    extra = call.attributes.get("output_padding", (0,) * count)
    totals = [
        strides[i] * (sizes[i] - 1) + extra[i] + (kernel[i] - 1) * dilations[i] + 1 - target[i - count]
        for i in range(count)
    ]
    # Where even unpadded results are too small, the rest is filled at the end, as output_padding does.
    call.attributes["output_padding"] = tuple(e + max(-t, 0) for e, t in zip(extra, totals, strict=True))
    call.attributes["pads"] = _split_totals([max(total, 0) for total in totals], call.text("auto_pad", "NOTSET"))
    call.attributes["auto_pad"] = b"NOTSET"


def roi_align(call: NodeCall) -> None:
    """RoiAlign in mode max is refused: TVM takes the maximum of other terms than ONNX does."""
    if call.text("mode", "avg") == "max":
        raise call.unsupported_error("mode max is not supported", "use mode avg")


def _explicit_pads(call: NodeCall, kernel: list[int]) -> None:
    """Replace auto_pad by pads: (begin of each axis, end of each axis)."""
    mode = call.text("auto_pad", "NOTSET")
    call.attributes.pop("auto_pad", None)
    if mode == "NOTSET":
        return
    count = len(kernel)
    if mode == "VALID":
        call.attributes["pads"] = (0,) * (2 * count)
        return
    strides = call.attributes.get("strides", (1,) * count)
    dilations = call.attributes.get("dilations", (1,) * count)
    totals = []
    for size, window, stride, dilation in zip(call.shape()[2:], kernel, strides, dilations, strict=True):
        if not isinstance(window, int):
            raise call.unsupported_error(f"auto_pad {mode} needs a kernel of fixed sizes", STATIC)
        covered = stride if is_multiple(size, stride) else _rest_of_size(call, size, stride, mode)
        totals.append(max((window - 1) * dilation + 1 - covered, 0))
    call.attributes["pads"] = _split_totals(totals, mode)


def _rest_of_size(call: NodeCall, size: Any, stride: int, mode: str) -> int:
    """Pixels that the last window of auto_pad has before padding, in a size that is no multiple of the stride.

    raises OnlyMultiples for a dynamic size that can be one
    """
    if isinstance(size, int):
        return size % stride
    require_multiple(size, stride)
    raise call.unsupported_error(f"auto_pad {mode} needs fixed height and width", STATIC)


def _split_totals(totals: list[int], mode: str) -> tuple[int, ...]:
    """Padding of each axis as (begins, ends); an odd one goes to the end for SAME_UPPER, else the start."""
    begins = [total // 2 if mode == "SAME_UPPER" else total - total // 2 for total in totals]
    return (*begins, *(total - begin for total, begin in zip(totals, begins, strict=True)))


def batch_norm(call: NodeCall) -> None:
    """BatchNormalization in training mode is refused: its statistics would be those of the batch."""
    if call.attributes.get("training_mode", 0):
        raise call.unsupported_error("training_mode=1 is not supported", "export the model in evaluation mode")


def layer_norm(call: NodeCall) -> relax.Expr | None:
    """LayerNormalization with its mean and 1 / deviation, where they are read (TVM gives zeros)."""
    if len(call.outputs) == 1:
        return None
    x, shape, first = call.inputs[0], call.shape(), call.axis(-1)
    axes = list(range(first, len(shape)))
    if not all(isinstance(size, int) for size in shape[first:]):
        raise call.unsupported_error("its mean over dynamic dimensions is not supported", FIX_SHAPES)
    bias = call.input(2)
    bias = tensor_constant(np.zeros(shape[first:], call.dtype())) if bias is None else bias
    epsilon = call.attributes.get("epsilon", 1e-5)
    mean = relax.op.mean(x, axes, keepdims=True)
    square = relax.op.mean(relax.op.square(relax.op.subtract(x, mean)), axes, keepdims=True)
    inverse = relax.op.rsqrt(relax.op.add(square, tensor_constant(np.array(epsilon, call.dtype()))))
    result = relax.op.nn.layer_norm(x, call.inputs[1], bias, axes, epsilon)
    return relax.Tuple([result, mean, inverse])


def lp_norm(call: NodeCall) -> relax.Expr:
    """LpNormalization, p 1 or 2: x / norm along the axis; 0 where the norm is 0."""
    x, axis, p = call.inputs[0], [call.axis(-1)], call.attributes.get("p", 2)
    if p == 1:
        norm = relax.op.sum(relax.op.abs(x), axis, keepdims=True)
    else:
        norm = relax.op.sqrt(relax.op.sum(relax.op.multiply(x, x), axis, keepdims=True))
    zero, one = (tensor_constant(np.array(value, call.dtype())) for value in (0, 1))
    return relax.op.divide(x, relax.op.where(relax.op.equal(norm, zero), one, norm))


def only_first_output(call: NodeCall) -> None:
    """SkipLayerNormalization: TVM fills the further outputs (mean, deviation) with zeros."""
    if len(call.outputs) > 1:
        raise call.unsupported_error("only its first output is supported", "do not use the others")


def softmax(call: NodeCall) -> relax.Expr | None:
    """Softmax, LogSoftmax and Hardmax before opset 13, over all axes from `axis` on; TVM's are not for dynamic shapes.

    On the last axis the rows are those of x, and no reshape is needed.
    """
    if call.opset >= 13:
        return None
    x, shape, first = call.inputs[0], call.shape(), call.axis(1)
    if first == len(shape) - 1 and call.op_type == "Softmax":
        return relax.op.nn.softmax(x, axis=-1)
    if all(isinstance(size, int) for size in shape):
        return None
    if call.op_type == "Hardmax":
        raise call.unsupported_error("dynamic dimensions before opset 13 are not supported", FIX_SHAPES)
    rows = relax.op.reshape(x, [math.prod(shape[:first]), math.prod(shape[first:])])
    function = relax.op.nn.softmax if call.op_type == "Softmax" else relax.op.nn.log_softmax
    return relax.op.reshape(function(rows, axis=-1), shape)


def rms_norm(call: NodeCall) -> relax.Expr | None:
    """RMSNormalization over all dimensions at once: of the tensor seen as one row (TVM cannot build it otherwise)."""
    if call.axis(-1) != 0:
        return None
    shape = call.shape()
    if not all(isinstance(size, int) for size in [*shape, *call.shape(1)]):
        raise call.unsupported_error("axis 0 with dynamic dimensions is not supported", FIX_SHAPES)
    row = relax.op.reshape(call.inputs[0], [1, math.prod(shape)])
    weight = relax.op.reshape(relax.op.broadcast_to(call.inputs[1], shape), [math.prod(shape)])
    epsilon = call.attributes.get("epsilon", 1e-5)
    return relax.op.reshape(relax.op.nn.rms_norm(row, weight, [1], epsilon), shape)
