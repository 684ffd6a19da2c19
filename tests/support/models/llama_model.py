"""Decoders of Llama's form as exporters write them: norms, rotations and caches in single operators, or fused ones.

    input_ids [batch, sequence], past_key_values.N.key, .value [batch, key heads, past, head]
    -> logits [batch, sequence, words], present.N.key, .value [batch, key heads, past + sequence, head]

Weights have the names of transformers: model.layers.0.self_attn.q_proj.weight [outputs, inputs], and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PRODUCTS = {
    **{f"self_attn.{name}_proj": name for name in ("q", "k", "v", "o")},
    **{f"mlp.{name}_proj": name for name in ("gate", "up", "down")},
}
KINDS = ("key", "value")


@dataclass(frozen=True)
class LlamaShape:
    """Sizes of a decoder; `theta` is the base of the rotations, `hidden` the width between gate and down."""

    layers: int = 2
    width: int = 32
    heads: int = 4
    key_heads: int = 2
    hidden: int = 48
    words: int = 61
    theta: float = 10000.0
    epsilon: float = 1e-5

    @property
    def head(self) -> int:
        """Width of a head."""
        return self.width // self.heads

    def sizes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the weights by name."""
        keys = self.key_heads * self.head
        matrices = {
            "q": (self.width, self.width), "k": (keys, self.width), "v": (keys, self.width), "o": (self.width, self.width),
            "gate": (self.hidden, self.width), "up": (self.hidden, self.width), "down": (self.width, self.hidden),
        }  # fmt: skip
        sizes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (self.words, self.width)}
        for layer in (f"model.layers.{number}" for number in range(self.layers)):
            sizes |= {f"{layer}.{name}.weight": matrices[short] for name, short in PRODUCTS.items()}
            sizes |= dict.fromkeys((f"{layer}.input_layernorm.weight", f"{layer}.post_attention_layernorm.weight"),
                                   (self.width,))  # fmt: skip
        return sizes | {"model.norm.weight": (self.width,)}


def formula_weights(shape: LlamaShape, seed: int = 0) -> dict[str, np.ndarray]:
    """Weights of a random network whose logits differ clearly."""
    random = np.random.default_rng(seed)
    weights = {}
    for name, size in shape.sizes().items():
        values = random.standard_normal(size)
        scale = 0.2 if len(size) == 1 else 0.3 if name == "model.embed_tokens.weight" else size[1] ** -0.5
        weights[name] = (values * scale + (len(size) == 1)).astype(np.float32)
    return weights


class _Graph:
    """Nodes and constants of a graph in the making; a node is called by the layer that it belongs to."""

    def __init__(self, weights: Mapping[str, np.ndarray]) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants = [numpy_helper.from_array(array, name) for name, array in weights.items()]
        self.layer = ""

    def add(self, operator: str, *inputs: str | np.ndarray, name: str = "", **attributes: object) -> str:
        """Append a node and name its result; arrays become constants."""
        result = name or f"{self.layer}/{operator}_{len(self.nodes)}"
        operands = []
        for value in inputs:
            if isinstance(value, np.ndarray):
                self.constants.append(numpy_helper.from_array(value, f"{result}_{len(operands)}"))
                value = self.constants[-1].name
            operands.append(value)
        self.nodes.append(helper.make_node(operator, operands, [result], name=result, **attributes))
        return result


def write_llama(
    shape: LlamaShape, weights: Mapping[str, np.ndarray], *, mask: bool = False, fused: bool = False
) -> onnx.ModelProto:
    """The network as ONNX.

    mask   with attention_mask [batch, past + sequence] and position_ids [batch, sequence], for padding on the left
    fused  RMSNormalization and RotaryEmbedding of opset 23 in place of single operators
    """
    graph = _Graph(weights)
    length = _size(graph, "input_ids", 1)
    past = _size(graph, "past_key_values.0.key", 2)
    total = graph.add("Add", past, length)
    places = graph.add("Range", past, total, np.array(0 + 1))
    places = "position_ids" if mask else graph.add("Unsqueeze", places, np.array([0]))
    hidden = _mask(graph, past, total, masked=mask)
    turns = _rotations(graph, shape, places)
    x = graph.add("Gather", "model.embed_tokens.weight", "input_ids", axis=0)
    presents = []
    for number in range(shape.layers):
        graph.layer = f"model.layers.{number}"
        normal = _rms_norm(graph, shape, x, f"{graph.layer}.input_layernorm", fused=fused)
        mixed, present = _attention(graph, shape, number, normal, turns, hidden, fused=fused)
        presents += present
        x = graph.add("Add", x, mixed)
        normal = _rms_norm(graph, shape, x, f"{graph.layer}.post_attention_layernorm", fused=fused)
        gate, up = (_dense(graph, normal, f"mlp.{one}_proj") for one in ("gate", "up"))
        gate = graph.add("Mul", gate, graph.add("Sigmoid", gate))
        x = graph.add("Add", x, _dense(graph, graph.add("Mul", gate, up), "mlp.down_proj"))
    graph.layer = "lm_head"
    normal = _rms_norm(graph, shape, x, "model.norm", fused=fused)
    table = graph.add("Transpose", "model.embed_tokens.weight", perm=[1, 0])
    graph.add("MatMul", normal, table, name="logits")
    return _model(graph, shape, presents, mask=mask, fused=fused)


def _model(graph: _Graph, shape: LlamaShape, presents: list[str], *, mask: bool, fused: bool) -> onnx.ModelProto:
    ids = [("input_ids", ["batch", "sequence"])]
    ids += [("attention_mask", ["batch", "past + sequence"]), ("position_ids", ["batch", "sequence"])] if mask else []
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, sizes) for name, sizes in ids]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "sequence", shape.words])]
    for number in range(shape.layers):
        for kind in KINDS:
            sizes = ["batch", shape.key_heads, "past", shape.head]
            name = f"past_key_values.{number}.{kind}"
            inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes))
    for name in presents:
        sizes = ["batch", shape.key_heads, "past + sequence", shape.head]
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes))
    whole = helper.make_graph(graph.nodes, "llama", inputs, outputs, graph.constants)
    opset = helper.make_opsetid("", 23 if fused else 17)
    return helper.make_model(whole, opset_imports=[opset], ir_version=11 if fused else 8)


def _size(graph: _Graph, name: str, axis: int) -> str:
    return graph.add("Gather", graph.add("Shape", name), np.array(axis), axis=0)


def _mask(graph: _Graph, past: str, total: str, *, masked: bool) -> str:
    """Summand of the scores: 0, or the lowest float for keys behind the query, and for masked ones."""
    keys = graph.add("Range", np.array(0), total, np.array(1))
    queries = graph.add("Unsqueeze", graph.add("Range", past, total, np.array(1)), np.array([1]))
    seen = graph.add("LessOrEqual", graph.add("Unsqueeze", keys, np.array([0])), queries)
    seen = graph.add("Unsqueeze", seen, np.array([0, 1]))
    if masked:
        kept = graph.add("Unsqueeze", graph.add("Cast", "attention_mask", to=TensorProto.BOOL), np.array([1, 2]))
        seen = graph.add("And", seen, kept)
    return graph.add("Where", seen, np.array(0, np.float32), np.array(np.finfo(np.float32).min, np.float32))


def _rotations(graph: _Graph, shape: LlamaShape, places: str) -> tuple[str, str]:
    """Cosines and sines of the angles of the positions, [1 or batch, sequence, head]."""
    steps = shape.theta ** -(np.arange(0, shape.head, 2, dtype=np.float32) / np.float32(shape.head))
    rows = graph.add("Cast", graph.add("Unsqueeze", places, np.array([1])), to=TensorProto.FLOAT)
    angles = graph.add("MatMul", steps.astype(np.float32).reshape(1, -1, 1), rows)
    angles = graph.add("Transpose", angles, perm=[0, 2, 1])
    angles = graph.add("Concat", angles, angles, axis=-1)
    return graph.add("Cos", angles), graph.add("Sin", angles)


def _rms_norm(graph: _Graph, shape: LlamaShape, x: str, weight: str, *, fused: bool) -> str:
    if fused:
        return graph.add("RMSNormalization", x, f"{weight}.weight", axis=-1, epsilon=shape.epsilon)
    mean = graph.add("ReduceMean", graph.add("Pow", x, np.array(2, np.float32)), axes=[-1], keepdims=1)
    root = graph.add("Sqrt", graph.add("Add", mean, np.array(shape.epsilon, np.float32)))
    normal = graph.add("Mul", x, graph.add("Div", np.array(1, np.float32), root))
    return graph.add("Mul", f"{weight}.weight", normal)


def _dense(graph: _Graph, x: str, name: str) -> str:
    right = graph.add("Transpose", f"{graph.layer}.{name}.weight", perm=[1, 0])
    return graph.add("MatMul", x, right, name=f"{graph.layer}.{name}")


def _rotate(graph: _Graph, x: str, turns: tuple[str, str], head: int, *, fused: bool) -> str:
    cos, sin = turns
    if fused:
        halves = [graph.add("Slice", one, np.array([0]), np.array([head // 2]), np.array([-1])) for one in turns]
        return graph.add("RotaryEmbedding", x, *halves)
    cos, sin = (graph.add("Unsqueeze", one, np.array([1])) for one in turns)
    low = graph.add("Slice", x, np.array([0]), np.array([head // 2]), np.array([3]))
    high = graph.add("Slice", x, np.array([head // 2]), np.array([2**62]), np.array([3]))
    half = graph.add("Concat", graph.add("Neg", high), low, axis=-1)
    return graph.add("Add", graph.add("Mul", x, cos), graph.add("Mul", half, sin))


def _attention(
    graph: _Graph, shape: LlamaShape, number: int, x: str, turns: tuple[str, str], hidden: str, *, fused: bool
) -> tuple[str, list[str]]:
    """Result of attention, and the names of the caches that it gives."""
    heads = {"q": shape.heads, "k": shape.key_heads, "v": shape.key_heads}
    parts = {}
    for name, count in heads.items():
        split = graph.add("Reshape", _dense(graph, x, f"self_attn.{name}_proj"), np.array([0, 0, count, shape.head]))
        parts[name] = graph.add("Transpose", split, perm=[0, 2, 1, 3])
    for name in "qk":
        parts[name] = _rotate(graph, parts[name], turns, shape.head, fused=fused)
    presents = []
    for name, kind in zip("kv", KINDS, strict=True):
        past = f"past_key_values.{number}.{kind}"
        parts[name] = graph.add("Concat", past, parts[name], axis=2, name=f"present.{number}.{kind}")
        presents.append(parts[name])
        parts[name] = _repeat(graph, shape, parts[name])
    turned = graph.add("Transpose", parts["k"], perm=[0, 1, 3, 2])
    scores = graph.add("Mul", graph.add("MatMul", parts["q"], turned), np.array(shape.head**-0.5, np.float32))
    weights = graph.add("Softmax", graph.add("Add", scores, hidden), axis=-1)
    mixed = graph.add("Transpose", graph.add("MatMul", weights, parts["v"]), perm=[0, 2, 1, 3])
    mixed = graph.add("Reshape", mixed, np.array([0, 0, shape.width]))
    return _dense(graph, mixed, "self_attn.o_proj"), presents


def _repeat(graph: _Graph, shape: LlamaShape, x: str) -> str:
    """Heads of keys or values, each as often as queries share it."""
    times = shape.heads // shape.key_heads
    if times == 1:
        return x
    whole = graph.add("Shape", x)
    batch, length = (graph.add("Gather", whole, np.array([axis]), axis=0) for axis in (0, 2))
    key_heads, head = np.array([shape.key_heads]), np.array([shape.head])
    wide = graph.add("Concat", batch, key_heads, np.array([times]), length, head, axis=0)
    flat = graph.add("Concat", batch, np.array([shape.heads]), length, head, axis=0)
    return graph.add("Reshape", graph.add("Expand", graph.add("Unsqueeze", x, np.array([2])), wide), flat)
