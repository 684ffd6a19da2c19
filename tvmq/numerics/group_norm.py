"""Group norm and instance norm: layer norm of groups of channels, fixed to the last bit as that one."""

from __future__ import annotations

import numpy as np

from tvmq.numerics.layer_norm import normalized


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
    gamma    float32 [channels]; None stands for ones
    beta     float32 [channels]; None stands for zeros
    returns  float32, shape of x
    order    that of `layer_norm`: the row of a group holds its channels one behind the other, each with all of its
             positions in their order in memory; gamma and beta are those of the element's channel

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
        result = normalized(x.reshape(batch, groups, -1), epsilon).reshape(batch, channels, -1)
        result = result * _column(gamma, 1, channels) + _column(beta, 0, channels)
    return result.reshape(x.shape)


def instance_norm(
    x: np.ndarray, gamma: np.ndarray | None = None, beta: np.ndarray | None = None, *, epsilon: float = 1e-5
) -> np.ndarray:
    """`group_norm` with a group for each channel.

    >>> instance_norm(np.float32([[[1, 3], [5, 5]]]), np.float32([2, 1]), np.float32([0, 4]), epsilon=0.5625)
    array([[[-1.6,  1.6],
            [ 4. ,  4. ]]], dtype=float32)
    """
    return group_norm(x, gamma, beta, groups=np.shape(x)[1], epsilon=epsilon)


def _column(value: np.ndarray | None, default: float, channels: int) -> np.ndarray:
    if value is None:
        return np.full((channels, 1), default, np.float32)
    return np.asarray(value, np.float32).reshape(channels, 1)
