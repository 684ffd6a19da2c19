"""Which tensors have a zero point that can move: all that make and read their codes must follow it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from tvm import relax

from tvmq.graph.operators import OPERATORS
from tvmq.graph.operators.record import MOVE, PAD
from tvmq.graph.view import View, op_name
from tvmq.training.trainable_parts import CalibratedModule

# What gives codes and lets a saturated one move the zero point, and what reads codes by the zero point of the moment.
MAKERS = frozenset({"tvmq.quantize", "tvmq.requantize", "tvmq.add"})
READERS = frozenset({
    "nn.conv1d", "nn.conv2d", "nn.conv3d", "matmul", "tvmq.conv_transpose", "tvmq.matmul", "tvmq.requantize",
    "tvmq.dequantize", "tvmq.add", "tvmq.multiply", "tvmq.table", "tvmq.sum_pool", "tvmq.sum", "nn.pad",
    "nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d",
})  # fmt: skip


def tensors_with_zero_points(source: CalibratedModule, integers: View) -> set[str]:
    """Tensors (the first of those of one scale) whose zero point is learned.

    Not those whose codes have it at an end, as behind relu: nothing is clipped there that a layer could want.
    """
    tensors = {first for first in source.first_of_equals.values() if _has_room(source, first)}
    for name, value in integers.bindings:
        for tensor in _fixed_tensors(source, integers, name.name, value):
            tensors.discard(tensor)
    return tensors


def _has_room(source: CalibratedModule, tensor: str) -> bool:
    qparams = source.scales[tensor]
    zero = int(np.ravel(qparams.zero_point)[0])
    return not qparams.spec.symmetric and zero != 0 and qparams.spec.qmin < zero < qparams.spec.qmax


def _fixed_tensors(source: CalibratedModule, view: View, name: str, value: relax.Expr) -> set[str]:
    """Tensors whose zero point a binding fixes."""
    if not isinstance(value, relax.Call):
        return set()
    operator = op_name(value)
    record = OPERATORS.get(operator)
    if operator in READERS or (record is not None and record.kind == MOVE and record.form != PAD):
        read: set[str] = set()
    else:
        read = _tensors(source, [arg.name for arg in _variables(value)])
    written = _tensors(source, [name])
    moves = record is not None and (record.kind == MOVE or operator.startswith("nn.max_pool"))
    bounded = {group.output for group in source.groups.values() if getattr(group.facts, "is_bounded", False)}
    fixed = written if not moves and (operator not in MAKERS or name in bounded) else set()
    return read | fixed


def _tensors(source: CalibratedModule, names: list[str]) -> set[str]:
    known: Mapping[str, str] = source.tensor_of
    return {source.first_of_equals.get(known[name], "") for name in names if name in known}


def _variables(value: relax.Call) -> list[relax.Var]:
    variables: list[relax.Var] = []
    for arg in value.args:
        parts = [arg] if isinstance(arg, relax.Var) else getattr(arg, "fields", [])
        variables += [part for part in parts if isinstance(part, relax.Var)]
    return variables
