"""Choice of the template of a convolution: by shape, types, weights and instruction set; the first that fits.

Every template gives the same bits, so the choice is about speed alone.

Tests: tests/relay/test_scripts.py
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from tvmq.codegen.kernels.conv.conv2d import conv2d
from tvmq.codegen.kernels.conv.conv2d_amx import conv2d_amx, fits_tiles
from tvmq.codegen.kernels.conv.conv2d_float import conv2d_float
from tvmq.codegen.kernels.conv.conv2d_int16 import lane_gain, lane_kernel
from tvmq.codegen.kernels.conv.dynamic_pictures import dynamic_convolution
from tvmq.codegen.kernels.conv.matmul import multiply_rows
from tvmq.codegen.kernels.depthwise.depthwise import depthwise
from tvmq.codegen.kernels.depthwise.depthwise_float import depthwise_float
from tvmq.codegen.kernels.depthwise.dynamic_depthwise import dynamic_depthwise
from tvmq.codegen.kernels.depthwise.dynamic_depthwise_float import dynamic_depthwise_float
from tvmq.codegen.kernels.parts.builder import Shape
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Epilogue, Isa, Kernel
from tvmq.codegen.kernels.parts.packing import Int4Weights
from tvmq.codegen.kernels.winograd.dynamic_winograd import dynamic_winograd
from tvmq.codegen.kernels.winograd.few_pixels import add_direct
from tvmq.codegen.kernels.winograd.winograd import choose_winograd, make_winograd


def choose_convolution(
    conv: Conv2d,
    weight: np.ndarray,
    bias: np.ndarray | None,
    x_zero: int,
    epilogue: Epilogue,
    isa: Isa,
    *,
    int4: Int4Weights | None = None,
    codes: tuple[int, int] | None = None,
    sizes: Shape | None = None,
) -> Kernel | None:
    """The kernel of a convolution with constant weights (OIHW), any type.

    None for floats padded with another value than 0.

    int4    float weights as codes
    codes   lowest and highest code that x can hold, where more is known than its type
    sizes   batch, rows and columns of x, then of y, where some are dynamic: names stand for those, and `conv` has
            usual ones in their places
    """
    if conv.x_dtype == "float32" and x_zero != 0:
        return None
    if sizes is not None and conv.kernel == conv.strides == (1, 1) and not any(conv.padding) and conv.groups == 1:
        matrix = np.ascontiguousarray(weight[:, :, 0, 0].T)
        return multiply_rows(sizes[:3], matrix, bias, epilogue, conv.x_dtype, isa, codes=codes)
    is_depthwise = conv.groups == conv.channels == conv.filters and conv.groups > 1
    if sizes is not None:
        if is_depthwise and conv.x_dtype == "float32":
            return dynamic_depthwise_float(conv, sizes, weight, bias, epilogue, isa)
        if conv.x_dtype == "float32":
            return dynamic_convolution(conv, sizes, weight, bias, x_zero, epilogue, isa)
        return _dynamic_codes(conv, sizes, weight, bias, x_zero, epilogue, isa, codes)
    if conv.x_dtype == "float32":
        if is_depthwise:
            return depthwise_float(conv, weight, bias, epilogue, isa)
        return conv2d_float(conv, weight, bias, epilogue, isa, int4=int4)
    if bias is None:
        bias = np.zeros(conv.filters, np.int32)
    if is_depthwise and epilogue:
        return depthwise(conv, weight, bias, x_zero, epilogue, isa)
    if fits_tiles(conv, weight, isa):
        return conv2d_amx(conv, weight, bias, x_zero, epilogue, isa)
    direct = lane_gain(conv, weight, x_zero, isa, codes)
    choice = choose_winograd(conv, weight, x_zero, isa, direct=direct)
    if choice.shape is not None:
        return replace(make_winograd(choice.shape, weight, bias, epilogue), note=choice.note)
    folded, note = lane_kernel("conv2d", conv, weight, bias, x_zero, epilogue, isa, codes)
    kernel = folded or conv2d(conv, weight, bias, x_zero, epilogue, isa)
    return replace(kernel, note="; ".join(text for text in (note, choice.note) if text))


def _dynamic_codes(
    conv: Conv2d,
    sizes: Shape,
    weight: np.ndarray,
    bias: np.ndarray | None,
    x_zero: int,
    epilogue: Epilogue,
    isa: Isa,
    codes: tuple[int, int] | None,
) -> Kernel:
    """The kernel of a convolution of codes of dynamic sizes, by what is best at the usual ones."""
    bias = np.zeros(conv.filters, np.int32) if bias is None else bias
    if conv.groups == conv.channels == conv.filters and conv.groups > 1 and epilogue:
        return dynamic_depthwise(conv, sizes, weight, bias, x_zero, epilogue, isa)
    choice = choose_winograd(conv, weight, x_zero, isa, direct=lane_gain(conv, weight, x_zero, isa, codes))
    direct = partial(dynamic_convolution, conv, sizes, weight, bias, x_zero, epilogue, isa, codes)
    if choice.shape is not None:
        kernel = replace(dynamic_winograd(choice.shape, sizes, weight, bias, epilogue), note=choice.note)
        return add_direct(kernel, choice.shape, isa, direct)
    kernel = direct()
    return replace(kernel, note="; ".join(text for text in (kernel.note, choice.note) if text))
