"""A quantized tensor of floats: by scales that are known, or by an observer that looks at the values.

Before                                            After
    float32 values, QParams                           numerics.quantize by them
    float32 values, observer, QuantSpec               the range that the observer chooses, choose_qparams, the same
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tvmq.calibration.observers import (
    ARGUMENTS,
    WEIGHT_OBSERVERS,
    check_range,
    make_observer,
    make_weight_observer,
    takes_arguments,
)
from tvmq.calibration.observers.base import Observer, TensorStatistics
from tvmq.calibration.observers.weight_observers import WeightObserver
from tvmq.errors import ConfigError, DataError
from tvmq.numerics.affine import quantize
from tvmq.numerics.spec import QParams, QuantSpec, choose_qparams
from tvmq.tensors.qtensor import QTensor


def quantize_tensor(
    x: ArrayLike,
    params: QParams | str | Observer | WeightObserver,
    spec: QuantSpec | None = None,
    *,
    axis: int | None = None,
) -> QTensor:
    """Codes of float values.

    x        float32 (others are rounded to it first), any shape
    params   scale and zero point; or an observer that chooses the range of the values: its name ("minmax", "histogram",
             "percentile", ...; "max", "mse", "power2" for weights), or an object with a method `thresholds`
    spec     for an observer: type, bits and symmetry of the codes; None is QuantSpec(), uint8
    axis     for an observer of weights: the axis of the channels, of a spec that is per_channel
    returns  the codes of `tvmq.numerics.quantize`, with their scales
    raises   ConfigError for arguments that do not fit each other, RangeError for values that have no range (NaN)

    >>> w = np.float32([[1.0, -2.0], [0.5, 0.25]])
    >>> spec = QuantSpec("int8", symmetric=True, per_channel=True)
    >>> quantize_tensor(w, "max", spec, axis=0).int_repr()
    array([[  64, -127],
           [ 127,   64]], dtype=int8)
    """
    try:
        x = np.asarray(x, np.float32)
    except (TypeError, ValueError) as error:
        raise DataError(f"quantize_tensor: x must be real numbers: {error}") from error
    if not isinstance(params, QParams):
        params = _observed_qparams(x, params, spec or QuantSpec(), axis)
    elif spec is not None or axis is not None:
        raise ConfigError("quantize_tensor: QParams have a spec and an axis already; give these with an observer only")
    spec = params.spec
    codes = quantize(
        x, params.scale, params.zero_point, axis=params.axis, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax
    )
    return QTensor(codes, params)


def _observed_qparams(x: np.ndarray, observer: Any, spec: QuantSpec, axis: int | None) -> QParams:
    """Scale and zero point of the range that an observer chooses."""
    if isinstance(observer, str):
        observer = make_weight_observer(observer) if observer in WEIGHT_OBSERVERS else make_observer(observer)
    method = getattr(observer, "thresholds", None)
    if not callable(method):
        raise ConfigError(
            f"quantize_tensor: params must be QParams, the name of an observer or an object with thresholds. "
            f"Got {type(observer).__name__} instead"
        )
    if takes_arguments(method, ARGUMENTS["weight_scale"]):
        if spec.per_channel != (axis is not None):
            kind = "per_channel" if spec.per_channel else "not per_channel"
            raise ConfigError(f"quantize_tensor: axis={axis} with a spec that is {kind}; give both or neither")
        low, high = check_range(observer, method(x, spec, axis, ""))
        return choose_qparams(low, high, spec, axis)
    if spec.per_channel or axis is not None:
        raise ConfigError(
            "quantize_tensor: an observer of activations chooses one range; take one of weights for channels, 'max'"
        )
    if x.size == 0:
        raise DataError("quantize_tensor: an observer needs values, x has none; give QParams")
    statistics = TensorStatistics("x")
    statistics.update(np.atleast_1d(x))
    low, high = check_range(observer, method(statistics, spec))
    return choose_qparams(low, high, spec)
