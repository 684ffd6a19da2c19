"""`tvmq.training.nn`: quantized layers as torch modules, made of float ones; quantized tensors in and out.

    conv = nn.Conv2d.from_float(model.stem, scale=0.05, zero_point=128)      # or of a Sequential of conv, norm, relu
    y = conv(tvmq.quantize_tensor(x, "minmax"))

They compute what `tvmq.functional` computes, and train nothing: what learns are `FakeQuantize` and `prepare`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

import tvmq.functional as F
from tvmq.errors import ConfigError
from tvmq.numerics.spec import QuantSpec
from tvmq.tensors.qtensor import QTensor
from tvmq.tensors.quantize_tensor import quantize_tensor
from tvmq.training.fake_quantize import FakeQuantize

__all__ = ["Conv1d", "Conv2d", "Conv3d", "FakeQuantize", "Linear"]

WEIGHTS = QuantSpec("int8", symmetric=True, per_channel=True)


class QuantizedProduct(nn.Module):
    """A product with a constant weight: what all quantized layers are.

    weight    its codes
    bias      float32, or None
    relu      negative results become 0
    """

    FLOAT: type[nn.Module]
    FUNCTION: Callable[..., QTensor]

    def __init__(
        self, weight: QTensor, bias: np.ndarray | None, *, relu: bool = False, target: Any = None, **options: Any
    ) -> None:
        super().__init__()
        self.weight, self.bias, self.relu, self.target, self.options = weight, bias, relu, target, options

    @classmethod
    def from_float(
        cls,
        module: nn.Module,
        *,
        scale: float,
        zero_point: int,
        spec: QuantSpec | None = None,
        weight_spec: QuantSpec = WEIGHTS,
        observer: Any = "max",
        target: Any = None,
    ) -> Any:
        """The quantized layer of a float one, or of a Sequential of one with its batch norm and relu, in evaluation.

        scale, zero_point, spec  of the result; spec None: as the input
        weight_spec, observer    how the weight is quantized
        target                   as of `tvmq.functional`: None computes by the definition
        raises                   ConfigError for other modules, and for padding that is not of zeros
        """
        layer, *behind = module if isinstance(module, nn.Sequential) else [module]
        if type(layer) is not cls.FLOAT:
            raise ConfigError(
                f"{cls.__name__}.from_float: takes a torch.nn.{cls.FLOAT.__name__}. Got {type(layer).__name__} instead"
            )
        relu = bool(behind) and isinstance(behind[-1], nn.ReLU)
        layer = _fold_batch_norm(cls.__name__, layer, behind[: len(behind) - relu])
        weight, bias = layer.weight.detach().numpy(), None if layer.bias is None else layer.bias.detach().numpy()
        q = quantize_tensor(weight, observer, weight_spec, axis=0 if weight_spec.per_channel else None)
        result = {"scale": scale, "zero_point": zero_point, "spec": spec, **cls._windows(layer)}
        return cls(q, bias, relu=relu, target=target, **result)

    @classmethod
    def _windows(cls, layer: Any) -> dict[str, Any]:
        """Options of the functional."""
        return {}

    def forward(self, x: QTensor) -> QTensor:
        """The layer on a quantized tensor."""
        y = type(self).FUNCTION(x, self.weight, self.bias, target=self.target, **self.options)
        return F.relu(y) if self.relu else y

    def extra_repr(self) -> str:
        """Shape of the weight, scale of the result."""
        scale, zero_point = self.options["scale"], self.options["zero_point"]
        parts = f"scale={scale}, zero_point={zero_point}, relu={self.relu}"
        return f"weight {self.weight.shape} {self.weight.dtype}, {parts}"


def _fold_batch_norm(name: str, layer: Any, behind: Sequence[nn.Module]) -> Any:
    """The layer with the batch norm behind it folded into its weight; the modules given stay as they are."""
    norms = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    if len(behind) > 1 or not all(isinstance(module, norms) for module in behind):
        names = ", ".join(type(module).__name__ for module in behind)
        raise ConfigError(f"{name}.from_float: behind the layer may stand a batch norm and a relu. Got {names} instead")
    if not behind:
        return layer
    fuse: Any = fuse_linear_bn_eval if isinstance(layer, nn.Linear) else fuse_conv_bn_eval
    with torch.no_grad():
        return fuse(*(copy.deepcopy(module).eval() for module in (layer, behind[0])))


class QuantizedConvolution(QuantizedProduct):
    """A convolution over any number of axes."""

    @classmethod
    def _windows(cls, layer: Any) -> dict[str, Any]:
        if layer.padding_mode != "zeros" or isinstance(layer.padding, str):
            raise ConfigError(
                f"{cls.__name__}.from_float: padding must be numbers, of zeros. "
                f"Got {layer.padding!r}, {layer.padding_mode!r} instead"
            )
        return {name: getattr(layer, name) for name in ("stride", "padding", "dilation", "groups")}


class QuantizedConv1d(QuantizedConvolution):
    """Convolution over one axis; see `QuantizedConv2d`."""

    FLOAT, FUNCTION = nn.Conv1d, F.conv1d


class QuantizedConv2d(QuantizedConvolution):
    """Convolution of quantized tensors (N, C, H, W).

    >>> import tvmq
    >>> conv = QuantizedConv2d.from_float(torch.nn.Conv2d(2, 3, 1), scale=0.05, zero_point=128)
    >>> conv(tvmq.quantize_tensor(np.zeros((1, 2, 4, 4)), "minmax")).shape
    (1, 3, 4, 4)
    """

    FLOAT, FUNCTION = nn.Conv2d, F.conv2d


class QuantizedConv3d(QuantizedConvolution):
    """Convolution over three axes; see `QuantizedConv2d`."""

    FLOAT, FUNCTION = nn.Conv3d, F.conv3d


class QuantizedLinear(QuantizedProduct):
    """x @ weight.T + bias of quantized tensors (..., C)."""

    FLOAT, FUNCTION = nn.Linear, F.linear


# By the names of the float layers, in `tvmq.training.nn`
Conv1d, Conv2d, Conv3d, Linear = QuantizedConv1d, QuantizedConv2d, QuantizedConv3d, QuantizedLinear
