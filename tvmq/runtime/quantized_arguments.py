"""Quantized tensors as arguments and results of compiled functions that take and give codes.

Tests: tests/runtime/test_quantized_arguments.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tvmq.errors import DataError
from tvmq.numerics.code_type import CODES_16
from tvmq.numerics.spec import QParams, QuantSpec
from tvmq.runtime.inputs import TensorInfo
from tvmq.tensors.qtensor import QTensor


def qparams_of(info: TensorInfo) -> QParams | None:
    """Scale and zero point of the codes of an input or output; None for floats, and for sums in int32.

    >>> qparams_of(TensorInfo("x", (1, 3), "uint8", 0.5, 3)).scale
    array(0.5, dtype=float32)
    >>> qparams_of(TensorInfo("x", (1, 3), "float32"))
    """
    if info.scale is None or info.dtype not in CODES_16 or np.ndim(info.scale):
        return None
    return QParams(info.scale, info.zero_point, QuantSpec(info.dtype))


def take_codes(inputs: Mapping[str, Any], infos: Sequence[TensorInfo]) -> dict[str, Any]:
    """The inputs with the codes of quantized tensors in their place.

    raises  DataError for a tensor of another scale or zero point than the function takes, and for one that it takes as
            floats
    """
    known = {info.name: info for info in infos}
    return {name: _codes(value, known.get(name)) for name, value in inputs.items()}


def _codes(value: Any, info: TensorInfo | None) -> Any:
    if not isinstance(value, QTensor) or info is None:
        return value
    wanted, own = qparams_of(info), value.qparams
    if wanted is None:
        raise DataError(f"run: input '{info.name}' takes {info.dtype}, no codes; give tensor.dequantize()")
    if own.axis is not None or (own.scale, own.zero_point) != (wanted.scale, wanted.zero_point):
        raise DataError(
            f"run: input '{info.name}' has the scale {wanted.scale:.9g} and the zero point {wanted.zero_point}. Got a "
            f"tensor of {_describe(own)} instead; quantize it by exe[...].input_info"
        )
    return value.codes


def _describe(own: QParams) -> str:
    if own.axis is not None:
        return f"{own.scale.size} scales"
    return f"the scale {own.scale:.9g} and the zero point {own.zero_point}"


def as_tensors(results: Sequence[np.ndarray], infos: Sequence[TensorInfo]) -> list[QTensor | np.ndarray]:
    """The results as quantized tensors; floats and sums in int32 as they are."""
    return [
        array if (qparams := qparams_of(info)) is None else QTensor(array, qparams)
        for array, info in zip(results, infos, strict=True)
    ]
