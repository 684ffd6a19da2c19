"""Float operators without a definition: compiled alone, so that the reference can go on behind them.

A convolution or product is compiled together with its bias and clip, since they share one kernel; every other
operator alone. Results of float operators do not depend on what they are fused with
(graph/operators/value_functions.py), so the whole module gives the same.

Tests: tests/reference/test_reference.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.codegen.lower.patterns.chains import HEADS, Chain, find_chains
from tvmq.graph.indices import COMPUTED
from tvmq.graph.interpret import Function
from tvmq.graph.names import input_names
from tvmq.graph.rewrite import build_function, replace_variables
from tvmq.graph.state_pairs import state_pairs, with_pairs
from tvmq.graph.view import View, dtype_of, op_name, sizes_of, used_vars
from tvmq.reference.definition import definition_of


class FloatRegions:
    """The undefined float operators of a module, compiled when first needed."""

    def __init__(self, view: View, target: Any, own: Mapping[str, Function] | None = None) -> None:
        self._view, self._target = view, target
        self._runs: dict[str, Callable[[Mapping[str, np.ndarray]], Any]] = {}
        self._units: dict[str, Chain] = {}
        self._inner: set[str] = set()
        for chain in find_chains(view).values():
            if op_name(view.value[chain.head]) in HEADS and dtype_of(view.var[chain.head]) == "float32":
                self._units[chain.result] = chain
                self._inner.update(chain.members[:-1])
        for var, value in view.bindings:
            known = var.name in self._inner or var.name in self._units or not isinstance(value, relax.Call)
            if not known and definition_of(value, own or {}) is None:
                self._units[var.name] = Chain(var.name, [var.name])

    @property
    def names(self) -> list[str]:
        """Results of the islands, in order."""
        return [var.name for var, _ in self._view.bindings if var.name in self._units]

    def inside(self, name: str) -> bool:
        """True for a variable that disappears inside an island."""
        return name in self._inner

    def computes(self, name: str) -> bool:
        """True for the result of an island."""
        return name in self._units

    def members(self, name: str) -> tuple[str, ...]:
        """The bindings of the island that computes `name`, its result last; `name` alone where that is no island."""
        return tuple(self._units[name].members) if name in self._units else (name,)

    def inputs(self, name: str) -> list[str]:
        """The variables that the island that computes `name` reads, in order."""
        members = self._units[name].members
        return list(dict.fromkeys(u for m in members for u in used_vars(self._view.value[m]) if u not in members))

    def run(self, name: str, values: Mapping[str, Any]) -> Any:
        """The result of the island that computes `name`; None if that is no island."""
        unit = self._units.get(name)
        if unit is None:
            return None
        if name not in self._runs:
            self._runs[name] = self._compile(unit)
        return self._runs[name](values)

    def _compile(self, unit: Chain) -> Callable[[Mapping[str, np.ndarray]], Any]:
        from tvmq.codegen.compile.build import build

        outside = dict.fromkeys(self.inputs(unit.result))
        # inputs of the model come first: their shapes tell the dynamic sizes
        dynamic = (name for name, var in self._view.params.items() if any(isinstance(s, str) for s in sizes_of(var)))
        outside = {**dict.fromkeys(dynamic), **outside}
        params = [relax.Var(name, self._view.var[name].ty) for name in outside]
        by_name = {param.name: param for param in params}
        bindings = [(self._view.var[m], replace_variables(self._view.value[m], by_name)) for m in unit.members]
        result = self._view.var[unit.result]
        is_tuple = isinstance(result.ty, tvm.ir.TupleType)
        if is_tuple:
            parts = [relax.DataflowVar(f"{result.name}_{i}", field) for i, field in enumerate(result.ty.fields)]
            bindings += [(part, relax.TupleGetItem(result, i)) for i, part in enumerate(parts)]
        empty = relax.Function(params, relax.Tuple([]), tvm.ir.TupleType([]))
        func = build_function(params, bindings, relax.Tuple(parts) if is_tuple else result, empty)
        func = func.with_attr(COMPUTED, True)
        names = {name: param for param, name in input_names(self._view.func).items()}
        pairs = [pair for pair in state_pairs(self._view.func) if pair.input in names]
        module = tvm.IRModule({**self._view.helpers, "main": func})
        module = with_pairs(module, [replace(pair, input=names[pair.input]) for pair in pairs])  # rows may be none
        exe = build(module, self._target)

        def run(values: Mapping[str, np.ndarray]) -> Any:
            results = exe.run({name: values[name] for name in outside})
            return results if is_tuple else results[0]

        return run
