"""Which layers the options and registered rules keep in float, as Rules of tvmq.

Relay counted the convolutions for skip_conv_layers from the result backwards, arguments from left to right: in
add(conv_b(...), shortcut(...)) the main branch before the shortcut. Relax lists operators in the order of execution,
which may be another one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import tvm
from tvm import relax

from tvmq.graph.view import View, leaves, op_name
from tvmq.relay.quantize.context import ANNOTATE, quantize_context
from tvmq.relay.quantize.kinds import QAnnotateKind
from tvmq.relay.quantize.qconfig import QConfig
from tvmq.relay.quantize.temporaries import QAnnotateExpr
from tvmq.relay.quantize.translate import relax_names
from tvmq.rules import LayerFacts, Rule


def float_rules(mod: tvm.IRModule, config: QConfig) -> list[Rule]:
    """The rules of a prepared module."""
    view = View(mod)
    order = relay_order(view)
    rules = []
    skipped = _skipped(view, order, config)
    if skipped:
        rules.append(Rule(_numbered(skipped), None))
    named = _refused(view, order) if ANNOTATE else set()
    if named:
        rules.append(Rule(_named(named), None))
    return rules


def relay_order(view: View) -> list[str]:
    """Variables in the order in which Relay visited them: post-order from the result, arguments left to right."""
    order: dict[str, None] = {}
    waiting = [(leaf.name, False) for leaf in reversed(list(leaves(view.func.body.body)))]
    while waiting:
        name, entered = waiting.pop()
        if name in order or name not in view.value:
            continue
        if entered:
            order[name] = None
            continue
        waiting.append((name, True))
        waiting.extend((leaf.name, False) for leaf in reversed(list(leaves(view.value[name]))))
    return list(order)


def _skipped(view: View, order: list[str], config: QConfig) -> set[int]:
    """Numbers in the order of execution of the convolutions that skip_conv_layers counts in Relay's."""
    wanted = list(config.skip_conv_layers or ())
    convolutions = [name for name in order if op_name(view.value[name]) == "nn.conv2d"]
    names = {convolutions[index] for index in wanted if 0 <= index < len(convolutions)}
    executed = [var.name for var, value in view.bindings if op_name(value) == "nn.conv2d"]
    return {number for number, name in enumerate(executed) if name in names}


def _refused(view: View, order: list[str]) -> set[str]:
    """Source names of the operators for which a registered rule returned None, or that come after a stop."""
    rules = {name: rule for op, rule in ANNOTATE.items() for name in relax_names(op)}
    refused: set[str] = set()
    with quantize_context() as context:
        for name in order:
            value = view.value[name]
            stopped = context.is_stopped
            if isinstance(value, relax.Call) and op_name(value) in rules and not stopped:
                args = [_argument(arg) for arg in value.args]
                stopped = rules[op_name(value)](value, args, context) is None
            if stopped:
                refused |= {name, *view.sources(name)}
    return refused


def _argument(arg: relax.Expr) -> relax.Expr | QAnnotateExpr:
    """What a rule of Relay got for an argument: a tensor of the graph as an annotated one, a constant as it is."""
    return QAnnotateExpr(arg, QAnnotateKind.ACTIVATION) if isinstance(arg, relax.Var) else arg


def _numbered(numbers: Collection[int]) -> Callable[[LayerFacts], bool]:
    """Matches convolutions by their numbers."""

    def skip_conv_layers(layer: LayerFacts) -> bool:
        return layer.op == "nn.conv2d" and layer.index in numbers

    return _called(skip_conv_layers)


def _named(names: Collection[str]) -> Callable[[LayerFacts], bool]:
    """Matches layers one of whose operators has one of these names."""

    def register_annotate_function(layer: LayerFacts) -> bool:
        return not {layer.key, *layer.names}.isdisjoint(names)

    return _called(register_annotate_function)


def _called(match: Callable[[LayerFacts], bool]) -> Callable[[LayerFacts], bool]:
    """The same; the ledger and `tvmq.explain` show the name of the option alone."""
    match.__qualname__ = match.__name__
    return match
