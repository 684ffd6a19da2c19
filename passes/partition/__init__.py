"""Decide which operators become integers and which variables belong together; the decisions stand in the ledger.

Before                                        After
    the prepared float module                     the same bindings; ledger.layers has one entry a group
                                                  {family, root, members, inputs, precision, why, macs, ...}

Needs     a prepared module.
Leaves    the bindings as they are; operators without an integer form are entries with precision "float" and a reason.
Numerics  nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tvm

from tvmq.backends import backend_named
from tvmq.backends.description import Backend
from tvmq.graph.analysis.float_region_costs import multiply_accumulates
from tvmq.graph.ledger import require_stage, with_ledger
from tvmq.graph.view import View, op_name
from tvmq.options.config import QConfig, current_qconfig
from tvmq.options.rules import Decision
from tvmq.passes.families.absorb import group_names
from tvmq.passes.families.base import Draft, Group
from tvmq.passes.families.masked_mean import join_means
from tvmq.passes.families.masks import absorb_masks
from tvmq.passes.partition.code_results import code_results
from tvmq.passes.partition.decide import decide_layers, entry_of
from tvmq.passes.partition.dropping import drop_detached, drop_floats, release_links
from tvmq.passes.partition.find import absorb_slopes, find_groups
from tvmq.passes.partition.float_exceptions import widen_results
from tvmq.passes.partition.residual_streams import widen_layers, widen_moves, widen_residuals
from tvmq.passes.partition.state_results import state_results

Drop = Callable[[View, dict[str, Group], dict[str, str]], None]


def partition(
    mod: tvm.IRModule,
    config: QConfig | None = None,
    backend: Backend | None = None,
    *,
    drop: Drop | None = None,
) -> tvm.IRModule:
    """Decide which operators become integers, and record that in the ledger.

    backend   None is the portable CPU
    drop      removes groups that shall stay float, and gives the reasons; None: those that no convolution or product
              is near, but of a core that is to be fully integral only what cannot be quantized
    """
    ledger = require_stage(mod, "partition", ("prepared",))
    draft = Draft(
        View(mod), config or current_qconfig(), backend or backend_named(None), is_prequantized=drop is not None
    )
    for find in FIND:
        find(draft)
    decide_layers(draft)
    for join in BEFORE_DROPPING:
        join(draft)
    drop = drop or (drop_floats if draft.is_integral else drop_detached)  # until nothing changes
    drop(draft.view, draft.groups, draft.reasons)
    for finalize in AFTER_DROPPING:
        finalize(draft)
    ledger.layers, ledger.stage = _entries(draft), "partitioned"
    ledger.config, ledger.backend = draft.config.to_dict(), draft.backend.name
    return with_ledger(mod, ledger)


def finalize_groups(draft: Draft) -> None:
    """Let all families look at their neighbours; readers come first, so that it is known what they read."""
    for var, _ in reversed(draft.view.bindings):
        if var.name in draft.groups:
            group = draft.groups[var.name]
            group.strategy.settle(draft.view, group, draft.groups)


Hook = Callable[[Draft], None]
# Invariant between all hooks: the key of a group in draft.groups is its last member, and no member of a group is a key
# of draft.reasons, which says of roots (the operators that rules name) why they stay float.
#
# FIND settles which groups there could be. decide_layers needs their final roots and members, since it hands them to
# the user's rules once; whatever it decides to be float moves from the groups to the reasons.
FIND: tuple[Hook, ...] = (
    # Needs   nothing but the prepared module.
    # Leaves  the invariant. Sums that a normalization reads are among the reasons; a leaky relu is a table of its own.
    find_groups,
    # Needs   the sums of residual streams among the reasons.
    # Leaves  these sums, and concats that only they read, as groups with facts.stream.
    widen_residuals,
    # Needs   the operators of a masked mean, in whatever groups or reasons they are by now.
    # Leaves  one group for each masked mean and none for a part of it, sums of widen_residuals included.
    join_means,
    # Needs   each leaky relu as a group of its own, and facts that say which sums a clip bounds.
    # Leaves  no leaky relu behind a layer that can compute it in its requantize: it is a member of that layer.
    absorb_slopes,
)
# Dropping removes groups by their neighbours until nothing changes, so each neighbour must be one that will remain, and
# each sum must say in which width it is added.
BEFORE_DROPPING: tuple[Hook, ...] = (
    # Needs   the decided groups: only masks (facts.masks) of those that will be integers become integers.
    # Leaves  operators that only compute such masks as members of their reader: no group stays because of them.
    absorb_masks,
    # Needs   the groups at the ends of the network.
    # Leaves  facts.stream at sums there if the core is to be fully integral: 8 bits would round the results.
    widen_results,
)
# The set of groups is final: these hooks change members and facts alone.
AFTER_DROPPING: tuple[Hook, ...] = (
    # Needs   the final groups, which say who reads in float.
    # Leaves  links of a chain of tables that a float operator reads among the reasons.
    release_links,
    # Needs   the final groups: integer softmax and layer norm look at who makes what they read, and who reads them.
    # Leaves  facts.stream of those two and of their readers.
    finalize_groups,
    # Needs   draft.decisions of the groups.
    # Leaves  facts.stream and facts.bits of convolutions and products whose activations are int16. Every group that
    #         reads int16 codes has facts.stream by now, but for those that only move codes.
    widen_layers,
    # Needs   facts.stream of all groups that compute.
    # Leaves  facts.stream of moves that only such groups read; concats among them have passes=False and own codes.
    widen_moves,
    # Needs   the final `passes`: what passes codes on has the scale of its input.
    # Leaves  needs_output_codes of results that the backend writes as codes alone.
    code_results,
    # Needs   the final groups.
    # Leaves  needs_output_codes of results that are the state of the next call.
    state_results,
)


def _entries(draft: Draft) -> dict[str, dict[str, Any]]:
    """Ledger entries in the order of the module."""
    view, groups, reasons = draft.view, draft.groups, draft.reasons
    entries: dict[str, dict[str, Any]] = {}
    for var, value in view.bindings:
        if var.name in groups:
            entries[var.name] = _integer_entry(view, groups[var.name], draft.decisions[var.name], draft)
        elif var.name in reasons:
            entries[var.name] = {
                "op": op_name(value) or "tuple",
                "precision": "float",
                "why": reasons[var.name],
                "layers": list(draft.names.get(var.name) or view.sources(var.name)),
                "macs": multiply_accumulates(value),
            }
    for root, decision in draft.dynamic.items():
        entries[root] |= {"dynamic": True, "specs": _specs(decision), **_observers(decision)}
    return entries


def _integer_entry(view: View, group: Group, decision: Decision, draft: Draft) -> dict[str, Any]:
    return {
        **group.to_dict(),
        "op": group.family,
        "precision": "int8",
        "why": decision.why,
        "layers": list(group_names(view, group)),
        "specs": _specs(decision),
        **_backend_facts(group, decision, draft),
    }


def _backend_facts(group: Group, decision: Decision, draft: Draft) -> dict[str, Any]:
    """Observers and specs that the backend prescribes for such layers only."""
    entry, facts = (None if draft.is_prequantized else entry_of(draft, group)), _observers(decision)
    bias = entry.bias if entry and entry.bias else draft.backend.bias
    if bias not in ("int32", "float32") and group.strategy.weighted and not draft.is_prequantized:
        facts["bias_bits"] = int(bias.removeprefix("int"))
    bits, _ = draft.backend.accumulators(group.family)
    if bits < 32 and group.strategy.adds:  # whose constants are chosen so that its sums fit
        facts["accumulator_bits"] = bits
    if entry is None:
        return facts
    forms = {"activations": entry.inputs, "weights": entry.weights}
    own = {name: form.observer for name, form in forms.items() if form and form.observer}
    if own and decision.rule is None:
        facts |= {"observers": {**own, "rule": decision.order}}
    if entry.same_scales:
        facts["same_scales"] = True
    if entry.requantize is not None:
        facts["requantize"] = list(entry.requantize.nearest_mode)
    return facts


def _specs(decision: Decision) -> dict[str, Any]:
    """Specs that rules give to a layer, as the ledger has them."""
    specs = {"activations": decision.activations, "weights": decision.weights}
    entry: dict[str, Any] = {name: spec.to_dict() for name, spec in specs.items() if spec is not None}
    return entry | ({"described": True} if decision.described else {})


def _observers(decision: Decision) -> dict[str, Any]:
    """Observers that a rule gives a layer, and which rule of all it is."""
    rule = decision.rule
    names = {"activations": rule.observer, "weights": rule.weight_observer} if rule else {}
    observers = {name: observer for name, observer in names.items() if observer}
    return {"observers": observers | {"rule": decision.order}} if observers else {}


def integer_groups(layers: dict[str, dict[str, Any]]) -> list[Group]:
    """The integer groups that a ledger describes, in the order of the module."""
    return [Group.from_dict(entry) for entry in layers.values() if entry["precision"] == "int8"]
