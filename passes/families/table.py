"""Functions of one 8-bit activation as 256-entry tables: any chain of element-wise operators that reads one tensor.

Before                                            After
    s = sigmoid(sq(x))                                y = table(x, 256 codes of x * sigmoid(x))
    y = multiply(sq(x), s)

Leaky relu, sigmoid, tanh, hard-sigmoid, hard-swish, silu, gelu, mish, ... are such chains; no names are needed.
The table is filled in float64, rounded once to float32, and then quantized: where the function is not a number stands
the lowest code. Chains that end in a comparison are tables of booleans: decided on codes, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.graph import ops
from tvmq.graph.evaluate import evaluate, evaluator
from tvmq.graph.operators import where
from tvmq.graph.view import View, const_value, dtype_of, is_const, make_const, op_name
from tvmq.graph.walk import resolve_each
from tvmq.numerics.spec import QParams
from tvmq.passes.families.base import BoundedFacts, Codes, Family, Group, Realizer, fact_field

ELEMENTWISE = where(elementwise=True)
# attributes of these operators
ATTRIBUTES = ("alpha", "beta", "threshold", "dtype")


def function_of(value: relax.Expr, chains: Mapping[str, str], owners: Mapping[str, Any]) -> str | None:
    """The one tensor of which `value` is an element-wise function, None if there is no such tensor.

    chains  {variable: tensor of which it is a function} for the bindings before
    owners  variables that other groups own: they are tensors, not links of a chain
    """
    if op_name(value) not in ELEMENTWISE or evaluator(value) is None:
        return None
    sources = set()
    for arg in value.args:
        if isinstance(arg, relax.Var):
            sources.add(arg.name if arg.name in owners else chains.get(arg.name, arg.name))
        elif is_const(arg) and const_value(arg).size != 1:
            return None
    return sources.pop() if len(sources) == 1 else None


@dataclass
class TableFacts(BoundedFacts):
    """All variables that the function is made of, in order; members are those that only it needs."""

    chain: list[str] = field(default_factory=list)
    low: float = fact_field(-np.inf)
    high: float = fact_field(np.inf)


class Table(Family):
    """Functions of one activation as tables; partition finds the chains with `function_of`."""

    name, facts_type = "table", TableFacts

    def chain_group(self, view: View, name: str, chains: Mapping[str, str], owners: Mapping[str, Any]) -> Group:
        """The group that computes variable `name` from the tensor at the end of its chain."""

        def link(current: str) -> Generator[str, None, None]:
            for arg in view.value[current].args:
                if isinstance(arg, relax.Var) and arg.name in chains and arg.name not in owners:
                    yield arg.name

        known: dict[str, None] = {}
        resolve_each(name, link, known)
        chain = list(known)  # arguments come before what reads them
        owned = [v for v in chain if v == name or is_internal(view, v, chains)]
        return Group(self.name, name, owned, [chains[name]], facts=TableFacts(chain=chain))

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit one table lookup; a table of floats where no codes are wanted."""
        x = realizer.codes(group.inputs[0])
        y = realizer.output_qparams(group)

        function = self.function(realizer.view, group)
        if y is None:
            values = plain_values(function, x.qparams, dtype_of(realizer.view.var[group.output]))
        else:
            values = numerics.make_table(lambda real: numbers(function(real)), x.qparams, y)
        realizer.note(group, function=_describe_chain(realizer.view, group))
        label = " ".join(op_name(realizer.view.value[v]).split(".")[-1] for v in group.facts.chain)
        var = realizer.emit(ops.table(x.var, make_const(values), function=label), group.output)
        return var if y is None else Codes(var, y)

    def function(self, view: View, group: Group) -> Callable[[np.ndarray], np.ndarray]:
        """The chain, float64 to float64."""
        return lambda x: _evaluate_chain(view, group, x)

    def slope(self, view: View, group: Group) -> float | None:
        """alpha of a lone leaky relu with 0 <= alpha <= 1."""
        value = view.value.get(group.output)
        if len(group.members) != 1 or value is None or op_name(value) != "nn.leakyrelu":
            return None
        alpha = float(value.attrs.alpha)
        return alpha if 0 <= alpha <= 1 else None

    def links(self, group: Group) -> list[str]:
        """All links of the chain before its result."""
        return group.members[:-1]


def is_internal(view: View, name: str, chains: Mapping[str, str]) -> bool:
    """True if only links of the same chain read the variable."""
    return not view.is_output(name) and all(chains.get(r) == chains[name] for r in view.readers[name])


def _describe_chain(view: View, group: Group) -> list[dict[str, Any]]:
    """The chain as data, for exporters: operators and their arguments, "x", an earlier place or a number."""
    places: dict[str, Any] = {group.inputs[0]: "x"}
    steps: list[dict[str, Any]] = []
    for name in group.facts.chain:
        call = view.value[name]
        args = [
            {"step": places[_skip_rounding(view, arg.name, places)]}
            if isinstance(arg, relax.Var)
            else (const_value(arg).reshape(()).item() if is_const(arg) else arg.value)
            for arg in call.args
        ]
        attrs = {key: getattr(call.attrs, key) for key in ATTRIBUTES if hasattr(call.attrs, key)}
        places[name] = len(steps)
        attrs = {key: value if isinstance(value, float | int) else str(value) for key, value in attrs.items()}
        steps.append({"op": op_name(call), "args": args, "attrs": attrs, "layers": list(view.sources(name))})
    return steps


def _evaluate_chain(view: View, group: Group, x: np.ndarray) -> np.ndarray:
    """The chain in float64."""
    values: dict[str, np.ndarray] = {group.inputs[0]: x}
    for name in group.facts.chain:
        call = view.value[name]
        args = []
        for arg in call.args:
            if isinstance(arg, relax.Var):
                args.append(values[_skip_rounding(view, arg.name, values)])
            else:
                args.append(_scalar_of(const_value(arg)) if is_const(arg) else arg.value)
        with np.errstate(all="ignore"):
            result = np.asarray(evaluate(call, args))
        # a cast to float32 is none here: the table is rounded once, at its end
        result = result.astype(np.float64) if result.dtype.kind == "f" else result
        values[name] = np.broadcast_to(result, x.shape)
    return values[group.output]


def _scalar_of(constant: np.ndarray) -> np.ndarray:
    """The one number of a constant, whatever its rank; floats in float64."""
    return constant.astype(np.float64 if constant.dtype.kind == "f" else constant.dtype).reshape(())


def numbers(values: np.ndarray) -> np.ndarray:
    """Values with -infinity for NaN, which falls below all codes, as it does in quantize."""
    return np.where(np.isnan(values), -np.inf, values)


def _skip_rounding(view: View, name: str, known: Mapping[str, Any]) -> str:
    """The tensor that a simulated_quantize rounds: links that others read too have one, the table needs none."""
    while name not in known and op_name(view.value.get(name)) == "tvmq.simulated_quantize":
        name = view.value[name].args[0].name
    return name


def plain_values(function: Callable[[np.ndarray], np.ndarray], qparams: QParams, dtype: str) -> np.ndarray:
    """function(x) for the 256 codes of x, rounded once to float32, or as the booleans or integers that they are."""
    with np.errstate(all="ignore"):
        return function(numerics.real_values(qparams)).astype(dtype)


FAMILY = Table()
