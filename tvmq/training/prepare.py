"""From a float model to the network that learns, and from that to the integer module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import tvm

from tvmq.config import QConfig
from tvmq.errors import CalibrationError, UnsupportedOpError
from tvmq.passes.realize.accumulators import check_accumulators
from tvmq.pipeline import static_quantization
from tvmq.stages import INTEGERS, ROUNDING, Choices, run_stages
from tvmq.static_quantization import StaticQuantization
from tvmq.training.accumulator_proof import prove_accumulators
from tvmq.training.accumulators import Accumulators, accumulators_of
from tvmq.training.limited_weights import limit_weights
from tvmq.training.network import IntegerNetwork
from tvmq.training.source import with_constants, with_float_weights

UNROUNDED = ("round_biases", "calibrate")  # of ROUNDING: what leaves the weights as they were


def prepare(
    mod: tvm.IRModule,
    params: Mapping[str, np.ndarray] | None = None,
    dataset: Any = None,
    *,
    target: Any = None,
    config: QConfig | None = None,
    accumulators: int | Accumulators | None = None,
) -> IntegerNetwork:
    """A torch module that computes what `quantize` would give, with parameters to train.

    mod, params, dataset, target, config   as `tvmq.quantize` takes them; calibrated scales are needed. No guard looks
             at the result: training is to mend it. A free batch stays free
    accumulators   bits that sums have to stay in, or a tvmq.training.Accumulators; by default what the backend has.
             16 for a CPU without VNNI: products of bytes are added in lanes of 16 bits, which then hold with weights
             of 8 bits; `reduce_range` is off. For a backend that is described, and for other numbers, all products of
             a filter and its bias. Weights are kept inside, see limited_weights.py
    returns  in train() and in eval() the same integers; parameters are weights, biases and the logarithms of scales,
             named by the layers of the source
    raises   CalibrationError without data, UnsupportedOpError for a layer whose operator has no gradient here,
             ConfigError for accumulators that there are not, AccumulatorError for a layer that cannot be kept inside

    >>> import io, onnx, torch, tvmq
    >>> from tvmq.demo import load_demo
    >>> demo = load_demo()
    >>> net = prepare(*tvmq.from_onnx(onnx.load(io.BytesIO(demo.model))), [demo.calibration[:64]])
    >>> pictures = torch.from_numpy(demo.test[:8])
    >>> exe = tvmq.build(convert(net))
    >>> bool((net(pictures).detach().numpy() == exe.run({"image": pictures.numpy()})[0]).all())
    True
    """
    quantization = static_quantization(mod, params, dataset, target=target, config=config)
    if quantization.config.activations != "static":
        raise CalibrationError(
            f"training: activations '{quantization.config.activations}' have no scales to learn; use 'static'"
        )
    return network_of(quantization, accumulators)


def network_of(quantization: StaticQuantization, accumulators: int | Accumulators | None = None) -> IntegerNetwork:
    """The network of a model whose data are at hand; options and errors as `prepare`."""
    within = accumulators_of(accumulators, quantization.backend)
    config = quantization.config
    if within is not None and within.products is not None:
        config = replace(config, reduce_range=False)
    annotated = quantization.annotated(config)
    choices = Choices(config, quantization.backend, calibration=quantization.calibration(annotated, config))
    rounded = run_stages(annotated, ROUNDING, choices)
    nearest = run_stages(annotated, tuple(stage for stage in ROUNDING if stage[0] in UNROUNDED), choices)
    net = IntegerNetwork(with_float_weights(rounded, nearest), choices, annotated)
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


def convert(net: IntegerNetwork) -> tvm.IRModule:
    """The integer module of the parameters as they are now: for `tvmq.build`, `to_onnx` and all that takes one.

    raises  AccumulatorError that names the layer, where a sum of a network with accumulators= could leave them
    """
    module = run_stages(with_constants(net.source.module, net.constants()), INTEGERS, net.choices)
    if net.accumulators is not None:
        prove_accumulators(module, net.accumulators)
        check_accumulators(module, net.choices.backend)  # what else it adds
    return module
