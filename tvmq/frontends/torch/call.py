"""One node of a torch graph as a repair sees it."""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax
from tvm.ir import GenericConst

from tvmq.errors import UnsupportedOpError


class TorchCall:
    """A node whose inputs are already Relax values.

    node      the torch.fx node
    layer     name of its layer, for messages
    operator  name and overload, "add.Tensor"
    importer  TVM's importer, whose environment holds the values so far
    """

    def __init__(self, node: Any, layer: str, operator: str, importer: Any) -> None:
        self.node, self.layer, self.operator, self.importer = node, layer, operator, importer
        self.builder: relax.BlockBuilder = importer.block_builder
        self._arguments: dict[str, Any] | None = None

    def __getitem__(self, name: str) -> Any:
        """An argument by its name in torch's schema, nodes as Relax values; its default where it is left out."""
        if self._arguments is None:
            self._arguments = self._bound()
        return self._arguments[name]

    def _bound(self) -> dict[str, Any]:
        schema = self.node.target._schema.arguments
        given = dict(zip((argument.name for argument in schema), self.node.args, strict=False))
        values = {a.name: a.default_value if a.has_default_value() else None for a in schema}
        values |= given | dict(self.node.kwargs)
        return {name: self.value(value) for name, value in values.items()}

    def value(self, argument: Any) -> Any:
        """An argument with its nodes as Relax values."""
        return self.importer._retrieve_args(argument)

    def shape(self, value: relax.Expr) -> list[Any]:
        """Sizes of a tensor, numbers where they are known."""
        return [int(d) if hasattr(d, "value") else d for d in value.ty.shape.values]

    def emit(self, value: Any) -> Any:
        """Bind a tensor or tuple to a variable; anything else stays as it is."""
        if not isinstance(value, relax.Call | relax.TupleGetItem):
            return value
        return self.builder.emit(self.builder.normalize(value))

    def constant(self, value: Any, like: relax.Expr) -> GenericConst:
        """A number or array as a constant of the element type of a tensor."""
        return relax.const(np.asarray(value, str(like.ty.dtype)), str(like.ty.dtype))

    def unsupported(self, what: str, way_out: str) -> UnsupportedOpError:
        """The error to raise: names the layer and its operator, says what is wrong and the way out."""
        return UnsupportedOpError(f"from_torch, layer '{self.layer}': {self.operator}: {what}; {way_out}")
