"""NumPy broadcasting for our operators of several arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tvm import relax, te, tirx


def broadcast_type(call: relax.Call, dtype: str, ctx: relax.BlockBuilder) -> relax.TensorType:
    """Type of the result: Relax's own broadcasting of the shapes, with our element type."""
    shape = call.args[0].ty.shape
    for arg in call.args[1:]:
        shape = _both(shape, arg.ty.shape, ctx)
        if shape is None:  # an error class of our own would not come back through TVM
            shapes = " and ".join(str(given.ty.shape) for given in call.args)
            raise ValueError(f"{call.op.name}: shapes {shapes} do not broadcast")
    return relax.TensorType(shape, dtype)


def _both(a: relax.Expr, b: relax.Expr, ctx: relax.BlockBuilder) -> relax.Expr:
    x, y = (relax.Var("x", relax.TensorType(shape, "float32")) for shape in (a, b))
    return ctx.normalize(relax.op.add(x, y)).ty.shape


def _index(tensor: te.Tensor, indices: Sequence[tirx.Var]) -> list[tirx.PrimExpr]:
    last = list(indices)[len(indices) - len(tensor.shape) :]
    return [tirx.const(0, "int64") if _is_one(dim) else i for dim, i in zip(tensor.shape, last, strict=True)]


def _is_one(dim: tirx.PrimExpr) -> bool:
    return isinstance(dim, tirx.IntImm) and int(dim) == 1


def broadcast_compute(
    a: te.Tensor, b: te.Tensor, element: Callable[[tirx.PrimExpr, tirx.PrimExpr], tirx.PrimExpr], name: str
) -> te.Tensor:
    """te.compute over the broadcast shape of `a` and `b`."""
    return broadcast_all((a, b), element, name)


def broadcast_all(tensors: Sequence[te.Tensor], element: Callable[..., tirx.PrimExpr], name: str) -> te.Tensor:
    """te.compute over the broadcast shape of all tensors; `element` takes one element of each."""
    rank = max(len(tensor.shape) for tensor in tensors)
    padded = [[tirx.const(1, "int64")] * (rank - len(t.shape)) + list(t.shape) for t in tensors]
    shape = [next((dim for dim in dims if not _is_one(dim)), dims[0]) for dims in zip(*padded, strict=True)]
    return te.compute(shape, lambda *i: element(*(t(*_index(t, i)) for t in tensors)), name=name)
