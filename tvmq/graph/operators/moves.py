"""Operators that move values without computing, that make tensors of none, and that scatter values into others.

Tests: tests/graph
"""

from __future__ import annotations

from functools import partial

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
