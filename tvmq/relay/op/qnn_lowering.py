"""Relax forms of relay.qnn.op. Sums and requantizing are exact integers.

    qnn.conv2d, conv2d_transpose, dense, batch_matmul
                                       int32 sums of (code - zero point) times (code - zero point)
    qnn.requantize                     s_in / s_out as a multiplier of 31 bits and a shift, tvmq.numerics.requantize
    qnn.add, subtract                  both sides brought to the scale of the result, then added in int32
    qnn.mul                            the product in int32, requantized from the product of the scales
    qnn.concatenate                    each part requantized
    qnn.quantize                       tvmq.quantize, ties to even; qnn.dequantize  tvmq.dequantize
    qnn.simulated_quantize             the codes as floats; qnn.simulated_dequantize  floats of them

Scales and zero points are constants. Kernels with constant codes are packed when they are built.

Tests: tests/relay/test_qnn.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tvm import relax
from tvm.ir import GenericConst

from tvmq.errors import ModelError, UnsupportedOpError
from tvmq.extension import ops
from tvmq.numerics import fixed_point_parameters
from tvmq.numerics.code_type import CODES_8, CODES_16
from tvmq.relay.op.arguments import array, scalar, sides, spread
from tvmq.relay.op.conv import check_weight
from tvmq.relay.op.registry import Attrs, get, register

_BINARY = {"lhs_axis": -1, "rhs_axis": -1}


def _read_qparams(args: Sequence[Any], what: str, axis: int, x: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Scale, zero point and axis (-1: one for the whole tensor) of constants, which fit the axis of x."""
    scale, zero = array(args[0], what).astype(np.float32), array(args[1], what).astype(np.int32)
    if max(scale.size, zero.size) == 1:
        return scale.reshape(()), zero.reshape(()), -1
    scale, zero = (np.array(part) for part in np.broadcast_arrays(scale.reshape(-1), zero.reshape(-1)))
    axis %= len(x.ty.shape)
    size = int(x.ty.shape[axis])
    if size != scale.size:
        raise ModelError(f"relay, {what}: {scale.size} scales or zero points for an axis of {size}; give as many")
    return scale, zero, axis


def _code_options(dtype: str, what: str, allowed: Sequence[str] = CODES_16) -> dict[str, Any]:
    """Options of an operator that gives codes of a type."""
    if dtype not in allowed:
        raise UnsupportedOpError(f"relay, {what}: out_dtype='{dtype}' is not supported; use {', '.join(allowed)}")
    limits = np.iinfo(dtype)
    return {"dtype": dtype, "qmin": int(limits.min), "qmax": int(limits.max)}


@register("qnn.quantize", out_dtype="int8", axis=-1)
def _quantize(emit: Any, args: list[Any], attrs: Any) -> Any:
    scale, zero, axis = _read_qparams(args[1:], "qnn.quantize", attrs.axis, args[0])
    options = _code_options(attrs.out_dtype, "qnn.quantize")
    return emit(ops.quantize(args[0], relax.const(scale), relax.const(zero), axis=axis, **options))


@register("qnn.dequantize", out_dtype="float32", axis=-1)
def _dequantize(emit: Any, args: list[Any], attrs: Any) -> Any:
    scale, zero, axis = _read_qparams(args[1:], "qnn.dequantize", attrs.axis, args[0])
    x = emit(ops.dequantize(args[0], relax.const(scale), relax.const(zero), axis=axis))
    return x if attrs.out_dtype == "float32" else emit(relax.op.astype(x, attrs.out_dtype))


@register("qnn.simulated_quantize", out_dtype="int8", axis=-1)
def _simulated_quantize(emit: Any, args: list[Any], attrs: Any) -> Any:
    if attrs.out_dtype == "disable":
        return args[0]
    return emit(relax.op.astype(_quantize(emit, args, attrs), str(args[0].ty.dtype)))


@register("qnn.simulated_dequantize", in_dtype="int8", axis=-1)
def _simulated_dequantize(emit: Any, args: list[Any], attrs: Any) -> Any:
    if attrs.in_dtype == "disable":
        return args[0]
    scale, zero, axis = _read_qparams(args[1:], "qnn.simulated_dequantize", attrs.axis, args[0])
    shape = [-1 if at == axis else 1 for at in range(len(args[0].ty.shape))] if axis >= 0 else ()
    steps = emit(relax.op.subtract(args[0], relax.const(zero.reshape(shape).astype(np.float32))))
    return emit(relax.op.multiply(steps, relax.const(scale.reshape(shape))))


# ---- sums


def _centre_codes(emit: Any, codes: Any, zeros: np.ndarray, axis: int) -> Any:
    """Codes of 8 bits minus their zero points: int8 where that is known to hold them, else int16."""
    if codes.ty.dtype == "int8" and not zeros.any():
        return codes
    shape = [1] * len(codes.ty.shape)
    shape[axis] = -1
    zeros = zeros.astype(np.int16).reshape(shape if zeros.size > 1 else ())
    if not isinstance(codes, GenericConst):
        return emit(relax.op.subtract(emit(relax.op.astype(codes, "int16")), relax.const(zeros)))
    centred = codes.value.numpy().astype(np.int16) - zeros
    fits = centred.min(initial=0) >= -128 and centred.max(initial=0) <= 127
    return relax.const(centred.astype(np.int8 if fits else np.int16))


def _sum_weights(emit: Any, kernel: Any, axes: Sequence[int], times: int) -> Any:
    """The int32 sums of int8 weights over some axes, times a zero point."""
    if isinstance(kernel, GenericConst):
        return relax.const((kernel.value.numpy().sum(tuple(axes), dtype=np.int64) * times).astype(np.int32))
    sums = emit(relax.op.sum(emit(relax.op.astype(kernel, "int32")), list(axes)))
    return emit(relax.op.multiply(sums, relax.const(times, "int32")))


def _widen_codes(emit: Any, codes: Any, zero: int, dtype: str = "int32") -> Any:
    """Codes minus their zero point in a type that holds it."""
    wide = codes if codes.ty.dtype == dtype else emit(relax.op.astype(codes, dtype))
    return emit(relax.op.subtract(wide, relax.const(zero, dtype))) if zero else wide


def _input_zero_point(args: list[Any], attrs: Any, what: str) -> int:
    """The zero point of the data of a sum.

    raises   UnsupportedOpError for operands and results that are not taken, ModelError for a zero point that is no code
    """
    if attrs.out_dtype not in ("", "int32"):
        raise UnsupportedOpError(f"relay, {what}: out_dtype='{attrs.out_dtype}' is not supported; sums are int32")
    for operand in args[:2]:
        if operand.ty.dtype not in CODES_8:
            raise UnsupportedOpError(f"relay, {what}: {operand.ty.dtype} is not supported; use codes of 8 bits")
    zero, dtype = scalar(args[2], f"{what}, input_zero_point"), str(args[0].ty.dtype)
    if not np.iinfo(dtype).min <= zero <= np.iinfo(dtype).max:
        raise ModelError(f"relay, {what}: zero point {zero} is no {dtype}; give a code of the data")
    return int(zero)


def _arrange_axes(emit: Any, value: Any, layout: str, wanted: str) -> Any:
    """A tensor with its axes in another order."""
    order = [layout.index(axis) for axis in wanted]
    if order == sorted(order):
        return value
    if isinstance(value, GenericConst):
        return relax.const(np.ascontiguousarray(value.value.numpy().transpose(order)))
    return emit(relax.op.permute_dims(value, order))


@register("qnn.conv2d", **get("nn.conv2d").defaults)
def _conv2d(emit: Any, args: list[Any], attrs: Any) -> Any:
    zero = _input_zero_point(args, attrs, "qnn.conv2d")
    x = _arrange_axes(emit, args[0], attrs.data_layout, "NCHW")
    kernel = _arrange_axes(emit, args[1], attrs.kernel_layout, "OIHW")
    kernel = _centre_codes(emit, kernel, array(args[3], "qnn.conv2d, kernel_zero_point"), 0)
    options = {**attrs, "data_layout": "NCHW", "kernel_layout": "OIHW", "out_layout": "", "out_dtype": "int32"}
    share = None
    if kernel.ty.dtype != "int8":
        x = _widen_codes(emit, x, zero, "int16")
    elif zero:
        top, left, bottom, right = sides(attrs.padding, 2)
        x = emit(relax.op.nn.pad(x, [0, 0, 0, 0, top, bottom, left, right], pad_value=zero))
        options["padding"] = (0, 0)
        share = emit(relax.op.reshape(_sum_weights(emit, kernel, (1, 2, 3), zero), [1, -1, 1, 1]))
    sums = get("nn.conv2d").lowering(emit, [x, kernel], Attrs(options))
    sums = sums if share is None else emit(relax.op.subtract(sums, share))
    return _arrange_axes(emit, sums, "NCHW", attrs.out_layout or attrs.data_layout)


@register("qnn.conv2d_transpose", **get("nn.conv2d_transpose").defaults)
def _conv2d_transpose(emit: Any, args: list[Any], attrs: Any) -> Any:
    what = "qnn.conv2d_transpose"
    zero, kernel_zeros = _input_zero_point(args, attrs, what), array(args[3], f"{what}, kernel_zero_point")
    check_weight(args[1], attrs, transposed=True)
    if kernel_zeros.size > 1 and attrs.groups > 1:
        raise UnsupportedOpError(f"relay, {what}: zero points for each channel with groups; give one for all")
    x = _arrange_axes(emit, args[0], attrs.data_layout, "NCHW")
    kernel = _centre_codes(emit, _arrange_axes(emit, args[1], attrs.kernel_layout, "IOHW"), kernel_zeros, 1)
    if kernel.ty.dtype != "int8":
        x, zero = _widen_codes(emit, x, zero, "int16"), 0
    windows = {key: spread(attrs[key], 2) for key in ("strides", "dilation", "output_padding")}
    windows["padding"] = sides(attrs.padding, 2)
    sums = emit(ops.conv_transpose(x, kernel, groups=int(attrs.groups), zero_point=zero, **windows))
    if zero:
        share = emit(relax.op.reshape(_sum_filters(emit, kernel, int(attrs.groups), zero), [1, -1, 1, 1]))
        sums = emit(relax.op.subtract(sums, share))
    return _arrange_axes(emit, sums, "NCHW", attrs.out_layout or attrs.data_layout)


def _sum_filters(emit: Any, kernel: Any, groups: int, times: int) -> Any:
    """The sums of each filter of a transposed convolution, (C, F / groups, kernel...), times a zero point."""
    depth, per_group, *window = (int(size) for size in kernel.ty.shape)
    by_group = [groups, depth // groups, per_group, *window]
    if isinstance(kernel, GenericConst):
        return _sum_weights(emit, relax.const(kernel.value.numpy().reshape(by_group)), (1, 3, 4), times)
    return _sum_weights(emit, emit(relax.op.reshape(kernel, by_group)), (1, 3, 4), times)


@register("qnn.dense", units=None, out_dtype="int32")
def _dense(emit: Any, args: list[Any], attrs: Any) -> Any:
    x, zero = args[0], _input_zero_point(args, attrs, "qnn.dense")
    kernel = _centre_codes(emit, args[1], array(args[3], "qnn.dense, kernel_zero_point"), 0)
    narrow = kernel.ty.dtype == "int8"
    operands = [x if narrow else _widen_codes(emit, x, zero, "int16"), kernel]
    sums = get("nn.dense").lowering(emit, operands, Attrs({**attrs, "out_dtype": "int32"}))
    return emit(relax.op.subtract(sums, _sum_weights(emit, kernel, (1,), zero))) if narrow and zero else sums


@register("qnn.batch_matmul", out_dtype="int32")
def _batch_matmul(emit: Any, args: list[Any], attrs: Any) -> Any:
    zero = _input_zero_point(args, attrs, "qnn.batch_matmul")
    y = emit(relax.op.permute_dims(args[1], [0, 2, 1]))
    return emit(ops.matmul(args[0], y, a_zero=zero, b_zero=scalar(args[3], "qnn.batch_matmul, y_zero_point")))


# ---- other scales


@register("qnn.requantize", axis=-1, rounding="None", compute_dtype="None", out_dtype="int8")
def _requantize(emit: Any, args: list[Any], attrs: Any) -> Any:
    what = "qnn.requantize"
    if attrs.compute_dtype not in ("None", "int64"):
        raise UnsupportedOpError(
            f"relay, {what}: compute_dtype='{attrs.compute_dtype}' is not supported; leave it out: exact in int64"
        )
    rounding = "UPWARD" if attrs.rounding == "None" else attrs.rounding
    x, (scale, zero, axis) = args[0], _read_qparams(args[1:3], what, attrs.axis, args[0])
    factor = scale.astype(np.float64) / scalar(args[3], f"{what}, output_scale")
    point = scalar(args[4], f"{what}, output_zero_point")
    if zero.any():
        shape = [-1 if at == axis else 1 for at in range(len(x.ty.shape))] if axis >= 0 else ()
        wide = emit(relax.op.astype(x, "int32"))
        x = emit(relax.op.subtract(wide, relax.const(zero.reshape(shape))))
    if attrs.out_dtype == "int32" and axis < 0 and rounding == "UPWARD":
        steps = _rescale_sums(emit, _widen_codes(emit, x, 0), float(factor))
        return emit(relax.op.add(steps, relax.const(point, "int32")))
    options = {**_code_options(attrs.out_dtype, what), "axis": axis, "mode": "fixed_point", "rounding": rounding}
    if rounding not in ("UPWARD", "TONEAREST"):
        raise UnsupportedOpError(f"relay, {what}: rounding='{rounding}' is not supported; use UPWARD or TONEAREST")
    parameters = [relax.const(part) for part in fixed_point_parameters(factor)]
    return emit(ops.requantize(x, *parameters, zero_point=point, **options))


def _rescale_sums(emit: Any, sums: Any, factor: float) -> Any:
    """int32 sums times a factor, ties upward."""
    multiplier, shift = (int(part) for part in fixed_point_parameters(factor))
    return get("fixed_point_multiply").lowering(emit, [sums], Attrs({"multiplier": multiplier, "shift": shift}))


def _saturate_codes(emit: Any, steps: Any, point: int, dtype: str, what: str) -> Any:
    """int32 steps plus the zero point, saturated to the type of the codes."""
    limits = _code_options(dtype, what)
    codes = emit(relax.op.add(steps, relax.const(point, "int32")))
    bounds = (relax.prim_value(limits[key]) for key in ("qmin", "qmax"))
    return emit(relax.op.astype(emit(relax.op.clip(codes, *bounds)), dtype))


def read_numbers(args: list[Any], what: str) -> list[Any]:
    """Scales and zero points in turn: one number each; raises UnsupportedOpError for more."""
    for arg in args:
        if array(arg, what).size != 1:
            count = array(arg, what).size
            raise UnsupportedOpError(f"relay, {what}: {count} scales or zero points are not supported; give one")
    return [scalar(arg, what) for arg in args]


def _register_sum(name: str, join: Callable[[Any, Any], Any]) -> None:
    @register(name, **_BINARY)
    def lowering(emit: Any, args: list[Any], attrs: Any) -> Any:
        *both, scale, point = read_numbers(args[2:], name)
        left, right = (
            _rescale_sums(emit, _widen_codes(emit, codes, zero), side / scale)
            for codes, side, zero in zip(args[:2], both[::2], both[1::2], strict=True)
        )
        return _saturate_codes(emit, emit(join(left, right)), point, str(args[0].ty.dtype), name)


_register_sum("qnn.add", relax.op.add)
_register_sum("qnn.subtract", relax.op.subtract)


@register("qnn.mul", **_BINARY)
def _mul(emit: Any, args: list[Any], attrs: Any) -> Any:
    left, left_zero, right, right_zero, scale, point = read_numbers(args[2:], "qnn.mul")
    product = emit(relax.op.multiply(_widen_codes(emit, args[0], left_zero), _widen_codes(emit, args[1], right_zero)))
    factor = float(np.float32(left) * np.float32(right)) / scale
    return _saturate_codes(emit, _rescale_sums(emit, product, factor), point, str(args[0].ty.dtype), "qnn.mul")


@register("qnn.concatenate", axis=0)
def _concatenate(emit: Any, args: list[Any], attrs: Any) -> Any:
    data, scales, zeros = (list(group.fields) for group in args[:3])
    dtype = str(data[0].ty.dtype)
    options = Attrs({**get("qnn.requantize").defaults, "out_dtype": dtype})
    parts = [_requantize(emit, [*part, *args[3:5]], options) for part in zip(data, scales, zeros, strict=True)]
    return emit(relax.op.concat(parts, attrs.axis))
