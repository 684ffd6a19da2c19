"""Quantization without data: weights alone, or activations by scales that are made at run time.

Before                                            After, activations="dynamic"
    m = matmul(x, w)                                  s = dynamic_scale(x), a scale for each row
                                                      q = dynamic_quantize(x, s)
                                                      m = dynamic_dequantize(matmul(q, int8 w) in int32, s, s_w)
                                                  After, activations=None
                                                      m = matmul(x, dequantize(int8 w, s_w))
                                                  With group_size, dynamic and not
                                                      m = group_matmul(q, s, int4 w, s_w), s for each group of a row
                                                      m = matmul(x, group_dequantize(int8 w, s_w))

Needs     a prepared module.
Leaves    a realized one. Everything without weights stays float; dynamic turns products of two activations into
          integers as well. Embedding tables are int8 with one scale a row, in both.
Numerics  numerics.dynamic; weights as in `realize`, to the nearest code or, with data, as in `round_weights` without a
          change of the bias. Convolutions take one scale for each sample. Groups of at most 4 bits have steps with a
          sign (calibration/observers/signed_steps.py); weights that are on a grid already keep it, with an offset for
          each group where it has some (weight_grids.py).
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax

from tvmq.graph.analysis.float_region_costs import multiply_accumulates
from tvmq.graph.ledger import require_stage, with_ledger
from tvmq.graph.view import View, is_const, op_name
from tvmq.numerics.codes import PACKED_BITS
from tvmq.options.config import QConfig, current_qconfig
from tvmq.options.rules import Decision, LayerFacts, resolve
from tvmq.passes.families.base import family_of_call
from tvmq.passes.families.float_options import why_switched_off
from tvmq.passes.families.run_time_scales import WEIGHTED, why_float
from tvmq.passes.families.weight_scales import reduce_weight_bits
from tvmq.passes.partition.decide import layer_facts, why_outside
from tvmq.passes.realize import ModuleRealizer, integer_facts
from tvmq.passes.realize.weight_codes import RoundingByData, WeightEncoder, WeightOptions


def quantize_dynamic(
    mod: tvm.IRModule, config: QConfig | None = None, rounding: RoundingByData | None = None
) -> tvm.IRModule:
    """Quantize without data; a layer whose sums could leave int32 stays float.

    rounding  None: each weight to its nearest code
    """
    config = config or current_qconfig()
    ledger = require_stage(mod, "quantize_dynamic", ("prepared",))
    view = View(mod)
    decisions = _decide_layers(view, config)
    reasons = {var.name: _reason(value, decisions[var.name], config) for var, value in view.bindings}
    layers = {name: _weight_options(decisions[name], config) for name, reason in reasons.items() if reason is None}
    realizer = ModuleRealizer(mod, config, layers, rounding=rounding)
    result = realizer.run()
    reasons |= {name: f"limit: {fact}" for name, fact in realizer.refused.items()}
    ledger.stage, ledger.config, ledger.layers = "realized", config.to_dict(), {}
    for var, _ in view.bindings:
        reason, decision = reasons[var.name], decisions[var.name]
        ledger.layers[var.name] = _entry(view, var, reason, decision, config, realizer.forms.weights)
    return with_ledger(result, ledger)


def products_in_groups(mod: tvm.IRModule, config: QConfig) -> set[str]:
    """Variables of products of a prepared module whose codes, weights and activations, get a scale for each group."""
    view = View(mod)
    if config.group_size is None or config.activations != "dynamic":
        return set()
    options = {name: _weight_options(decision, config) for name, decision in _decide_layers(view, config).items()}
    calls = {var.name: value for var, value in view.bindings if op_name(value) == "matmul"}
    return {name for name in calls if options[name].spec.bits <= PACKED_BITS and is_const(calls[name].args[1])}


def _decide_layers(view: View, config: QConfig) -> dict[str, Decision]:
    """Decisions of the rules for every operator; indices count operators of one type."""
    facts = layer_facts(view, {}, view.value)
    decided = resolve(facts, config.rules)
    return {fact.key: _decide_layer(view, fact, decided[fact.key], config) for fact in facts}


def _decide_layer(view: View, layer: LayerFacts, decision: Decision, config: QConfig) -> Decision:
    """Decision of the rules for a layer, and of the options where no rule decides."""
    if (border := why_outside(view, layer.key)) is not None and decision.rule is None:
        return Decision(None, is_float=True, why=border)
    family = family_of_call(view.value[layer.key])
    option = why_switched_off(layer, family, config) if decision.rule is None else None
    if option is not None and layer.op in WEIGHTED:
        return Decision(None, is_float=True, why=option)
    return reduce_weight_bits(decision, family, layer.weight_shape, config)


def _reason(value: relax.Expr, decision: Decision, config: QConfig) -> str | None:
    """Why an operator stays as it is; None if it has a form."""
    return why_float(value, config.activations) or (decision.why if decision.is_float else None)


def _weight_options(decision: Decision, config: QConfig) -> WeightOptions:
    observer = decision.rule.weight_observer if decision.rule else None
    return WeightOptions(decision.weights or config.weight_spec, observer)


def _entry(
    view: View, var: relax.Var, reason: str | None, decision: Decision, config: QConfig, weights: WeightEncoder
) -> dict[str, Any]:
    """Ledger entry of one operator; reason: why it stays as it is, None where it does not."""
    value = view.value[var.name]
    name, spec = op_name(value) or "tuple", _weight_options(decision, config).spec
    entry = {"op": name, "layers": list(view.sources(var.name)), "macs": multiply_accumulates(value)}
    if reason is None:
        entry |= integer_facts(spec)
    if var.name in weights.by_data:
        entry["weight_rounding"] = "calibrated"
    if var.name in weights.on_grid:
        entry["weight_grid"] = "kept"
    integer = reason is None and config.activations == "dynamic" and name != "take"
    why = reason or (decision.why if decision.rule is not None else None)
    if why is None:
        what = "codes made at run time" if integer else f"int{spec.bits} weights, float arithmetic"
        why = f"option activations={config.activations!r}: {what}"
    return entry | {"precision": "int8" if integer else "float", "why": why}
