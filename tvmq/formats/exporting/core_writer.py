"""Base of the writers of an integral core in a format with channels last: TFLite and TOSA.

Tests: tests/formats/exporting/test_core.py
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, NoReturn

import numpy as np
from tvm import relax

from tvmq.formats.exporting.binding_writer import BindingWriter, Table
from tvmq.formats.exporting.core import CoreTensor, Pending, Sides
from tvmq.formats.exporting.layouts import LAST, Ints, Order, layout_steps, module_order
from tvmq.graph.view import View, op_name, shape_of

# Operators that read images with channels last
CHANNELS_LAST = ("nn.conv1d", "nn.conv2d", "nn.max_pool1d", "nn.max_pool2d", "tvmq.sum_pool", "tvmq.adaptive_sum_pool",
                 "tvmq.conv_transpose", "image.resize2d")  # fmt: skip
INT32 = 2**31


class CoreWriter(BindingWriter):
    """`values` holds the value of each variable: a tensor of the file, a pending node, or a list of tensors.

    forms     those of the base; the value of a variable is a node or a tensor
    printers  {class of a node: function that prints it: its tensor}
    scales    {variable: (scale, zero point)} of those that hold codes
    """

    most_axes: ClassVar[int] = 64

    def __init__(self, view: View, forms: Table, printers: Table, scales: Mapping[str, tuple[float, int]]) -> None:
        super().__init__(view, forms)
        self.printers, self.scales = printers, scales

    def write_call(self, var: relax.Var, call: relax.Call) -> Any:
        """Value of a call: its node, printed unless it is pending."""
        node = super().write_call(var, call)
        return node if isinstance(node, CoreTensor | Pending | list) else self.printers[type(node)](self, node, var)

    # ---- values

    def tensor(self, expr: relax.Expr) -> CoreTensor:
        """An argument as a tensor of the file."""
        value = self.value(expr)
        if isinstance(value, list):
            raise self.unsupported_error("an operator that reads several tensors as one")
        if isinstance(value, Pending):
            value = self.values[expr.name] = self.print_pending(value, expr)
        return value

    def constant_value(self, expr: relax.Constant) -> NoReturn:
        """Refuse: files have no operators of constants."""
        raise self.unsupported_error("an operator that reads a constant")

    @abstractmethod
    def print_pending(self, node: Pending, var: relax.Var) -> CoreTensor:
        """Tensor of a node that an operator reads before its requantize."""

    def find_input_order(self, param: relax.Var) -> Order:
        """Order of an input's axes in the file: channels last where its first readers take an image."""
        rank = len(shape_of(param))
        read, names = set(), [param.name]
        while names:
            readers = {reader for name in names for reader in self.view.readers[name]}
            kinds = {reader: op_name(self.view.value[reader]) for reader in readers}
            read |= set(kinds.values())
            names = [reader for reader, kind in kinds.items() if kind in ("nn.pad", "tvmq.table")]
        return LAST[rank] if rank in LAST and read & set(CHANNELS_LAST) else module_order(rank)

    # ---- layouts

    def in_layout(self, tensor: CoreTensor, order: Order) -> CoreTensor:
        """The tensor in another order of axes."""
        place, sizes = tensor.place, tensor.sizes
        for step, numbers in layout_steps(tensor.shape, tensor.order, order, self.most_axes):
            sizes = numbers if step == "reshape" else tuple(sizes[axis] for axis in numbers)
            place = self.emit_step(step, replace(tensor, place=place), numbers, sizes)
        return replace(tensor, place=place, order=order)

    def to_channels_last(self, tensor: CoreTensor) -> CoreTensor:
        """The tensor with channels last."""
        return self.in_layout(tensor, LAST[len(tensor.shape)])

    def reshape(self, tensor: CoreTensor, shape: Ints, hint: str = "") -> CoreTensor:
        """Elements in the order of the module, in another shape."""
        return self.reshape_elements(self.in_layout(tensor, module_order(len(tensor.shape))), shape, hint)

    def reshape_elements(self, tensor: CoreTensor, shape: Ints, hint: str = "") -> CoreTensor:
        """Elements in the order of the file, in another shape, which has the order of the module."""
        result = replace(tensor, shape=shape, order=module_order(len(shape)))
        return result if tensor.sizes == result.sizes else self.emit_reshape(tensor, result, hint)

    def align_operands(self, a: CoreTensor, b: CoreTensor, rank: int) -> tuple[CoreTensor, CoreTensor, Order]:
        """Two tensors of one rank and in one order of axes, which broadcast as those of the module do."""
        a, b = (
            t
            if len(t.shape) == rank
            else self.reshape(t, (1,) * (rank - len(t.shape)) + t.shape, f"{self.layer}_widened")
            for t in (a, b)
        )
        order = a.order if a.is_channels_last else b.order
        return self.in_layout(a, order), self.in_layout(b, order), order

    def add_border(self, tensor: CoreTensor, width: Sides, code: int, hint: str = "") -> CoreTensor:
        """The tensor with a border of one code of the file; `width` is for the axes of the module."""
        if not any(side for sides in width for side in sides):
            return tensor
        shape = tuple(n + before + after for n, (before, after) in zip(tensor.shape, width, strict=True))
        sides = tuple((0, 0) if axis is None else width[axis] for axis in tensor.order)
        return self.emit_border(tensor, replace(tensor, shape=shape), sides, code, hint)

    @abstractmethod
    def emit_step(self, step: str, tensor: CoreTensor, numbers: Ints, sizes: Ints) -> Any:
        """Append a "reshape" or a "transpose" by `numbers`; the place of its result, which has these sizes."""

    @abstractmethod
    def emit_reshape(self, tensor: CoreTensor, result: CoreTensor, hint: str) -> CoreTensor:
        """Append a reshape to `result`, which has no place yet."""

    @abstractmethod
    def emit_border(self, tensor: CoreTensor, result: CoreTensor, sides: Sides, code: int, hint: str) -> CoreTensor:
        """Append a border, given for the axes of the file, around the tensor."""

    # ---- biases, errors

    def to_int32_bias(self, bias: np.ndarray) -> np.ndarray:
        """Bias as int32; refused where it does not fit."""
        if bias.size and max(int(bias.max()), -int(bias.min())) >= INT32:
            raise self.unsupported_error(f"a bias of {int(np.abs(bias).max())}, which exceeds int32,")
        return bias.astype(np.int32)

    def add_to_bias(self, bias: np.ndarray, more: np.ndarray) -> np.ndarray:
        """The bias of each channel and a constant that is added to its sums, int64."""
        values = more.astype(np.int64).ravel()
        if values.size not in (1, bias.size):
            raise self.unsupported_error("a bias that differs from position to position")
        return bias + values
