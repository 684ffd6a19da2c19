"""A recurrent network of LSTM cells (Hochreiter and Schmidhuber, 1997), written out step by step."""

from __future__ import annotations

import tvm

from tvmq import relay
from tvmq.relay.expr import Expr, Function, Tuple, TupleGetItem, Var, var
from tvmq.relay.module import IRModule
from tvmq.relay.testing import layers
from tvmq.relay.testing.init import create_workload
from tvmq.relay.types import TensorType, TupleType


def step(inputs: Expr, states: tuple[Expr, Expr], weights: list[Var], num_hidden: int) -> tuple[Expr, Expr]:
    """(hidden, memory) behind a step; gates in the order in, forget, transform, out.

    weights  of the input, its bias, of the hidden state, its bias
    """
    i2h_weight, i2h_bias, h2h_weight, h2h_bias = weights
    units = 4 * num_hidden
    gates = relay.add(
        layers.dense_add_bias(inputs, i2h_weight, i2h_bias, units),
        layers.dense_add_bias(states[0], h2h_weight, h2h_bias, units),
    )
    opened, kept, transformed, shown = relay.split(gates, indices_or_sections=4, axis=1)
    memory = relay.sigmoid(kept) * states[1] + relay.sigmoid(opened) * relay.tanh(transformed)
    return relay.sigmoid(shown) * relay.tanh(memory), memory


def lstm_cell(num_hidden: int, batch_size: int = 1, dtype: str = "float32", name: str = "") -> Function:
    """A step as a function of inputs, the tuple of both states, and the weights; it gives (out, (hidden, memory))."""
    kind = TensorType((batch_size, num_hidden), dtype)
    inputs, states = Var("inputs", kind), Var("states", TupleType((kind, kind)))
    weights = _weights("", num_hidden, dtype)
    hidden, memory = step(inputs, (TupleGetItem(states, 0), TupleGetItem(states, 1)), weights, num_hidden)
    return Function([inputs, states, *weights], Tuple([hidden, Tuple([hidden, memory])]))


def get_net(iterations: int, num_hidden: int, batch_size: int = 1, dtype: str = "float32") -> Function:
    """All steps read the same input "data"; each has weights of its own. The result is the last hidden state."""
    data = var("data", shape=(batch_size, num_hidden), dtype=dtype)
    zeros = relay.zeros((batch_size, num_hidden), dtype)
    states: tuple[Expr, Expr] = (zeros, zeros)
    params = [data]
    for number in range(iterations):
        weights = _weights(f"_{number}", num_hidden, dtype)
        states = step(data, states, weights, num_hidden)
        params += weights
    return Function(params, states[0])


def get_workload(
    iterations: int, num_hidden: int, batch_size: int = 1, dtype: str = "float32"
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:
    """The network as a module, and its weights."""
    return create_workload(get_net(iterations, num_hidden, batch_size, dtype))


def _weights(suffix: str, num_hidden: int, dtype: str) -> list[Var]:
    """Weights and biases of a step, in the order of its parameters."""
    units = 4 * num_hidden
    return [
        var(f"{side}{suffix}_{what}", shape=shape, dtype=dtype)
        for side in ("i2h", "h2h")
        for what, shape in (("weight", (units, num_hidden)), ("bias", (units,)))
    ]
