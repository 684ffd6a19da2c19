"""Runs of a model with free dimensions: sizes from the inputs, sample by sample where samples are apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tvm

from tvmq.codegen.code_bytes import last_line
from tvmq.codegen.inputs import TensorInfo, aligned
from tvmq.errors import DataError


def is_free(info: TensorInfo) -> bool:
    """True for a tensor of which a dimension is a name.

    >>> is_free(TensorInfo("x", ("batch", 3), "float32")), is_free(TensorInfo("x", (1, 3), "float32"))
    (True, False)
    """
    return any(isinstance(size, str) for size in info.shape)


def sizes_of_inputs(
    infos: Sequence[TensorInfo], arrays: Sequence[np.ndarray], limits: Mapping[str, Mapping[str, Any]]
) -> dict[str, int]:
    """{free dimension: size}, the same in all inputs.

    limits   {free dimension: {"least", "most", "why"}}, see graph/limits.py
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


class FreeRun:
    """The compiled main function for inputs of any size.

    batch   dimension whose samples are run one after the other: main is code for one
    """

    def __init__(
        self,
        main: Callable[..., Any],
        inputs: Sequence[TensorInfo],
        outputs: Sequence[TensorInfo],
        batch: str | None,
    ) -> None:
        self._main, self._batch = main, batch
        self._inputs = [info.name for info in inputs]
        self._by_sample = [batch is not None and batch in _names(info) for info in inputs]
        self._joined = [batch is not None and batch in _names(info) for info in outputs]
        self._own: list[np.ndarray] = []
        self._tensors: list[Any] = []

    def run(self, arrays: Sequence[np.ndarray], sizes: Mapping[str, int]) -> list[np.ndarray]:
        """One array an output, fresh."""
        if self._batch is None:
            return self._one(arrays)
        count = sizes[self._batch]
        if count == 0:  # what one sample would give tells the shapes
            arrays = [
                np.zeros((1, *array.shape[1:]), array.dtype) if apart else array
                for array, apart in zip(arrays, self._by_sample, strict=True)
            ]
        parts = [self._one(self._sample(arrays, index)) for index in range(max(count, 1))]
        return [
            np.concatenate(rows)[: None if count else 0] if joined else rows[0]
            for rows, joined in zip(zip(*parts, strict=True), self._joined, strict=True)
        ]

    def _sample(self, arrays: Sequence[np.ndarray], index: int) -> list[np.ndarray]:
        return [
            array[index : index + 1] if apart else array for array, apart in zip(arrays, self._by_sample, strict=True)
        ]

    def _one(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        if [own.shape for own in self._own] != [array.shape for array in arrays]:
            self._own = [aligned(array.shape, str(array.dtype)) for array in arrays]
            self._tensors = [shared(own) for own in self._own]
        for own, array in zip(self._own, arrays, strict=True):
            own[...] = array
        try:
            return copied(self._main(*self._tensors))
        except (ValueError, RuntimeError) as error:
            shapes = ", ".join(f"{name} {own.shape}" for name, own in zip(self._inputs, self._own, strict=True))
            raise DataError(f"run: the model takes no inputs of these shapes, {shapes}: {last_line(error)}") from error


def _names(info: TensorInfo) -> set[str]:
    """Names in the dimensions of a tensor; "2 * rows" has one."""
    return {word for size in info.shape if isinstance(size, str) for word in size.replace("*", " ").split()}


def shared(array: np.ndarray) -> Any:
    """A tensor on the array's memory; one of no elements has memory of its own, whose address TVM accepts."""
    return tvm.runtime.from_dlpack(array) if array.size else tvm.runtime.empty(array.shape, str(array.dtype))


def copied(result: Any) -> list[np.ndarray]:
    """Results as arrays of their own: a tensor of TVM may be memory of an input or of another output."""
    if isinstance(result, tvm.runtime.Tensor):
        return [np.from_dlpack(result).copy()]  # five times as fast as result.numpy(), which copies as well
    return [array for item in result for array in copied(item)]


def taken(result: Any) -> list[np.ndarray]:
    """Results that are memory of their own as arrays on this memory."""
    if isinstance(result, tvm.runtime.Tensor):
        return [np.from_dlpack(result)]
    return [array for item in result for array in taken(item)]
