"""Transposed convolutions: TRANSPOSE_CONV, and a slice where padding cuts something off that TFLite's does not.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from tvm import relax

from tvmq.formats.exporting.core_writer import ints
from tvmq.formats.exporting.layouts import LAST, Ints, code_bounds
from tvmq.formats.tflite.codes import TfliteTensor
from tvmq.formats.tflite.products import PADDING, quantization_of, weight_scales
from tvmq.formats.tflite.writer import Form, TfliteWriter
from tvmq.graph.view import const_value, is_const, shape_of
from tvmq.numerics.windows import both_sides


@dataclass(frozen=True)
class TfliteConvTranspose:
    """Sums of a transposed convolution.

    weight   of the module: (channels, filters, spatial...)
    sides    what is cut off the result: (before, after) of each spatial axis
    shape    of the result
    """

    x: TfliteTensor
    weight: np.ndarray
    bias: np.ndarray
    strides: Ints
    sides: tuple[tuple[int, int], ...]
    shape: Ints

    def with_bias(self, writer: TfliteWriter, bias: np.ndarray) -> TfliteConvTranspose:
        """These sums with a constant added to each channel."""
        return replace(self, bias=writer.add_to_bias(self.bias, bias))

    def emit_requantize(self, writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
        """TRANSPOSE_CONV, its border cut off, and bounds of codes."""
        scales = weight_scales(writer, self.x, var, call)
        result = writer.codes_of(var, LAST[len(self.shape)])
        full = writer.tensor_like(result, self._uncut_shape, result.order, f"{var.name}_full")
        codes = self._write(writer, full, scales)
        if codes.shape != result.shape:
            codes = self._cut(writer, codes, writer.tensor_like(result, result.shape, result.order, f"{var.name}_cut"))
        low, high = code_bounds(call, result.uint8_offset)
        return codes if (low, high) == (-128, 127) else writer.clip_codes(codes, result, low, high)

    @property
    def _padding(self) -> str:
        """SAME where TFLite then crops as the module does; else VALID, which crops nothing."""
        for size, count, stride, kernel, side in zip(
            self.x.shape[2:], self.shape[2:], self.strides, self.weight.shape[2:], self.sides, strict=True
        ):
            total = (size - 1) * stride + kernel - count
            if total < 0 or side != (total // 2, total - total // 2) or -(-count // stride) != size:
                return "VALID"
        return "SAME"

    @property
    def _uncut_shape(self) -> Ints:
        """Shape of the operator's result, before `_cut`."""
        if self._padding == "SAME":
            return self.shape
        return (
            *self.shape[:2],
            *(n + before + after for n, (before, after) in zip(self.shape[2:], self.sides, strict=True)),
        )

    def _write(self, writer: TfliteWriter, result: TfliteTensor, scales: np.ndarray) -> TfliteTensor:
        four = self.weight if self.weight.ndim == 4 else self.weight[:, :, None]
        zero = self.x.zero + self.x.uint8_offset
        bias = writer.to_int32_bias(self.bias + zero * four.astype(np.int64).sum(axis=(0, 2, 3)))
        scale = (np.float64(self.x.scale) * scales.astype(np.float64)).astype(np.float32)
        order = np.ascontiguousarray(four.transpose(1, 2, 3, 0))
        inputs: list[TfliteTensor | int] = [
            writer.numbers(result.sizes, "sizes"),
            writer.file.constant(f"{writer.layer}.weight", order, quantization_of(scales, 0)),
            writer.to_channels_last(self.x),
            writer.file.constant(f"{writer.layer}.bias", bias, quantization_of(scale, 0)),
        ]
        strides = (1,) * (2 - len(self.strides)) + self.strides
        return writer.emit("TRANSPOSE_CONV", inputs, result, version=3, table="TransposeConvOptions",
                         padding=PADDING[self._padding], stride_w=strides[1], stride_h=strides[0])  # fmt: skip

    def _cut(self, writer: TfliteWriter, codes: TfliteTensor, result: TfliteTensor) -> TfliteTensor:
        begins = (0, 0, *(before for before, _ in self.sides))
        ends = tuple(begin + size for begin, size in zip(begins, result.shape, strict=True))
        numbers = [
            writer.numbers([fill if axis is None else values[axis] for axis in codes.order], name)
            for name, values, fill in (("begin", begins, 0), ("end", ends, 1), ("steps", (1,) * len(begins), 1))
        ]
        return writer.emit(
            "STRIDED_SLICE", [codes, *numbers], result, table="StridedSliceOptions",
            begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0,
        )  # fmt: skip


def transposed_convolution(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteConvTranspose:
    """tvmq.conv_transpose."""
    attrs, rank = call.attrs, len(shape_of(var)) - 2
    if not is_const(call.args[1]) or rank > 2 or const_value(call.args[1]).dtype != np.int8:
        raise writer.unsupported_error(
            f"a transposed convolution over {rank} axes, or whose weight is not an int8 constant,"
        )
    if int(attrs.groups) != 1 or any(d != 1 for d in ints(attrs.dilation)):
        raise writer.unsupported_error("a grouped or dilated transposed convolution")
    x, weight = writer.codes(call.args[0]), const_value(call.args[1])
    if int(attrs.zero_point) - x.uint8_offset != x.zero:
        raise writer.unsupported_error(
            "a transposed convolution that puts a code other than the zero point between pixels"
        )
    zeros = np.zeros(weight.shape[1], np.int64)
    sides = both_sides(ints(attrs.padding), rank)
    return TfliteConvTranspose(x, weight, zeros, ints(attrs.strides), sides, shape_of(var))


FORMS: dict[str, Form] = {"tvmq.conv_transpose": transposed_convolution}
