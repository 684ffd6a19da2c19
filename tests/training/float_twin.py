"""The float model of a network in torch, whose gradients the network's gradients are compared with."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import torch
import tvm
from tvm import relax

from tvmq.graph.view import View, const_value, is_const
from tvmq.passes.calibrate.observed_model import drop_uncalibrated
from tvmq.passes.realize.define_floats import define_floats
from tvmq.reference.float_regions import FloatRegions
from tvmq.training.forms import Place, form_of, holds_activations
from tvmq.training.meaning import Arrays
from tvmq.training.network import IntegerNetwork


class FloatTwin:
    """Constants are leaves; `parameters` has them by (variable, argument)."""

    def __init__(self, annotated: tvm.IRModule) -> None:
        self.view = View(define_floats(drop_uncalibrated(annotated)))
        self.islands = FloatRegions(self.view, "llvm")
        self.parameters: dict[tuple[str, int], torch.Tensor] = {}
        for var, value in self.view.bindings:
            for position, arg in enumerate(getattr(value, "args", ())):
                if is_const(arg) and const_value(arg).dtype == "float32":
                    leaf = torch.tensor(const_value(arg)).requires_grad_()
                    self.parameters[var.name, position] = leaf

    def memoize(self, _key: Hashable, make: Callable[[], Any]) -> Any:
        return make()

    def __call__(self, *inputs: torch.Tensor) -> Any:
        values: dict[str, Any] = dict(zip(self.view.params, inputs, strict=True))
        for var, value in self.view.bindings:
            values[var.name] = self._execute(var.name, value, values)
        return self._read(self.view.func.body.body, values, None)

    def _execute(self, name: str, value: relax.Expr, values: dict[str, Any]) -> Any:
        if not isinstance(value, relax.Call):
            return self._read(value, values, None)
        if name in self.islands.names and not holds_activations(value):
            return torch.from_numpy(np.array(self.islands.run(name, Arrays(values))))
        form = form_of(value)
        assert form is not None, value.op
        net: Any = self
        args = [self._read(arg, values, self.parameters.get((name, i))) for i, arg in enumerate(value.args)]
        return form(Place(name, value, net, values), *args)

    def _read(self, expr: relax.Expr, values: dict[str, Any], leaf: torch.Tensor | None) -> Any:
        if leaf is not None:
            return leaf
        if isinstance(expr, relax.Var):
            return values[expr.name]
        if isinstance(expr, relax.Tuple):
            return [self._read(item, values, None) for item in expr.fields]
        if isinstance(expr, relax.TupleGetItem):
            return self._read(expr.tuple_value, values, None)[expr.index]
        return const_value(expr) if is_const(expr) else getattr(expr, "value", expr)

    def pairs(self, net: IntegerNetwork) -> dict[str, tuple[torch.nn.Parameter, torch.Tensor]]:
        """{layer: parameter of the network, weight of the float model}."""
        layers = net.source.calibrated_layers
        return {
            known.layer: (net._layers[root].folding.source_weight(), self.parameters[root, 1])
            for root, known in layers.items()
            if (root, 1) in self.parameters
        }
