"""What tests of spellings share: a tensor's shape, and the operators that a model becomes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

import tvmq
from tests.support.models.networks import Net, feeds_of, run_onnx
from tvmq.graph.view import View, op_name
from tvmq.passes.prepare import prepare
from tvmq.reference import Reference

SHAPE, EPSILON = (2, 6, 4, 5), 1e-3


def f32(net: Net, value: float) -> str:
    return net.constant(np.float32(value))


def operators(model: onnx.ModelProto) -> list[str]:
    """Of the prepared model, whose results are checked against onnxruntime's."""
    prepared, feed = prepare(*tvmq.from_onnx(model)), feeds_of(model)[0]
    for found, true in zip(Reference(prepared).run(feed), run_onnx(model, feed), strict=True):
        np.testing.assert_allclose(found, true, rtol=3e-5, atol=3e-6)
    return [op_name(value).removeprefix("tvmq.") for _, value in View(prepared).bindings]


def summed(net: Net, x: str, axes: Sequence[int], keepdims: int = 1) -> str:
    return net.op("ReduceSum", x, net.constant(np.int64(axes)), keepdims=keepdims)
