"""Decisions about every group: by rules, options, the backend and proofs.

A layer whose integer sums cannot be proved to fit int32 stays float where the backend has floats. What weights alone
decide is known before the calibration, and such a layer is no integer layer at all. A bias that brings a sum to its end
is known with the ranges only: `realize` refuses it then.

Tests: tests/passes/partition/test_unproved.py
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.backends.description import Backend
from tvmq.backends.operator_entry import OperatorEntry
from tvmq.errors import AccumulatorError, ConfigError
from tvmq.graph.analysis.float_region_costs import multiply_accumulates
from tvmq.graph.names import float_layers
from tvmq.graph.view import View, const_value, is_const, op_name, sizes_of
from tvmq.numerics.codes import INT32_MAX
from tvmq.options.config import QConfig
from tvmq.options.rules import Decision, LayerFacts, resolve
from tvmq.passes.families import avg_pool
from tvmq.passes.families.absorb import group_names
from tvmq.passes.families.base import Draft, Group, encode_constant
from tvmq.passes.families.float_options import why_switched_off
from tvmq.passes.families.run_time_scales import LOOP, WEIGHTED, why_float
from tvmq.passes.families.weight_scales import constant_qparams, power_of_two, reduce_weight_bits
from tvmq.passes.families.weights import weight_axis
from tvmq.passes.operator_families import is_depthwise
from tvmq.passes.partition.residual_streams import is_int16_residual, why_no_int16

OUTSIDE = "the model: outside of its QuantStub and DeQuantStub"


def decide_layers(draft: Draft) -> None:
    """Decide about every group, and take out those that stay float or get codes at run time.

    Rules see the operators that stay float, too, and indices count them.
    """
    facts = layer_facts(draft.view, draft.groups, draft.reasons)
    draft.decisions = resolve(facts, draft.config.rules)
    for layer in facts:
        if layer.key in draft.groups:
            draft.decisions[layer.key] = _decision(draft, layer, draft.decisions[layer.key])
    draft.dynamic = _dynamic_layers(draft) | _loops(draft, facts)
    draft.names = {group.root: group_names(draft.view, group) for group in draft.groups.values()}
    for key, group in list(draft.groups.items()):
        if draft.decisions[key].is_float or group.root in draft.dynamic:
            draft.reasons[group.root] = draft.decisions[key].why
            del draft.groups[key]
    draft.reasons.update({root: f"{one.why}: codes made at run time" for root, one in draft.dynamic.items()})


def _decision(draft: Draft, layer: LayerFacts, ruled: Decision) -> Decision:
    """Decide on a group by its rule, by the options where there is none, and by what neither can have."""
    group, config = draft.groups[layer.key], draft.config
    decision = reduce_weight_bits(ruled, group.strategy, layer.weight_shape, config)
    decision = _with_backend_specs(decision, group, draft)
    if (border := why_outside(draft.view, group.root)) is not None and ruled.rule is None:
        return Decision(None, is_float=True, why=border)
    if decision.is_float or (decision.is_dynamic and layer.op in WEIGHTED):  # no codes of calibrated scales
        return decision
    option = why_switched_off(layer, group.strategy, config) if decision.rule is None else None
    why = option or _limit(draft, group, decision, layer.weight_shape)
    return decision if why is None else Decision(decision.rule, is_float=True, why=why)


def _limit(draft: Draft, group: Group, decision: Decision, weight: tuple[int | str, ...]) -> str | None:
    """First reason why a group cannot be integers of these specs; the costly proof comes last."""
    config, backend = draft.config, draft.backend
    limit = backend.refuses_stream("int16") if is_int16_residual(group) else None
    limit = limit or _refusal(decision, group, draft, weight)
    limit = limit or why_no_int16(group, decision.activations or config.activation_spec)
    limit = limit or _average_obstacle(draft.view, group, backend)
    proves = not draft.is_prequantized and group.strategy.anchor and may_stay_float(config, backend)
    return limit or (why_unproved(draft.view, group, decision, config) if proves else None)


def _dynamic_layers(draft: Draft) -> dict[str, Decision]:
    """{root: decision} of convolutions and products that get codes at run time; groups and floats that rules name."""
    groups, values = draft.groups, draft.view.value
    dynamic = {groups[k].root if k in groups else k: one for k, one in draft.decisions.items() if one.is_dynamic}
    layers = {root: one for root, one in dynamic.items() if why_float(values[root], "dynamic") is None}
    layers = {root: one for root, one in layers.items() if op_name(values[root]) in (*WEIGHTED, LOOP)}
    for rule in {id(one.rule): one.rule for one in dynamic.values()}.values():
        if not any(one.rule is rule for one in layers.values()):
            raise ConfigError(
                f"rules, {rule!r}: none of the layers that it decides is a convolution or a product of float32 "
                "numbers, which are all that gets scales at run time; name one, or leave the rule out"
            )
    return layers


def _loops(draft: Draft, facts: list[LayerFacts]) -> dict[str, Decision]:
    """{root: decision} of recurrent layers: their state gets codes in every step, unless they are to stay float."""
    allowed = draft.config.debug_enabled_ops
    loops = {layer.key: draft.decisions[layer.key] for layer in facts if layer.op == LOOP}
    if not loops or draft.is_prequantized or draft.is_integral:
        return {}
    refused = draft.backend.refuses_dynamic()
    switched = "option debug_enabled_ops" if allowed is not None and LOOP not in allowed else None
    why = switched or (f"limit: backend {draft.backend.name} {refused}" if refused else None)
    floats = {key: decision.why if decision.is_float else why for key, decision in loops.items()}
    draft.reasons.update({key: why for key, why in floats.items() if why is not None})
    return {key: decision for key, decision in loops.items() if floats[key] is None}


def layer_facts(view: View, groups: Mapping[str, Group], floats: Container[str]) -> list[LayerFacts]:
    """Facts that rules can ask of every layer, groups and floats, in the order of execution."""
    roots = {group.root: (key, group) for key, group in groups.items()}
    count: dict[str, int] = {}
    facts = []
    for var, value in view.bindings:
        if var.name not in roots and var.name not in floats:
            continue
        key, group = roots.get(var.name, (var.name, None))
        op = op_name(value) or "tuple"
        index = count[op] = count.get(op, -1) + 1
        names = group_names(view, group) if group else view.sources(var.name)
        macs = multiply_accumulates(value)
        weight = sizes_of(value.args[1]) if macs else ()
        facts.append(LayerFacts(key, names, op, macs, weight, _shape(view, key), index))
    return facts


def _with_backend_specs(decision: Decision, group: Group, draft: Draft) -> Decision:
    """The decision with the specs of the backend's entry for such layers, where no rule gives them."""
    if decision.is_float or decision.is_dynamic or draft.is_prequantized:
        return decision
    family, config, own = group.strategy, draft.config, (decision.activations, decision.weights)
    specs = (own[0] or config.activation_spec, (own[1] or config.weight_spec) if family.weighted else None)
    fitted = draft.backend.fit_specs(group.family, *specs, depthwise=is_depthwise(draft.view.value[group.root]))
    chosen = [mine or (new if new != old else None) for mine, new, old in zip(own, fitted, specs, strict=True)]
    if chosen == list(own):
        return decision
    described = own[0] is None and chosen[0] is not None
    return replace(decision, activations=chosen[0], weights=chosen[1], described=described)


def entry_of(draft: Draft, group: Group) -> OperatorEntry | None:
    """Entry of the backend for layers like this one."""
    return draft.backend.entry(group.family, depthwise=is_depthwise(draft.view.value[group.root]))


def _refusal(decision: Decision, group: Group, draft: Draft, weight: tuple[int | str, ...]) -> str | None:
    """Reason why the backend cannot compute a layer's specs; `weight` is the shape of its weight."""
    family, config = group.strategy, draft.config
    weights = (decision.weights or config.weight_spec) if family.anchor else None
    kernel = tuple(side for side in weight[2:] if isinstance(side, int)) if family.windowed else ()
    activations = decision.activations or config.activation_spec
    return draft.backend.refusal(
        group.family, activations, weights, config.requantize, kernel,
        channels=_channels(draft.view, group, weight), depthwise=is_depthwise(draft.view.value[group.root]),
    )  # fmt: skip


def _channels(view: View, group: Group, weight: tuple[int | str, ...]) -> tuple[int, ...]:
    """Channels of what a layer with a weight reads, and of its result; none where they are not known."""
    if not weight or not group.strategy.weighted:
        return ()
    x, y = _shape(view, group.inputs[0]), _shape(view, group.root)
    axis = 1 if group.strategy.windowed else -1
    return tuple(int(shape[axis]) for shape in (x, y) if len(shape) > 1 and isinstance(shape[axis], int))


def _average_obstacle(view: View, group: Group, backend: Backend) -> str | None:
    """Why a backend that multiplies by shifts alone does not average."""
    counts = group.strategy.average_counts(view, group) if not backend.multipliers else None
    if counts is None or avg_pool.is_shift(counts):
        return None
    sizes = ", ".join(map(str, np.unique(counts)[:4]))
    return f"limit: backend {backend.name} does not multiply int32 by constants, as the average of {sizes} values does"


def _shape(view: View, key: str) -> tuple[int | str, ...]:
    """Shape of a tensor; () for tuples and for shapes as values."""
    return sizes_of(view.var[key]) if isinstance(view.var[key].ty, relax.TensorType) else ()


def why_outside(view: View, root: str) -> str | None:
    """Why an operator stays float where the source has borders for its codes; None inside of them."""
    names, outside = view.sources(root), float_layers(view.func)
    return OUTSIDE if outside and names and outside.issuperset(names) else None


def may_stay_float(config: QConfig, backend: Backend) -> bool:
    """True if a layer without a proof becomes float; else it is an AccumulatorError.

    A core that is to be integers has no floats, and of narrow accumulators whoever describes them wants to know.
    """
    return backend.floats and backend.accumulator_bits >= 32 and config.partition_conversions != "fully_integral"


def why_unproved(view: View, group: Group, decision: Decision, config: QConfig) -> str | None:
    """Why the sums of a layer with a constant weight leave int32 whatever it reads; None if they need not."""
    weight = view.value[group.root].args[1]
    x, spec = decision.activations or config.activation_spec, decision.weights or config.weight_spec
    if not is_const(weight) or x.dtype == "int16":  # in 16 bits `realize` knows who reads them
        return None
    axis, shape = weight_axis(view.value[group.root]), sizes_of(weight)
    depth = const_value(weight).size // max(int(shape[axis]), 1)
    if depth * spec.qmax * max(x.qmax, -x.qmin) <= INT32_MAX:
        return None
    name, channel = ", ".join(group_names(view, group)), axis if spec.per_channel else None
    observer = decision.rule.weight_observer if decision.rule else None
    qparams = constant_qparams(const_value(weight), spec, channel, config, name, observer)
    qparams = power_of_two(qparams) if config.requantize == "power_of_two" else qparams
    codes = encode_constant(const_value(weight), qparams)
    try:
        numerics.check_accumulator(name, codes, x.qmin, x.qmax, filter_axis=axis, stage="partition")
    except AccumulatorError as error:
        return f"limit: {error.fact}"
    return None
