"""Repairs of indexing in torch: TVM's converters read outside of the tensor where an index is negative.

Tests: tests/formats/torch/importer/test_ops.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax
from tvm.ir import GenericConst

from tvmq import numerics
from tvmq.formats.torch.importer.repairs import TorchCall

FIXED = "export the model with fixed sizes"


def getitem(call: TorchCall) -> Any:
    """An item of a tuple; of one that was just built, its field. Positions of maxima are not computed."""
    source, index = call.node.args
    if index == 1 and "max_pool" in str(getattr(source.target, "__name__", "")):
        raise call.unsupported_error("the positions of the maxima are not supported", "use return_indices=False")
    values = call.value(source)
    if isinstance(values, relax.Var):
        bound = call.builder.lookup_binding(values)
        values = bound if isinstance(bound, relax.Tuple) else values
    return values[index] if isinstance(values, tuple | list | relax.Tuple) else None


def select(call: TorchCall) -> relax.Expr:
    """x[..., index, ...] along one dimension as a slice of one without that dimension."""
    x, index = call["self"], call["index"]
    dim = int(call["dim"]) % len(call.shape(x))
    if not isinstance(index, int):
        raise call.unsupported_error("an index computed from sizes is not supported", FIXED)
    begin = index if index >= 0 else call.shape(x)[dim] + index
    return relax.op.squeeze(relax.op.strided_slice(x, [dim], [begin], [begin + 1]), [dim])


def embedding(call: TorchCall) -> relax.Expr:
    """Rows of the table."""
    return relax.op.take(call["weight"], call["indices"], axis=0)


def index_select(call: TorchCall) -> relax.Expr:
    """Slices along one dimension."""
    return relax.op.take(call["self"], call["index"], axis=int(call["dim"]))


def take(call: TorchCall) -> relax.Expr:
    """Items of the flattened tensor; negative indices count from the end."""
    flat = call.emit(relax.op.reshape(call["self"], [-1]))
    return relax.op.take(flat, call["index"], axis=0, mode="wrap")


def repeat(call: TorchCall) -> relax.Expr | None:
    """Copies along dimensions, as many as a dynamic dimension has; TVM's converter takes numbers alone.

    Such an axis of several items becomes two, the first of which is spread: n copies of (a, b) are (n, 2).
    """
    counts = [int(count) if isinstance(count, int) or hasattr(count, "value") else count for count in call["repeats"]]
    if all(isinstance(count, int) for count in counts):
        return None
    x = call["self"]
    sizes = [1] * (len(counts) - len(call.shape(x))) + call.shape(x)
    fixed = [count if isinstance(count, int) else 1 for count in counts]
    x = call.emit(relax.op.tile(x, fixed))
    sizes = [size * count for size, count in zip(sizes, fixed, strict=True)]
    apart, spread, joined = [], [], []
    for size, count in zip(sizes, counts, strict=True):
        is_split = not isinstance(count, int) and size != 1
        apart += [1, size] if is_split else [size]
        spread += [count, size] if is_split else [size if isinstance(count, int) else count]
        joined.append(size if isinstance(count, int) else count * size)
    x = call.emit(relax.op.broadcast_to(call.emit(relax.op.reshape(x, apart)), spread))
    return relax.op.reshape(x, joined)


def unfold(call: TorchCall) -> relax.Expr:
    """Windows along one dimension; their items become the last dimension."""
    x, size, step = call["self"], int(call["size"]), int(call["step"])
    shape = call.shape(x)
    dim = int(call["dimension"]) % len(shape)
    if not isinstance(shape[dim], int):
        raise call.unsupported_error("windows along a dynamic dimension are not supported", FIXED)
    starts = np.arange(0, shape[dim] - size + 1, step)
    positions = relax.const(starts[:, None] + np.arange(size), "int64")
    windows = call.emit(relax.op.take(x, positions, axis=dim))
    order = [*range(dim + 1), *range(dim + 2, len(shape) + 1), dim + 1]
    return relax.op.permute_dims(windows, order)


def index(call: TorchCall) -> relax.Expr:
    """x[i, j, ...] with tensors of indices, which broadcast together.

    Constant indices of neighbouring dimensions become one index of these dimensions taken as one.
    """
    x, shape = call["self"], call.shape(call["self"])
    indexed_axes = [(axis, item) for axis, item in enumerate(call["indices"]) if item is not None]
    if any(str(item.ty.dtype) == "bool" for _, item in indexed_axes):
        raise call.unsupported_error("the shape of its result depends on values", "use torch.where")
    items = [item for _, item in indexed_axes]
    first, last = indexed_axes[0][0], indexed_axes[-1][0]
    if len(items) == 1:
        return relax.op.take(x, items[0], axis=first, mode="wrap")
    static = all(isinstance(size, int) for size in shape[first : last + 1])
    if last - first + 1 == len(items) and static and all(isinstance(item, GenericConst) for item in items):
        return _joint(call, x, first, shape[first : last + 1], [item.value.numpy() for item in items])
    if first == 0 and last + 1 == len(items):
        return relax.op.index_tensor(x, items)
    raise call.unsupported_error("these indices of several dimensions must be constants", "index one after the other")


def _joint(call: TorchCall, x: relax.Expr, first: int, sizes: list[int], items: list[np.ndarray]) -> relax.Expr:
    """Index neighbouring dimensions, merged to one, by constant indices."""
    shape = call.shape(x)
    for axis, (item, size) in enumerate(zip(items, sizes, strict=True), first):
        if item.size and not -size <= item.min() <= item.max() < size:
            raise call.unsupported_error(f"an index of axis {axis} is outside {-size}..{size - 1}", "correct it")
    places = [numerics.place(item, size) for item, size in zip(items, sizes, strict=True)]
    positions = np.ravel_multi_index(np.broadcast_arrays(*places), sizes).astype(np.int64)
    merged = call.emit(relax.op.reshape(x, [*shape[:first], int(np.prod(sizes)), *shape[first + len(sizes) :]]))
    return relax.op.take(merged, relax.const(positions, "int64"), axis=first)
