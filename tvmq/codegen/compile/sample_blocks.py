"""Blocks of samples: models of a free batch whose dense layers take most of the time compute several samples in a call.

One call reads each weight once, where samples one by one read it once each. A picture has many rows for each weight,
so a convolution gains nothing. The choice follows from the module alone, and so does the file.

Gains     one core of an Emerald Rapids, 32 samples: 5 times as fast for dense layers 784-512-512-10, 10 times for a
          table model with embeddings, 2 times for an LSTM (benchmarks/batches.py); networks of pictures stay sample by
          sample: most of what fixed code for a batch gains there is the time between two calls
Bits      those of samples one by one: sums of integers have no order, and a model with a float operator that has no
          definition has no blocks
Memory    of SIZES[0] samples at most, whatever the batch
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import tvm
from tvm import relax

from tvmq.graph.analysis.float_region_costs import multiply_accumulates
from tvmq.graph.ledger import get_ledger
from tvmq.graph.operators import where
from tvmq.graph.operators.record import RECURRENT
from tvmq.graph.symbolic import dynamic_dimensions, with_sizes
from tvmq.graph.view import View, is_const, op_name, shape_of
from tvmq.reference.float_regions import FloatRegions
from tvmq.runtime.inputs import describe_refusal

SIZES = (32, 8, 2)
FEW_ROWS = 4  # of a sample for each weight: more fill the registers without other samples
# A weight that is read for a few rows takes as long as so many multiply-accumulates of a layer of many rows
WEIGHT_COST = 8


def block_sizes(plain: tvm.IRModule, batch: str | None, limits: Mapping[str, Mapping[str, Any]]) -> tuple[int, ...]:
    """Numbers of samples, largest first, that the module is to have code for; none where samples run one by one.

    plain   the module in one function, its weights unpacked
    batch   its dynamic dimension of separate samples; None if there is none
    limits  {dynamic dimension: {"least", "most", "why", "multiple"}}
    """
    if batch is None or get_ledger(plain).stage != "realized":
        return ()
    one = with_sizes(plain, {batch: 1})
    if dynamic_dimensions(one) or not _is_bound_by_weights(View(one)) or FloatRegions(View(plain), None).names:
        return ()
    return tuple(size for size in SIZES if not describe_refusal(limits.get(batch), size))


def _is_bound_by_weights(view: View) -> bool:
    """True if a sample spends most of its time in layers that use each weight for a few rows."""
    few = many = 0
    for _, value in view.bindings:
        macs = multiply_accumulates(value)
        if macs and _rows(value, macs) <= FEW_ROWS:
            few += macs
        else:
            many += macs
    return WEIGHT_COST * few > many


def _rows(call: relax.Call, macs: int) -> float:
    """Rows that each weight is multiplied with at once; a recurrent layer has one in every step."""
    if op_name(call) in where(kind=RECURRENT):
        return 1
    weights = max((math.prod(map(int, shape_of(arg))) for arg in call.args if is_const(arg)), default=0)
    return macs / weights if weights else math.inf
