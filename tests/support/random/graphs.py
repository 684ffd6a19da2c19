"""Small random float networks as ONNX models, for tests of equality on arbitrary graphs.

    model = random_model(seed)                    # the same seed gives the same bytes
    feeds = random_inputs(model, seed=0, n=8)     # [{input name: float32 array}, ...]

A graph grows from one current tensor by steps of steps.py; a step may reach back to an older tensor
that fits, or the whole walk may restart there. What nobody reads in the end is an output. Weights have
the scales of trained networks (Kaiming, spread per filter); some filters and channels are zero, shapes odd.

Run them in onnxruntime with ORT_DISABLE_ALL: its optimizer (1.31) fuses Pad into a pool even where it then
refuses the sum of the paddings ("Pad should be smaller than kernel").
"""

from __future__ import annotations

import math

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.support.random.blocks import BLOCK_STEPS
from tests.support.random.operators import OPERATOR_STEPS
from tests.support.random.steps import MAX_CHANNELS, STEPS, Graph, Tensor, bias_values, weight_values

OPSET = 17
UNIFORM, NORMAL, BELOW = "uniform 0..1", "normal", "below "  # doc strings of the inputs, read by random_inputs


def _start(graph: Graph) -> Tensor:
    """Append one input, or two that are joined at once."""
    shape = (graph.integer(1, 2), graph.integer(1, MAX_CHANNELS // 2), graph.integer(4, 16), graph.integer(4, 16))
    x = graph.input(shape)
    if graph.chance(0.8):
        return x
    y = graph.input(shape if graph.chance(0.5) else (shape[0], graph.integer(1, 8), *shape[2:]))
    if y.shape == x.shape and graph.chance(0.6):
        return graph.node(graph.pick(["Add", "Mul"]), [x.name, y.name], shape)
    joined = (shape[0], x.channels + y.channels, *shape[2:])
    return graph.node("Concat", [x.name, y.name], joined, axis=1)


def _head(graph: Graph, x: Tensor) -> Tensor:
    """Flatten to (n, features), a dense layer, sometimes softmax."""
    n, features = x.shape[0], math.prod(x.shape[1:])
    if graph.chance(0.6):
        x, features = graph.node("GlobalAveragePool", [x.name], (n, x.channels, 1, 1)), x.channels
        if graph.chance(0.5):
            axes = graph.int64([2, 3], "axes")
            x = graph.node("Squeeze", [x.name, axes], (n, features))
    if len(x.shape) > 2:
        x = graph.node("Flatten", [x.name], (n, features), axis=1)
    classes = graph.integer(2, 12)
    kind = graph.pick(["Gemm", "Gemm transposed", "MatMul"])
    array = weight_values(graph, (classes, features))
    if kind == "MatMul":
        x = graph.node("MatMul", [x.name, graph.constant(array.T.copy(), "weight")], (n, classes))
        if graph.chance(0.5):
            x = graph.node("Add", [x.name, graph.constant(bias_values(graph, classes), "bias")], (n, classes))
    else:
        transposed = kind != "Gemm"
        inputs = [x.name, graph.constant(array if transposed else array.T.copy(), "weight")]
        if graph.chance(0.7):
            inputs.append(graph.constant(bias_values(graph, classes), "bias"))
        x = graph.node("Gemm", inputs, (n, classes), transB=int(transposed))
    return graph.node("Softmax", [x.name], x.shape, axis=-1) if graph.chance(0.3) else x


def _grow(graph: Graph, x: Tensor, count: int) -> Tensor:
    """Apply random steps until the graph has `count` nodes."""
    begin = len(graph.nodes)
    while len(graph.nodes) < count:
        source = x
        if graph.chance(0.1):  # restart from an older tensor; x is an output unless somebody reads it later
            source = graph.older(lambda tensor: len(tensor.shape) == 4) or x
        steps = graph.pick([STEPS, OPERATOR_STEPS, BLOCK_STEPS]) if len(graph.nodes) > begin else STEPS
        odds = np.array([weight for weight, _ in steps], float)
        step = steps[int(graph.random.choice(len(steps), p=odds / odds.sum()))][1]
        x = step(graph, source) or x
    return x


def _outputs(graph: Graph, last: Tensor) -> list[Tensor]:
    """`last`, whatever else nobody reads, and sometimes a tensor from within."""
    read = {name for node in graph.nodes for name in node.input}
    made = {name for node in graph.nodes for name in node.output}
    outputs = [t for t in graph.tensors if t.name in made and (t.name not in read or t == last)]
    if graph.chance(0.1):
        outputs.append(graph.pick([t for t in graph.tensors if t.name in made]))
    return list(dict.fromkeys([last, *outputs]))


def random_model(seed: int) -> onnx.ModelProto:
    """A valid model of 3-20 named nodes with fixed shapes; equal seeds give equal models."""
    graph = Graph(seed)
    x = _start(graph)
    if graph.chance(0.5):
        x = _head(graph, _grow(graph, x, graph.integer(3, 8)))
    else:
        x = _grow(graph, x, graph.integer(4, 12))
        if graph.chance(0.1):
            x = graph.node("Softmax", [x.name], x.shape, axis=1)
    inputs = [helper.make_tensor_value_info(t.name, TensorProto.FLOAT, t.shape) for t in graph.inputs]
    for value in inputs:
        value.doc_string = graph.pick([UNIFORM, NORMAL])
    for tensor, limit in graph.index_inputs:
        inputs.append(helper.make_tensor_value_info(tensor.name, TensorProto.INT64, tensor.shape, f"{BELOW}{limit}"))
    outputs = [helper.make_tensor_value_info(t.name, TensorProto.FLOAT, t.shape) for t in _outputs(graph, x)]
    read = {name for node in graph.nodes for name in node.input}
    weights = [array for array in graph.initializers if array.name in read]
    body = helper.make_graph(graph.nodes, f"random_{seed}", inputs, outputs, weights)
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def random_inputs(model: onnx.ModelProto, seed: int, n: int) -> list[dict[str, np.ndarray]]:
    """`n` feeds of float32 arrays, int64 for indices, drawn as the doc string of each input says."""
    random = np.random.default_rng(seed)
    feeds = []
    for _ in range(n):
        feed = {}
        for value in model.graph.input:
            shape = [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
            if value.doc_string.startswith(BELOW):
                feed[value.name] = random.integers(0, int(value.doc_string.removeprefix(BELOW)), shape)
                continue
            draw = random.random if value.doc_string == UNIFORM else random.standard_normal
            feed[value.name] = draw(shape).astype(np.float32)
        feeds.append(feed)
    return feeds
