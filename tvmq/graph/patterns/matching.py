"""Does a pattern fit an expression of a module; if not, what is the first thing that differs, in one sentence.

Tests: tests/codegen/custom_lowering/test_own_functions.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax

from tvmq.graph.patterns.pattern import (
    AllOf,
    AnyOf,
    ConstNode,
    Fields,
    Foreign,
    Having,
    Item,
    OperatorNode,
    PatternNode,
    nodes,
)
from tvmq.graph.view import View, const_value, dtype_of, flatten_tuples, is_const, op_name, shape_of

COMMUTATIVE = ("add", "multiply", "maximum", "minimum", "equal")


@dataclass(frozen=True)
class Miss:
    """Why a pattern does not fit.

    depth  operators that did fit before; of several ways to fail the furthest is told
    why    the sentence, without its end
    """

    depth: int
    why: str


@dataclass
class MatchState:
    """The part of a match that the matcher has gone through so far.

    members   variables of the operators, arguments before the calls that read them
    captured  {id of a node of the pattern: expression}
    """

    members: list[str] = field(default_factory=list)
    captured: dict[int, relax.Expr] = field(default_factory=dict)

    def with_member(self, name: str) -> MatchState:
        """This match with one more variable."""
        return self if name in self.members else MatchState([*self.members, name], self.captured)

    def expressions_by_name(self, node: PatternNode) -> dict[str, relax.Expr]:
        """{name of a part of the pattern: the expression that it stands for}."""
        return {one.label: self.captured[id(one)] for one in nodes(node) if one.label and id(one) in self.captured}

    def with_captured(self, node: PatternNode, expr: relax.Expr) -> MatchState:
        """This match with the expression that one more node of the pattern stands for."""
        return MatchState(self.members, {**self.captured, id(node): expr})


class Matcher:
    """Patterns against the expressions of one module.

    producer  gives the value that a variable is bound to, as `View.producer` does
    sources   gives the source names of a variable
    swaps     whether the operands of sums and products may stand in the other order
    values    {variable: value} for patterns that only TVM's own matcher can decide
    """

    def __init__(
        self,
        producer: Callable[[relax.Expr], relax.Expr | None],
        sources: Callable[[str], Sequence[str]],
        *,
        swaps: bool = True,
        values: Mapping[relax.Var, relax.Expr] | None = None,
    ) -> None:
        self._producer, self._sources, self._swaps, self._values = producer, sources, swaps, values or {}
        self._miss = Miss(-1, "")

    def matches(self, node: PatternNode, expr: relax.Expr) -> Iterator[MatchState]:
        """All ways in which a pattern fits."""
        yield from self._match(node, expr, MatchState())

    def miss(self, node: PatternNode, expr: relax.Expr) -> str | None:
        """Why a pattern does not fit, of several ways the one that comes furthest; None if it fits."""
        self._miss = Miss(-1, "its operators do not fit")
        fits = next(self.matches(node, expr), None) is not None
        return None if fits else self._miss.why

    def _fail(self, state: MatchState, why: str) -> None:
        if len(state.members) > self._miss.depth:
            self._miss = Miss(len(state.members), why)

    def _match(self, node: PatternNode, expr: relax.Expr, state: MatchState) -> Iterator[MatchState]:
        known = state.captured.get(id(node))
        if known is not None and not known.same_as(expr):
            self._fail(state, f"{self.name(expr)} stands where {self.name(known)} stood before")
            return
        for result in self._ways(node, expr, state):
            yield result.with_captured(node, expr)

    def _ways(self, node: PatternNode, expr: relax.Expr, state: MatchState) -> Iterator[MatchState]:
        if isinstance(node, OperatorNode):
            yield from self._operator(node, expr, state)
        elif isinstance(node, AnyOf):
            yield from self._match(node.left, expr, state)
            yield from self._match(node.right, expr, state)
        elif isinstance(node, AllOf):
            for left in self._match(node.left, expr, state):
                yield from self._match(node.right, expr, left)
        elif isinstance(node, Having):
            why = self._lacks(node, expr)
            for inner in self._match(node.inner, expr, state):
                if why is None:
                    yield inner
                else:
                    self._fail(state, why)
        elif isinstance(node, Item):
            value = self._producer(expr) if isinstance(expr, relax.Var) else expr
            if isinstance(value, relax.TupleGetItem) and int(value.index) == node.index:
                yield from self._match(node.inner, value.tuple_value, state)
            else:
                self._fail(state, f"{self.name(expr)} is no item {node.index} of a tuple, as the pattern asks")
        elif isinstance(node, Fields):
            value = expr if isinstance(expr, relax.Tuple) else self._producer(expr)
            if isinstance(value, relax.Tuple) and len(value.fields) == len(node.items):
                yield from self._zip(node.items, value.fields, state)
            else:
                self._fail(state, f"{self.name(expr)} is no tuple of {len(node.items)}, as the pattern asks")
        else:
            why = self._leaf_lacks(node, expr)
            if why is None:
                yield state
            else:
                self._fail(state, why)

    def _leaf_lacks(self, node: PatternNode, expr: relax.Expr) -> str | None:
        """Why an expression is not what a part of a pattern without operators asks for."""
        if isinstance(node, ConstNode) and not is_const(expr):
            return f"{self.name(expr)} is computed, the pattern asks for a constant"
        if isinstance(node, ConstNode) and node.value is not None and not np.array_equal(node.value, const_value(expr)):
            return "a constant has other values than the pattern's"
        if isinstance(node, Foreign):
            return None if node.source.match(expr, self._values) else f"{self.name(expr)} does not fit {node.source}"
        return None

    def _operator(self, node: OperatorNode, expr: relax.Expr, state: MatchState) -> Iterator[MatchState]:
        call = self._producer(expr) if isinstance(expr, relax.Var) else expr
        if not isinstance(call, relax.Call) or op_name(call) != node.name:
            other = op_name(call) or ("a constant" if is_const(expr) else "an input of the model")
            self._fail(state, f"{self.name(expr)} is {other}, the pattern asks for {node.name}")
            return
        why = self._attributes_lack(node.attributes, expr, call)
        if why:
            self._fail(state, why)
            return
        for result in self._arguments(node, call, state):
            yield result.with_member(expr.name) if isinstance(expr, relax.Var) else result

    def _arguments(self, node: OperatorNode, call: relax.Call, state: MatchState) -> Iterator[MatchState]:
        if node.args is None:
            for arg in flatten_tuples(call.args) if node.follows is not None else ():
                yield from self._match(node.follows or node, arg, state)
            if node.follows is None:
                yield state
            return
        if len(node.args) > len(call.args):  # TVM's patterns may leave the last ones out
            self._fail(state, f"{node.name} has {len(call.args)} arguments, the pattern has {len(node.args)}")
            return
        yield from self._zip(node.args, call.args, state)
        if self._swaps and node.name in COMMUTATIVE and len(call.args) == 2:
            yield from self._zip(node.args, list(call.args)[::-1], state)

    def _zip(self, nodes: Sequence[PatternNode], args: Sequence[relax.Expr], state: MatchState) -> Iterator[MatchState]:
        if not nodes:
            yield state
            return
        for first in self._match(nodes[0], args[0], state):
            yield from self._zip(nodes[1:], list(args)[1:], first)

    def _lacks(self, node: Having, expr: relax.Expr) -> str | None:
        if node.dtype is not None and dtype_of(expr) != node.dtype:
            return f"{self.name(expr)} is {dtype_of(expr)}, the pattern asks for {node.dtype}"
        if node.shape is not None and shape_of(expr) != node.shape:
            return f"{self.name(expr)} has shape {shape_of(expr)}, the pattern asks for {node.shape}"
        call = self._producer(expr) if isinstance(expr, relax.Var) else expr
        return self._attributes_lack(node.attributes, expr, call) if node.attributes else None

    def _attributes_lack(self, attributes: Any, expr: relax.Expr, call: Any) -> str | None:
        for name, wanted in attributes.items():
            has = getattr(getattr(call, "attrs", None), name, None)
            if has is None and name == "dtype" and isinstance(expr.ty, relax.TensorType):
                has = dtype_of(expr)
            if as_python(has) != as_python(wanted):
                return f"{self.name(expr)} has {name}={as_python(has)!r}, the pattern asks for {as_python(wanted)!r}"
        return None

    def name(self, expr: relax.Expr) -> str:
        """Display name of an expression: that of its layer."""
        if isinstance(expr, relax.Var):
            return f"'{'/'.join(self._sources(expr.name)[:1])}'"
        return "a constant" if is_const(expr) else op_name(expr) or "an expression"


def find_matches(view: View, pattern: PatternNode, expr: relax.Expr) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """(expressions by the names of the pattern, variables of its operators in order) of each way in which it fits.

    >>> from tvmq.graph.patterns.pattern import read_pattern
    >>> x, builder = relax.Var("x", relax.TensorType((2,), "float32")), relax.BlockBuilder()
    >>> with builder.function("main", [x]):
    ...     _ = builder.emit_func_output(builder.emit(relax.op.nn.relu(builder.emit(relax.op.exp(x), "e")), "y"))
    >>> view = View(builder.get())
    >>> next(find_matches(view, read_pattern("nn.relu(e := exp(x))", "doc"), view.var["y"]))
    ({'x': x, 'e': e}, ['e', 'y'])
    """
    for state in Matcher(view.producer, view.sources).matches(pattern, expr):
        yield state.expressions_by_name(pattern), state.members


def as_python(value: Any) -> Any:
    """An attribute as Python has it.

    >>> as_python([1, 2]), as_python("NCHW"), as_python(3)
    ((1, 2), 'NCHW', 3)
    """
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, str):
        return str(value)[:]
    try:
        return int(value)
    except (TypeError, ValueError):
        pass
    try:
        return tuple(as_python(item) for item in value)
    except TypeError:
        return str(value)
