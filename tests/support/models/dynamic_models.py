"""Models with dynamic dimensions: a text encoder of any batch and length, pictures of any batch and size."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.support.random.graphs import random_model

WIDTH, HEADS, WORDS, LONGEST = 32, 4, 50, 64


class Nodes:
    """Nodes and constants of a graph in the making."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, *shape: int) -> str:
        return self.constant((self.random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32))

    def add(self, operator: str, *inputs: str, **attributes: object) -> str:
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=f"/{name}", **attributes))
        return name

    def dense(self, x: str, inputs: int, outputs: int) -> str:
        matrix = (self.random.standard_normal((inputs, outputs)) / np.sqrt(inputs)).astype(np.float32)
        product = self.add("MatMul", x, self.constant(matrix))
        return self.add("Add", product, self.constant(self.random.standard_normal(outputs).astype(np.float32)))

    def model(self, inputs: list[onnx.ValueInfoProto], result: str) -> onnx.ModelProto:
        output = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "dynamic", inputs, [output], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _gathered_mask(g: Nodes) -> str:
    """0 where the mask is not 0, else the lowest float: the mask is gathered by the numbers of samples and words."""
    shape, indices = g.add("Shape", "mask"), []
    for axis, others in ((0, [1, 2, 3]), (1, [0, 1, 2])):
        size = g.add("Gather", shape, g.constant(np.int64(axis)), axis=0)
        places = g.add("Range", g.constant(np.int64(0)), size, g.constant(np.int64(1)))
        indices.append(g.add("Unsqueeze", places, g.constant(np.int64(others))))
    common = g.add("Shape", g.add("Max", *indices))
    indices = [g.add("Unsqueeze", g.add("Expand", one, common), g.constant(np.int64([-1]))) for one in indices]
    kept = g.add("GatherND", g.add("Cast", "mask", to=TensorProto.BOOL), g.add("Concat", *indices, axis=-1))
    return g.add("Where", kept, g.constant(np.float32(0)), g.constant(np.finfo(np.float32).min))


def encoder(layers: int = 1, seed: int = 0, *, gathered: bool = False) -> onnx.ModelProto:
    """ids, mask [batch, sequence] -> means of the words [batch, WIDTH]; positions are cut from a table.

    gathered  the mask of attention is written as exporters of transformers do
    """
    g = Nodes(seed)
    ones = np.ones(WIDTH, np.float32)
    mask = g.add("Cast", "mask", to=TensorProto.FLOAT)
    hidden = g.add("Mul", g.add("Sub", g.constant(np.float32(1)), mask), g.constant(np.float32(-10000)))
    hidden = g.add("Unsqueeze", hidden, g.constant(np.int64([1, 2])))
    if gathered:
        hidden = _gathered_mask(g)
    length = g.add("Gather", g.add("Shape", "ids"), g.constant(np.int64([1])), axis=0)
    places = g.add("Slice", g.weight(LONGEST, WIDTH), g.constant(np.int64([0])), length, g.constant(np.int64([0])))
    x = g.add("Add", g.add("Gather", g.weight(WORDS, WIDTH), "ids", axis=0), places)
    split, joined = g.constant(np.int64([0, 0, HEADS, WIDTH // HEADS])), g.constant(np.int64([0, 0, WIDTH]))
    for _ in range(layers):
        q, k, v = (g.add("Reshape", g.dense(x, WIDTH, WIDTH), split) for _ in range(3))
        q, v = (g.add("Transpose", t, perm=[0, 2, 1, 3]) for t in (q, v))
        scores = g.add("MatMul", q, g.add("Transpose", k, perm=[0, 2, 3, 1]))
        scores = g.add("Add", g.add("Mul", scores, g.constant(np.float32((WIDTH // HEADS) ** -0.5))), hidden)
        mixed = g.add("MatMul", g.add("Softmax", scores, axis=-1), v)
        mixed = g.add("Reshape", g.add("Transpose", mixed, perm=[0, 2, 1, 3]), joined)
        x = g.add("Add", x, g.dense(mixed, WIDTH, WIDTH))
        x = g.add("LayerNormalization", x, g.constant(ones), g.constant(0 * ones), axis=-1)
        x = g.add("Add", x, g.dense(g.add("Relu", g.dense(x, WIDTH, 2 * WIDTH)), 2 * WIDTH, WIDTH))
        x = g.add("LayerNormalization", x, g.constant(ones), g.constant(0 * ones), axis=-1)
    kept = g.add("Mul", x, g.add("Unsqueeze", mask, g.constant(np.int64([2]))))
    count = g.add("ReduceSum", mask, g.constant(np.int64([1])), keepdims=1)
    result = g.add("Div", g.add("ReduceSum", kept, g.constant(np.int64([1])), keepdims=0), count)
    texts = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "sequence"]) for n in ("ids", "mask")]
    return g.model(texts, result)


def texts(count: int, length: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Inputs of `encoder`; the last words of some texts are masked."""
    random = np.random.default_rng(seed)
    mask = np.arange(length) < random.integers(1, length + 1, (count, 1))
    return {"ids": random.integers(0, WORDS, (count, length)), "mask": mask.astype(np.int64)}


def pictures(seed: int = 0, channels: int = 8) -> onnx.ModelProto:
    """x [batch, 3, rows, columns] -> [batch, 4, rows, columns]: convolutions, a sum, a pool, a nearest resize."""
    g, c = Nodes(seed), channels
    x = g.add("Relu", g.add("Conv", "x", g.weight(c, 3, 3, 3), pads=[1, 1, 1, 1]))
    x = g.add("Relu", g.add("Add", x, g.add("Conv", x, g.weight(c, c, 3, 3), pads=[1, 1, 1, 1])))
    y = g.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    y = g.add("Relu", g.add("Conv", y, g.weight(c, c, 3, 3), pads=[1, 1, 1, 1]))
    y = g.add("Resize", y, "", g.constant(np.float32([1, 1, 2, 2])), mode="nearest", nearest_mode="floor",
              coordinate_transformation_mode="asymmetric")  # fmt: skip
    y = g.add("Conv", y, g.weight(4, c, 1, 1))
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, "rows", "columns"])
    return g.model([given], y)


def branches(seed: int = 0, channels: int = 8) -> onnx.ModelProto:
    """x [batch, 3, rows, columns] -> [batch, 4, rows, columns], even sizes: a depthwise convolution, a concat, a pool of
    padded windows, a table, a linear resize, and the mean of all pixels, which is added everywhere.
    """
    g, c = Nodes(seed), channels
    x = g.add("Relu", g.add("Conv", "x", g.weight(c, 3, 3, 3), pads=[1, 1, 1, 1]))
    x = g.add("Relu", g.add("Conv", x, g.weight(c, 1, 3, 3), pads=[1, 1, 1, 1], group=c))
    wide = g.add("Sigmoid", g.add("Conv", x, g.weight(2 * c, c, 1, 1)))
    x = g.add("Concat", x, wide, axis=1)
    x = g.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = g.add("LeakyRelu", x, alpha=0.1)
    mean = g.add("Conv", g.add("GlobalAveragePool", x), g.weight(4, 3 * c, 1, 1))
    x = g.add("Resize", x, "", g.constant(np.float32([1, 1, 2, 2])), mode="linear")
    x = g.add("Add", g.add("Conv", x, g.weight(4, 3 * c, 3, 3), pads=[1, 1, 1, 1]), mean)
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, "rows", "columns"])
    return g.model([given], x)


def reader(seed: int = 0, channels: int = 8) -> onnx.ModelProto:
    """x [batch, 1, 8, columns] -> [columns / 2, batch, 6]: convolutions, pools, two directions of an LSTM, a product."""
    g, c, hidden = Nodes(seed), channels, 2 * channels
    x = g.add("Relu", g.add("Conv", "x", g.weight(c, 1, 3, 3), pads=[1, 1, 1, 1]))
    x = g.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = g.add("Relu", g.add("Conv", x, g.weight(c, c, 3, 3), pads=[1, 1, 1, 1]))
    x = g.add("Relu", g.add("Conv", x, g.weight(hidden, c, 4, 1)))
    x = g.add("Transpose", g.add("Squeeze", x, g.constant(np.int64([2]))), perm=[2, 0, 1])
    weights = g.weight(2, 4 * hidden, hidden), g.weight(2, 4 * hidden, hidden)
    x = g.add("LSTM", x, *weights, hidden_size=hidden, direction="bidirectional")
    x = g.add("Reshape", g.add("Transpose", x, perm=[0, 2, 1, 3]), g.constant(np.int64([0, 0, -1])))
    x = g.dense(x, 2 * hidden, 6)
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 1, 8, "columns"])
    return g.model([given], x)


def random_batches(seed: int) -> onnx.ModelProto:
    """A random graph whose first dimension is dynamic; some have a fixed one in a shape that they write down."""
    model = random_model(seed)
    for value in model.graph.input:
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    return model
