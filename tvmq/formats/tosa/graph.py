"""TOSA graphs written operator by operator, by the package tosa-tools: for the exporter, and for single operators.

Tests: tests/formats/tosa/test_to_tosa.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tvmq.errors import ConfigError

TYPES = {"int8": "INT8", "int16": "INT16", "int32": "INT32", "bool": "BOOL"}
VERSION = (1, 0, 0)  # of the specification: a graph that needs no more says so


def schema() -> ModuleType:
    """The package `tosa_serializer`.

    raises  ConfigError if it is not installed
    """
    try:
        import tosa_serializer
    except ImportError as error:
        raise ConfigError(f"to_tosa: the package '{error.name}' is missing; pip install 'tvmq[tosa]'") from error
    return tosa_serializer


class TosaGraph:
    """Names of tensors are given out in order; `counts` tells {operator: how many}."""

    def __init__(self) -> None:
        self.schema = schema()
        major, minor, patch = VERSION
        self._writer = self.schema.TosaSerializer(
            "", self.schema.ConstMode.EMBED, targetMajor=major, targetMinor=minor, targetPatch=patch, targetDraft=False
        )
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._tensors: dict[str, Any] = {}
        self.counts: Counter[str] = Counter()

    def input(self, name: str, sizes: Sequence[int], dtype: str) -> str:
        """An input; its name."""
        self._writer.addInputTensor(self.schema.TosaSerializerTensor(name, list(sizes), self._dtype(dtype)))
        return name

    def output(self, name: str) -> None:
        """Make a tensor a result."""
        self._writer.addOutputTensor(self._tensors[name])

    def constant(self, values: np.ndarray) -> str:
        """A constant tensor; equal ones are written once."""
        key = (values.dtype.name, values.shape, values.tobytes())
        if key not in self._constants:
            tensor = self._writer.addConst(list(values.shape), self._dtype(values.dtype.name), values.ravel().tolist())
            self._constants[key] = tensor.name
        return self._constants[key]

    def numbers(self, values: Sequence[int]) -> str:
        """A constant shape: sizes, begins, borders."""
        array = np.asarray(values, np.int64)
        key = ("shape", array.shape, array.tobytes())
        if key not in self._constants:
            tensor = self._writer.addConst([len(values)], self.schema.DType.SHAPE, [int(v) for v in values])
            self._constants[key] = tensor.name
        return self._constants[key]

    def operator(self, code: str, inputs: Sequence[str], sizes: Sequence[int], dtype: str, *attributes: Any) -> str:
        """Append an operator that gives one tensor; its name.

        code        name in the specification, for example "CONV2D"
        attributes  as the package's TosaSerializerAttribute takes them
        """
        tensor = self._writer.addIntermediate([int(n) for n in sizes], self._dtype(dtype))
        self._tensors[tensor.name] = tensor
        attribute = self.schema.TosaSerializerAttribute()
        op = getattr(self.schema.Op, code)
        attribute.setAttribute(op, *attributes)
        self._writer.addOperator(op, list(inputs), [tensor.name], attribute)
        self.counts[code] += 1
        return str(tensor.name)

    def pack(self) -> bytes:
        """The file."""
        return bytes(self._writer.serialize())

    def _dtype(self, name: str) -> Any:
        return getattr(self.schema.DType, TYPES[name])
