"""Fold every call whose arguments are all constants, with NumPy; of large constants that are equal one stays.

Before                                        After
    a = permute_dims(const)                       b = matmul(x, const)
    b = matmul(x, a)
    c = matmul(y, equal const)                    c = matmul(y, const)

Needs     any stage.
Leaves    operators without a NumPy form (graph/evaluate.py), and those that make large constants of small ones;
          constants that nobody reads are dropped.
Numerics  float32 as NumPy computes it, own operators by their definition. TVM's FoldConstant would compile each call
          (0.2-0.4 s).
"""

from __future__ import annotations

import operator
from hashlib import sha256
from math import prod
from typing import Any

import numpy as np
import tvm
from tvm import relax, tirx

from tvmq.graph.evaluate import evaluate, evaluator
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import const_value, is_const, make_const, op_name, shape_of, used_vars

LEAST_SHARED = 1024  # elements of a constant that is compared with others
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
    constant_size = sum(item.size for item in arrays if isinstance(item, np.ndarray))
    return prod(int(size) for size in value.ty.shape or ()) > max(LARGEST_GROWTH, constant_size)


def _is_static(value: relax.Expr) -> bool:
    """False where a dimension of the result is only known at run time, as that of an expanded constant."""
    return isinstance(value.ty, tvm.ir.TupleType) or all(isinstance(d, tirx.IntImm) for d in value.ty.shape or ())


def _scalar(arg: relax.Expr) -> Any:
    return arg.value if hasattr(arg, "value") else None


class _ConstantFolder:
    """Folder that keeps one of several equal constants."""

    def __init__(self) -> None:
        self._firsts: dict[Any, relax.Expr] = {}
        self._known: dict[relax.Expr, relax.Expr] = {}

    def visit(self, _rewriter: Rewriter, _var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        """New value of a binding; None leaves it."""
        folded = fold(value)
        if folded is not None:
            return self._first(folded)
        if not isinstance(value, relax.Call):
            return None
        old = list(value.args)
        args = [self._first(arg) for arg in old]
        if all(map(operator.is_, args, old)):
            return None
        return relax.Call(value.op, args, value.attrs, value.ty_args, value.span)

    def _first(self, value: relax.Expr) -> relax.Expr:
        """The first constant that is equal to this one; anything else as it is."""
        if not is_const(value) or prod(shape_of(value)) < LEAST_SHARED:
            return value
        if value not in self._known:
            array = np.ascontiguousarray(const_value(value))
            key = array.shape, str(value.ty.dtype), sha256(array.reshape(-1).view(np.uint8).data).digest()
            self._known[value] = self._firsts.setdefault(key, value)
        return self._known[value]


def fold_constants(mod: tvm.IRModule) -> tvm.IRModule:
    """Fold every call whose arguments are all constants."""
    return rewrite(mod, _ConstantFolder().visit)
