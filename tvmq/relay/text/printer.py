"""relay.astext: modules and expressions as Relay's text.

Every call, tuple and projection but the last of a function is a binding of the graph, `%3 = ...;`. Numbers are written
in full, so that reading gives the same bits: Relay wrote six digits. Only attributes that differ from the operator's
own are written, in its order; types stand in comments.

Tests: tests/relay/test_text.py
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from tvmq.errors import UnsupportedOpError
from tvmq.relay.analysis import free_vars
from tvmq.relay.base import post_order
from tvmq.relay.expr import Call, Constant, Expr, Function, Let, Tuple, TupleGetItem, TupleWrapper, Var
from tvmq.relay.op.registry import Op
from tvmq.relay.text.metadata import write_metadata
from tvmq.relay.text.parser import SECTION, VERSION
from tvmq.relay.types import FuncType, TupleType

# Element types of scalars that stand in the text, and their suffixes
SUFFIXES = {"int16": "i16", "int32": "", "int64": "i64", "float16": "f16", "float32": "f", "float64": "f64", "bool": ""}
FOREIGN = re.compile(r"[^A-Za-z0-9_/.:]|(?<!:):(?!:)")


def astext(value: Any, show_meta_data: bool = True) -> str:
    """The text of a module, a function or an expression; `relay.parse` reads that of a module.

    show_meta_data  False leaves out the constants behind `#[metadata]`: to be read by people
    raises          UnsupportedOpError for functions that are none of Relay's; print the module with mod.script()

    >>> from tvmq.relay.expr import const, var
    >>> print(astext(var("x", shape=(2,)) * const(0.1)), end="")
    #[version = "0.0.5"]
    free_var %x: Tensor[(2), float32];
    multiply(%x, 0.1f) /* ty=Tensor[(2), float32] */
    """
    printer = _Printer()
    value = value.astuple() if isinstance(value, TupleWrapper) else value
    if isinstance(value, Function):
        body = [f"fn {printer.function(value)}"]
    elif isinstance(value, Expr):
        body = [*(f"free_var {printer.param(var)};" for var in free_vars(value)), *printer.block(value)]
    else:
        body = printer.module(value)
    text = "\n".join([f'#[version = "{VERSION}"]', *body, ""])
    if show_meta_data and printer.constants:
        text += f"\n{SECTION}\n{write_metadata(printer.constants)}\n"
    return text


def type_text(kind: Any) -> str:
    """A type as Relay wrote it: a scalar is its element type, a tuple of one has a comma.

    >>> from tvmq.relay.types import TensorType
    >>> type_text(TensorType((), "int32")), type_text(TupleType((TensorType((4,)),)))
    ('int32', '(Tensor[(4), float32],)')
    """
    if isinstance(kind, TupleType):
        return _tuple([type_text(field) for field in kind.fields])
    if isinstance(kind, FuncType):
        return f"fn ({', '.join(map(type_text, kind.arg_types))}) -> {type_text(kind.ret_type)}"
    sizes = ", ".join(str(size) if isinstance(size, int) else "?" for size in kind.shape)
    return f"Tensor[({sizes}), {kind.dtype}]" if kind.shape else str(kind.dtype)


def scalar_text(array: np.ndarray) -> str | None:
    """A scalar as it stands in the text, with the digits that make it unique; None for other constants.

    >>> scalar_text(np.float32(0.1)), scalar_text(np.int64(-3)), scalar_text(np.int8(1))
    ('0.1f', '-3i64', None)
    """
    dtype = str(array.dtype)
    if array.ndim or dtype not in SUFFIXES:
        return None
    value = str(array[()])
    return (value.removesuffix(".0") if "float" in dtype else value) + SUFFIXES[dtype]


def attribute_text(value: Any) -> str:
    """The value of an attribute.

    >>> attribute_text((1, 2)), attribute_text(1e-5), attribute_text("NCHW"), attribute_text(None)
    ('[1, 2]', '1e-05f', '"NCHW"', 'None')
    """
    if value is None or isinstance(value, bool | np.bool_):
        return str(value)
    if isinstance(value, str):
        return f'"{str(value)}"'
    if isinstance(value, float | np.floating):
        return repr(float(value)).removesuffix(".0") + "f"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(attribute_text, value))}]"
    return str(int(value))


class _Printer:
    """Names of variables and numbers of bindings run on through a whole text."""

    def __init__(self) -> None:
        self.constants: list[np.ndarray] = []
        self.numbers = itertools.count()
        self.known: dict[int, str] = {}
        self.used: set[str] = set()
        self.kept: list[Any] = []  # nodes whose id is remembered stay alive

    def module(self, mod: Any) -> list[str]:
        """All functions, sorted by name."""
        lines = []
        for name in sorted(var.name_hint for var in mod.get_global_vars()):
            func = mod[name]
            if not isinstance(func, Function):
                raise UnsupportedOpError(
                    f"relay.astext: @{name} is a {type(func).__name__}, which Relay's text lacks; use mod.script()"
                )
            lines += [f"def @{name}{self.function(func)}", ""]
        return lines[:-1]

    def function(self, func: Function) -> str:
        """Parameters, type of the result and body."""
        params = [self.param(param) for param in func.params]
        params += [f"{key}={attribute_text(value)}" for key, value in _plain_attributes(func.attrs)]
        body = "\n".join(f"  {line}" for line in self.block(func.body))
        return f"({', '.join(params)}) -> {type_text(func.ret_type)} {{\n{body}\n}}"

    def param(self, var: Var) -> str:
        """`%x: type`, under a name that no other variable of the text has."""
        base = FOREIGN.sub("_", var.name_hint) or "v"
        base = f"v{base}" if base.isdigit() else base
        name, number = base, 0
        while name in self.used:
            number += 1
            name = f"{base}_{number}"
        self.used.add(name)
        self._remember(var, f"%{name}")
        return f"%{name}: {type_text(var.checked_type)}"

    def block(self, body: Expr) -> list[str]:
        """A line for each node that is read, and the last value."""
        lines: list[str] = []
        for node in post_order(body):
            if id(node) in self.known:
                continue
            text = self._text(node)
            if isinstance(node, Call) and isinstance(node.op, Op):
                text = f"{text} /* ty={type_text(node.checked_type)} */"
            elif not isinstance(node, Tuple | TupleGetItem):
                self._remember(node, text)
                continue
            if node is body:
                return [*lines, text]
            name = f"%{next(self.numbers)}"
            self._remember(node, name)
            lines.append(f"{name} = {text};")
        return [*lines, self.known[id(body)]]

    def _text(self, node: Expr) -> str:
        """A node whose operands have names; what only stands for another node has that one's text."""
        operands = [self.known.get(id(child), "") for child in node.children()]
        if isinstance(node, Constant):
            return self._constant(node)
        if isinstance(node, Tuple):
            return _tuple(operands)
        if isinstance(node, TupleGetItem):
            return f"{operands[0]}.{node.index}"
        if isinstance(node, Call) and isinstance(node.op, Op):
            return f"{node.op.name}({', '.join([*operands, *_attributes(node)])})"
        if isinstance(node, Call | Let | Var) and operands:
            return operands[-1]
        if isinstance(node, Var):
            self.param(node)
            return self.known[id(node)]
        raise UnsupportedOpError(f"relay.astext: a {type(node).__name__} inside of an expression cannot be written")

    def _constant(self, node: Constant) -> str:
        array = node.data.numpy()
        text = scalar_text(array)
        if text is None:
            self.constants.append(array)
            text = f"meta[relay.Constant][{len(self.constants) - 1}]"
        return text

    def _remember(self, node: Any, text: str) -> None:
        self.known[id(node)] = text
        self.kept.append(node)


def _tuple(fields: list[str]) -> str:
    return f"({fields[0]},)" if len(fields) == 1 else f"({', '.join(fields)})"


def _attributes(call: Call) -> list[str]:
    """Attributes whose values differ from the operator's own."""
    return [
        f"{key}={text}"
        for key, default in call.op.defaults.items()
        if (text := attribute_text(call.attrs[key])) != (attribute_text(default) if _is_plain(default) else None)
    ]


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str | list | tuple)


def _plain_attributes(attrs: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in attrs.items() if _is_plain(value)]
