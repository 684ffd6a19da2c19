"""Layers whose integer sums cannot be proved to fit int32: they stay float where the backend has floats.

What weights alone decide is known before the calibration, and such a layer is no integer layer at all. A bias that
brings a sum to its end is known with the ranges only: `realize` refuses it then.
"""

from __future__ import annotations

from tvmq import numerics
from tvmq.backends.description import Backend
from tvmq.config import QConfig
from tvmq.errors import AccumulatorError
from tvmq.graph.view import View, const_value, is_const, sizes_of
from tvmq.numerics.codes import INT32_MAX
from tvmq.passes.families.base import Group, group_names
from tvmq.passes.families.weight_scales import constant_qparams, power_of_two
from tvmq.passes.families.weights import weight_axis
from tvmq.rules import Decision


def may_stay_float(config: QConfig, backend: Backend) -> bool:
    """True if a layer without a proof becomes float; else it is an AccumulatorError.

    A core that is to be integers has no floats, and of narrow accumulators whoever describes them wants to know.
    """
    return backend.floats and backend.accumulator_bits >= 32 and config.partition_conversions != "fully_integral"


def why_unproved(view: View, group: Group, decision: Decision, config: QConfig) -> str | None:
    """Why the sums of a layer with a constant weight leave int32 whatever it reads; None if they need not."""
    weight = view.value[group.root].args[1]
    x, spec = decision.activations or config.activation_spec, decision.weights or config.weight_spec
    if not is_const(weight) or x.dtype == "int16":  # in 16 bits `realize` knows who reads them
        return None
    axis, shape = weight_axis(view.value[group.root]), sizes_of(weight)
    depth = const_value(weight).size // max(int(shape[axis]), 1)
    if depth * spec.qmax * max(x.qmax, -x.qmin) <= INT32_MAX:
        return None
    name, channel = ", ".join(group_names(view, group)), axis if spec.per_channel else None
    observer = decision.rule.weight_observer if decision.rule else None
    qparams = constant_qparams(const_value(weight), spec, channel, config, name, observer)
    qparams = power_of_two(qparams) if config.requantize == "power_of_two" else qparams
    codes = numerics.quantize(
        const_value(weight), qparams.scale, qparams.zero_point,
        axis=channel, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax,
    )  # fmt: skip
    try:
        numerics.check_accumulator(name, codes, x.qmin, x.qmax, filter_axis=axis, stage="partition")
    except AccumulatorError as error:
        return f"limit: {error.fact}"
    return None
