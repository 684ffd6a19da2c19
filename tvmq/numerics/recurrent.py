"""LSTM, GRU and RNN: one layer, one direction, all steps, with float32 arithmetic that is fixed to the last bit.

What the input adds to the gates is a product of its own, before all steps; here is the loop over time.

    lstm              i, o, f, n   c' = f * c + i * n        h' = o * act(c')
    lstm_peepholes    the same; i and f see c, o sees c', each through a vector
    gru               z, r, n      n reads (r * h) R         h' = (1 - z) * n + z * h
    gru_reset_after   z, r, n      n reads r * (h R + b)     h' = (1 - z) * n + z * h
    rnn               n            h' = n

Steps are functions of arrays or of symbols (kernels/parts/symbols.py): compiled code is made by running them.

Tests: tests/cuda_emulator/test_recurrent.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tvmq.numerics.affine import dynamic_dequantize, dynamic_quantize, dynamic_scale
from tvmq.numerics.elementary import sigmoid, tanh
from tvmq.numerics.gemm import matmul

REAL = np.float32
WHOLE_LENGTH = 2**31 - 1  # of a sequence that has all steps
Values = Sequence[Any]
Act = Callable[[int, Any], Any]


def relu(x: Any) -> Any:
    """max(0, x); NaN stays NaN.

    >>> relu(np.float32([-1, 2]))
    array([0., 2.], dtype=float32)
    """
    return np.where(REAL(0) > x, REAL(0), x)


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {"sigmoid": sigmoid, "tanh": tanh, "relu": relu}


def activate(names: str, clip: float, index: int, value: Any, *, clips: bool = True) -> Any:
    """Activation `index` of "sigmoid,tanh,tanh" behind a clip to -clip..clip; 0 is no clip."""
    if clip and clips:
        value = np.minimum(np.maximum(value, REAL(-clip)), REAL(clip))
    return ACTIVATIONS[names.split(",")[index]](value)


def _lstm(x: Values, p: Values, h: Any, c: Any, terms: Values, act: Callable[..., Any]) -> tuple[Any, ...]:
    """(h', c'); x are the gates of the input, p those of the state."""
    del h
    i, o, f, n = (a + b for a, b in zip(x, p, strict=True))
    if terms:
        i, f = i + terms[0] * c, f + terms[2] * c
    cell = act(0, f) * c + act(0, i) * act(1, n)
    if terms:
        o = o + terms[1] * cell
    return act(0, o) * act(2, cell, clips=False), cell


def _gru(x: Values, p: Values, h: Any, c: Any, terms: Values, act: Callable[..., Any]) -> tuple[Any, ...]:
    """(h',); p[2] is the part of r * h, which `reset_state` gave."""
    del c, terms
    update, new = act(0, x[0] + p[0]), act(1, x[2] + p[2])
    return ((REAL(1) - update) * new + update * h,)


def _gru_reset_after(x: Values, p: Values, h: Any, c: Any, terms: Values, act: Callable[..., Any]) -> tuple[Any, ...]:
    del c
    update, reset = act(0, x[0] + p[0]), act(0, x[1] + p[1])
    new = act(1, x[2] + reset * (p[2] + terms[0]))
    return ((REAL(1) - update) * new + update * h,)


def _rnn(x: Values, p: Values, h: Any, c: Any, terms: Values, act: Callable[..., Any]) -> tuple[Any, ...]:
    del h, c, terms
    return (act(0, x[0] + p[0]),)


def reset_state(x: Values, p: Values, h: Any, act: Callable[..., Any]) -> Any:
    """r * h of a GRU whose reset comes before the product."""
    return act(0, x[1] + p[1]) * h


@dataclass(frozen=True)
class Cell:
    """Kind of recurrent layer.

    gates        its number, in the order of ONNX
    states       vectors that a step hands on: h, or h and c
    terms        vectors of `hidden` numbers that a step reads besides
    step         see the head of this file
    late         gates whose product is of `reset_state`
    activations  what they are unless a model says otherwise
    """

    gates: int
    states: int
    terms: int
    step: Callable[..., tuple[Any, ...]]
    activations: str
    late: int = 0


CELLS = {
    "lstm": Cell(4, 2, 0, _lstm, "sigmoid,tanh,tanh"),
    "lstm_peepholes": Cell(4, 2, 3, _lstm, "sigmoid,tanh,tanh"),
    "gru": Cell(3, 1, 0, _gru, "sigmoid,tanh", late=1),
    "gru_reset_after": Cell(3, 1, 1, _gru_reset_after, "sigmoid,tanh"),
    "rnn": Cell(1, 1, 0, _rnn, "tanh"),
}


def recurrent(
    gates: np.ndarray,
    weight: np.ndarray,
    terms: np.ndarray,
    state: np.ndarray,
    lengths: np.ndarray,
    *,
    kind: str,
    activations: str,
    clip: float = 0.0,
    reverse: bool = False,
    ends: bool = False,
) -> np.ndarray:
    """All steps of a layer in one direction, float32.

    gates    [steps, batch, gates * hidden], what the input and the biases add to the gates
    weight   [hidden, gates * hidden]
    terms    [terms * hidden] of the kind, see Cell; [hidden] of any numbers where it has none
    state    [states, batch or 1, hidden], the first h and c
    lengths  int32 [batch or 1]: later steps leave the state as it is and give 0; 2^31 - 1 for all steps
    kind     of CELLS; activations: "sigmoid,tanh,tanh"; clip: 0 for none
    reverse  from the last step to the first
    ends     the last states follow the steps
    returns  [steps, or steps + states, batch, hidden]
    order    of a product: s = 0; s = s + h[k] * weight[k] for k = 0, 1, ..., each product and each sum rounded;
             then the steps at the head of this file, each operation rounded
    source   ONNX LSTM, GRU and RNN; the order is ours

    >>> ones = np.ones((1, 1), np.float32)
    >>> recurrent(np.float32([[[1]], [[2]]]), ones, ones[0], 0 * ones[None], np.int32([9]), kind="rnn",
    ...           activations="relu").ravel().tolist()
    [1.0, 3.0]
    """

    def product(h: np.ndarray, begin: int, end: int) -> np.ndarray:
        return _ordered_product(h, weight[:, begin:end])

    steps = _Steps(kind, activations, clip, reverse, ends)
    return steps.run(gates, product, terms, state, lengths)


def recurrent_codes(
    gates: np.ndarray,
    weight: np.ndarray,
    terms: np.ndarray,
    state: np.ndarray,
    lengths: np.ndarray,
    scale: np.ndarray,
    *,
    kind: str,
    activations: str,
    clip: float = 0.0,
    reverse: bool = False,
    ends: bool = False,
) -> np.ndarray:
    """`recurrent` with an int8 weight, whose products are exact sums of codes; states and gates stay float32.

    weight   int8 [hidden, gates * hidden]
    scale    float32 [gates * hidden]
    order    of a product: codes and scale of each sample's h by `dynamic_quantize`, int32 sums, `dynamic_dequantize`

    >>> ones = np.ones((1, 1), np.float32)
    >>> recurrent_codes(np.float32([[[1]], [[2]]]), np.int8([[127]]), ones[0], 0 * ones[None], np.int32([9]),
    ...                 np.float32([0.5]), kind="rnn", activations="relu", ends=True).ravel()
    array([ 1. , 65.5, 65.5], dtype=float32)
    """

    def product(h: np.ndarray, begin: int, end: int) -> np.ndarray:
        h_scale = dynamic_scale(h, axes=[1])
        sums = matmul(dynamic_quantize(h, h_scale), weight[:, begin:end])
        return dynamic_dequantize(sums, h_scale, scale[begin:end])

    steps = _Steps(kind, activations, clip, reverse, ends)
    return steps.run(gates, product, terms, state, lengths)


def _ordered_product(h: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """h weight, float32, the depth in its order."""
    sums = np.zeros((len(h), weight.shape[1]), np.float32)
    for k, row in enumerate(weight):
        sums = sums + h[:, k : k + 1] * row
    return sums


@dataclass(frozen=True)
class _Steps:
    """The loop over time, whatever makes the products."""

    kind: str
    activations: str
    clip: float
    reverse: bool
    ends: bool

    def run(
        self,
        gates: np.ndarray,
        product: Callable[[np.ndarray, int, int], np.ndarray],
        terms: np.ndarray,
        state: np.ndarray,
        lengths: np.ndarray,
    ) -> np.ndarray:
        """All steps; product(h, begin, end) gives columns of h weight."""
        cell, act = CELLS[self.kind], partial(activate, self.activations, self.clip)
        steps, batch, width = gates.shape
        hidden = width // cell.gates
        late = (cell.gates - cell.late) * hidden
        beside = np.split(np.asarray(terms, np.float32), cell.terms) if cell.terms else []
        states = [np.array(np.broadcast_to(part, (batch, hidden)), np.float32) for part in state]
        result = np.zeros((steps + cell.states * bool(self.ends), batch, hidden), np.float32)
        with np.errstate(all="ignore"):
            for step in range(steps)[:: -1 if self.reverse else 1]:
                h, x = states[0], np.split(np.asarray(gates[step], np.float32), cell.gates, axis=1)
                p = np.split(product(h, 0, late), cell.gates - cell.late, axis=1)
                if cell.late:
                    p.append(product(reset_state(x, p, h, act), late, width))
                new = cell.step(x, p, h, states[-1], beside, act)
                runs = (step < np.broadcast_to(lengths, (batch,)))[:, None]
                result[step] = np.where(runs, new[0], REAL(0))
                states = [np.where(runs, *pair) for pair in zip(new, states, strict=True)]
        if self.ends:
            result[steps:] = states
        return result
