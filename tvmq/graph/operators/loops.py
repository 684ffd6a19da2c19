"""Parts of the TE loops of operators of ours, and of the types of their results.

NumPy broadcasting for operators of several tensors; the fence that keeps float products as they are.

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tvm import relax, te, tirx

# Functions of the source of GPUs, defined in compile/cuda/source.py.
CUDA_FENCE, CUDA_EXP = "tvmq_rounded", "tvmq_exp_negative"


def infer_same(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    """Type of the first tensor."""
    return call.args[0].ty


def infer_like(dtype: str = "") -> Callable[[relax.Call, relax.BlockBuilder], relax.TensorType]:
    """Inference of a tensor of the first one's shape.

    dtype  of its elements; "" is the call's attribute of that name
    """

    def infer(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
        return tensor_like(call.args[0], dtype or call.attrs.dtype)

    return infer


def infer_broadcast(dtype: str = "") -> Callable[[relax.Call, relax.BlockBuilder], relax.TensorType]:
    """Inference of a tensor of the shape that those of all tensors broadcast to; see `infer_like`."""

    def infer(call: relax.Call, builder: relax.BlockBuilder) -> relax.TensorType:
        return _broadcast_type(call, dtype or call.attrs.dtype, builder)

    return infer


def tensor_like(expr: relax.Expr, dtype: str) -> relax.TensorType:
    """Type of a tensor of the shape of `expr` (unknown if that is unknown) and the given element type."""
    ty = expr.ty
    if ty.shape is None:
        return relax.TensorType(dtype=dtype, ndim=ty.ndim)
    return relax.TensorType(ty.shape, dtype)


def known_shape(call: relax.Call) -> list[tirx.PrimExpr]:
    """Shape of the first argument; ValueError (no class of ours comes back through TVM) where it is not known."""
    shape = call.args[0].ty.shape
    if shape is None:
        raise ValueError(f"{call.op.name}: the shape of its input is not known; fix it with from_onnx(..., shape=...)")
    return list(shape)


def current_kind() -> str:
    """Kind of the target that is compiled for; "llvm" where none is set."""
    from tvm.target import Target

    target = Target.current(allow_none=True)
    return "llvm" if target is None else str(target.kind.name)


def fence(value: tirx.PrimExpr) -> tirx.PrimExpr:
    """Keep LLVM from contracting a float32 product with a following sum into an FMA, which would round differently.

    On CUDA it is a function that TVM cannot see through; no other target has fences.
    """
    kind = current_kind()
    dtype = str(value.dtype) if not hasattr(value, "ty") else str(value.ty)
    if kind == "cuda":
        return tirx.call_pure_extern(dtype, CUDA_FENCE, value)
    return tirx.op.call_llvm_pure_intrin(dtype, "llvm.arithmetic.fence", value) if kind == "llvm" else value


def _broadcast_type(call: relax.Call, dtype: str, ctx: relax.BlockBuilder) -> relax.TensorType:
    """Type of the result: Relax's own broadcasting of the shapes, with our element type."""
    shape = call.args[0].ty.shape
    for arg in call.args[1:]:
        shape = _broadcast_shape(shape, arg.ty.shape, ctx)
        if shape is None:  # an error class of our own would not come back through TVM
            shapes = " and ".join(str(operand.ty.shape) for operand in call.args)
            raise ValueError(f"{call.op.name}: shapes {shapes} do not broadcast")
    return relax.TensorType(shape, dtype)


def _broadcast_shape(a: relax.Expr, b: relax.Expr, ctx: relax.BlockBuilder) -> relax.Expr:
    x, y = (relax.Var("x", relax.TensorType(shape, "float32")) for shape in (a, b))
    return ctx.normalize(relax.op.add(x, y)).ty.shape


def _index(tensor: te.Tensor, indices: Sequence[tirx.Var]) -> list[tirx.PrimExpr]:
    last = list(indices)[len(indices) - len(tensor.shape) :]
    return [tirx.const(0, "int64") if _is_one(dim) else i for dim, i in zip(tensor.shape, last, strict=True)]


def _is_one(dim: tirx.PrimExpr) -> bool:
    return isinstance(dim, tirx.IntImm) and int(dim) == 1


def broadcast_all(tensors: Sequence[te.Tensor], element: Callable[..., tirx.PrimExpr], name: str) -> te.Tensor:
    """te.compute over the broadcast shape of all tensors; `element` takes one element of each."""
    rank = max(len(tensor.shape) for tensor in tensors)
    padded = [[tirx.const(1, "int64")] * (rank - len(t.shape)) + list(t.shape) for t in tensors]
    shape = [next((dim for dim in dims if not _is_one(dim)), dims[0]) for dims in zip(*padded, strict=True)]
    return te.compute(shape, lambda *i: element(*(t(*_index(t, i)) for t in tensors)), name=name)


def as_codes(value: tirx.PrimExpr, dtype: str, qmin: int, qmax: int) -> tirx.PrimExpr:
    """Codes: the value, clipped."""
    return tirx.Cast(dtype, tirx.min(tirx.max(value, qmin), qmax))
