"""LSTM, GRU and RNN: a product with the input and one loop over time for each direction
(formats/importing/recurrent.py).

Directions are computed one after the other and stacked; layout 1 has the batch first.

Tests: tests/formats/onnx/importer/test_recurrent.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.formats.importing.recurrent import Direction, run_direction, split_bias
from tvmq.formats.onnx.importer.repairs.node import FIX_SHAPES, NodeCall
from tvmq.graph.size_text import size_text
from tvmq.graph.view import const_value, is_const, op_name
from tvmq.numerics.recurrent import ACTIVATIONS, CELLS

REVERSED = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
FIRST_STATE, PEEPHOLES = 5, 7  # places among the inputs


def recurrent(call: NodeCall) -> relax.Expr:
    """All results of an LSTM, GRU or RNN: Y, Y_h and, for an LSTM, Y_c."""
    emit, kind = call.builder.emit, _kind(call)
    _check_batch(call)
    batch_first = bool(call.attributes.get("layout", 0))
    x = emit(relax.op.permute_dims(call.inputs[0], [1, 0, 2])) if batch_first else call.inputs[0]
    reversed_ones, ends = REVERSED[call.text("direction", "forward")], any(call.outputs[1:])
    results = []
    for index, backwards in enumerate(reversed_ones):
        direction = _direction(call, kind, index, len(reversed_ones), backwards)
        states = [_first_state(call, i, index, batch_first) for i in range(CELLS[kind].states)]
        results.append(run_direction(emit, x, direction, states, _lengths(call), ends=ends))
    y = emit(relax.op.stack([steps for steps, _ in results], axis=1))  # (steps, directions, batch, hidden)
    last = [emit(relax.op.stack(list(states), axis=0)) for states in zip(*(own for _, own in results), strict=True)]
    if batch_first:
        y = emit(relax.op.permute_dims(y, [2, 0, 1, 3]))
        last = [emit(relax.op.permute_dims(end, [1, 0, 2])) for end in last]
    return relax.Tuple([y, *last])


def _kind(call: NodeCall) -> str:
    """The kind of cell; refuses what has none."""
    if call.attributes.get("input_forget", 0):
        raise call.unsupported_error("input_forget=1 is not supported", "export it with separate gates")
    if call.op_type == "LSTM":
        return "lstm" if call.input(PEEPHOLES) is None else "lstm_peepholes"
    after = call.op_type == "GRU" and call.attributes.get("linear_before_reset", 0)
    return "gru_reset_after" if after else call.op_type.lower()


def _check_batch(call: NodeCall) -> None:
    """Refuse lengths and first states of another number of samples: a loop would read behind them."""
    batch_first = bool(call.attributes.get("layout", 0))
    batch = call.shape()[0 if batch_first else 1]
    places = {"sequence_lens": (4, 0)}
    places |= {name: (FIRST_STATE + i, 0 if batch_first else 1) for i, name in enumerate(("initial_h", "initial_c"))}
    for name, (place, axis) in places.items():
        size = 1 if call.input(place) is None else call.shape(place)[axis]
        if size != 1 and str(size) != str(batch):
            what = f"{name} has a batch of {size_text(size)} and X a batch of {size_text(batch)}"
            raise call.unsupported_error(what, FIX_SHAPES)


def _direction(call: NodeCall, kind: str, index: int, directions: int, backwards: bool) -> Direction:
    w, r = (_weight(call, position, name, index) for position, name in ((1, "W"), (2, "R")))
    bias, terms = None, None
    if call.input(3) is not None:
        bias, terms = split_bias(kind, *np.split(_weight(call, 3, "B", index), 2))
    elif kind == "gru_reset_after":
        terms = np.zeros(r.shape[1], np.float32)
    if kind == "lstm_peepholes":
        terms = _weight(call, PEEPHOLES, "P", index)
    clip = float(call.attributes.get("clip", 0.0))
    return Direction(kind, w, r, bias, terms, _activations(call, kind, index, directions), clip, backwards)


def _weight(call: NodeCall, position: int, name: str, index: int) -> np.ndarray:
    """The part of one direction in a constant input."""
    value = call.constant(position)
    if value is None:
        value = _constant_of_codes(call, position)
    if value is None:
        raise call.unsupported_error(f"its weight {name} is not a constant", "export the model with constant weights")
    return np.asarray(value[index], np.float32)


def _constant_of_codes(call: NodeCall, position: int) -> np.ndarray | None:
    """The numbers of a constant behind a DequantizeLinear; None for anything else."""
    bound = call.builder.lookup_binding(call.inputs[position]) if isinstance(call.inputs[position], relax.Var) else None
    if bound is None or op_name(bound) != "tvmq.dequantize" or not all(map(is_const, bound.args)):
        return None
    codes, scale, zero = map(const_value, bound.args)
    return numerics.dequantize(codes, scale, zero, axis=int(bound.attrs.axis) if scale.ndim else None)


def _activations(call: NodeCall, kind: str, index: int, directions: int) -> str:
    names, default = [name.decode().lower() for name in call.attributes.get("activations", ())], CELLS[kind].activations
    count = len(default.split(","))
    chosen = names[index * count : (index + 1) * count] if len(names) == count * directions else default.split(",")
    unknown = [name for name in chosen if name not in ACTIVATIONS]
    if unknown:
        raise call.unsupported_error(f"activation {unknown[0]} is unknown", f"use one of {', '.join(ACTIVATIONS)}")
    return ",".join(chosen)


def _first_state(call: NodeCall, state: int, index: int, batch_first: bool) -> relax.Expr | None:
    """A first state of a direction, [batch, hidden]; None for zeros."""
    states: Any = call.input(FIRST_STATE + state)
    if states is None:
        return None
    axis = 1 if batch_first else 0
    part = call.builder.emit(relax.op.strided_slice(states, [axis], [index], [index + 1]))
    return call.builder.emit(relax.op.squeeze(part, [axis]))


def _lengths(call: NodeCall) -> relax.Expr | None:
    """Steps of each sample, int32; None for all."""
    lengths, steps = call.input(4), call.shape()[1 if call.attributes.get("layout", 0) else 0]
    known = call.constant(4)
    if lengths is None or (known is not None and isinstance(steps, int) and (known >= steps).all()):
        return None
    return lengths if call.dtype(4) == "int32" else call.builder.emit(relax.op.astype(lengths, "int32"))
