"""Codes of the states that a model hands to its next call, where integer layers read and write them.

What gives such a state would be dequantized from its sums, since nobody in the model reads its codes: it gets a scale,
which unify_scales makes that of the input.

Tests: tests/passes/test_state_codes.py
"""

from __future__ import annotations

from tvmq.graph.state_pairs import state_variables
from tvmq.graph.view import dtype_of, is_const
from tvmq.passes.families.base import Draft


def state_results(draft: Draft) -> None:
    """Give the result that is a state a scale, if integer layers read the state."""
    read = {name for group in draft.groups.values() for name in group.inputs}
    for _, param, result in state_variables(draft.view):
        group = None if is_const(result) else draft.groups.get(result.name)
        if group is None or group.passes or group.facts.stream or param.name not in read:
            continue
        if dtype_of(param) == "float32":
            group.facts.needs_output_codes = True
