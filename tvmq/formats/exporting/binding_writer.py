"""Base of the writers of an integral core: bindings in order, values of expressions, borders of convolutions, errors.

Tests: tests/formats/exporting/test_core.py
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from tvm import relax

from tvmq.errors import UnsupportedOpError
from tvmq.formats.exporting.layouts import Ints
from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVOLUTION
from tvmq.graph.view import View, is_const, op_name

CONVOLUTIONS = where(kind=CONVOLUTION)
Table = Mapping[Any, Callable[..., Any]]


class BindingWriter(ABC):
    """`values` holds the value of each variable, as the format has it.

    forms   {operator: function of the writer, a variable and its call: the value of the variable}
    layer   name of the current layer, for messages
    """

    caller: ClassVar[str]
    format: ClassVar[str]
    remedy: ClassVar[str] = "keep this layer out of the exported part of the model"

    def __init__(self, view: View, forms: Table) -> None:
        self.view, self.forms = view, forms
        self.values: dict[str, Any] = {}
        self.layer = ""

    def write_bindings(self) -> None:
        """Write all operators in order; `values` has the parameters already."""
        for var, value in self.view.bindings:
            if var.name not in self.values:
                self.layer = ", ".join(self.view.sources(var.name))
                is_call = isinstance(value, relax.Call)
                self.values[var.name] = self.write_call(var, value) if is_call else self.value(value)

    def write_call(self, var: relax.Var, call: relax.Call) -> Any:
        """Value of a call, by the form of its operator."""
        form = self.forms.get(op_name(call))
        if form is None:
            raise self.unsupported_error(op_name(call) or "a call of a function")
        return form(self, var, call)

    def value(self, expr: relax.Expr) -> Any:
        """Value of an argument."""
        if isinstance(expr, relax.Tuple):
            return [self.value(item) for item in expr.fields]
        if isinstance(expr, relax.TupleGetItem):
            return self.value(expr.tuple_value)[expr.index]
        return self.constant_value(expr) if is_const(expr) else self.values[expr.name]

    @abstractmethod
    def constant_value(self, expr: relax.Constant) -> Any:
        """Value of a constant."""

    def can_take_border(self, name: str, width: Ints) -> bool:
        """True if a border of `width` can be the padding of convolutions, its only readers.

        name    variable that is the result of nn.pad
        width   (before, after) of each axis, one behind the other
        """
        readers = [self.view.value[reader] for reader in self.view.readers[name]]
        return bool(readers) and not any(width[:4]) and not self.view.is_output(name) and all(map(_has_no_pad, readers))

    def unsupported_error(self, what: str, remedy: str = "") -> UnsupportedOpError:
        """Error that names the current layer."""
        text = f"{what} has no equivalent in {self.format}; {remedy or self.remedy}"
        return UnsupportedOpError(f"{self.caller}, layer '{self.layer}': {text}")


def ints(values: Any) -> Ints:
    """Integers of a TVM attribute."""
    return tuple(int(v) for v in values)


def _has_no_pad(reader: relax.Expr) -> bool:
    """True for a convolution with a constant weight that has no border of its own."""
    return op_name(reader) in CONVOLUTIONS and is_const(reader.args[1]) and not any(ints(reader.attrs.padding))
