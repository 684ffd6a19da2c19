"""Which layer makes a sample's result depend on its surroundings, and what mends it.

The definition runs the sample alone and in the other surroundings. Of each variable what belongs to the sample is
compared; where the batch or the positions are not found among its sizes, the variable is passed over.

Tests: tests/tools/analysis/test_invariance.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm

from tvmq.graph.operators import OPERATORS
from tvmq.graph.operators.record import (
    CONVOLUTION,
    NORMALIZATION,
    POOL,
    RECURRENT,
    REDUCTION,
    SCAN,
    SOFTMAX,
    TRANSPOSED,
)
from tvmq.graph.view import View, op_name, sizes_of
from tvmq.numerics.deviation import unequal_bits
from tvmq.reference import Reference
from tvmq.tools.analysis.arrangements import Arrangement, Sizes

NEIGHBOURS = "it reads neighbours, masked ones too: multiply what it reads by the mask"
REMEDIES = {
    "tvmq.dynamic_scale": "samples or positions share a scale: calibrate the model with data, or keep the layer float",
    REDUCTION: "it also counts masked positions: multiply what it reads by the mask",
    SOFTMAX: "masked positions have weight: add a lower number, as -10000, to their scores",
    NORMALIZATION: "its mean and variance also count others: normalize each position by itself",
    SCAN: NEIGHBOURS, POOL: NEIGHBOURS, CONVOLUTION: NEIGHBOURS, TRANSPOSED: NEIGHBOURS, RECURRENT: NEIGHBOURS,
}  # fmt: skip
UNKNOWN = "the definition gives the same both ways, so compiled code differs from it: run `tvmq verify` and report it"


def first_difference(mod: tvm.IRModule, alone: Arrangement, other: Arrangement, row: int) -> str:
    """Sentence about the first layer whose value for a sample differs.

    alone  the sample in row 0
    other  the sample in the given row
    """
    reference = Reference(mod)
    view = reference.view  # of dynamic sizes; a run fixes them
    shapes = {name: _sizes(var) for name, var in view.var.items()}
    values = _watch(reference, alone)
    for name, value in _watch(reference, other).items():
        sizes = shapes.get(name)
        if sizes is None or name not in values:
            continue
        own, others = _part(alone, values[name], sizes, 0), _part(other, value, sizes, row)
        if own is not None and others is not None and unequal_bits(own, others).any():
            return _describe(view, name)
    return UNKNOWN


def _watch(reference: Reference, arrangement: Arrangement) -> dict[str, np.ndarray]:
    values: dict[str, np.ndarray] = {}

    def watch(name: str, value: Any) -> None:
        if isinstance(value, np.ndarray):
            values[name] = value

    reference.run(arrangement.feed, watch=watch)
    return values


def _part(arrangement: Arrangement, array: np.ndarray, sizes: Sizes, row: int) -> np.ndarray | None:
    """The part that belongs to the row; None where that is not known."""
    if arrangement.batch is None:
        return array
    rows = len(next(iter(arrangement.feed.values())))
    if sizes[:1] and sizes[0] != arrangement.batch and isinstance(sizes[0], str):
        if len(array) % rows:
            return None
        array, sizes = array.reshape(rows, -1, *array.shape[1:]), (arrangement.batch, 0, *sizes[1:])
    if any(isinstance(size, str) and size not in (arrangement.batch, arrangement.length) for size in sizes):
        return None
    return arrangement.part(array, sizes, row)


def _sizes(var: Any) -> Sizes | None:
    try:
        return sizes_of(var)
    except (AttributeError, TypeError):  # a tuple
        return None


def _describe(view: View, name: str) -> str:
    value = view.value[name]
    op, layer = op_name(value) or "tuple", ", ".join(view.sources(name)) or name
    kind = OPERATORS[op].kind if op in OPERATORS else ""
    remedy = REMEDIES.get(op) or REMEDIES.get(kind) or "it mixes samples or positions; keep the mask in its product"
    return f"the first layer that differs is {op} '{layer}': {remedy}"
