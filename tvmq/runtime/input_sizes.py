"""Sizes of the dynamic dimensions of a model, from its inputs.

Tests: tests/runtime/test_dynamic_shapes.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tvmq.errors import DataError
from tvmq.runtime.inputs import TensorInfo


def has_dynamic_shape(info: TensorInfo) -> bool:
    """True for a tensor with a dimension that is a name.

    >>> [has_dynamic_shape(TensorInfo("x", shape, "float32")) for shape in (("batch", 3), (1, 3))]
    [True, False]
    """
    return any(isinstance(size, str) for size in info.shape)


def sizes_of_inputs(
    infos: Sequence[TensorInfo], arrays: Sequence[np.ndarray], limits: Mapping[str, Mapping[str, Any]]
) -> dict[str, int]:
    """{dynamic dimension: size}, the same in all inputs.

    limits   {dynamic dimension: {"least", "most", "why"}}, see graph/analysis/limits.py
    raises   DataError for inputs that disagree, and for a size beyond its limits
    """
    sizes: dict[str, int] = {}
    where: dict[str, str] = {}
    for info, array in zip(infos, arrays, strict=True):
        for axis, (name, size) in enumerate(zip(info.shape, array.shape, strict=True)):
            if not isinstance(name, str):
                continue
            if sizes.setdefault(name, size) != size:
                raise DataError(
                    f"run: input '{info.name}' has {size} for '{name}' (axis {axis}), input '{where[name]}' has "
                    f"{sizes[name]}; they must be equal"
                )
            where.setdefault(name, info.name)
            limit = limits.get(name)
            if limit is not None and not limit["least"] <= size <= limit["most"]:
                raise DataError(
                    f"run: input '{info.name}' has {size} for '{name}' (axis {axis}), the model takes "
                    f"{limit['least']} to {limit['most']}" + (f": {limit['why']}" if limit["why"] else "")
                )
    return sizes
