"""SpaceToDepth in the order that opset 28 added."""

from __future__ import annotations

from tvm import relax

from tvmq.frontends.onnx.repairs.node import NodeCall


def space_to_depth(call: NodeCall) -> relax.Expr | None:
    """Mode CRD: the channels of a block stand together (TVM knows the order DCR only)."""
    if call.text("mode", "DCR") == "DCR":
        return None
    block = call.attributes["blocksize"]
    batch, channels, rows, columns = call.shape()
    split = relax.op.reshape(call.inputs[0], [batch, channels, rows // block, block, columns // block, block])
    moved = relax.op.permute_dims(split, [0, 1, 3, 5, 2, 4])
    return relax.op.reshape(moved, [batch, channels * block * block, rows // block, columns // block])
