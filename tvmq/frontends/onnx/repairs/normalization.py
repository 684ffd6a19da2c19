"""Normalizations and softmax."""

from __future__ import annotations

import math

import numpy as np
from tvm import relax

from tvmq.frontends.onnx.repairs.node import NodeCall, tensor_constant


def batch_norm(call: NodeCall) -> None:
    """BatchNormalization in training mode is refused: its statistics would be those of the batch."""
    if call.attributes.get("training_mode", 0):
        raise call.unsupported("training_mode=1", "export the model in evaluation mode")


def layer_norm(call: NodeCall) -> relax.Expr | None:
    """LayerNormalization with its mean and 1 / deviation, where they are read (TVM gives zeros)."""
    if len(call.outputs) == 1:
        return None
    x, shape, first = call.inputs[0], call.shape(), call.axis(-1)
    axes = list(range(first, len(shape)))
    if not all(isinstance(size, int) for size in shape[first:]):
        raise call.unsupported("symbolic dimensions under its mean", "fix the input shapes with shape=")
    bias = call.input(2)
    bias = tensor_constant(np.zeros(shape[first:], call.dtype())) if bias is None else bias
    epsilon = call.attributes.get("epsilon", 1e-5)
    mean = relax.op.mean(x, axes, keepdims=True)
    square = relax.op.mean(relax.op.square(relax.op.subtract(x, mean)), axes, keepdims=True)
    inverse = relax.op.rsqrt(relax.op.add(square, tensor_constant(np.array(epsilon, call.dtype()))))
    result = relax.op.nn.layer_norm(x, call.inputs[1], bias, axes, epsilon)
    return relax.Tuple([result, mean, inverse])


def lp_norm(call: NodeCall) -> relax.Expr:
    """LpNormalization, p 1 or 2: x / norm along the axis; 0 where the norm is 0."""
    x, axis, p = call.inputs[0], [call.axis(-1)], call.attributes.get("p", 2)
    if p == 1:
        norm = relax.op.sum(relax.op.abs(x), axis, keepdims=True)
    else:
        norm = relax.op.sqrt(relax.op.sum(relax.op.multiply(x, x), axis, keepdims=True))
    zero, one = (tensor_constant(np.array(value, call.dtype())) for value in (0, 1))
    return relax.op.divide(x, relax.op.where(relax.op.equal(norm, zero), one, norm))


def only_first_output(call: NodeCall) -> None:
    """SkipLayerNormalization: TVM fills the further outputs (mean, deviation) with zeros."""
    if len(call.outputs) > 1:
        raise call.unsupported("only its first output is supported", "do not read the others")


def softmax(call: NodeCall) -> relax.Expr | None:
    """Softmax before opset 13 flattens to two dimensions; on the last axis that changes nothing: left out."""
    if call.opset >= 13 or call.axis(1) != len(call.shape()) - 1:
        return None
    return relax.op.nn.softmax(call.inputs[0], axis=-1)


def rms_norm(call: NodeCall) -> relax.Expr | None:
    """RMSNormalization over all dimensions at once: of the tensor seen as one row (TVM cannot build it otherwise)."""
    if call.axis(-1) != 0:
        return None
    shape = call.shape()
    if not all(isinstance(size, int) for size in [*shape, *call.shape(1)]):
        raise call.unsupported("axis 0 with symbolic dimensions", "fix the input shapes with shape=")
    row = relax.op.reshape(call.inputs[0], [1, math.prod(shape)])
    weight = relax.op.reshape(relax.op.broadcast_to(call.inputs[1], shape), [math.prod(shape)])
    epsilon = call.attributes.get("epsilon", 1e-5)
    return relax.op.reshape(relax.op.nn.rms_norm(row, weight, [1], epsilon), shape)
