"""Does a pattern fit an expression of a module; if not, what is the first thing that differs, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax

from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, shape_of
from tvmq.lowering.pattern import Both, Constant, Either, Fields, Foreign, Having, Node, Operator

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
class Found:
    """What a pattern stands for.

    members   variables of the operators, arguments before the calls that read them
    captured  {id of a pattern of TVM: expression}
    """

    members: list[str] = field(default_factory=list)
    captured: dict[int, relax.Expr] = field(default_factory=dict)

    def copy(self) -> Found:
        """For a way that may fail."""
        return Found(list(self.members), dict(self.captured))


class Matcher:
    """Patterns against the expressions of one module."""

    def __init__(self, view: View) -> None:
        self.view = view

    def match(self, node: Node, expr: relax.Expr, found: Found) -> Found | Miss:
        """`found` with what the pattern stands for, or the reason why it does not fit."""
        result = self._match(node, expr, found)
        if isinstance(result, Miss):
            return result
        known = result.captured.get(id(node))
        if known is not None and not _same(known, expr):
            return Miss(len(found.members), f"{self.name(expr)} stands where {self.name(known)} stood before")
        result.captured[id(node)] = expr
        return result

    def _match(self, node: Node, expr: relax.Expr, found: Found) -> Found | Miss:
        if isinstance(node, Operator):
            return self._match_operator(node, expr, found)
        if isinstance(node, Constant):
            return self._match_constant(node, expr, found)
        if isinstance(node, Having):
            result = self.match(node.inner, expr, found)
            why = None if isinstance(result, Miss) else self._lacks(node, expr)
            return Miss(len(found.members), why) if why else result
        if isinstance(node, Either):
            left = self.match(node.left, expr, found.copy())
            if not isinstance(left, Miss):
                return left
            right = self.match(node.right, expr, found.copy())
            return left if isinstance(right, Miss) and left.depth >= right.depth else right
        if isinstance(node, Both):
            left = self.match(node.left, expr, found)
            return left if isinstance(left, Miss) else self.match(node.right, expr, left)
        if isinstance(node, Fields):
            return self._match_fields(node, expr, found)
        if isinstance(node, Foreign):
            fits = node.source.match(expr, {self.view.var[name]: value for name, value in self.view.value.items()})
            return found if fits else Miss(len(found.members), f"{self.name(expr)} does not fit {node.source}")
        return found

    def _match_operator(self, node: Operator, expr: relax.Expr, found: Found) -> Found | Miss:
        depth, call = len(found.members), self.view.producer(expr) if isinstance(expr, relax.Var) else expr
        if op_name(call) != node.name if isinstance(call, relax.Call) else True:
            other = op_name(call) or ("a constant" if is_const(expr) else "an input of the model")
            return Miss(depth, f"{self.name(expr)} is {other}, the pattern asks for {node.name}")
        assert isinstance(call, relax.Call)
        why = self._attributes_lack(node.attributes, expr, call)
        if why:
            return Miss(depth, why)
        result = self._match_arguments(node, call, found)
        if isinstance(result, Found) and isinstance(expr, relax.Var) and expr.name not in result.members:
            result.members.append(expr.name)
        return result

    def _match_arguments(self, node: Operator, call: relax.Call, found: Found) -> Found | Miss:
        if node.args is None:
            if node.follows is None:
                return found
            return _best([self.match(node.follows, arg, found.copy()) for arg in _flat(call.args)], len(found.members))
        orders = [list(call.args)]
        if node.name in COMMUTATIVE and len(orders[0]) == 2:
            orders.append(orders[0][::-1])
        return _best([self._in_order(node, order, found.copy()) for order in orders], len(found.members))

    def _in_order(self, node: Operator, args: Sequence[relax.Expr], found: Found) -> Found | Miss:
        asked = node.args or ()
        if len(asked) > len(args):  # TVM's patterns may leave the last ones out
            return Miss(len(found.members), f"{node.name} has {len(args)} arguments, the pattern has {len(asked)}")
        for inner, arg in zip(asked, args, strict=False):
            result = self.match(inner, arg, found)
            if isinstance(result, Miss):
                return result
            found = result
        return found

    def _match_constant(self, node: Constant, expr: relax.Expr, found: Found) -> Found | Miss:
        if not is_const(expr):
            return Miss(len(found.members), f"{self.name(expr)} is computed, the pattern asks for a constant")
        if node.value is not None and not np.array_equal(node.value, const_value(expr)):
            return Miss(len(found.members), "a constant has other values than the pattern's")
        return found

    def _match_fields(self, node: Fields, expr: relax.Expr, found: Found) -> Found | Miss:
        value = expr if isinstance(expr, relax.Tuple) else self.view.producer(expr)
        if not isinstance(value, relax.Tuple) or len(value.fields) != len(node.items):
            return Miss(len(found.members), f"{self.name(expr)} is no tuple of {len(node.items)}, as the pattern asks")
        for inner, item in zip(node.items, value.fields, strict=True):
            result = self.match(inner, item, found)
            if isinstance(result, Miss):
                return result
            found = result
        return found

    def _lacks(self, node: Having, expr: relax.Expr) -> str | None:
        if node.dtype is not None and dtype_of(expr) != node.dtype:
            return f"{self.name(expr)} is {dtype_of(expr)}, the pattern asks for {node.dtype}"
        if node.shape is not None and shape_of(expr) != node.shape:
            return f"{self.name(expr)} has shape {shape_of(expr)}, the pattern asks for {node.shape}"
        call = self.view.producer(expr) if isinstance(expr, relax.Var) else expr
        return self._attributes_lack(node.attributes, expr, call) if node.attributes else None

    def _attributes_lack(self, attributes: Any, expr: relax.Expr, call: Any) -> str | None:
        for name, wanted in attributes.items():
            has = getattr(getattr(call, "attrs", None), name, None)
            if has is None and name == "dtype" and isinstance(expr.ty, relax.TensorType):
                has = dtype_of(expr)
            if plain(has) != plain(wanted):
                return f"{self.name(expr)} has {name}={plain(has)!r}, the pattern asks for {plain(wanted)!r}"
        return None

    def name(self, expr: relax.Expr) -> str:
        """How people know an expression: the layer's name."""
        if isinstance(expr, relax.Var):
            return f"'{'/'.join(self.view.sources(expr.name)[:1])}'"
        return "a constant" if is_const(expr) else op_name(expr) or "an expression"


def plain(value: Any) -> Any:
    """An attribute as Python has it.

    >>> plain([1, 2]), plain("NCHW"), plain(3)
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
        return tuple(plain(item) for item in value)
    except TypeError:
        return str(value)


def _flat(args: Any) -> list[relax.Expr]:
    """Arguments with tuples opened."""
    return [item for arg in args for item in (_flat(arg.fields) if isinstance(arg, relax.Tuple) else [arg])]


def _best(results: Sequence[Found | Miss], depth: int) -> Found | Miss:
    """The first that fits, else the one that came furthest."""
    fits = next((result for result in results if isinstance(result, Found)), None)
    if fits is not None:
        return fits
    misses = [result for result in results if isinstance(result, Miss)]
    return max(misses, key=lambda miss: miss.depth, default=Miss(depth, "the operator has no arguments"))


def _same(a: relax.Expr, b: relax.Expr) -> bool:
    return bool(a.same_as(b))
