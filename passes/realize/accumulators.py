"""Layers whose sums a backend of narrow accumulators cannot hold, refused by name.

Before                                            After
    a realized module                                 the same

Needs     a realized module; the bounds are computed anew from weights and codes, as check_backend does it.
Leaves    everything; backends of 32 bits need no look.
Numerics  nothing changes.
"""

from __future__ import annotations

import tvm

from tvmq.backends.description import Backend
from tvmq.errors import AccumulatorError
from tvmq.graph.core_bounds import Bounds
from tvmq.graph.functions import inline_functions, unpack_weights
from tvmq.graph.integer_core import regions
from tvmq.graph.ledger import require_stage
from tvmq.graph.view import View


def check_accumulators(mod: tvm.IRModule, backend: Backend) -> tvm.IRModule:
    """The module itself; AccumulatorError that lists the layers whose sums can leave the backend's accumulators."""
    require_stage(mod, "check_accumulators", ("realized",))
    most = 2 ** (backend.accumulator_bits - 1) - 1
    wide = _beyond(mod, most) if backend.accumulator_bits < 32 else {}
    if wide:
        name = next(iter(wide))
        listed = "; ".join(f"layer '{layer}' can reach {reach}" for layer, reach in wide.items())
        raise AccumulatorError(
            f"quantize: sums of backend {backend.name} have {backend.accumulator_bits} bits and end at {most}: "
            f"{listed}; give their weights or inputs fewer bits, or keep them in float: Rule({name!r}, None)"
        )
    return mod


def _beyond(mod: tvm.IRModule, most: int) -> dict[str, str]:
    """{layer: largest sum, in words} of layers in integers whose sums leave -most..most, or have no known bound."""
    view, bounds = View(unpack_weights(inline_functions(mod))), Bounds()
    for var, value in view.bindings:
        bounds.add(var, value)
    wide: dict[str, int] = {}
    for name in regions(view).core:
        reach = bounds.reach.get(name, 0)
        if reach is None or reach > most:
            layer = ", ".join(view.sources(name))
            wide[layer] = max(wide.get(layer, 0), 2**63 if reach is None else reach)
    return {layer: "any number" if reach == 2**63 else str(reach) for layer, reach in wide.items()}
