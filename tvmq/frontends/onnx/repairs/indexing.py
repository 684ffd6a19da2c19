"""Gather, GatherElements, GatherND, ScatterND and OneHot.

Negative indices, and those outside, are the operators' own matter: see graph/indices.py.
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.frontends.onnx.repairs.node import NodeCall, tensor_constant


def gather(call: NodeCall) -> relax.Expr:
    """Gather as one operator: a slice where the indices are constant and consecutive, else `take`.

    TVM's converter handles negative indices by shape_of, less and where; `take` in mode "wrap" counts from the end.
    """
    indices = call.constant(1)
    axis = call.axis(0)
    if indices is None:
        return relax.op.take(call.inputs[0], call.inputs[1], axis, mode="wrap")
    size = call.shape()[axis]
    if not isinstance(size, int) and (indices < 0).any():
        return relax.op.take(call.inputs[0], call.inputs[1], axis, mode="wrap")
    indices = np.where(indices < 0, indices + size, indices) if isinstance(size, int) else indices
    if isinstance(size, int) and indices.size and (indices.min() < 0 or indices.max() >= size):
        raise call.unsupported(f"an index lies outside of 0..{size - 1}", "correct the indices in the model")
    if indices.ndim <= 1 and indices.size and np.all(np.diff(np.atleast_1d(indices)) == 1):
        first = int(np.atleast_1d(indices)[0])
        part = relax.op.strided_slice(call.inputs[0], [axis], [first], [first + indices.size])
        return relax.op.squeeze(part, [axis]) if indices.ndim == 0 else part
    return relax.op.take(call.inputs[0], tensor_constant(indices.astype(np.int64)), axis)


def gather_elements(call: NodeCall) -> relax.Expr:
    """GatherElements; TVM's converter asks for the size of the axis at run time even where it is known."""
    return relax.op.gather_elements(call.inputs[0], _places(call, [call.axis(0)]), call.axis(0))


def gather_nd(call: NodeCall) -> relax.Expr:
    """GatherND."""
    first = int(call.attributes.get("batch_dims", 0))
    return relax.op.gather_nd(call.inputs[0], _places(call, _axes(call, first)), first)


def scatter_nd(call: NodeCall) -> relax.Expr:
    """ScatterND."""
    reduction = call.text("reduction", "none")
    places = _places(call, _axes(call, 0))
    return relax.op.scatter_nd(call.inputs[0], places, call.inputs[2], "update" if reduction == "none" else reduction)


def _axes(call: NodeCall, first: int) -> list[int]:
    """Axes that the items of the last dimension of the indices count."""
    count, rank = call.shape(1)[-1], len(call.shape())
    if not isinstance(count, int) or first + count > rank:
        raise call.unsupported(f"indices of {count} axes beside a tensor of {rank}", "correct their shape")
    return list(range(first, first + count))


def _places(call: NodeCall, axes: list[int]) -> relax.Expr:
    """The indices; constant ones counted from the beginning, as other compilers ask for them."""
    indices, sizes = call.constant(1), [call.shape()[axis] for axis in axes]
    if indices is None or not indices.size or not all(isinstance(size, int) for size in sizes):
        return call.inputs[1]
    if (indices < -np.array(sizes)).any() or (indices >= sizes).any():
        what = f"its axis, they hold {sizes}" if len(sizes) > 1 else f"{-sizes[0]}..{sizes[0] - 1}"
        raise call.unsupported(f"an index lies outside of {what}", "correct the indices in the model")
    return tensor_constant(numerics.place(indices, sizes))


def one_hot(call: NodeCall) -> relax.Expr | None:
    """OneHot with constant depth and values in the element type of the values (TVM's is always float64).

    Equal to ONNX for indices in [-depth, depth); all other indices give the off value, as ONNX has it.
    """
    depth, values = call.constant(1), call.constant(2)
    if depth is None or values is None:
        raise call.unsupported("depth or values that are computed", "export it with constant depth and values")
    count, axis = int(depth.item()), call.attributes.get("axis", -1)
    indices = relax.op.astype(call.inputs[0], "int64")
    rank = len(call.shape())
    axis = axis % (rank + 1)
    classes = np.arange(count, dtype=np.int64).reshape([-1 if i == axis else 1 for i in range(rank + 1)])
    column = relax.op.expand_dims(indices, axis)
    zero, size = relax.const(0, "int64"), relax.const(count, "int64")
    wrapped = relax.op.where(relax.op.less(column, zero), relax.op.add(column, size), column)
    off, on = (tensor_constant(value) for value in values)
    return relax.op.where(relax.op.equal(wrapped, tensor_constant(classes)), on, off)
