"""The ONNX node that a repair gets, and its dimensions as values.

Tests: tests/formats/onnx/importer/test_shape_folding.py
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax, tirx
from tvm.ir import GenericConst

from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.importer.scaled_sizes import ScaledSize, scaled_vector
from tvmq.graph.size_text import shape_text

FIX_SHAPES = "fix the input shapes with shape="


class Dims:
    """An integer tensor made of dimensions, some symbolic: what Shape gives while a dimension is not fixed.

    values  object array of any rank; its items are Python ints or TIR expressions, or all are ScaledSize
    dtype   the ONNX element type it stands for
    """

    def __init__(self, values: Any, dtype: str = "int64") -> None:
        self.values = np.asarray(values, dtype=object)
        self.dtype = dtype

    def tensor(self) -> relax.Expr:
        """Tensor of these numbers, computed at run time; a constant if none is symbolic."""
        if all(isinstance(value, int) for value in self.values.flat):
            return tensor_constant(self.values.astype(self.dtype))
        is_scaled = self.values.size and isinstance(self.values.flat[0], ScaledSize)
        vector = scaled_vector(self.values) if is_scaled else self._whole_vector()
        return vector if self.values.ndim == 1 else relax.op.reshape(vector, list(self.values.shape))

    def _whole_vector(self) -> relax.Expr:
        vector = relax.op.shape_to_tensor(relax.ShapeExpr(list(self.values.flat)))
        return vector if self.dtype == "int64" else relax.op.astype(vector, self.dtype)


def tensor_constant(array: Any) -> GenericConst:
    """A constant with exactly the array's element type (relax.const alone makes 32 bits of 64)."""
    array = np.asarray(array)
    return relax.const(array, str(array.dtype))


def plain_dimension(dim: Any) -> Any:
    """A dimension of a Relax shape as a Python int where it is known, else as it is."""
    return int(dim) if isinstance(dim, int | np.integer | tirx.IntImm) else dim


@dataclass
class NodeCall:
    """A node whose inputs are already Relax values.

    inputs      variables, constants, Dims; None for an input left out
    attributes  ONNX attributes by name; lists as tuples, text as bytes
    outputs     names of the outputs, "" for those that nobody reads, none at the end
    output_count  number of outputs in the model
    origins     {input that is computed from sizes: the layer from which on they are values, not sizes}
    """

    name: str
    op_type: str
    opset: int
    builder: relax.BlockBuilder
    inputs: list[Any]
    attributes: dict[str, Any]
    outputs: list[str] = field(default_factory=list)
    output_count: int = 1
    origins: dict[int, str] = field(default_factory=dict)

    def input(self, index: int) -> Any:
        """An input, None where it is absent."""
        return self.inputs[index] if index < len(self.inputs) else None

    def constant(self, index: int) -> np.ndarray | None:
        """Value of a constant input, None where it is absent or computed."""
        value = self.input(index)
        return value.value.numpy() if isinstance(value, GenericConst) else None

    def dims(self, index: int) -> list[Any] | None:
        """Items of an input that is a vector of known or symbolic integers; None if absent or computed."""
        value = self.input(index)
        if isinstance(value, Dims):
            return list(value.values.ravel())
        value = self.constant(index)
        return None if value is None else [int(item) for item in value.ravel()]

    def shape(self, index: int = 0) -> list[Any]:
        """Dimensions of a tensor input, TIR expressions where symbolic; refused if the rank is unknown."""
        shape = self.inputs[index].ty.shape
        if shape is None:
            raise self.unsupported_error(f"the rank of its input {index} is unknown", FIX_SHAPES)
        return [plain_dimension(d) for d in shape.values]

    def dtype(self, index: int = 0) -> str:
        """Element type of a tensor input."""
        return str(self.inputs[index].ty.dtype)

    def text(self, name: str, default: str) -> str:
        """A text attribute."""
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def describe_inputs(self) -> str:
        """Types of all inputs, for messages: "float32[1, 4], int64[2]"."""
        return ", ".join(map(_describe_type, self.inputs)) or "none"

    def axis(self, default: int) -> int:
        """The attribute "axis" as a non-negative position in the first input."""
        return int(self.attributes.get("axis", default)) % max(len(self.shape()), 1)

    def unsupported_error(self, what: str, way_out: str) -> UnsupportedOpError:
        """The error to raise: names the layer and its operator, says what is wrong and the way out."""
        return UnsupportedOpError(f"from_onnx, layer '{self.name}': {self.op_type}: {what}; {way_out}")

    def not_constant_error(self, index: int, what: str) -> UnsupportedOpError:
        """The error for an input that must be known before a run; `what` it is, such as "its pads"."""
        if index in self.origins:
            what += f" come from layer {self.origins[index]}, whose arithmetic on sizes is not followed"
            return self.unsupported_error(what, FIX_SHAPES)
        return self.unsupported_error(f"{what} are not constants", f"make them constants, or {FIX_SHAPES}")


def _describe_type(value: Any) -> str:
    """The type of an input in few words."""
    if value is None:
        return "none"
    shape = value.values.shape if isinstance(value, Dims) else getattr(value.ty, "shape", None)
    dims = "[?]" if shape is None else shape_text(shape)
    return f"{value.dtype if isinstance(value, Dims) else getattr(value.ty, 'dtype', 'tuple')}{dims}"
