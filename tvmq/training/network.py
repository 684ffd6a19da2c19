"""The integer module as a torch module: forward the deployed integers, backward straight through the roundings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
import tvm
from torch import nn
from tvm import relax

from tvmq import numerics
from tvmq.errors import UnsupportedOpError
from tvmq.graph.interpret import interpret, read_array
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import unpack_weights
from tvmq.graph.names import input_names, output_names
from tvmq.graph.symbolic import sizes_in, with_sizes
from tvmq.graph.view import View, const_value, is_const, op_name, results_of
from tvmq.numerics.spec import QuantSpec
from tvmq.passes.families.avg_pool import factors_of
from tvmq.passes.families.base import BOUNDED_SUFFIX, CODES_SUFFIX, PRODUCT_SUFFIX, SUM_SUFFIX, THRESHOLDS_SUFFIX
from tvmq.passes.families.embedding import column_scales
from tvmq.passes.families.integer_softmax import WHOLE
from tvmq.passes.families.table import numbers
from tvmq.passes.realize import code_bounds
from tvmq.quantization.stages import INTEGERS, StageContext, run_stages
from tvmq.reference.float_regions import FloatRegions
from tvmq.training.accumulators import Accumulators
from tvmq.training.batch_norm import LiveFolding
from tvmq.training.build_parameters import Learning, ParameterBuilder
from tvmq.training.float_source import FloatSource
from tvmq.training.forms import Place, form_of, holds_activations
from tvmq.training.meaning import Arrays, CodeTensor, SumTensor
from tvmq.training.parameters import LearnedScale, WeightedLayer
from tvmq.training.refusals import check_inputs, check_state
from tvmq.training.straight_through import exactly
from tvmq.training.trainable_parts import CalibratedModule, with_constants

NOT_PICKLED = ("islands", "_compiled_names")
COMPARED = "least code "  # label of the tables of passes/families/compare.py


class IntegerNetwork(nn.Module):
    """A calibrated module that computes in torch what its integer module computes, and learns.

    calibrated  with float weights, and a scale at each tensor that becomes codes
    choices     options that `realize` is told
    annotated   the float network with the places of its scales
    """

    def __init__(
        self, calibrated: tvm.IRModule, choices: StageContext, annotated: tvm.IRModule, learning: Learning | None = None
    ) -> None:
        super().__init__()
        self.annotated = annotated
        self.source, self.choices = CalibratedModule(calibrated), choices
        self.integers = unpack_weights(run_stages(calibrated, INTEGERS, choices))
        self._programs: dict[tuple[int, ...], View] = {}
        self._inputs = list(input_names(self.integers["main"]).items())
        self.tensor_of = dict(self.source.tensor_of)
        self._kept: dict[str, Any] = {}
        self._made: dict[Hashable, Any] = {}
        self.accumulators: Accumulators | None = None  # see limited_weights.py
        self._groups = {group.output: group for group in self.source.groups.values()}
        builder = ParameterBuilder(self, self.source, learning or Learning())
        self._layers = builder.layers()
        self._scales = builder.scales(View(self.integers))
        self._handles, self.not_in_source = builder.handles, tuple(builder.own)
        self.float_source: FloatSource | None = None
        self._built_for = self._starts()
        self.register_load_state_dict_pre_hook(_check_state)
        self.register_load_state_dict_post_hook(_follow_state)

    @property
    def output_names(self) -> list[str]:
        """Names of the results in their order: the keys of a model that returns a dictionary."""
        return output_names(self.integers["main"], len(results_of(self.integers["main"])))

    def integer_module(self) -> tvm.IRModule:
        """Integer module that `convert` makes of the parameters as they are now."""
        from tvmq.training.prepare import convert

        return convert(self)

    def operators_without_gradient(self) -> dict[str, str]:
        """{variable: operator} of what has no form."""
        calls = [(var.name, value) for var, value in View(self.integers).bindings if isinstance(value, relax.Call)]
        return {name: op_name(call) for name, call in calls if form_of(call) is None}

    def _starts(self) -> list[tuple[float, int]]:
        """Scales and zero points that the integer module was made for."""
        return [(float(scale.start), int(scale.first_zero)) for scale in self._scales.values()]

    def follow_state(self) -> None:
        """Make the integer module again where a state brought scales and zero points of another calibration."""
        if self._starts() != self._built_for:
            calibrated = with_constants(self.source.module, self.constants())
            self.integers = unpack_weights(run_stages(calibrated, INTEGERS, self.choices))
            self._built_for = self._starts()
            self._programs.clear()
            self.__dict__.pop("islands", None)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made again when it is asked for: compiled functions cannot be copied."""
        kept = {name: value for name, value in self.__dict__.items() if name not in NOT_PICKLED}
        return kept | {"_programs": {}, "_made": {}, "_kept": {}}

    # ---- what forms ask

    def scale_of(self, name: str) -> LearnedScale:
        """The scale of the codes that a variable of the integer module holds."""
        return self._scales[self.tensor_of[name]]

    def factor(self, scale: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
        """Steps of a scale in those of a result: float64, of float32 numbers where the options say so."""
        if self.choices.config.factors == "float32":
            return (scale.to(torch.float32) / step).double()
        return scale / step.double()

    def layer_of(self, name: str) -> WeightedLayer:
        """The weight that a variable of the integer module is a product with."""
        root = name.removesuffix(PRODUCT_SUFFIX)
        return self._layers[name if name in self._layers else root]

    def weighted_layers(self) -> Iterator[tuple[str, WeightedLayer]]:
        """(variable of the calibrated module that multiplies, its layer) of all layers with a weight."""
        yield from self._layers.items()

    def factor_of(self, name: str) -> float:
        """Factor by which the model multiplies a product."""
        group = self.source.groups.get(name.removesuffix(PRODUCT_SUFFIX))
        return float(getattr(group.facts, "factor", 1.0)) if group is not None else 1.0

    def divisor_of(self, name: str) -> float:
        """Divisor of the sums of a variable, which are multiplied by integers first where windows differ in size."""
        group = self.source.groups[name.removesuffix(SUM_SUFFIX)]
        counts = group.strategy.average_counts(self.source.view, group)
        return 1.0 if counts is None else float(factors_of(np.asarray(counts), self.choices.config.requantize)[1])

    def code_bounds(self, name: str, call: relax.Call) -> tuple[int, int]:
        """Lowest and highest code of a result, of a clip for the scale of the moment."""
        group = self._groups.get(name)
        if group is None or not group.facts.is_bounded:
            return int(call.attrs.qmin), int(call.attrs.qmax)
        return code_bounds(self.scale_of(name).qparams, group.facts.low, group.facts.high)

    def table_values(
        self, place: Place, x: CodeTensor, scale: LearnedScale | None, values: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """The 256 entries of a table for the scales of the moment; as they were where the function is not known.

        returns  entries, and the real values of the function; None where it is not known, or has none
        """
        label = str(place.call.attrs.function)
        if label == "rescale" and scale is not None:
            return numerics.rescale_table(x.qparams, scale.qparams), numerics.real_values(x.qparams)
        if label.startswith(COMPARED):
            wide = View(self.integers).value[f"{place.name.removesuffix(THRESHOLDS_SUFFIX)}{CODES_SUFFIX}"]
            compared = self.scale_of(wide.args[0].name).qparams
            return numerics.compare_table(label.removeprefix(COMPARED), x.qparams, compared), None
        group = self._groups.get(place.name)
        function = None if group is None else group.strategy.function(self.source.view, group)
        if function is None:
            return values, None
        with np.errstate(all="ignore"):
            reals = function(numerics.real_values(x.qparams))
        if scale is None:
            return reals.astype(values.dtype), reals if values.dtype.kind == "f" else None
        return numerics.make_table(lambda _real: numbers(reals), x.qparams, scale.qparams), reals

    def encode_constant(
        self, name: str, position: int | tuple[int, int], x: CodeTensor, codes: np.ndarray
    ) -> torch.Tensor:
        """The constant at an argument, or at one of a tuple, as codes of the scale that x has at the moment.

        codes  as the integer module has them, for what has no constant of floats behind it
        """
        call = self.source.view.value.get(name.removesuffix(BOUNDED_SUFFIX))
        first, *rest = (position,) if isinstance(position, int) else position
        arg = None if call is None else call.args[first]
        for item in rest:
            arg = arg.fields[item] if isinstance(arg, relax.Tuple) else None
        if arg is not None and is_const(arg):
            codes = _encode(const_value(arg), x)
        return torch.from_numpy(codes.astype(np.float32))

    def border_code(self, name: str, x: CodeTensor) -> float:
        """The code of what a tensor is padded with, for the scale and the zero point of the moment."""
        call = self.source.view.value.get(name)
        if call is None or op_name(call) != "nn.pad":  # in front of a convolution: 0.0
            return float(x.zero_point)
        return float(_encode(np.asarray(call.attrs.pad_value, np.float32), x))

    def embedding(self, name: str, codes: np.ndarray) -> CodeTensor | SumTensor:
        """A table of codes: of the scale of its result, or with a scale for each column, which stays."""
        root = name.removesuffix(CODES_SUFFIX)
        call = self.source.view.value[root]
        table = const_value(call.args[0])
        scale = self.scale_or_none(name)
        if scale is not None:
            empty = CodeTensor(torch.zeros(()), scale(), scale.zero_point, scale.spec)
            return empty.with_value(torch.from_numpy(_encode(table, empty).astype(np.float32)))
        # floats behind it take any scale, a requantize in shifts powers of two
        is_power = self.choices.config.requantize == "power_of_two" and self.scale_or_none(root) is not None
        steps = column_scales(table, int(call.attrs.axis), is_power=is_power)
        axis = None if steps.ndim == 0 else table.ndim - 1
        return SumTensor(torch.from_numpy(codes.astype(np.float32)), torch.from_numpy(steps).double(), axis, 128.0)

    def mask_of(self, name: str) -> tuple[relax.Call, Any]:
        """The sum or choice in front of an integer softmax whose result a variable holds, and its mask."""
        group = next(g for g in self.source.groups.values() if name in getattr(g.facts, "links", ()))
        return self.source.view.value[name], group.facts.masks.get(name)

    def scale_or_none(self, name: str) -> LearnedScale | None:
        """As `scale_of`; None where a variable has no scale of its own."""
        return self._scales.get(self.tensor_of.get(name, ""))

    def spec_of(self, name: str, attrs: Any) -> QuantSpec:
        """Specification of the codes of a variable."""
        scale = self.scale_or_none(name)
        return WHOLE.spec if scale is None else scale.spec

    def original(self, name: str) -> tuple[View, Any]:
        """The calibrated module, and the group whose result a variable is."""
        return self.source.view, self._groups[name]

    def remember(self, name: str, value: Any) -> None:
        """Keep what the binding behind this one needs."""
        self._kept[name] = value

    def recall(self, name: str) -> Any:
        """Value that `remember` kept."""
        return self._kept[name]

    # ---- running

    def forward(self, *inputs: torch.Tensor) -> Any:
        """The outputs of the integer module for these inputs: a tensor, or a list in the order of `output_names`.

        raises  DataError for inputs of another number or shape than the model has
        """
        return self.values_of(inputs)

    def values_of(self, inputs: Sequence[torch.Tensor], watched: dict[str, Any] | None = None) -> Any:
        """As `forward`; every variable's value stands in `watched` then."""
        check_inputs(self.integers, inputs)
        feed = {name: value.detach().numpy() for (_, name), value in zip(self._inputs, inputs, strict=True)}
        view = self._program(feed)
        values: dict[str, Any] = dict(zip([param for param, _ in self._inputs], inputs, strict=True))
        for var, _ in interpret(view, partial(self._form_of, values), values):
            if var.name in self._compiled_names:
                values[var.name] = _with_value(self.islands.run(var.name, Arrays(values)), values[var.name])
        self._kept.clear()
        if watched is not None:
            watched.update(values)
        return _result(read_array(view.func.body.body, values))

    def _program(self, feed: Mapping[str, np.ndarray]) -> View:
        sizes = sizes_in(self.integers, feed)
        key = tuple(sizes.values())
        if key not in self._programs:
            self._programs[key] = View(with_sizes(self.integers, sizes))
        return self._programs[key]

    def _form_of(self, values: dict[str, Any], var: relax.Var, call: relax.Call) -> Callable[..., Any] | None:
        """The form of a call as a function of its arguments; None where compiled code alone gives the value."""
        form = form_of(call)
        if form is None:
            raise UnsupportedOpError(f"training, layer '{var.name}': operator {op_name(call)} has no gradient here")
        if var.name in self._compiled_names and not (torch.is_grad_enabled() and holds_activations(call)):
            return None
        return lambda _call, *args: form(Place(var.name, call, self, values), *args)

    @cached_property
    def islands(self) -> FloatRegions:
        """Float operators without a definition, compiled: their values are those of the executable."""
        return FloatRegions(View(self.integers), "llvm")

    @cached_property
    def _compiled_names(self) -> frozenset[str]:
        return frozenset(self.islands.names)

    def memoize(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Value of `make`, called once for each key."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    # ---- training

    def layers_and_inputs(self) -> list[tuple[WeightedLayer, LearnedScale | None]]:
        """Each layer with a weight, and the scale of the codes that it reads; None where that is not known."""
        view, layers = View(self.integers), list[tuple[WeightedLayer, LearnedScale | None]]()
        for root, layer in self._layers.items():
            at = view.value.get(root, view.value.get(f"{root}{PRODUCT_SUFFIX}"))
            while isinstance(at, relax.Call) and at.args and isinstance(at.args[0], relax.Var):
                name = at.args[0].name
                if name in self.tensor_of:
                    break
                at = view.value.get(name)
            read = at.args[0] if isinstance(at, relax.Call) and at.args else None
            layers.append((layer, self.scale_of(read.name) if isinstance(read, relax.Var) else None))
        return layers

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

    @torch.no_grad()
    def float_state_dict(self, *, rounded: bool = True) -> dict[str, torch.Tensor]:
        """The float model's state dictionary with what was trained: for load_state_dict of the model it came from.

        rounded  weights as the codes have them, and biases that mend their roundings: the float model then computes
                 what the integers do, but for the roundings between its layers. False: parameters as they are,
                 between codes
        returns  of a torch model all its keys; of other sources the weights that came as `params`, by the names of the
                 source (ONNX initializers). Layers in `not_in_source` have parameters that the source does not have in
                 this form: it keeps its own of them
        """
        trained = {name: handle().detach().clone() for name, handle in self._handles.items()}
        names = {id(handle): name for name, handle in self._handles.items()}
        for layer in reversed(self._layers.values()) if rounded else ():  # of one weight the first layer's codes
            folding, bias = layer.folding, layer.folding.corrected_bias()
            if id(folding.source_weight) in names:
                trained[names[id(folding.source_weight)]] = folding.source_of(layer.deployed_weight()).clone()
            if bias is not None and id(folding.source_bias) in names:
                trained[names[id(folding.source_bias)]] = bias.clone()
        return trained if self.float_source is None else self.float_source.with_trained(trained)

    def constants(self) -> dict[tuple[str, int], np.ndarray]:
        """The parameters as constants of the calibrated module: {(variable, argument): array}."""
        constants: dict[tuple[str, int], np.ndarray] = {}
        source = self.source
        for root, layer in self._layers.items():
            known = source.calibrated_layers[root]
            constants[known.weight, 0] = layer.deployed_weight().numpy().copy()
            constants[known.weight, 1] = layer.scale().detach().numpy().copy()
            bias = layer.bias
            if known.bias is not None and bias is not None:
                shape = const_value(source.view.value[known.bias].args[1]).shape
                constants[known.bias, 1] = bias.detach().numpy().reshape(shape).copy()
        for var, call in source.view.bindings:
            if op_name(call) == "tvmq.simulated_quantize" and call.attrs.kind != "weight":
                scale = self._scales[str(call.attrs.tensor)[:]].qparams
                constants[var.name, 1] = scale.scale.copy()
                constants[var.name, 2] = np.full_like(const_value(call.args[2]), scale.zero_point)
        return constants

    @property
    def ledger(self) -> Any:
        """The ledger of the integer module."""
        return get_ledger(self.integers)


def _encode(array: np.ndarray, x: CodeTensor) -> np.ndarray:
    spec = x.spec
    scale = x.scale.detach().numpy()
    return numerics.quantize(array, scale, x.zero_point, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax)


def _with_value(value: Any, smooth: Any) -> Any:
    """Value that was compiled, with the gradient of torch's result."""
    if isinstance(value, list | tuple):
        smooth = smooth if isinstance(smooth, list) else [None] * len(value)
        return [_with_value(part, s) for part, s in zip(value, smooth, strict=True)]
    tensor = torch.from_numpy(np.array(value))
    is_smooth = isinstance(smooth, torch.Tensor) and smooth.requires_grad and tensor.is_floating_point()
    return exactly(tensor, smooth) if is_smooth else tensor


def _result(value: Any) -> Any:
    """Results as tensors, constants too."""
    if isinstance(value, list):
        return [_result(part) for part in value]
    return torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray | np.generic) else value


def _check_state(net: IntegerNetwork, state: Mapping[str, Any], prefix: str, *_rest: Any) -> None:
    check_state(net, state, prefix)


def _follow_state(net: IntegerNetwork, _keys: Any) -> None:
    net.follow_state()
