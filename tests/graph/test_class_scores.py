"""Outputs of a model that are recognized as scores of classes."""

from __future__ import annotations

import pytest
import tvm
from tvm import relax

from tvmq.graph import ops
from tvmq.graph.analysis.class_scores import class_outputs

op = relax.op


def module(shape, make):
    x, builder = relax.Var("x", relax.TensorType(shape, "float32")), relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(builder.normalize(make(builder.emit, x)))
        builder.emit_func_output(result)
    return builder.get()


@pytest.mark.parametrize("shape, make, kinds", [
    ((1, 10), lambda emit, x: op.nn.softmax(x, -1), {0: "scores"}),
    ((1, 10), lambda emit, x: op.nn.log_softmax(x, 1), {0: "scores"}),
    ((1, 10), lambda emit, x: ops.log_softmax(x, axis=1), {0: "scores"}),
    ((1, 10, 1, 1), lambda emit, x: op.reshape(emit(op.nn.softmax(x, 1)), [1, 10]), {0: "scores"}),
    ((1, 10), lambda emit, x: op.argmax(x, 1), {0: "index"}),
    ((1, 5, 10), lambda emit, x: op.nn.softmax(x, -1), {}),  # a sequence, as CTC has it
    ((1, 4, 1), lambda emit, x: op.nn.softmax(x, -1), {}),
    ((1, 10), lambda emit, x: op.nn.relu(x), {}),  # an embedding, boxes, a regression
    ((1, 10), lambda emit, x: op.multiply(emit(op.nn.softmax(x, -1)), x), {}),
    ((tvm.tirx.Var("n", "int64"), 10), lambda emit, x: op.nn.softmax(x, -1), {0: "scores"}),
])  # fmt: skip
def test_kinds(shape, make, kinds):
    assert class_outputs(module(shape, make)) == kinds


def test_every_output_has_its_own():
    x, builder = relax.Var("x", relax.TensorType((1, 3), "float32")), relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            results = [builder.emit_output(op.tanh(x)), builder.emit_output(op.nn.softmax(x, -1))]
        builder.emit_func_output(results)
    assert class_outputs(builder.get()) == {1: "scores"}
