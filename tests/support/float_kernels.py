"""The bound that a float sum must meet, and threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import tvm

from tvmq.codegen.kernels.parts.kernel_types import Conv2d


def assert_close(got: np.ndarray, exact: np.ndarray, sum_of_magnitudes: np.ndarray, terms: int) -> None:
    """|got - exact| within what `terms` products and sums, one after the other, can lose to rounding."""
    unit = float(np.finfo(np.float32).eps) / 2
    bound = 2 * (terms + 2) * unit * sum_of_magnitudes + np.finfo(np.float32).tiny
    worst = np.max(np.abs(got - exact) / bound)
    assert worst <= 1, f"error is {worst:.3g} times the bound of {terms} terms"


def conv_exact(
    conv: Conv2d, x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Convolution (NHWC, OIHW) in float64, and the same of magnitudes."""
    start = np.zeros(conv.filters) if bias is None else bias.astype(np.float64)
    exact = _conv(conv, x.astype(np.float64), weight.astype(np.float64)) + start
    return exact, _conv(conv, np.abs(x).astype(np.float64), np.abs(weight).astype(np.float64)) + np.abs(start)


def _conv(conv: Conv2d, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    top, left, bottom, right = conv.padding
    x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    rows, columns = conv.out_height, conv.out_width
    result = np.zeros(conv.out_shape)
    inputs, outputs = conv.channels // conv.groups, conv.filters // conv.groups
    for i in range(conv.kernel[0]):
        for j in range(conv.kernel[1]):
            low, left = i * conv.dilation[0], j * conv.dilation[1]
            part = x[:, low:, left:][:, :: conv.strides[0], :: conv.strides[1]][:, :rows, :columns]
            for group in range(conv.groups):
                source = part[..., group * inputs : (group + 1) * inputs]
                taps = weight[group * outputs : (group + 1) * outputs, :, i, j]
                result[..., group * outputs : (group + 1) * outputs] += source @ taps.T
    return result


@contextmanager
def threads(count: int) -> Iterator[None]:
    """TVM's thread pool with this many threads."""
    configure = tvm.get_global_func("runtime.config_threadpool")
    before = tvm.runtime.num_threads()
    configure(1, count)
    try:
        yield
    finally:
        configure(1, before)
