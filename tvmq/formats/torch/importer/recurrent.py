"""LSTM, GRU and RNN of torch: each layer and direction as a product and a loop over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax
from tvm.ir import GenericConst

from tvmq.formats.importing.recurrent import Direction, run_direction, split_bias
from tvmq.formats.torch.importer.repairs import TorchCall
from tvmq.numerics.recurrent import CELLS

# operator of torch -> kind, activations, and which of torch's gates stand where ONNX has them
KINDS: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "lstm": ("lstm", "sigmoid,tanh,tanh", (0, 3, 1, 2)),
    "gru": ("gru_reset_after", "sigmoid,tanh", (1, 0, 2)),
    "rnn_tanh": ("rnn", "tanh", (0,)),
    "rnn_relu": ("rnn", "relu", (0,)),
}


def recurrent(call: TorchCall) -> tuple[Any, ...]:
    """All layers and directions: the steps of the last layer, and the last states of all."""
    kind, activations, order = KINDS[call.operator.partition(".")[0]]
    parameters = [_array(call, value) for value in call["params"]]
    directions, layers, biases = 1 + bool(call["bidirectional"]), int(call["num_layers"]), bool(call["has_biases"])
    each = 4 if biases else 2
    if len(parameters) != each * directions * layers:
        raise call.unsupported_error("proj_size is not supported", "write the projection as a separate layer")
    if call["train"] and float(call["dropout"]) > 0:
        raise call.unsupported_error("dropout in training is not supported", "call model.eval() before exporting")
    x, is_batched = call["input"], len(call.shape(call["input"])) == 3
    states = list(call["hx"]) if isinstance(call["hx"], list | tuple) else [call["hx"]]
    zeros = _are_zeros(call)
    if not is_batched:
        x, states = call.emit(relax.op.expand_dims(x, 1)), [call.emit(relax.op.expand_dims(s, 1)) for s in states]
    elif call["batch_first"]:
        x = call.emit(relax.op.permute_dims(x, [1, 0, 2]))
    ends: list[list[relax.Expr]] = [[] for _ in range(CELLS[kind].states)]
    for layer in range(layers):
        results = []
        for backwards in range(directions):
            index = layer * directions + backwards
            own = parameters[each * index : each * (index + 1)]
            direction = _direction(kind, activations, order, own, bool(backwards))
            first = [
                None if is_zero else call.emit(relax.op.take(state, relax.const(index, "int64"), axis=0))
                for state, is_zero in zip(states, zeros, strict=True)
            ]
            y, last = run_direction(call.emit, x, direction, first, None, ends=True)
            results.append(y)
            for known, state in zip(ends, last, strict=True):
                known.append(state)
        x = results[0] if directions == 1 else call.emit(relax.op.concat(results, axis=2))
    stacked = [call.emit(relax.op.stack(known, axis=0)) for known in ends]
    if not is_batched:
        return tuple(call.emit(relax.op.squeeze(value, [1])) for value in (x, *stacked))
    y = call.emit(relax.op.permute_dims(x, [1, 0, 2])) if call["batch_first"] else x
    return (y, *stacked)


def _are_zeros(call: TorchCall) -> list[bool]:
    """True for each first state that torch itself makes: zeros, of a batch that may be dynamic."""
    states = dict(zip((a.name for a in call.node.target._schema.arguments), call.node.args, strict=False))["hx"]
    nodes = list(states) if isinstance(states, list | tuple) else [states]
    return [str(getattr(node, "target", "")).startswith("aten.zeros.") for node in nodes]


def _direction(
    kind: str, activations: str, order: tuple[int, ...], parameters: Sequence[np.ndarray], backwards: bool
) -> Direction:
    ordered = [np.concatenate([np.split(array, len(order))[gate] for gate in order]) for array in parameters]
    w, r, *biases = ordered
    bias, terms = split_bias(kind, *biases) if biases else (None, None)
    if terms is None and CELLS[kind].terms:
        terms = np.zeros(r.shape[1], np.float32)
    return Direction(kind, w, r, bias, terms, activations, reverse=backwards)


def _array(call: TorchCall, value: relax.Expr) -> np.ndarray:
    if not isinstance(value, GenericConst):
        raise call.unsupported_error("its weights are not constants", "export the model with constant weights")
    return np.asarray(value.value.numpy(), np.float32)
