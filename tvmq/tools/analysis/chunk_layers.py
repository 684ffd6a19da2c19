"""Which layer makes what a stateful model gives depend on how its steps are cut into calls.

The definition runs a sequence both ways. Of each variable with an axis of time the parts of all calls are joined; the
first one that differs is named.

Tests: tests/tools/analysis/test_chunk_invariance.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tvm

from tvmq.graph.operators import OPERATORS
from tvmq.graph.operators.record import NORMALIZATION, POOL, REDUCTION, SOFTMAX
from tvmq.graph.view import View, op_name, sizes_of, used_vars
from tvmq.numerics.deviation import unequal_bits
from tvmq.reference import Reference
from tvmq.state.session_state import SessionState
from tvmq.tools.analysis.chunks import Feed, TimeAxis, time_axis
from tvmq.tools.analysis.invariance_layers import UNKNOWN

ALL_STEPS = "it sums over all steps of a call: hand what it has to the next call, or keep one size of calls"
REMEDIES = {
    "tvmq.dynamic_scale": "the steps of a call share a scale: calibrate the model with sequences, or keep the layer "
    "float",
    SOFTMAX: "steps behind a step have weight: mask them, by a lower number as -10000",
    **dict.fromkeys((REDUCTION, POOL, NORMALIZATION), ALL_STEPS),
}
OTHERS = "it reads steps that the call before had: hand them on as a state"


def first_chunk_difference(
    mod: tvm.IRModule, time: TimeAxis, state: SessionState, calls: Sequence[Feed], parts: Sequence[Feed]
) -> str:
    """Sentence about the first layer whose value differs between two ways to cut the same steps.

    state  before the first call of either
    """
    reference = Reference(mod)
    view = reference.view  # of dynamic sizes; a run fixes them
    one, other = (_watch(reference, view, time, state.copy(), way) for way in (calls, parts))
    for name in one:
        if name not in other:
            continue
        axis = _time_axis(view, name, time)
        a, b = (parts[name][0] if axis is None else np.concatenate(parts[name], axis=axis) for parts in (one, other))
        if a.shape == b.shape and unequal_bits(a, b).any():
            return _describe(view, name)
    return UNKNOWN


def _watch(
    reference: Reference, view: View, time: TimeAxis, state: SessionState, calls: Sequence[Feed]
) -> dict[str, list[np.ndarray]]:
    values: dict[str, list[np.ndarray]] = {}

    def watch(name: str, value: Any) -> None:
        has_time = _time_axis(view, name, time) is not None
        if isinstance(value, np.ndarray) and (has_time or _sums_over_time(view, name, time)):
            values.setdefault(name, []).append(value)

    for call in calls:
        reference.run(call, state, watch=watch)
    return values


def _sums_over_time(view: View, name: str, time: TimeAxis) -> bool:
    """True for a result without time of a layer that reads steps: of the first call, if not of all, it is the same."""
    value = view.value.get(name)
    is_sum = op_name(value) in OPERATORS and OPERATORS[op_name(value)].kind in (REDUCTION, POOL, NORMALIZATION)
    return is_sum and _time_axis(view, used_vars(value)[0], time) is not None


def _time_axis(view: View, name: str, time: TimeAxis) -> int | None:
    """The axis of time of a variable that has no rows of an appended state beside it."""
    try:
        sizes = sizes_of(view.var[name])
    except (AttributeError, TypeError, KeyError):  # a tuple
        return None
    if any(isinstance(size, str) and size not in (time.name, time.states.batch) for size in sizes):
        return None
    return time_axis(sizes, time.name)


def _describe(view: View, name: str) -> str:
    value = view.value[name]
    op, layer = op_name(value) or "tuple", ", ".join(view.sources(name)) or name
    kind = OPERATORS[op].kind if op in OPERATORS else ""
    return f"the first layer that differs is {op} '{layer}': {REMEDIES.get(op) or REMEDIES.get(kind) or OTHERS}"
