"""Pad, Tile and Split. TVM lowers the first two to TIR at once, which no pattern matches."""

from __future__ import annotations

from tvm import relax

from tvmq.frontends.onnx_ops.node import NodeCall, same_dimension

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
    """Tile with constant repeats as reshape, broadcast_to, reshape.

    LLVM in apache-tvm 0.27 vectorizes topi.tile wrongly for AVX-512 targets: shape (2, 3, 4, 5) repeated
    (7, 6, 4, 2) times gave arbitrary memory.
    """
    repeats = call.dims(1)
    if repeats is None:
        return None
    split, spread, result = [], [], []
    for size, count in zip(call.shape(), repeats, strict=True):
        single = count == 1 or same_dimension(size, 1)
        split += [size] if single else [1, size]
        spread += [size * count] if single else [count, size]
        result.append(size * count)
    data = call.inputs[0] if len(split) == len(result) else relax.op.reshape(call.inputs[0], split)
    data = relax.op.broadcast_to(data, spread)
    return data if len(split) == len(result) else relax.op.reshape(data, result)


def split(call: NodeCall) -> None:
    """Split into an empty part is refused: TVM cannot build it."""
    sizes = call.dims(1)
    if sizes is not None and 0 in sizes:
        raise call.unsupported("it makes an empty part", "leave that part out of the model")
