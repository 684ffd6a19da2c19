"""What all of Relay's expressions share: operators, a type, and the Relax form that lower.py makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any

from tvmq.errors import UnsupportedOpError
from tvmq.relay import types
from tvmq.relay.lower import Lowered, lower
from tvmq.relay.op import registry

if TYPE_CHECKING:
    from tvmq.relay.expr import Call


def apply(name: str, args: Sequence[Expr], **attrs: Any) -> Call:
    """An operator applied to expressions."""
    from tvmq.relay.expr import Call

    return Call(registry.get(name), list(args), attrs)


def operand(value: Any) -> Expr:
    """The value, refused where it is no expression."""
    if isinstance(value, Number):
        raise TypeError(f'convert "{value}" with `const` first')
    if not isinstance(value, Expr):
        raise TypeError(f"relay: {type(value).__name__} is no expression; convert arrays with relay.const")
    return value


def _operator(name: str, *, swapped: bool = False) -> Callable[[Expr, Any], Call]:
    def method(self: Expr, other: Any) -> Call:
        args = [self, operand(other)]
        return apply(name, args[::-1] if swapped else args)

    return method


class Expr:
    """A value. Operators (+ - * / < > <= >=, unary minus) take expressions; numbers need `const`.

    Two expressions are equal where they are the same object; comparing values is relay.equal.
    """

    lowered: Lowered | None = None
    span: Any = None

    def children(self) -> Sequence[Expr]:
        """The expressions that this one reads, in order."""
        return ()

    def with_children(self, children: Sequence[Expr]) -> Expr:
        """The same kind of node over other operands."""
        return self

    def lower(self) -> Lowered | None:
        """The Relax form, of a node whose operands have theirs; None while a type is missing."""
        raise UnsupportedOpError(
            f"relay: a {type(self).__name__} is no value of a straight-line model; call it, or bind it with relay.bind"
        )

    @property
    def value(self) -> Any:
        """The Relax value: a variable, a constant or a tuple of them."""
        return lower(self).value

    @property
    def checked_type(self) -> Any:
        """TensorType or TupleType, inferred by Relax; raises ModelError where an operand's type is unknown."""
        return types.from_relax(self.value.ty)

    def astype(self, dtype: str) -> Call:
        """The value in another element type."""
        return apply("cast", [self], dtype=str(dtype))

    def __neg__(self) -> Call:
        return apply("negative", [self])

    def __call__(self, *args: Expr) -> Call:
        from tvmq.relay.expr import Call

        return Call(self, list(args))

    __add__, __radd__ = _operator("add"), _operator("add", swapped=True)
    __sub__, __rsub__ = _operator("subtract"), _operator("subtract", swapped=True)
    __mul__, __rmul__ = _operator("multiply"), _operator("multiply", swapped=True)
    __truediv__, __rtruediv__ = _operator("divide"), _operator("divide", swapped=True)
    __lt__, __gt__ = _operator("less"), _operator("greater")
    __le__, __ge__ = _operator("less_equal"), _operator("greater_equal")
