"""relay.parse: from a syntax tree to expressions. Names are scoped by function, and the later definition wins.

`%3` and `let %x` are nodes that are shared, since nothing here has effects; a call of `@f` or of a `fn` is taken over
into the caller. Attributes that a text leaves out have the values of Relay's printer (tvmq/relay/op).

Tests: tests/relay/test_text.py
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from tvmq.errors import ModelError, UnsupportedOpError
from tvmq.relay.expr import Call, Constant, Expr, Function, Tuple, TupleGetItem, Var, const
from tvmq.relay.module import IRModule
from tvmq.relay.op import registry
from tvmq.relay.text import syntax_tree as tree
from tvmq.relay.text.metadata import CONSTANT, read_metadata
from tvmq.relay.text.parser import parse_block, parse_text
from tvmq.relay.types import Any as AnySize
from tvmq.relay.types import FuncType, TensorType, TupleType

SIGNS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "<": "less", "<=": "less_equal", ">": "greater",
    ">=": "greater_equal", "==": "equal", "!=": "not_equal",
}  # fmt: skip
PROJECTED = re.compile(r"(.+)\.(\d+)")


def parse(
    source: str, source_name: str = "from_string", init_module: IRModule | None = None, init_meta_table: Any = None
) -> IRModule:
    """A module of Relay's text, which begins with `#[version = "0.0.5"]`, as relay.parse and relay.fromtext.

    init_module       its functions can be called, and come along
    init_meta_table   {type key: entries} for texts without a metadata section
    raises            ModelError with the line of what cannot be read, is unknown or does not fit; UnsupportedOpError
                      for operators that are not here; ConfigError without lark: pip install "tvmq[relay]"

    >>> mod = parse('#[version = "0.0.5"]\\ndef @main(%x: Tensor[(2, 3), float32]) { %0 = exp(%x); add(%0, %0) }')
    >>> mod["main"].body.op.name, str(mod["main"].body.checked_type)
    ('add', 'Tensor[(2, 3), float32]')
    """
    text = parse_text(source, source_name)
    known = {var.name_hint: init_module[var] for var in init_module.get_global_vars()} if init_module else {}
    reader = _TextReader(source_name, text.functions, _table(text.metadata, init_meta_table, source_name), known)
    functions = {**known, **{name: reader.function_of(name) for name in text.functions}}
    for name in text.functions:
        _check(functions[name], name, source_name)
    return IRModule(functions)


def parse_expr(source: str, source_name: str = "from_string") -> Expr:
    """An expression of its text; its variables are those that `free_var` declares.

    >>> parse_expr("free_var %x: Tensor[(2), float32]; %x * 2f").op.name
    'multiply'
    """
    block, metadata = parse_block(source, source_name)
    return _TextReader(source_name, {}, _table(metadata, None, source_name), {}).value(block, {})


class _TextReader:
    """Turns nodes of a syntax tree into expressions; `scope` is {name: expression} everywhere."""

    def __init__(
        self, name: str, trees: Mapping[str, tree.Fn], table: Mapping[str, list[Any]], known: Mapping[str, Any]
    ) -> None:
        self.name, self.trees, self.table = name, trees, table
        self.made: dict[str, Any] = dict(known)
        self.pending: list[str] = []
        self.constants: dict[int, Constant] = {}

    def function_of(self, name: str) -> Function:
        """A function of the module; each is made once."""
        if name not in self.trees and name not in self.made:
            raise self.error(0, f"there is no function @{name}; define it, or give init_module")
        if name in self.pending:
            raise UnsupportedOpError(
                f"parse, {self.name}: @{name} calls itself; recursion has no counterpart here, unroll it"
            )
        if name not in self.made or (name in self.trees and not isinstance(self.made[name], Function)):
            self.pending.append(name)
            self.made[name] = self.function(self.trees[name], {})
            self.pending.pop()
        function: Function = self.made[name]
        return function

    def function(self, node: tree.Fn, scope: Mapping[str, Expr]) -> Function:
        """A function; its parameters hide names around it."""
        params = [Var(param.name, self.type_of(param.type_note)) for param in node.params]
        inner = {**scope, **{param.name_hint: param for param in params}}
        return Function(params, self.value(node.body, inner), attrs=node.attributes)

    def value(self, node: Any, scope: Mapping[str, Expr]) -> Expr:
        """The expression of any node."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.error(getattr(node, "line", 0), f"{node!r} is no value")
        expr: Expr = method(node, scope)
        return expr

    def type_of(self, note: Any) -> Any:
        """A type; None where none is written."""
        if note is None:
            return None
        if isinstance(note, tree.TensorNote):
            return TensorType(tuple(AnySize() if size is None else size for size in note.shape), note.dtype)
        if isinstance(note, tree.TupleNote):
            return TupleType(tuple(self.type_of(field) for field in note.fields))
        return FuncType(tuple(self.type_of(param) for param in note.params), self.type_of(note.result))

    def error(self, line: int, what: str) -> ModelError:
        """An error with its place."""
        where = f", line {line}" if line else ""
        return ModelError(f"parse, {self.name}{where}: {what}")

    def _body(self, node: tree.Body, scope: Mapping[str, Expr]) -> Expr:
        inner = dict(scope)
        for bind in node.binds:
            if bind.value is None:
                inner[bind.name] = Var(bind.name, self.type_of(bind.type_note))
            elif bind.name:
                inner[bind.name] = self.value(bind.value, inner)
        return self.value(node.result, inner)

    def _variable(self, node: tree.Variable, scope: Mapping[str, Expr]) -> Expr:
        """A declared name as it stands; else, with its last number taken off, an item of a tuple."""
        if node.name in scope:
            return scope[node.name]
        match = PROJECTED.fullmatch(node.name)
        if match and match.group(1) in scope:
            return _item(scope[match.group(1)], int(match.group(2)))
        raise self.error(node.line, f"%{node.name} is not defined; declare it before it is used")

    def _global(self, node: tree.Global, scope: Mapping[str, Expr]) -> Expr:
        return self.function_of(node.name)

    def _number(self, node: tree.Number, scope: Mapping[str, Expr]) -> Expr:
        return const(np.asarray(node.value, node.dtype), node.dtype)

    def _meta(self, node: tree.Meta, scope: Mapping[str, Expr]) -> Expr:
        """A constant of the metadata; read twice it is the same node."""
        entries = self.table.get(node.key, [])
        if node.key != CONSTANT or node.index >= len(entries):
            raise self.error(
                node.line,
                f"meta[{node.key}][{node.index}] is missing, the metadata section has {len(entries)}; "
                "print the text with astext(show_meta_data=True)",
            )
        if node.index not in self.constants:
            self.constants[node.index] = Constant(entries[node.index])
        return self.constants[node.index]

    def _tupleof(self, node: tree.TupleOf, scope: Mapping[str, Expr]) -> Expr:
        return Tuple([self.value(field, scope) for field in node.fields])

    def _project(self, node: tree.Project, scope: Mapping[str, Expr]) -> Expr:
        return _item(self.value(node.value, scope), node.index)

    def _operation(self, node: tree.Operation, scope: Mapping[str, Expr]) -> Expr:
        operands = [self.value(node.left, scope), self.value(node.right, scope)]
        return Call(registry.get(SIGNS[node.sign]), operands)

    def _fn(self, node: tree.Fn, scope: Mapping[str, Expr]) -> Expr:
        return self.function(node, scope)

    def _name(self, node: tree.Name, scope: Mapping[str, Expr]) -> Expr:
        raise self.error(node.line, f"{node.name} stands alone; call it: {node.name}(...)")

    def _ifelse(self, node: tree.IfElse, scope: Mapping[str, Expr]) -> Expr:
        raise UnsupportedOpError(
            f"parse, {self.name}, line {node.line}: 'if' has no counterpart in a straight-line model; compute both and "
            "choose with where(condition, a, b)"
        )

    def _apply(self, node: tree.Apply, scope: Mapping[str, Expr]) -> Expr:
        args = [self.value(arg, scope) for arg in node.args if not _is_attributes(arg)]
        attributes = self.attributes(node)
        if not isinstance(node.callee, tree.Name):
            return Call(self.value(node.callee, scope), args)
        try:
            return Call(registry.get(node.callee.name), args, attributes)
        except ModelError as error:
            raise type(error)(f"parse, {self.name}, line {node.line}: {error}") from error

    def attributes(self, node: tree.Apply) -> dict[str, Any]:
        """Attributes of a call: those that are written, and those that the metadata have for it."""
        extra: dict[str, Any] = {}
        for arg in filter(_is_attributes, node.args):
            entries = self.table.get(arg.key, [])
            if arg.index >= len(entries):
                raise self.error(arg.line, f"meta[{arg.key}][{arg.index}] is missing; print the text with its metadata")
            extra |= {key: value for key, value in entries[arg.index].items() if key != "type_key"}
        written = {key: value for key, value in node.attributes.items() if key != "attrs_type_key"}
        return {key: _as_tuples(value) for key, value in {**extra, **written}.items()}


def _is_attributes(node: Any) -> bool:
    """True for `meta[relay.attrs.X][i]`, which stands for the attributes of a call."""
    return isinstance(node, tree.Meta) and node.key != CONSTANT


def _item(value: Expr, index: int) -> Expr:
    return value.fields[index] if isinstance(value, Tuple) and index < len(value.fields) else TupleGetItem(value, index)


def _as_tuples(value: Any) -> Any:
    """Lists as tuples; nothing written is the empty text of layouts and types."""
    if isinstance(value, list):
        return tuple(_as_tuples(item) for item in value)
    return value


def _table(metadata: str | None, init_table: Any, name: str) -> Mapping[str, list[Any]]:
    if metadata is not None:
        return read_metadata(metadata, name)
    table = {str(key): list(entries) for key, entries in dict(init_table or {}).items()}
    plain = [entry.data if isinstance(entry, Constant) else entry for entry in table.get(CONSTANT, [])]
    return {**table, CONSTANT: plain} if plain else table


def _check(function: Function, name: str, source: str) -> None:
    """Infer all types, as relay.parse did, so that what does not fit is refused here."""
    try:
        _ = function.checked_type
    except ModelError as error:
        raise type(error)(f"parse, {source}, @{name}: {error}") from error
