"""What a layer costs in float, by counts alone: the same on every machine, so that the same layers are chosen.

The rates are those of one core with 32-byte vectors. They rank what may be given back to 8 bits; `tvmq inspect`
forecasts the times of a CPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FLOAT_OPERATIONS = 16e9  # a second
CONVERTED = 8e9  # elements a second
MACS = 25e9  # of products in float, a second; in 8 bits four times as many


def seconds_of(entry: Mapping[str, Any]) -> float:
    """Forecast of a ledger's layer in float, with its part of the conversions; 0 for one in 8 bits.

    >>> seconds_of({"precision": "float", "island": {"float_operations": 16_000, "converted": 8_000}})
    2e-06
    """
    macs = entry.get("macs") or 0
    if entry["precision"] != "float":
        return 0.0
    cost = entry.get("island") or {}
    operations = max(0, cost.get("float_operations", 0) - 2 * macs)
    return operations / FLOAT_OPERATIONS + cost.get("converted", 0) / CONVERTED + macs / MACS
