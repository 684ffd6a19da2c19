"""A model that torch's or torchao's tools prepared, converted by the tool that prepared it.

FX            prepare_fx, prepare_qat_fx            convert_to_reference_fx
eager         prepare, prepare_qat                  convert
PT2E          prepare_pt2e, prepare_qat_pt2e        torchao's convert_pt2e

The scales are those that the tool itself computes from its observers. A copy is converted; the model stays as it is.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import torch
from torch import nn

from tvmq.errors import ModelError

OBSERVED_FX = "_observed_graph_module_attrs"


def converted(model: nn.Module) -> nn.Module:
    """The model itself where it has no observers; else its conversion.

    raises  ModelError naming an observer that has seen no data
    """
    found = {path: kind for path, module in model.named_modules() if (kind := observer_kind(module))}
    if not found:
        return model
    for path, module in model.named_modules():
        if path in found and _is_fresh(module):
            raise ModelError(
                f"from_torch, observer '{path}': it has seen no data; run the prepared model on calibration data, or "
                "train it, before the import"
            )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _convert(copy.deepcopy(model), "torchao" in found.values())
        except Exception as error:
            first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise ModelError(
                f"from_torch: the prepared {type(model).__name__} is not converted by its own tool ({first}); "
                "convert it before the import"
            ) from error


def observer_kind(module: nn.Module) -> str | None:
    """Whose observer or fake quantizer a module is: "torch", "torchao", None for no observer.

    >>> from torch.ao.quantization import MinMaxObserver
    >>> observer_kind(MinMaxObserver()), observer_kind(nn.ReLU())
    ('torch', None)
    """
    for kind in type(module).__mro__:
        if kind.__name__ in ("ObserverBase", "FakeQuantizeBase", "AffineQuantizedObserverBase"):
            return "torchao" if kind.__module__.startswith("torchao.") else "torch"
    return None


def _is_fresh(module: nn.Module) -> bool:
    """True for an observer of extremes that has none yet."""
    low = getattr(module, "min_val", None)
    if not isinstance(low, torch.Tensor) or low.is_meta or _is_of_weights(module):
        return False
    return low.numel() == 0 or bool((low == float("inf")).any())


def _is_of_weights(module: nn.Module) -> bool:
    """Observers of weights see them at the conversion."""
    return getattr(module, "qscheme", None) in (torch.per_channel_affine, torch.per_channel_symmetric)


def _convert(model: nn.Module, by_torchao: bool) -> nn.Module:
    if by_torchao:
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e

        result: nn.Module = convert_pt2e(model)
        return result
    if _is_fx(model):
        return _converted_fx(model)
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if _is_fx(child):
                setattr(module, name, _converted_fx(child))
    if any(observer_kind(module) for module in model.modules()):
        model.eval()
        result = torch.ao.quantization.convert(model)
        return result
    return model


def _is_fx(module: Any) -> bool:
    return isinstance(module, torch.fx.GraphModule) and OBSERVED_FX in module.meta


def _converted_fx(module: Any) -> nn.Module:
    from torch.ao.quantization.quantize_fx import convert_to_reference_fx

    module.eval()
    result: nn.Module = convert_to_reference_fx(module)
    return result
