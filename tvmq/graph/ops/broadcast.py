"""NumPy broadcasting for our two-argument operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tvm import relax, te, tirx


def broadcast_type(call: relax.Call, dtype: str, ctx: relax.BlockBuilder) -> relax.TensorType:
    """Type of the result: Relax's own broadcasting of the shapes, with our element type."""
    a, b = (relax.Var("x", relax.TensorType(arg.ty.shape, "float32")) for arg in call.args)
    shape = ctx.normalize(relax.op.add(a, b)).ty.shape
    if shape is None:  # an error class of our own would not come back through TVM
        raise ValueError(f"{call.op.name}: shapes {call.args[0].ty.shape} and {call.args[1].ty.shape} do not broadcast")
    return relax.TensorType(shape, dtype)


def _index(tensor: te.Tensor, indices: Sequence[tirx.Var]) -> list[tirx.PrimExpr]:
    last = list(indices)[len(indices) - len(tensor.shape) :]
    return [tirx.const(0, "int64") if _is_one(dim) else i for dim, i in zip(tensor.shape, last, strict=True)]


def _is_one(dim: tirx.PrimExpr) -> bool:
    return isinstance(dim, tirx.IntImm) and int(dim) == 1


def broadcast_compute(
    a: te.Tensor, b: te.Tensor, element: Callable[[tirx.PrimExpr, tirx.PrimExpr], tirx.PrimExpr], name: str
) -> te.Tensor:
    """te.compute over the broadcast shape of `a` and `b`."""
    rank = max(len(a.shape), len(b.shape))
    padded = [[tirx.const(1, "int64")] * (rank - len(t.shape)) + list(t.shape) for t in (a, b)]
    shape = [y if _is_one(x) else x for x, y in zip(*padded, strict=True)]
    return te.compute(shape, lambda *i: element(a(*_index(a, i)), b(*_index(b, i))), name=name)
