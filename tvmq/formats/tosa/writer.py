"""Writer of an integral core as TOSA: what each variable becomes, and the operators in order.

Codes are int8: 128 is subtracted from uint8 codes and from their zero points. Sums are int32 tensors of the graph; a
convolution waits for its bias, which stands beside it in TOSA.

Tests: tests/formats/tosa/test_to_tosa.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from tvm import relax

from tvmq.formats.exporting.core_writer import CoreWriter
from tvmq.formats.exporting.layouts import LAST, Ints, Order, arrange_sizes, layout_steps, module_order, to_file_order
from tvmq.formats.tosa.graph import TosaGraph
from tvmq.graph.view import View, const_value, dtype_of, is_const, shape_of

UINT8_OFFSETS = {"uint8": 128, "int8": 0, "int16": 0, "int32": 0}
GRAPH_TYPES = {"uint8": "int8", "int8": "int8", "int16": "int16", "int32": "int32"}
Value = Any  # TosaTensor, PendingSum, or a list of TosaTensor
Form = Callable[["TosaWriter", relax.Var, relax.Call], Value]


@dataclass(frozen=True)
class TosaTensor:
    """A tensor of the graph.

    name    in the graph
    shape   in the module
    order   of its axes in the graph
    dtype   in the graph
    uint8_offset  offset between the numbers of the module and these: 128 for uint8, else 0
    """

    name: str
    shape: Ints
    order: Order
    dtype: str
    uint8_offset: int = 0

    @property
    def sizes(self) -> Ints:
        """Shape in the graph."""
        return arrange_sizes(self.shape, self.order)


class PendingSum(Protocol):
    """Sums whose operator is written when it is known what is added to them."""

    def with_bias(self, writer: TosaWriter, bias: np.ndarray) -> PendingSum:
        """These sums with a constant added."""

    def emit(self, writer: TosaWriter) -> TosaTensor:
        """The operator; its result."""


class TosaWriter(CoreWriter):
    """`values` holds what each variable became, `graph` the operators."""

    caller, format = "to_tosa", "TOSA"

    def __init__(self, view: View, forms: Mapping[str, Form], scales: Mapping[str, tuple[float, int]]) -> None:
        super().__init__(view, forms, scales)
        self.graph = TosaGraph()

    def run(self, inputs: Sequence[str]) -> list[TosaTensor]:
        """Write all operators; the results."""
        for param, name in zip(self.view.func.params, inputs, strict=True):
            self.layer = name
            dtype, order = self.dtype(param), self.find_input_order(param)
            tensor = TosaTensor(name, shape_of(param), order, dtype, UINT8_OFFSETS[dtype_of(param)])
            self.values[param.name] = replace(tensor, name=self.graph.input(name, tensor.sizes, dtype))
        self.write_bindings()
        results = [self.tensor(self.view.var[name]) for name in self.view.outputs]
        results = [self.emit("IDENTITY", [r], r) if r.name in inputs else r for r in results]
        for result in dict.fromkeys(result.name for result in results):
            self.graph.output(result)
        return results

    # ---- values

    def dtype(self, var: relax.Expr) -> str:
        """Type in the graph."""
        if dtype_of(var) not in GRAPH_TYPES:
            raise self.unsupported_error(f"a {dtype_of(var)} tensor")
        return GRAPH_TYPES[dtype_of(var)]

    def tensor(self, expr: relax.Expr) -> TosaTensor:
        """An argument as a tensor of the graph."""
        if is_const(expr):
            raise self.unsupported_error("an operator that reads a constant")
        value = self.values[expr.name]
        if isinstance(value, list):
            raise self.unsupported_error("an operator that reads several tensors as one")
        if not isinstance(value, TosaTensor):
            value = self.values[expr.name] = value.emit(self)
        return value

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

    def emit(self, code: str, inputs: Sequence[TosaTensor | str], like: TosaTensor, *attributes: Any) -> TosaTensor:
        """An operator whose result has the shape, the order and the type of `like`."""
        names = [value.name if isinstance(value, TosaTensor) else value for value in inputs]
        return replace(like, name=self.graph.operator(code, names, like.sizes, like.dtype, *attributes))

    def in_layout(self, tensor: TosaTensor, order: Order) -> TosaTensor:
        """The tensor in another order of axes."""
        name, sizes = tensor.name, tensor.sizes
        for step, numbers in layout_steps(tensor.shape, tensor.order, order):
            if step == "reshape":
                sizes = numbers
                name = self.graph.operator("RESHAPE", [name, self.graph.numbers(numbers)], sizes, tensor.dtype)
            else:
                sizes = tuple(sizes[axis] for axis in numbers)
                name = self.graph.operator("TRANSPOSE", [name], sizes, tensor.dtype, list(numbers))
        return replace(tensor, name=name, order=order)

    def to_channels_last(self, tensor: TosaTensor) -> TosaTensor:
        """The tensor with channels last."""
        return self.in_layout(tensor, LAST[len(tensor.shape)])

    def to_module_order(self, tensor: TosaTensor) -> TosaTensor:
        """The tensor in the order of the module."""
        return self.in_layout(tensor, module_order(len(tensor.shape)))

    def reshape_elements(self, tensor: TosaTensor, sizes: Ints) -> str:
        """The elements as they lie in the graph, in another shape."""
        if tensor.sizes == sizes:
            return tensor.name
        return self.graph.operator("RESHAPE", [tensor.name, self.graph.numbers(sizes)], sizes, tensor.dtype)

    def reshape(self, tensor: TosaTensor, shape: Ints) -> TosaTensor:
        """The elements as the module has them, in another shape."""
        tensor = self.to_module_order(tensor)
        return replace(tensor, name=self.reshape_elements(tensor, shape), shape=shape, order=module_order(len(shape)))

    def add_border(self, tensor: TosaTensor, width: Sequence[tuple[int, int]], number: int) -> TosaTensor:
        """The tensor with a border of one number of the graph; `width` is for the axes of the module."""
        if not any(side for sides in width for side in sides):
            return tensor
        shape = tuple(n + before + after for n, (before, after) in zip(tensor.shape, width, strict=True))
        sides = [side for axis in tensor.order for side in ((0, 0) if axis is None else width[axis])]
        inputs: list[TosaTensor | str] = [tensor, self.graph.numbers(sides), self.number(number, tensor.dtype)]
        return self.emit("PAD", inputs, replace(tensor, shape=shape))

    def rescale(self, tensor: TosaTensor, result: TosaTensor, multiplier: np.ndarray, shift: np.ndarray, zeros: Ints,
                rounding: str = "SINGLE_ROUND") -> TosaTensor:  # fmt: skip
        """RESCALE: (tensor - zeros[0]) * multiplier / 2^shift + zeros[1], one factor or one for each channel."""
        if shift.size and (shift.min() < 2 or shift.max() > 62):
            raise self.unsupported_error(
                f"a factor that shifts by {int(shift.min())} to {int(shift.max())} bits (RESCALE shifts by 2 to 62)"
            )
        inputs: list[TosaTensor | str] = [
            tensor,
            self.graph.constant(multiplier.astype(np.int32).ravel()),
            self.graph.constant(shift.astype(np.int8).ravel()),
            self.number(zeros[0], tensor.dtype),
            self.number(zeros[1], result.dtype),
        ]
        mode = getattr(self.graph.schema.RoundingMode, rounding)
        return self.emit("RESCALE", inputs, result, True, mode, multiplier.size > 1, False, False)

    def to_int32(self, tensor: TosaTensor, zero: int) -> TosaTensor:
        """tensor - zero as int32."""
        target = replace(tensor, dtype="int32", uint8_offset=0)
        return self.rescale(tensor, target, np.asarray([2**30]), np.asarray([30]), (zero, 0))


def constants_of(writer: TosaWriter, call: relax.Call) -> tuple[np.ndarray, np.ndarray, str]:
    """Multipliers, shifts to the right and the rounding of a requantize, as RESCALE has them."""
    mode, rounding = str(call.attrs.mode), str(call.attrs.rounding)
    named = {"UPWARD": "SINGLE_ROUND", "DOUBLE": "DOUBLE_ROUND"}.get(rounding)
    if mode == "float" or named is None:
        raise writer.unsupported_error(f"requantize by {mode}, rounded {rounding},", "quantize with target='tosa'")
    multiplier, shift = (np.asarray(const_value(arg), np.int64) for arg in call.args[1:])
    if mode == "power_of_two":  # 2^shift = 2^30 * 2^(shift - 30)
        multiplier, shift = np.full(shift.shape, 2**30), shift + 1
    multiplier, shift = (np.atleast_1d(part) for part in np.broadcast_arrays(multiplier, shift))
    right = 31 - shift
    tiny = (right > 62) | (multiplier == 0)  # less than 2^-32: every sum becomes 0
    return np.where(tiny, 0, multiplier), np.where(tiny, 62, right), named
