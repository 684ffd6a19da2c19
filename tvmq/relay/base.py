"""Base class of Relay's expressions: operators, a type, and the form in Relax.

Every node becomes bindings of Relax once, however often it is read.

Tests: tests/relay/test_expr.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

from tvm import relax

from tvmq.errors import UnsupportedOpError
from tvmq.relay import types
from tvmq.relay.op import registry

if TYPE_CHECKING:
    from tvmq.relay.expr import Call, Function


class RelaxForm(NamedTuple):
    """A node in Relax: the bindings that it adds, and its value (a variable, constant or tuple of them)."""

    bindings: tuple[relax.VarBinding, ...]
    value: Any


@cache
def _builder() -> relax.BlockBuilder:
    return relax.BlockBuilder()


class Emit:
    """Binds Relax calls, one after the other; their types are inferred by Relax."""

    def __init__(self) -> None:
        self.bindings: list[relax.VarBinding] = []

    def __call__(self, call: Any) -> relax.Var:
        """The variable that a call is bound to."""
        value = _builder().normalize(call)
        var = relax.Var("lv", value.ty)
        self.bindings.append(relax.VarBinding(var, value))
        return var

    def infer_type(self, value: Any) -> Any:
        """A tuple with the type that Relax infers for it; it needs no binding."""
        return infer_type(value)


def post_order(root: Expr) -> Iterator[Expr]:
    """Every node under a root once, operands first and from left to right; deep graphs need no deep stack."""
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.children()))


def lower(root: Expr) -> RelaxForm:
    """The Relax form of an expression; each node under it remembers its own."""
    if root.lowered is None:
        for node in post_order(root):
            if node.lowered is None:
                node.lowered = node.lower()
    assert root.lowered is not None
    return root.lowered


def to_relax(func: Function, name: str = "main") -> relax.Function:
    """A function in Relax, with variables of its own.

    One dataflow block; what the result does not need is left out. Parameters keep their names.
    """
    lower(func.body)
    bindings = [b for node in post_order(func.body) if node.lowered for b in node.lowered.bindings]
    result = func.body.value
    bindings = _drop_unused(bindings, result)
    params = [param.value for param in func.params]
    fresh = dict(zip(params, [relax.Var(p.name, p.ty) for p in params], strict=True))
    outputs = set(_leaves(result))
    for binding in bindings:
        kind = relax.Var if binding.var in outputs else relax.DataflowVar
        fresh[binding.var] = kind(f"lv{len(fresh)}", binding.var.ty)
    block = relax.DataflowBlock([relax.VarBinding(fresh[b.var], replace(b.value, fresh)) for b in bindings])
    body = infer_type(relax.SeqExpr([block] if bindings else [], replace(result, fresh)))
    function = relax.Function([fresh[p] for p in params], body, body.ty)
    return function.with_attr("global_symbol", name)


def replace(expr: Any, values: dict[Any, Any]) -> Any:
    """A Relax expression with its variables exchanged; types stay."""
    if isinstance(expr, relax.Var):
        return values.get(expr, expr)
    if isinstance(expr, relax.Tuple):
        return infer_type(relax.Tuple([replace(item, values) for item in expr.fields]))
    if isinstance(expr, relax.TupleGetItem):
        return _builder().normalize(relax.TupleGetItem(replace(expr.tuple_value, values), expr.index))
    if isinstance(expr, relax.Call):
        args = [replace(arg, values) for arg in expr.args]
        return _builder().normalize(relax.Call(expr.op, args, expr.attrs, expr.ty_args))
    return expr


def infer_type(expr: Any) -> Any:
    """An expression with the type that Relax infers for it."""
    return _builder().normalize(expr)


def _drop_unused(bindings: list[relax.VarBinding], result: Any) -> list[relax.VarBinding]:
    """The bindings that a result depends on, in order."""
    read, kept = set(_leaves(result)), []
    for binding in reversed(bindings):
        if binding.var in read:
            kept.append(binding)
            read.update(_leaves(binding.value))
    return kept[::-1]


def _leaves(expr: Any) -> Iterable[relax.Var]:
    if isinstance(expr, relax.Var):
        return [expr]
    if isinstance(expr, relax.TupleGetItem):
        return _leaves(expr.tuple_value)
    inner = expr.fields if isinstance(expr, relax.Tuple) else expr.args if isinstance(expr, relax.Call) else ()
    return [var for item in inner for var in _leaves(item)]


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

    lowered: RelaxForm | None = None
    span: Any = None

    def children(self) -> Sequence[Expr]:
        """The expressions that this one reads, in order."""
        return ()

    def with_children(self, children: Sequence[Expr]) -> Expr:
        """Node of the same kind over other operands."""
        return self

    def lower(self) -> RelaxForm | None:
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
