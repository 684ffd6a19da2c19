"""The integer module as a torch module: forward the deployed integers, backward straight through the roundings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
import tvm
from torch import nn
from tvm import relax

from tvmq import numerics
from tvmq.errors import UnsupportedOpError
from tvmq.graph.functions import unpack_weights
from tvmq.graph.ledger import get_ledger
from tvmq.graph.names import input_names
from tvmq.graph.symbolic import sizes_in, with_sizes
from tvmq.graph.view import View, const_value, is_const, op_name
from tvmq.passes.families.table import numbers, plain_values
from tvmq.passes.realize import code_bounds
from tvmq.stages import INTEGERS, Choices, run_stages
from tvmq.training.batch_norm import LiveFolding
from tvmq.training.build import Builder, Learning
from tvmq.training.float_source import FloatSource
from tvmq.training.forms import Place, form_of
from tvmq.training.meaning import Codes
from tvmq.training.parameters import LearnedScale, WeightedLayer
from tvmq.training.source import Source


class IntegerNetwork(nn.Module):
    """A calibrated module that computes in torch what its integer module computes, and learns.

    calibrated  with float weights, and a scale at each tensor that becomes codes
    choices     options that `realize` is told
    annotated   the float network with the places of its scales
    """

    def __init__(
        self, calibrated: tvm.IRModule, choices: Choices, annotated: tvm.IRModule, learning: Learning | None = None
    ) -> None:
        super().__init__()
        self.annotated = annotated
        self.source, self.choices = Source(calibrated), choices
        self.integers = unpack_weights(run_stages(calibrated, INTEGERS, choices))
        self._programs: dict[tuple[int, ...], View] = {}
        self._inputs = list(input_names(self.integers["main"]).items())
        self.tensor_of = dict(self.source.tensor_of)
        self._kept: dict[str, Any] = {}
        self._groups = {group.output: group for group in self.source.groups.values()}
        builder = Builder(self, self.source, learning or Learning())
        self._layers = builder.layers()
        self._scales = builder.scales(View(self.integers))
        self._handles, self.not_in_source = builder.handles, tuple(builder.own)
        self.float_source: FloatSource | None = None

    def operators_without_gradient(self) -> dict[str, str]:
        """{variable: operator} of what has no form."""
        calls = [(var.name, value) for var, value in View(self.integers).bindings if isinstance(value, relax.Call)]
        return {name: op_name(call) for name, call in calls if form_of(call) is None}

    # ---- what forms ask

    def scale_of(self, name: str) -> LearnedScale:
        """The scale of the codes that a variable of the integer module holds."""
        return self._scales[self.tensor_of[name]]

    def layer_of(self, name: str) -> WeightedLayer:
        """The weight that a variable of the integer module is a product with."""
        root = name.removesuffix("_product")
        return self._layers[name if name in self._layers else root]

    def factor_of(self, name: str) -> float:
        """What the model multiplies a product by."""
        group = self.source.groups.get(name.removesuffix("_product"))
        return float(getattr(group.facts, "factor", 1.0)) if group is not None else 1.0

    def divisor_of(self, name: str) -> float:
        """How many values are in the average whose sums a variable holds."""
        group = self.source.groups[name.removesuffix("_sum")]
        counts = group.strategy.average_counts(self.source.view, group)
        return 1.0 if counts is None else float(np.ravel(counts)[0])

    def code_bounds(self, name: str, call: relax.Call) -> tuple[int, int]:
        """Lowest and highest code of a result, of a clip for the scale of the moment."""
        group = self._groups.get(name)
        if group is None or not group.facts.is_bounded:
            return int(call.attrs.qmin), int(call.attrs.qmax)
        return code_bounds(self.scale_of(name).qparams, group.facts.low, group.facts.high)

    def table_values(self, place: Place, x: Codes, scale: LearnedScale | None, values: np.ndarray) -> np.ndarray:
        """The 256 entries of a table for the scales of the moment; as they were where the function is not known."""
        if str(place.call.attrs.function) == "rescale" and scale is not None:
            return numerics.rescale_table(x.qparams, scale.qparams)
        group = self._groups.get(place.name)
        function = None if group is None else group.strategy.function(self.source.view, group)
        if function is None:
            return values
        if scale is None:
            return plain_values(function, x.qparams, str(values.dtype))
        return numerics.make_table(lambda real: numbers(function(real)), x.qparams, scale.qparams)

    def bounds_of(self, name: str, x: Codes, codes: np.ndarray) -> np.ndarray:
        """The codes that bound each channel behind a layer, for the scale of the moment."""
        call = self.source.view.value.get(name.removesuffix("_bounded"))
        if call is None or not is_const(call.args[1]):
            return codes
        spec, bound = x.spec, const_value(call.args[1])
        scale = x.scale.detach().numpy()
        return numerics.quantize(bound, scale, x.zero_point, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax)

    def original(self, name: str) -> tuple[View, Any]:
        """The calibrated module, and the group whose result a variable is."""
        return self.source.view, self._groups[name]

    def remember(self, name: str, value: Any) -> None:
        """Keep what the binding behind this one needs."""
        self._kept[name] = value

    def remembered(self, name: str) -> Any:
        """What `remember` kept."""
        return self._kept[name]

    # ---- running

    def forward(self, *inputs: torch.Tensor) -> Any:
        """The outputs of the integer module for these inputs, in the model's order."""
        return self.values_of(inputs)

    def values_of(self, inputs: Sequence[torch.Tensor], watched: dict[str, Any] | None = None) -> Any:
        """As `forward`; every variable's value stands in `watched` then."""
        feed = {name: value.detach().numpy() for (_, name), value in zip(self._inputs, inputs, strict=True)}
        view = self._program(feed)
        values: dict[str, Any] = dict(zip([param for param, _ in self._inputs], inputs, strict=True))
        for var, value in view.bindings:
            values[var.name] = self._execute(var.name, value, values)
        self._kept.clear()
        if self.training:
            for norm in self.batch_norms():
                norm.follow()
        if watched is not None:
            watched.update(values)
        return _read(view.func.body.body, values)

    def _program(self, feed: Mapping[str, np.ndarray]) -> View:
        sizes = sizes_in(self.integers, feed)
        key = tuple(sizes.values())
        if key not in self._programs:
            self._programs[key] = View(with_sizes(self.integers, sizes))
        return self._programs[key]

    def _execute(self, name: str, value: relax.Expr, values: dict[str, Any]) -> Any:
        if not isinstance(value, relax.Call):
            return _read(value, values)
        form = form_of(value)
        if form is None:
            raise UnsupportedOpError(f"training, layer '{name}': operator {op_name(value)} has no gradient here")
        return form(Place(name, value, self), *(_read(arg, values) for arg in value.args))

    # ---- training

    def layers_and_inputs(self) -> list[tuple[WeightedLayer, LearnedScale | None]]:
        """Each layer with a weight, and the scale of the codes that it reads; None where that is not known."""
        view, found = View(self.integers), list[tuple[WeightedLayer, LearnedScale | None]]()
        for root, layer in self._layers.items():
            at = view.value.get(root, view.value.get(f"{root}_product"))
            while isinstance(at, relax.Call) and at.args and isinstance(at.args[0], relax.Var):
                name = at.args[0].name
                if name in self.tensor_of:
                    break
                at = view.value.get(name)
            known = isinstance(at, relax.Call) and at.args and isinstance(at.args[0], relax.Var)
            found.append((layer, self.scale_of(at.args[0].name) if known else None))
        return found

    def kept_state(self) -> dict[str, torch.Tensor]:
        """A copy of all parameters."""
        return {name: value.detach().clone() for name, value in self.state_dict().items()}

    def batch_norms(self) -> list[LiveFolding]:
        """Those whose statistics move, or moved until they were frozen."""
        return [layer.folding for layer in self._layers.values() if isinstance(layer.folding, LiveFolding)]

    def freeze_batch_norm(self) -> IntegerNetwork:
        """From now on statistics of batch norms stay; gamma and beta go on learning.

        returns  this network
        """
        for norm in self.batch_norms():
            norm.follows = False
        return self

    # ---- after training

    def float_state_dict(self) -> dict[str, torch.Tensor]:
        """The float model's state dictionary with what was trained: for load_state_dict of the model it came from.

        Of a torch model it has all keys of that; of other sources the weights that came as `params`, by the names of the
        source (ONNX initializers). Layers in `not_in_source` have parameters that the source does not have in this form:
        it keeps its own of them.
        """
        trained = {name: handle().detach().clone() for name, handle in self._handles.items()}
        return trained if self.float_source is None else self.float_source.with_trained(trained)

    def constants(self) -> dict[tuple[str, int], np.ndarray]:
        """The parameters as constants of the calibrated module: {(variable, argument): array}."""
        found: dict[tuple[str, int], np.ndarray] = {}
        source = self.source
        for root, layer in self._layers.items():
            known = source.weighted[root]
            found[known.weight, 0] = layer.deployed().numpy().copy()
            found[known.weight, 1] = layer.scale().detach().numpy().copy()
            bias = layer.bias
            if known.bias is not None and bias is not None:
                shape = const_value(source.view.value[known.bias].args[1]).shape
                found[known.bias, 1] = bias.detach().numpy().reshape(shape).copy()
        for var, call in source.view.bindings:
            if op_name(call) == "tvmq.simulated_quantize" and call.attrs.kind != "weight":
                scale = self._scales[str(call.attrs.tensor)[:]].qparams
                found[var.name, 1] = scale.scale.copy()
                found[var.name, 2] = np.full_like(const_value(call.args[2]), scale.zero_point)
        return found

    @property
    def ledger(self) -> Any:
        """The ledger of the integer module."""
        return get_ledger(self.integers)


def _read(expr: relax.Expr, values: Mapping[str, Any]) -> Any:
    if isinstance(expr, relax.Var):
        return values[expr.name]
    if isinstance(expr, relax.Tuple):
        return [_read(item, values) for item in expr.fields]
    if isinstance(expr, relax.TupleGetItem):
        return _read(expr.tuple_value, values)[expr.index]
    if is_const(expr):
        return const_value(expr)
    return getattr(expr, "value", expr)
