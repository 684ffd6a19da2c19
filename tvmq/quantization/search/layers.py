"""The layers of a network as proposals see them: options, costs, and where codes and floats would meet.

Tests: tests/quantization/search/test_workers.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tvmq.codegen.cost import START
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, const_value, is_const, op_name, used_vars
from tvmq.options.rules import DYNAMIC, short_names
from tvmq.passes.families.base import Group
from tvmq.quantization.guard.rehearsal import SIMULATED, Rehearsal
from tvmq.quantization.search.goal import SIZE
from tvmq.quantization.search.propose import LPLayer
from tvmq.quantization.search.space import FLOAT, INT4_WEIGHTS, INT8, Recipe, SearchSpace
from tvmq.quantization.search.trials import Network, TrialRunner

CONVERTED = 5  # bytes that move where a value is made a code, or a code a value
WORTH = 2e-3  # of a small model 1 per cent of its size is worth 5 times its time: of equal sizes the faster one
SIMPLE = 1e-4  # of the cost of a layer in the mean: a layer without a rule is worth that


def describe_layers(runner: TrialRunner, space: SearchSpace, network: Network) -> list[LPLayer]:
    """Layers of the integer module for these options of the network; their errors are 0 until they are measured."""
    rehearsal = runner.rehearsal(network)
    minimize = runner.problem.goal.minimize
    names = space.names(minimize)
    seconds = {option: runner.layer_seconds(network, option) for option in names}
    ledger = get_ledger(runner.module(Recipe(network=network))).layers
    differing = {
        **rehearsal.options(),
        DYNAMIC: set(rehearsal.dynamic),
        FLOAT: set(rehearsal.groups),
        INT8: set(rehearsal.groups),
    }
    facts = _Tensors.from_rehearsal(rehearsal, runner)
    elements = {key: _weight_elements(rehearsal.view, group) for key, group in rehearsal.groups.items()}
    scale = 1.0 if minimize != SIZE else WORTH * sum(elements.values()) / (sum(seconds[INT8].values()) or 1.0)
    whole = sum(seconds[INT8].values()) * scale + (sum(elements.values()) if minimize == SIZE else 0.0)
    simple = SIMPLE * whole / max(1, len(rehearsal.groups))
    layers = []
    for key, group in rehearsal.groups.items():
        printed = tuple(ledger[key].get("layers", ())) if key in ledger else ()
        options = [option for option in space.of((*printed, key), minimize) if key in differing.get(option, ())]
        costs = {
            option: seconds[option].get(key, 0.0) * scale
            + (_bytes(elements[key], option) if minimize == SIZE else 0.0)
            + (0.0 if option == INT8 else simple)
            for option in options or [INT8]
        }
        layers.append(
            LPLayer(
                key,
                printed or (key,),
                costs,
                dict.fromkeys((option for option in costs if option != FLOAT), 0.0),
                tuple((facts.home.get(name), facts.seconds(name) * scale) for name in group.inputs),
                facts.seconds(key) * scale if key in facts.leaving else 0.0,
            )
        )
    return layers


def layer_names(runner: TrialRunner, network: Network) -> dict[str, str]:
    """{key: name as it is printed}, where that stands for one layer alone."""
    layers = get_ledger(runner.module(Recipe(network=network))).layers
    printed = {key: short_names(entry["layers"]) for key, entry in layers.items() if entry.get("layers")}
    counts: dict[str, int] = {}
    for name in printed.values():
        counts[name] = counts.get(name, 0) + 1
    return {key: name for key, name in printed.items() if counts[name] == 1}


@dataclass
class _Tensors:
    """Producers of tensors, and the costs of converting them.

    home      {tensor: layer that makes it}
    leaving   results that floats read, or that are the model's
    """

    view: View
    home: Mapping[str, str]
    leaving: set[str]
    rate: float

    @staticmethod
    def from_rehearsal(rehearsal: Rehearsal, runner: TrialRunner) -> _Tensors:
        view = rehearsal.view
        home = {member: key for key, group in rehearsal.groups.items() for member in group.members}
        leaving = set(view.outputs)
        for var, value in view.bindings:
            if var.name not in home and op_name(value) != SIMULATED:
                leaving.update(used_vars(value))
        machine = runner.problem.machine
        return _Tensors(view, home, leaving & set(rehearsal.groups), machine.rates[1] * machine.clock)

    def seconds(self, name: str) -> float:
        """Seconds of a conversion."""
        count = 1
        for size in getattr(self.view.var[name].ty, "shape", ()):  # a tuple has none
            count *= int(size) if str(size).isdecimal() else 1
        return START + CONVERTED * count / self.rate


def _weight_elements(view: View, group: Group) -> int:
    """Elements of the weight of a group; 0 without one."""
    args: Any = getattr(view.value[group.root], "args", ())
    for arg in args:
        value = None if is_const(arg) else view.value.get(getattr(arg, "name", ""))
        if value is not None and op_name(value) == SIMULATED and value.attrs.kind == "weight":
            return int(const_value(value.args[0]).size)
    return 0


def _bytes(elements: int, option: str) -> float:
    bits = {INT4_WEIGHTS: 4, FLOAT: 32}.get(option, 8)
    return elements * bits / 8
