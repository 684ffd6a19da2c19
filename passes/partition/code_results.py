"""Codes at the ends of a network: of backends whose operators give no int32 sums.

A layer of which floats are read is dequantized from its sums, which is finer than from codes; a device that only ever
writes codes has no such sums, so the result of every layer gets a scale of its own.
"""

from __future__ import annotations

from tvmq.graph.view import View, dtype_of
from tvmq.passes.families.base import Draft, Group


def code_results(draft: Draft) -> None:
    """Give each layer that computes floats codes for its result, whoever reads it."""
    if draft.brings_scales or draft.backend.name != "tflite":
        return
    for group in draft.groups.values():
        if not group.passes and _is_float(draft.view, group):
            group.facts.needs_output_codes = True


def _is_float(view: View, group: Group) -> bool:
    """True unless it compares, or gives several tensors."""
    ty = view.var[group.output].ty
    return hasattr(ty, "dtype") and dtype_of(view.var[group.output]) == "float32"
