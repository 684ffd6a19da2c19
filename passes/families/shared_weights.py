"""Weights that several layers use: which layers these are.

The float weights are equal bytes with equal scales, read by the same operator with the same number of groups, so that
codes mean the same for all of them. Where the constant stands in the module does not matter: exporters copy weights,
and transposes that were folded make others of them.

Tests: tests/passes/families/test_reduce_range.py
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from tvmq.graph.operators.conversions import spec_of
from tvmq.graph.view import View, const_value, op_name


def layers_by_weight(view: View, roots: Iterable[str]) -> list[list[str]]:
    """The convolutions and products that use the same weight with the same scale, in their order."""
    by_weight: dict[Any, list[str]] = {}
    for root in roots:
        call = view.value[root]
        simulated = view.value[call.args[1].name]
        groups = 1 if op_name(call) == "matmul" else int(call.attrs.groups)
        constants = [const_value(arg) for arg in simulated.args]
        facts = [(array.shape, str(array.dtype), sha256(array.tobytes()).digest()) for array in constants]
        key = op_name(call), groups, spec_of(simulated.attrs), int(simulated.attrs.axis), *facts
        by_weight.setdefault(key, []).append(root)
    return list(by_weight.values())
