"""Operators of torch.ops.quantized: the float operator on what the codes stand for, rounded to the result's scale.

Tests: tests/formats/torch/importer/test_page.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from tvmq.formats.torch.importer.quantized.codes import Grid, QTensor, round_to_grid, unsupported_error
from tvmq.formats.torch.importer.quantized.functions import first_codes, floats

CONVOLUTIONS: dict[int, Callable[..., Any]] = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED: dict[int, Callable[..., Any]] = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def _identity(y: Any) -> Any:
    return y


def _tanh(y: Any) -> Any:
    return torch.tanh(y)


def _convolution(rank: int, after: Callable[[Any], Any], table: dict[int, Callable[..., Any]]) -> Callable[..., Any]:
    def run(_func: Any, x: QTensor, weight: Any, scale: Any, zero_point: Any) -> QTensor:
        return round_to_grid(after(weight.convolve(table[rank], x.values)), Grid(scale, zero_point, x.dtype))

    return run


def _with_sum(after: Callable[[Any], Any]) -> Callable[..., Any]:
    """A convolution and the sum with another tensor, rounded once."""

    def run(_func: Any, x: QTensor, other: QTensor, weight: Any, scale: Any, zero_point: Any) -> QTensor:
        y = weight.convolve(F.conv2d, x.values) + other.values
        return round_to_grid(after(y), Grid(scale, zero_point, x.dtype))

    return run


def _linear(after: Callable[[Any], Any]) -> Callable[..., Any]:
    def run(_func: Any, x: QTensor, weight: Any, scale: Any, zero_point: Any) -> QTensor:
        y = F.linear(x.values, weight.float_weight(), weight.bias)
        return round_to_grid(after(y), Grid(scale, zero_point, x.dtype))

    return run


def _linear_leaky(_func: Any, x: QTensor, weight: Any, scale: Any, zero_point: Any, slope: float) -> QTensor:
    return _linear(lambda y: F.leaky_relu(y, slope))(_func, x, weight, scale, zero_point)


def _dynamic_linear_then(after: Callable[[Any], Any]) -> Callable[..., Any]:
    def run(_func: Any, x: Any, weight: Any, reduce_range: bool = False) -> Any:
        from tvmq.formats.torch.importer.quantized.dynamic_layers import dynamic_linear

        return after(dynamic_linear(x, weight, reduce_range))

    return run


def _binary(compute: Callable[..., Any], after: Callable[[Any], Any] = _identity) -> Callable[..., Any]:
    def run(_func: Any, a: Any, b: Any, scale: Any, zero_point: Any) -> QTensor:
        grid = Grid(scale, zero_point, first_codes((a, b)).dtype)
        return round_to_grid(after(compute(floats(a), floats(b))), grid)

    return run


def _multiply_number(after: Callable[[Any], Any]) -> Callable[..., Any]:
    """Multiply by a number: unchanged codes, on a grid of another scale."""

    def run(_func: Any, x: QTensor, number: float) -> QTensor:
        if not number > 0 or isinstance(x.grid.scale, torch.Tensor):
            raise unsupported_error(
                f"quantized.mul_scalar by {number:g} is not supported", "use a positive number, or dequantize first"
            )
        return round_to_grid(after(x.values * number), Grid(x.grid.scale * number, x.grid.zero_point, x.dtype))

    return run


def _cat(after: Callable[[Any], Any]) -> Callable[..., Any]:
    def run(_func: Any, parts: Any, dim: int, scale: Any = None, zero_point: Any = None) -> QTensor:
        own = first_codes(parts).grid
        grid = own if scale is None else Grid(scale, zero_point, own.dtype)
        return round_to_grid(after(torch.cat(floats(list(parts)), dim)), grid)

    return run


def _batch_norm(after: Callable[[Any], Any]) -> Callable[..., Any]:
    def run(
        _func: Any,
        x: QTensor,
        weight: Any,
        bias: Any,
        mean: Any,
        variance: Any,
        eps: float,
        scale: Any,
        zero_point: Any,
    ) -> QTensor:
        y = F.batch_norm(x.values, mean, variance, weight, bias, False, 0.0, eps)
        return round_to_grid(after(y), Grid(scale, zero_point, x.dtype))

    return run


def _layer_norm(
    _func: Any, x: QTensor, shape: Any, weight: Any, bias: Any, eps: float, output_scale: Any, output_zero_point: Any
) -> QTensor:
    y = F.layer_norm(x.values, shape, weight, bias, eps)
    return round_to_grid(y, Grid(output_scale, output_zero_point, x.dtype))


def _group_norm(
    _func: Any, x: QTensor, groups: int, weight: Any, bias: Any, eps: float, output_scale: Any, output_zero_point: Any
) -> QTensor:
    y = F.group_norm(x.values, groups, weight, bias, eps)
    return round_to_grid(y, Grid(output_scale, output_zero_point, x.dtype))


def _instance_norm(
    _func: Any, x: QTensor, weight: Any, bias: Any, eps: float, output_scale: Any, output_zero_point: Any
) -> QTensor:
    y = F.instance_norm(x.values, weight=weight, bias=bias, eps=eps)
    return round_to_grid(y, Grid(output_scale, output_zero_point, x.dtype))


def _unary(compute: Callable[..., Any], count: int = 0) -> Callable[..., Any]:
    """A function of one tensor; `count` options stand behind the scale and zero point of the result."""

    def run(_func: Any, x: QTensor, output_scale: Any, output_zero_point: Any, *options: Any) -> QTensor:
        return round_to_grid(compute(x.values, *options[:count]), Grid(output_scale, output_zero_point, x.dtype))

    return run


def _elu(_func: Any, x: QTensor, scale: Any, zero_point: Any, alpha: float = 1.0, *_rest: Any) -> QTensor:
    return round_to_grid(F.elu(x.values, alpha), Grid(scale, zero_point, x.dtype))


def _leaky_relu(
    _func: Any, x: QTensor, slope: float, _inplace: bool, output_scale: Any, output_zero_point: Any
) -> QTensor:
    return round_to_grid(F.leaky_relu(x.values, slope), Grid(output_scale, output_zero_point, x.dtype))


def _softmax(_func: Any, x: QTensor, dim: int, scale: Any, zero_point: Any) -> QTensor:
    return round_to_grid(F.softmax(x.values, dim), Grid(scale, zero_point, x.dtype))


def _prelu(_func: Any, x: QTensor, weight: Any, scale: Any, zero_point: Any) -> QTensor:
    return round_to_grid(F.prelu(x.values, floats(weight)), Grid(scale, zero_point, x.dtype))


def _relu6(_func: Any, x: QTensor, *_options: Any) -> QTensor:
    return round_to_grid(F.relu6(x.values), x.grid)


def _embedding(_func: Any, weight: Any, indices: Any, *_options: Any, **_named: Any) -> Any:
    """Rows of a table, as floats."""
    return F.embedding(indices, weight.table)


_RELU = torch.relu
OPERATORS: dict[str, Callable[..., Any]] = {
    **{f"conv{rank}d": _convolution(rank, _identity, CONVOLUTIONS) for rank in CONVOLUTIONS},
    **{f"conv{rank}d_relu": _convolution(rank, _RELU, CONVOLUTIONS) for rank in CONVOLUTIONS},
    **{f"conv_transpose{rank}d": _convolution(rank, _identity, TRANSPOSED) for rank in TRANSPOSED},
    "conv2d_add": _with_sum(_identity),
    "conv2d_add_relu": _with_sum(_RELU),
    "linear": _linear(_identity),
    "linear_relu": _linear(_RELU),
    "linear_tanh": _linear(_tanh),
    "linear_leaky_relu": _linear_leaky,
    "linear_dynamic": _dynamic_linear_then(_identity),
    "linear_relu_dynamic": _dynamic_linear_then(_RELU),
    "add": _binary(torch.add),
    "add_relu": _binary(torch.add, _RELU),
    "mul": _binary(torch.mul),
    "mul_relu": _binary(torch.mul, _RELU),
    "mul_scalar": _multiply_number(_identity),
    "mul_scalar_relu": _multiply_number(_RELU),
    "matmul": _binary(torch.matmul),
    "cat": _cat(_identity),
    "cat_relu": _cat(_RELU),
    **dict.fromkeys(("batch_norm", "batch_norm1d", "batch_norm2d", "batch_norm3d"), _batch_norm(_identity)),
    **dict.fromkeys(("batch_norm_relu", "batch_norm2d_relu", "batch_norm3d_relu"), _batch_norm(_RELU)),
    "layer_norm": _layer_norm,
    "group_norm": _group_norm,
    "instance_norm": _instance_norm,
    "hardswish": _unary(F.hardswish),
    "sigmoid": _unary(torch.sigmoid),
    "celu": _unary(F.celu, 1),
    "elu": _elu,
    "leaky_relu": _leaky_relu,
    "softmax": _softmax,
    "prelu": _prelu,
    "relu6": _relu6,
    "dropout": lambda _func, x, *_options: x,
    "embedding_byte": _embedding,
    "embedding_4bit": _embedding,
}
