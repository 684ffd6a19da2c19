"""TFLite files written tensor by tensor: for the exporter, and for tests of single operators.

The tables and their numbers are those of the package `tflite`, which is generated from TFLite's schema; `flatbuffers`
lays the bytes out. What an operator computes is not looked at here.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from tvmq.errors import ConfigError
from tvmq.version import __version__

IDENTIFIER = b"TFL3"
SCHEMA_VERSION = 3
# Data of constants begin at multiples of so many bytes: interpreters read them in place
ALIGNMENT = 16
# Element type -> its name in the schema
TYPES = {
    "float32": "FLOAT32",
    "int32": "INT32",
    "uint8": "UINT8",
    "int64": "INT64",
    "bool": "BOOL",
    "int16": "INT16",
    "int8": "INT8",
}
Option = int | float | bool


@dataclass(frozen=True)
class Quantization:
    """Scales and zero point of a tensor: a code means (code - zero_point) * scale.

    scales       one, or one for each index along `axis`
    zero_point   the code of 0.0
    """

    scales: tuple[float, ...]
    zero_point: int = 0
    axis: int = 0


@dataclass
class _Tensor:
    name: str
    shape: tuple[int, ...]
    dtype: str
    quantization: Quantization | None
    data: bytes | None


@dataclass
class _Operator:
    code: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    table: str | None
    options: dict[str, Option]


@dataclass
class Flatbuffer:
    """Tensors and operators in order; `pack` makes the file.

    >>> file = Flatbuffer()
    >>> codes = Quantization((0.5,), -3)
    >>> x, y = file.tensor("x", (1, 4), "int8", codes), file.tensor("y", (1, 4), "int8", codes)
    >>> file.operator("RELU", [x], [y], version=2)
    >>> (x, y), file.tensors[y].shape, [operator.code for operator in file.operators]
    ((0, 1), (1, 4), ['RELU'])
    """

    tensors: list[_Tensor] = field(default_factory=list)
    operators: list[_Operator] = field(default_factory=list)

    def tensor(self, name: str, shape: Sequence[int], dtype: str, quantization: Quantization | None = None) -> int:
        """A new tensor; its number."""
        if dtype not in TYPES:
            raise ConfigError(f"to_tflite: tensor '{name}' is {dtype}; must be one of {', '.join(TYPES)}")
        self.tensors.append(_Tensor(name, tuple(int(n) for n in shape), dtype, quantization, None))
        return len(self.tensors) - 1

    def constant(self, name: str, values: np.ndarray, quantization: Quantization | None = None) -> int:
        """A tensor that holds these values; equal ones of the same meaning are kept once."""
        tensor = _Tensor(name, values.shape, values.dtype.name, quantization, np.ascontiguousarray(values).tobytes())
        for place, known in enumerate(self.tensors):
            same = (known.shape, known.dtype, known.quantization) == (tensor.shape, tensor.dtype, tensor.quantization)
            if same and known.data is not None and known.data == tensor.data:
                return place
        place = self.tensor(name, values.shape, values.dtype.name, quantization)
        self.tensors[place].data = tensor.data
        return place

    def operator(
        self,
        code: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        *,
        version: int = 1,
        table: str | None = None,
        **options: Option,
    ) -> None:
        """Append an operator.

        code      name in the schema's BuiltinOperator, for example "CONV_2D"
        inputs    numbers of tensors; -1 for one that is left out
        version   of the operator: which of its forms a runtime must know
        table     name of the table of its options, for example "Conv2DOptions", and these by their names in the schema
        """
        self.operators.append(_Operator(code, version, tuple(inputs), tuple(outputs), table, options))

    def pack(
        self, inputs: Mapping[str, int], outputs: Mapping[str, int], *, description: str = f"tvmq {__version__}"
    ) -> bytes:
        """The file; inputs and outputs are {name: number of the tensor} and make its one signature.

        raises   ConfigError without the packages
        """
        return _FlatbufferPacker(self).run(inputs, outputs, description)


def schema() -> ModuleType:
    """The package `tflite`.

    raises  ConfigError if it or `flatbuffers` is not installed
    """
    try:
        import flatbuffers  # noqa: F401
        import tflite
    except ImportError as error:
        raise ConfigError(f"to_tflite: the package '{error.name}' is missing; pip install 'tvmq[tflite]'") from error
    return tflite


class _FlatbufferPacker:
    """Writes the tables from the leaves up, as a flatbuffer is."""

    def __init__(self, file: Flatbuffer) -> None:
        import flatbuffers

        self.schema = schema()
        self.file, self.builder = file, flatbuffers.Builder(1 << 16)
        self.codes = list(dict.fromkeys((operator.code, operator.version) for operator in file.operators))

    def run(self, inputs: Mapping[str, int], outputs: Mapping[str, int], description: str) -> bytes:
        buffers = [self._buffer(b"")]
        tensors = []
        for tensor in self.file.tensors:
            place = 0
            if tensor.data is not None:
                place = len(buffers)
                buffers.append(self._buffer(tensor.data))
            tensors.append(self._tensor(tensor, place))
        graph = self._table(
            "SubGraph",
            Tensors=self._offsets(tensors),
            Inputs=self._numbers(list(inputs.values())),
            Outputs=self._numbers(list(outputs.values())),
            Operators=self._offsets([self._operator(operator) for operator in self.file.operators]),
            Name=self.builder.CreateString("main"),
        )
        model = self._table(
            "Model",
            Version=SCHEMA_VERSION,
            OperatorCodes=self._offsets([self._code(*code) for code in self.codes]),
            Subgraphs=self._offsets([graph]),
            Description=self.builder.CreateString(description),
            Buffers=self._offsets(buffers),
            SignatureDefs=self._offsets([self._signature(inputs, outputs)]),
        )
        self.builder.Finish(model, file_identifier=IDENTIFIER)
        return bytes(self.builder.Output())

    # ---- tables

    def _table(self, table: str, **fields: Any) -> int:
        """A table with these fields, by the functions that the schema's package has for each of them."""
        getattr(self.schema, f"{table}Start")(self.builder)
        for name, value in fields.items():
            getattr(self.schema, f"{table}Add{name}")(self.builder, value)
        return int(getattr(self.schema, f"{table}End")(self.builder))

    def _offsets(self, places: Sequence[int]) -> int:
        self.builder.StartVector(4, len(places), 4)
        for place in reversed(places):
            self.builder.PrependUOffsetTRelative(place)
        return int(self.builder.EndVector())

    def _numbers(self, values: Sequence[int] | Sequence[float], dtype: str = "int32") -> int:
        return int(self.builder.CreateNumpyVector(np.asarray(values, dtype)))

    def _buffer(self, data: bytes) -> int:
        if not data:
            return self._table("Buffer")
        self.builder.StartVector(1, len(data), ALIGNMENT)
        begin = self.builder.Head() - len(data)
        self.builder.head = begin
        self.builder.Bytes[begin : begin + len(data)] = data
        return self._table("Buffer", Data=self.builder.EndVector())

    def _tensor(self, tensor: _Tensor, buffer: int) -> int:
        fields: dict[str, Any] = {
            "Shape": self._numbers(tensor.shape),
            "Type": getattr(self.schema.TensorType, TYPES[tensor.dtype]),
            "Buffer": buffer,
            "Name": self.builder.CreateString(tensor.name),
        }
        codes = tensor.quantization
        if codes is not None:
            fields["Quantization"] = self._table(
                "QuantizationParameters",
                Scale=self._numbers(codes.scales, "float32"),
                ZeroPoint=self._numbers([codes.zero_point] * len(codes.scales), "int64"),
                QuantizedDimension=codes.axis,
            )
        return self._table("Tensor", **fields)

    def _code(self, code: str, version: int) -> int:
        number = getattr(self.schema.BuiltinOperator, code)
        return self._table("OperatorCode", DeprecatedBuiltinCode=min(number, 127), Version=version, BuiltinCode=number)

    def _operator(self, operator: _Operator) -> int:
        fields: dict[str, Any] = {
            "OpcodeIndex": self.codes.index((operator.code, operator.version)),
            "Inputs": self._numbers(operator.inputs),
            "Outputs": self._numbers(operator.outputs),
        }
        if operator.table is not None:
            options = {_camel(name): value for name, value in operator.options.items()}
            fields["BuiltinOptions"] = self._table(operator.table, **options)
            fields["BuiltinOptionsType"] = getattr(self.schema.BuiltinOptions, operator.table)
        return self._table("Operator", **fields)

    def _signature(self, inputs: Mapping[str, int], outputs: Mapping[str, int]) -> int:
        ends = [
            self._offsets(
                [
                    self._table("TensorMap", Name=self.builder.CreateString(name), TensorIndex=place)
                    for name, place in end.items()
                ]
            )
            for end in (inputs, outputs)
        ]
        key = self.builder.CreateString("serving_default")
        return self._table("SignatureDef", Inputs=ends[0], Outputs=ends[1], SignatureKey=key, SubgraphIndex=0)


def _camel(name: str) -> str:
    """A field as the functions of the schema's package spell it.

    >>> _camel("fused_activation_function"), _camel("stride_w")
    ('FusedActivationFunction', 'StrideW')
    """
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))
