"""A model that torch's or torchao's tools prepared, converted by the tool that prepared it.

FX            prepare_fx, prepare_qat_fx            convert_to_reference_fx
eager         prepare, prepare_qat                  convert
PT2E          prepare_pt2e, prepare_qat_pt2e        torchao's convert_pt2e

FX models of a backend config (prepare_fx(..., backend_config=)) are converted with it: torch quantizes nothing that its
own config does not know, such as int8 activations.

The scales are those that the tool itself computes from its observers. A copy is converted; the model stays as it is.

Tests: tests/formats/torch/importer/test_quantized_models.py
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import torch
from torch import nn

from tvmq.base.deprecation import warn_user
from tvmq.errors import ModelError

OBSERVED_FX = "_observed_graph_module_attrs"


def convert_prepared(model: Any, backend_config: Any = None) -> Any:
    """The converted model; the model itself if it is not a module or has no observers.

    backend_config  that prepare_fx was given; None: torch's own
    warns           where most layers with observers come out of the conversion in float
    raises          ModelError naming an observer that has seen no data, and for a backend_config beside a model that
                    prepare_fx did not make
    """
    is_module = isinstance(model, nn.Module)
    if backend_config is not None and not (is_module and any(map(_is_fx, model.modules()))):
        raise ModelError(
            f"from_torch: backend_config needs a model made by prepare_fx or prepare_qat_fx, got "
            f"{type(model).__name__}; pass the prepared model, or leave backend_config out"
        )
    modules = model.named_modules() if is_module else ()
    observers = {path: kind for path, module in modules if (kind := observer_kind(module))}
    if not observers:
        return model
    for path, module in model.named_modules():
        if path in observers and _has_no_data(module):
            raise ModelError(
                f"from_torch, observer '{path}': it has seen no data; run the prepared model on calibration data or "
                "train it before importing it"
            )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = _convert(copy.deepcopy(model), "torchao" in observers.values(), backend_config)
        except Exception as error:
            first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise ModelError(
                f"from_torch: the tool that prepared the {type(model).__name__} cannot convert it ({first}); "
                "convert it before importing it"
            ) from error
    _warn_of_floats(model, result)
    return result


def _warn_of_floats(prepared: nn.Module, result: nn.Module) -> None:
    """Say that most convolutions and linear layers with observers were not quantized by the conversion."""
    kinds = (nn.modules.conv._ConvNd, nn.Linear)
    layers = {path: module for path, module in prepared.named_modules() if isinstance(module, kinds)}
    observed = [path for path, module in layers.items() if getattr(module, "qconfig", None) is not None]
    quantized = sum(type(module).__module__.startswith("torch.ao.nn.quantized") for module in result.modules())
    if any(map(_is_fx, prepared.modules())) and 2 * quantized < len(observed):
        warn_user(
            f"from_torch: {len(observed)} convolutions and linear layers have observers, such as '{observed[0]}', and "
            f"the conversion leaves {len(observed) - quantized} of them in float; if the model was prepared "
            "with a backend config, pass the same: from_torch(..., backend_config=...)"
        )


def observer_kind(module: nn.Module) -> str | None:
    """Tool whose observer or fake quantizer a module is: "torch", "torchao", None for no observer.

    >>> from torch.ao.quantization import MinMaxObserver
    >>> observer_kind(MinMaxObserver()), observer_kind(nn.ReLU())
    ('torch', None)
    """
    for kind in type(module).__mro__:
        if kind.__name__ in ("ObserverBase", "FakeQuantizeBase", "AffineQuantizedObserverBase"):
            return "torchao" if kind.__module__.startswith("torchao.") else "torch"
    return None


def _has_no_data(module: nn.Module) -> bool:
    """True for an observer of extremes that has none yet."""
    low = getattr(module, "min_val", None)
    # observers of weights see them at the conversion
    is_of_weights = getattr(module, "qscheme", None) in (torch.per_channel_affine, torch.per_channel_symmetric)
    if not isinstance(low, torch.Tensor) or low.is_meta or is_of_weights:
        return False
    return low.numel() == 0 or bool((low == float("inf")).any())


def _convert(model: nn.Module, by_torchao: bool, backend_config: Any) -> nn.Module:
    if by_torchao:
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e

        result: nn.Module = convert_pt2e(model)
        return result
    if _is_fx(model):
        return _converted_fx(model, backend_config)
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if _is_fx(child):
                setattr(module, name, _converted_fx(child, backend_config))
    if any(observer_kind(module) for module in model.modules()):
        model.eval()
        result = torch.ao.quantization.convert(model)
        return result
    return model


def _is_fx(module: Any) -> bool:
    return isinstance(module, torch.fx.GraphModule) and OBSERVED_FX in module.meta


def _converted_fx(module: Any, backend_config: Any) -> nn.Module:
    from torch.ao.quantization.quantize_fx import convert_to_reference_fx

    module.eval()
    result: nn.Module = convert_to_reference_fx(module, backend_config=backend_config)
    return result
