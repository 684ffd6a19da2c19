"""Choice of the kernel template for an operator: by shape, types, weights and instruction set; the first that fits.

Every template gives the same bits, so a choice is about speed alone. None means: no template, the generic way is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from tvmq.kernels import pool
from tvmq.kernels.attention import attention, batch_matmul, batch_matmul_float, dynamic_matmul, dynamic_scores
from tvmq.kernels.attention.shape import MOST_DEPTH, Attention, BatchMatmul
from tvmq.kernels.attention.shape import fits as attention_fits
from tvmq.kernels.calibrate import observe
from tvmq.kernels.conv import conv2d, conv2d_float, conv2d_int16, matmul, matmul_float, stack_depth
from tvmq.kernels.depthwise import depthwise, depthwise_float
from tvmq.kernels.elementwise import convert, multiply, table
from tvmq.kernels.move import concat, depth_to_space, transpose
from tvmq.kernels.norm import float_sum, group_norm, layer_norm, softmax
from tvmq.kernels.parts.packing import Narrow
from tvmq.kernels.parts.types import (
    Add,
    Conv2d,
    Dequantize,
    Epilogue,
    FixedRequantize,
    Isa,
    Kernel,
    KernelMaker,
    Requantize,
)
from tvmq.kernels.winograd import winograd
from tvmq.kernels.winograd.winograd import choose_winograd
from tvmq.lower.cuda import select as cuda

Shape = tuple[int, ...]
CODES = ("uint8", "int8")
WIDE_CODES = (*CODES, "int16")
KIND = "cuda"  # name of the instruction set of GPUs
Choice = TypeVar("Choice", bound=Callable[..., Kernel | None])


def of_cpus(choose: Choice) -> Choice:
    """None for a GPU: its kernels have rules of their own (lower/cuda/lowerer.py), all else is scheduled there."""

    @wraps(choose)
    def chosen(*args: Any, **options: Any) -> Kernel | None:
        is_gpu = any(isinstance(arg, Isa) and arg.name == KIND for arg in args)
        return None if is_gpu else choose(*args, **options)

    return chosen  # type: ignore[return-value]


def conv2d_kernel(
    conv: Conv2d,
    weight: np.ndarray,
    bias: np.ndarray | None,
    x_zero: int,
    epilogue: Epilogue,
    isa: Isa,
    *,
    narrow: Narrow | None = None,
    codes: tuple[int, int] | None = None,
) -> Kernel | None:
    """The kernel of a convolution with constant weights (OIHW), any type.

    narrow  float weights as codes
    codes   lowest and highest code that x can hold, where more is known than its type
    """
    if isa.name == KIND:
        return cuda.conv2d_kernel(conv, weight, bias, x_zero, epilogue, isa.arch)
    is_depthwise = conv.groups == conv.channels == conv.filters and conv.groups > 1
    if conv.x_dtype == "float32":
        if x_zero != 0:
            return None
        if is_depthwise:
            return depthwise_float.depthwise_float(conv, weight, bias, epilogue, isa)
        return conv2d_float.conv2d_float(conv, weight, bias, epilogue, isa, narrow=narrow)
    if bias is None:
        bias = np.zeros(conv.filters, np.int32)
    if is_depthwise and epilogue:
        return depthwise.depthwise(conv, weight, bias, x_zero, epilogue, isa)
    direct = conv2d_int16.lane_gain(conv, weight, x_zero, isa, codes)
    choice = choose_winograd(conv, weight, x_zero, isa, direct=direct)
    if choice.shape is not None:
        return replace(winograd.make_winograd(choice.shape, weight, bias, epilogue), note=choice.note)
    folded, note = conv2d_int16.lane_kernel("conv2d", conv, weight, bias, x_zero, epilogue, isa, codes)
    kernel = folded or conv2d.conv2d(conv, weight, bias, x_zero, epilogue, isa)
    return replace(kernel, note="; ".join(text for text in (note, choice.note) if text))


def free_matmul_kernel(
    rows: tuple[int | str, ...],
    weight: np.ndarray,
    bias: np.ndarray | None,
    epilogue: Epilogue,
    x_dtype: str,
    isa: Isa,
    *,
    narrow: Narrow | None = None,
    codes: tuple[int, int] | None = None,
) -> Kernel:
    """The kernel of a product of x [*rows, depth] with a constant matrix [depth, columns]; names are free sizes."""
    if x_dtype == "float32":
        return matmul_float.matmul_float(rows, weight, bias, epilogue, isa, narrow=narrow)
    bias = np.zeros(weight.shape[1], np.int32) if bias is None else bias
    return matmul.matmul(
        rows, weight.shape[0], weight.shape[1], weight, bias, epilogue, isa, x_dtype=x_dtype, codes=codes
    )


def stack_depth_kernel(windows: stack_depth.DepthWindows, fill: float, dtype: str, isa: Isa) -> Kernel:
    """Slices of a volume as channels; types of one and four bytes."""
    return stack_depth.stack_depth(windows, fill, isa, dtype)


def depth_to_space_kernel(spread: depth_to_space.Spread, dtype: str, isa: Isa) -> Kernel:
    """Channels spread over pixels, any type."""
    return depth_to_space.depth_to_space(spread, isa, dtype)


def batch_matmul_kernel(
    product: BatchMatmul, step: Requantize | FixedRequantize | Dequantize | None, isa: Isa
) -> Kernel | None:
    """Product of two tensors of codes that are both given at run time."""
    if isa.name == KIND:
        return cuda.batch_matmul_kernel(product, step, isa.arch)
    fits = product.a.column == product.y.column == 1 and 1 in (product.b.row, product.b.column)
    if not fits or product.a.dtype not in CODES or product.b.dtype not in CODES:
        return None
    if product.depth > MOST_DEPTH or min(product.rows, product.depth, product.columns) < 1:
        return None
    assert not isinstance(step, FixedRequantize)  # chains for CPUs have none
    return batch_matmul.batch_matmul(product, step, isa)


@of_cpus
def batch_matmul_float_kernel(product: BatchMatmul, isa: Isa) -> Kernel | None:
    """Product of two float tensors that are both given at run time."""
    if product.a.column != 1 or product.y.column != 1 or 1 not in (product.b.row, product.b.column):
        return None
    fits = min((*product.batch, product.rows, product.depth, product.columns)) >= 1
    return batch_matmul_float.batch_matmul_float(product, isa) if fits else None


def attention_kernel(
    shape: Attention, score_scale: float, code_scale: float, step: Requantize | Dequantize, isa: Isa
) -> Kernel | None:
    """Both products of an attention and the softmax between them."""
    if not attention_fits(shape, score_scale, code_scale):
        return None
    return attention.attention(shape, score_scale, code_scale, step, isa)


def free_product_kernel(product: dynamic_matmul.FreeMatmul, isa: Isa) -> Kernel | None:
    """Product of two tensors of codes of free sizes; sums in int32."""
    return dynamic_matmul.free_matmul(product, isa) if set(product.dtypes) <= set(CODES) else None


@of_cpus
def free_scores_kernel(
    scores: dynamic_scores.FreeScores, score_scale: float, code_scale: float, isa: Isa
) -> Kernel | None:
    """From sums of free sizes to the codes of their softmax; None for scales that have no proof."""
    if not dynamic_scores.is_proved(scores, score_scale, code_scale):
        return None
    return dynamic_scores.free_scores(scores, score_scale, code_scale, isa)


@of_cpus
def add_kernel(a: Shape, b: Shape, step: Add, a_dtype: str, isa: Isa) -> Kernel | None:
    """Sum of two activations of one shape."""
    if a != b or a_dtype not in WIDE_CODES or step.b_dtype not in WIDE_CODES:
        return None
    return multiply.add(a, step, isa, a_dtype)


@of_cpus
def multiply_kernel(
    a: Shape, b: Shape, step: Requantize, zeros: tuple[int, int], dtypes: tuple[str, str], isa: Isa
) -> Kernel | None:
    """Product of two activations, the second broadcast to the first, as codes."""
    if len(a) != len(b) or any(y not in (1, x) for x, y in zip(a, b, strict=True)):
        return None
    if np.unique(step.multiplier).size != 1:
        return None
    return multiply.multiply(a, b, step, isa, a_zero=zeros[0], b_zero=zeros[1], a_dtype=dtypes[0], b_dtype=dtypes[1])


@of_cpus
def table_kernel(shape: Shape, dtype: str, values: np.ndarray, isa: Isa) -> Kernel | None:
    """256-entry lookup from codes to codes."""
    return table.table(shape, dtype, values, isa) if values.dtype in CODES else None


@of_cpus
def quantize_kernel(
    shape: Shape, scale: np.ndarray, codes: tuple[int, int, int, str], isa: Isa, *, to_nhwc: bool
) -> Kernel | None:
    """Floats to codes with one scale; codes: zero point, qmin, qmax, dtype; `to_nhwc` also moves the channels last."""
    if scale.size != 1 or codes[3] not in (CODES if to_nhwc else WIDE_CODES):
        return None
    maker = transpose.quantize_to_nhwc if to_nhwc else convert.quantize
    zero_point, qmin, qmax, dtype = codes
    return maker(shape, scale, zero_point, isa, dtype=dtype, qmin=qmin, qmax=qmax)


@of_cpus
def quantize_view_kernel(
    given: Shape, view: convert.Strides, scale: np.ndarray, codes: tuple[int, int, int, str], isa: Isa
) -> Kernel | None:
    """Floats at any distances to codes beside each other; see convert.quantize_view."""
    _, shape, strides = view
    if scale.size != 1 or codes[3] not in CODES or 0 in shape or strides[-1:] != (1,):
        return None
    return convert.quantize_view(given, view, scale, codes, isa)


@of_cpus
def dequantize_kernel(
    shape: Shape, dtype: str, scale: np.ndarray, zero_point: np.ndarray, isa: Isa, *, to_nchw: bool
) -> Kernel | None:
    """Codes or sums to floats; one scale or one a channel of the last axis; `to_nchw` also moves the channels
    forward."""
    if dtype not in ((*CODES, "int32") if to_nchw else (*WIDE_CODES, "int32")) or (
        to_nchw and (scale.size != 1 or zero_point.size != 1)
    ):
        return None
    maker = transpose.dequantize_to_nchw if to_nchw else convert.dequantize
    return maker(shape, dtype, scale, zero_point, isa)


@of_cpus
def max_pool_kernel(windows: pool.Pool2d, dtype: str, isa: Isa) -> Kernel | None:
    """Highest code or float under each window."""
    fits = dtype in CODES or (dtype == "float32" and pool.takes_floats(windows))
    return pool.max_pool(windows, isa, dtype) if fits else None


@of_cpus
def sum_pool_kernel(windows: pool.Pool2d, step: Requantize, zero_point: int, dtype: str, isa: Isa) -> Kernel | None:
    """Sums under windows, requantized: average pooling."""
    return pool.sum_pool(windows, (step,), isa, zero_point=zero_point, dtype=dtype) if dtype in CODES else None


def softmax_kernel(shape: Shape, axis: int, isa: Isa) -> Kernel | None:
    """Softmax in our own float definition."""
    return softmax.softmax(shape, isa, axis)


def observe_kernel(place: np.ndarray, isa: Isa) -> Kernel:
    """Statistics of a tensor; place: what observers.streamed says of it."""
    return observe.observe(place, isa)


def layer_norm_kernel(norm: layer_norm.LayerNorm, scale: float, isa: Isa) -> Kernel | None:
    """Layer or rms norm in our own float definition, with a sum before and codes behind; scale: that of the codes."""
    return layer_norm.layer_norm(norm, scale, isa) if 0 not in norm.shape else None


def norm_kernel(norm: group_norm.Norm, isa: Isa) -> Kernel | None:
    """Group or instance norm in our own float definition."""
    return group_norm.group_norm(norm, isa) if norm.batch * norm.length else None


@of_cpus
def float_sum_kernel(shape: float_sum.FloatSum, isa: Isa) -> Kernel | None:
    """Sum or mean over the middle one of three axes."""
    return float_sum.float_sum(shape, isa) if min(shape.outer, shape.count, shape.inner) else None


@of_cpus
def transpose_kernel(shape: Shape, axes: Shape, dtype: str, isa: Isa) -> Kernel | None:
    """NCHW to NHWC and back."""
    if dtype not in (*CODES, "float32"):
        return None
    makers: dict[Shape, KernelMaker] = {(0, 2, 3, 1): transpose.to_nhwc, (0, 3, 1, 2): transpose.to_nchw}
    maker = makers.get(axes)
    return maker(shape, isa, dtype) if maker else None


@of_cpus
def concat_kernel(shapes: Sequence[Shape], axis: int, dtypes: Sequence[str], isa: Isa) -> Kernel | None:
    """Tensors of one type behind each other."""
    if len(set(dtypes)) != 1 or dtypes[0] not in (*CODES, "float32"):
        return None
    return concat.concat(shapes, axis, isa, dtypes[0])


@of_cpus
def pad_kernel(shape: Shape, width: Sequence[tuple[int, int]], value: float, dtype: str, isa: Isa) -> Kernel | None:
    """A border of one value."""
    if dtype not in (*CODES, "float32") or min(min(sides) for sides in width) < 0:
        return None
    return concat.pad(shape, width, value, isa, dtype)


@of_cpus
def prelu_kernel(shape: Shape, slopes: np.ndarray, step: table.Prelu, isa: Isa) -> Kernel | None:
    """Another factor below zero, one for each channel of the last axis."""
    return table.prelu(shape, slopes, step, isa) if {step.dtype, step.x_dtype} <= set(CODES) else None


@of_cpus
def frame_kernel(shape: Shape, padding: tuple[int, int, int, int], pixel: np.ndarray, isa: Isa) -> Kernel | None:
    """A border of one pixel."""
    return stack_depth.add_border(shape, padding, pixel, isa) if str(pixel.dtype) in CODES else None


@of_cpus
def resize_kernel(shape: Shape, factors: tuple[int, int], dtype: str, isa: Isa) -> Kernel | None:
    """Nearest resize by whole factors: every pixel repeated."""
    if dtype not in (*CODES, "float32"):
        return None
    rows, columns = (np.repeat(np.arange(size), factor) for size, factor in zip(shape[1:3], factors, strict=True))
    return depth_to_space.resize(shape, rows, columns, isa, dtype)
