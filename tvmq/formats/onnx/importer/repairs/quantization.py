"""Repairs of quantization in the model: QuantizeLinear and DequantizeLinear, and quantization at run time.

Quantization at run time, as onnxruntime's `quantize_dynamic` writes it, in operators whose result is defined:

    DynamicQuantizeLinear(x)          scale and zero point of the whole tensor from its extremes, uint8 codes
    ConvInteger(x, w, z_x, z_w)       conv2d(x, w - z_w) - z_x * (the convolution of an image of ones)
    MatMulInteger(x, w, z_x, z_w)     matmul(x, w - z_w) - z_x * sum(w - z_w)

The codes of x stay uint8 and those of a constant w become int8, so that the kernels of integer models serve; the
zero point of x is known at run time only and is taken out of the sums. A uint8 weight that leaves int8 around its zero
point keeps its codes minus 128; what that takes off, (128 - z_w) times the sum of the codes of x, is added. All of it
is exact in int32.

QuantizeLinear and DequantizeLinear become our own operators, whose definition is ONNX's:

    QuantizeLinear(x, s, z)      R.tvmq.quantize      constant scale and zero point, uint8 or int8 codes
    DequantizeLinear(q, s, z)    R.tvmq.dequantize    likewise; q may also be int32 (a bias)
    ... with block_size          R.tvmq.group_dequantize   a weight, its codes minus their zero points

Codes of 16 bits are int16 around zero. Everything else (computed scales, uint16) is left to TVM's converter and stays
float in the integer module; blocks of tensors that are no weights too.

Tests: tests/formats/onnx/importer/test_integer.py
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.formats.onnx.importer.repairs.layers import conv as explicit_pads
from tvmq.formats.onnx.importer.repairs.node import FIX_SHAPES, NodeCall, tensor_constant
from tvmq.graph import ops
from tvmq.numerics.code_type import CODES_8, CODES_16

CONVOLUTIONS = {1: relax.op.nn.conv1d, 2: relax.op.nn.conv2d, 3: relax.op.nn.conv3d}
HALF = 128  # takes uint8 to int8


def dynamic_quantize_linear(call: NodeCall) -> relax.Expr:
    """DynamicQuantizeLinear: as ONNX defines it; a tensor of one value has scale 1, as in onnxruntime."""
    x, emit, op = call.inputs[0], call.builder.emit, relax.op
    zero, one, most = (tensor_constant(np.float32(value)) for value in (0, 1, 255))
    high, low = emit(op.maximum(op.max(x), zero)), emit(op.minimum(op.min(x), zero))
    span = emit(op.subtract(high, low))
    scale = emit(op.where(op.equal(span, zero), one, op.divide(span, most)))
    point = emit(op.round(op.clip(op.subtract(zero, op.divide(low, scale)), 0, 255)))
    steps = op.add(op.round(op.divide(x, scale)), point)
    codes = emit(op.astype(op.clip(steps, 0, 255), "uint8"))
    return relax.Tuple([codes, scale, emit(op.astype(point, "uint8"))])


def conv_integer(call: NodeCall) -> relax.Expr:
    """ConvInteger with a constant weight."""
    weight, offset = _weight(call, axis=0)
    explicit_pads(call)
    spatial = weight.ndim - 2
    attributes = call.attributes
    padding = [int(p) for p in attributes.get("pads", (0,) * 2 * spatial)]
    options: dict[str, Any] = {
        "strides": [int(s) for s in attributes.get("strides", (1,) * spatial)],
        "dilation": [int(d) for d in attributes.get("dilations", (1,) * spatial)],
        "groups": int(attributes.get("group", 1)),
    }
    sizes = call.shape()[2:] if any(padding) else list(weight.shape[2:])
    if not all(isinstance(size, int) for size in sizes):
        raise call.unsupported_error("padding of an image of dynamic size is not supported", FIX_SHAPES)
    x = call.inputs[0]

    def convolve(codes: np.ndarray) -> relax.Expr:
        return CONVOLUTIONS[spatial](x, tensor_constant(codes), padding=padding, out_dtype="int32", **options)

    sums = convolve(weight)
    if any(padding):
        ones = np.ones((1, weight.shape[1] * options["groups"], *sizes), np.uint8)
        window = numerics.conv(ones, np.ones_like(weight), padding=padding, **options)
        share = numerics.conv(ones, weight, padding=padding, **options)
    else:
        window = np.asarray(math.prod(weight.shape[1:]))
        share = weight.sum(axis=tuple(range(1, weight.ndim)), dtype=np.int64).reshape(1, -1, *(1,) * spatial)
    if not offset.any():
        return _subtract_zero(call, sums, share)
    rows = 1 if options["groups"] == 1 else len(weight)  # sums over all channels are the same for each result
    whole = call.builder.emit(convolve(np.ones((rows, *weight.shape[1:]), np.int8)))
    offset = np.broadcast_to(offset.reshape(1, -1, *(1,) * spatial), (1, len(weight), *(1,) * spatial))
    return _subtract_zero(call, _add_offset(call, sums, whole, offset), share + offset * window)


def matmul_integer(call: NodeCall) -> relax.Expr | None:
    """MatMulInteger with a constant matrix on the right and one zero point on the left; TVM's converter otherwise."""
    zero = call.input(2)
    right = call.constant(1)
    if right is None or right.ndim != 2 or (zero is not None and len(zero.ty.shape) > 0):
        return None
    if call.input(3) is not None and call.constant(3) is None:
        return None
    weight, offset = _weight(call, axis=1)
    sums = relax.op.matmul(call.inputs[0], tensor_constant(weight), out_dtype="int32")
    share = weight.sum(axis=0, dtype=np.int64)
    if not offset.any():
        return _subtract_zero(call, sums, share)
    wide = call.builder.emit(relax.op.astype(call.inputs[0], "int32"))
    whole = call.builder.emit(relax.op.sum(wide, [-1], keepdims=True))
    return _subtract_zero(call, _add_offset(call, sums, whole, offset.ravel()), share + offset.ravel() * len(weight))


def _add_offset(call: NodeCall, sums: relax.Expr, whole: relax.Expr, offset: np.ndarray) -> relax.Expr:
    """The sums and what the offsets of the codes of the weight took from them."""
    share = call.builder.emit(relax.op.multiply(whole, tensor_constant(offset.astype(np.int32))))
    return relax.op.add(call.builder.emit(sums), share)


def _weight(call: NodeCall, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Constant codes as int8, and what to add to them so that they are around the zero point: one or a channel's."""
    weight, zero = call.constant(1), call.constant(3)
    if weight is None or (zero is None and call.input(3) is not None):
        raise call.unsupported_error("its weight is not a constant", "quantize the model with constant weights")
    zero = np.zeros(1, np.int32) if zero is None else zero.astype(np.int32).ravel()
    shape = [1] * weight.ndim
    shape[axis] = -1
    centred = weight.astype(np.int32) - zero.reshape(shape)
    if centred.min(initial=0) >= -HALF and centred.max(initial=0) < HALF:
        return np.asarray(centred.astype(np.int8)), np.zeros(1, np.int64)
    base = HALF if weight.dtype == np.uint8 else 0
    return (weight.astype(np.int32) - base).astype(np.int8), (base - zero).astype(np.int64)


def _subtract_zero(call: NodeCall, sums: relax.Expr, share: np.ndarray) -> relax.Expr:
    """The sums without what the zero point of x adds: its product with `share`."""
    zero = call.input(2)
    if zero is None:
        return sums
    sums = call.builder.emit(sums)
    point = call.builder.emit(relax.op.astype(zero, "int32"))
    return relax.op.subtract(sums, call.builder.emit(relax.op.multiply(tensor_constant(share.astype(np.int32)), point)))


WAY_OUT = "quantize the model with one scale for each tensor or channel"


def quantize_linear(call: NodeCall) -> relax.Expr | None:
    """QuantizeLinear; None leaves it to TVM."""
    numbers = _numbers(call)
    if numbers is None or call.dtype() != "float32":
        return None
    scale, zero, axis, dtype = numbers
    if dtype not in CODES_16 or (dtype == "int16" and zero.any()):
        return None
    limits = np.iinfo(dtype)
    named: dict[str, Any] = {"axis": axis, "dtype": dtype, "qmin": int(limits.min), "qmax": int(limits.max)}
    return ops.quantize(call.inputs[0], relax.const(scale), relax.const(zero), **named)


def dequantize_linear(call: NodeCall) -> relax.Expr | None:
    """DequantizeLinear; None leaves it to TVM."""
    if call.attributes.get("block_size", 0):
        return _in_blocks(call)
    numbers = _numbers(call)
    if numbers is None or call.dtype() not in (*CODES_16, "int32"):
        return None
    scale, zero, axis, dtype = numbers
    if dtype == "int16" and zero.any():
        return None
    return ops.dequantize(call.inputs[0], relax.const(scale), relax.const(zero), axis=axis)


def _in_blocks(call: NodeCall) -> relax.Expr:
    """Scales, and zero points, for blocks of a weight: its codes around zero in groups, as ours are; of others floats.

    A last block that is shorter makes the groups as long as both are multiples of. A weight that leaves int8 around
    its zero points is what it stands for, in float32.

    raises  UnsupportedOpError for scales or zero points that are computed, and for codes of more than 8 bits
    """
    op = relax.op
    codes, scale, zero = (call.constant(position) for position in range(3))
    size, axis = int(call.attributes["block_size"]), call.axis(1)
    shape, dtype = call.shape(), call.dtype()
    if scale is None or (zero is None and call.input(2) is not None) or not isinstance(shape[axis], int):
        raise call.unsupported_error("blocks need constant scales and an axis of fixed size", WAY_OUT)
    length = shape[axis]
    wanted = (*shape[:axis], -(-length // size), *shape[axis + 1 :])
    if dtype not in CODES_8 or scale.dtype != np.float32 or scale.shape != wanted:
        what = f"codes of {dtype} and scales of {scale.dtype} {list(scale.shape)} for blocks of {size}"
        raise call.unsupported_error(f"{what} are not supported, only 4 or 8 bits and float32 {list(wanted)}", WAY_OUT)
    size = min(size, length)
    group = math.gcd(size, length % size)

    def spread(values: np.ndarray, step: int) -> np.ndarray:
        return np.repeat(values, size // step, axis).take(range(length // step), axis)

    if codes is None:
        wide = op.astype(call.inputs[0], "int32")
        wide = wide if zero is None else op.subtract(wide, tensor_constant(spread(zero.astype(np.int32), 1)))
        return op.multiply(op.astype(wide, "float32"), tensor_constant(spread(scale, 1)))
    centred = codes.astype(np.int32)
    centred = centred if zero is None else centred - spread(zero.astype(np.int32), 1)
    if centred.min(initial=0) < -HALF or centred.max(initial=0) >= HALF:
        return relax.const(centred.astype(np.float32) * spread(scale, 1))
    codes = centred.astype(np.int8)
    kept: Any = relax.const(codes)
    if numerics.fits_int4(codes):
        kept = call.builder.emit(ops.unpack(relax.const(numerics.pack_int4(codes)), shape=list(codes.shape)))
    return ops.group_dequantize(kept, relax.const(spread(scale, group)), axis=axis, group_size=group)


def _numbers(call: NodeCall) -> tuple[np.ndarray, np.ndarray, int, str] | None:
    """Scale, zero point, axis (-1: one scale) and type of the codes; None where they are no constants.

    raises  UnsupportedOpError for blocks of scales and for scales that are not positive and finite
    """
    if call.attributes.get("block_size", 0):
        raise call.unsupported_error("scales for blocks of a tensor are not supported", WAY_OUT)
    scale, zero = call.constant(1), call.constant(2)
    if scale is None or scale.dtype != np.float32 or (zero is None and call.input(2) is not None):
        return None
    dtype = str(zero.dtype) if zero is not None else _default_type(call)
    if dtype not in (*CODES_16, "int32"):
        return None
    if not (np.isfinite(scale) & (scale > 0)).all():
        worst = float(scale[~(np.isfinite(scale) & (scale > 0))].ravel()[0])
        raise call.unsupported_error(f"a scale is {worst:g}", "scales must be positive, quantize the model again")
    zero = np.zeros(scale.shape, np.int32) if zero is None else zero.astype(np.int32)
    if scale.size == 1:
        return scale.reshape(()), zero.reshape(()), -1, dtype
    if scale.ndim != 1:
        raise call.unsupported_error(f"scales of shape {scale.shape} for blocks of a tensor are not supported", WAY_OUT)
    return scale, np.broadcast_to(zero, scale.shape).copy(), call.axis(1), dtype


def _default_type(call: NodeCall) -> str:
    """Type of the codes where no zero point tells it."""
    if call.op_type == "DequantizeLinear":
        return call.dtype()
    from onnx import helper

    code = call.attributes.get("output_dtype", 0)
    return str(helper.tensor_dtype_to_np_dtype(code)) if code else "uint8"
