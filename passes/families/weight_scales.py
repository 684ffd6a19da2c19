"""Scales of constant weights, raised where the integer bias would not fit int32.

Weights of 7 bits where the option reduce_range asks for them: in every layer whose products are summed in lanes.

A CPU without VNNI multiplies bytes by an instruction that saturates 16 bits (vpmaddubsw). With weights in -63..63 two
products of any uint8 codes fit, four nearly always, and the kernels prove which (kernels/conv/int16_accumulation).
Depthwise convolutions do not use that instruction: they keep all bits, and so do layers with a rule for their weights.

Tests: tests/passes/families/test_reduce_range.py
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tvm import relax

from tvmq.calibration.observers import check_range, make_weight_observer
from tvmq.graph.operators.conversions import spec_of
from tvmq.graph.view import View, const_value, op_name
from tvmq.numerics.spec import SMALLEST_NORMAL, QParams, QuantSpec, choose_qparams
from tvmq.options.config import QConfig
from tvmq.options.rules import Decision
from tvmq.passes.families.base import Family, Group

# Half of int32: the other half is left to the sum of products.
LARGEST_BIAS = 2.0**30
# Of narrower biases, which are no sums: what correct_bias moves them by finds room in the rest.
ROOM = 15 / 16
# Integer bias of a channel without weights, whose scale is free: fine steps that float32 still holds exactly.
LONE_BIAS = 2.0**24


def weight_qparams(call: relax.Call, config: QConfig, observer: str | None = None) -> QParams:
    """Scale of the constant behind a simulated_quantize; observer: that of a rule."""
    axis = call.attrs.axis if call.attrs.axis >= 0 else None
    return constant_qparams(const_value(call.args[0]), spec_of(call.attrs), axis, config, call.attrs.tensor, observer)


def constant_qparams(
    array: np.ndarray, spec: QuantSpec, axis: int | None, config: QConfig, name: str, observer: str | None = None
) -> QParams:
    """Scale of a constant by the observer given, else that of the configuration.

    raises  RangeError with the name for NaN and infinity
    """
    chooser = make_weight_observer(observer or config.weight_scale)
    low, high = check_range(chooser, chooser.thresholds(array, spec, axis, name))
    return choose_qparams(low, high, spec, axis)


def power_of_two(qparams: QParams) -> QParams:
    """The scale raised to the next power of two, for requantizing by shifts alone."""
    scale = np.exp2(np.ceil(np.log2(qparams.scale.astype(np.float64)))).astype(np.float32)
    ratio = qparams.scale.astype(np.float64) / scale
    zero = np.clip(np.rint(qparams.zero_point * ratio), qparams.spec.qmin, qparams.spec.qmax).astype(np.int32)
    return QParams(scale, zero, qparams.spec, qparams.axis)


def raise_for_bias(view: View, group: Group, weight: QParams, x: QParams, bits: int = 32) -> tuple[QParams, int]:
    """The weight scale with channels raised until their bias fits so many bits, and how many were raised."""
    if not group.facts.bias:
        return weight, 0
    bias = np.abs(const_value(view.value[group.members[1]].args[1]).astype(np.float64).reshape(-1))
    if weight.axis is None:
        bias = bias.max()
    elif 1 < bias.size != weight.scale.size:  # the groups of a transposed convolution share their scales
        bias = bias.reshape(-1, weight.scale.size).max(axis=0)
    scale = _scales_of_empty_channels(view, group, weight, bias / (float(x.scale) * LONE_BIAS))
    largest = LARGEST_BIAS if bits == 32 else 2.0 ** (bits - 1) * ROOM
    needed = np.broadcast_to(bias / (float(x.scale) * largest), scale.shape)
    low = scale < needed
    raised = np.where(low, needed, scale).astype(np.float32)
    return QParams(raised, weight.zero_point, weight.spec, weight.axis), int(np.sum(low))


def _scales_of_empty_channels(view: View, group: Group, weight: QParams, wanted: np.ndarray) -> np.ndarray:
    """The scales in float64; channels without weights and with a bias get the wanted one instead of 1."""
    simulated = view.value[view.value[group.root].args[1].name]
    array = const_value(simulated.args[0])
    rest = tuple(axis for axis in range(array.ndim) if axis != weight.axis)
    lone = ~array.any(axis=rest) & (wanted > SMALLEST_NORMAL)
    return np.where(lone, wanted, weight.scale.astype(np.float64))


def weights_of(view: View) -> dict[str, relax.Call]:
    """{variable: call} of all simulated_quantize operators of weights: the constants that need a range.

    view  of a module at the stage "annotated"

    >>> from tvm import relax
    >>> from tvmq.passes.annotate import annotate
    >>> from tvmq.passes.partition import partition
    >>> from tvmq.passes.prepare import prepare
    >>> x, builder = relax.Var("x", relax.TensorType((1, 2), "float32")), relax.BlockBuilder()
    >>> with builder.function("main", [x]):
    ...     y = builder.emit(relax.op.matmul(x, relax.const(np.eye(2, dtype=np.float32))), "y")
    ...     _ = builder.emit_func_output(y)
    >>> view = View(annotate(partition(prepare(builder.get()))))
    >>> [call.attrs.kind for call in weights_of(view).values()]
    ['weight']
    """
    return {
        var.name: value
        for var, value in view.bindings
        if op_name(value) == "tvmq.simulated_quantize" and value.attrs.kind == "weight"
    }


BITS = 7


def reduce_weight_bits(decision: Decision, family: Family, weight: tuple[int | str, ...], config: QConfig) -> Decision:
    """The decision about a layer, with weights of fewer bits if that helps.

    family  that of the layer
    weight  shape of its weight, [filters, channels / groups, ...] of a convolution
    """
    spec = config.weight_spec
    if not config.reduce_range or decision.is_float or decision.weights or not family.sums_in_lanes(weight):
        return decision
    if spec.dtype != "int8" or spec.bits <= BITS:
        return decision
    return replace(decision, weights=reduce_spec(spec))


def reduce_spec(spec: QuantSpec) -> QuantSpec:
    """Spec of the same codes with 7 bits.

    >>> reduce_spec(QuantSpec("int8", symmetric=True)).qmin
    -63
    """
    return replace(spec, bits=BITS)
