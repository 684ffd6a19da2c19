"""Codes at the ends of a network: of backends whose operators give no int32 sums.

A layer of which floats are read is dequantized from its sums, which is finer than from codes. An operator that writes
codes alone, as the entries of a backend say ("output" names no float type), has no such sums: its result gets a scale.
"""

from __future__ import annotations

from tvm import relax

from tvmq.backends.vocabulary import FLOAT_TYPES
from tvmq.graph.view import View, dtype_of
from tvmq.passes.families.base import Draft, Group
from tvmq.passes.partition.decide import entry_of


def code_results(draft: Draft) -> None:
    """Give the result of each layer that writes codes alone a scale, whoever reads it."""
    if draft.is_prequantized:
        return
    for group in draft.groups.values():
        entry = entry_of(draft, group)
        written = entry.output if entry is not None else ()
        if written and not set(written) & set(FLOAT_TYPES) and not group.passes and _is_float(draft.view, group):
            group.facts.needs_output_codes = True


def _is_float(view: View, group: Group) -> bool:
    """False for comparisons, and for operators of several results."""
    var = view.var[group.output]
    return isinstance(var.ty, relax.TensorType) and dtype_of(var) == "float32"
