"""Class scores among the outputs of a float model: those of a softmax or an argmax, as the graph shows it.

A row of numbers may be scores of classes, an embedding, a box or a regression; only the first has a "same class".

Tests: tests/graph/test_class_scores.py
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVERSION, RESHAPE, SOFTMAX, TRANSPOSE
from tvmq.graph.view import View, op_name, sizes_of

# Operators that keep which number of a row is the greatest, or only move it
PASSING = where(form=(RESHAPE, TRANSPOSE)) | where(kind=CONVERSION)


def class_outputs(mod: tvm.IRModule) -> dict[int, str]:
    """{position of the output: "scores" of classes, or the "index" of one}.

    scores   a softmax over the only axis that is longer than 1, the batch aside
    index    an argmax
    """
    view = View(mod)
    kinds = {position: _kind(view, view.var[name]) for position, name in enumerate(view.outputs)}
    return {position: kind for position, kind in kinds.items() if kind}


def _kind(view: View, var: relax.Expr) -> str:
    value = view.producer(var)
    while value is not None and op_name(value) in PASSING:
        var, value = value.args[0], view.producer(value.args[0])
    if value is None:
        return ""
    if op_name(value) in ("argmax", "argmin"):
        return "index"
    if op_name(value) not in where(kind=SOFTMAX):
        return ""
    sizes = sizes_of(var)
    long = [axis for axis, size in enumerate(sizes) if axis > 0 and size != 1]
    return "scores" if long == [int(value.attrs.axis) % len(sizes)] else ""
