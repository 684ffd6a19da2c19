"""Choice of the kernel template for an operator: by shape, types, weights and instruction set; the first that fits.

Every template gives the same bits, so a choice is about speed alone. None means: no template, the generic way is taken.
"""

from __future__ import annotations

import numpy as np

from tvmq.kernels import conv2d, conv2d_float, depthwise, depthwise_float
from tvmq.kernels.types import Conv2d, Epilogue, Isa, Kernel


def conv2d_kernel(
    conv: Conv2d, weight: np.ndarray, bias: np.ndarray | None, x_zero: int, epilogue: Epilogue, isa: Isa
) -> Kernel | None:
    """The kernel of a convolution with constant weights (OIHW), any type."""
    is_depthwise = conv.groups == conv.channels == conv.filters and conv.groups > 1
    if conv.x_dtype == "float32":
        if x_zero != 0:
            return None
        maker = depthwise_float.depthwise_float if is_depthwise else conv2d_float.conv2d_float
        return maker(conv, weight, bias, epilogue, isa)
    if bias is None:
        bias = np.zeros(conv.filters, np.int32)
    if is_depthwise and epilogue:
        return depthwise.depthwise(conv, weight, bias, x_zero, epilogue, isa)
    return conv2d.conv2d(conv, weight, bias, x_zero, epilogue, isa)
