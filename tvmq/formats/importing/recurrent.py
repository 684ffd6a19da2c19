"""A recurrent layer as operators: a product with the input for all steps, and a loop over time in one operator.

gates = x w + bias                    (steps, batch, gates * hidden), an ordinary product
y     = tvmq.recurrent(gates, r, ...)  all steps of one direction; the last states follow where they are read

Tests: tests/cuda_emulator/test_models.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax

from tvmq.graph import ops
from tvmq.graph.sizes import is_number
from tvmq.numerics.recurrent import CELLS, WHOLE_LENGTH

Emit = Callable[[relax.Expr], relax.Expr]


@dataclass
class Direction:
    """Direction of a recurrent layer.

    kind         of numerics.recurrent.CELLS
    w, r         [gates * hidden, inputs] and [gates * hidden, hidden], gates in the order of ONNX
    input_bias   [gates * hidden], added to the gates before the loop
    terms        vectors that the kind reads in each step, [terms * hidden]; None where it has none
    activations  "sigmoid,tanh,tanh"
    """

    kind: str
    w: np.ndarray
    r: np.ndarray
    input_bias: np.ndarray | None
    terms: np.ndarray | None
    activations: str
    clip: float = 0.0
    reverse: bool = False

    @property
    def hidden_units(self) -> int:
        """Hidden units."""
        return int(self.r.shape[1])


def split_bias(kind: str, w_bias: np.ndarray, r_bias: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """(bias added before the loop, terms of each step) from the biases of input and state, [gates * hidden] each.

    Both are added before the loop, except the part that a GRU with reset after the product multiplies by that gate.
    """
    if kind != "gru_reset_after":
        return w_bias + r_bias, None
    before, hidden = r_bias.copy(), len(r_bias) // 3
    before[2 * hidden :] = 0
    return w_bias + before, r_bias[2 * hidden :]


def run_direction(
    emit: Emit,
    x: relax.Expr,
    direction: Direction,
    states: list[relax.Expr | None],
    lengths: relax.Expr | None,
    *,
    ends: bool,
) -> tuple[relax.Expr, list[relax.Expr]]:
    """y [steps, batch, hidden] and the last states [batch, hidden] (none unless `ends`).

    x        [steps, batch, inputs]
    states   the first states, [batch, hidden] each; None for zeros
    lengths  int32 [batch], None for all steps
    """
    steps, batch, _ = x.ty.shape.values
    hidden, cell = direction.hidden_units, CELLS[direction.kind]
    gates = emit(relax.op.matmul(x, _constant(direction.w.T)))
    if direction.input_bias is not None:
        gates = emit(relax.op.add(gates, _constant(direction.input_bias)))
    terms = direction.terms if direction.terms is not None else np.zeros(max(cell.terms, 1) * hidden)
    if lengths is None:
        lengths = relax.const(np.array([WHOLE_LENGTH], np.int32))
    result = emit(
        ops.recurrent(
            gates,
            _constant(direction.r.T),
            _constant(terms),
            _first_states(emit, states, batch, hidden),
            lengths,
            kind=direction.kind,
            activations=direction.activations,
            clip=direction.clip,
            reverse=direction.reverse,
            ends=ends,
        )
    )
    if not ends:
        return result, []
    size = int(steps) if is_number(steps) else steps
    last = [emit(relax.op.squeeze(emit(_rows(result, size + i, size + i + 1)), [0])) for i in range(cell.states)]
    return emit(_rows(result, 0, size)), last


def _rows(x: relax.Expr, begin: Any, end: Any) -> relax.Expr:
    return relax.op.strided_slice(x, [0], [begin], [end])


def _first_states(emit: Emit, states: list[relax.Expr | None], batch: Any, hidden: int) -> relax.Expr:
    """[states, batch, hidden], or [states, 1, hidden] of zeros."""
    if all(state is None for state in states):
        return _constant(np.zeros((len(states), 1, hidden)))
    tensors = [emit(relax.op.zeros([batch, hidden], "float32")) if state is None else state for state in states]
    return emit(relax.op.stack(tensors, axis=0))


def _constant(values: np.ndarray) -> relax.Expr:
    return relax.const(np.ascontiguousarray(values, np.float32))
