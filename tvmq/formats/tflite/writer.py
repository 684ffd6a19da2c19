"""Writer of an integral core as TFLite: what each variable becomes, and the operators in order.

TfliteTensor  a tensor of the file
TfliteSums    int32 sums, which have no tensor: the operator is written with the requantize behind it
lists         of several results

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import tvm
from tvm import relax

from tvmq.formats.exporting.core_writer import CoreWriter
from tvmq.formats.exporting.layouts import (
    LAST,
    Ints,
    Order,
    arrange_sizes,
    code_bounds,
    collapse_transpose,
    layout_steps,
    module_order,
    to_file_order,
)
from tvmq.formats.tflite import arithmetic
from tvmq.formats.tflite.codes import TfliteTensor
from tvmq.formats.tflite.flatbuffer import Flatbuffer, Option, Quantization
from tvmq.graph.view import View, const_value, dtype_of, is_const, shape_of

UINT8_OFFSETS = {"uint8": 128, "int8": 0}
REMEDY = "quantize with target='tflite'"
MOST_AXES = 4  # of a transpose in any runtime; with more, axes are joined where that can be done
Value = Any  # TfliteTensor, TfliteSums, or a list of TfliteTensor
Form = Callable[["TfliteWriter", relax.Var, relax.Call], Value]


class TfliteSums(Protocol):
    """int32 sums that are still to become codes."""

    def with_bias(self, writer: TfliteWriter, bias: np.ndarray) -> TfliteSums:
        """These sums with a constant added."""

    def emit_requantize(self, writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
        """The operator, written; its result."""


class TfliteWriter(CoreWriter):
    """`values` holds what each variable became, `file` the tensors and operators."""

    caller, format = "to_tflite", "TFLite"

    def __init__(self, view: View, forms: Mapping[str, Form], scales: Mapping[str, tuple[float, int]]) -> None:
        super().__init__(view, forms, scales)
        self.file = Flatbuffer()

    def run(self) -> None:
        """Write all operators."""
        for param in self.view.func.params:
            self.layer = param.name
            self.values[param.name] = self.codes_of(param, self.find_input_order(param))
        self.write_bindings()

    # ---- tensors

    def codes(self, expr: relax.Expr) -> TfliteTensor:
        """An argument that holds codes."""
        if is_const(expr):
            raise self.unsupported_error("an operator that reads a constant")
        value = self.values[expr.name]
        if not isinstance(value, TfliteTensor):
            raise self.unsupported_error("an operator that reads int32 sums", REMEDY)
        return value

    def codes_of(self, var: relax.Var, order: Order, like: TfliteTensor | None = None) -> TfliteTensor:
        """A new tensor for a variable, in its own scale or in that of the codes that it moves."""
        dtype = dtype_of(var)
        if dtype not in UINT8_OFFSETS:
            raise self.unsupported_error(
                f"'{var.name}' in {dtype}", f"TFLite's int8 kernels read only 8-bit codes; {REMEDY}"
            )
        offset = UINT8_OFFSETS[dtype]
        if like is None:
            if var.name not in self.scales:
                raise self.unsupported_error(f"'{var.name}', which holds codes of unknown scale,")
            scale, zero = self.scales[var.name]
            return self.tensor(var.name, shape_of(var), order, np.float32(scale), int(zero) - offset, offset)
        return self.tensor(var.name, shape_of(var), order, like.scale, like.zero, offset)

    def tensor(self, name: str, shape: Ints, order: Order, scale: np.float32, zero: int, offset: int) -> TfliteTensor:
        """A new int8 tensor."""
        place = self.file.tensor(name, arrange_sizes(shape, order), "int8", Quantization((float(scale),), zero))
        return TfliteTensor(place, shape, order, np.float32(scale), zero, offset)

    def tensor_like(self, codes: TfliteTensor, shape: Ints, order: Order, hint: str) -> TfliteTensor:
        """A new tensor of the same scale."""
        return self.tensor(hint, shape, order, codes.scale, codes.zero, codes.uint8_offset)

    def numbers(self, values: Sequence[int] | np.ndarray, hint: str) -> int:
        """A constant of int32."""
        return self.file.constant(hint, np.asarray(values, np.int32))

    def constant_codes(self, values: np.ndarray, like: TfliteTensor, hint: str) -> int:
        """A constant in the codes of the module, of the scale and in the order of a tensor, which it broadcasts to."""
        whole = values.reshape((1,) * (len(like.shape) - values.ndim) + values.shape)
        codes = (whole.astype(np.int16) - like.uint8_offset).astype(np.int8)
        return self.file.constant(hint, to_file_order(codes, like.order), Quantization((float(like.scale),), like.zero))

    # ---- operators

    def emit(
        self,
        code: str,
        inputs: Sequence[TfliteTensor | int],
        result: TfliteTensor,
        *,
        version: int = 2,
        table: str | None = None,
        **options: Option,
    ) -> TfliteTensor:
        """Append an operator that gives one tensor."""
        places = [value.place if isinstance(value, TfliteTensor) else value for value in inputs]
        self.file.operator(code, places, [result.place], version=version, table=table, **options)
        return result

    def to_channels_last(self, codes: TfliteTensor) -> TfliteTensor:
        """The codes with channels last."""
        return codes if codes.is_channels_last else self.in_layout(codes, LAST[len(codes.shape)])

    def to_module_order(self, codes: TfliteTensor) -> TfliteTensor:
        """The codes in the order of the module."""
        return self.in_layout(codes, module_order(len(codes.shape)))

    def in_layout(self, codes: TfliteTensor, order: Order) -> TfliteTensor:
        """The codes in another order of axes."""
        place = codes.place
        kind = Quantization((float(codes.scale),), codes.zero)
        for step, numbers in layout_steps(codes.shape, codes.order, order):
            sizes = numbers if step == "reshape" else self._permute_sizes(place, numbers)
            whole = self.file.tensors[place].shape
            if step == "transpose" and len(whole) > MOST_AXES:
                merged, numbers = collapse_transpose(whole, numbers)
                place = self._emit_move("reshape", place, merged, merged, kind)
                place = self._emit_move("transpose", place, numbers, tuple(merged[axis] for axis in numbers), kind)
                step, numbers = "reshape", sizes
            place = self._emit_move(step, place, numbers, sizes, kind)
        return TfliteTensor(place, codes.shape, order, codes.scale, codes.zero, codes.uint8_offset)

    def _emit_move(self, step: str, source: int, numbers: Ints, sizes: Ints, kind: Quantization) -> int:
        """A RESHAPE or a TRANSPOSE; the number of its result."""
        place = self.file.tensor(f"{self.layer}_{step}", sizes, "int8", kind)
        code, table = ("RESHAPE", None) if step == "reshape" else ("TRANSPOSE", "TransposeOptions")
        version = 1 if step == "reshape" else 2
        self.file.operator(code, [source, self.numbers(numbers, step)], [place], version=version, table=table)
        return place

    def _permute_sizes(self, place: int, axes: Ints) -> Ints:
        return tuple(self.file.tensors[place].shape[axis] for axis in axes)

    def reshape_elements(self, codes: TfliteTensor, shape: Ints, hint: str) -> TfliteTensor:
        """The elements as they lie in the file, as a tensor of another shape in plain order."""
        return self._reshape(codes, shape, module_order(len(shape)), hint)

    def _reshape(self, codes: TfliteTensor, shape: Ints, order: Order, hint: str) -> TfliteTensor:
        sizes = arrange_sizes(shape, order)
        if codes.sizes == sizes:
            return TfliteTensor(codes.place, shape, order, codes.scale, codes.zero, codes.uint8_offset)
        result = self.tensor_like(codes, shape, order, hint)
        return self.emit("RESHAPE", [codes, self.numbers(sizes, "shape")], result, version=1)

    def add_border(self, codes: TfliteTensor, width: Sequence[tuple[int, int]], code: int, hint: str) -> TfliteTensor:
        """The codes with a border of one code, an int8; `width` is for the axes of the module."""
        if not any(side for sides in width for side in sides):
            return codes
        shape = tuple(n + before + after for n, (before, after) in zip(codes.shape, width, strict=True))
        result = self.tensor_like(codes, shape, codes.order, hint)
        sides = [(0, 0) if axis is None else width[axis] for axis in codes.order]
        place = self.numbers(np.asarray(sides), "border")
        if code == codes.zero:
            return self.emit("PAD", [codes, place], result, table="PadOptions")
        value = self.file.constant("code", np.asarray([code], np.int8), Quantization((float(codes.scale),), codes.zero))
        return self.emit("PADV2", [codes, place, value], result, table="PadV2Options")

    def activation(self, result: TfliteTensor, low: int, high: int) -> str | None:
        """The fused activation that bounds codes to low..high, int8; None if there is none."""
        if (low, high) == (-128, 127):
            return "NONE"
        if low == result.zero and high == 127:
            return "RELU"
        top = min(127, arithmetic.relu6_limit(result.scale, result.zero))
        return "RELU6" if (low, high) == (result.zero, top) else None

    def emit_with_activation(
        self, var: relax.Var, call: relax.Call, order: Order, write: Callable[[TfliteTensor, int], TfliteTensor]
    ) -> TfliteTensor:
        """The result of a requantize: `write` makes the operator with its fused activation, other bounds follow."""
        result = self.codes_of(var, order)
        low, high = code_bounds(call, result.uint8_offset)
        name = self.activation(result, low, high)
        numbers = {"NONE": 0, "RELU": 1, "RELU6": 3}
        if name is not None:
            return write(result, numbers[name])
        unbounded = write(self.tensor_like(result, result.shape, order, f"{var.name}_unbounded"), 0)
        return self.clip_codes(unbounded, result, low, high)

    def clip_codes(self, codes: TfliteTensor, result: TfliteTensor, low: int, high: int) -> TfliteTensor:
        """Codes clipped to low..high, int8, as `result`."""
        kind = Quantization((float(codes.scale),), codes.zero)
        bounds = [("MAXIMUM", low, low > -128), ("MINIMUM", high, high < 127)]
        wanted = [(code, bound) for code, bound, is_bound in bounds if is_bound]
        for number, (code, bound) in enumerate(wanted):
            is_end = number == len(wanted) - 1
            target = result if is_end else self.tensor_like(codes, codes.shape, codes.order, f"{self.layer}_above")
            place = self.file.constant("bound", np.asarray([bound], np.int8), kind)
            codes = self.emit(code, [codes, place], target, table="MaximumMinimumOptions")
        return codes

    def requantize_constants(self, call: relax.Call) -> tuple[np.ndarray, np.ndarray]:
        """Multipliers and shifts of a requantize; refused unless it rounds as TFLite does."""
        mode, rounding = str(call.attrs.mode), str(call.attrs.rounding)
        if mode != "fixed_point" or rounding != "DOUBLE":
            raise self.unsupported_error(f"requantize by {mode}, rounded {rounding},", f"TFLite rounds twice: {REMEDY}")
        multiplier, shift = (const_value(arg) for arg in call.args[1:])
        return np.asarray(multiplier), np.asarray(shift)


def is_tuple(expr: relax.Expr) -> bool:
    """True for a variable that holds several tensors."""
    return isinstance(expr.ty, tvm.ir.TupleType)
