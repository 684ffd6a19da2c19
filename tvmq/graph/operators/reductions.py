"""Operators that make one value of many: reductions, pools, norms, softmax, scans, and what sorts.

Tests: tests/graph
"""

from __future__ import annotations

from tvmq.graph.operators.record import HIGH, LOW, NORMALIZATION, ORDER, POOL, REDUCTION, SCAN, SOFTMAX, Record

REDUCTIONS = (
    *(Record(name, REDUCTION, batch="reduces") for name in ("mean", "variance", "std")),
    *(Record(name, REDUCTION, batch="reduces", integer=True) for name in ("sum", "prod")),
    Record("max", ORDER, batch="reduces", commutes_with_quantize=True, integer=True, finite_at=(LOW,)),
    Record("min", ORDER, batch="reduces", commutes_with_quantize=True, integer=True, finite_at=(HIGH,)),
    *(Record(name, ORDER, batch="along", integer=True) for name in ("argmax", "argmin")),
    *(Record(name, ORDER, batch="along") for name in ("sort", "argsort", "topk")),
    *(Record(name, ORDER) for name in ("median", "nonzero", "unique", "vision.non_max_suppression")),
    Record("cumsum", SCAN, batch="along", integer=True),
    Record("cumprod", SCAN, batch="along"),
)
POOLS = (
    *(
        Record(f"nn.max_pool{axes}d", POOL, batch="first", commutes_with_quantize=True, integer=True, homogeneous=True)
        for axes in (1, 2, 3)
    ),
    *(
        Record(f"nn.{kind}_pool{axes}d", POOL, batch="first", homogeneous=True)
        for kind in ("avg", "adaptive_avg")
        for axes in (1, 2, 3)
    ),
)
NORMALIZATIONS = (
    *(Record(name, NORMALIZATION, batch="normalizes") for name in ("nn.layer_norm", "nn.rms_norm")),
    *(Record(name, NORMALIZATION) for name in ("nn.batch_norm", "nn.group_norm", "nn.instance_norm")),
    Record("nn.softmax", SOFTMAX, batch="along", bounded_by_one=True, finite_at=(LOW,)),
    Record("nn.log_softmax", SOFTMAX, batch="along", propagates_infinity=(0,)),
)
REDUCING = (*REDUCTIONS, *POOLS, *NORMALIZATIONS)
