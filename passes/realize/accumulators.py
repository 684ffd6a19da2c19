"""Layers whose sums a backend of narrow accumulators cannot hold, refused by name.

Before                                            After
    a realized module                                 the same

Needs     a realized module; the bounds are computed anew from weights and codes, as check_backend does it.
Leaves    everything; backends of 32 bits need no look.
Numerics  nothing changes.

Tests: tests/tools/analysis/test_conformity.py
"""

from __future__ import annotations

import tvm

from tvmq.backends.description import Backend
from tvmq.errors import AccumulatorError
from tvmq.graph.analysis.core_bounds import Bounds
from tvmq.graph.analysis.integer_core import regions
from tvmq.graph.ledger import require_stage
from tvmq.graph.module_functions import inline_functions, unpack_weights
from tvmq.graph.view import View
from tvmq.passes.operator_families import family_of


def check_accumulators(mod: tvm.IRModule, backend: Backend) -> tvm.IRModule:
    """Return the module; AccumulatorError lists the layers whose sums can leave the backend's accumulators."""
    require_stage(mod, "check_accumulators", ("realized",))
    overflows = _overflowing_layers(mod, backend) if backend.proves_sums else {}
    if overflows:
        name, (bits, _) = next(iter(overflows.items()))
        listed = "; ".join(
            f"layer '{layer}' can reach {reach}{f' in {own} bits' if own != bits else ''}"
            for layer, (own, reach) in overflows.items()
        )
        raise AccumulatorError(
            f"quantize: sums of backend {backend.name} have {bits} bits and end at {2 ** (bits - 1) - 1}: "
            f"{listed}; give their weights or inputs fewer bits, or keep them in float: Rule({name!r}, None)"
        )
    return mod


def _overflowing_layers(mod: tvm.IRModule, backend: Backend) -> dict[str, tuple[int, str]]:
    """{layer: (bits of its sums, largest sum in words)} of layers in integers whose sums leave their bits, or have no
    known bound."""
    view = View(unpack_weights(inline_functions(mod)))
    bounds = Bounds(view)
    overflows: dict[str, tuple[int, int]] = {}
    for name in regions(view).core:
        reach = bounds.reach.get(name, 0)
        family, depthwise = family_of(view, name)
        bits, overflow = backend.accumulators(family, depthwise=depthwise)
        if overflow == "proved" and (reach is None or reach >= 2 ** (bits - 1)):
            layer = ", ".join(view.sources(name))
            overflows[layer] = bits, max(overflows.get(layer, (0, 0))[1], 2**63 if reach is None else reach)
    return {layer: (bits, "any number" if reach == 2**63 else str(reach)) for layer, (bits, reach) in overflows.items()}
