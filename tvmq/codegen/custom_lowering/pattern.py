"""Patterns of operators as a tree, read from TVM's dataflow patterns or from a notation of operator names.

    "nn.conv2d -> add -> tvmq.requantize"           each reads the one before
    "nn.conv2d[groups=1] -> add? -> tvmq.requantize[dtype=int8]"     attributes; what may be absent

TVM's patterns (tvm.relax.dpl) are read into the same tree, so that a miss can be told in words.

Tests: tests/codegen/custom_lowering/test_own_functions.py
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tvm.relax import dpl

from tvmq.errors import ConfigError
from tvmq.graph.view import const_value, is_const

STEP = re.compile(r"(?P<name>[A-Za-z_]\w*(\.\w+)*)(\[(?P<attributes>[^\]]*)\])?(?P<optional>\?)?")


@dataclass(frozen=True, eq=False)
class PatternNode:
    """Any expression. `source` is the pattern of TVM that it was read from, if it was."""

    source: Any = field(default=None, kw_only=True)


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
    if isinstance(node, OperatorNode):
        inner = [spine(arg) for arg in node.args or (node.follows or PatternNode(),)]
        return [*max(inner, key=len, default=[]), PatternStep(node)]
    if isinstance(node, Having):
        return spine(node.inner)
    if isinstance(node, AllOf | AnyOf):
        left, right = spine(node.left), spine(node.right)
        longer, shorter = (left, right) if len(left) >= len(right) else (right, left)
        if isinstance(node, AllOf):
            return longer
        known = {id(step.node) for step in shorter}
        return [PatternStep(step.node, step.optional or id(step.node) not in known) for step in longer]
    if isinstance(node, Fields):
        return max(map(spine, node.items), key=len, default=[])
    return []


def operators(node: PatternNode) -> Iterator[OperatorNode]:
    """All operators of a pattern, arguments before the calls that read them."""
    if isinstance(node, OperatorNode):
        for arg in node.args or (node.follows or PatternNode(),):
            yield from operators(arg)
        yield node
    elif isinstance(node, Having):
        yield from operators(node.inner)
    elif isinstance(node, AllOf | AnyOf):
        yield from operators(node.left)
        yield from operators(node.right)
    elif isinstance(node, Fields):
        for item in node.items:
            yield from operators(item)


def _read_text(text: str, where: str) -> PatternNode:
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
