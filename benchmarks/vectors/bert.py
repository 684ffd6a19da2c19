"""Encoders of BERT's form: their weights, read from ONNX, written as ONNX, or given to other runtimes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HEAD, EPSILON = 32, 1e-12
PARTS = ("q", "k", "v", "o", "n1", "fc1", "fc2", "n2")
INPUTS = ("input_ids", "attention_mask")
ORDERS = ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])  # of queries, keys and values


@dataclass(frozen=True)
class Bert:
    """Weights by name: word, pos, norm, and layers.N.{q,k,v,o,n1,fc1,fc2,n2}; matrices are [inputs, outputs]."""

    weights: dict[str, np.ndarray]
    layers: int
    heads: int


def read_bert(path: Path) -> Bert | None:
    """The weights of a model that names them so; None for any other."""
    weights = {one.name: numpy_helper.to_array(one) for one in onnx.load(path).graph.initializer}
    layers = sum(name.endswith(".fc1.bias") for name in weights)
    parts = ["norm", *(f"layers.{number}.{name}" for number in range(layers) for name in PARTS)]
    needed = {"word.weight", "pos.weight", *(f"{part}.{kind}" for part in parts for kind in ("weight", "bias"))}
    if not layers or not needed <= set(weights):
        return None
    return Bert(weights, layers, len(weights["norm.weight"]) // HEAD)


def write_bert(model: Bert) -> onnx.ModelProto:
    """input_ids, attention_mask int64 [batch, length] -> the mean of the words that the mask keeps [batch, width]."""
    constants, nodes = dict(model.weights), []
    width = len(model.weights["norm.weight"])
    head = width // model.heads

    def add(operator: str, *inputs: str | np.ndarray, name: str = "", **attributes: object) -> str:
        name = name or f"{operator.lower()}_{len(nodes)}"
        given = []
        for one in inputs:
            if isinstance(one, np.ndarray):
                one, constants[f"{name}_{len(given)}"] = f"{name}_{len(given)}", one
            given.append(one)
        nodes.append(helper.make_node(operator, given, [name], name=name, **attributes))
        return name

    def dense(x: str, name: str) -> str:
        return add("Add", add("MatMul", x, f"{name}.weight", name=name), f"{name}.bias")

    def normalize(x: str, name: str) -> str:
        return add("LayerNormalization", x, f"{name}.weight", f"{name}.bias", name=name, axis=-1, epsilon=EPSILON)

    def divide(x: str, order: list[int]) -> str:
        return add("Transpose", add("Reshape", x, np.int64([0, 0, model.heads, head])), perm=order)

    mask = add("Cast", "attention_mask", to=TensorProto.FLOAT)
    hidden = add("Mul", add("Sub", np.array(1, np.float32), mask), np.array(-10000, np.float32))
    hidden = add("Unsqueeze", hidden, np.int64([1, 2]))
    places = add("Sub", add("CumSum", "attention_mask", np.array(1)), "attention_mask")
    x = add("Add", add("Gather", "word.weight", "input_ids", axis=0), add("Gather", "pos.weight", places, axis=0))
    x = normalize(x, "norm")
    for layer in (f"layers.{number}" for number in range(model.layers)):
        q, k, v = (divide(dense(x, f"{layer}.{one}"), order) for one, order in zip("qkv", ORDERS, strict=True))
        scores = add("Add", add("Mul", add("MatMul", q, k), np.array(head**-0.5, np.float32)), hidden)
        mixed = add("Transpose", add("MatMul", add("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        x = add("Add", x, dense(add("Reshape", mixed, np.int64([0, 0, width])), f"{layer}.o"))
        x = normalize(x, f"{layer}.n1")
        x = add("Add", x, dense(add("Gelu", dense(x, f"{layer}.fc1")), f"{layer}.fc2"))
        x = normalize(x, f"{layer}.n2")
    kept = add("ReduceSum", add("Mul", x, add("Unsqueeze", mask, np.int64([2]))), np.int64([1]), keepdims=0)
    result = add("Div", kept, add("ReduceSum", mask, np.int64([1]), keepdims=1), name="sentence_embedding")
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"]) for n in INPUTS]
    output = helper.make_tensor_value_info(result, TensorProto.FLOAT, ["batch", width])
    tensors = [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "encoder", inputs, [output], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
