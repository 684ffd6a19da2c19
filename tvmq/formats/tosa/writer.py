"""Writer of an integral core as TOSA: tensors of the graph, and the operators in order.

Codes are int8: 128 is subtracted from uint8 codes and from their zero points. Sums are int32 tensors of the graph; a
convolution waits for its bias, which stands beside it in TOSA.

Tests: tests/formats/tosa/test_to_tosa.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.formats.exporting.binding_writer import Table
from tvmq.formats.exporting.core import CoreTensor, Pending, Sides
from tvmq.formats.exporting.core_writer import CoreWriter
from tvmq.formats.exporting.layouts import Ints, Order, to_file_order
from tvmq.formats.tosa.graph import TosaGraph
from tvmq.graph.view import View, const_value, dtype_of, shape_of

UINT8_OFFSETS = {"uint8": 128, "int8": 0, "int16": 0, "int32": 0}
GRAPH_TYPES = {"uint8": "int8", "int8": "int8", "int16": "int16", "int32": "int32"}


class TosaWriter(CoreWriter):
    """`graph` holds the operators."""

    caller, format = "to_tosa", "TOSA"

    def __init__(self, view: View, forms: Table, printers: Table, scales: dict[str, tuple[float, int]]) -> None:
        super().__init__(view, forms, printers, scales)
        self.graph = TosaGraph()

    def run(self, inputs: Sequence[str]) -> list[CoreTensor]:
        """Write all operators; the results."""
        for param, name in zip(self.view.func.params, inputs, strict=True):
            self.layer = name
            tensor = self.result_of(param, self.find_input_order(param))
            self.values[param.name] = replace(tensor, place=self.graph.input(name, tensor.sizes, tensor.dtype))
        self.write_bindings()
        results = [self.tensor(self.view.var[name]) for name in self.view.outputs]
        results = [self.emit("IDENTITY", [r], r) if r.place in inputs else r for r in results]
        for result in dict.fromkeys(result.place for result in results):
            self.graph.output(result)
        return results

    def print_pending(self, node: Pending, var: relax.Var) -> CoreTensor:
        """Print sums that get no bias any more."""
        return self.printers[type(node)](self, node, var)

    # ---- values

    def result_of(self, var: relax.Expr, order: Order) -> CoreTensor:
        """Tensor of a variable, without a place yet."""
        dtype = dtype_of(var)
        if dtype not in GRAPH_TYPES:
            raise self.unsupported_error(f"a {dtype} tensor")
        return CoreTensor("", shape_of(var), order, GRAPH_TYPES[dtype], UINT8_OFFSETS[dtype])

    def zero(self, name: str, uint8_offset: int) -> int:
        """The zero point of a variable's codes in the graph; 0 where none is known."""
        return int(self.scales[name][1]) - uint8_offset if name in self.scales else 0

    def constant(self, values: np.ndarray, order: Order, dtype: str = "int32") -> str:
        """A constant that broadcasts against tensors of that order."""
        whole = values.reshape((1,) * (len([a for a in order if a is not None]) - values.ndim) + values.shape)
        return self.graph.constant(to_file_order(whole.astype(dtype), order))

    def number(self, value: int, dtype: str) -> str:
        """A constant of one element: a zero point, a shift."""
        return self.graph.constant(np.asarray([value], dtype))

    # ---- operators

    def emit(self, code: str, inputs: Sequence[CoreTensor | str], like: CoreTensor, *attributes: Any) -> CoreTensor:
        """An operator whose result has the shape, the order and the type of `like`."""
        places = [value.place if isinstance(value, CoreTensor) else value for value in inputs]
        return replace(like, place=self.graph.operator(code, places, like.sizes, like.dtype, *attributes))

    def emit_step(self, step: str, tensor: CoreTensor, numbers: Ints, sizes: Ints) -> str:
        """Append a RESHAPE or a TRANSPOSE."""
        if step == "reshape":
            return self.graph.operator("RESHAPE", [tensor.place, self.graph.numbers(numbers)], sizes, tensor.dtype)
        return self.graph.operator("TRANSPOSE", [tensor.place], sizes, tensor.dtype, list(numbers))

    def emit_reshape(self, tensor: CoreTensor, result: CoreTensor, hint: str) -> CoreTensor:
        """Append a RESHAPE."""
        return self.emit("RESHAPE", [tensor, self.graph.numbers(result.sizes)], result)

    def emit_border(self, tensor: CoreTensor, result: CoreTensor, sides: Sides, code: int, hint: str) -> CoreTensor:
        """Append a PAD."""
        numbers = self.graph.numbers([side for pair in sides for side in pair])
        return self.emit("PAD", [tensor, numbers, self.number(code, tensor.dtype)], result)

    def cut(self, tensor: CoreTensor, begins: Sequence[int], shape: Ints) -> CoreTensor:
        """Append a SLICE: `shape` elements from `begins` on, both for the axes of the module."""
        result = replace(tensor, shape=shape)
        numbers = [0 if axis is None else begins[axis] for axis in tensor.order]
        return self.emit("SLICE", [tensor, self.graph.numbers(numbers), self.graph.numbers(result.sizes)], result)

    def rescale(self, tensor: CoreTensor, result: CoreTensor, multiplier: np.ndarray, shift: np.ndarray, zeros: Ints,
                rounding: str = "SINGLE_ROUND") -> CoreTensor:  # fmt: skip
        """RESCALE: (tensor - zeros[0]) * multiplier / 2^shift + zeros[1], one factor or one for each channel."""
        if shift.size and (shift.min() < 2 or shift.max() > 62):
            raise self.unsupported_error(
                f"a factor that shifts by {int(shift.min())} to {int(shift.max())} bits (RESCALE shifts by 2 to 62)"
            )
        inputs: list[CoreTensor | str] = [
            tensor,
            self.graph.constant(multiplier.astype(np.int32).ravel()),
            self.graph.constant(shift.astype(np.int8).ravel()),
            self.number(zeros[0], tensor.dtype),
            self.number(zeros[1], result.dtype),
        ]
        mode = getattr(self.graph.schema.RoundingMode, rounding)
        return self.emit("RESCALE", inputs, result, True, mode, multiplier.size > 1, False, False)

    def to_int32(self, tensor: CoreTensor, zero: int) -> CoreTensor:
        """tensor - zero as int32."""
        target = replace(tensor, dtype="int32", uint8_offset=0)
        return self.rescale(tensor, target, np.asarray([2**30]), np.asarray([30]), (zero, 0))


def constants_of(writer: TosaWriter, call: relax.Call) -> tuple[np.ndarray, np.ndarray, str]:
    """Multipliers, shifts to the right and the rounding of a requantize, as RESCALE has them."""
    mode, rounding = str(call.attrs.mode), str(call.attrs.rounding)
    rule = numerics.rule_of_mode(mode, rounding)
    named = {("upward",): "SINGLE_ROUND", ("upward", "away"): "DOUBLE_ROUND"}.get(rule.roundings)
    if mode == "float" or named is None:
        raise writer.unsupported_error(f"requantize by {mode}, rounded {rounding},", "quantize with target='tosa'")
    multiplier, shift = numerics.fixed_point_constants(*(const_value(arg) for arg in call.args[1:]), mode=mode)
    multiplier, shift = (np.atleast_1d(part) for part in np.broadcast_arrays(multiplier, shift))
    right = 31 - shift
    tiny = (right > 62) | (multiplier == 0)  # less than 2^-32: every sum becomes 0
    return np.where(tiny, 0, multiplier), np.where(tiny, 62, right), named
