"""Moving and ordering codes: where the channels of a tensor are afterwards, and which codes may be compared.

A function of NumPy that moves values is applied to the codes, and to the numbers of their channels: where these lie
along one axis afterwards, that is the axis of the scales.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.errors import ConfigError
from tvmq.numerics.codes import along_axis
from tvmq.numerics.spec import QParams

if TYPE_CHECKING:
    from tvmq.tensors.qtensor import QTensor


def move_codes(q: QTensor, name: str, function: Callable[[np.ndarray], np.ndarray]) -> QTensor:
    """The tensor whose codes are function(codes), with the scales that go with them.

    function  moves values and computes none
    name      that of the function, for the message
    raises    ConfigError where the scales would no longer lie along one axis
    """
    codes = np.asarray(function(q.codes))
    if q.axis is None:
        return type(q)(codes, q.qparams)
    numbers = along_axis(np.arange(q.scale.size), q.axis, q.shape)
    channels = np.asarray(function(np.broadcast_to(numbers, q.shape)))
    return type(q)(codes, _moved_qparams(q, name, channels))


def _moved_qparams(q: QTensor, name: str, channels: np.ndarray) -> QParams:
    """Scales along the axis on which the numbers of channels lie now."""
    assert q.axis is not None
    if channels.size == 0:  # no value says where they are
        stays = channels.ndim > q.axis and channels.shape[q.axis] == q.scale.size
        return q.qparams if stays else _pick(q.qparams, 0, None)
    axis = _axis_of(channels, q.axis)
    first = channels[(0,) * channels.ndim if axis is None else _line(channels, axis)]
    if not np.array_equal(np.broadcast_to(along_axis(first, axis, channels.shape), channels.shape), channels):
        raise ConfigError(
            f"QTensor: {name} would mix channels of axis {q.axis}, which have scales of their own; "
            f"quantize with one scale, or call .dequantize() first"
        )
    return _pick(q.qparams, first, axis)


def _axis_of(channels: np.ndarray, axis: int) -> int | None:
    """The axis along which the numbers change; where they are all the same the old one or another of extent 1."""
    for place in range(channels.ndim):
        numbers = channels[_line(channels, place)]
        if (numbers != numbers[0]).any():
            return place
    lone = [place for place, size in enumerate(channels.shape) if size == 1]
    return axis if axis in lone else (lone[0] if lone else None)


def _line(channels: np.ndarray, axis: int) -> tuple[Any, ...]:
    """Index of the values along an axis, from the first one of all others."""
    return tuple(slice(None) if place == axis else 0 for place in range(channels.ndim))


def _pick(qparams: QParams, channels: Any, axis: int | None) -> QParams:
    return replace(qparams, scale=qparams.scale[channels], zero_point=qparams.zero_point[channels], axis=axis)


def check_order(q: QTensor, name: str, axis: int | Sequence[int] | None) -> None:
    """Refuse to compare codes over the axis of the channels: their order is that of real values for one scale only.

    raises  ConfigError
    """
    if q.axis is None:
        return
    axes = range(q.ndim) if axis is None else [axis] if isinstance(axis, int | np.integer) else axis
    if q.axis in [place % q.ndim for place in axes]:
        raise ConfigError(
            f"QTensor: {name} over axis {q.axis}, whose channels have scales of their own; name other axes, or call "
            f".dequantize() first"
        )


def join_codes(parts: Sequence[QTensor], axis: int = 0, *, stack: bool = False) -> QTensor:
    """The parts one behind the other along an axis, or along a new one.

    raises  ConfigError for other scales; scales of the channels of that axis are joined as well
    """
    for number, part in enumerate(parts):
        if not hasattr(part, "qparams"):
            raise ConfigError(
                f"QTensor: part {number} of what is joined is {type(part).__name__}; tvmq.quantize_tensor makes codes "
                f"of it, .dequantize() floats of the others"
            )
    first, join = parts[0], np.stack if stack else np.concatenate
    axis = axis % (first.ndim + stack)
    if not stack and all(part.axis == axis and part.qparams.spec == first.qparams.spec for part in parts):
        scale = np.concatenate([part.scale for part in parts])
        zero_point = np.concatenate([part.zero_point for part in parts])
        joined = replace(first.qparams, scale=scale, zero_point=zero_point)
        return type(first)(join([part.codes for part in parts], axis), joined)
    for number, part in enumerate(parts):
        if part.qparams != first.qparams:
            raise ConfigError(
                f"QTensor: part {number} of what is joined has another scale, zero point or type than part 0; "
                f"tvmq.functional.cat(parts, axis, scale=, zero_point=) brings all to one"
            )
    codes = join([part.codes for part in parts], axis)
    if stack and first.axis is not None:
        return type(first)(codes, replace(first.qparams, axis=first.axis + (axis <= first.axis)))
    return type(first)(codes, first.qparams)
