"""Writer of an integral core as TFLite: tensors of the file, and the operators in order.

Codes are int8. int32 sums have no tensor: their operator is printed with the requantize that reads them.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.formats.exporting.binding_writer import Table
from tvmq.formats.exporting.core import CoreTensor, Pending, Sides
from tvmq.formats.exporting.core_writer import CoreWriter
from tvmq.formats.exporting.layouts import Ints, Order, code_bounds, to_file_order
from tvmq.formats.tflite import arithmetic
from tvmq.formats.tflite.flatbuffer import Flatbuffer, Option, Quantization
from tvmq.graph.view import View, const_value, dtype_of, shape_of

UINT8_OFFSETS = {"uint8": 128, "int8": 0}
REMEDY = "quantize with target='tflite'"
NONE, RELU, RELU6 = 0, 1, 3  # of the schema's ActivationFunctionType


class TfliteWriter(CoreWriter):
    """`file` holds the tensors and operators."""

    caller, format = "to_tflite", "TFLite"
    most_axes = 4  # of a transpose in any runtime

    def __init__(self, view: View, forms: Table, printers: Table, scales: dict[str, tuple[float, int]]) -> None:
        super().__init__(view, forms, printers, scales)
        self.file = Flatbuffer()

    def run(self) -> None:
        """Write all operators."""
        for param in self.view.func.params:
            self.layer = param.name
            self.values[param.name] = self.codes_of(param, self.find_input_order(param))
        self.write_bindings()

    def print_pending(self, node: Pending, var: relax.Var) -> NoReturn:
        """Refuse: sums are printed by their requantize."""
        raise self.unsupported_error("an operator that reads int32 sums", REMEDY)

    # ---- tensors

    def codes_of(self, var: relax.Var, order: Order, like: CoreTensor | None = None) -> CoreTensor:
        """A new tensor for a variable, in its own scale or in that of the codes that it moves."""
        dtype = dtype_of(var)
        if dtype not in UINT8_OFFSETS:
            raise self.unsupported_error(
                f"'{var.name}' in {dtype}", f"TFLite's int8 kernels read only 8-bit codes; {REMEDY}"
            )
        if like is None:
            if var.name not in self.scales:
                raise self.unsupported_error(f"'{var.name}', which holds codes of unknown scale,")
            scale, zero = self.scales[var.name]
            like = CoreTensor(0, (), (), scale=np.float32(scale), zero=int(zero) - UINT8_OFFSETS[dtype])
        like = replace(like, uint8_offset=UINT8_OFFSETS[dtype])
        return self.tensor_like(like, shape_of(var), order, var.name)

    def tensor_like(self, codes: CoreTensor, shape: Ints, order: Order, name: str) -> CoreTensor:
        """A new tensor of the same scale."""
        result = replace(codes, shape=shape, order=order)
        return replace(result, place=self.file.tensor(name, result.sizes, "int8", quantization_like(codes)))

    def numbers(self, values: Sequence[int] | np.ndarray, name: str) -> int:
        """A constant of int32."""
        return self.file.constant(name, np.asarray(values, np.int32))

    def constant_codes(self, values: np.ndarray, like: CoreTensor, name: str) -> int:
        """A constant in the codes of the module, of the scale and in the order of a tensor, which it broadcasts to."""
        whole = values.reshape((1,) * (len(like.shape) - values.ndim) + values.shape)
        codes = (whole.astype(np.int16) - like.uint8_offset).astype(np.int8)
        return self.file.constant(name, to_file_order(codes, like.order), quantization_like(like))

    # ---- operators

    def emit(
        self,
        code: str,
        inputs: Sequence[CoreTensor | int],
        result: CoreTensor,
        *,
        version: int = 2,
        table: str | None = None,
        **options: Option,
    ) -> CoreTensor:
        """Append an operator that gives one tensor."""
        places = [value.place if isinstance(value, CoreTensor) else value for value in inputs]
        self.file.operator(code, places, [result.place], version=version, table=table, **options)
        return result

    def emit_step(self, step: str, tensor: CoreTensor, numbers: Ints, sizes: Ints) -> int:
        """Append a RESHAPE or a TRANSPOSE."""
        place = self.file.tensor(f"{self.layer}_{step}", sizes, "int8", quantization_like(tensor))
        version, table = (1, None) if step == "reshape" else (2, "TransposeOptions")
        inputs = [tensor.place, self.numbers(numbers, step)]
        self.file.operator(step.upper(), inputs, [place], version=version, table=table)
        return place

    def emit_reshape(self, tensor: CoreTensor, result: CoreTensor, hint: str) -> CoreTensor:
        """Append a RESHAPE."""
        result = self.tensor_like(tensor, result.shape, result.order, hint)
        return self.emit("RESHAPE", [tensor, self.numbers(result.sizes, "shape")], result, version=1)

    def emit_border(self, tensor: CoreTensor, result: CoreTensor, sides: Sides, code: int, hint: str) -> CoreTensor:
        """Append a PAD, or a PADV2 of another code than the zero point."""
        result = self.tensor_like(tensor, result.shape, result.order, hint)
        place = self.numbers(np.asarray(sides), "border")
        if code == tensor.zero:
            return self.emit("PAD", [tensor, place], result, table="PadOptions")
        value = self.file.constant("code", np.asarray([code], np.int8), quantization_like(tensor))
        return self.emit("PADV2", [tensor, place, value], result, table="PadV2Options")

    def emit_with_activation(
        self, var: relax.Var, call: relax.Call, order: Order, write: Callable[[CoreTensor, int], CoreTensor]
    ) -> CoreTensor:
        """The result of a requantize: `write` makes the operator with its fused activation, other bounds follow."""
        result = self.codes_of(var, order)
        low, high = code_bounds(call, result.uint8_offset)
        six = min(127, arithmetic.relu6_limit(result.scale, result.zero))
        fused = {(result.zero, six): RELU6, (result.zero, 127): RELU, (-128, 127): NONE}.get((low, high))
        if fused is not None:
            return write(result, fused)
        unbounded = write(self.tensor_like(result, result.shape, order, f"{var.name}_unbounded"), NONE)
        return self.clip_codes(unbounded, result, low, high)

    def clip_codes(self, codes: CoreTensor, result: CoreTensor, low: int, high: int) -> CoreTensor:
        """Codes clipped to low..high, int8, as `result`."""
        bounds = [("MAXIMUM", low, low > -128), ("MINIMUM", high, high < 127)]
        wanted = [(code, bound) for code, bound, is_bound in bounds if is_bound]
        for number, (code, bound) in enumerate(wanted):
            is_end = number == len(wanted) - 1
            target = result if is_end else self.tensor_like(codes, codes.shape, codes.order, f"{self.layer}_above")
            place = self.file.constant("bound", np.asarray([bound], np.int8), quantization_like(codes))
            codes = self.emit(code, [codes, place], target, table="MaximumMinimumOptions")
        return codes

    def requantize_constants(self, call: relax.Call) -> tuple[np.ndarray, np.ndarray]:
        """Multipliers and shifts of a requantize; refused unless it rounds as TFLite does."""
        mode, rounding = str(call.attrs.mode), str(call.attrs.rounding)
        if mode != "fixed_point" or not numerics.rule_of_mode(mode, rounding).rounds_twice:
            raise self.unsupported_error(f"requantize by {mode}, rounded {rounding},", f"TFLite rounds twice: {REMEDY}")
        multiplier, shift = (const_value(arg) for arg in call.args[1:])
        return np.asarray(multiplier), np.asarray(shift)


def quantization_like(codes: CoreTensor) -> Quantization:
    """Scale and zero point of a tensor."""
    return Quantization((float(codes.scale),), codes.zero)
