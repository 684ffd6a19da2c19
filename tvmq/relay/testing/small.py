"""Small networks: perceptron, deep Q-learning, generator of DCGAN, LSTM, the model of the calibration tests.

A perceptron of three layers.
The network of Deep Q-learning (Mnih et al., 2015).
The generator of DCGAN (Radford et al., 2015): pictures of 64 x 64 from random numbers.
A recurrent network of LSTM cells (Hochreiter and Schmidhuber, 1997), written out step by step.
A small network with the operators of large ones: the model of the calibration tests.

Tests: tests/relay/test_testing.py
"""

from __future__ import annotations

from collections.abc import Sequence

import tvm

from tvmq import relay
from tvmq.errors import ConfigError
from tvmq.relay.analysis import free_vars
from tvmq.relay.expr import Expr, Function, Tuple, TupleGetItem, Var, var
from tvmq.relay.module import IRModule
from tvmq.relay.op import nn
from tvmq.relay.testing import layers
from tvmq.relay.testing.init import Constant, create_workload
from tvmq.relay.types import TensorType, TupleType


def get_mlp(
    batch_size: int, num_classes: int = 10, image_shape: Sequence[int] = (1, 28, 28), dtype: str = "float32"
) -> Function:
    """The pixels, 128, 64 and num_classes units."""
    body = nn.batch_flatten(var("data", shape=(batch_size, *image_shape), dtype=dtype))
    for number, units in enumerate((128, 64, num_classes), 1):
        body = nn.dense(body, var(f"fc{number}_weight"), units=units)
        body = nn.bias_add(body, var(f"fc{number}_bias"))
        body = nn.relu(body) if number < 3 else nn.softmax(body)
    return Function(free_vars(body), body)


def get_mlp_workload(
    batch_size: int, num_classes: int = 10, image_shape: Sequence[int] = (1, 28, 28), dtype: str = "float32"
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:
    """The network as a module, and its weights."""
    return create_workload(get_mlp(batch_size, num_classes, image_shape, dtype))


# (channels, size, stride) of each convolution
DQN_CONVOLUTIONS = ((32, 8, 4), (64, 4, 2), (64, 3, 1))


def get_dqn(
    batch_size: int, num_actions: int = 18, image_shape: Sequence[int] = (4, 84, 84), dtype: str = "float32",
    layout: str = "NCHW",
) -> Function:  # fmt: skip
    """Three convolutions and two dense layers; image_shape in the layout's order without N."""
    body: Expr = var("data", shape=(batch_size, *image_shape), dtype=dtype)
    for number, (channels, size, stride) in enumerate(DQN_CONVOLUTIONS, 1):
        body = layers.conv2d(
            body, kernel_size=(size, size), strides=(stride, stride), channels=channels, data_layout=layout,
            kernel_layout=layers.conv_kernel_layout(layout), name=f"conv{number}",
        )  # fmt: skip
        body = nn.relu(nn.bias_add(body, var(f"conv{number}_bias"), layout.index("C")))
    body = nn.relu(layers.dense_add_bias(nn.batch_flatten(body), units=512, name="dense1"))
    net = layers.dense_add_bias(body, units=num_actions, name="dense2")
    return Function(free_vars(net), net)


def get_dqn_workload(
    batch_size: int, num_actions: int = 18, image_shape: Sequence[int] = (4, 84, 84), dtype: str = "float32",
    layout: str = "NCHW",
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights."""
    return create_workload(get_dqn(batch_size, num_actions, image_shape, dtype, layout))


TRANSPOSED_KERNELS = {"NCHW": "IOHW", "NHWC": "HWOI"}
DCGAN_EPSILON = 1e-5 + 1e-12


def double_sides(data: Expr, name: str, channels: int, layout: str) -> Expr:
    """A 4 x 4 transposed convolution that doubles the sides."""
    return layers.conv2d_transpose(
        data, kernel_size=(4, 4), strides=(2, 2), channels=channels, padding=(1, 1), output_padding=(0, 0),
        data_layout=layout, kernel_layout=TRANSPOSED_KERNELS[layout], name=name,
    )  # fmt: skip


def get_dcgan(
    batch_size: int, random_len: int = 100, oshape: Sequence[int] = (3, 64, 64), ngf: int = 128,
    code: Expr | None = None, layout: str = "NCHW", dtype: str = "float32",
) -> Function:  # fmt: skip
    """The network; oshape is channels, rows, columns whatever the layout is, ngf the channels before the last layer.

    raises   ConfigError for pictures that are not 64 x 64 and layouts other than NCHW and NHWC
    """
    if tuple(oshape[-2:]) != (64, 64) or layout not in TRANSPOSED_KERNELS:
        raise ConfigError(f"relay.testing: DCGAN makes 64 x 64 in NCHW or NHWC. Got {tuple(oshape)} in {layout}")
    if code is None:
        code = var("data", shape=(batch_size, random_len), dtype=dtype)
    body: Expr = nn.relu(nn.dense(code, var("dense_weight"), units=4 * 4 * ngf * 8))
    body = relay.reshape(body, (-1, ngf * 8, 4, 4) if layout == "NCHW" else (-1, 4, 4, ngf * 8))
    for number, factor in ((2, 4), (3, 2), (4, 1)):
        body = double_sides(body, f"g{number}_deconv", ngf * factor, layout)
        body = layers.batch_norm_infer(
            body, epsilon=DCGAN_EPSILON, scale=False, axis=layout.index("C"), name=f"g{number}_batch_norm"
        )
        body = nn.relu(body)
    net = relay.tanh(double_sides(body, "g5_deconv", oshape[-3], layout))
    return Function(free_vars(net), net)


def get_dcgan_workload(
    batch_size: int, oshape: Sequence[int] = (3, 64, 64), ngf: int = 128, random_len: int = 100, layout: str = "NCHW",
    dtype: str = "float32",
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """The network as a module, and its weights."""
    return create_workload(get_dcgan(batch_size, random_len, oshape, ngf, layout=layout, dtype=dtype))


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


def get_lstm(iterations: int, num_hidden: int, batch_size: int = 1, dtype: str = "float32") -> Function:
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


def get_lstm_workload(
    iterations: int, num_hidden: int, batch_size: int = 1, dtype: str = "float32"
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:
    """The network as a module, and its weights."""
    return create_workload(get_lstm(iterations, num_hidden, batch_size, dtype))


def _weights(suffix: str, num_hidden: int, dtype: str) -> list[Var]:
    """Weights and biases of a step, in the order of its parameters."""
    units = 4 * num_hidden
    return [
        var(f"{side}{suffix}_{what}", shape=shape, dtype=dtype)
        for side in ("i2h", "h2h")
        for what, shape in (("weight", (units, num_hidden)), ("bias", (units,)))
    ]


def synthetic_branches(data: Expr, like: Expr, number: str, shape: Sequence[int], wtype: str) -> Expr:
    """The sum of relu of a dense layer over the rows, and softmax of a convolution."""
    channels, width = shape[1], shape[3]
    dense_weight = var(f"dense{number}_weight", shape=(width, width), dtype=wtype)
    dense = nn.relu(nn.dense(relay.reshape(data, (-1, width)), dense_weight))
    conv_weight = var(f"conv{number}_weight", shape=(channels, channels, 3, 3), dtype=wtype)
    conv = nn.softmax(nn.conv2d(data, conv_weight, padding=1, kernel_size=3))
    return relay.reshape_like(dense, like) + conv


def get_synthetic(
    input_shape: Sequence[int] = (1, 3, 24, 12), dtype: str = "float32", wtype: str | None = None
) -> Function:
    """The branches twice, a bias and a batch norm between; wtype: element type of the weights, dtype by default."""
    wtype = wtype or dtype
    data = var("data", shape=input_shape, dtype=dtype)
    biased = nn.bias_add(synthetic_branches(data, data, "", input_shape, wtype), var("bias"))
    normed = layers.batch_norm_infer(biased, name="batch_norm")
    net = synthetic_branches(normed, data, "2", input_shape, wtype)
    return Function(free_vars(net), net)


def get_synthetic_workload(
    input_shape: Sequence[int] = (1, 3, 24, 12), dtype: str = "float32", wtype: str | None = None
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:
    """The network as a module, and its weights: every element of one is 1 / number of elements."""
    return create_workload(get_synthetic(input_shape, dtype, wtype), Constant())
