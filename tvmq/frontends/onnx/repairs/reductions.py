"""ReduceMax and ReduceMin of bool: TVM has no lowest bool, so they are computed in uint8. ArgMax of nothing."""

from __future__ import annotations

from tvm import relax

from tvmq.frontends.onnx.repairs.node import NodeCall


def extreme(call: NodeCall) -> relax.Expr | None:
    """ReduceMax, ReduceMin; TVM's converter does all other types."""
    if call.dtype() != "bool":
        return None
    axes = call.dims(1) if call.input(1) is not None else call.attributes.get("axes")
    if call.input(1) is not None and axes is None:
        raise call.unsupported("axes that are computed", "export it with constant axes")
    if not axes and call.attributes.get("noop_with_empty_axes", 0):
        return call.inputs[0]
    reduce = relax.op.max if call.op_type == "ReduceMax" else relax.op.min
    keep = bool(call.attributes.get("keepdims", 1))
    numbers = relax.op.astype(call.inputs[0], "uint8")
    return relax.op.astype(reduce(numbers, list(axes) if axes else None, keep), "bool")


def place_of_extreme(call: NodeCall) -> None:
    """ArgMax, ArgMin: there is no place in an axis without values, and TVM's would be any number."""
    axis = call.axis(0)
    if call.shape()[axis : axis + 1] == [0]:
        raise call.unsupported(f"axis {axis} has no values", "leave the node out, or feed a tensor with values")
