"""Patterns of operators as a tree, read from TVM's dataflow patterns or from one of two notations.

    "nn.conv2d -> add -> tvmq.requantize"           each reads the one before
    "nn.conv2d[groups=1] -> add? -> tvmq.requantize[dtype=int8]"     attributes; what may be absent

    "log(nn.softmax(x))"                            arguments, of which the last ones may be left out
    "y := (add | multiply)(x, const(c))"            names, alternatives, constants
    "tvmq.quantize(nn.max_pool2d(x, strides=[2, 2])[0], const(), _)"    attributes, an item of a tuple, anything

A name stands for one expression wherever it occurs. TVM's patterns (tvm.relax.dpl) are read into the same tree, so that
a miss can be told in words.

Tests: tests/graph/test_patterns.py, tests/codegen/custom_lowering/test_own_functions.py
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from tvm.relax import dpl

from tvmq.errors import ConfigError
from tvmq.graph.view import const_value, is_const

STEP = re.compile(r"(?P<name>[A-Za-z_]\w*(\.\w+)*)(\[(?P<attributes>[^\]]*)\])?(?P<optional>\?)?")


@dataclass(frozen=True, eq=False)
class PatternNode:
    """Any expression.

    label   name by which rules and functions know it
    source  pattern of TVM that it was read from, if it was
    """

    label: str = field(default="", kw_only=True)
    source: Any = field(default=None, kw_only=True)

    @property
    def parts(self) -> tuple[PatternNode, ...]:
        """Patterns that it is made of."""
        fields = [value if isinstance(value, tuple) else (value,) for value in vars(self).values()]
        return tuple(part for values in fields for part in values if isinstance(part, PatternNode))


@dataclass(frozen=True, eq=False)
class ConstNode(PatternNode):
    """A constant; `value`: equal to it."""

    value: Any = None


@dataclass(frozen=True, eq=False)
class OperatorNode(PatternNode):
    """A call of an operator.

    args        of all arguments; None: any
    follows     what one of its arguments is, with `args` None
    attributes  that it must have
    """

    name: str = ""
    args: tuple[PatternNode, ...] | None = None
    follows: PatternNode | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Having(PatternNode):
    """Something of an element type, a shape, or attributes."""

    inner: PatternNode = field(default_factory=PatternNode)
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class AnyOf(PatternNode):
    """Alternative: an expression that fits the left or the right pattern."""

    left: PatternNode = field(default_factory=PatternNode)
    right: PatternNode = field(default_factory=PatternNode)


@dataclass(frozen=True, eq=False)
class AllOf(PatternNode):
    """Conjunction: an expression that fits both patterns."""

    left: PatternNode = field(default_factory=PatternNode)
    right: PatternNode = field(default_factory=PatternNode)


@dataclass(frozen=True, eq=False)
class Fields(PatternNode):
    """A tuple that is written out."""

    items: tuple[PatternNode, ...] = ()


@dataclass(frozen=True, eq=False)
class Item(PatternNode):
    """An item of a tuple that an operator gives."""

    inner: PatternNode = field(default_factory=PatternNode)
    index: int = 0


@dataclass(frozen=True, eq=False)
class Foreign(PatternNode):
    """A pattern that only TVM's own matcher can decide."""


@dataclass(frozen=True)
class PatternStep:
    """An operator on the way from the innermost one of a pattern to its result."""

    node: OperatorNode
    optional: bool = False


def read_pattern(pattern: Any, where: str) -> PatternNode:
    """The tree of a pattern.

    pattern  a text in the notation above, or a pattern of tvm.relax.dpl
    raises   ConfigError for anything else, and for a pattern without operators
    """
    if isinstance(pattern, str):
        node = _read_text(pattern, where)
    elif isinstance(pattern, dpl.DFPattern):
        node = _read_dpl(pattern, {})
    else:
        raise ConfigError(
            f"{where}: a pattern is a text such as 'nn.conv2d -> add -> tvmq.requantize' or a pattern of "
            f"tvm.relax.dpl. Got a {type(pattern).__name__} instead"
        )
    if not spine(node):
        raise ConfigError(f"{where}: the pattern has no operator; begin it with is_op or an operator's name")
    return node


def spine(node: PatternNode) -> list[PatternStep]:
    """The operators from the innermost to the result, along the longest way."""
    ways = [spine(part) for part in node.parts]
    longest = max(ways, key=len, default=[])
    if isinstance(node, OperatorNode):
        return [*longest, PatternStep(node)]
    if not isinstance(node, AnyOf):
        return longest
    known = {id(step.node) for step in (ways[1] if longest is ways[0] else ways[0])}
    return [PatternStep(step.node, step.optional or id(step.node) not in known) for step in longest]


def nodes(node: PatternNode) -> Iterator[PatternNode]:
    """All nodes of a pattern, parts before what is made of them."""
    for part in node.parts:
        yield from nodes(part)
    yield node


def operators(node: PatternNode) -> Iterator[OperatorNode]:
    """All operators of a pattern, arguments before the calls that read them."""
    return (one for one in nodes(node) if isinstance(one, OperatorNode))


def _read_text(text: str, where: str) -> PatternNode:
    if "->" not in text and "(" in re.sub(r"\[.*?\]", "", text):
        return _ExpressionReader(text, where).read()
    node: PatternNode | None = None
    for part in text.split("->"):
        match = STEP.fullmatch(part.strip())
        if match is None:
            raise ConfigError(
                f"{where}: {part.strip()!r} of the pattern {text!r} is no operator; write names joined by '->', with "
                "attributes in brackets: nn.conv2d[groups=1] -> add"
            )
        name = match["name"].removeprefix("relax.")
        call = OperatorNode(name, follows=node, attributes=_attributes(match["attributes"] or "", text, where))
        if match["optional"] and node is None:
            raise ConfigError(
                f"{where}: the first operator of the pattern {text!r} cannot be left out; begin behind it"
            )
        node = AnyOf(call, node) if match["optional"] and node is not None else call
    assert node is not None
    return node


def _attributes(text: str, pattern: str, where: str) -> dict[str, Any]:
    """{name: value} of "groups=1, dtype=int8"."""
    attributes = {}
    for part in filter(None, map(str.strip, re.split(r",(?![^(]*\))", text))):
        name, equal, value = part.partition("=")
        if not equal:
            raise ConfigError(f"{where}: {part!r} of the pattern {pattern!r} is no attribute; write name=value")
        try:
            attributes[name.strip()] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError):
            attributes[name.strip()] = value.strip()
    return attributes


def _either(one: PatternNode, other: PatternNode) -> PatternNode:
    return AnyOf(one, other)


class _ExpressionReader:
    """Reads the notation with arguments, whose grammar is that of Python's expressions."""

    def __init__(self, text: str, where: str) -> None:
        self._text, self._where = text, where
        self._named: dict[str, PatternNode] = {}

    def read(self) -> PatternNode:
        """Tree of the text."""
        try:
            tree = ast.parse(f"({self._text})", mode="eval").body
        except SyntaxError:
            tree = None
        return self._node(tree)

    def _node(self, tree: ast.expr | None) -> PatternNode:
        if isinstance(tree, ast.NamedExpr):
            return self._name(tree.target.id, self._node(tree.value))
        if isinstance(tree, ast.Name):
            known = self._named.get(tree.id)
            return known or (self._name(tree.id, PatternNode()) if tree.id != "_" else PatternNode())
        if isinstance(tree, ast.Call) and ast.unparse(tree.func) == "const":
            return self._name(ast.unparse(tree.args[0]), ConstNode()) if tree.args else ConstNode()
        if isinstance(tree, ast.Call) and re.fullmatch(r"[\w.]+( \| [\w.]+)*", names := ast.unparse(tree.func)):
            args, attributes = (
                tuple(map(self._node, tree.args)),
                {str(k.arg): self._literal(k.value) for k in tree.keywords},
            )
            calls: list[PatternNode] = [
                OperatorNode(n.removeprefix("relax."), args, attributes=attributes) for n in names.split(" | ")
            ]
            return reduce(_either, calls)
        if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
            return AnyOf(self._node(tree.left), self._node(tree.right))
        if isinstance(tree, ast.Subscript) and isinstance(tree.slice, ast.Constant):
            return Item(self._node(tree.value), int(ast.literal_eval(tree.slice)))
        if isinstance(tree, ast.Tuple):
            return Fields(tuple(map(self._node, tree.elts)))
        raise self._error(tree)

    def _literal(self, tree: ast.expr) -> Any:
        try:
            return tree.id if isinstance(tree, ast.Name) else ast.literal_eval(tree)
        except ValueError:
            raise self._error(tree) from None

    def _error(self, tree: ast.expr | None) -> ConfigError:
        part = self._text if tree is None else ast.unparse(tree)
        return ConfigError(
            f"{self._where}: {part!r} of the pattern {self._text!r} is no expression of operators; write it as in "
            "add(nn.conv2d(x, const(w), groups=1), const(bias))"
        )

    def _name(self, label: str, node: PatternNode) -> PatternNode:
        self._named[label] = replace(node, label=label)
        return self._named[label]


def _read_dpl(pattern: Any, known: dict[int, PatternNode]) -> PatternNode:
    """The tree of TVM's pattern; one that occurs twice is one node, which stands for one expression."""
    key = pattern.__chandle__()
    key = key if isinstance(key, int) else hash(pattern)
    if key not in known:
        known[key] = _new(pattern, known)
    return known[key]


def _new(pattern: Any, known: dict[int, PatternNode]) -> PatternNode:
    inner = lambda part: _read_dpl(part, known)  # noqa: E731
    if isinstance(pattern, dpl.CallPattern) and isinstance(pattern.op, dpl.ExprPattern):
        return OperatorNode(_operator(pattern.op), tuple(map(inner, pattern.args)), source=pattern)
    if isinstance(pattern, dpl.AttrPattern):
        return Having(inner(pattern.pattern), attributes=_attrs_of(pattern), source=pattern)
    if isinstance(pattern, dpl.DataTypePattern):
        return Having(inner(pattern.pattern), dtype=str(pattern.dtype), source=pattern)
    if isinstance(pattern, dpl.ShapePattern):
        return Having(inner(pattern.pattern), shape=tuple(int(size) for size in pattern.shape), source=pattern)
    if isinstance(pattern, dpl.OrPattern):
        return AnyOf(inner(pattern.left), inner(pattern.right), source=pattern)
    if isinstance(pattern, dpl.AndPattern):
        return AllOf(inner(pattern.left), inner(pattern.right), source=pattern)
    if isinstance(pattern, dpl.ConstantPattern):
        return ConstNode(source=pattern)
    if isinstance(pattern, dpl.ExprPattern) and is_const(pattern.expr):
        return ConstNode(const_value(pattern.expr), source=pattern)
    if isinstance(pattern, dpl.TuplePattern):
        return Fields(tuple(map(inner, pattern.fields)), source=pattern)
    if isinstance(pattern, dpl.WildcardPattern):
        return PatternNode(source=pattern)
    return Foreign(source=pattern)


def _operator(pattern: Any) -> str:
    return str(getattr(pattern.expr, "name", pattern.expr)).removeprefix("relax.")


def _attrs_of(pattern: Any) -> dict[str, Any]:
    attributes = pattern.attr if hasattr(pattern, "attr") else pattern.attrs
    return {str(name): value for name, value in dict(attributes).items()}


def format_pattern(node: PatternNode) -> str:
    """A pattern in the notation, along its longest way.

    >>> format_pattern(read_pattern("nn.conv2d -> add? -> tvmq.requantize", "doc"))
    'nn.conv2d -> add? -> tvmq.requantize'
    """
    return " -> ".join(step.node.name + "?" * step.optional for step in spine(node))
