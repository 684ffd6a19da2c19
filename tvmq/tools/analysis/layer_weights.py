"""Weights of a layer as real numbers, whether a module stores them as floats, rounded floats, or integers.

Tests: tests/tools/analysis/test_compare.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.graph.operators import where
from tvmq.graph.operators.conversions import is_calibrated, spec_of
from tvmq.graph.operators.record import CONVOLUTION, PRODUCT, TRANSPOSED
from tvmq.graph.view import View, const_value, is_const, op_name
from tvmq.passes.families.weights import weight_axis

WEIGHTED = where(kind=(CONVOLUTION, TRANSPOSED)) | where(kind=PRODUCT, is_own=False)


@dataclass(frozen=True, eq=False)
class Weight:
    """Constant operand: real values, and the scale of its codes, which broadcasts to them; None for floats."""

    values: np.ndarray
    step: np.ndarray | None


class LayerWeights:
    """All weights of a module by name in the source model.

    layers   entries of the ledger, which have the scales of activations: integer layers store only products of scales
    """

    def __init__(self, view: View, layers: Mapping[str, Mapping[str, Any]]) -> None:
        self._view = view
        self._entry = {name: entry for entry in layers.values() for name in entry.get("layers", ())}
        self._calls: dict[str, list[str]] = {}
        for var, value in view.bindings:
            if op_name(value) in WEIGHTED:
                for name in view.sources(var.name):
                    self._calls.setdefault(name, []).append(var.name)

    def of(self, names: Iterable[str]) -> list[Weight]:
        """Weights of the layers of these names, in order."""
        calls = dict.fromkeys(call for name in names for call in self._calls.get(name, ()))
        return [weight for call in calls for weight in self._operands(call)]

    def _operands(self, name: str) -> Iterator[Weight]:
        call = self._view.value[name]
        for position, arg in enumerate(call.args[:2]):
            weight = self._operand(name, call, position, arg)
            if weight is not None:
                yield weight

    def _operand(self, name: str, call: relax.Call, position: int, arg: relax.Expr) -> Weight | None:
        producer = self._view.producer(arg)
        if isinstance(producer, relax.Call) and producer.args and is_const(producer.args[0]):
            return _rounded_weight(producer)
        if not is_const(arg):
            return None
        values = const_value(arg)
        if values.dtype.kind == "f":
            return Weight(values, None)
        step = self._derive_scales(name, call, position, values)
        return None if step is None else Weight(values * step, step)

    def _derive_scales(self, name: str, call: relax.Call, position: int, codes: np.ndarray) -> np.ndarray | None:
        """Scales of an integer weight: those of its sums divided by that of the activation.

        If the scale of the activation is computed at run time, that of the sums is the one of the weight.
        """
        entry = self._entry.get(self._view.sources(name)[0], {})
        inputs, output = entry.get("input"), entry.get("output")
        reader = self._view.only_reader(name)
        while reader is not None and op_name(self._view.value[reader]) in ("add", "reshape"):
            reader = self._view.only_reader(reader)
        if reader is None:
            return None
        sums = self._view.value[reader]
        if op_name(sums) == "tvmq.dynamic_dequantize" and is_const(sums.args[2]):
            whole = const_value(sums.args[2]).reshape(-1)
            return _broadcast(_weight_scale(call, whole), codes.shape, _axis(call, position))
        if not inputs or not isinstance(inputs[0], Mapping):
            return None
        scale = _scale_of_sums(sums, output)
        if scale is None:
            return None
        return _broadcast(_weight_scale(call, scale / inputs[0]["scale"]), codes.shape, _axis(call, position))


def _rounded_weight(producer: relax.Call) -> Weight | None:
    """Weight from a constant that is rounded in the module."""
    name = op_name(producer)
    if name not in ("tvmq.simulated_quantize", "tvmq.dequantize"):
        return None
    values, scale, zero = (const_value(arg) for arg in producer.args[:3])
    axis = int(producer.attrs.axis) if int(producer.attrs.axis) >= 0 else None
    if name == "tvmq.simulated_quantize":
        if not is_calibrated(producer):
            return Weight(values, None)
        spec = spec_of(producer.attrs)
        values = numerics.quantize(values, scale, zero, axis=axis, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax)
    step = _broadcast(np.atleast_1d(scale), values.shape, axis)
    return None if step is None else Weight(numerics.dequantize(values, scale, zero, axis=axis), step)


def _scale_of_sums(call: relax.Call, output: Any) -> np.ndarray | None:
    """Scale of the sums that a call reads."""
    if op_name(call) == "tvmq.dequantize":
        return np.atleast_1d(const_value(call.args[1]).astype(np.float64))
    if op_name(call) != "tvmq.requantize" or not isinstance(output, Mapping):
        return None
    constants = (np.atleast_1d(const_value(arg)) for arg in call.args[1:3])
    factor = numerics.real_factor(*constants, mode=str(call.attrs.mode))
    return factor * output["scale"]


def _weight_scale(call: relax.Call, scale: np.ndarray) -> np.ndarray:
    """Scales of a weight from those of output channels: groups of a transposed convolution share them."""
    shape = [int(d) for d in call.args[1].ty.shape]
    if op_name(call) not in where(kind=TRANSPOSED) or weight_axis(call) == 0 or scale.size == 1:
        return scale
    return scale[: shape[1]]


def _axis(call: relax.Call, position: int) -> int | None:
    """Axis of the output channels of a weight."""
    if op_name(call) == "matmul":
        return -1 if position == 1 else -2
    if op_name(call) == "tvmq.conv_transpose":
        return weight_axis(call)
    layout = str(call.attrs.kernel_layout)
    return layout.index("O") if "O" in layout else None


def _broadcast(scale: np.ndarray, shape: tuple[int, ...], axis: int | None) -> np.ndarray | None:
    """Scales in a shape that broadcasts to a weight; None if there is none."""
    if scale.size == 1:
        return scale.reshape((1,) * len(shape))
    if axis is None or shape[axis] != scale.size:
        return None
    form = [1] * len(shape)
    form[axis] = scale.size
    return scale.reshape(form)
