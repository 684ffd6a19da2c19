"""`tvmq.activations`: results of the layers of a model, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np

from tvmq.calibration.dataset import Dataset, samples_in
from tvmq.codegen.compile.build import build
from tvmq.errors import ConfigError, DataError
from tvmq.graph.analysis.layer_tensors import Encoding, LayerTensor, layer_tensors, unique_names
from tvmq.graph.probes import keep_variables
from tvmq.graph.symbolic import dynamic_dimensions, inputs_of, sample_sizes, with_sizes
from tvmq.graph.view import View, dtype_of
from tvmq.numerics.code_type import CODE_TYPES, CODES_16
from tvmq.numerics.spec import QParams, QuantSpec
from tvmq.options.rules import did_you_mean
from tvmq.passes.calibrate.collect import samples_of
from tvmq.tensors.qtensor import QTensor
from tvmq.tools.analysis.comparison import Model, module_of


@overload
def activations(
    model: Model, data: Any, layers: Sequence[str] | None = None, *, as_codes: Literal[False] = False
) -> dict[str, np.ndarray]: ...


@overload
def activations(
    model: Model, data: Any, layers: Sequence[str] | None = None, *, as_codes: bool
) -> dict[str, np.ndarray | QTensor]: ...


def activations(model: Model, data: Any, layers: Sequence[str] | None = None, *, as_codes: bool = False) -> Any:
    """Results of layers on some data, as real numbers: codes of a quantized model are dequantized.

    model    a float, simulated or integer module, an executable, or the (module, params) of `from_onnx`
    data     data set as for `quantize`; all results are kept in memory
    layers   names in the source model, the keys of the result. None: every layer, by the last of its names; of tensors
             that share one (a module that is called twice) the second is "relu#2", and so on
    as_codes True: layers whose results are codes give a `tvmq.QTensor` instead
    returns  {name: float32 (samples, ...)}; for fused operators the result of the last one
    raises   ConfigError with the nearest names for an unknown layer, DataError without samples

    The float model is shown as it is quantized: constants are folded, batch norm is part of the layer before it.

        values = tvmq.activations((mod, params), pictures, ["/stem/act"])["/stem/act"]
    """
    mod = module_of(model)
    dataset = Dataset(data, inputs_of(mod))
    if dynamic_dimensions(mod):
        mod = with_sizes(mod, sample_sizes(mod, dataset.first()))
        dataset.inputs = inputs_of(mod)
    chosen = _select_tensors(layer_tensors(mod), layers)
    tensors = list({tensor.value: tensor for tensor in chosen.values()}.values())
    steps = {tensor.value: tensor.codes.get(tensor.value) for tensor in tensors}
    view = View(mod)
    kept = {name: _qparams(step, dtype_of(view.var[name])) for name, step in steps.items()} if as_codes else {}
    wanted = [(name, None if kept.get(name) else step) for name, step in steps.items()]
    run = build(keep_variables(mod, wanted)).run
    parts: dict[str, list[np.ndarray]] = {tensor.value: [] for tensor in tensors}
    for feed, count in dataset:
        for tensor, value in zip(tensors, run(feed), strict=True):
            parts[tensor.value].append(samples_of(value, samples_in(feed), count))
    if not all(parts.values()):
        raise DataError("activations: the data gave 0 samples; give at least one")
    results = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    quantized = {name: QTensor(results[name], qparams) for name, qparams in kept.items() if qparams is not None}
    results |= quantized  # type: ignore[arg-type]
    return {name: results[tensor.value] for name, tensor in chosen.items()}


def _qparams(step: Encoding | None, dtype: str) -> QParams | None:
    """Scale and zero point of codes; None for floats, and for sums in int32."""
    if step is None or dtype not in CODES_16:
        return None
    axis = step.axis if np.ndim(step.scale) else None
    return QParams(step.scale, step.zero_point, QuantSpec(dtype, CODE_TYPES[dtype].bits, False, axis is not None), axis)


def _select_tensors(tensors: Sequence[LayerTensor], layers: Sequence[str] | None) -> dict[str, LayerTensor]:
    """Last tensor of each name."""
    if layers is None:
        return dict(zip(unique_names(tensors), tensors, strict=True))
    known = {name: tensor for tensor in tensors for name in tensor.names}
    known |= {name: tensor for name, tensor in zip(unique_names(tensors), tensors, strict=True) if "#" in name}
    for name in layers:
        if name not in known:
            near = did_you_mean(name, known, "layers")
            raise ConfigError(f"activations: none of {len(tensors)} layers is called {name!r}{near}")
    return {name: known[name] for name in layers}
