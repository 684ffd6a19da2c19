"""Declaring an operator of ours: a function is its TE loops, and its signature the tensors and the attributes.

    @declare(ARITHMETIC, numerics.multiply, infer=infer_broadcast("int32"), batch="same rank", integer=True)
    def multiply(a: te.Tensor, b: te.Tensor, *, a_zero: int, b_zero: int) -> te.Tensor:
        ...

This registers relax.tvmq.multiply: type inference, purity, legalization, printing and parsing as R.tvmq.multiply. What
`multiply` names from there on is the operator's record, which also makes calls: multiply(x, y, a_zero=0, b_zero=0).

The parser looks names up in `tvm.relax.script.parser.tvmq`; the printer strips "relax." from an operator's name.

Tests: tests/graph/test_operators.py
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import tvm.relax.script.parser as parser
import tvm_ffi
from tvm import ir, relax
from tvm_ffi.dataclasses import py_class

from tvmq.graph.operators.record import Record

Infer = Callable[[relax.Call, relax.BlockBuilder], Any]
Legalize = Callable[[relax.BlockBuilder, relax.Call], relax.Expr]


@dataclass(frozen=True, eq=False)
class Operator(Record):
    """Record of an operator of ours; calling it with Relax expressions makes a call of it, as R.tvmq.<name> does.

    inputs           names of its tensors
    attributes_type  makes the attributes of a call
    """

    inputs: tuple[str, ...] = ()
    attributes_type: Callable[..., ir.Attrs] = ir.Attrs

    def __call__(self, *tensors: relax.Expr, **values: Any) -> relax.Call:
        """A call; lists of numbers among its attributes may be any sequences."""
        if len(tensors) != len(self.inputs):
            raise TypeError(f"R.{self.name}: {len(tensors)} tensors; give {', '.join(self.inputs)}")
        attributes = self.attributes_type(**{name: _as_list(value) for name, value in values.items()})
        return relax.Call(ir.Op.get(f"relax.{self.name}"), list(tensors), attributes)


DECLARED: list[Operator] = []
LISTS = {tuple[int, ...]: tvm_ffi.Array}  # types of attributes that TVM has another class for


def declare(
    kind: str,
    definition: Callable[..., Any] | None = None,
    *,
    infer: Infer,
    label: str = "",
    attributes: str = "",
    **facts: Any,
) -> Callable[[Callable[..., Any]], Operator]:
    """Declare the operator R.tvmq.<name of the decorated function>.

    The function takes TE tensors by position and attributes by keyword, and returns its loops. Two names are neither:
    `result: relax.TensorType` is the type of the call, and a first `builder: relax.BlockBuilder` says that the function
    takes Relax expressions and returns one: a legalization that is more than loops, or that refuses.

    kind, definition, facts  of its record; the attributes are keywords of the definition
    infer                    (call, builder) -> its type, see operators/loops.py
    label                    name of its loops, if not its own
    attributes               name of the class of its attributes, if it shares that of another operator
    """

    def register(loops: Callable[..., Any]) -> Operator:
        parameters = list(inspect.signature(loops, eval_str=True).parameters.values())
        name, fields = loops.__name__, [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "result"]
        camel = attributes or "".join(word.capitalize() for word in name.split("_"))
        operator = Operator(
            name=f"tvmq.{name}",
            kind=kind,
            definition=definition,
            attributes=tuple(field.name for field in fields),
            inputs=tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "builder"),
            attributes_type=_attributes_type(f"tvmq.attrs.{camel}", fields),
            **facts,
        )

        vars(operator).update(__name__=name, __doc__=loops.__doc__, __wrapped__=loops)  # for help(ops.add)

        def legalize(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
            values = operator.values(call)
            if parameters[0].name == "builder":
                return loops(builder, *call.args, **values)
            if any(p.name == "result" for p in parameters):
                values["result"] = call.ty
            return builder.call_te(
                lambda *tensors: loops(*tensors, **values), *call.args, primfunc_name_hint=label or name
            )

        register_operator(operator.name, operator.inputs, f"tvmq.attrs.{camel}", infer, legalize, operator)
        DECLARED.append(operator)
        return operator

    return register


def register_operator(
    name: str, inputs: Sequence[str], type_key: str, infer: Infer, legalize: Legalize, constructor: Callable[..., Any]
) -> None:
    """Tell TVM about relax.<name>, and its parser about R.<name>, a call of which the constructor makes.

    type_key  of the attributes
    """
    full = f"relax.{name}"
    ir.register_op_attr(full, "FInferType", infer)
    ir.register_op_attr(full, "FPurity", True)
    ir.register_op_attr(full, "FLegalize", legalize)
    op = ir.Op.get(full)
    op.set_num_inputs(len(inputs))
    op.set_attrs_type_key(type_key)
    for tensor in inputs:
        op.add_argument(tensor, "Tensor", tensor)
    namespace, _, short = name.partition(".")
    if not hasattr(parser, namespace):
        setattr(parser, namespace, SimpleNamespace())
    setattr(getattr(parser, namespace), short, constructor)


def make_attributes_type(
    type_key: str, fields: Mapping[str, type], defaults: Mapping[str, Any] | None = None
) -> Callable[..., ir.Attrs]:
    """A frozen class of attributes that TVM saves and prints.

    fields  {name: type}
    """
    body = {"__annotations__": dict(fields), "__module__": __name__, "__doc__": f"{type_key}.", **(defaults or {})}
    return py_class(type_key, frozen=True)(type("Attributes", (ir.Attrs,), body))


_types: dict[str, Callable[..., ir.Attrs]] = {}


def _attributes_type(type_key: str, fields: Sequence[inspect.Parameter]) -> Callable[..., ir.Attrs]:
    """The class of that name, which operators may share."""
    if type_key not in _types:
        types = {field.name: LISTS.get(field.annotation, field.annotation) for field in fields}
        defaults = {field.name: field.default for field in fields if field.default is not field.empty}
        _types[type_key] = make_attributes_type(type_key, types, defaults)
    return _types[type_key]


def _as_list(value: Any) -> Any:
    """Sequences of TVM, and tuples, as lists of numbers."""
    return [int(v) for v in value] if not isinstance(value, str) and isinstance(value, Sequence) else value
