"""One ONNX node as a repair sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax
from tvm.ir import GenericConst

from tvmq.errors import UnsupportedOpError


@dataclass
class NodeCall:
    """A node whose inputs are already Relax values.

    inputs      variables, constants, shapes; None for an input left out
    attributes  ONNX attributes by name; lists as tuples, text as bytes
    outputs     names of the outputs
    """

    name: str
    op_type: str
    opset: int
    builder: relax.BlockBuilder
    inputs: list[Any]
    attributes: dict[str, Any]
    outputs: list[str] = field(default_factory=list)

    def input(self, index: int) -> Any:
        """An input, None where it is absent."""
        return self.inputs[index] if index < len(self.inputs) else None

    def constant(self, index: int) -> np.ndarray | None:
        """Value of a constant input, None where it is absent or computed."""
        value = self.input(index)
        return value.value.numpy() if isinstance(value, GenericConst) else None

    def text(self, name: str, default: str) -> str:
        """A text attribute."""
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def unsupported(self, what: str, way_out: str) -> UnsupportedOpError:
        """The error to raise: names the layer and its operator, says what is wrong and the way out."""
        return UnsupportedOpError(f"from_onnx, layer '{self.name}': {self.op_type}: {what}; {way_out}")
