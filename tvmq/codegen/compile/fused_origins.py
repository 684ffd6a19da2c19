"""Which operators a function of loops was fused from.

TVM fuses what no template takes, and equal functions become one, so that names inside of it are those of its first
use. Here the fused main function and the one before are walked side by side, backwards from the results: the last
operator inside of a fused function is the one whose result the call gives, its arguments are those of that operator,
and so on.

Tests: tests/codegen/compile/test_scatters.py
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq.graph.module_functions import called_function
from tvmq.graph.view import leaves


def match_operators(unfused: tvm.IRModule, fused: tvm.IRModule, function: str = "main") -> dict[str, tuple[str, ...]]:
    """{variable of the fused main: variables of the unfused one that its call computes, in order}.

    unfused, fused  modules before and behind FuseOps
    """
    return _Alignment(unfused, fused, function).members


def bindings(func: relax.Function) -> list[tuple[relax.Var, relax.Expr]]:
    """All bindings of a function in order; none of a body of another form."""
    if not isinstance(func.body, relax.SeqExpr):
        return []
    return [(binding.var, binding.value) for block in func.body.blocks for binding in block.bindings]


class _Alignment:
    """Bindings of the module before fusion for those of the fused one."""

    def __init__(self, unfused: tvm.IRModule, fused: tvm.IRModule, function: str) -> None:
        self.fused = fused
        self.unfused = {var.name: value for var, value in bindings(unfused[function])}
        self.order = {name: index for index, name in enumerate(self.unfused)}
        self.members: dict[str, tuple[str, ...]] = {}
        self._known: dict[str, str] = {}  # variable of the fused main -> variable of the unfused one
        self._fields: dict[str, dict[int, str]] = {}  # the same for parts of a tuple
        ends = zip(*(leaves(mod[function].body.body) for mod in (fused, unfused)), strict=True)
        self._known.update((new.name, old.name) for new, old in ends)
        for var, value in reversed(bindings(fused[function])):
            self._walk(var, value)

    def _walk(self, var: relax.Var, value: relax.Expr) -> None:
        """Find out what the arguments of one binding of the fused main were called, and what it contains."""
        old, func = self._known.get(var.name), self._group(value)
        if func is not None:
            self._open(var.name, value, func)
        elif isinstance(value, relax.TupleGetItem) and old not in self.unfused:
            self._fields.setdefault(value.tuple_value.name, {})[value.index] = str(old)
        elif old is not None and old in self.unfused:
            self._match(value, self.unfused[old], self._known)
            self.members[var.name] = (old,)

    def _open(self, name: str, call: relax.Call, func: relax.Function) -> None:
        """Go on inside of a fused function."""
        results = [leaf.name for leaf in leaves(func.body.body)]
        fields = self._fields.get(name) or ({0: self._known[name]} if name in self._known else {})
        inside = {results[index]: old for index, old in fields.items()}
        operators: list[str] = []
        for own, inner in reversed(bindings(func)):
            old = inside.get(own.name)
            if old is not None and old in self.unfused:
                operators.append(old)
                self._match(inner, self.unfused[old], inside)
        for param, arg in zip(func.params, call.args, strict=True):
            if param.name in inside and isinstance(arg, relax.Var):
                self._known.setdefault(arg.name, inside[param.name])
        self.members[name] = tuple(sorted(operators, key=self.order.__getitem__)) or (name,)

    def _group(self, value: relax.Expr) -> relax.Function | None:
        """The fused function that is called."""
        func = self.fused[called_function(value)] if called_function(value) else None
        return func if isinstance(func, relax.Function) else None

    @staticmethod
    def _match(new: relax.Expr, old: relax.Expr, known: dict[str, str]) -> None:
        """Variables of two expressions of one form, in order."""
        for a, b in zip(leaves(new), leaves(old), strict=False):
            known.setdefault(a.name, b.name)
