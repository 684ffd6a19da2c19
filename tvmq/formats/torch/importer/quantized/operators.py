"""Operators of torch.ops.quantized: the float operator on what the codes stand for, rounded to the result's scale.

Tests: tests/formats/torch/importer/test_page.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from tvmq.formats.torch.importer.quantized.codes import Grid, TracedCodes, round_to_grid, unsupported_error
from tvmq.formats.torch.importer.quantized.torch_functions import first_codes, floats

CONVOLUTIONS: dict[int, Callable[..., Any]] = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED: dict[int, Callable[..., Any]] = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def _identity(y: Any) -> Any:
    return y


def _round_result(
    compute: Callable[..., Any], operands: int, after: Callable[[Any], Any] = _identity, options: int = 0
) -> Callable[..., Any]:
    """A float operator, rounded to the scale of its result.

    operands   how many arguments the operator has before scale and zero point of the result, `options` behind them
    """

    def run(func: Any, *args: Any, **kwargs: Any) -> TracedCodes:
        values = _positional(func, args, kwargs) if kwargs else args
        inputs, (scale, zero_point, *rest) = values[:operands], values[operands:]
        y = after(compute(*map(floats, inputs), *rest[:options]))
        return round_to_grid(y, Grid(scale, zero_point, first_codes(inputs).dtype))

    return run


def _positional(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Arguments in the order of the operator's schema."""
    schema = getattr(func, "_schema", None) or func.default._schema
    defaults = {argument.name: argument.default_value for argument in schema.arguments[len(args) :]}
    return (*args, *(kwargs.get(name, default) for name, default in defaults.items()))


def _convolution(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, weight: weight.convolve(function, x)


def _linear(x: Any, weight: Any) -> Any:
    return F.linear(x, weight.float_weight(), weight.bias)


def _dynamic_linear_then(after: Callable[[Any], Any]) -> Callable[..., Any]:
    def run(_func: Any, x: Any, weight: Any, reduce_range: bool = False) -> Any:
        from tvmq.formats.torch.importer.quantized.dynamic_layers import dynamic_linear

        return after(dynamic_linear(x, weight, reduce_range))

    return run


def _multiply_number(after: Callable[[Any], Any]) -> Callable[..., Any]:
    """Multiply by a number: unchanged codes, on a grid of another scale."""

    def run(_func: Any, x: TracedCodes, number: float) -> TracedCodes:
        if not number > 0 or isinstance(x.grid.scale, torch.Tensor):
            raise unsupported_error(
                f"quantized.mul_scalar by {number:g} is not supported", "use a positive number, or dequantize first"
            )
        return round_to_grid(after(x.values * number), Grid(x.grid.scale * number, x.grid.zero_point, x.dtype))

    return run


def _cat(after: Callable[[Any], Any]) -> Callable[..., Any]:
    def run(_func: Any, parts: Any, dim: int, scale: Any = None, zero_point: Any = None) -> TracedCodes:
        own = first_codes(parts).grid
        grid = own if scale is None else Grid(scale, zero_point, own.dtype)
        return round_to_grid(after(torch.cat(floats(list(parts)), dim)), grid)

    return run


def _batch_norm(x: Any, weight: Any, bias: Any, mean: Any, variance: Any, eps: float) -> Any:
    return F.batch_norm(x, mean, variance, weight, bias, False, 0.0, eps)


def _relu6(_func: Any, x: TracedCodes, *_options: Any) -> TracedCodes:
    return round_to_grid(F.relu6(x.values), x.grid)


def _embedding(_func: Any, weight: Any, indices: Any, *_options: Any, **_named: Any) -> Any:
    """Rows of a table, as floats."""
    return F.embedding(indices, weight.table)


_RELU = torch.relu
_BATCH_NORMS = ("batch_norm", "batch_norm1d", "batch_norm2d", "batch_norm3d")
_BATCH_NORMS_RELU = ("batch_norm_relu", "batch_norm2d_relu", "batch_norm3d_relu")
OPERATORS: dict[str, Callable[..., Any]] = {
    **{f"conv{rank}d": _round_result(_convolution(function), 2) for rank, function in CONVOLUTIONS.items()},
    **{f"conv{rank}d_relu": _round_result(_convolution(function), 2, _RELU) for rank, function in CONVOLUTIONS.items()},
    **{f"conv_transpose{rank}d": _round_result(_convolution(function), 2) for rank, function in TRANSPOSED.items()},
    "conv2d_add": _round_result(lambda x, other, weight: weight.convolve(F.conv2d, x) + other, 3),
    "conv2d_add_relu": _round_result(lambda x, other, weight: weight.convolve(F.conv2d, x) + other, 3, _RELU),
    "linear": _round_result(_linear, 2),
    "linear_relu": _round_result(_linear, 2, _RELU),
    "linear_tanh": _round_result(_linear, 2, torch.tanh),
    "linear_leaky_relu": _round_result(lambda x, weight, slope: F.leaky_relu(_linear(x, weight), slope), 2, options=1),
    "linear_dynamic": _dynamic_linear_then(_identity),
    "linear_relu_dynamic": _dynamic_linear_then(_RELU),
    "add": _round_result(torch.add, 2),
    "add_relu": _round_result(torch.add, 2, _RELU),
    "mul": _round_result(torch.mul, 2),
    "mul_relu": _round_result(torch.mul, 2, _RELU),
    "mul_scalar": _multiply_number(_identity),
    "mul_scalar_relu": _multiply_number(_RELU),
    "matmul": _round_result(torch.matmul, 2),
    "cat": _cat(_identity),
    "cat_relu": _cat(_RELU),
    **dict.fromkeys(_BATCH_NORMS, _round_result(_batch_norm, 6)),
    **dict.fromkeys(_BATCH_NORMS_RELU, _round_result(_batch_norm, 6, _RELU)),
    "layer_norm": _round_result(F.layer_norm, 5),
    "group_norm": _round_result(F.group_norm, 5),
    "instance_norm": _round_result(lambda x, w, b, eps: F.instance_norm(x, weight=w, bias=b, eps=eps), 4),
    "hardswish": _round_result(F.hardswish, 1),
    "sigmoid": _round_result(torch.sigmoid, 1),
    "celu": _round_result(F.celu, 1, options=1),
    "elu": _round_result(F.elu, 1, options=1),
    "leaky_relu": _round_result(lambda x, slope, _inplace: F.leaky_relu(x, slope), 3),
    "softmax": _round_result(F.softmax, 2),
    "prelu": _round_result(F.prelu, 2),
    "relu6": _relu6,
    "dropout": lambda _func, x, *_options: x,
    "embedding_byte": _embedding,
    "embedding_4bit": _embedding,
}
