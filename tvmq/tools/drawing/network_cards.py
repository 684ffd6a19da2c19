"""The network of a module as cards to draw: one for each layer of the ledger, or for each operator if nothing is
decided yet.

Constants, weights and values computed from them alone are part of the operator that reads them.

Tests: tests/tools/drawing/test_draw.py
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tvm
from tvm import relax

from tvmq.graph.ledger import Ledger, get_ledger
from tvmq.graph.names import input_names
from tvmq.graph.view import View, dtype_of, op_name, sizes_of, used_vars
from tvmq.tools.analysis.work import kernels_of_layers

INPUT, RESULT = "input", "result"
WEIGHTS_FROM = "num_input"  # of a front end: so many parameters are inputs, the rest are weights


@dataclass(frozen=True)
class OperatorRow:
    """Binding of the module: its variable, its operator, and its result as text."""

    name: str
    operator: str
    result: str


@dataclass
class Card:
    """A box of the picture.

    key        unique; for a layer its key in the ledger
    names      names in the source model
    operator   family or operator; "input", "result"
    precision  "int8", "int16", "float"; "" if nothing is decided
    result     shape and type of its result, as text
    reads      keys of the cards whose results it reads
    operators  its operators, in order
    kernels    its kernels, in a built model
    why        reason of the decision
    inside     cards folded into a block
    """

    key: str
    names: tuple[str, ...]
    operator: str
    precision: str = ""
    result: str = ""
    reads: tuple[str, ...] = ()
    operators: tuple[OperatorRow, ...] = ()
    kernels: tuple[str, ...] = ()
    why: str = ""
    inside: tuple[Card, ...] = ()


@dataclass(frozen=True)
class Network:
    """Network to draw: cards in topological order, and the stage of the module."""

    cards: tuple[Card, ...]
    stage: str


def network_of(mod: tvm.IRModule, params: Iterable[str] = (), kernels: Mapping[str, str] | None = None) -> Network:
    """The network of a module at any stage.

    params   names of parameters that are weights
    kernels  {variable: kernel} of an executable
    raises   ModelError for control flow
    """
    view, ledger = View(mod), get_ledger(mod)
    steps, same = _steps(view, _weights(view, params))
    groups = _split_cycles(_groups(view, ledger, list(steps)), steps)
    of_layer = kernels_of_layers(view, kernels, ledger.layers) if kernels else {}
    results = [same[name] for name in view.outputs if name in same]
    cards = [*_inputs(view, steps, results), *_layers(view, ledger, steps, groups, of_layer)]
    if results:
        cards.append(Card("result:", ("result",), RESULT, reads=_keys(view, groups, results)))
    return Network(tuple(sort_topologically(cards)), ledger.stage)


Steps = Mapping[str, tuple[str, ...]]


def _weights(view: View, params: Iterable[str]) -> set[str]:
    """Parameters that are weights."""
    attrs = view.func.attrs
    names = list(view.params)
    count = int(attrs[WEIGHTS_FROM]) if attrs and WEIGHTS_FROM in attrs else len(names)
    return set(names[count:]) | set(params)


def _steps(view: View, weights: set[str]) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Reads {variable: variables} of all that depends on an input, and aliases {variable: variable}.

    A field of a tuple is an alias of the tuple.
    """
    steps: dict[str, tuple[str, ...]] = {}
    same = {name: name for name in view.params if name not in weights}
    for var, value in view.bindings:
        reads = tuple(dict.fromkeys(same[name] for name in used_vars(value) if name in same))
        if not reads:
            continue  # a constant
        passes = isinstance(value, relax.TupleGetItem | relax.Var) and len(reads) == 1
        same[var.name] = reads[0] if passes else var.name
        if not passes:
            steps[var.name] = reads
    return steps, same


def _groups(view: View, ledger: Ledger, names: Sequence[str]) -> dict[str, str]:
    """Key of the card of each variable: its layer, or the variable itself."""
    members = {member: key for key, entry in ledger.layers.items() for member in (*(entry.get("members") or ()), key)}
    owner = {source: key for key in reversed(list(ledger.layers)) for source in ledger.layers[key].get("layers", ())}

    def group(name: str) -> str:
        if name in members:
            return members[name]
        return next((owner[source] for source in view.sources(name) if source in owner), name)

    return {name: group(name) for name in names}


def _split_cycles(groups: Mapping[str, str], reads: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Split groups that lie on a cycle into single operators."""
    edges: dict[str, set[str]] = {}
    for name, group in groups.items():
        edges.setdefault(group, set()).update(groups[read] for read in reads[name] if read in groups)
    apart = _nodes_on_cycles({group: before - {group} for group, before in edges.items()})
    return {name: name if group in apart else group for name, group in groups.items()}


def _nodes_on_cycles(edges: Mapping[str, set[str]]) -> set[str]:
    """Nodes on cycles: those that remain after repeatedly removing sources and sinks."""
    readers: dict[str, set[str]] = {name: set() for name in edges}
    for name, before in edges.items():
        for other in before:
            readers[other].add(name)
    return _remove_sources(_remove_sources(set(edges), edges, readers), readers, edges)


def _remove_sources(nodes: set[str], before: Mapping[str, set[str]], after: Mapping[str, set[str]]) -> set[str]:
    """Nodes that remain after repeatedly removing those without predecessors."""
    left = set(nodes)
    count = {name: len(before[name] & left) for name in left}
    free = [name for name in left if not count[name]]
    while free:
        name = free.pop()
        left.discard(name)
        for other in after[name] & left:
            count[other] -= 1
            if not count[other]:
                free.append(other)
    return left


def _inputs(view: View, steps: Steps, results: Sequence[str]) -> list[Card]:
    """A card for each input that is read."""
    names = input_names(view.func)
    read = {name for reads in steps.values() for name in reads} | set(results)
    return [
        Card(f"{INPUT}:{name}", (names.get(name, name),), INPUT, result=result_text(var))
        for name, var in view.params.items()
        if name in read
    ]


def _layers(
    view: View, ledger: Ledger, steps: Steps, groups: Mapping[str, str], kernels: Mapping[str, Sequence[str]]
) -> list[Card]:
    """A card for each group."""
    inside: dict[str, list[str]] = {}
    for name in steps:
        inside.setdefault(groups[name], []).append(name)
    cards = []
    for key, names in inside.items():
        entry = ledger.layers.get(key, {})
        before = _keys(view, groups, [read for name in names for read in steps[name]])
        rows = [OperatorRow(name, operator_text(view.value[name]), result_text(view.var[name])) for name in names]
        sources = tuple(entry.get("layers") or view.sources(names[-1]))
        cards.append(Card(
            key, sources, str(entry.get("op") or rows[-1].operator), precision_of(entry), rows[-1].result,
            tuple(other for other in before if other != key), tuple(rows), tuple(kernels.get(key, ())),
            str(entry.get("why", "")),
        ))  # fmt: skip
    return cards


def _keys(view: View, groups: Mapping[str, str], names: Iterable[str]) -> tuple[str, ...]:
    """Cards of these variables, without repetition."""
    return tuple(dict.fromkeys(f"{INPUT}:{name}" if name in view.params else groups[name] for name in names))


def sort_topologically(cards: Sequence[Card]) -> list[Card]:
    """Sort cards topologically, otherwise keeping their order."""
    known = {card.key: card for card in cards}
    done: set[str] = set()
    order: list[Card] = []
    for card in cards:
        stack = [card]
        while stack:
            last = stack[-1]
            missing = [key for key in last.reads if key not in done and key in known]
            if last.key in done or not missing:
                stack.pop()
                if last.key not in done:
                    done.add(last.key)
                    order.append(last)
            else:
                stack += [known[key] for key in missing]
    return order


def precision_of(entry: Mapping[str, Any]) -> str:
    """Precision of an entry of the ledger; "int16" if it reads an int16 residual."""
    if (entry.get("facts") or {}).get("stream"):
        return "int16"
    return str(entry.get("precision", ""))


def operator_text(value: relax.Expr) -> str:
    """Operator of a binding, or the name of the function that it calls."""
    if isinstance(value, relax.Tuple):
        return "tuple"
    name = op_name(value)
    called = value.args[0] if name.startswith("call_") else getattr(value, "op", None)
    return str(called.name_hint) if isinstance(called, tvm.ir.GlobalVar) else name or type(value).__name__.lower()


def plain_operator(name: str) -> str:
    """Name of an operator without its namespace.

    >>> plain_operator("nn.conv2d"), plain_operator("tvmq.requantize")
    ('conv2d', 'requantize')
    """
    return name.removeprefix("nn.").removeprefix("tvmq.")


def result_text(var: relax.Expr) -> str:
    """Shape and type of a value as text.

    >>> result_text(relax.Var("x", relax.TensorType([1, 3], "int8")))
    '1×3 int8'
    """
    if isinstance(var.ty, relax.TensorType) and var.ty.shape is not None:
        return f"{'×'.join(map(str, sizes_of(var))) or 'scalar'} {dtype_of(var)}"
    fields = getattr(var.ty, "fields", None)
    return f"{len(fields)} tensors" if fields is not None else ""
