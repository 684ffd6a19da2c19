"""The road step by step, for tests of single passes: thresholds are given by hand, no data is run."""

from __future__ import annotations

import tvm

from tests.support.models.networks import at_stage
from tvmq.backends.description import Backend
from tvmq.graph.view import View
from tvmq.options.config import QConfig
from tvmq.passes.annotate import annotate
from tvmq.passes.calibrate import calibrate
from tvmq.passes.calibrate.collect import watched_tensors
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.pack_weights import pack_weights
from tvmq.passes.partition import partition
from tvmq.passes.partition_conversions import partition_conversions
from tvmq.passes.prepare import prepare
from tvmq.passes.realize import realize
from tvmq.passes.unify_scales import unify_scales

Ranges = dict[str, tuple[float, float]]


def partitioned(mod: tvm.IRModule, backend: Backend | None = None, **options: object) -> tvm.IRModule:
    """Partitioned module, unchanged, with the decisions."""
    return partition(at_stage(mod, "prepared"), QConfig(**options), backend)


def annotated(mod: tvm.IRModule, **options: object) -> tvm.IRModule:
    """Uncalibrated simulated_quantize in place."""
    return annotate(partitioned(mod, **options))


def calibrated(mod: tvm.IRModule, ranges: Ranges | None = None, **options: object) -> tvm.IRModule:
    """Scales from `ranges`; tensors that it does not name get -1..2."""
    unified = unify_scales(annotated(mod, **options))
    known = {w.source: (-1.0, 2.0) for w in watched_tensors(View(unified))}
    return calibrate(unified, {**known, **(ranges or {})})


def realized(mod: tvm.IRModule, ranges: Ranges | None = None, **options: object) -> tvm.IRModule:
    """The integer module."""
    return pack_weights(fold_constants(realize(calibrated(mod, ranges, **options))))


def every_stage(mod: tvm.IRModule, params: dict | None = None, **options: object) -> dict[str, tvm.IRModule]:
    """{stage: module} of an imported module."""
    stages = {"imported": mod, "prepare": prepare(mod, params)}
    stages["partition"] = partition(stages["prepare"], QConfig(**options))
    stages["annotate"] = annotate(stages["partition"])
    stages["unify_scales"] = unify_scales(stages["annotate"])
    ranges = {w.source: (-1.0, 2.0) for w in watched_tensors(View(stages["unify_scales"]))}
    stages["calibrate"] = calibrate(stages["unify_scales"], ranges)
    stages["realize"] = realize(stages["calibrate"])
    stages["fold_constants"] = fold_constants(stages["realize"])
    stages["pack_weights"] = pack_weights(stages["fold_constants"])
    stages["partition_conversions"] = partition_conversions(stages["pack_weights"])
    return stages
