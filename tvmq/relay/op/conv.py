"""Convolutions, with Relay's signatures; padding is kept as the numbers of all sides.

Matrix products and the bias.

Tests: tests/relay/test_ops.py
"""

from __future__ import annotations

from typing import Any

from tvm import relax

from tvmq.errors import ModelError
from tvmq.relay.expr import Call, Expr
from tvmq.relay.op.arguments import call, sides, spread, text
from tvmq.relay.op.elementwise import relax_op
from tvmq.relay.op.registry import completes, register
from tvmq.relay.types import TensorType, numbers

_SPATIAL = "DHW"


def _defaults(rank: int, kernel_layout: str) -> dict[str, Any]:
    """Attributes that a text leaves out, for convolutions of `rank` spatial dimensions."""
    ones = (1,) * rank
    return {
        "strides": ones, "padding": (0,) * rank, "dilation": ones, "groups": 1, "channels": None, "kernel_size": None,
        "data_layout": f"NC{_SPATIAL[-rank:]}", "kernel_layout": kernel_layout, "out_layout": "", "out_dtype": "",
    }  # fmt: skip


def _common_options(attrs: Any, rank: int) -> dict[str, Any]:
    """Options that all convolutions of Relax share."""
    return {
        "strides": list(spread(attrs.strides, rank)), "padding": list(sides(attrs.padding, rank)),
        "dilation": list(spread(attrs.dilation, rank)), "groups": int(attrs.groups),
        "data_layout": attrs.data_layout, "kernel_layout": attrs.kernel_layout,
        "out_layout": text(attrs.out_layout), "out_dtype": text(attrs.out_dtype),
    }  # fmt: skip


def check_weight(weight: Any, attrs: Any, *, transposed: bool = False) -> None:
    """Raise ModelError for a weight that contradicts channels or kernel_size."""
    shape = dict(zip(attrs.kernel_layout, weight.ty.shape, strict=True))
    kernel = [int(shape[axis]) for axis in attrs.kernel_layout if axis in _SPATIAL]
    channels = int(shape["O"]) * (attrs.groups if transposed else 1)
    if attrs.channels is not None and channels != int(attrs.channels):
        raise ModelError(f"relay: a weight for {channels} channels, channels={attrs.channels}; make them equal")
    if attrs.kernel_size is not None and kernel != list(spread(attrs.kernel_size, len(kernel))):
        raise ModelError(f"relay: a weight of size {kernel}, kernel_size={attrs.kernel_size}; make them equal")


def _convolution(name: str, rank: int, kernel_layout: str) -> None:
    """Register a convolution."""
    transposed = "transpose" in name
    defaults = _defaults(rank, kernel_layout) | ({"output_padding": (0,) * rank} if transposed else {})

    def lowering(emit: Any, args: list[Any], attrs: Any) -> Any:
        check_weight(args[1], attrs, transposed=transposed)
        padded = {"output_padding": list(spread(attrs.output_padding, rank))} if transposed else {}
        return emit(relax_op(name)(*args, **_common_options(attrs, rank), **padded))

    def completion(known: list[Any], attrs: Any) -> dict[int, TensorType]:
        inner, outer = (1, attrs.groups) if transposed else (attrs.groups, 1)
        return _weight(known[0], attrs, out=attrs.channels, inner=inner, outer=outer)

    register(name, **defaults)(lowering)
    completes(name)(completion)


def _weight(data: TensorType | None, attrs: Any, *, out: Any, inner: int, outer: int) -> dict[int, TensorType]:
    """Type of a weight by channels and kernel_size; nothing where one of them is missing."""
    if data is None or out is None or attrs.kernel_size is None:
        return {}
    channels = dict(zip(attrs.data_layout, data.shape, strict=True))["C"]
    spatial = [axis for axis in attrs.kernel_layout if axis in _SPATIAL]
    sizes = dict(zip(spatial, spread(attrs.kernel_size, len(spatial)), strict=True))
    sizes |= {"O": int(out) // outer, "I": channels // inner}
    return {1: TensorType(tuple(sizes[axis] for axis in attrs.kernel_layout), data.dtype)}


_convolution("nn.conv1d", 1, "OIW")
_convolution("nn.conv2d", 2, "OIHW")
_convolution("nn.conv3d", 3, "OIDHW")
_convolution("nn.conv1d_transpose", 1, "IOW")
_convolution("nn.conv2d_transpose", 2, "IOHW")


def _call(name: str, rank: int, arguments: dict[str, Any]) -> Call:
    """The call for the arguments of a function; channels and kernel_size may be left open."""
    data, weight, options = arguments["data"], arguments["weight"], dict(arguments)
    del options["data"], options["weight"]
    channels, kernel_size = options["channels"], options["kernel_size"]
    options |= {key: spread(options[key], rank) for key in ("strides", "dilation")}
    options["padding"] = sides(options["padding"], rank)
    options["channels"] = None if channels is None else int(channels)
    options["kernel_size"] = None if kernel_size is None else spread(numbers(kernel_size), rank)
    return call(name, data, weight, **options)


def conv1d(
    data: Expr, weight: Expr, strides: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    channels: int | None = None, kernel_size: Any = None, data_layout: str = "NCW", kernel_layout: str = "OIW",
    out_layout: str = "", out_dtype: str = "",
) -> Call:  # fmt: skip
    """Convolution over one spatial dimension, as relay.nn.conv1d."""
    return _call("nn.conv1d", 1, locals())


def conv2d(
    data: Expr, weight: Expr, strides: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1), groups: int = 1,
    channels: int | None = None, kernel_size: Any = None, data_layout: str = "NCHW", kernel_layout: str = "OIHW",
    out_layout: str = "", out_dtype: str = "",
) -> Call:  # fmt: skip
    """Convolution over two spatial dimensions, as relay.nn.conv2d.

    A weight that is a variable without a type gets it from channels, kernel_size and the data.

    >>> from tvmq.relay.expr import var
    >>> weight = var("weight")
    >>> y = conv2d(var("data", shape=(1, 3, 8, 8)), weight, padding=1, channels=4, kernel_size=3)
    >>> str(y.checked_type), weight.checked_type.shape, y.attrs.padding
    ('Tensor[(1, 4, 8, 8), float32]', (4, 3, 3, 3), (1, 1, 1, 1))
    """
    return _call("nn.conv2d", 2, locals())


def conv3d(
    data: Expr, weight: Expr, strides: Any = (1, 1, 1), padding: Any = (0, 0, 0), dilation: Any = (1, 1, 1),
    groups: int = 1, channels: int | None = None, kernel_size: Any = None, data_layout: str = "NCDHW",
    kernel_layout: str = "OIDHW", out_layout: str = "", out_dtype: str = "",
) -> Call:  # fmt: skip
    """Convolution over three spatial dimensions, as relay.nn.conv3d."""
    return _call("nn.conv3d", 3, locals())


def conv1d_transpose(
    data: Expr, weight: Expr, strides: Any = (1,), padding: Any = (0,), dilation: Any = (1,), groups: int = 1,
    channels: int | None = None, kernel_size: Any = None, data_layout: str = "NCW", kernel_layout: str = "IOW",
    out_layout: str = "", output_padding: Any = (0,), out_dtype: str = "",
) -> Call:  # fmt: skip
    """Transposed convolution over one spatial dimension, as relay.nn.conv1d_transpose."""
    return _call("nn.conv1d_transpose", 1, locals())


def conv2d_transpose(
    data: Expr, weight: Expr, strides: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1), groups: int = 1,
    channels: int | None = None, kernel_size: Any = None, data_layout: str = "NCHW", kernel_layout: str = "IOHW",
    out_layout: str = "", output_padding: Any = (0, 0), out_dtype: str = "",
) -> Call:  # fmt: skip
    """Transposed convolution over two spatial dimensions, as relay.nn.conv2d_transpose."""
    return _call("nn.conv2d_transpose", 2, locals())


def _swap_sides(emit: Any, value: Any, swap: bool) -> Any:
    """A matrix, or a stack of them, with rows and columns exchanged."""
    if not swap:
        return value
    rank = len(value.ty.shape)
    return emit(relax.op.permute_dims(value, [*range(rank - 2), rank - 1, rank - 2]))


@register("nn.dense", units=None, out_dtype="")
def _dense(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.matmul(args[0], _swap_sides(emit, args[1], True), text(attrs.out_dtype)))


@register("nn.matmul", units=None, out_dtype="", transpose_a=False, transpose_b=False)
def _matmul(emit: Any, args: list[Any], attrs: Any) -> Any:
    left, right = _swap_sides(emit, args[0], attrs.transpose_a), _swap_sides(emit, args[1], attrs.transpose_b)
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
def channel_types(known: list[Any], attrs: Any) -> dict[int, TensorType]:
    """Types of operands that have a value for each channel of the first."""
    data = known[0]
    if data is None:
        return {}
    return {i: TensorType((data.shape[attrs.axis],), data.dtype) for i in range(1, len(known))}


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
