"""Fold every call whose arguments are all constants, with NumPy.

Before                                        After
    a = permute_dims(const)                       b = matmul(x, const)
    b = matmul(x, a)

Needs     any stage.
Leaves    operators without a NumPy form (graph/evaluate.py), and those that make large constants of small ones;
          constants that nobody reads are dropped.
Numerics  float32 as NumPy computes it, own operators by their definition. TVM's FoldConstant would compile each call
          (0.2-0.4 s).
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import tvm
from tvm import relax, tirx

from tvmq.graph.evaluate import evaluate, evaluator
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import const_value, is_const, make_const, op_name, used_vars

LARGEST_GROWTH = 1 << 24  # elements; more is cheaper to compute in a run than to store


def fold(value: relax.Expr) -> relax.Expr | None:
    """The constant that a call amounts to, None if it has none (or several results)."""
    if not op_name(value) or not value.args or evaluator(value) is None or not _is_static(value):
        return None
    args: list[Any] = []
    for arg in value.args:
        if is_const(arg):
            args.append(const_value(arg))
        elif isinstance(arg, relax.Tuple) and arg.fields and all(is_const(item) for item in arg.fields):
            args.append([const_value(item) for item in arg.fields])
        elif used_vars(arg) or isinstance(arg, relax.Call):
            return None
        else:  # shapes and scalars: read from the call itself or as a number
            args.append(_scalar(arg))
    if _grows(value, args):
        return None
    result = evaluate(value, args)
    return None if isinstance(result, tuple) else make_const(np.asarray(result, str(value.ty.dtype)))


def _grows(value: relax.Expr, args: list[Any]) -> bool:
    """True if the result is large, and larger than all constants that it is made of."""
    if isinstance(value.ty, tvm.ir.TupleType):
        return False
    arrays = [item for arg in args for item in (arg if isinstance(arg, list) else [arg])]
    given = sum(item.size for item in arrays if isinstance(item, np.ndarray))
    return prod(int(size) for size in value.ty.shape or ()) > max(LARGEST_GROWTH, given)


def _is_static(value: relax.Expr) -> bool:
    """False where a dimension of the result is only known at run time, as that of an expanded constant."""
    return isinstance(value.ty, tvm.ir.TupleType) or all(isinstance(d, tirx.IntImm) for d in value.ty.shape or ())


def _scalar(arg: relax.Expr) -> Any:
    return arg.value if hasattr(arg, "value") else None


def _visit(_rewriter: Rewriter, _var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    return fold(value)


def fold_constants(mod: tvm.IRModule) -> tvm.IRModule:
    """See the head of this file."""
    return rewrite(mod, _visit)
