"""LSTM, GRU and RNN over a known number of steps, written out step by step.

    x w      for all steps at once           (steps, batch, gates * hidden)
    h r      once a step; the weight is one constant for all of them
Directions are computed one after the other and stacked; layout 1 has the batch first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax

from tvmq.frontends.onnx.repairs.node import NodeCall, tensor_constant

ACTIVATIONS: dict[str, Callable[[relax.Expr], relax.Expr]] = {
    "sigmoid": relax.op.sigmoid,
    "tanh": relax.op.tanh,
    "relu": relax.op.nn.relu,
}
State = tuple[relax.Expr, ...]


@dataclass
class _Direction:
    """One direction of a recurrent node.

    gates    x w^T + biases of x, for all steps: (steps, batch, gates * hidden)
    r        r^T: (hidden, gates * hidden); bias of h: (gates * hidden,)
    chosen   activations of this direction
    by_gate  r cut into gates, where a GRU resets the state before the product
    """

    call: NodeCall
    hidden: int
    gates: relax.Expr
    r: relax.Expr
    bias: relax.Expr | None
    peepholes: relax.Expr | None
    chosen: list[Callable[[relax.Expr], relax.Expr]]
    by_gate: list[relax.Expr] | None = None

    def emit(self, value: relax.Expr) -> relax.Var:
        return self.call.builder.emit(value)

    def at(self, step: int) -> relax.Expr:
        """The part of x in the gates of one step: (batch, gates * hidden)."""
        return self.emit(relax.op.squeeze(_slice(self.gates, 0, step, step + 1), [0]))

    def from_state(self, h: relax.Expr) -> relax.Expr:
        """The part of the state in the gates."""
        product = self.emit(relax.op.matmul(h, self.r))
        return product if self.bias is None else self.emit(relax.op.add(product, self.bias))

    def part(self, gates: relax.Expr, index: int) -> relax.Expr:
        """One gate."""
        return self.emit(_slice(gates, -1, index * self.hidden, (index + 1) * self.hidden))

    def act(self, index: int, value: relax.Expr) -> relax.Expr:
        """An activation, after the clip of the node."""
        limit = self.call.attributes.get("clip")
        value = value if limit is None else self.emit(relax.op.clip(value, -float(limit), float(limit)))
        return self.emit(self.chosen[index](value))

    def seen(self, cell: relax.Expr, index: int) -> relax.Expr | None:
        """What a gate sees of the cell, through a peephole."""
        if self.peepholes is None:
            return None
        weight = self.emit(_slice(self.peepholes, 0, index * self.hidden, (index + 1) * self.hidden))
        return self.emit(relax.op.multiply(cell, weight))


def _lstm_step(d: _Direction, step: int, state: State) -> State:
    h, cell = state
    gates = d.emit(relax.op.add(d.at(step), d.from_state(h)))

    def gate(index: int, seen: relax.Expr | None, activation: int = 0) -> relax.Expr:
        value = d.part(gates, index)
        return d.act(activation, value if seen is None else d.emit(relax.op.add(value, seen)))

    keep, new = gate(2, d.seen(cell, 2)), d.emit(relax.op.multiply(gate(0, d.seen(cell, 0)), gate(3, None, 1)))
    cell = d.emit(relax.op.add(d.emit(relax.op.multiply(keep, cell)), new))
    out = gate(1, d.seen(cell, 1))
    return d.emit(relax.op.multiply(out, d.emit(d.chosen[2](cell)))), cell


def _gru_step(d: _Direction, step: int, state: State) -> State:
    (h,) = state
    x, own = d.at(step), d.by_gate
    parts = [d.part(d.from_state(h), i) for i in range(3)] if own is None else _products(d, h, own, (0, 1))
    update = d.act(0, d.emit(relax.op.add(d.part(x, 0), parts[0])))
    reset = d.act(0, d.emit(relax.op.add(d.part(x, 1), parts[1])))
    if own is None:
        recalled = d.emit(relax.op.multiply(reset, parts[2]))
    else:
        recalled = _products(d, d.emit(relax.op.multiply(reset, h)), own, (2,))[0]
    new = d.act(1, d.emit(relax.op.add(d.part(x, 2), recalled)))
    rest = d.emit(relax.op.multiply(d.emit(relax.op.subtract(tensor_constant(np.float32(1)), update)), new))
    return (d.emit(relax.op.add(rest, d.emit(relax.op.multiply(update, h)))),)


def _products(d: _Direction, h: relax.Expr, weights: list[relax.Expr], gates: tuple[int, ...]) -> list[relax.Expr]:
    """The parts of the state in single gates."""
    found = []
    for gate in gates:
        product = d.emit(relax.op.matmul(h, weights[gate]))
        if d.bias is not None:
            own = d.emit(_slice(d.bias, 0, gate * d.hidden, (gate + 1) * d.hidden))
            product = d.emit(relax.op.add(product, own))
        found.append(product)
    return found


def _rnn_step(d: _Direction, step: int, state: State) -> State:
    return (d.act(0, d.emit(relax.op.add(d.at(step), d.from_state(state[0])))),)


@dataclass(frozen=True)
class _Kind:
    """One operator: its number of gates and states, what an activation defaults to, and its step."""

    gates: int
    states: int
    activations: tuple[str, ...]
    step: Callable[[_Direction, int, State], State]


KINDS = {
    "LSTM": _Kind(4, 2, ("sigmoid", "tanh", "tanh"), _lstm_step),
    "GRU": _Kind(3, 1, ("sigmoid", "tanh"), _gru_step),
    "RNN": _Kind(1, 1, ("tanh",), _rnn_step),
}


def recurrent(call: NodeCall) -> relax.Expr:
    """All results of an LSTM, GRU or RNN: Y, Y_h and, for an LSTM, Y_c."""
    kind = KINDS[call.op_type]
    batch_first = bool(call.attributes.get("layout", 0))
    x = call.builder.emit(relax.op.permute_dims(call.inputs[0], [1, 0, 2])) if batch_first else call.inputs[0]
    steps, batch, _ = call.shape() if not batch_first else [call.shape()[i] for i in (1, 0, 2)]
    _check(call, steps)
    names = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
    reversed_ones = names[call.text("direction", "forward")]
    outputs, last = [], []
    for index, backwards in enumerate(reversed_ones):
        direction = _direction(call, kind, index, len(reversed_ones), x)
        state = _initial(call, kind, index, batch, direction.hidden, batch_first)
        results: dict[int, relax.Expr] = {}
        for step in range(steps)[:: -1 if backwards else 1]:
            state = kind.step(direction, step, state)
            results[step] = state[0]
        outputs.append(call.builder.emit(relax.op.stack([results[step] for step in range(steps)], axis=0)))
        last.append(state)
    y = call.builder.emit(relax.op.stack(outputs, axis=1))  # (steps, directions, batch, hidden)
    ends = [call.builder.emit(relax.op.stack([state[i] for state in last], axis=0)) for i in range(kind.states)]
    if batch_first:
        y = call.builder.emit(relax.op.permute_dims(y, [2, 0, 1, 3]))
        ends = [call.builder.emit(relax.op.permute_dims(end, [1, 0, 2])) for end in ends]
    return relax.Tuple([y, *ends])


def _check(call: NodeCall, steps: Any) -> None:
    """Refuse what cannot be written out, or means something else."""
    if not isinstance(steps, int):
        raise call.unsupported("the number of steps is not fixed", "fix it with shape=")
    lengths = call.input(4)
    known = call.constant(4)
    if lengths is not None and (known is None or (known != steps).any()):
        raise call.unsupported("sequence_lens shorter than the input", "pad the sequences and leave it out")
    if call.attributes.get("input_forget", 0):
        raise call.unsupported("input_forget=1", "export it with separate gates")


def _direction(call: NodeCall, kind: _Kind, index: int, directions: int, x: relax.Expr) -> _Direction:
    emit = call.builder.emit
    w, r = (_transposed(call, position, index) for position in (1, 2))
    hidden = call.shape(2)[2]
    gates = emit(relax.op.matmul(x, w))
    bias = None
    if call.input(3) is not None:
        both = emit(relax.op.squeeze(_slice(call.inputs[3], 0, index, index + 1), [0]))
        gates = emit(relax.op.add(gates, emit(_slice(both, 0, 0, kind.gates * hidden))))
        bias = emit(_slice(both, 0, kind.gates * hidden, 2 * kind.gates * hidden))
    peepholes = None
    if call.op_type == "LSTM" and call.input(7) is not None:
        peepholes = emit(relax.op.squeeze(_slice(call.inputs[7], 0, index, index + 1), [0]))
    found = _Direction(call, hidden, gates, r, bias, peepholes, _activations(call, kind, index, directions))
    if call.op_type == "GRU" and not call.attributes.get("linear_before_reset", 0):
        found.by_gate = [found.part(r, gate) for gate in range(3)]
    return found


def _transposed(call: NodeCall, position: int, index: int) -> relax.Expr:
    """The weight of one direction as (inputs, gates * hidden)."""
    one = call.builder.emit(relax.op.squeeze(_slice(call.inputs[position], 0, index, index + 1), [0]))
    return call.builder.emit(relax.op.permute_dims(one, [1, 0]))


def _activations(call: NodeCall, kind: _Kind, index: int, directions: int) -> list[Callable[[relax.Expr], relax.Expr]]:
    given = [name.decode().lower() for name in call.attributes.get("activations", ())]
    count = len(kind.activations)
    chosen = given[index * count : (index + 1) * count] if len(given) == count * directions else kind.activations
    unknown = [name for name in chosen if name not in ACTIVATIONS]
    if unknown:
        raise call.unsupported(f"activation {unknown[0]}", f"use one of {', '.join(ACTIVATIONS)}")
    return [ACTIVATIONS[name] for name in chosen]


def _initial(call: NodeCall, kind: _Kind, index: int, batch: Any, hidden: int, batch_first: bool) -> State:
    """The first state of a direction: as given, or 0."""
    states = []
    for position in range(5, 5 + kind.states):
        given = call.input(position)
        if given is None:
            states.append(call.builder.emit(relax.op.zeros([batch, hidden], "float32")))
        else:
            axis = 1 if batch_first else 0
            states.append(call.builder.emit(relax.op.squeeze(_slice(given, axis, index, index + 1), [axis])))
    return tuple(states)


def _slice(x: relax.Expr, axis: int, begin: int, end: int) -> relax.Expr:
    axis = axis if axis >= 0 else len(x.ty.shape) + axis
    return relax.op.strided_slice(x, [axis], [begin], [end])
