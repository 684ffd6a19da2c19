"""What the walk of the exporter keeps besides tensors, and the numbers and types of expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import tvm
from tvm import relax

from tvmq.exporters.onnx.graph import Scale
from tvmq.exporters.onnx.ops import WRITERS, Node
from tvmq.graph.view import dtype_of, is_const

if TYPE_CHECKING:
    import onnx

# how realize names the tables of comparisons, and what they and the operator behind them stand for
THRESHOLDS = "least code "
COMPARED = {
    ("greater_equal", "greater"): "less",
    ("greater_equal", "greater_equal"): "less_equal",
    ("less", "greater_equal"): "greater",
    ("less", "greater"): "greater_equal",
    ("equal", "equal"): "equal",
    ("not_equal", "equal"): "not_equal",
}


@dataclass(frozen=True)
class Thresholds:
    """Codes to compare others with: the real tensor they stand for, and the kind of the comparison."""

    real: str
    kind: str


@dataclass(frozen=True)
class Rows:
    """Rows that are gathered from a table of codes, whose scale is still to be told."""

    node: Node
    table: np.ndarray
    indices: str

    def written(self, scale: Scale) -> str:
        """Name of the float tensor."""
        codes = self.node.graph.weight(self.table, f"{self.node.layer}.weight", scale)
        return str(WRITERS["take"](replace(self.node, inputs=[codes, self.indices])))


def dims(expr: relax.Expr) -> tuple[Any, ...]:
    """Dimensions as numbers, or TVM's expressions of free ones."""
    return tuple(int(d) if isinstance(d, tvm.tirx.IntImm) else d for d in expr.ty.shape)


def info(var: relax.Var, name: str) -> onnx.ValueInfoProto:
    """An input or output with its type; symbolic dimensions keep their names."""
    from onnx import helper

    sizes = [int(d) if isinstance(d, tvm.tirx.IntImm) else str(d) for d in var.ty.shape]
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype_of(var))), sizes)


def is_tensor(arg: relax.Expr) -> bool:
    """True for a tensor, or a tuple of them, that is computed or constant; a free dimension is a variable, too."""
    return is_const(arg) or (isinstance(arg, relax.Var) and not isinstance(arg.ty, tvm.ir.PrimType))


def is_tuple_of_tensors(arg: relax.Expr) -> bool:
    """True for the parts of a concat; shapes may be tuples, too."""
    return isinstance(arg, relax.Tuple) and any(map(is_tensor, arg.fields))


def flat(args: Sequence[relax.Expr]) -> list[relax.Expr]:
    """Arguments with tuples written out."""
    return [leaf for arg in args for leaf in (arg.fields if isinstance(arg, relax.Tuple) else [arg])]


def number(arg: relax.Expr) -> Any:
    """A number or a list of numbers."""
    if isinstance(arg, relax.Tuple):
        return [number(field) for field in arg.fields]
    if isinstance(arg, relax.ShapeExpr):
        return [int(d) if isinstance(d, tvm.tirx.IntImm) else d for d in arg.values]
    value = getattr(arg, "value", arg)
    return getattr(value, "value", value)
