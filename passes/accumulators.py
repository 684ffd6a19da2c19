"""Layers whose sums a backend of narrow accumulators cannot hold, refused by name.

Before                                            After
    a realized module, its ledger with the            the same
    largest sum of each layer

Needs     a realized module; the bounds are those that realize proved for int32.
Leaves    everything; backends of 32 bits need no look.
Numerics  nothing changes.
"""

from __future__ import annotations

import tvm

from tvmq.backends.description import Backend
from tvmq.errors import AccumulatorError
from tvmq.graph.ledger import require_stage


def check_accumulators(mod: tvm.IRModule, backend: Backend) -> tvm.IRModule:
    """The module itself; AccumulatorError that lists the layers whose sums can leave the backend's accumulators."""
    ledger = require_stage(mod, "check_accumulators", ("realized",))
    most = 2 ** (backend.accumulator_bits - 1) - 1
    wide = {
        ", ".join(entry["layers"]): entry["accumulator"]
        for entry in ledger.layers.values()
        if entry.get("accumulator", 0) > most
    }
    if wide and backend.accumulator_bits < 32:
        name = next(iter(wide))
        listed = "; ".join(f"layer '{layer}' can reach {reach}" for layer, reach in wide.items())
        raise AccumulatorError(
            f"quantize: sums of backend {backend.name} have {backend.accumulator_bits} bits and end at {most}: "
            f"{listed}; give their weights or inputs fewer bits, or keep them in float: Rule({name!r}, None)"
        )
    return mod
