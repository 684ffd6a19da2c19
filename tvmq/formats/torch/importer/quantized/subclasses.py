"""Weights that torchao's quantize_ left: tensor subclasses with codes, in a form that can be traced.

weight only                floats times codes, a scale for each row or each group of a row
dynamic activations        rows of int8 codes times codes
static activations         quantize, dequantize and a product, which import_qdq makes a product of codes

Tests: tests/formats/torch/importer/test_quantized_weights.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from tvmq.errors import UnsupportedOpError
from tvmq.formats.torch.importer.quantized.codes import Grid, round_to_grid, unsupported_error
from tvmq.formats.torch.importer.quantized.dynamic_layers import row_codes, row_linear, row_numbers

MAPPINGS = ("SYMMETRIC", "ASYMMETRIC")
KINDS = ("Int8Tensor", "IntxUnpackedToInt8Tensor")
WAY_OUT = "use Int8WeightOnlyConfig, IntxWeightOnlyConfig or an Int8DynamicActivation...Config, in float32"
SMALLEST = torch.finfo(torch.float32).smallest_normal
EPSILON = torch.finfo(torch.float32).eps
INT8 = (-128, 127)
HALVED = (-64, 63)


def is_torchao(value: Any) -> bool:
    """True for a weight that torchao quantized."""
    return isinstance(value, torch.Tensor) and type(value).__module__.startswith("torchao.")


class CodedWeight(nn.Module):
    """A matrix (N, K) of int8 codes with a scale for each `size` neighbours of a row.

    row_parameters  scale and zero point of the rows that it multiplies, as a function; None: it multiplies floats
    bounds    of their codes
    """

    def __init__(self, weight: Any) -> None:
        super().__init__()
        codes, scales = _centre_codes(weight)
        self.register_buffer("weight", codes)
        self.register_buffer("scales", scales)
        self.size = int(codes.shape[1] // scales.shape[1])
        self.fits_four_bits = bool(codes.min() >= -8 and codes.max() <= 7)
        sums = codes.reshape(len(codes), -1, self.size).sum(-1, dtype=torch.int32)
        self.register_buffer("row_sums", (sums.double() * scales.double()).sum(1).float())
        self.bounds = INT8
        self.row_parameters: Callable[[torch.Tensor], Any] | None = None
        self.activation_grid: Grid | None = None
        before = getattr(weight, "act_pre_scale", None)
        self.register_buffer("before", before)
        self._set_activations(weight)

    def _set_activations(self, weight: Any) -> None:
        options = getattr(weight, "act_quant_kwargs", None)
        if getattr(weight, "activation_quantization", None) is not None:
            self.row_parameters = lambda x: row_numbers(x, False, INT8, SMALLEST)
        elif options is not None:
            self.bounds = HALVED if options.reduce_range else INT8
            symmetric = options.mapping_type.name == "SYMMETRIC"
            if weight.act_quant_scale is not None:
                if weight.act_quant_scale.numel() != 1 or weight.act_quant_kwargs.reduce_range:
                    raise unsupported_error("constant scales of activations for each row are not supported", WAY_OUT)
                zero = weight.act_quant_zero_point
                self.activation_grid = Grid(
                    float(weight.act_quant_scale), 0 if zero is None else int(zero), torch.qint8
                )
                self.register_buffer("columns", self.scales[:, 0].contiguous())
                self.register_buffer("zeros", torch.zeros(len(self.scales), dtype=torch.int64))
            elif type(options.granularity).__name__ != "PerRow" or options.mapping_type.name not in MAPPINGS:
                raise unsupported_error("only activations with one scale for each row are supported", WAY_OUT)
            else:
                self.row_parameters = lambda x: row_numbers(x, symmetric, self.bounds, EPSILON)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", str(func))
        if name != "linear":
            raise unsupported_error(f"{name} with a torchao weight is not supported", "quantize only nn.Linear layers")
        return _linear(*args, **(kwargs or {}))

    def product(self, x: torch.Tensor) -> torch.Tensor:
        """x (..., K) times this weight."""
        from tvmq.formats.torch.importer.quantized.torch_library import coded_linear, group_linear

        if self.before is not None:
            x = x * self.before
        if self.activation_grid is not None:
            return F.linear(round_to_grid(x, self.activation_grid).values, self._floats())
        if self.row_parameters is None:
            return coded_linear(x, self.weight, self.scales, self.size)
        scale, zero = self.row_parameters(x)
        if self.scales.shape[1] == 1:
            return row_linear(x, self.weight, self.scales, (scale, zero), self.bounds)
        codes = row_codes(x, scale, zero, self.bounds)
        if not self.fits_four_bits:
            values = codes.float() if zero is None else codes.float() - zero
            return coded_linear(values * scale, self.weight, self.scales, self.size)
        y = group_linear(codes, scale, self.weight, self.scales, self.size)
        return y if zero is None else y - (zero * scale) * self.row_sums

    def _floats(self) -> torch.Tensor:
        from tvmq.formats.torch.importer.quantized.codes import DECOMPOSED

        return DECOMPOSED.dequantize_per_channel.default(self.weight, self.columns, self.zeros, 0, *INT8, torch.int8)


def _linear(x: torch.Tensor, weight: CodedWeight, bias: torch.Tensor | None = None) -> torch.Tensor:
    y = weight.product(x)
    return y if bias is None else y + bias


def _centre_codes(weight: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Codes around their zero point, and scales (N, K / size).

    raises  UnsupportedOpError where they leave int8, or are not kept as codes and scales
    """
    kind = type(weight).__name__
    is_known = kind in KINDS and weight.qdata.ndim == 2 and weight.dtype == torch.float32
    if not is_known or weight.block_size[0] not in (1, weight.shape[0]):
        raise unsupported_error(f"a weight of torchao's {kind} of {_name(weight.dtype)} is not supported", WAY_OUT)
    codes, scales = weight.qdata.detach(), weight.scale.detach().float()
    scales = scales.reshape(-1, codes.shape[1] // weight.block_size[1]).expand(codes.shape[0], -1).contiguous()
    zero = weight.zero_point
    if zero is None or not zero.any():
        return codes, scales
    if zero.is_floating_point():
        raise unsupported_error("fractional zero points are not supported", WAY_OUT)
    shifts = zero.reshape(-1, scales.shape[1]).expand(scales.shape).repeat_interleave(weight.block_size[1], 1)
    centred = codes.int() - shifts.int()
    if centred.abs().max() > 127:
        raise unsupported_error("codes minus their zero points do not fit int8", "quantize weights symmetrically")
    return centred.to(torch.int8), scales


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def replace_weights(path: str, module: nn.Module) -> None:
    """Weights of torchao in one module.

    raises  UnsupportedOpError with the path
    """
    for name, value in list(module._parameters.items()):
        if not is_torchao(value):
            continue
        try:
            replacement = CodedWeight(value)
        except UnsupportedOpError as error:
            text = str(error).removeprefix("from_torch: ")
            raise UnsupportedOpError(f"from_torch, layer '{path}': {text}") from error
        del module._parameters[name]
        module.register_module(name, replacement)
