"""Pad and Tile as Relax operators (TVM's converters lower them to TIR at once, which no pattern matches)."""

from __future__ import annotations

from tvm import relax

from tvmq.frontends.onnx_ops.node import NodeCall

MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}


def pad(call: NodeCall) -> relax.Expr | None:
    """Pad with constant amounts as nn.pad; negative amounts crop, by strided_slice, before the padding.

    Modes other than constant are left to TVM where amounts are negative.
    """
    amounts = call.dims(1)
    value = call.constant(2)
    if amounts is None or (call.input(2) is not None and value is None) or call.text("mode", "constant") != "constant":
        return None
    shape = call.shape()
    axes = call.dims(3) or list(range(len(shape)))
    axes = [axis % len(shape) for axis in axes]
    begin, end = [0] * len(shape), [0] * len(shape)
    for position, axis in enumerate(axes):
        begin[axis], end[axis] = amounts[position], amounts[position + len(axes)]
    data = _crop(call, shape, begin, end)
    width = [max(amount, 0) for pair in zip(begin, end, strict=True) for amount in pair]
    if not any(width):
        return data
    return relax.op.nn.pad(data, width, "constant", 0.0 if value is None else value.item())


def _crop(call: NodeCall, shape: list, begin: list[int], end: list[int]) -> relax.Expr:
    axes = [i for i in range(len(shape)) if begin[i] < 0 or end[i] < 0]
    if not axes:
        return call.inputs[0]
    starts = [max(-begin[i], 0) for i in axes]
    stops = [shape[i] + min(end[i], 0) for i in axes]
    return relax.op.strided_slice(call.inputs[0], axes, starts, stops)


def tile(call: NodeCall) -> relax.Expr | None:
    """Tile with constant repeats as relax.tile."""
    repeats = call.dims(1)
    return None if repeats is None else relax.op.tile(call.inputs[0], repeats)
