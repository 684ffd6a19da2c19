"""Round weights up or down as the calibration data ask for it, not each to its nearest code.

Before                                            After
    w_sq = simulated_quantize(w, s, 0)                w_sq = simulated_quantize(codes * s, s, 0)
    c = conv2d(x_sq, w_sq)                            c = conv2d(x_sq, w_sq)
    b = add(c, bias)                                  b = add(c, bias + sum((w - w_sq) * mean(x)))

Needs     a calibrated module and what its layers read (passes/calibrate/second_moments.py).
Leaves    layers without moments; layers without a bias get one where the mean error is corrected.
Shared    a weight that several layers use is rounded once, by what all of them read, and stays one constant: the same
          operator, equal bytes of the weight and of its scale. Each bias is corrected by what its own layer reads.
Known as  GPTQ (OPTQ).
Numerics  tvmq.numerics.rounding: sequential rounding with error feedback, float64 in a fixed order on exact integer
          sums. Codes times their scale are rounded back to the same codes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq import numerics
from tvmq.calibration.observers.rounding import Rounding
from tvmq.errors import CalibrationError
from tvmq.graph.ledger import require_stage, with_ledger
from tvmq.graph.operators.conversions import spec_of
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import View, const_value, op_name
from tvmq.numerics.moments import Moments, blocks, joint_matrices
from tvmq.numerics.rounding import round_weights as round_blocks
from tvmq.numerics.spec import QuantSpec
from tvmq.passes.correct_bias import shift_biases
from tvmq.passes.families.shared_weights import layers_by_weight


def choose_rounding(
    mod: tvm.IRModule,
    moments: Mapping[str, Moments],
    *,
    bias: bool = True,
    rounded: Callable[..., np.ndarray] = round_blocks,
) -> dict[str, Rounding]:
    """{root: rounding} of the layers of a calibrated module whose moments are known.

    bias     a bias takes the mean error, so that weights need to care for the rest only
    rounded  numerics.rounding.round_weights, or compiled code of equal bits
    """
    view = View(mod)
    by_root: dict[str, Rounding] = {}
    for roots in layers_by_weight(view, moments):
        simulated = view.value[view.value[roots[0]].args[1].name]
        weight, scale = const_value(simulated.args[0]), const_value(simulated.args[1]).astype(np.float64)
        uses = [moments[root] for root in roots]
        calls, spec = [view.value[root] for root in roots], spec_of(simulated.attrs)
        roundings = round_shared(calls[0], weight, scale, spec, uses, bias=bias, rounded=rounded)
        by_root |= dict(zip(roots, roundings, strict=True))
    return {root: by_root[root] for root in moments}


def round_weights(mod: tvm.IRModule, roundings: Mapping[str, Rounding]) -> tvm.IRModule:
    """Round weights up or down as the roundings of a calibration say."""
    ledger = require_stage(mod, "round_weights", ("calibrated",))
    view = View(mod)
    for root in roundings:
        if root not in view.value or len(getattr(view.value[root], "args", ())) < 2:
            raise CalibrationError(f"round_weights: the calibration rounds '{root}', no layer of this; calibrate again")
    weights = {view.value[root].args[1].name: rounding for root, rounding in roundings.items()}
    known: dict[Any, relax.Expr] = {}  # weights of several layers

    def visit(_rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        return _with_codes(value, weights[var.name].codes, known) if var.name in weights else None

    for entry in ledger.layers.values():
        if entry.get("root") in roundings:
            entry["weight_rounding"] = "calibrated"
    rounded = with_ledger(rewrite(mod, visit), ledger)
    shifts = {root: rounding.shift for root, rounding in roundings.items() if rounding.shift is not None}
    return shift_biases(rounded, shifts)


def _with_codes(call: relax.Call, codes: np.ndarray, known: dict[Any, relax.Expr]) -> relax.Call:
    """The simulated_quantize of a weight, reading what its codes mean."""
    scale, zero = const_value(call.args[1]), const_value(call.args[2])
    axis = call.attrs.axis if call.attrs.axis >= 0 else None
    key = sha256(codes.tobytes()).digest(), codes.shape, axis, scale.tobytes(), zero.tobytes()
    if key not in known:
        known[key] = relax.const(numerics.dequantize(codes, scale, zero, axis=axis))
    return relax.Call(call.op, [known[key], *call.args[1:]], call.attrs, call.ty_args, call.span)


def round_shared(
    call: relax.Call,
    weight: np.ndarray,
    scale: np.ndarray,
    spec: QuantSpec,
    uses: Sequence[Moments],
    *,
    bias: bool,
    rounded: Callable[..., np.ndarray],
) -> list[Rounding]:
    """The rounding of the weight of convolutions or products, one for each use, of the same codes.

    call   one of them
    scale  float64, of each filter or one of all
    uses   what each of them reads
    """
    product = op_name(call) == "matmul"
    filters_first = weight.T if product else weight
    scale = np.broadcast_to(scale.reshape(-1), (len(filters_first),))
    groups = 1 if product else int(call.attrs.groups)
    steps = filters_first.reshape(len(filters_first), -1) / scale[:, None]
    steps = steps.reshape(groups, len(filters_first) // groups, -1)
    parts = zip(blocks(steps), joint_matrices(uses, centred=bias), strict=True)
    codes = np.concatenate([rounded(w, m, qmin=spec.qmin, qmax=spec.qmax) for w, m in parts], axis=-1)
    back = codes.reshape(filters_first.shape)
    back = (back.T if product else back).astype(np.int8)
    error = steps - codes
    return [Rounding(back, _mean_error(error, use).reshape(-1) * scale * use.scale if bias else None) for use in uses]


def round_groups(
    weight: np.ndarray,
    scale: np.ndarray,
    limits: tuple[int, int],
    uses: Sequence[Moments],
    *,
    rounded: Callable[..., np.ndarray],
) -> np.ndarray | None:
    """Codes int8 [depth, columns] of a weight in groups along the depth; errors of one group are made up for in the
    others.

    scale    float64 [groups, columns], of any sign
    limits   lowest and highest code
    uses     what each layer reads that has this weight
    returns  None where the moments are in blocks that part a group
    """
    size, parts, begin = len(weight) // len(scale), [], 0
    for matrix in joint_matrices(uses, centred=False):
        end = begin + matrix.shape[-1]
        if end % size:
            return None
        rows = weight[begin:end].astype(np.float64)
        steps = np.repeat(scale[begin // size : end // size], size, axis=0)
        parts.append(rounded(rows.T[None], matrix[:1], qmin=limits[0], qmax=limits[1], steps=steps.T[None])[0].T)
        begin = end
    return np.ascontiguousarray(np.concatenate(parts)).astype(np.int8)


def _mean_error(error: np.ndarray, moments: Moments) -> np.ndarray:
    """Mean of what an error of the weight (groups, filters, taps) adds to the sums, in steps; summed tap by tap."""
    means = moments.means()
    total = np.zeros(error.shape[:2])
    for tap in range(error.shape[2]):
        total += error[:, :, tap] * means[:, tap, None]
    return total
