"""Packed weights of torch's quantized modules, as codes and scales that can be traced.

Packed weights are objects of C++ without an import. While a model is traced a `PackedWeight` stands in the place of
each, and numbers in the place of the buffers that keep scales and zero points. All is put back afterwards.

Tests: tests/formats/torch/importer/test_quantized_models.py
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from tvmq.errors import UnsupportedOpError
from tvmq.formats.torch.importer.quantized.codes import DECOMPOSED, RANGES, Grid, TracedCodes, call
from tvmq.formats.torch.importer.quantized.subclasses import is_torchao, replace_weights

SCALE = re.compile(r"(^|_)(scale|zero_point)(_\d+)?$")
STATES = ("_parameters", "_buffers", "_modules")
RECURRENT = ("LSTM", "GRU", "LSTMCell", "GRUCell", "RNNCell")


class _PackedModule(nn.Module):
    """Stands for a packed weight in the operators of torch.ops.quantized."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return call(func, args, kwargs or {})


class PackedWeight(_PackedModule):
    """Codes of a weight with one scale or one for each channel, its bias, and the options of its convolution.

    >>> from torch.ao.nn import quantized
    >>> layer = quantized.Linear(3, 2)
    >>> PackedWeight(layer._packed_params._packed_params).float_weight().shape
    torch.Size([2, 3])
    """

    def __init__(self, packed: torch.ScriptObject) -> None:
        super().__init__()
        weight, bias = packed.unpack()[:2]
        self.axis = _set_codes(self, weight)
        self.register_buffer("bias", None if bias is None else bias.detach().clone())
        self.options: dict[str, Any] = {}
        self.is_transposed = False
        if hasattr(packed, "stride"):
            self.is_transposed = bool(packed.transpose())
            names = ("stride", "padding", "dilation") + (("output_padding",) if self.is_transposed else ())
            self.options = {name: list(getattr(packed, name)()) for name in names}
            self.options["groups"] = int(packed.groups())

    def float_weight(self) -> torch.Tensor:
        """The floats that the codes stand for."""
        storage = self.weight.dtype
        numbers = (*RANGES[storage], storage)
        if self.axis is None:
            return DECOMPOSED.dequantize_per_tensor.default(self.weight, self.scale, self.zero_point, *numbers)
        return DECOMPOSED.dequantize_per_channel.default(self.weight, self.scales, self.zeros, self.axis, *numbers)

    def convolve(self, function: Callable[..., Any], x: torch.Tensor) -> torch.Tensor:
        """A convolution of this weight. torch keeps one of one dimension as one of two, of height 1."""
        weight, rank = self.float_weight(), x.ndim - 2
        options = {name: value[-rank:] if isinstance(value, list) else value for name, value in self.options.items()}
        if weight.ndim > x.ndim:
            weight = weight.squeeze(2)
        result: torch.Tensor = function(x, weight, self.bias, **options)
        return result


class PackedTable(_PackedModule):
    """The floats of a packed embedding table; its codes have a scale and a shift for each row."""

    def __init__(self, packed: torch.ScriptObject) -> None:
        super().__init__()
        self.register_buffer("table", torch.ops.quantized.embedding_bag_unpack(packed).dequantize())

def _set_codes(module: nn.Module, weight: torch.Tensor) -> int | None:
    """Codes, scales and zero points as buffers or numbers of a module; the axis of the scales, None for one."""
    module.register_buffer("weight", weight.int_repr())
    if weight.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        module.scale, module.zero_point = weight.q_scale(), weight.q_zero_point()
        return None
    module.register_buffer("scales", weight.q_per_channel_scales().float())
    module.register_buffer("zeros", weight.q_per_channel_zero_points())
    return int(weight.q_per_channel_axis())


def is_quantized(model: nn.Module) -> bool:
    """True if a model has packed weights, quantized tensors or weights of torchao."""
    for module in model.modules():
        if _is_ao(module) or any(isinstance(v, torch.ScriptObject) for v in vars(module).values()):
            return True
        if any(is_torchao(p) or (p is not None and p.is_quantized) for p in module._parameters.values()):
            return True
        graph = getattr(module, "graph", None)
        if isinstance(module, torch.fx.GraphModule) and graph is not None and _makes_codes(graph):
            return True
    return False


def _is_ao(module: nn.Module) -> bool:
    return type(module).__module__.startswith(("torch.ao.nn.quantized", "torch.ao.nn.intrinsic.quantized"))


def _makes_codes(graph: torch.fx.Graph) -> bool:
    names = ("quantize_per_tensor", "quantize_per_channel", "quantize_per_tensor_dynamic")
    return any(getattr(node.target, "__name__", "") in names for node in graph.nodes if node.op == "call_function")


@contextmanager
def make_traceable(model: nn.Module) -> Iterator[None]:
    """Replace the quantized parts of a model by traceable ones; they are put back afterwards.

    raises  UnsupportedOpError with the path of what has no import
    """
    saved: list[tuple[nn.Module, dict[str, Any], dict[str, dict[str, Any]]]] = []
    try:
        for path, module in list(model.named_modules()):
            _refuse(path, module)
            saved.append((module, dict(vars(module)), {state: dict(vars(module)[state]) for state in STATES}))
            _replace(path, module)
        yield
    finally:
        for module, attributes, states in reversed(saved):
            vars(module).clear()
            vars(module).update(attributes)
            for state, items in states.items():
                vars(module)[state].clear()
                vars(module)[state].update(items)


def _refuse(path: str, module: nn.Module) -> None:
    """Refuse the quantized modules that have no import."""
    kind = type(module)
    if not kind.__module__.startswith("torch.ao.nn.quantized.dynamic"):
        return
    if kind.__name__ in RECURRENT or "rnn" in kind.__module__:
        raise UnsupportedOpError(
            f"from_torch, layer '{path}': a dynamically quantized {kind.__name__} is not supported; "
            f"import the float model and quantize it with activations='dynamic'"
        )


def _replace(path: str, module: nn.Module) -> None:
    """Replace packed weights, quantized tensors and scale buffers of one module."""
    for name, value in list(vars(module).items()):
        if isinstance(value, torch.ScriptObject):
            del vars(module)[name]
            module.register_module(name, _unpack(path, value))
        elif isinstance(value, torch.Tensor) and value.is_quantized:
            vars(module)[name] = TracedCodes(value.dequantize(), Grid(None, None, value.dtype))
    for name, value in list(module._buffers.items()):
        holds_scales = _is_ao(module) or isinstance(module, torch.fx.GraphModule)
        is_number = value is not None and value.numel() == 1 and SCALE.search(name)
        if is_number and holds_scales and not name.startswith("weight_"):
            del module._buffers[name]
            vars(module)[name] = value.item()
    replace_weights(path, module)


def _unpack(path: str, packed: torch.ScriptObject) -> nn.Module:
    kind = packed._type().name()
    if kind.startswith("EmbeddingPackedParams"):
        return PackedTable(packed)
    if not kind.startswith(("Conv", "LinearPackedParams")) or "Fp16" in type(packed).__name__:
        raise UnsupportedOpError(
            f"from_torch, layer '{path}': packed weights of type {kind} are not supported; "
            "convert the model with 8-bit weights of convolutions, linear layers and embeddings"
        )
    weight = packed.unpack()[0]
    if not weight.is_quantized:
        raise UnsupportedOpError(
            f"from_torch, layer '{path}': its weight is stored as {str(weight.dtype).removeprefix('torch.')}, "
            "not as codes; quantize it to 8 bits, or import the float model"
        )
    return PackedWeight(packed)
