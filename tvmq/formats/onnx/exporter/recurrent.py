"""Recurrent layers as LSTM, GRU and RNN of ONNX, which compute in floats.

The product with the input stands before the loop here and inside of it there: the gates are their input, and the weight
of that is a unit matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.formats.onnx.exporter.graph import Scale, int64s
from tvmq.formats.onnx.exporter.ops import Node
from tvmq.graph.sizes import is_number
from tvmq.graph.view import const_value, is_const, op_name
from tvmq.numerics.recurrent import CELLS, WHOLE_LENGTH

OPERATORS = {"lstm": "LSTM", "lstm_peepholes": "LSTM", "gru": "GRU", "gru_reset_after": "GRU", "rnn": "RNN"}
NAMES = {"sigmoid": "Sigmoid", "tanh": "Tanh", "relu": "Relu"}


def write_recurrent(node: Node, call: relax.Call, weight: relax.Expr) -> str:
    """The node, its weights, and the last states appended to the steps where the module asks for them.

    node    whose inputs are the names of gates, state and, where they are computed, lengths
    weight  a constant, or what a dequantize makes of one
    """
    kind = str(call.attrs.kind)
    cell, (_, batch, width) = CELLS[kind], node.shapes[0]
    hidden = int(width) // cell.gates
    unit = node.constant(np.eye(int(width), dtype=np.float32)[None], "unit")
    inputs = [node.inputs[0], unit, _weight(node, call, weight), *_bias_and_lengths(node, call, hidden)]
    inputs += [
        node.before("Expand", part, node.sizes([1, batch, hidden], "first")) for part in _states(node, cell.states)
    ]
    if kind == "lstm_peepholes":
        inputs += [""] * (7 - len(inputs)) + [node.constant(const_value(call.args[2])[None], "P")]
    results = [node.result + end for end in ("/Y", "/Y_h", "/Y_c")[: 1 + cell.states]]
    attributes = _attributes(call, hidden)
    y, *ends = node.graph.nodes_of(OPERATORS[kind], inputs, node.layer, results, **attributes)
    along = node.before("Squeeze", y, node.constant(int64s([1]), "direction"))
    return node.before("Concat", along, *ends, axis=0) if call.attrs.ends else along


def _attributes(call: relax.Call, hidden: int) -> dict[str, Any]:
    attrs = call.attrs
    attributes: dict[str, Any] = {
        "hidden_size": hidden,
        "direction": "reverse" if attrs.reverse else "forward",
        "activations": [NAMES[name] for name in str(attrs.activations).split(",")],
    }
    if attrs.clip:
        attributes["clip"] = float(attrs.clip)
    if OPERATORS[str(attrs.kind)] == "GRU":
        attributes["linear_before_reset"] = int(attrs.kind == "gru_reset_after")
    return attributes


def _weight(node: Node, call: relax.Call, weight: relax.Expr) -> str:
    """R: [1, gates * hidden, hidden], as int8 codes with a DequantizeLinear, or as floats: groups have no such form."""
    if op_name(weight) == "tvmq.group_dequantize":
        codes, scale = map(const_value, weight.args)
        axis, size = int(weight.attrs.axis), int(weight.attrs.group_size)
        return node.constant(_transpose(numerics.group_dequantize(codes, scale, axis=axis, group_size=size)), "R")
    codes, scale = (weight.args[0], weight.args[1]) if op_name(weight) else (weight, call.args[-1])
    if const_value(codes).dtype != np.int8:
        return node.constant(_transpose(const_value(codes)), "R")
    steps = const_value(scale)
    weight_scale = Scale(steps, np.zeros(steps.shape, np.int32), "int8", 1 if steps.ndim else None)
    return node.graph.weight(_transpose(const_value(codes)), f"{node.layer}.weight", weight_scale)


def _transpose(weight: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(weight.T[None])


def _bias_and_lengths(node: Node, call: relax.Call, hidden: int) -> list[str]:
    """Inputs B and sequence_lens; "" for an absent one."""
    bias = ""
    if call.attrs.kind == "gru_reset_after":
        zeros = np.zeros(5 * hidden, np.float32)
        bias = node.constant(np.concatenate([zeros, const_value(call.args[2])])[None], "B")
    lengths = call.args[4]
    steps, batch = node.shapes[0][:2]
    if is_const(lengths) and (const_value(lengths) >= (int(steps) if is_number(steps) else WHOLE_LENGTH)).all():
        return [bias, ""]
    counts = node.constant(const_value(lengths), "lengths") if is_const(lengths) else node.inputs[2]
    return [bias, node.before("Expand", counts, node.sizes([batch], "samples"))]


def _states(node: Node, count: int) -> list[str]:
    """The first states, [1, batch or 1, hidden] each."""
    bounds = [[node.constant(int64s([i + k]), f"state_{i}_{k}") for k in (0, 1)] for i in range(count)]
    axis = node.constant(int64s([0]), "states")
    return [node.before("Slice", node.inputs[1], begin, end, axis) for begin, end in bounds]
