"""Choose the scales of all simulated_quantize operators from data.

Before                                            After
    x_sq = simulated_quantize(x, nan, 0)              x_sq = simulated_quantize(x, 0.0123, 114)
    w_sq = simulated_quantize(w, nan, 0)              w_sq = simulated_quantize(w, [0.004, ...], [0, ...])

Needs     an annotated module (unify_scales before it, or concats pay rescaling); data unless calibrate_mode is global_scale.
Leaves    nothing uncalibrated.
Numerics  thresholds as tvmq.observers define them; scale and zero point by tvmq.spec.choose_qparams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import tvm
from tvm import relax

from tvmq.config import QConfig
from tvmq.errors import CalibrationError
from tvmq.graph import ops
from tvmq.graph.ledger import Ledger, require_stage, with_ledger
from tvmq.graph.ops.simulated_quantize import spec_of
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import View, const_value, op_name
from tvmq.observers.range_statistics import RangeStatistics
from tvmq.passes.taps import tap
from tvmq.spec import QParams, QuantSpec, choose_qparams

Feed = Mapping[str, np.ndarray]
# Compiles a float module and returns a function that runs it: {input: array} -> results in order.
Evaluator = Callable[[tvm.IRModule], Callable[[Feed], Sequence[np.ndarray]]]


@dataclass(frozen=True)
class Watched:
    """One simulated_quantize of an activation: its variable, the tensor it reads, the name of its statistics, its spec."""

    name: str
    source: str
    tensor: str
    spec: QuantSpec


def watched(view: View) -> list[Watched]:
    """All simulated_quantize operators of activations, in order."""
    found = []
    for var, value in view.bindings:
        if op_name(value) == "tvmq.simulated_quantize" and value.attrs.kind != "weight":
            found.append(Watched(var.name, value.args[0].name, value.attrs.tensor, spec_of(value.attrs)))
    return found


def calibrate(mod: tvm.IRModule, data: Iterable[Feed] | None, evaluator: Evaluator) -> tvm.IRModule:
    """See the head of this file."""
    ledger = require_stage(mod, "calibrate", ("annotated",))
    view = View(mod)
    found = watched(view)
    statistics = gather_ranges(mod, view, found, data, evaluator)
    qparams = {}
    for w in found:
        s = statistics[w.source]
        qparams[w.name] = choose_qparams(s.low, s.high, w.spec)
    return with_qparams(mod, ledger, qparams)


def gather_ranges(
    mod: tvm.IRModule, view: View, found: Sequence[Watched], data: Iterable[Feed] | None, evaluator: Evaluator
) -> dict[str, RangeStatistics]:
    """Range statistics of every watched tensor, by source variable."""
    sources = list(dict.fromkeys(w.source for w in found))
    run = evaluator(tap(mod, sources))
    statistics = {s: RangeStatistics(s, channel_axis=1 if len(view.var[s].ty.shape) > 1 else None) for s in sources}
    count = 0
    for feed in data or ():
        for source, value in zip(sources, run(feed), strict=True):
            statistics[source].update(np.asarray(value))
        count += 1
    if count == 0:
        raise CalibrationError(
            f"calibrate: {len(sources)} tensors need thresholds, the calibration data gave 0 batches; "
            "give a data set, or use qconfig(calibrate_mode='global_scale')"
        )
    return statistics


def with_qparams(mod: tvm.IRModule, ledger: Ledger, qparams: Mapping[str, QParams]) -> tvm.IRModule:
    """The module with scales and zero points in place; weights get theirs from their values."""
    config = QConfig.from_dict({**ledger.config, "rules": []})

    def visit(_rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        if op_name(value) != "tvmq.simulated_quantize":
            return None
        chosen = weight_qparams(value, config) if value.attrs.kind == "weight" else qparams[var.name]
        return _with_scale(value, chosen)

    result = rewrite(mod, visit)
    ledger.stage = "calibrated"
    return with_ledger(result, ledger)


def weight_qparams(call: relax.Call, config: QConfig) -> QParams:
    """Scale of a constant weight."""
    weight, axis = const_value(call.args[0]), call.attrs.axis
    rest = tuple(a for a in range(weight.ndim) if a != axis)
    largest = np.abs(weight).max(axis=rest if axis >= 0 else None)
    return choose_qparams(-largest, largest, spec_of(call.attrs), axis if axis >= 0 else None)


def _with_scale(call: relax.Call, qparams: QParams) -> relax.Call:
    attrs = call.attrs
    return ops.simulated_quantize(
        call.args[0],
        relax.const(qparams.scale),
        relax.const(qparams.zero_point),
        kind=attrs.kind,
        tensor=attrs.tensor,
        dtype=attrs.dtype,
        bits=attrs.bits,
        symmetric=attrs.symmetric,
        axis=attrs.axis,
    )
