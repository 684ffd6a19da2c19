"""Which groups of a model with scales of its own can be integers: those whose scales are all there.

inputs   each is rounded by the model (a simulated_quantize), or moves codes that are
weight   the model gives its codes, with one scale or one for each output channel
result   read as codes of one scale only, or as floats only

Tests: tests/formats/onnx/exporter/test_dialects.py
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping

import numpy as np

from tvmq import numerics
from tvmq.graph.view import View, const_value, op_name
from tvmq.graph.walk import resolve_each
from tvmq.numerics.codes import INT32_MAX
from tvmq.numerics.spec import QParams
from tvmq.passes.families.base import Group
from tvmq.passes.families.weights import qparams_of, weight_axis
from tvmq.passes.partition.dropping import Dropping


def drop_without_scales(
    weights: Mapping[str, QParams], view: View, groups: dict[str, Group], reasons: dict[str, str]
) -> None:
    """Remove groups (in place) until all that are left have their scales; `reasons` says why."""
    dropping, scales = Dropping(view, groups, reasons), Scales(view, groups)
    waiting = list(groups)
    while waiting:
        lacking = {key: _missing_quantization(weights, view, groups[key], scales) for key in waiting}
        waiting = dropping.remove({key: f"the model: {reason}" for key, reason in lacking.items() if reason})
        scales.forget((*lacking, *waiting))


def _missing_quantization(weights: Mapping[str, QParams], view: View, group: Group, scales: Scales) -> str | None:
    """Quantization that the model lacks for a group; None if all is there."""
    if group.strategy.holds_codes and not _roundings(view, group.output):
        return "its table is not quantized"
    input_scales = [scales.scale_of(name) for name in group.inputs]
    known = [scale for scale in input_scales if scale is not None]
    if len(known) < len(input_scales):
        return f"'{group.inputs[input_scales.index(None)]}', which it reads, is not quantized"
    return _weight(weights, view, group) or _int16_obstacle(weights, view, group, known) or _result(view, group, scales)


def _int16_obstacle(weights: Mapping[str, QParams], view: View, group: Group, known: list[QParams]) -> str | None:
    """Why a group cannot compute on codes of 16 bits; None if it can, or has none."""
    int16_specs = [scale.spec for scale in known if scale.spec.dtype == "int16"]
    if not int16_specs or group.passes:
        return None
    if not (group.strategy.reads_int16 or group.family == "select"):
        return f"{group.family} reads codes of 8 bits, not of 16"
    if not group.strategy.has_weight(group):
        return None
    call, weight = view.value[group.root], weights[group.root]
    codes = numerics.quantize(
        const_value(call.args[1]), weight.scale, weight.zero_point, axis=weight.axis, dtype="int8"
    )
    axis = weight_axis(call)
    bias = _bias(view, group, known[0], weight, codes.shape[axis])
    bounds = numerics.accumulator_bound(codes, int16_specs[0].qmin, int16_specs[0].qmax, bias, filter_axis=axis)
    return f"its sums of codes of {int16_specs[0].bits} bits can leave int32" if (bounds > INT32_MAX).any() else None


def _bias(view: View, group: Group, x: QParams, weight: QParams, channels: int) -> np.ndarray:
    """Bias in steps of the sums."""
    if not group.facts.bias:
        return np.zeros(channels)
    bias = const_value(view.value[group.members[1]].args[1]).astype(np.float64).reshape(-1)
    return np.broadcast_to(np.rint(bias / (np.float64(x.scale) * weight.scale.astype(np.float64))), (channels,))


def _weight(weights: Mapping[str, QParams], view: View, group: Group) -> str | None:
    if not group.strategy.has_weight(group):
        return None
    known = weights.get(group.root)
    if known is None:
        return "its weight is not quantized, or its codes minus the zero point leave int8"
    if known.axis not in (None, weight_axis(view.value[group.root])):
        return f"its weight has scales along axis {known.axis}, not along the output channels"
    return None


def _result(view: View, group: Group, known: Scales) -> str | None:
    scales = _roundings(view, group.output)
    others = [r for r in view.readers[group.output] if op_name(view.value[r]) != "tvmq.simulated_quantize"]
    plain = bool(others) or view.is_output(group.output)
    if group.facts.needs_output_codes and not scales:
        return "its result is not quantized"
    if group.joins:
        if not scales and known.scale_of(group.output) is None:
            return "its parts have different scales and its result is not quantized"
    elif group.passes:
        own = known.scale_of(group.inputs[0])
        if plain and any(scale != own for scale in scales):
            return "its result is read with and without another rounding"
        return "its result has several scales" if len(scales) > 1 else None
    if len(scales) > 1:
        return "its result has several scales"
    return "its result is read with and without rounding" if scales and plain else None


def _roundings(view: View, name: str) -> list[QParams]:
    """The different scales to which a tensor is rounded."""
    roundings: list[QParams] = []
    for reader in view.readers[name]:
        if op_name(view.value[reader]) == "tvmq.simulated_quantize":
            qparams = qparams_of(view.value[reader])
            roundings += [] if qparams in roundings else [qparams]
    return roundings


class Scales:
    """Scales of the codes of tensors, as long as the groups are these.

    groups   {output: group}; of one that is removed, and of those behind it, what was known is to be forgotten
    """

    def __init__(self, view: View, groups: Mapping[str, Group]) -> None:
        self._view, self._groups = view, groups
        self._known: dict[str, QParams | None] = {}

    def scale_of(self, name: str) -> QParams | None:
        """Scale of the codes of a tensor; None if it has none."""
        return resolve_each(name, self._derive_scale, self._known)

    def forget(self, names: Iterable[str]) -> None:
        """Forget what is known of these tensors."""
        for name in names:
            self._known.pop(name, None)

    def _derive_scale(self, name: str) -> Generator[str, QParams | None, QParams | None]:
        value = self._view.value.get(name)
        if op_name(value) == "tvmq.simulated_quantize":
            return qparams_of(value)
        group = self._groups.get(name)
        if group is None or not group.passes:
            return None
        scales: list[QParams | None] = []
        for source in group.inputs:
            scales.append((yield source))
        if group.joins:
            own: list[QParams | None] = [*_roundings(self._view, name)[:1]]
            scales = own or scales
        return scales[0] if all(scale == scales[0] for scale in scales) else None
