"""Relay's expressions: nodes that can be asked what scripts ask (op.name, args, attrs, checked_type), over Relax.

A node holds its operands and, once somebody needs its type or its function, the Relax bindings it stands for
(`lower` of base.py). Nothing is optimized, typed or compiled on this side.

>>> x = var("x", shape=(1, 4))
>>> y = (x + const(1.0)).astype("int8")
>>> y.op.name, y.args[0].op.name, str(y.checked_type)
('cast', 'add', 'Tensor[(1, 4), int8]')
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.errors import ModelError, TvmqError, UnsupportedOpError
from tvmq.relay import types
from tvmq.relay.base import Emit, Expr, RelaxForm, infer_type, lower, operand, to_relax
from tvmq.relay.op import registry


class Var(Expr):
    """A named value: a parameter, or what Let binds. Its type may come later, from the operator that reads it."""

    def __init__(self, name_hint: str, type_annotation: Any = None) -> None:
        self.name_hint = name_hint
        self.type_annotation = None if type_annotation is None else types.as_type(type_annotation)
        self.bound: Expr | None = None

    @property
    def name(self) -> str:
        """The name, as name_hint."""
        return self.name_hint

    @property
    def vid(self) -> Var:
        """The identity of the variable: itself."""
        return self

    def children(self) -> Sequence[Expr]:
        """Value that Let binds it to."""
        return () if self.bound is None else (self.bound,)

    def give_type(self, type_annotation: Any) -> None:
        """Set the type of a variable that has none."""
        if self.type_annotation is None:
            self.type_annotation = type_annotation

    def lower(self) -> RelaxForm | None:
        """A Relax variable of its own, or what it is bound to."""
        if self.bound is not None:
            return RelaxForm((), self.bound.value)
        return RelaxForm((), relax.Var(self.name_hint, self.type_annotation.relax)) if self.type_annotation else None

    @property
    def value(self) -> Any:
        """The Relax variable; raises ModelError while the type is unknown."""
        self.lowered = self.lowered or self.lower()
        if self.lowered is None:
            raise ModelError(
                f"relay, variable '{self.name_hint}': it has no type, and the operator that reads it needs one; "
                "give relay.var a shape"
            )
        return self.lowered.value

    def __repr__(self) -> str:
        return f"%{self.name_hint}" + (f": {self.type_annotation}" if self.type_annotation else "")


class Constant(Expr):
    """A constant tensor, of its array's own element type.

    data  a NumPy array or a tvm.runtime.Tensor
    """

    def __init__(self, data: Any) -> None:
        self.data = data if isinstance(data, tvm.runtime.Tensor) else tvm.runtime.tensor(np.asarray(data))

    def lower(self) -> RelaxForm:
        """A constant of Relax."""
        return RelaxForm((), relax.const(self.data, str(self.data.dtype)))

    def __repr__(self) -> str:
        return f"Constant({self.checked_type})"


class Tuple(Expr):
    """Several values as one; [i] and len reach the fields."""

    def __init__(self, fields: Sequence[Expr]) -> None:
        self.fields = [operand(field) for field in fields]

    def children(self) -> Sequence[Expr]:
        """The fields."""
        return self.fields

    def with_children(self, children: Sequence[Expr]) -> Expr:
        """A tuple of other fields."""
        return Tuple(children)

    def lower(self) -> RelaxForm:
        """A tuple of Relax."""
        return RelaxForm((), infer_type(relax.Tuple([field.value for field in self.fields])))

    def __getitem__(self, index: int) -> Expr:
        return self.fields[index]

    def __len__(self) -> int:
        return len(self.fields)


class TupleGetItem(Expr):
    """A field of a tuple."""

    def __init__(self, tuple_value: Expr, index: int) -> None:
        self.tuple_value = operand(tuple_value)
        self.index = int(index)

    def children(self) -> Sequence[Expr]:
        """The tuple."""
        return (self.tuple_value,)

    def with_children(self, children: Sequence[Expr]) -> Expr:
        """This field of another tuple; of a literal one, the field itself."""
        return TupleGetItem(children[0], self.index)

    def lower(self) -> RelaxForm:
        """The field itself where the tuple is a literal one."""
        value = self.tuple_value.value
        if isinstance(value, relax.Tuple):
            return RelaxForm((), value.fields[self.index])
        emit = Emit()
        field = emit(relax.TupleGetItem(value, self.index))
        return RelaxForm(tuple(emit.bindings), field)


class TupleWrapper:
    """Result of functions that return several values: [i], len, unpacking and astuple()."""

    def __init__(self, tuple_value: Expr, size: int) -> None:
        self.tuple_value = tuple_value
        self.size = size

    def astuple(self) -> Expr:
        """The results as one expression."""
        return self.tuple_value

    def astext(self) -> str:
        """The tuple as text."""
        return str(self.tuple_value)

    def __getitem__(self, index: int) -> TupleGetItem:
        if not 0 <= index < self.size:
            raise IndexError(f"relay: result {index} of {self.size}; the first is 0")
        return TupleGetItem(self.tuple_value, index)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[TupleGetItem]:
        return (self[index] for index in range(self.size))


class Call(Expr):
    """An operator, or a function, applied to expressions.

    op     an operator (relay.op.get(name)) or a Function, which is taken over into the caller
    attrs  {attribute: value}; what is left out has the value that the operator gives it
    """

    def __init__(
        self,
        op: Any,
        args: Sequence[Expr],
        attrs: Mapping[str, Any] | None = None,
        type_args: Any = None,
        span: Any = None,
    ) -> None:
        self.op = registry.get(op) if isinstance(op, str) else op
        self.args = [operand(arg) for arg in args]
        self.type_args = list(type_args or [])
        self.span = span
        self.attrs = self.op.attributes(attrs) if isinstance(self.op, registry.Op) else registry.Attrs(attrs or {})

    def children(self) -> Sequence[Expr]:
        """The operands; of a call of a function, its body with the operands in it."""
        return self.args if isinstance(self.op, registry.Op) else (self._inline(),)

    def with_children(self, children: Sequence[Expr]) -> Expr:
        """Call of the same operator on other operands."""
        if not isinstance(self.op, registry.Op):
            return children[0]
        return Call(self.op, children, self.attrs, self.type_args, self.span)

    def _inline(self) -> Expr:
        if not isinstance(self.op, Function):
            raise UnsupportedOpError(f"relay: {self.op!r} cannot be called; call an operator or a relay.Function")
        if not hasattr(self, "_body"):
            if len(self.args) != len(self.op.params):
                raise ModelError(f"relay: a function of {len(self.op.params)} parameters got {len(self.args)} values")
            self._body = bind(self.op.body, dict(zip(self.op.params, self.args, strict=True)))
        return self._body

    def lower(self) -> RelaxForm:
        """The Relax calls that compute the operator."""
        if not isinstance(self.op, registry.Op):
            return RelaxForm((), self._inline().value)
        if self.op.completion and any(isinstance(a, Var) and a.lowered is None for a in self.args):
            self._complete()
        emit = Emit()
        try:
            value = self.op.lowering(emit, [arg.value for arg in self.args], self.attrs)
        except TvmqError:
            raise
        # What Relax's type inference raises
        except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
            shapes = ", ".join(str(arg.checked_type) for arg in self.args)
            raise ModelError(f"relay, {self.op.name} of {shapes}: {str(error).strip().splitlines()[-1]}") from error
        return RelaxForm(tuple(emit.bindings), value)

    def _complete(self) -> None:
        """Give operands without a type the one that follows from the others."""
        assert self.op.completion
        known = [a.checked_type if not isinstance(a, Var) or a.lowered or a.lower() else None for a in self.args]
        for index, inferred in self.op.completion(known, self.attrs).items():
            arg = self.args[index]
            if isinstance(arg, Var):
                arg.give_type(inferred)

    def __repr__(self) -> str:
        return f"Call({self.op!r}, {len(self.args)} operands)"


class Let(Expr):
    """A value with a name, and what is computed from it."""

    def __init__(self, variable: Var, value: Expr, body: Expr) -> None:
        self.var, self.bound_value, self.body = variable, value, body
        variable.bound = value
        variable.lowered = None

    def children(self) -> Sequence[Expr]:
        """The value, then the body."""
        return (self.bound_value, self.body)

    def with_children(self, children: Sequence[Expr]) -> Expr:
        """The body alone: variables in it stand for their values already."""
        return children[1]

    def lower(self) -> RelaxForm:
        """The body."""
        return RelaxForm((), self.body.value)


class Function(Expr):
    """Parameters and a body; module.py makes it a module's function.

    ret_type, type_params  accepted as Relay had them; types are inferred
    """

    def __init__(
        self, params: Sequence[Var], body: Expr, ret_type: Any = None, type_params: Any = None, attrs: Any = None
    ) -> None:
        self.params = list(params)
        self.body = body.astuple() if isinstance(body, TupleWrapper) else operand(body)
        self.type_params = list(type_params or [])
        self.attrs = registry.Attrs(attrs or {})

    def children(self) -> Sequence[Expr]:
        """The parameters, then the body."""
        return (*self.params, self.body)

    def with_children(self, children: Sequence[Expr]) -> Expr:
        """The function with another body; parameters that are no variables any more are left out."""
        params = [child for child in children[:-1] if isinstance(child, Var)]
        return Function(params, children[-1], None, self.type_params, self.attrs)

    @property
    def ret_type(self) -> Any:
        """Type of the result."""
        return self.body.checked_type

    @property
    def checked_type(self) -> types.FuncType:
        """Types of the parameters and of the result."""
        lower(self.body)
        return types.FuncType(tuple(p.checked_type for p in self.params), self.ret_type)

    def with_attr(self, key: Any, value: Any = None) -> Function:
        """The function with one attribute more, or several as a dict."""
        added = dict(key) if isinstance(key, Mapping) else {key: value}
        return Function(self.params, self.body, None, self.type_params, {**self.attrs, **added})

    @property
    def relax(self) -> relax.Function:
        """The function in Relax."""
        return to_relax(self)

    def astext(self, show_meta_data: bool = True) -> str:
        """The function as text, see relay.astext."""
        from tvmq.relay.module import IRModule

        return IRModule.from_expr(self).astext(show_meta_data)


def bind(expr: Expr, values: Mapping[Var, Expr]) -> Expr:
    """The expression with other expressions in the place of variables, as relay.bind.

    >>> x, y = var("x", shape=(2,)), var("y", shape=(2,))
    >>> bind(x + y, {y: x}).args[1] is x
    True
    """
    from tvmq.relay.visitor import rebuild

    return rebuild(expr, {id(variable): value for variable, value in values.items()})


def var(
    name_hint: str, type_annotation: Any = None, shape: Any = None, dtype: str = "float32", span: Any = None
) -> Var:
    """A variable, as relay.var: by a type, by shape and element type, or with neither; a text is a scalar's type.

    raises  ValueError  both a type and a shape

    >>> var("x", shape=(1, 2)), var("n", "int32"), var("w")
    (%x: Tensor[(1, 2), float32], %n: Tensor[(), int32], %w)
    """
    if type_annotation is not None and shape is not None:
        raise ValueError("Can only specify either type_annotation or shape.")
    if shape is not None:
        type_annotation = types.TensorType(tuple(shape), dtype)
    return Var(name_hint, type_annotation)


def const(value: Any, dtype: str | None = None, span: Any = None) -> Constant:
    """A constant, as relay.const: 64-bit numbers and arrays become 32-bit ones where no dtype is given.

    raises  ValueError  nothing that can be a tensor

    >>> str(const(1.5).checked_type), str(const([1, 2]).checked_type), const(2, "int8").data.numpy().item()
    ('Tensor[(), float32]', 'Tensor[(2), int32]', 2)
    """
    if isinstance(value, tvm.runtime.Tensor):
        return Constant(value)
    if not isinstance(value, Number | list | tuple | np.ndarray | np.generic | bool):
        raise ValueError("value has to be scalar or NDArray")
    array = np.array(value, dtype)
    narrow = {"float64": "float32", "int64": "int32"}
    return Constant(array.astype(narrow.get(str(array.dtype), array.dtype)) if dtype is None else array)
