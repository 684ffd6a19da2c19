"""Constant weights and biases as integers, with the proof that no sum leaves int32.

Tests: tests/passes/test_realize.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.errors import RangeError, StageError
from tvmq.graph.operators import OPERATORS
from tvmq.graph.operators.conversions import is_calibrated, spec_of
from tvmq.graph.operators.record import TRANSPOSED
from tvmq.graph.view import const_value, op_name
from tvmq.numerics.codes import INT32_MAX
from tvmq.numerics.spec import QParams, QuantSpec
from tvmq.passes.families.absorb import group_names
from tvmq.passes.families.base import Codes, Group, Realizer, encode_constant

LARGEST_BIAS = 2.0**62  # of a float that may be taken for an integer; what int32 holds is proved below


def weight_axis(call: relax.Call) -> int:
    """Axis of a constant weight along which each output channel has its own scale.

    A transposed convolution keeps its output channels on axis 1, or on axis 0 where each input channel has its own.
    """
    record, weight = OPERATORS[op_name(call)], [int(d) for d in call.args[1].ty.shape]
    assert record.weight_axis is not None, record.name
    if record.kind == TRANSPOSED and weight[1] == 1 and int(call.attrs.groups) == weight[0]:
        return 0
    return record.weight_axis % len(weight)


def simulated_quantize_of(realizer: Realizer, group: Group, position: int) -> relax.Call:
    """The simulated_quantize call behind argument `position` of the group's root."""
    call = realizer.view.producer(realizer.view.value[group.root].args[position])
    if call is None or op_name(call) != "tvmq.simulated_quantize" or not is_calibrated(call):
        raise StageError(f"realize, {group.family} '{group.root}': argument {position} carries no calibrated scale")
    return call


def qparams_of(call: relax.Call) -> QParams:
    """Scale and zero point of a calibrated simulated_quantize."""
    axis = call.attrs.axis if call.attrs.axis >= 0 else None
    return QParams(
        const_value(call.args[1]), const_value(call.args[2]), spec_of(call.attrs), axis, str(call.attrs.tensor)[:]
    )


def weight_codes(realizer: Realizer, group: Group) -> tuple[np.ndarray, np.ndarray]:
    """Integer weight and its scale, one entry an output channel or a single one."""
    call = simulated_quantize_of(realizer, group, 1)
    qparams = qparams_of(call)
    bits = qparams.spec.bits
    if bits <= numerics.PACKED_BITS:
        realizer.note(group, weight_bits=bits)
    return encode_constant(const_value(call.args[0]), qparams), np.atleast_1d(qparams.scale)


def float_bias(realizer: Realizer, group: Group, channels: int) -> np.ndarray:
    """The float bias of a group, zeros if it has none."""
    if not group.facts.bias:
        return np.zeros(channels, np.float64)
    bias = const_value(realizer.view.value[group.members[1]].args[1]).astype(np.float64)
    return np.broadcast_to(bias.reshape(-1), (channels,)).copy()


def _facts(weight: np.ndarray, scale: np.ndarray) -> dict[str, object]:
    """Shape and type of an integer weight, number of its scales, the lowest and the highest of them."""
    low, high = float(scale.min()), float(scale.max())
    return {
        "shape": list(weight.shape),
        "dtype": str(weight.dtype),
        "scales": scale.size,
        "scale": [low, high],
    }


def integer_bias(
    realizer: Realizer, group: Group, weight: np.ndarray, scale: np.ndarray, x: Codes, axis: int = 0
) -> np.ndarray:
    """round(bias / (s_x * s_w)) - z_x * sum(w) as int32, after the proof that every partial sum fits int32."""
    channels = weight.shape[axis]
    rest = tuple(a for a in range(weight.ndim) if a != axis)
    bias = np.rint(float_bias(realizer, group, channels) / (np.float64(x.scale) * scale.astype(np.float64)))
    if group.facts.bias_codes is not None:  # float32 does not hold all int32
        bias = np.asarray(group.facts.bias_codes, np.float64)
    where = ", ".join(group_names(realizer.view, group))
    spec = x.qparams.spec
    sums = weight.astype(np.int64).sum(axis=rest)
    bad = ~(np.abs(bias) < LARGEST_BIAS)
    if bad.any():
        channel = int(np.argmax(bad))
        steps = f"{np.ravel(bias)[channel]:g} steps of its sums"
        raise RangeError(
            f"realize, layer '{where}': the bias of channel {channel} is {steps}, int32 ends at {INT32_MAX}; "
            f"larger scales of the input or the weight make it fit"
        )
    total = _shrink_biases(bias - x.zero_point * sums, weight, spec, axis)
    bounds = numerics.check_accumulator(where, weight, spec.qmin, spec.qmax, total, filter_axis=axis)
    realizer.note(group, weight=_facts(weight, scale), accumulator=int(bounds.max(initial=0)))
    return total.astype(np.int32)


def _shrink_biases(total: np.ndarray, weight: np.ndarray, spec: QuantSpec, axis: int) -> np.ndarray:
    """Biases made smaller by what a largest sum would leave int32, where that is at most 1 / 1024 of them.

    Quantizers choose scales with which a bias just fits int32; a bias of 255 steps moves by less than 1/4 step.
    """
    bounds = numerics.accumulator_bound(weight, spec.qmin, spec.qmax, total, filter_axis=axis)
    excess = np.maximum(bounds - INT32_MAX, 0)
    return np.where(1024 * excess <= np.abs(total), total - np.sign(total) * excess, total)
