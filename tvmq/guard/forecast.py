"""What layers cost in more precision, by counts alone: the same on every machine, so that the same layers are chosen.

The rates are those of one core with 32-byte vectors. They rank what may be given back to 8 bits; `tvmq inspect`
forecasts the times of a CPU.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tvmq.graph.float_region_costs import elements, operations
from tvmq.graph.view import View

FLOAT_OPERATIONS = 16e9  # a second
CONVERTED = 8e9  # elements a second
MACS = 25e9  # of products in float, a second; in 8 bits four times as many
PASSES = 2  # over what is read, to find its scale and to make codes of it

Layers = Mapping[str, Mapping[str, Any]]


def float_seconds(keys: Collection[str], layers: Layers, view: View) -> float:
    """Forecast of integer layers in float: their operations, and the conversions at their borders.

    keys  of the ledger of the module that the view shows, prepared or annotated
    """
    members = {name for key in keys for name in layers[key]["members"]}
    macs = sum(layers[key].get("macs") or 0 for key in keys)
    steps = sum(operations(view.value[name]) for name in members if name in view.value) - 2 * macs
    read = {name for key in keys for name in layers[key]["inputs"] if name not in members}
    given = {key for key in keys if any(reader not in members for reader in view.readers[key])}
    converted = sum(elements(view.var[name]) for name in read | given)
    return max(0, steps) / FLOAT_OPERATIONS + converted / CONVERTED + macs / MACS


def dynamic_seconds(keys: Collection[str], layers: Layers, view: View) -> float:
    """Forecast of what scales made at run time cost products more than calibrated ones."""
    read = [name for key in keys for name in layers[key]["inputs"]]
    converted = PASSES * sum(elements(view.var[name]) for name in read) + sum(elements(view.var[key]) for key in keys)
    steps = sum(
        operations(view.value[name])
        for key in keys
        for name in layers[key]["members"]
        if name in view.value and name != layers[key]["root"]
    )
    return converted / CONVERTED + steps / FLOAT_OPERATIONS
