"""Operators that move values without computing, that make tensors of none, and that scatter values into others.

Tests: tests/graph
"""

from __future__ import annotations

from functools import partial

from tvm import relax, te, tirx

from tvmq import numerics
from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.record import (
    BROADCAST,
    CREATION,
    GATHER,
    JOIN,
    MASK,
    MOVE,
    PAD,
    REPEAT,
    RESHAPE,
    RESIZE,
    REVERSE,
    SCATTER,
    SLICE,
    SPLIT,
    TRANSPOSE,
    Record,
)
from tvmq.graph.view import sizes_of

_Move = partial(Record, kind=MOVE, commutes_with_quantize=True, integer=True, propagates_infinity=(0,))

MOVES = (
    *(_Move(name, form=RESHAPE, batch="shaped") for name in ("reshape", "flatten", "squeeze", "expand_dims")),
    _Move("permute_dims", form=TRANSPOSE, batch="permutes"),
    _Move("broadcast_to", form=BROADCAST, batch="same rank"),
    _Move("tile", form=REPEAT, batch="repeats"),
    _Move("repeat", form=REPEAT, batch="along"),
    _Move("flip", form=REVERSE, batch="along"),
    _Move("strided_slice", form=SLICE, batch="slices"),
    _Move("split", form=SPLIT, batch="along"),
    _Move("take", form=GATHER, batch="takes", weight=0),
    _Move("gather_elements", form=GATHER, batch="gathers"),
    *(_Move(name, form=GATHER) for name in ("gather_nd", "index_tensor", "dynamic_strided_slice")),
    _Move("concat", form=JOIN, batch="along"),
    _Move("stack", form=JOIN, batch="stacks"),
    _Move("nn.pad", form=PAD, batch="pads", homogeneous=True),
    # what they leave out becomes 0, which is no code of 0.0
    *(Record(n, MOVE, form=MASK, batch="matrices", integer=True, propagates_infinity=(0,)) for n in ("tril", "triu")),
)
CREATIONS = (
    *(Record(name, CREATION, integer=True, batch="shaped") for name in ("full", "zeros", "ones")),
    *(Record(name, CREATION, integer=True) for name in ("arange", "one_hot", "shape_of")),
)
SCATTERS = (
    *(Record(name, SCATTER, integer=True) for name in ("scatter_elements", "scatter_nd")),
    *(Record(name, SCATTER) for name in ("index_put", "slice_scatter")),
)
# On codes, and in integers, where it repeats pixels; see graph/evaluate.py
RESIZES = (
    Record("image.resize2d", RESIZE, commutes_with_quantize=True, integer=True, bounded_by_input=True, batch="resizes"),
)
MOVING = (*MOVES, *CREATIONS, *SCATTERS, *RESIZES)


def _infer_tensor_scatter(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    axis, (sizes, new, indices) = int(call.attrs.axis), map(sizes_of, call.args)
    fits = len(sizes) == len(new) > axis > 0 and len(indices) == 1
    pairs = enumerate(zip(sizes, new, strict=False))
    known = [(i, a, b) for i, (a, b) in pairs if isinstance(a, int) and isinstance(b, int)]
    if not fits or any(b > a or (b < a and i != axis) for i, a, b in known):
        raise ValueError(f"{call.op.name}: {new} at {indices} along axis {axis} does not fit {sizes}")
    return call.args[0].ty


@declare(SCATTER, numerics.tensor_scatter, infer=_infer_tensor_scatter, batch="along", integer=True)
def tensor_scatter(cache: te.Tensor, update: te.Tensor, write_indices: te.Tensor, *, axis: int) -> te.Tensor:
    """`cache` with the entries of `update` from an index on along an axis; positions wrap round.

    entry j of sample b stands at (write_indices[b] + j) mod size        of codes: all have one scale

    axis  neither negative nor that of the batch
    """
    size = cache.shape[axis]

    def element(*i: tirx.Var) -> tirx.PrimExpr:
        first = tirx.floormod(write_indices(i[0]), tirx.Cast(write_indices.dtype, size))
        entry = tirx.floormod(i[axis] - tirx.Cast("int64", first) + size, size)
        new = update(*i[:axis], entry, *i[axis + 1 :])
        return tirx.if_then_else(entry < update.shape[axis], new, cache(*i))

    return te.compute(cache.shape, element, name="tensor_scatter")
