"""Operators that make one value of many: reductions, pools, norms, softmax, scans, and what sorts."""

from __future__ import annotations

from tvmq.graph.operators.record import HIGH, LOW, NORMALIZATION, ORDER, POOL, REDUCTION, SCAN, SOFTMAX, Operator

REDUCTIONS = (
    *(Operator(name, REDUCTION, batch="reduces") for name in ("mean", "variance", "std")),
    *(Operator(name, REDUCTION, batch="reduces", integer=True) for name in ("sum", "prod")),
    Operator("max", ORDER, batch="reduces", on_codes=True, integer=True, finite_at=(LOW,)),
    Operator("min", ORDER, batch="reduces", on_codes=True, integer=True, finite_at=(HIGH,)),
    *(Operator(name, ORDER, batch="along", integer=True) for name in ("argmax", "argmin")),
    *(Operator(name, ORDER, batch="along") for name in ("sort", "argsort", "topk")),
    *(Operator(name, ORDER) for name in ("median", "nonzero", "unique", "vision.non_max_suppression")),
    Operator("cumsum", SCAN, batch="along", integer=True),
    Operator("cumprod", SCAN, batch="along"),
)
POOLS = (
    *(
        Operator(f"nn.max_pool{axes}d", POOL, batch="first", on_codes=True, integer=True, homogeneous=True)
        for axes in (1, 2, 3)
    ),
    *(
        Operator(f"nn.{kind}_pool{axes}d", POOL, batch="first", homogeneous=True)
        for kind in ("avg", "adaptive_avg")
        for axes in (1, 2, 3)
    ),
)
NORMALIZATIONS = (
    *(Operator(name, NORMALIZATION, batch="normalizes") for name in ("nn.layer_norm", "nn.rms_norm")),
    *(Operator(name, NORMALIZATION) for name in ("nn.batch_norm", "nn.group_norm", "nn.instance_norm")),
    Operator("nn.softmax", SOFTMAX, batch="along", unit=True, finite_at=(LOW,)),
    Operator("nn.log_softmax", SOFTMAX, batch="along", hands_on=(0,)),
)
REDUCING = (*REDUCTIONS, *POOLS, *NORMALIZATIONS)
