"""Modules of one's own classes that others take the place of while a model is imported.

torch's FX tools do this by `convert_custom_config`: a float module becomes a quantized one that somebody wrote. Here
the other module may consist of anything that can be imported: simpler layers, operators of torch.library with an
importer and a family (`tvmq.extension`), quantized layers with scales of their own.

Tests: tests/formats/torch/importer/test_custom_modules.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn

from tvmq.errors import ModelError

Convert = Callable[[nn.Module], nn.Module]


@contextmanager
def replaced_modules(model: Any, custom_modules: Mapping[type, Any] | None) -> Iterator[Any]:
    """The model with other modules in place of those of some classes, and as it was afterwards.

    custom_modules  {class: a function of the module, or a class with from_float(module)}; subclasses do not count
    raises          ModelError for what is no class or no function, for a class of which there is no module, and for a
                    function that gives no module
    """
    converters = {kind: _converter(kind, value) for kind, value in (custom_modules or {}).items()}
    if converters and not isinstance(model, nn.Module):
        raise ModelError(f"from_torch: custom_modules needs an nn.Module, got {type(model).__name__}; pass the model")
    present = {type(module) for module in model.modules()} if converters else set()
    missing = [kind.__name__ for kind in converters if kind not in present]
    if missing:
        raise ModelError(f"from_torch: custom_modules names {missing[0]}, and the model has no module of that class")
    places: list[tuple[nn.Module, str, nn.Module]] = []
    others: dict[nn.Module, nn.Module] = {}
    try:
        yield _replace(model, "", converters, places, others)
    finally:
        for parent, name, child in places:
            parent._modules[name] = child


def _replace(
    module: Any, path: str, converters: Mapping[type, Convert], places: list[Any], others: dict[nn.Module, nn.Module]
) -> Any:
    """The module that takes the place of one; its children are replaced in it."""
    if type(module) in converters:
        if module not in others:
            others[module] = _convert(module, path, converters[type(module)])
        return others[module]
    for name, child in list(module._modules.items()) if converters else ():
        if child is None:
            continue
        other = _replace(child, f"{path}.{name}".lstrip("."), converters, places, others)
        if other is not child:
            places.append((module, name, child))
            module._modules[name] = other
    return module


def _convert(module: nn.Module, path: str, convert: Convert) -> nn.Module:
    other = convert(module)
    if not isinstance(other, nn.Module):
        raise ModelError(
            f"from_torch, layer '{path}': custom_modules for {type(module).__name__} gave a {type(other).__name__}; "
            "return an nn.Module"
        )
    return other.train(module.training)


def _converter(kind: Any, value: Any) -> Convert:
    """The function of an entry."""
    if not (isinstance(kind, type) and issubclass(kind, nn.Module)):
        raise ModelError(f"from_torch: custom_modules has a key that is no class of modules: {kind!r}")
    function: Convert = value.from_float if isinstance(value, type) and hasattr(value, "from_float") else value
    if isinstance(function, type) or not callable(function):
        raise ModelError(
            f"from_torch: custom_modules for {kind.__name__} must be a function of the module, or a class with "
            f"from_float(module). Got {value!r} instead"
        )
    return function
