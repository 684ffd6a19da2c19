"""From a float model to the network that learns, and from that to the integer module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tvm

from tvmq.config import QConfig
from tvmq.errors import CalibrationError, UnsupportedOpError
from tvmq.pipeline import static_quantization
from tvmq.stages import INTEGERS, ROUNDING, Choices, run_stages
from tvmq.static_quantization import StaticQuantization
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
) -> IntegerNetwork:
    """A torch module that computes what `quantize` would give, with parameters to train.

    mod, params, dataset, target, config   as `tvmq.quantize` takes them; calibrated scales are needed. No guard looks
             at the result: training is to mend it. A free batch stays free
    returns  in train() and in eval() the same integers; parameters are weights, biases and the logarithms of scales,
             named by the layers of the source
    raises   CalibrationError without data, UnsupportedOpError for a layer whose operator has no gradient here

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
    return network_of(quantization)


def network_of(quantization: StaticQuantization) -> IntegerNetwork:
    """The network of a model whose data are at hand; options and errors as `prepare`."""
    annotated = quantization.annotated()
    choices = Choices(quantization.config, quantization.backend, calibration=quantization.calibration(annotated))
    rounded = run_stages(annotated, ROUNDING, choices)
    nearest = run_stages(annotated, tuple(stage for stage in ROUNDING if stage[0] in UNROUNDED), choices)
    net = IntegerNetwork(with_float_weights(rounded, nearest), choices, annotated)
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
    return net


def convert(net: IntegerNetwork) -> tvm.IRModule:
    """The integer module of the parameters as they are now: for `tvmq.build`, `to_onnx` and all that takes one."""
    return run_stages(with_constants(net.source.module, net.constants()), INTEGERS, net.choices)
