"""Matrix products and the bias."""

from __future__ import annotations

from typing import Any

from tvm import relax

from tvmq.relay.expr import Call, Expr
from tvmq.relay.op.arguments import call, text
from tvmq.relay.op.registry import completes, register
from tvmq.relay.types import TensorType


def _swapped(emit: Any, value: Any, swap: bool) -> Any:
    """A matrix, or a stack of them, with rows and columns exchanged."""
    if not swap:
        return value
    rank = len(value.ty.shape)
    return emit(relax.op.permute_dims(value, [*range(rank - 2), rank - 1, rank - 2]))


@register("nn.dense", units=None, out_dtype="")
def _dense(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.matmul(args[0], _swapped(emit, args[1], True), text(attrs.out_dtype)))


@register("nn.matmul", units=None, out_dtype="", transpose_a=False, transpose_b=False)
def _matmul(emit: Any, args: list[Any], attrs: Any) -> Any:
    left, right = _swapped(emit, args[0], attrs.transpose_a), _swapped(emit, args[1], attrs.transpose_b)
    return emit(relax.op.matmul(left, right, text(attrs.out_dtype)))


# A text leaves transpose_b out where it is False; the function below has Relay's other default
@register("nn.batch_matmul", out_dtype="", transpose_a=False, transpose_b=False)
def _batch_matmul(emit: Any, args: list[Any], attrs: Any) -> Any:
    return _matmul(emit, args, attrs)


@register("nn.bias_add", axis=1)
def _bias_add(emit: Any, args: list[Any], attrs: Any) -> Any:
    data, bias = args
    rank = len(data.ty.shape)
    shape = [1] * rank
    shape[attrs.axis] = bias.ty.shape[0]
    aligned = bias if attrs.axis % rank == rank - 1 else emit(relax.op.reshape(bias, shape))
    return emit(relax.op.add(data, aligned))


@completes("nn.dense")
def _dense_weight(known: list[Any], attrs: Any) -> dict[int, TensorType]:
    data = known[0]
    return {} if data is None or attrs.units is None else {1: TensorType((attrs.units, data.shape[-1]), data.dtype)}


@completes("nn.matmul")
def _matmul_weight(known: list[Any], attrs: Any) -> dict[int, TensorType]:
    data = known[0]
    if data is None or attrs.units is None:
        return {}
    shape = (data.shape[-2] if attrs.transpose_a else data.shape[-1], attrs.units)
    return {1: TensorType(shape[::-1] if attrs.transpose_b else shape, data.dtype)}


@completes("nn.bias_add")
def _bias_type(known: list[Any], attrs: Any) -> dict[int, TensorType]:
    data = known[0]
    return {} if data is None else {1: TensorType((data.shape[attrs.axis],), data.dtype)}


def dense(data: Expr, weight: Expr, units: int | None = None, out_dtype: str = "") -> Call:
    """data x weight transposed, as relay.nn.dense; weight (units, in).

    >>> from tvmq.relay.expr import var
    >>> str(dense(var("x", shape=(2, 3)), var("weight"), units=4).checked_type)
    'Tensor[(2, 4), float32]'
    """
    return call("nn.dense", data, weight, units=units, out_dtype=out_dtype)


def matmul(
    tensor_a: Expr, tensor_b: Expr, units: int | None = None, out_dtype: str = "", transpose_a: bool = False,
    transpose_b: bool = False,
) -> Call:  # fmt: skip
    """Product of two matrices, as relay.nn.matmul."""
    options = {"units": units, "out_dtype": out_dtype, "transpose_a": transpose_a, "transpose_b": transpose_b}
    return call("nn.matmul", tensor_a, tensor_b, **options)


def batch_matmul(
    tensor_a: Expr, tensor_b: Expr, out_dtype: str = "", transpose_a: bool = False, transpose_b: bool = True
) -> Call:
    """Products of two stacks of matrices, as relay.nn.batch_matmul: the second is transposed unless told otherwise."""
    options = {"out_dtype": out_dtype, "transpose_a": transpose_a, "transpose_b": transpose_b}
    return call("nn.batch_matmul", tensor_a, tensor_b, **options)


def bias_add(data: Expr, bias: Expr, axis: int = 1) -> Call:
    """data + bias along an axis, as relay.nn.bias_add."""
    return call("nn.bias_add", data, bias, axis=axis)
