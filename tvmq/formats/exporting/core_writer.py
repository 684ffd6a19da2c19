"""Base of the writers of an integral core in a format with channels last: TFLite and TOSA.

Tests: tests/formats/exporting/test_formats_page.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from tvm import relax

from tvmq.errors import UnsupportedOpError
from tvmq.formats.exporting.layouts import LAST, Ints, Order, module_order
from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVOLUTION
from tvmq.graph.view import View, is_const, op_name, shape_of

KEEP_OUT = "keep this layer out of the exported part of the model"
CONVOLUTIONS = where(kind=CONVOLUTION)
# Operators that read images with channels last
CHANNELS_LAST = ("nn.conv1d", "nn.conv2d", "nn.max_pool1d", "nn.max_pool2d", "tvmq.sum_pool", "tvmq.adaptive_sum_pool",
                 "tvmq.conv_transpose", "image.resize2d")  # fmt: skip
INT32 = 2**31


class CoreWriter:
    """`values` holds the value of each variable: a tensor of the format, pending sums, or a list of tensors.

    forms    {operator: function that writes it}
    scales   {variable: (scale, zero point)} of those that hold codes
    layer    name of the current layer, for messages
    """

    caller: ClassVar[str]
    format: ClassVar[str]

    def __init__(
        self, view: View, forms: Mapping[str, Callable[..., Any]], scales: Mapping[str, tuple[float, int]]
    ) -> None:
        self.view, self.forms, self.scales = view, forms, scales
        self.values: dict[str, Any] = {}
        self.layer = ""

    def write_bindings(self) -> None:
        """Write all operators in order; `values` has the parameters already."""
        for var, value in self.view.bindings:
            self.layer = ", ".join(self.view.sources(var.name)) or var.name
            self.values[var.name] = self._value_of(var, value)

    def _value_of(self, var: relax.Var, value: relax.Expr) -> Any:
        if isinstance(value, relax.Var):
            return self.values[value.name]
        if isinstance(value, relax.TupleGetItem):
            return self.values[value.tuple_value.name][value.index]
        if isinstance(value, relax.Tuple):
            return [self.values[item.name] for item in value.fields]
        form = self.forms.get(op_name(value))
        if form is None:
            raise self.unsupported_error(op_name(value) or "a call of a function")
        return form(self, var, value)

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

    def can_take_border(self, name: str, width: Ints) -> bool:
        """True if a border of `width` can be the padding of convolutions, its only readers.

        name    variable that is the result of nn.pad
        width   (before, after) of each axis, one behind the other
        """
        readers = [self.view.value[reader] for reader in self.view.readers[name]]
        return bool(readers) and not any(width[:4]) and not self.view.is_output(name) and all(map(_has_no_pad, readers))

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

    def unsupported_error(self, what: str, remedy: str = KEEP_OUT) -> UnsupportedOpError:
        """Error that names the current layer."""
        return UnsupportedOpError(
            f"{self.caller}, layer '{self.layer}': {what} has no equivalent in {self.format}; {remedy}"
        )


def ints(values: Any) -> Ints:
    """Integers of a TVM attribute."""
    return tuple(int(v) for v in values)


def _has_no_pad(reader: relax.Expr) -> bool:
    """True for a convolution with a constant weight that has no border of its own."""
    return op_name(reader) in CONVOLUTIONS and is_const(reader.args[1]) and not any(ints(reader.attrs.padding))
