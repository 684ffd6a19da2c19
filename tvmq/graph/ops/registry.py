"""Registering our Relax operators: type inference, purity, legalization, printing and parsing as R.tvmq.*.

The parser looks names up in `tvm.relax.script.parser.tvmq`; the printer strips "relax." from an operator's name, so
that R.tvmq.quantize(...) prints and parses back.

NumPy broadcasting for our operators of several arguments.

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import tvm.relax.script.parser as parser
from tvm import ir, relax, te, tirx

# Functions of the source of GPUs, defined in compile/cuda/source.py.
CUDA_FENCE, CUDA_EXP = "tvmq_rounded", "tvmq_exp_negative"

Infer = Callable[[relax.Call, relax.BlockBuilder], Any]
Legalize = Callable[[relax.BlockBuilder, relax.Call], relax.Expr]
Constructor = Callable[..., relax.Call]


def register(
    name: str, args: Sequence[str], attributes: type[ir.Attrs], infer: Infer, legalize: Legalize
) -> Constructor:
    """Create the operator relax.tvmq.<name>; what comes back makes a call of it, as R.tvmq.<name> does.

    args        names of its tensor arguments, which the constructor takes by position
    attributes  their fields are the constructor's keywords; lists of numbers may be any sequences
    """
    full = f"relax.tvmq.{name}"
    ir.register_op_attr(full, "FInferType", infer)
    ir.register_op_attr(full, "FPurity", True)
    ir.register_op_attr(full, "FLegalize", legalize)
    op = ir.Op.get(full)
    op.set_num_inputs(len(args))
    info = attributes.__tvm_ffi_type_info__
    op.set_attrs_type_key(info.type_key)
    for arg in args:
        op.add_argument(arg, "Tensor", arg)

    def constructor(*tensors: relax.Expr, **values: Any) -> relax.Call:
        if len(tensors) != len(args):
            raise TypeError(f"R.tvmq.{name}: {len(tensors)} tensors; give {', '.join(args)}")
        return relax.Call(op, list(tensors), attributes(**{key: _as_list(value) for key, value in values.items()}))

    constructor.__name__ = name
    keywords = ["*", *(field.name for field in info.fields)] if info.fields else []
    constructor.__doc__ = f"A call of R.tvmq.{name}({', '.join([*args, *keywords])})."
    if not hasattr(parser, "tvmq"):
        parser.tvmq = SimpleNamespace()
    setattr(parser.tvmq, name, constructor)
    return constructor


def _as_list(value: Any) -> Any:
    """Sequences of TVM, and tuples, as lists of numbers."""
    return [int(v) for v in value] if not isinstance(value, str) and isinstance(value, Sequence) else value


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


def broadcast_type(call: relax.Call, dtype: str, ctx: relax.BlockBuilder) -> relax.TensorType:
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
