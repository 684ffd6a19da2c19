"""Trainable parts of a calibrated module: weights, biases, and the scale of each tensor.

A calibrated module is the float network with a simulated_quantize at each tensor that becomes codes (passes/calibrate).
Its constants are the parameters; `realize` makes the integer module of them, before training and after it.

Tests: tests/training/test_records.py
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.ledger import get_ledger
from tvmq.graph.operators import OPERATORS
from tvmq.graph.operators.record import TRANSPOSED
from tvmq.graph.view import View, const_value, is_const, op_name
from tvmq.numerics.codes import along_axis
from tvmq.numerics.spec import QParams
from tvmq.passes.families.base import Group
from tvmq.passes.families.weights import qparams_of
from tvmq.passes.partition import integer_groups
from tvmq.passes.realize import code_tensors


@dataclass(frozen=True, eq=False)
class CalibratedLayer:
    """A layer whose root multiplies by a constant weight.

    layer    name of the source
    weight   simulated_quantize of the weight, a variable of the calibrated module
    bias     variable that adds the bias, None without one
    axis     of the output channels in the weight
    """

    layer: str
    group: Group
    weight: str
    bias: str | None
    axis: int | None


class CalibratedModule:
    """The constants of a calibrated module, by what they are for."""

    def __init__(self, calibrated: tvm.IRModule) -> None:
        self.module, self.view, self.ledger = calibrated, View(calibrated), get_ledger(calibrated)
        self.groups = {group.root: group for group in integer_groups(self.ledger.layers)}

    @cached_property
    def _codes(self) -> tuple[dict[str, str], list[tuple[str, str]]]:
        return code_tensors(self.module)

    @property
    def tensor_of(self) -> dict[str, str]:
        """{variable of codes in the integer module: tensor whose scale they have}."""
        return self._codes[0]

    @cached_property
    def first_of_equals(self) -> dict[str, str]:
        """{tensor: the first one whose scale is the same one, itself where it is alone}."""
        first = {tensor: tensor for tensor in self.scales}
        for a, b in self._codes[1]:
            kept, gone = first[a], first[b]
            for tensor in [t for t, f in first.items() if f == gone]:
                first[tensor] = kept
        return first

    @cached_property
    def scales(self) -> dict[str, QParams]:
        """{tensor: scale and zero point} of activations."""
        scales: dict[str, QParams] = {}
        for _, call in self.view.bindings:
            if op_name(call) == "tvmq.simulated_quantize" and call.attrs.kind != "weight":
                scales.setdefault(str(call.attrs.tensor)[:], qparams_of(call))
        return scales

    @cached_property
    def calibrated_layers(self) -> dict[str, CalibratedLayer]:
        """{root: layer with a constant weight}."""
        layers: dict[str, CalibratedLayer] = {}
        for root, group in self.groups.items():
            call = self.view.value[root]
            has_weight = isinstance(call, relax.Call) and len(call.args) > 1
            simulated = self.view.producer(call.args[1]) if has_weight else None
            if simulated is None or op_name(simulated) != "tvmq.simulated_quantize":
                continue
            if simulated.attrs.kind != "weight" or not is_const(simulated.args[0]):
                continue
            bias = group.members[1] if group.facts.bias and group.facts.bias_codes is None else None
            layer = self.view.sources(root)[0]
            layers[root] = CalibratedLayer(layer, group, call.args[1].name, bias, qparams_of(simulated).axis)
        return layers

    def weight(self, layer: CalibratedLayer) -> tuple[np.ndarray, QParams]:
        """The weight in floats, and its scale."""
        call = self.view.value[layer.weight]
        return const_value(call.args[0]), qparams_of(call)

    def channels(self, layer: CalibratedLayer) -> tuple[int, int | None]:
        """Axis of the output channels in the weight; of a transposed convolution that of its filters, and groups."""
        call = self.view.value[layer.group.root]
        record = OPERATORS[op_name(call)]
        if record.kind == TRANSPOSED:
            return 0, int(call.attrs.groups)
        rank = len(list(call.args[1].ty.shape))
        return (record.weight_axis or 0) % rank, None

    def output_axis(self, layer: CalibratedLayer, rank: int) -> int:
        """Axis of the weight that belongs to the output channels."""
        return (OPERATORS[op_name(self.view.value[layer.group.root])].weight_axis or 0) % rank

    def bias(self, layer: CalibratedLayer) -> np.ndarray | None:
        """The bias in floats, as the module has it; None without one."""
        return None if layer.bias is None else const_value(self.view.value[layer.bias].args[1])


INSIDE = 0.2  # of a step: how near to the border of its code a weight may begin


def with_float_weights(rounded: tvm.IRModule, nearest: tvm.IRModule) -> tvm.IRModule:
    """The module with weights as the float model has them, each drawn to where it rounds to the same code as before.

    rounded  calibrated, its weights rounded as the data ask for it: codes times scale
    nearest  the same before that
    """
    source, floats = CalibratedModule(rounded), View(nearest)
    constants: dict[tuple[str, int], np.ndarray] = {}
    for layer in source.calibrated_layers.values():
        weight, qparams = source.weight(layer)
        call = floats.value.get(layer.weight)
        if call is None or const_value(call.args[0]).shape != weight.shape:
            continue
        scale = along_axis(qparams.scale, qparams.axis, weight.shape)
        steps = np.rint(weight / scale)
        drawn = np.clip(const_value(call.args[0]) / scale, steps - INSIDE, steps + INSIDE) * scale
        low, high = qparams.spec.qmin, qparams.spec.qmax
        drawn = np.where(np.clip(np.rint(drawn / scale), low, high) == np.clip(steps, low, high), drawn, weight)
        constants[layer.weight, 0] = drawn.astype(np.float32)
    return with_constants(rounded, constants)


def with_constants(calibrated: tvm.IRModule, constants: dict[tuple[str, int], np.ndarray]) -> tvm.IRModule:
    """The module with other constants: {(variable, argument): array of the same shape}."""
    from tvmq.graph.rewrite import Rewriter, rewrite

    def visit(_rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        places = [place for name, place in constants if name == var.name]
        if not places:
            return None
        args = list(value.args)
        for place in places:
            args[place] = relax.const(constants[var.name, place])
        return relax.Call(value.op, args, value.attrs, value.ty_args, value.span)

    return rewrite(calibrated, visit)
