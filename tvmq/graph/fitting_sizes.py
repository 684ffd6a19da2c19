"""Sizes of one operator's operands that must be equal: TVM takes it for granted of dynamic ones.

Tests: tests/graph/test_resolve_shapes.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tvm
from tvm import relax

from tvmq.graph.operators import record, where
from tvmq.graph.view import op_name

CONVOLUTIONS = where(kind=record.CONVOLUTION)
TRANSPOSED = where(kind=record.TRANSPOSED)
CHANNELS = {
    "nn.batch_norm": "axis", "nn.prelu": "axis", "nn.instance_norm": "channel_axis", "nn.group_norm": "channel_axis",
}  # fmt: skip
OF_AXES = ("nn.layer_norm", "nn.rms_norm")


def fitting_sizes(value: relax.Expr) -> Iterator[tuple[Any, Any]]:
    """Pairs of sizes that must be equal: what a product sums over, channels of a convolution, weights of a norm."""
    name = op_name(value)
    shapes = [_shape(arg) for arg in getattr(value, "args", ())][:2]
    if len(shapes) < 2 or not all(shapes):
        return
    data, weight = shapes
    if name == "matmul":
        yield data[-1], weight[-2 if len(weight) > 1 else 0]
    elif name in CONVOLUTIONS:
        inputs = weight[str(value.attrs.kernel_layout).index("I")]
        yield data[str(value.attrs.data_layout).index("C")], inputs * int(value.attrs.groups)
    elif name in TRANSPOSED and hasattr(value.attrs, "kernel_layout"):
        yield data[str(value.attrs.data_layout).index("C")], weight[str(value.attrs.kernel_layout).index("I")]
    elif name in CHANNELS and not (name == "nn.prelu" and is_one(weight[0])):
        yield data[int(getattr(value.attrs, CHANNELS[name]))], weight[0]
    elif name in OF_AXES:
        yield from ((data[int(axis)], size) for axis, size in zip(value.attrs.axes, weight, strict=False))


def is_one(size: Any) -> bool:
    """True for the number 1."""
    return isinstance(size, tvm.tirx.IntImm) and int(size) == 1


def _shape(arg: relax.Expr) -> list[Any]:
    shape = getattr(arg.ty, "shape", None) if isinstance(arg.ty, relax.TensorType) else None
    return [*shape] if shape is not None else []
