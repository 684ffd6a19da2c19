"""Decide which operators become integers and which variables belong together; the decisions stand in the ledger.

Before                                        After
    the prepared float module                     the same bindings; ledger.layers has one entry a group
                                                  {family, root, members, inputs, precision, why, macs, ...}

Needs     a prepared module.
Leaves    the bindings as they are; operators without an integer form are entries with precision "float" and a reason.
Numerics  nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.backends import backend_named
from tvmq.backends.description import Backend
from tvmq.config import QConfig, current_qconfig
from tvmq.errors import ConfigError
from tvmq.graph.ledger import require_stage, with_ledger
from tvmq.graph.macs import multiply_accumulates
from tvmq.graph.names import recurrent_layers
from tvmq.graph.view import View, dtype_of, is_const, op_name, sizes_of, used_vars
from tvmq.graph.walk import reachable
from tvmq.passes import OPS, OPTIONAL, load
from tvmq.passes.extensions import families_by_operator
from tvmq.passes.families import averages, embedding, masked_mean, shape, table
from tvmq.passes.families.base import Family, Group, group_names
from tvmq.passes.families.float_options import why_switched_off
from tvmq.passes.families.masks import own_masks
from tvmq.passes.families.reduce_range import reduce_weight_bits
from tvmq.passes.partition.dropping import Dropping
from tvmq.passes.partition.leaky_relu import absorb_slopes
from tvmq.passes.partition.residual_streams import (
    is_int16_residual,
    why_no_int16,
    widen_layers,
    widen_moves,
    widen_residuals,
)
from tvmq.passes.partition.results import leave_results_float, widen_results
from tvmq.passes.partition.unproved import may_stay_float, why_unproved
from tvmq.passes.quantize_dynamic import WEIGHTED, why_float
from tvmq.rules import Decision, LayerFacts, resolve

RECURRENT_REASON = (
    "default: recurrent layers stay float, 8 bits would be rounded anew in every step; "
    "qconfig(activations='dynamic') makes their products integers"
)
# What a model brings along that is quantized already: no layers.
CONVERSIONS = ("tvmq.simulated_quantize", "tvmq.quantize", "tvmq.dequantize")
Drop = Callable[[View, dict[str, Group], dict[str, str]], None]


def partition(
    mod: tvm.IRModule,
    config: QConfig | None = None,
    backend: Backend | None = None,
    *,
    drop: Drop | None = None,
) -> tvm.IRModule:
    """See the head of this file.

    backend   None is the portable CPU
    drop      removes groups that shall stay float, and gives the reasons; None: those that no convolution or product
              is near, but of a core that is to be fully integral only what cannot be quantized
    """
    backend = backend or backend_named(None)
    config = config or current_qconfig()
    ledger = require_stage(mod, "partition", ("prepared",))
    view = View(mod)
    ours = drop is None  # else the model brings its own scales, and types
    groups, reasons = _find_groups(view, config if ours else QConfig(operators=config.operators))
    if ours and config.residual_streams == "int16":
        widen_residuals(view, groups, reasons)
        masked_mean.join_means(view, groups, reasons)
    if config.requantize == "float":
        absorb_slopes(view, groups)
    decisions = _rules(view, groups, reasons, config, backend, proves=ours and may_stay_float(config, backend))
    dynamic = _dynamic_layers(view, groups, reasons, decisions)
    names = {group.root: group_names(view, group) for group in groups.values()}
    for key, group in list(groups.items()):
        if decisions[key].is_float or group.root in dynamic:
            reasons[group.root] = decisions[key].why
            del groups[key]
    reasons.update({root: f"{decision.why}: codes made at run time" for root, decision in dynamic.items()})
    own_masks(view, groups, reasons)
    integral = drop is None and config.partition_conversions == "fully_integral"
    if integral and not backend.refuses_stream("int16"):
        widen_results(view, groups)
    (drop or (_drop_floats if integral else _drop_detached))(view, groups, reasons)
    _free_links(view, groups, reasons)
    _settle(view, groups)
    if ours:
        widen_layers(groups, {key: decisions[key].activations or config.activation_spec for key in groups})
    widen_moves(view, groups)
    ledger.layers = _entries(view, groups, reasons, decisions, names)
    for root, decision in dynamic.items():
        ledger.layers[root] |= {"dynamic": True, "specs": _specs(decision), **_observers(decision)}
    ledger.stage = "partitioned"
    ledger.config = config.to_dict()
    ledger.backend = backend.name
    return with_ledger(mod, ledger)


def _find_groups(view: View, config: QConfig) -> tuple[dict[str, Group], dict[str, str]]:
    """Groups keyed by their output, and the reasons of the operators that stay float, keyed by variable."""
    groups: dict[str, Group] = {}
    reasons: dict[str, str] = {}
    taken: dict[str, str] = {}
    chains: dict[str, str] = {}
    recurrent, own = recurrent_layers(view.func), families_by_operator(config.operators)
    for var, value in view.bindings:
        if var.name in taken or op_name(value) in CONVERSIONS:
            continue
        if recurrent.intersection(view.sources(var.name)):
            reasons[var.name] = RECURRENT_REASON
            continue
        source = table.function_of(value, chains, taken)
        if source is not None and _is_function(var, view.var[source]):
            chains[var.name] = source
            continue
        found = _group_of(view, var, value, config, own)
        if isinstance(found, str):
            reasons[var.name] = found
            continue
        groups[found.output] = found
        taken.update(dict.fromkeys(found.members, found.output))
        for member in found.members:  # sums in front of a softmax, which are there before it
            reasons.pop(member, None)
    for name in chains:
        if name not in taken and not table.is_internal(view, name, chains):
            groups[name] = table.FAMILY.chain_group(view, name, chains, taken)
    return groups, reasons


def _is_function(result: relax.Var, source: relax.Var) -> bool:
    """True for a result of the shape of its source, which must be float32."""
    return dtype_of(source) == "float32" and sizes_of(result) == sizes_of(source)


def _group_of(view: View, var: relax.Var, value: relax.Expr, config: QConfig, own: Mapping[str, Any]) -> Group | str:
    if isinstance(value, relax.TupleGetItem):
        return Group(shape.FAMILY.name, var.name, [var.name], [value.tuple_value.name], passes=True)
    name = op_name(value)
    if name not in own and name not in OPS:
        return f"limit: {name or 'this expression'} has no integer form"
    if name not in own and not getattr(config, OPTIONAL.get(name, ""), True):
        return f"default: its integer form is asked for by {OPTIONAL[name]}=True"
    if _is_empty(var) or any(map(_is_empty, value.args)):
        return "limit: a tensor without values"
    # a condition comes before what it chooses from, a constant before what is subtracted from it
    second = name == "where" or (name in ("subtract", "divide") and is_const(value.args[0]))
    data = value.args[1 if second else 0]
    if isinstance(data.ty, relax.TensorType) and dtype_of(data) != "float32":
        return f"limit: the input is {dtype_of(data)}, not float32"
    if name in own:
        return own[name].group(view, var, value)
    if is_const(data) and name == "take":
        return embedding.FAMILY.group(view, var, value)
    if is_const(data) and name != "where":
        return "limit: the input is a constant"
    return load(OPS[name]).group(view, var, value)


def _is_empty(expr: relax.Expr) -> bool:
    """True for a tensor of which a dimension is 0."""
    shape = getattr(expr.ty, "shape", None) if isinstance(expr.ty, relax.TensorType) else None
    return any(isinstance(dim, tvm.tirx.IntImm) and int(dim) == 0 for dim in shape or ())


def _settle(view: View, groups: dict[str, Group]) -> None:
    """Let all families look at their neighbours; readers come first, so that it is known what they read."""
    for group in reversed([groups[var.name] for var, _ in view.bindings if var.name in groups]):
        group.strategy.settle(view, group, groups)


def _rules(
    view: View, groups: dict[str, Group], reasons: dict[str, str], config: QConfig, backend: Backend, *, proves: bool
) -> dict[str, Decision]:
    """What the configuration says about every group, keyed like the groups.

    proves  layers whose sums cannot fit int32 stay float
    Rules see the operators that stay float, too, and indices count them.
    """
    facts = _facts(view, groups, reasons)
    decisions = resolve(facts, config.rules)
    for layer in facts:
        if layer.key not in groups:
            continue
        if decisions[layer.key].is_dynamic and layer.op in WEIGHTED:  # no codes of calibrated scales
            decisions[layer.key] = reduce_weight_bits(
                decisions[layer.key], groups[layer.key].strategy, layer.weight_shape, config
            )
            continue
        family = groups[layer.key].strategy
        decision = decisions[layer.key] = reduce_weight_bits(decisions[layer.key], family, layer.weight_shape, config)
        wide = is_int16_residual(groups[layer.key])
        option = why_switched_off(layer, family, config) if decision.rule is None else None
        limit = (wide and backend.refuses_stream("int16")) or _limit(
            decision, family, config, backend, layer.weight_shape
        )
        limit = limit or why_no_int16(groups[layer.key], decision.activations or config.activation_spec)
        limit = limit or _averages(view, groups[layer.key], backend)
        if not (limit or decision.is_float) and proves and family.anchor:
            limit = why_unproved(view, groups[layer.key], decision, config)
        if (option or limit) and not decision.is_float:
            decisions[layer.key] = Decision(decision.rule, is_float=True, why=option or limit or "")
    return decisions


def _dynamic_layers(
    view: View, groups: dict[str, Group], reasons: dict[str, str], decisions: dict[str, Decision]
) -> dict[str, Decision]:
    """{root: decision} of convolutions and products that get codes at run time; groups and floats that rules name."""
    asked = {(groups[key].root if key in groups else key): one for key, one in decisions.items() if one.is_dynamic}
    found = {root: one for root, one in asked.items() if why_float(view.value[root], "dynamic") is None}
    found = {root: one for root, one in found.items() if op_name(view.value[root]) in WEIGHTED}
    for rule in {id(one.rule): one.rule for one in asked.values()}.values():
        if not any(one.rule is rule for one in found.values()):
            raise ConfigError(
                f"rules, {rule!r}: none of the layers that it decides is a convolution or a product of float32 "
                "numbers, which are all that gets scales at run time; name one, or leave the rule out"
            )
    return found


def _facts(view: View, groups: dict[str, Group], reasons: dict[str, str]) -> list[LayerFacts]:
    """What rules can ask of every layer, in the order of execution."""
    roots = {group.root: (key, group) for key, group in groups.items()}
    count: dict[str, int] = {}
    facts = []
    for var, value in view.bindings:
        if var.name not in roots and var.name not in reasons:
            continue
        key, group = roots.get(var.name, (var.name, None))
        op = op_name(value) or "tuple"
        index = count[op] = count.get(op, -1) + 1
        names = group_names(view, group) if group else view.sources(var.name)
        macs = multiply_accumulates(value)
        weight = sizes_of(value.args[1]) if macs else ()
        facts.append(LayerFacts(key, names, op, macs, weight, _shape(view, key), index))
    return facts


def _limit(
    decision: Decision, family: Family, config: QConfig, backend: Backend, weight: tuple[int | str, ...]
) -> str | None:
    """What of a layer's specs the backend cannot compute; `weight` is the shape of its weight."""
    weights = (decision.weights or config.weight_spec) if family.anchor else None
    kernel = tuple(side for side in weight[2:] if isinstance(side, int)) if family.windowed else ()
    activations = decision.activations or config.activation_spec
    return backend.refusal(family.name, activations, weights, config.requantize, kernel, needs=family.needs)


def _averages(view: View, group: Group, backend: Backend) -> str | None:
    """Why a backend that multiplies by shifts alone does not average."""
    counts = group.strategy.average_counts(view, group) if not backend.multipliers else None
    if counts is None or averages.is_shift(counts):
        return None
    found = ", ".join(map(str, np.unique(counts)[:4]))
    return f"limit: backend {backend.name} does not multiply int32 by constants, as the average of {found} values does"


def _shape(view: View, key: str) -> tuple[int | str, ...]:
    """Of a tensor; nothing for tuples and for shapes as values."""
    return sizes_of(view.var[key]) if isinstance(view.var[key].ty, relax.TensorType) else ()


def _drop_detached(view: View, groups: dict[str, Group], reasons: dict[str, str]) -> None:
    """Keep only groups that connect to a convolution or product; the others would pay conversions for nothing.

    Those at the very end go as well, see results.py.
    """
    leave_results_float(view, groups, reasons)
    why = "default: an operator between float operators stays float"
    dropping = Dropping(view, groups, reasons)

    def detached(group: Group) -> str | None:
        return None if group.strategy.anchor or _attached(dropping, group) else why

    dropping.until_stable(detached)
    while alone := _without_seed(groups):
        dropping.until_stable(detached, dropping.remove(dict.fromkeys(alone, why)))


def _drop_floats(view: View, groups: dict[str, Group], reasons: dict[str, str]) -> None:
    """Keep every group that reads codes or an input, or that only groups read, whatever it costs."""
    why = "default: an operator behind float operators stays float"
    dropping = Dropping(view, groups, reasons)
    dropping.until_stable(lambda group: None if _readable(dropping, group) else why)


def _readable(dropping: Dropping, group: Group) -> bool:
    """True if all inputs are codes or can be quantized, unless float operators stand on both sides."""
    view = dropping.view
    others = [name for name in group.inputs if name not in dropping.groups]
    if not all(_cheap_to_quantize(view, name) for name in others):
        return False
    floats = [name for name in others if name not in view.params]
    if group.strategy.anchor or not group.inputs or len(floats) < len(group.inputs):
        return True
    return dropping.all_read(group)


def _without_seed(groups: dict[str, Group]) -> list[str]:
    """Groups that read each other's codes, but none of a convolution or product, and give none to one.

    Embeddings stay: what they save is memory; so do sums of a stream that is to be integers.
    """
    known = {member: key for key, group in groups.items() for member in group.members}
    linked: dict[str, set[str]] = {key: set() for key in groups}
    for key, group in groups.items():
        for source in {known[name] for name in group.inputs if name in known}:
            linked[key].add(source)
            linked[source].add(key)
    reached = [key for key, group in groups.items() if group.strategy.anchor or is_int16_residual(group)]
    seen = set(reached)
    while reached:
        found = linked[reached.pop()] - seen
        seen |= found
        reached.extend(found)
    return [key for key, group in groups.items() if key not in seen and not groups[key].strategy.holds_codes]


def _free_links(view: View, groups: dict[str, Group], reasons: dict[str, str]) -> None:
    """Take the links that a float operator reads out of the chains of tables: they are computed in float for it."""
    integer = {member for group in groups.values() for member in group.members}
    links = {link for group in groups.values() for link in group.strategy.links(group)}
    floats = [link for link in links if any(reader not in integer for reader in view.readers[link])]
    wanted = set(reachable(floats, lambda link: links.intersection(used_vars(view.value[link]))))
    for group in groups.values():
        group.members = [member for member in group.members if member not in wanted]
    reasons.update(dict.fromkeys(wanted, "default: a float operator reads it"))


def _attached(dropping: Dropping, group: Group) -> bool:
    view, groups = dropping.view, dropping.groups
    if group.strategy.is_asked_for:
        return True  # a float stream is quantized for it
    inputs = set(group.inputs)
    from_integers = {name for name in inputs if name in groups}
    others = inputs - from_integers
    if not others:
        return True
    if from_integers and all(_cheap_to_quantize(view, name) for name in others):
        return True
    return group.passes and all(_cheap_to_quantize(view, name) for name in others) and dropping.all_read(group)


def _cheap_to_quantize(view: View, name: str) -> bool:
    """True for what is quantized once at the border: float tensors."""
    return not isinstance(view.var[name].ty, tvm.ir.TupleType) and dtype_of(view.var[name]) == "float32"


def _entries(
    view: View,
    groups: dict[str, Group],
    reasons: dict[str, str],
    decisions: dict[str, Decision],
    names: dict[str, tuple[str, ...]],
) -> dict[str, dict[str, Any]]:
    """Ledger entries in the order of the module."""
    entries: dict[str, dict[str, Any]] = {}
    for var, value in view.bindings:
        if var.name in groups:
            entries[var.name] = _integer_entry(view, groups[var.name], decisions[var.name])
        elif var.name in reasons:
            entries[var.name] = {
                "op": op_name(value) or "tuple",
                "precision": "float",
                "why": reasons[var.name],
                "layers": list(names.get(var.name) or view.sources(var.name)),
                "macs": multiply_accumulates(value),
            }
    return entries


def _integer_entry(view: View, group: Group, decision: Decision) -> dict[str, Any]:
    return {
        **group.to_dict(),
        "op": group.family,
        "precision": "int8",
        "why": decision.why,
        "layers": list(group_names(view, group)),
        "specs": _specs(decision),
        **_observers(decision),
    }


def _specs(decision: Decision) -> dict[str, Any]:
    """What rules say of a layer's types, as the ledger has it."""
    specs = {"activations": decision.activations, "weights": decision.weights}
    return {name: spec.to_dict() for name, spec in specs.items() if spec is not None}


def _observers(decision: Decision) -> dict[str, Any]:
    """Observers that a rule gives a layer, and which rule of all it is."""
    rule = decision.rule
    names = {"activations": rule.observer, "weights": rule.weight_observer} if rule else {}
    given = {name: observer for name, observer in names.items() if observer}
    return {"observers": given | {"rule": decision.order}} if given else {}


def integer_groups(layers: dict[str, dict[str, Any]]) -> list[Group]:
    """The integer groups that a ledger describes, in the order of the module."""
    return [Group.from_dict(entry) for entry in layers.values() if entry["precision"] == "int8"]
