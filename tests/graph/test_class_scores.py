"""Outputs of a model that are recognized as scores of classes."""

import pytest
from tvm import relax

from tests.support.models.built_modules import build_module
from tvmq.graph import ops
from tvmq.graph.analysis.class_scores import class_outputs

op = relax.op


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
    (("n", 10), lambda emit, x: op.nn.softmax(x, -1), {0: "scores"}),
])  # fmt: skip
def test_kinds(shape, make, kinds):
    assert class_outputs(build_module({"x": shape}, lambda builder, x: make(builder.emit, x))) == kinds


def test_every_output_has_its_own():
    mod = build_module({"x": (1, 3)}, lambda _, x: [op.tanh(x), op.nn.softmax(x, -1)])
    assert class_outputs(mod) == {1: "scores"}
