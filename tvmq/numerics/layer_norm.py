"""Layer norm and rms norm with float32 arithmetic that is fixed to the last bit, as that of softmax.

Every product, sum, difference, quotient and square root is rounded to float32 by itself: no fused multiply-add, no
reordering, no reciprocal square root of the CPU.

Group norm and instance norm: layer norm of groups of channels, fixed to the last bit as that one.
"""

from __future__ import annotations

import numpy as np

from tvmq.numerics.float_sum import lane_sum


def layer_norm(
    x: np.ndarray,
    gamma: np.ndarray | None = None,
    beta: np.ndarray | None = None,
    *,
    axes: int = 1,
    epsilon: float = 1e-5,
) -> np.ndarray:
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta over the last axes.

    x        float32, any shape; NaN or an infinity makes its whole row NaN
    gamma    float32 of the shape of the last `axes` axes; None means ones
    beta     likewise; None means zeros
    axes     how many of the last axes are normalized together, 1 or more; n elements in their order in memory
    epsilon  rounded to float32
    returns  float32, shape of x
    order    1. mean = lane_sum(x) / n, n as float32
             2. d = x - mean
             3. variance = lane_sum(d * d) / n
             4. r = 1 / sqrt(variance + epsilon), a square root and a true division
             5. ((d * r) * gamma) + beta
    source   ONNX LayerNormalization; the order is ours

    >>> layer_norm(np.float32([[1, 3], [5, 5]]), epsilon=0.25)
    array([[-0.8944272,  0.8944272],
           [ 0.       ,  0.       ]], dtype=float32)
    """
    x = np.asarray(x, np.float32)
    rows = x.reshape(*x.shape[: x.ndim - axes], -1) if x.size else x
    scale, shift = (_expand_parameter(value, default, rows.shape[-1:]) for value, default in ((gamma, 1), (beta, 0)))
    with np.errstate(all="ignore"):
        return (normalize_rows(rows, epsilon) * scale + shift).reshape(x.shape) if x.size else x.copy()


def rms_norm(x: np.ndarray, gamma: np.ndarray | None = None, *, axes: int = 1, epsilon: float = 1e-5) -> np.ndarray:
    """x / sqrt(mean(x * x) + epsilon) * gamma over the last axes; parameters as those of `layer_norm`.

    order    1. square = lane_sum(x * x) / n, n as float32
             2. r = 1 / sqrt(square + epsilon), a square root and a true division
             3. (x * r) * gamma
    source   ONNX RMSNormalization; the order is ours

    >>> rms_norm(np.float32([1, 7]), epsilon=0)
    array([0.2, 1.4], dtype=float32)
    """
    x = np.asarray(x, np.float32)
    rows = x.reshape(*x.shape[: x.ndim - axes], -1) if x.size else x
    with np.errstate(all="ignore"):
        result = normalize_rows(rows, epsilon, centred=False) * _expand_parameter(gamma, 1, rows.shape[-1:])
    return result.reshape(x.shape) if x.size else x.copy()


def normalize_rows(rows: np.ndarray, epsilon: float, *, centred: bool = True) -> np.ndarray:
    """Steps 1 to 4 of `layer_norm` along the last axis and the product d * r; without the mean those of `rms_norm`."""
    count = np.float32(rows.shape[-1])
    if centred:
        rows = rows - (lane_sum(rows) / count)[..., None]
    variance = lane_sum(rows * rows) / count
    return rows * (np.float32(1) / np.sqrt(variance + np.float32(epsilon)))[..., None]


def _expand_parameter(value: np.ndarray | None, default: float, shape: tuple[int, ...]) -> np.ndarray:
    if value is None:
        return np.full(shape, default, np.float32)
    return np.asarray(value, np.float32).reshape(shape)


def group_norm(
    x: np.ndarray,
    gamma: np.ndarray | None = None,
    beta: np.ndarray | None = None,
    *,
    groups: int,
    epsilon: float = 1e-5,
) -> np.ndarray:
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta, the statistics over the channels of a group.

    x        float32 [batch, channels, ...]; channels is a multiple of `groups`
    gamma    float32 [channels]; None means ones
    beta     float32 [channels]; None means zeros
    returns  float32, shape of x
    order    that of `layer_norm`: the row of a group holds its channels one after the other, each with all of its
             positions in their order in memory; gamma and beta are those of the element's channel
    source   ONNX GroupNormalization; the order is ours

    >>> x = np.float32([[[1, 3], [5, 7]]])
    >>> group_norm(x, groups=2, epsilon=0)
    array([[[-1.,  1.],
            [-1.,  1.]]], dtype=float32)
    """
    x = np.asarray(x, np.float32)
    if x.size == 0:
        return x.copy()
    batch, channels = x.shape[:2]
    with np.errstate(all="ignore"):
        result = normalize_rows(x.reshape(batch, groups, -1), epsilon).reshape(batch, channels, -1)
        result = result * _column(gamma, 1, channels) + _column(beta, 0, channels)
    return result.reshape(x.shape)


def instance_norm(
    x: np.ndarray, gamma: np.ndarray | None = None, beta: np.ndarray | None = None, *, epsilon: float = 1e-5
) -> np.ndarray:
    """`group_norm` with a group for each channel; shapes as there.

    >>> instance_norm(np.float32([[[1, 3], [5, 5]]]), np.float32([2, 1]), np.float32([0, 4]), epsilon=0.5625)
    array([[[-1.6,  1.6],
            [ 4. ,  4. ]]], dtype=float32)
    """
    return group_norm(x, gamma, beta, groups=np.shape(x)[1], epsilon=epsilon)


def _column(value: np.ndarray | None, default: float, channels: int) -> np.ndarray:
    if value is None:
        return np.full((channels, 1), default, np.float32)
    return np.asarray(value, np.float32).reshape(channels, 1)
