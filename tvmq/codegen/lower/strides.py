"""Tensors as views of others: where the elements lie that reshapes, transposes and slices only move.

A kernel that reads at any distances needs no copy of q, k and v, whose heads lie beside each other in one tensor.

Tests: tests/codegen/lower/patterns/test_attention.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tvm import relax

from tvmq.graph.evaluate import slice_of
from tvmq.graph.operators import where
from tvmq.graph.operators.record import RESHAPE, SLICE, TRANSPOSE
from tvmq.graph.view import View, op_name, shape_of

MOVES = where(form=(RESHAPE, TRANSPOSE, SLICE))


@dataclass(frozen=True)
class StridedView:
    """A tensor inside another one: element i of it lies at offset + sum of i * strides, in elements of `base`."""

    base: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def contiguous_view(name: str, shape: tuple[int, ...]) -> StridedView:
    """A tensor as it is.

    >>> contiguous_view("x", (2, 3)).strides
    (3, 1)
    """
    return StridedView(name, 0, shape, tuple(int(np.prod(shape[axis + 1 :], dtype=int)) for axis in range(len(shape))))


def strided_view(view: View, name: str, exists: Callable[[str], bool]) -> StridedView:
    """The variable as a view of the oldest existing tensor of which it is one.

    exists  False for tensors that disappear inside a kernel
    """
    path = [name]
    while _moves(view, path[-1]) and exists(view.value[path[-1]].args[0].name):
        path.append(view.value[path[-1]].args[0].name)
    path.reverse()
    base = path[0]
    root = array = np.empty(shape_of(view.var[base]), np.int8)  # of its addresses only; nothing is read or written
    for current in path[1:]:
        moved = _moved_view(view.value[current], array)
        if not np.may_share_memory(moved, root):  # NumPy had to copy: there the view begins anew
            base, moved = current, np.empty(shape_of(view.var[current]), np.int8)
            root = moved
        array = moved
    offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return StridedView(base, offset, array.shape, array.strides)


def _moves(view: View, name: str) -> bool:
    value = view.value.get(name)
    return isinstance(value, relax.Call) and op_name(value) in MOVES and isinstance(value.args[0], relax.Var)


def _moved_view(call: relax.Call, array: np.ndarray) -> np.ndarray:
    """The operator on an array, as a view where that is possible."""
    if op_name(call) == "permute_dims":
        axes = call.attrs.axes
        return np.transpose(array, None if axes is None else [int(a) for a in axes])
    if op_name(call) == "strided_slice":
        return array[slice_of(call, array.shape)]
    return array.reshape(shape_of(call))
