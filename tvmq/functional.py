"""Layers on quantized tensors, one at a time: codes in, codes of a scale that is given out.

    import tvmq.functional as F

    y = F.relu(F.conv2d(x, w, bias, padding=1, scale=0.02, zero_point=128))

Each computes what a network of this layer computes that is quantized with these scales: its constants are those that
the pass realize derives, its arithmetic is that of `tvmq.numerics`. The options requantize, rounding and factors of the
`qconfig` in force apply. All take these keywords:

scale, zero_point  of the result
spec               type and bits of the result's codes; None: those of x
target             None computes by the NumPy definition; "llvm", say, compiles the layer once, with the same result

They raise ConfigError for tensors that do not fit the layer, AccumulatorError where sums could leave int32, and
RangeError for a scale that is none.

Tests: tests/test_functional.py

>>> from tvmq import QParams, QuantSpec, QTensor
>>> import numpy as np
>>> x = QTensor(np.uint8([[4, 7]]), QParams(0.5, 3, QuantSpec()))
>>> w = QTensor(np.int8([[1, 2], [0, -4]]), QParams(0.25, 0, QuantSpec("int8", symmetric=True)))
>>> np.asarray(linear(x, w, np.float32([0.0, 1.0]), scale=0.125, zero_point=20))
array([[ 1.125, -1.   ]], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from tvm import relax

from tvmq.errors import ConfigError
from tvmq.numerics.spec import QParams, QuantSpec
from tvmq.quantization.one_layer import OneLayer
from tvmq.tensors.qtensor import QTensor

if TYPE_CHECKING:
    from typing import Unpack

__all__ = [
    "add",
    "avg_pool",
    "cat",
    "conv1d",
    "conv2d",
    "conv3d",
    "linear",
    "matmul",
    "max_pool",
    "mul",
    "relu",
]

Sizes = int | Sequence[int]


class ResultOptions(TypedDict, total=False):
    """Keywords of every layer, as the head of this module says."""

    scale: Any
    zero_point: Any
    spec: QuantSpec | None
    target: Any


class ConvolutionOptions(ResultOptions, total=False):
    """Keywords of a convolution."""

    stride: Sizes
    padding: Sizes
    dilation: Sizes
    groups: int


# Without a scale of the result that of the input stays
KEEPING = ("max_pool", "avg_pool")


def conv1d(x: QTensor, w: QTensor, bias: np.ndarray | None = None, **options: Unpack[ConvolutionOptions]) -> QTensor:
    """Convolution of x (N, C, L) with w (F, C / groups, K); options as of `conv2d`."""
    return _convolution("conv1d", 1, x, w, bias, **options)


def conv2d(x: QTensor, w: QTensor, bias: np.ndarray | None = None, **options: Unpack[ConvolutionOptions]) -> QTensor:
    """Convolution of x (N, C, H, W) with w (F, C / groups, R, S).

    x        one scale
    w        one scale, or one a filter (axis 0); codes minus their zero point must fit int8
    bias     real numbers, (F,); it becomes round(bias / (scale_x * scale_w))
    options  stride=1, padding=0, dilation=1 (an int or one for each axis), groups=1, and those of all functionals
    """
    return _convolution("conv2d", 2, x, w, bias, **options)


def conv3d(x: QTensor, w: QTensor, bias: np.ndarray | None = None, **options: Unpack[ConvolutionOptions]) -> QTensor:
    """Convolution of x (N, C, D, H, W) with w (F, C / groups, Q, R, S); options as of `conv2d`."""
    return _convolution("conv3d", 3, x, w, bias, **options)


def _convolution(
    name: str,
    axes: int,
    x: QTensor,
    w: QTensor,
    bias: np.ndarray | None,
    *,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    **result: Unpack[ResultOptions],
) -> QTensor:
    _check_ranks(name, x=(x, axes + 2), w=(w, axes + 2))
    _check_scales(name, x=(x, None), w=(w, 0))
    _check_integer(name, "groups", groups)
    if groups < 1:
        raise ConfigError(f"functional.{name}: groups must be at least 1. Got {groups} instead")
    operator = getattr(relax.op.nn, name)
    options = {
        "strides": _sizes(name, "stride", stride, axes),
        "padding": _sizes(name, "padding", padding, axes) * 2,
        "dilation": _sizes(name, "dilation", dilation, axes),
        "groups": groups,
    }
    shape = (1, -1) + (1,) * axes
    return _with_bias(name, operator, options, x, w, bias, w.shape[0], shape, result)


def linear(x: QTensor, w: QTensor, bias: np.ndarray | None = None, **result: Unpack[ResultOptions]) -> QTensor:
    """x @ w.T + bias, of x (..., C) and w (F, C).

    x     one scale, two axes or more
    w     one scale, or one for each of the F outputs (axis 0)
    bias  real numbers, (F,)
    """
    _check_ranks("linear", w=(w, 2))
    _check_scales("linear", x=(x, None), w=(w, 0))
    return _with_bias("linear", relax.op.matmul, {}, x, w.T, bias, w.shape[0], (-1,), result)


def _with_bias(
    name: str,
    operator: Callable[..., relax.Expr],
    options: dict[str, Any],
    x: QTensor,
    w: QTensor,
    bias: np.ndarray | None,
    channels: int,
    shape: tuple[int, ...],
    result: ResultOptions,
) -> QTensor:
    """A product with a constant, and its bias laid out in a shape."""
    if bias is not None and np.shape(bias) != (channels,):
        raise ConfigError(f"functional.{name}: bias must have shape ({channels},). Got {np.shape(bias)} instead")
    try:
        constant = None if bias is None else np.asarray(bias, np.float32).reshape(shape)
    except ValueError as error:
        raise ConfigError(f"functional.{name}: bias must be real numbers: {error}") from error
    return _run(OneLayer(name, operator, options, [w], constant), [x], **result)


def matmul(a: QTensor, b: QTensor, **result: Unpack[ResultOptions]) -> QTensor:
    """a @ b of two tensors (..., M, K) and (..., K, N) of one scale each."""
    _check_scales("matmul", a=(a, None), b=(b, None))
    return _run(OneLayer("matmul", relax.op.matmul), [a, b], **result)


def add(a: QTensor, b: QTensor, **result: Unpack[ResultOptions]) -> QTensor:
    """a + b of tensors that broadcast, of one scale each."""
    _check_scales("add", a=(a, None), b=(b, None))
    return _run(OneLayer("add", relax.op.add), [a, b], **result)


def mul(a: QTensor, b: QTensor, **result: Unpack[ResultOptions]) -> QTensor:
    """a * b of tensors that broadcast, of one scale each."""
    _check_scales("mul", a=(a, None), b=(b, None))
    return _run(OneLayer("mul", relax.op.multiply), [a, b], **result)


def cat(parts: Sequence[QTensor], axis: int = 0, **result: Unpack[ResultOptions]) -> QTensor:
    """The parts one behind the other along an axis, each brought to the scale of the result."""
    if isinstance(parts, QTensor) or not isinstance(parts, Sequence):
        raise ConfigError(f"functional.cat: parts must be a list of QTensors. Got {type(parts).__name__} instead")
    if not parts:
        raise ConfigError("functional.cat: there are no parts; give one tensor or more")
    _check_integer("cat", "axis", axis)
    _check_scales("cat", **{f"parts[{i}]": (part, None) for i, part in enumerate(parts)})

    def join(*parts: relax.Expr, axis: int) -> relax.Expr:
        return relax.op.concat(list(parts), axis)

    return _run(OneLayer("cat", join, {"axis": axis}), list(parts), **result)


def relu(x: QTensor) -> QTensor:
    """max(x, 0), on codes: the scale stays. Behind a layer it gives what the layer with a relu gives."""
    if not isinstance(x, QTensor):
        raise _no_tensor("relu", "x", x)
    return x.relu()


def max_pool(
    x: QTensor,
    kernel: Sizes,
    *,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    target: Any = None,
) -> QTensor:
    """Maximum of windows of x (N, C, and one to three axes), on codes: the scale stays, padding never wins.

    stride  None: that of the kernel
    """
    name, axes = _pool("max_pool", x)
    options = _windows(name, axes, kernel, stride, padding) | {"ceil_mode": ceil_mode}
    options["dilation"] = _sizes(name, "dilation", dilation, axes)
    layer = OneLayer(name, getattr(relax.op.nn, f"max_pool{axes}d"), options)
    return _run(layer, [x], target=target)


def avg_pool(
    x: QTensor,
    kernel: Sizes,
    *,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    **result: Unpack[ResultOptions],
) -> QTensor:
    """Averages of windows of x (N, C, and one to three axes); without scale= those of x stay.

    stride  None: that of the kernel
    """
    name, axes = _pool("avg_pool", x)
    options = _windows(name, axes, kernel, stride, padding)
    options |= {"ceil_mode": ceil_mode, "count_include_pad": count_include_pad}
    return _run(OneLayer(name, getattr(relax.op.nn, f"avg_pool{axes}d"), options), [x], **result)


def _pool(name: str, x: QTensor) -> tuple[str, int]:
    """Name, and number of the axes of windows."""
    _check_scales(name, x=(x, None))
    if x.ndim not in (3, 4, 5):
        raise ConfigError(f"functional.{name}: x must have 3 to 5 axes (N, C, ...). Got shape {x.shape} instead")
    return name, x.ndim - 2


def _windows(name: str, axes: int, kernel: Sizes, stride: Sizes | None, padding: Sizes) -> dict[str, Any]:
    return {
        "pool_size": _sizes(name, "kernel", kernel, axes),
        "strides": _sizes(name, "stride", kernel if stride is None else stride, axes),
        "padding": _sizes(name, "padding", padding, axes) * 2,
    }


def _sizes(name: str, what: str, sizes: Sizes, axes: int) -> list[int]:
    """A number for each axis."""
    listed = [sizes] * axes if isinstance(sizes, int | np.integer) else list(np.atleast_1d(sizes))
    if len(listed) != axes or not all(isinstance(size, int | np.integer) for size in listed):
        raise ConfigError(f"functional.{name}: {what} must be an int or {axes} of them. Got {sizes!r} instead")
    least = 0 if what == "padding" else 1
    if min(listed) < least:
        raise ConfigError(f"functional.{name}: {what} must be at least {least}. Got {sizes!r} instead")
    return [int(size) for size in listed]


def _check_integer(name: str, what: str, value: Any) -> None:
    if not isinstance(value, int | np.integer):
        raise ConfigError(f"functional.{name}: {what} must be an int. Got {value!r} instead")


def _check_ranks(name: str, **operands: tuple[QTensor, int]) -> None:
    for what, (q, rank) in operands.items():
        if not isinstance(q, QTensor):
            raise _no_tensor(name, what, q)
        if q.ndim != rank:
            raise ConfigError(f"functional.{name}: {what} must have {rank} axes. Got shape {q.shape} instead")


def _check_scales(name: str, **operands: tuple[QTensor, int | None]) -> None:
    """Refuse what is no quantized tensor, and scales of channels elsewhere than on the axis that may have them."""
    for what, (q, axis) in operands.items():
        if not isinstance(q, QTensor):
            raise _no_tensor(name, what, q)
        if q.axis is not None and q.axis != axis:
            wanted = "one scale" if axis is None else f"one scale, or one for each channel of axis {axis}"
            raise ConfigError(
                f"functional.{name}: {what} must have {wanted}. Got {q.scale.size} on axis {q.axis} instead; "
                f"quantize its .dequantize() so"
            )


def _no_tensor(name: str, what: str, value: Any) -> ConfigError:
    return ConfigError(
        f"functional.{name}: {what} must be a QTensor. Got {type(value).__name__} instead; "
        f"tvmq.quantize_tensor makes one"
    )


def _run(
    layer: OneLayer,
    inputs: Sequence[QTensor],
    *,
    scale: Any = None,
    zero_point: Any = None,
    spec: QuantSpec | None = None,
    target: Any = None,
) -> QTensor:
    """The layer with a result of this scale."""
    x, rounds = inputs[0].qparams, layer.name not in KEEPING
    if (scale is None or zero_point is None) and (rounds or scale is not zero_point):
        raise ConfigError(f"functional.{layer.name}: the scale of the result is missing; give scale= and zero_point=")
    if scale is None:
        scale, zero_point = x.scale, x.zero_point
    return layer.run(inputs, QParams(scale, zero_point, spec or x.spec), target)
