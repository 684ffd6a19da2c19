"""Take over the scales of a model that is quantized already: no data, no calibration, its own codes.

Before                                                After
    x_d = dequantize(quantize(x, s, z), s, z)             x_sq = simulated_quantize(x, s, z)
    w_d = dequantize(int8 constant, s_w, 0)               w_sq = simulated_quantize(float weight, s_w, 0)
    c = conv2d(x_d, w_d)                                  c = conv2d(x_sq, w_sq)

Needs     a prepared module with quantize and dequantize operators (passes/import_qdq/pairs.py joins them).
Leaves    a calibrated module. Integers are the groups whose inputs, weights and results have scales in the model
          (passes/import_qdq/scales.py); all others compute in float between the model's own roundings.
Numerics  what the model says: weights keep their codes, and so does an int32 bias of scale s_x * s_w; any other bias
          becomes round(bias / (s_x * s_w)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import tvm
from tvm import relax

from tvmq.backends.description import Backend
from tvmq.graph import ops
from tvmq.graph.ledger import get_ledger, require_stage, with_ledger
from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVOLUTION, PRODUCT
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import View, dtype_of, op_name
from tvmq.numerics.code_type import CODES_16
from tvmq.numerics.spec import QParams
from tvmq.options.config import QConfig
from tvmq.passes.families.base import Group
from tvmq.passes.import_qdq.pairs import Pairs
from tvmq.passes.import_qdq.scales import Scales, drop_without_scales
from tvmq.passes.partition import integer_groups, partition

CONVERSIONS = ("tvmq.quantize", "tvmq.dequantize")
CODED_WEIGHTS = ("tvmq.group_dequantize", "tvmq.group_matmul")  # a front end leaves them as they are
SUMS = where(kind=(CONVOLUTION, PRODUCT), is_own=False)


def is_prequantized(mod: tvm.IRModule) -> bool:
    """True for a module that was imported with quantize or dequantize operators, sums of codes, or weights in codes."""
    own = (*CONVERSIONS, *CODED_WEIGHTS)
    return any(op_name(value) in own or _is_sum(value) for _, value in View(mod).bindings)


def _is_sum(value: relax.Expr) -> bool:
    """True for a convolution or product of 8-bit codes."""
    return op_name(value) in SUMS and dtype_of(value.args[0]) in CODES_16


def import_qdq(mod: tvm.IRModule, config: QConfig | None = None, backend: Backend | None = None) -> tvm.IRModule:
    """Take over the scales of a quantized model; rules of `config` may keep layers in float."""
    require_stage(mod, "import_qdq", ("prepared",))
    pairs = Pairs(mod)
    joined = pairs.run()
    weights = pairs.weights
    chosen = partition(joined, config, backend, drop=lambda *decisions: drop_without_scales(weights, *decisions))
    ledger = get_ledger(chosen)
    ledger.stage = "calibrated"
    ledger.notes.append("scales and zero points are those of the model; nothing was calibrated")
    for name, codes in _biases_beyond_float32(View(chosen), integer_groups(ledger.layers), pairs).items():
        ledger.layers[name]["facts"]["bias_codes"] = codes.tolist()
    roots = {group.root for group in integer_groups(ledger.layers) if group.strategy.anchor}
    result = _with_weights(chosen, {name: scale for name, scale in weights.items() if name in roots})
    return with_ledger(result, ledger)


def with_own_sums(mod: tvm.IRModule) -> tvm.IRModule:
    """A realized module whose ledger counts the sums of codes that the model brought (ConvInteger) as integers.

    So it does products of floats with weights that the model brought in codes, as `quantize_dynamic` does.
    """
    ledger, view = get_ledger(mod), View(mod)
    for name, entry in ledger.layers.items():
        value = view.value.get(name)
        if entry["precision"] != "float" or value is None:
            continue
        if _is_sum(value) or op_name(value) == "tvmq.group_matmul":
            entry |= {"precision": "int8", "why": "the model: codes and scales are made at run time"}
        elif op_name(value) in SUMS and op_name(view.value.get(getattr(value.args[1], "name", ""))) in CODED_WEIGHTS:
            entry |= {"precision": "int8", "why": "the model: weights in codes, float arithmetic"}
    return with_ledger(mod, ledger)


def _biases_beyond_float32(view: View, groups: Sequence[Group], pairs: Pairs) -> dict[str, np.ndarray]:
    """{result of a group: int32 codes} of the biases that float32 does not hold: those beyond 2^22."""
    scales = Scales(view, {group.output: group for group in groups})
    biases = {}
    for group in groups:
        bias = pairs.biases.get(group.members[1]) if group.facts.bias else None
        x = scales.scale_of(group.inputs[0]) if bias is not None else None
        if bias is None or x is None:
            continue
        unit = np.float64(x.scale) * pairs.weights[group.root].scale
        if unit.size not in (1, bias.codes.size):
            continue
        same_scale = bias.scale.size in (1, unit.size) and np.array_equal(
            np.broadcast_to(bias.scale.reshape(-1), np.atleast_1d(unit).shape), np.atleast_1d(unit).astype(np.float32)
        )
        rounded = np.rint(bias.codes.astype(np.float32) * bias.scale / unit)
        if same_scale and not np.array_equal(rounded, bias.codes):
            biases[group.output] = bias.codes
    return biases


def _with_weights(mod: tvm.IRModule, weights: Mapping[str, QParams]) -> tvm.IRModule:
    """The module with these variables' weights behind a simulated_quantize."""

    def visit(rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        if var.name not in weights:
            return None
        qparams = weights[var.name]
        data, weight, *rest = value.args
        call = ops.simulated_quantize(
            weight,
            relax.const(qparams.scale),
            relax.const(qparams.zero_point),
            kind="weight",
            tensor=f"{var.name}_weight",
            dtype=qparams.spec.dtype,
            axis=-1 if qparams.axis is None else qparams.axis,
        )
        rounded = rewriter.emit(call, f"{var.name}_weight_sq")
        return relax.Call(value.op, [data, rounded, *rest], value.attrs, value.ty_args, value.span)

    return rewrite(mod, visit)
