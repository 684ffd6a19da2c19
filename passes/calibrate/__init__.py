"""Put the chosen scales into all simulated_quantize operators.

Before                                            After
    x_sq = simulated_quantize(x, 0, 0)                x_sq = simulated_quantize(x, 0.0123, 114)
    w_sq = simulated_quantize(w, 0, 0)                w_sq = simulated_quantize(w, [0.004, ...], [0, ...])

Needs     an annotated module (unify_scales before it, or concats pay rescaling) and the thresholds of its tensors:
          {source variable: (low, high)}, from passes/calibrate/thresholds.py or a saved CalibrationResult. A range
          under the tensor name of a weight takes the place of the weight observer's.
Leaves    nothing uncalibrated.
Numerics  scale and zero point by tvmq.numerics.spec.choose_qparams; tensors of one name share the union
          of their ranges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import tvm
from tvm import relax

from tvmq.calibration.observers.result import Ranges
from tvmq.errors import CalibrationError
from tvmq.graph import ops
from tvmq.graph.ledger import Ledger, require_stage, with_ledger
from tvmq.graph.operators.conversions import spec_of
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import View, op_name
from tvmq.numerics.spec import QParams, choose_qparams
from tvmq.options.config import QConfig, recorded_options
from tvmq.passes.calibrate.collect import Watch, watched_tensors
from tvmq.passes.families.base import Group
from tvmq.passes.families.weight_scales import power_of_two, raise_for_bias, weight_qparams, weights_of
from tvmq.passes.partition import integer_groups

Range = tuple[float, float]
# A part of a concat keeps a scale of its own if the common one would cost it more than 0.5 dB.
LARGEST_LOSS = 10 ** (0.5 / 20)


def calibrate(mod: tvm.IRModule, ranges: Mapping[str, Range]) -> tvm.IRModule:
    """Put scales into all simulated_quantize operators; raises CalibrationError for a tensor without thresholds.

    ranges  {tensor: (low, high)}; those of `CalibrationResult.ranges` leave the fingerprint of their data in the ledger
    """
    ledger = require_stage(mod, "calibrate", ("annotated",))
    view = View(mod)
    config = recorded_options(ledger.config)
    qparams = activation_qparams(watched_tensors(view), ranges, ledger)
    if config.requantize == "power_of_two":
        qparams = {name: power_of_two(q) for name, q in qparams.items()}
    qparams |= _weights(view, ledger, qparams, config, ranges)

    def visit(_rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        return _with_scale(value, qparams[var.name]) if op_name(value) == "tvmq.simulated_quantize" else None

    result = rewrite(mod, visit)
    ledger.stage, ledger.data_hash = "calibrated", ranges.data_hash if isinstance(ranges, Ranges) else ""
    return with_ledger(result, ledger)


def activation_qparams(watched: list[Watch], ranges: Mapping[str, Range], ledger: Ledger) -> dict[str, QParams]:
    """{simulated_quantize variable: its scale}."""
    missing = [w.key for w in watched if w.key not in ranges]
    if missing:
        raise CalibrationError(
            f"calibrate: {len(missing)} of {len(watched)} thresholds are missing, first '{missing[0]}'; "
            "calibrate this model anew"
        )
    joint: dict[str, Range] = {}
    for w in watched:
        joint[w.tensor] = _union([ranges[w.key], joint.get(w.tensor, ranges[w.key])])
    _join_shared(watched, ranges, joint, ledger)
    return {w.name: choose_qparams(*joint[w.tensor], w.spec) for w in watched}


def _join_shared(watched: list[Watch], ranges: Mapping[str, Range], joint: dict[str, Range], ledger: Ledger) -> None:
    """Parts of a concat that others read as well: join the common scale unless that costs them too much."""
    concats = [group for group in integer_groups(ledger.layers) if group.facts.scale is not None]
    scale = {w.source: w.tensor for w in watched if not w.is_int16} | {g.output: g.facts.scale for g in concats}
    shared: dict[str, list[str]] = {}
    for group in concats:
        shared.setdefault(group.facts.scale, []).extend(scale[s] for s in group.facts.shared if s in scale)
    shared = {common: parts for common, parts in shared.items() if parts}
    for common, parts in shared.items():  # what a concat holds, inner ones first
        joint[common] = _union([joint[name] for name in (common, *parts) if name in joint])
    for common, parts in reversed(shared.items()):  # an outer concat may have widened an inner one meanwhile
        low, high = joint[common]
        for part in parts:
            width = joint[part][1] - joint[part][0]
            if high - low <= LARGEST_LOSS * width:
                joint[part] = _union([joint[part], (low, high)])


def _union(ranges: Sequence[Range]) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _weights(
    view: View, ledger: Ledger, activations: dict[str, QParams], config: QConfig, ranges: Mapping[str, Range]
) -> dict[str, QParams]:
    groups: dict[str, Group] = {group.root: group for group in integer_groups(ledger.layers) if group.strategy.anchor}
    chosen: dict[str, QParams] = {}
    for name, call in weights_of(view).items():
        root = view.readers[name][0]
        bounds = ranges.get(call.attrs.tensor)
        observer = ledger.layers[groups[root].output].get("observers", {}).get("weights")
        qparams = choose_qparams(*bounds, spec_of(call.attrs)) if bounds else weight_qparams(call, config, observer)
        x = _scale_of(view, view.value[root].args[0].name, activations)
        if x is not None:
            bits = ledger.layers[groups[root].output].get("bias_bits", 32)
            qparams, count = raise_for_bias(view, groups[root], qparams, x, bits)
            if count:
                ledger.layers[groups[root].output]["raised_weight_scales"] = count
        chosen[name] = power_of_two(qparams) if config.requantize == "power_of_two" else qparams
    return chosen


def _scale_of(view: View, name: str, activations: Mapping[str, QParams]) -> QParams | None:
    """Scale of an activation, back through operators that only move codes."""
    while name not in activations:
        value = view.value.get(name)
        if isinstance(value, relax.TupleGetItem):
            name = value.tuple_value.name
        elif isinstance(value, relax.Call) and value.args:
            arg = value.args[1 if op_name(value) == "where" else 0]
            name = (arg.fields[0] if isinstance(arg, relax.Tuple) else arg).name
        else:
            return None
    return activations[name]


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
