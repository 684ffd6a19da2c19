"""Registering our Relax operators: type inference, purity, legalization, printing and parsing as R.tvmq.*.

The parser looks names up in `tvm.relax.script.parser.tvmq`; the printer strips "relax." from an operator's name, so
that R.tvmq.quantize(...) prints and parses back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import tvm.relax.script.parser as parser
from tvm import ir, relax, tirx

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
        return relax.Call(op, list(tensors), attributes(**{key: _plain(value) for key, value in values.items()}))

    constructor.__name__ = name
    keywords = ["*", *(field.name for field in info.fields)] if info.fields else []
    constructor.__doc__ = f"A call of R.tvmq.{name}({', '.join([*args, *keywords])})."
    if not hasattr(parser, "tvmq"):
        parser.tvmq = SimpleNamespace()
    setattr(parser.tvmq, name, constructor)
    return constructor


def _plain(value: Any) -> Any:
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
