"""Networks of a free batch: some where weights dominate, some where pictures do.

Tests: tests/benchmarks/test_benchmarks.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

from harness.model import onnx_model
from harness.networks import find
from harness.zoo import Feed

CALIBRATED = 12
CATEGORIES, WIDTH, COLUMNS, NUMBERS = 1000, 16, 8, 13  # of the table's columns that are words, and its numbers
STEPS, FEATURES, STATE = 28, 28, 128


@dataclass(frozen=True)
class BatchNetwork:
    """A network: `path` has a free batch, `feeds` calibrates it, `feed` makes inputs of so many samples."""

    name: str
    path: Path
    feed: Callable[[int], Feed]
    feeds: Sequence[Feed] = field(default_factory=list)


Make = Callable[[str, Any], BatchNetwork]


def dense_layers(sizes: Sequence[int], x: str, y: str = "y") -> tuple[list[Any], dict[str, np.ndarray]]:
    """Nodes and weights of dense layers of these widths, relu between them."""
    random, nodes, weights = np.random.default_rng(0), [], {}
    for number, (rows, columns) in enumerate(zip(sizes, sizes[1:], strict=False)):
        scale = np.sqrt(2 / rows)
        weights[f"w{number}"] = (scale * random.standard_normal((rows, columns))).astype(np.float32)
        weights[f"b{number}"] = (0.1 * random.standard_normal(columns)).astype(np.float32)
        is_last = number == len(sizes) - 2
        result = y if is_last else f"d{number}"
        nodes.append(helper.make_node("Gemm", [x, f"w{number}", f"b{number}"], [result]))
        if not is_last:
            x = f"r{number}"
            nodes.append(helper.make_node("Relu", [result], [x]))
    return nodes, weights


def written(name: str, model: Any, feed: Callable[[int], Feed], options: Any) -> BatchNetwork:
    """The network of an ONNX model, which is written into the cache."""
    options.cache.mkdir(parents=True, exist_ok=True)
    path = options.cache / f"batch_{name}.onnx"
    onnx.save(model, path)
    return BatchNetwork(name, path, feed, [feed(1 + number) for number in range(CALIBRATED)])


def normal(name: str, *shape: int) -> Callable[[int], Feed]:
    """Random numbers of this shape, the batch before it."""
    return lambda count: {name: np.random.default_rng(count).standard_normal((count, *shape)).astype(np.float32)}


def perceptron(*sizes: int) -> Make:
    """Dense layers of these widths."""

    def make(name: str, options: Any) -> BatchNetwork:
        nodes, weights = dense_layers(sizes, "x")
        model = onnx_model(nodes, {"x": ["batch", sizes[0]]}, weights)
        return written(name, model, normal("x", sizes[0]), options)

    return make


def table_model(name: str, options: Any) -> BatchNetwork:
    """A recommender's tower: columns of categories, each with a table of vectors, and numbers, to dense layers."""
    random = np.random.default_rng(0)
    nodes, weights = dense_layers((COLUMNS * WIDTH + NUMBERS, 512, 256, 128, 1), "x")
    weights["table"] = random.standard_normal((COLUMNS * CATEGORIES, WIDTH)).astype(np.float32)
    weights["begins"] = np.arange(COLUMNS) * CATEGORIES
    weights["flat"] = np.array([-1, COLUMNS * WIDTH])
    before = [
        helper.make_node("Add", ["words", "begins"], ["places"]),
        helper.make_node("Gather", ["table", "places"], ["vectors"]),
        helper.make_node("Reshape", ["vectors", "flat"], ["wide"]),
        helper.make_node("Concat", ["wide", "numbers"], ["x"], axis=1),
    ]
    model = onnx_model([*before, *nodes], {"numbers": ["batch", NUMBERS]}, weights)
    words = helper.make_tensor_value_info("words", onnx.TensorProto.INT64, ["batch", COLUMNS])
    model.graph.input.append(words)

    def feed(count: int) -> Feed:
        random = np.random.default_rng(count)
        return {**normal("numbers", NUMBERS)(count), "words": random.integers(0, CATEGORIES, (count, COLUMNS))}

    return written(name, model, feed, options)


def recurrent(name: str, options: Any) -> BatchNetwork:
    """An LSTM over the rows of a picture, and a dense layer."""
    random = np.random.default_rng(0)
    weights = {
        "w": (random.standard_normal((1, 4 * STATE, FEATURES)) / 6).astype(np.float32),
        "r": (random.standard_normal((1, 4 * STATE, STATE)) / 12).astype(np.float32),
        "one": np.array([0]),
        **dense_layers((STATE, 10), "state")[1],
    }
    nodes = [
        helper.make_node("Transpose", ["x"], ["steps"], perm=[1, 0, 2]),
        helper.make_node("LSTM", ["steps", "w", "r"], ["", "last"], hidden_size=STATE),
        helper.make_node("Squeeze", ["last", "one"], ["state"]),
        *dense_layers((STATE, 10), "state")[0],
    ]
    model = onnx_model(nodes, {"x": ["batch", STEPS, FEATURES]}, weights)
    return written(name, model, normal("x", STEPS, FEATURES), options)


def zoo_task(name: str, options: Any) -> BatchNetwork:
    """A network of the zoo; its samples repeat in large batches."""
    network = find(name, options)
    feeds = [feed for feed, _ in zip(network.feeds, range(CALIBRATED), strict=False)]

    def feed(count: int) -> Feed:
        picked = [feeds[number % len(feeds)] for number in range(count)]
        return {key: np.concatenate([one[key] for one in picked]) for key in feeds[0]}

    return BatchNetwork(name, network.path, feed, feeds)


NETWORKS: dict[str, Make] = {
    "mlp": perceptron(784, 512, 512, 10),
    "table": table_model,
    "lstm": recurrent,
    "dscnn_digits": zoo_task,
    "resnet8_cifar10": zoo_task,
    "vit_cifar10": zoo_task,
}
