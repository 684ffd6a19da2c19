"""Normalizations and softmax."""

from __future__ import annotations

from tvm import relax

from tvmq.frontends.onnx_ops.node import NodeCall


def batch_norm(call: NodeCall) -> None:
    """BatchNormalization in training mode is refused: its statistics would be those of the batch."""
    if call.attributes.get("training_mode", 0):
        raise call.unsupported("training_mode=1", "export the model in evaluation mode")


def only_first_output(call: NodeCall) -> None:
    """LayerNormalization and its kin: TVM fills the further outputs (mean, deviation) with zeros."""
    if len(call.outputs) > 1:
        raise call.unsupported("only its first output is supported", "do not read the others")


def softmax(call: NodeCall) -> relax.Expr | None:
    """Softmax before opset 13 flattens to two dimensions; on the last axis that changes nothing: left out."""
    if call.opset >= 13 or call.axis(1) != len(call.shape()) - 1:
        return None
    return relax.op.nn.softmax(call.inputs[0], axis=-1)


def rms_norm(call: NodeCall) -> None:
    """RMSNormalization over all dimensions at once is refused: TVM cannot build it."""
    if call.axis(-1) == 0:
        raise call.unsupported("axis 0", "normalize over the last dimensions only")
