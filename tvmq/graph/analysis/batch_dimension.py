"""Batch dimension of a model: the dynamic dimension of samples that do not influence each other.

Such a model needs no code for every size of the batch: code for one sample, run for each of them, gives the same.
The proof: every tensor that depends on the dimension has it outermost (n, or n times something), and every operator
leaves what belongs to different samples apart, by the rule that its record names; one without a rule proves nothing.
It may be another axis for a while, or from the first to the last tensor (steps before samples): see inner_axis.

Tests: tests/graph/test_batch_dimension.py
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq.graph.analysis.inner_axis import batch_of_loops, inner_axis, keeps_apart, mentions, other_axes, uses
from tvmq.graph.interpret import Function
from tvmq.graph.operators import OPERATORS, where
from tvmq.graph.operators.record import RECURRENT
from tvmq.graph.own_operators import own_operator
from tvmq.graph.symbolic import dynamic_dimensions
from tvmq.graph.view import View, op_name, rank_of


def batch_dimension(mod: tvm.IRModule) -> str | None:
    """Name of the first dynamic dimension of which all samples are apart; None if that is proved of none.

    >>> from tvmq.graph import ops
    >>> n = tvm.tirx.Var("n", "int64")
    >>> x, builder = relax.Var("x", relax.TensorType([n, 4], "float32")), relax.BlockBuilder()
    >>> with builder.function("main", [x]):
    ...     with builder.dataflow():
    ...         y = builder.emit_output(ops.softmax(x, axis=1))
    ...     _ = builder.emit_func_output(y)
    >>> batch_dimension(builder.get())
    'n'
    """
    dynamic = dynamic_dimensions(mod)
    if not dynamic:
        return None
    view = View(mod)
    names = [name for name, (_, axis) in dynamic.items() if axis == 0]
    names += [name for name in batch_of_loops(view, where(kind=RECURRENT)) if name in dynamic and name not in names]
    return next((name for name in names if _has_separate_samples(view, name)), None)


def _has_separate_samples(view: View, name: str) -> bool:
    if not all(_outermost(var.ty, name) or inner_axis(var.ty, name) is not None for var in view.var.values()):
        return False
    if not any(_depends(view.var[output].ty, name) for output in view.outputs):
        return False
    return all(_keeps_apart(value, name) for _, value in view.bindings)


def _keeps_apart(value: relax.Expr, name: str) -> bool:
    """True for an operator by which no sample influences another."""
    if not isinstance(value, relax.Call):
        return True
    tensors = [arg for arg in value.args if isinstance(arg.ty, relax.TensorType)]
    tensors += [item for arg in value.args if isinstance(arg, relax.Tuple) for item in arg.fields if _is_tensor(item)]
    depends = [_depends(arg.ty, name) for arg in tensors]
    if not any(depends) and not _depends(value.ty, name):
        return not any(mentions(arg, name) for arg in value.args)
    if not _depends(value.ty, name):
        return False
    op = op_name(value)
    if any(inner_axis(ty, name) is not None for ty in (value.ty, *(arg.ty for arg in tensors))):
        after = _axis(value.ty, name)
        return after is not None and keeps_apart(value, [_axis(arg.ty, name) for arg in tensors], after, name)
    if any(mentions(arg, name) for arg in value.args) and op not in SHAPED:
        return False
    own = own_operator(op)
    if own is not None:
        return own.samples_apart
    rule = OPERATORS[op].batch if op in OPERATORS else ""
    return bool(rule) and RULES[rule](value, *depends)


def _axis(ty: relax.Type, name: str) -> int | None:
    """The axis that is the dimension, 0 also if that is a multiple of it; None without it."""
    if not _depends(ty, name):
        return None
    return 0 if _outermost(ty, name) else inner_axis(ty, name)


# ---- rules: call, for each tensor that it reads whether it depends on the dimension -> True if samples stay apart


def _same_rank(call: relax.Call, *depends: bool) -> bool:
    ranks = [rank_of(arg) for arg, has in zip(call.args, depends, strict=False) if has]
    return all(rank == rank_of(call) for rank in ranks)


def _along(call: relax.Call, *_: bool) -> bool:
    """Values are mixed along an axis that is not the first."""
    axis = call.attrs.axis
    rank = rank_of(call.args[0].fields[0] if isinstance(call.args[0], relax.Tuple) else call.args[0])
    return axis is not None and int(axis) % rank != 0


def _reduces(call: relax.Call, *_: bool) -> bool:
    axes = call.attrs.axes if hasattr(call.attrs, "axes") else call.attrs.axis
    rank = rank_of(call.args[0])
    return axes is not None and len(axes) > 0 and all(int(axis) % rank != 0 for axis in axes)


def _product(call: relax.Call, *depends: bool) -> bool:
    """Rows or whole matrices of a sample; a matrix (K, N) on the right belongs to all."""
    a, b = call.args[:2]
    return (not depends[0] or rank_of(a) >= 2) and (not depends[1] or rank_of(b) >= 3)


def _rows(call: relax.Call, *depends: bool) -> bool:
    """Rows of codes and their scales, times a weight and its scales, which belong to all."""
    return all(depends[:2]) and not any(depends[2:]) and rank_of(call) > 1


def _first_only(_call: relax.Call, *depends: bool) -> bool:
    return depends[0] and not any(depends[1:])


def _normalizes(call: relax.Call, *depends: bool) -> bool:
    axes, rank = getattr(call.attrs, "axes", 1), rank_of(call.args[0])  # ours: a number of last axes
    inside = axes < rank if isinstance(axes, int) else all(int(axis) % rank != 0 for axis in axes)
    return rank > 1 and _first_only(call, *depends) and inside


def _normalizes_codes(call: relax.Call, *depends: bool) -> bool:
    """A row is the last axes, as many as its multipliers have."""
    return _first_only(call, *depends) and rank_of(call.args[1]) < rank_of(call.args[0])


def _takes(call: relax.Call, *depends: bool) -> bool:
    axis = call.attrs.axis
    if axis is None:
        return False
    axis = int(axis) % rank_of(call.args[0])
    return (axis == 0) if not depends[0] else (axis != 0 and not depends[1])


def _permutes(call: relax.Call, *_: bool) -> bool:
    return call.attrs.axes is not None and int(call.attrs.axes[0]) == 0


def _slices(call: relax.Call, *depends: bool) -> bool:
    return depends[0] and isinstance(call.args[1], relax.Tuple) and other_axes(call, 0)


def _pads(call: relax.Call, *depends: bool) -> bool:
    return depends[0] and not any(int(width) for width in call.attrs.pad_width[:2])


def _repeats(call: relax.Call, *depends: bool) -> bool:
    repeats = call.attrs.repeats
    return depends[0] and (len(repeats) < rank_of(call) or int(repeats[0]) == 1)


# by the word that a record has for them
RULES: dict[str, Function] = {
    "same rank": _same_rank,
    "first": _first_only,
    "along": _along,
    # the new axis, counted in the result, is not the first
    "stacks": lambda call, *_: int(call.attrs.axis or 0) % rank_of(call) != 0,
    # each matrix, the last two axes, for itself
    "matrices": lambda call, *_: rank_of(call) > 2,
    # constants belong to an axis; -1 is none
    "constants along": lambda call, *_: int(getattr(call.attrs, "axis", -1)) != 0,
    "reduces": _reduces,
    # one scale for the axes from the first on
    "scales": lambda call, *_: int(call.attrs.first) > 0,
    # the dimension is outermost in what is read and made, so each sample stays in one piece
    "shaped": lambda *_: True,
    "product": _product,
    "rows": _rows,
    "normalizes": _normalizes,
    "normalizes codes": _normalizes_codes,
    "takes": _takes,
    # each sample has indices of its own, which name places inside of it
    "gathers": lambda call, *depends: all(depends) and int(call.attrs.axis) % rank_of(call) != 0,
    "permutes": _permutes,
    "slices": _slices,
    "pads": _pads,
    "repeats": _repeats,
    "resizes": lambda call, first, *_: first and str(call.attrs.layout) == "NCHW",
    # outermost are the steps, of which each influences the next
    "loops": lambda *_: False,
}
# Their results have the shape that is written there: with the dimension outermost, samples stay in order.
SHAPED = where(batch="shaped") | {"broadcast_to"}


def _is_tensor(expr: relax.Expr) -> bool:
    return isinstance(expr.ty, relax.TensorType)


def _depends(ty: relax.Type, name: str) -> bool:
    if isinstance(ty, tvm.ir.TupleType):
        return any(_depends(field, name) for field in ty.fields)
    return isinstance(ty, relax.TensorType) and any(uses(dim, name) for dim in ty.shape)


def _outermost(ty: relax.Type, name: str) -> bool:
    """True if the dimension is a factor of the first size, and nowhere else."""
    if isinstance(ty, tvm.ir.TupleType):
        return all(_outermost(field, name) for field in ty.fields)
    if not isinstance(ty, relax.TensorType) or ty.shape is None:
        return False
    dims = list(ty.shape)
    return not any(uses(dim, name) for dim in dims[1:]) and (not dims or _is_multiple(dims[0], name))


def _is_multiple(dim: tvm.ir.Expr, name: str) -> bool:
    if not uses(dim, name):
        return True
    if isinstance(dim, tvm.tirx.Mul):
        return uses(dim.a, name) != uses(dim.b, name) and _is_multiple(dim.a, name) and _is_multiple(dim.b, name)
    return isinstance(dim, tvm.ir.Var)
