"""relay.qnn.op: operators on codes, of models that a framework quantized; see qnn_lowering.py for what they compute.

Between relay.qnn.op.dequantize and quantize stands any operator of floats: transform.FakeQuantizationToInteger.

Tests: tests/relay/quantize/test_classic_cases.py
"""

from __future__ import annotations

from typing import Any

import tvmq.relay.op.qnn_lowering  # noqa: F401  registers the operators
import tvmq.relay.op.qnn_tables  # noqa: F401  as well
from tvmq.relay.expr import Call, Expr, Tuple
from tvmq.relay.op.arguments import call, sides, spread
from tvmq.relay.types import numbers


def quantize(data: Expr, output_scale: Expr, output_zero_point: Expr, axis: int = -1, out_dtype: str = "int8") -> Call:
    """Codes of floats, as relay.qnn.op.quantize: clip(rint(data / scale) + zero point); int8, uint8 or int16."""
    return call("qnn.quantize", data, output_scale, output_zero_point, axis=axis, out_dtype=out_dtype)


def dequantize(
    data: Expr, input_scale: Expr, input_zero_point: Expr, axis: int = -1, out_dtype: str = "float32"
) -> Call:
    """Floats of codes, as relay.qnn.op.dequantize: (data - zero point) * scale."""
    return call("qnn.dequantize", data, input_scale, input_zero_point, axis=axis, out_dtype=out_dtype)


def simulated_quantize(
    data: Expr, output_scale: Expr, output_zero_point: Expr, axis: int = -1, out_dtype: str = "int8"
) -> Call:
    """The codes of `quantize` as floats, as relay.qnn.op.simulated_quantize; "disable" leaves the data as they are."""
    return call("qnn.simulated_quantize", data, output_scale, output_zero_point, axis=axis, out_dtype=str(out_dtype))


def simulated_dequantize(
    data: Expr, input_scale: Expr, input_zero_point: Expr, axis: int = -1, in_dtype: str = "int8"
) -> Call:
    """Floats of codes that are floats, (data - zero point) * scale, as relay.qnn.op.simulated_dequantize."""
    return call("qnn.simulated_dequantize", data, input_scale, input_zero_point, axis=axis, in_dtype=str(in_dtype))


def requantize(
    data: Expr, input_scale: Expr, input_zero_point: Expr, output_scale: Expr, output_zero_point: Expr,
    axis: int = -1, rounding: str = "None", compute_dtype: str = "None", out_dtype: str = "int8",
) -> Call:  # fmt: skip
    """Codes or int32 sums in another scale, as relay.qnn.op.requantize.

    rounding       ties "UPWARD" (which "None" means) or away from zero, "TONEAREST"
    compute_dtype  "None" or "int64": a multiplier of 31 bits and a shift

    >>> from tvmq.relay.expr import const, var
    >>> sums, scale, zero = var("sums", shape=(2,), dtype="int32"), const(0.5), const(0)
    >>> str(requantize(sums, scale, zero, const(1.0), zero).checked_type)
    'Tensor[(2), int8]'
    """
    options = {"axis": axis, "rounding": rounding, "compute_dtype": compute_dtype, "out_dtype": out_dtype}
    qparams = (input_scale, input_zero_point, output_scale, output_zero_point)
    return call("qnn.requantize", data, *qparams, **options)


def conv2d(
    data: Expr, kernel: Expr, input_zero_point: Expr, kernel_zero_point: Expr, input_scale: Expr, kernel_scale: Expr,
    kernel_size: Any, channels: int | None, strides: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1),
    groups: int = 1, data_layout: str = "NCHW", kernel_layout: str = "OIHW", out_layout: str = "",
    out_dtype: str = "int32",
) -> Call:  # fmt: skip
    """int32 sums of a convolution of codes, as relay.qnn.op.conv2d; what is padded is the zero point."""
    operands = (data, kernel, input_zero_point, kernel_zero_point, input_scale, kernel_scale)
    options = {
        "strides": spread(strides, 2), "padding": sides(padding, 2), "dilation": spread(dilation, 2),
        "groups": groups, "channels": None if channels is None else int(channels),
        "kernel_size": None if kernel_size is None else spread(numbers(kernel_size), 2),
        "data_layout": data_layout, "kernel_layout": kernel_layout, "out_layout": out_layout, "out_dtype": out_dtype,
    }  # fmt: skip
    return call("qnn.conv2d", *operands, **options)


def conv2d_transpose(
    data: Expr, weight: Expr, input_zero_point: Expr, kernel_zero_point: Expr, input_scale: Expr, kernel_scale: Expr,
    strides: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1), groups: int = 1, channels: int | None = None,
    kernel_size: Any = None, data_layout: str = "NCHW", kernel_layout: str = "IOHW", out_layout: str = "",
    output_padding: Any = (0, 0), out_dtype: str = "int32",
) -> Call:  # fmt: skip
    """int32 sums of a transposed convolution of codes, as relay.qnn.op.conv2d_transpose."""
    operands = (data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale)
    options = {
        "strides": spread(strides, 2), "padding": sides(padding, 2), "dilation": spread(dilation, 2),
        "groups": groups, "channels": None if channels is None else int(channels),
        "kernel_size": None if kernel_size is None else spread(numbers(kernel_size), 2),
        "data_layout": data_layout, "kernel_layout": kernel_layout, "out_layout": out_layout,
        "output_padding": spread(output_padding, 2), "out_dtype": out_dtype,
    }  # fmt: skip
    return call("qnn.conv2d_transpose", *operands, **options)


def dense(
    data: Expr, weight: Expr, input_zero_point: Expr, kernel_zero_point: Expr, input_scale: Expr, kernel_scale: Expr,
    units: int | None = None, out_dtype: str = "int32",
) -> Call:  # fmt: skip
    """int32 sums of data x weight transposed, as relay.qnn.op.dense; weight (units, in)."""
    operands = (data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale)
    return call("qnn.dense", *operands, units=units, out_dtype=out_dtype)


def batch_matmul(
    x: Expr, y: Expr, x_zero_point: Expr, y_zero_point: Expr, x_scale: Expr, y_scale: Expr, out_dtype: str = "int32"
) -> Call:
    """int32 sums of stacks of matrices, the second transposed, as relay.qnn.op.batch_matmul."""
    return call("qnn.batch_matmul", x, y, x_zero_point, y_zero_point, x_scale, y_scale, out_dtype=out_dtype)


def _binary(name: str, what: str) -> Any:
    def apply(
        lhs: Expr, rhs: Expr, lhs_scale: Expr, lhs_zero_point: Expr, rhs_scale: Expr, rhs_zero_point: Expr,
        output_scale: Expr, output_zero_point: Expr, lhs_axis: int = -1, rhs_axis: int = -1,
    ) -> Call:  # fmt: skip
        qparams = (lhs_scale, lhs_zero_point, rhs_scale, rhs_zero_point, output_scale, output_zero_point)
        return call(f"qnn.{name}", lhs, rhs, *qparams, lhs_axis=lhs_axis, rhs_axis=rhs_axis)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"{what} of codes of two scales, in codes of a third and the type of lhs, as relay.qnn.op.{name}."
    return apply


add, subtract, mul = _binary("add", "Sums"), _binary("subtract", "Differences"), _binary("mul", "Products")


def concatenate(
    data: Any, input_scales: Any, input_zero_points: Any, output_scale: Expr, output_zero_point: Expr, axis: int
) -> Call:
    """Codes of several scales one behind the other, in one scale, as relay.qnn.op.concatenate; lists or Tuples."""
    lists = (data, input_scales, input_zero_points)
    groups = [group if isinstance(group, Expr) else Tuple(list(group)) for group in lists]
    return call("qnn.concatenate", *groups, output_scale, output_zero_point, axis=axis)
