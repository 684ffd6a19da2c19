"""From a float model to the network that learns, and from that to the integer module.

Tests: tests/training/test_source_names.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
import torch
import tvm

from tvmq.errors import CalibrationError, ConfigError, UnsupportedOpError
from tvmq.formats.torch.importer.export import from_torch
from tvmq.options.config import QConfig
from tvmq.passes.import_qdq import is_prequantized, with_own_sums
from tvmq.passes.realize.accumulators import check_accumulators
from tvmq.quantization.pipeline import static_quantization
from tvmq.quantization.stages import INTEGERS, ROUNDING, StageContext, run_stages
from tvmq.quantization.static_quantization import StaticQuantization
from tvmq.training.accumulator_proof import prove_accumulators
from tvmq.training.accumulators import Accumulators, accumulators_of
from tvmq.training.build_parameters import FROZEN, LIVE, Learning
from tvmq.training.float_source import FloatSource
from tvmq.training.limited_weights import limit_weights
from tvmq.training.network import IntegerNetwork
from tvmq.training.origins import Origin, constants_of_source, origins_of, source_layers
from tvmq.training.own_scales import with_adopted_scales
from tvmq.training.quantizers import Quantizer, Quantizers
from tvmq.training.trainable_parts import CalibratedModule, with_constants, with_float_weights

UNROUNDED = ("round_biases", "calibrate")  # of ROUNDING: what leaves the weights as they were

TORCH_MODELS = (torch.nn.Module, torch.export.ExportedProgram)


@dataclass(frozen=True, eq=False)
class TrainingRequest:
    """Options of what a network is to learn, before its layers are known; see `prepare`.

    model  imported module with its weights, whose names the parameters take; None: names of layers
    state  of the float model
    """

    learn_scales: bool = True
    batch_norm: str = FROZEN
    quantizers: Quantizers = field(default_factory=lambda: Quantizers({}))
    model: tuple[tvm.IRModule, Mapping[str, Any] | None] | None = None
    state: Mapping[str, Any] | None = None

    def learning(self, nearest: tvm.IRModule) -> Learning:
        """Parameters to learn, with the origins of the weights of a calibrated module that nothing rounded."""
        origins: dict[str, Origin] = {}
        weights: dict[str, np.ndarray] = {}
        if self.model is not None:
            weights = constants_of_source(*self.model)
            origins = origins_of(CalibratedModule(nearest), source_layers(self.model[0]), weights)
        return Learning(self.learn_scales, self.batch_norm, self.quantizers, origins, weights)

    def float_source(self) -> FloatSource | None:
        """The float model's state, None where nothing is known of it."""
        if self.state is not None:
            return FloatSource.of(self.state)
        return None if self.model is None else FloatSource.of(constants_of_source(*self.model))


@overload
def prepare(
    model: torch.nn.Module | torch.export.ExportedProgram, example_inputs: Any, dataset: Any, /, *, target: Any = ...,
    config: QConfig | None = ..., learn_scales: bool = ..., batch_norm: str = ..., quantizers: Mapping[str, Quantizer]
    | None = ..., dynamic_batch: bool = ..., accumulators: int | Accumulators | None = ...,
) -> IntegerNetwork: ...  # fmt: skip


@overload
def prepare(
    mod: tvm.IRModule, params: Mapping[str, np.ndarray] | None = ..., dataset: Any = ..., *, target: Any = ...,
    config: QConfig | None = ..., learn_scales: bool = ..., batch_norm: str = ...,
    quantizers: Mapping[str, Quantizer] | None = ..., accumulators: int | Accumulators | None = ...,
) -> IntegerNetwork: ...  # fmt: skip


def prepare(
    mod: Any,
    params: Any = None,
    dataset: Any = None,
    *,
    target: Any = None,
    config: QConfig | None = None,
    learn_scales: bool = True,
    batch_norm: str = FROZEN,
    quantizers: Mapping[str, Quantizer] | None = None,
    dynamic_batch: bool | None = None,
    accumulators: int | Accumulators | None = None,
) -> IntegerNetwork:
    """A torch module that computes what `quantize` would give, with parameters to train.

    Called as prepare(model, example_inputs, dataset) for a torch.nn.Module, or as prepare(mod, params, dataset) for a
    module of any front end.

    model, example_inputs, dynamic_batch   as `tvmq.from_torch` takes them; the batch is dynamic by default
    mod, params, dataset, target, config   as `tvmq.quantize` takes them; calibrated scales are needed, or those that a
                  quantized model brings, which needs no data. No guard looks at the result: training is to mend it. A
                  dynamic batch stays dynamic
    learn_scales  False: scales and zero points stay as calibrated
    batch_norm    "frozen": as in eval(), folded. "live": its statistics follow the batches in train(), gamma and beta
                  learn, until net.freeze_batch_norm(); the forward pass folds by the running statistics of the moment
    quantizers    {name or glob of layers: torch.nn.Module that makes the codes of their weights}, see quantizers.py
    accumulators  bits that sums have to stay in, or a tvmq.training.Accumulators; by default what the backend has.
                  16 for a CPU without VNNI: products of bytes are added in lanes of 16 bits, which then hold with
                  weights of 8 bits; `reduce_range` is off. For a backend that is described, and for other numbers, all
                  products of a filter and its bias. Weights are kept inside, see limited_weights.py
    returns  in train() and in eval() the same integers, those of `convert` at that moment. Parameters are weights and
             biases, by their names in the source where it has them, and below "quantizers" scales and zero points
    raises   CalibrationError without data, ConfigError for arguments that do not go together, ModelError for a model
             that torch cannot export, UnsupportedOpError for a layer whose operator has no gradient here,
             AccumulatorError for one that cannot be kept inside

    >>> import io, onnx, torch, tvmq
    >>> from tvmq.demo import load_demo
    >>> demo = load_demo()
    >>> net = prepare(*tvmq.from_onnx(onnx.load(io.BytesIO(demo.model))), [demo.calibration[:64]])
    >>> pictures = torch.from_numpy(demo.test[:8])
    >>> exe = tvmq.build(convert(net))
    >>> bool((net(pictures).detach().numpy() == exe.run({"image": pictures.numpy()})[0]).all())
    True

    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    >>> net = prepare(model, torch.randn(2, 4), [np.random.default_rng(0).standard_normal((64, 4), np.float32)])
    >>> [name for name, _ in net.named_parameters() if not name.startswith("quantizers")]
    ['0.weight', '0.bias', '2.weight', '2.bias']
    >>> model.load_state_dict(net.float_state_dict())
    <All keys matched successfully>
    """
    if batch_norm not in (FROZEN, LIVE):
        raise ConfigError(f"training: batch_norm must be '{FROZEN}' or '{LIVE}'. Got {batch_norm!r} instead")
    module, weights, state = _import_model(mod, params, dynamic_batch)
    quantization = static_quantization(module, weights, dataset, target=target, config=config)
    if quantization.config.activations != "static":
        raise CalibrationError(
            f"training: activations '{quantization.config.activations}' have no scales to learn; use 'static'"
        )
    request = TrainingRequest(learn_scales, batch_norm, Quantizers(quantizers or {}), (module, weights), state)
    return network_of(quantization, request, accumulators)


def _import_model(
    model: Any, params: Any, dynamic_batch: bool | None
) -> tuple[tvm.IRModule, Mapping[str, Any] | None, Mapping[str, Any] | None]:
    """Module, weights, and the state of a torch model."""
    if isinstance(model, TORCH_MODELS):
        if isinstance(params, Mapping) and any(isinstance(value, np.ndarray) for value in params.values()):
            raise ConfigError(
                "training: a torch model brings its weights, params belong to a module of a front end; call "
                "prepare(model, example_inputs, dataset)"
            )
        dynamic = isinstance(model, torch.nn.Module) if dynamic_batch is None else dynamic_batch
        state = model.state_dict() if isinstance(model, torch.nn.Module) else model.state_dict
        return *from_torch(model, params, dynamic_batch=dynamic), state
    if not isinstance(model, tvm.IRModule):
        raise ConfigError(
            f"training: a model is a torch.nn.Module, or the module of a front end. Got {type(model).__name__} instead"
        )
    if dynamic_batch is not None:
        raise ConfigError("training: dynamic_batch is for torch models; the module of a front end has its sizes")
    if params is not None and not isinstance(params, Mapping):
        raise ConfigError(
            f"training: params of a module must be a dictionary of weights. Got {type(params).__name__} instead; "
            "example inputs are for torch models"
        )
    return model, params, None


def network_of(
    quantization: StaticQuantization,
    request: TrainingRequest | None = None,
    accumulators: int | Accumulators | None = None,
) -> IntegerNetwork:
    """The network of a model whose data are at hand; options and errors as `prepare`."""
    within, config = accumulators_of(accumulators, quantization.backend), quantization.config
    if within is not None and within.products is not None:
        config = replace(config, reduce_range=False)
    net = _untrained_network(quantization, request or TrainingRequest(), config)
    if not net.source.groups:
        raise CalibrationError(
            "training: no layer of the model becomes integers with these options, so there is nothing to learn; "
            "tvmq.explain of the quantized module says why"
        )
    missing = net.operators_without_gradient()
    if missing:
        name, operator = next(iter(missing.items()))
        raise UnsupportedOpError(
            f"training, layer '{name}': operator {operator} has no form with a gradient ({len(missing)} such layers); "
            "train the part of the model before it"
        )
    if within is not None:
        limit_weights(net, within)
    return net


def _untrained_network(quantization: StaticQuantization, request: TrainingRequest, config: QConfig) -> IntegerNetwork:
    """With the scales that a quantized model brings, or calibrated ones."""
    if is_prequantized(quantization.prepared):
        choices = StageContext(config, quantization.backend)
        learning = Learning(request.learn_scales, quantizers=request.quantizers)
        return IntegerNetwork(with_adopted_scales(quantization), choices, quantization.prepared, learning)
    annotated = quantization.annotate_model(config)
    choices = StageContext(config, quantization.backend, calibration=quantization.calibration(annotated, config))
    rounded = run_stages(annotated, ROUNDING, choices)
    nearest = run_stages(annotated, tuple(stage for stage in ROUNDING if stage.name in UNROUNDED), choices)
    net = IntegerNetwork(with_float_weights(rounded, nearest), choices, annotated, request.learning(nearest))
    net.float_source = request.float_source()
    return net


def convert(net: IntegerNetwork) -> tvm.IRModule:
    """The integer module of the parameters as they are now: for `tvmq.build`, `to_onnx` and all that takes one.

    raises  AccumulatorError that names the layer, where a sum of a network with accumulators= could leave them
    """
    module = run_stages(with_constants(net.source.module, net.constants()), INTEGERS, net.choices)
    if net.accumulators is not None:
        prove_accumulators(module, net.accumulators)
        check_accumulators(module, net.choices.backend)  # what else it adds
    return with_own_sums(module) if is_prequantized(net.annotated) else module
