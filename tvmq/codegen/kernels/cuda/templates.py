"""Choice of the kernel template for an operator on a GPU; None means: no template, the generic schedule is taken.

Tests: tests/codegen/lower/cuda/test_select.py
"""

from __future__ import annotations

import math

import numpy as np

from tvmq.codegen.kernels.attention.shape import BatchMatmul, is_product_of_codes
from tvmq.codegen.kernels.cuda import batch_matmul, conv2d, depthwise, few_rows, recurrent
from tvmq.codegen.kernels.cuda.batch_matmul import MOST_GRID_ROWS
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Dequantize, Epilogue, FixedRequantize, Kernel, Requantize
from tvmq.codegen.kernels.recurrent.recurrent import Recurrent
from tvmq.numerics.code_type import CODES_8

LARGEST = 2**31  # elements of a tensor: the templates compute addresses in int32
NARROWEST_TILE = 16


def choose_convolution(
    conv: Conv2d, weight: np.ndarray, bias: np.ndarray | None, x_zero: int, epilogue: Epilogue, arch: int
) -> Kernel | None:
    """The kernel of a convolution with constant weights (OIHW); those of floats have none."""
    x_size = conv.batch * conv.height * conv.width * conv.channels
    panels = conv.groups * -(-conv.filters // conv.groups // NARROWEST_TILE)
    if conv.x_dtype not in CODES_8 or max(x_size, math.prod(conv.out_shape)) >= LARGEST:
        return None
    bias = np.zeros(conv.filters, np.int32) if bias is None else bias
    if conv.groups == conv.channels == conv.filters and conv.groups > 1:
        return depthwise.depthwise(conv, weight, bias, x_zero, epilogue, arch)
    if few_rows.has_few_rows(conv):
        return few_rows.few_rows(conv, weight, bias, epilogue)
    return conv2d.conv2d(conv, weight, bias, x_zero, epilogue, arch) if panels <= MOST_GRID_ROWS else None


def choose_batch_matmul(
    product: BatchMatmul, step: Requantize | FixedRequantize | Dequantize | None, arch: int
) -> Kernel | None:
    """Product of two tensors of codes that are both given at run time."""
    if not is_product_of_codes(product):
        return None
    panels = math.prod(product.batch) * -(-product.columns // NARROWEST_TILE)
    largest = max(math.prod(map(int, operand.shape)) for operand in (product.a, product.b, product.y))
    fits = panels <= MOST_GRID_ROWS and largest < LARGEST
    return batch_matmul.batch_matmul(product, step, arch) if fits else None


def choose_recurrent(
    layer: Recurrent, weight: np.ndarray, terms: np.ndarray, scale: np.ndarray | None, _arch: int
) -> Kernel | None:
    """All steps of a recurrent layer; None where a state does not fit shared memory."""
    return recurrent.recurrent(layer, weight, terms, scale) if recurrent.fits_shared(layer) else None
