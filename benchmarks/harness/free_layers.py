"""Layers of free sizes, each between two others that make its codes and take them.

A picture [1, channels, rows, columns] has free rows and columns, a line [1, channels, columns] and a text
[1, length, width] a free length. What is measured of a model is what `LAYER` names; see harness/free_calls.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from tests.support.models.dynamic_models import Nodes

LAYER, OTHER = "/layer", "/other"  # begin of the names of the layers that are measured, and of others between them
GIVEN, TAKEN = 4, 8  # channels of the input and of the result
PICTURES, LINES, TEXTS = ((14, 14), (40, 56), (112, 100)), ((60,), (500,), (3000,)), ((12,), (64,), (250,))
HEADS, HEAD = 12, 32
Make = Callable[[Nodes, str], str]


@dataclass(frozen=True)
class Kind:
    """A kind of layer.

    make      adds its nodes to a graph, from the name of what it reads
    width     channels of what it reads
    free      names of the free dimensions
    sizes     that are measured, those of `free`
    bare      it reads the input of the model, and no layer before it
    ends      its result is the model's: no layer takes it
    types     "int8", "float"
    """

    name: str
    make: Make
    width: int = 64
    free: tuple[str, ...] = ("rows", "columns")
    sizes: Sequence[tuple[int, ...]] = PICTURES
    bare: bool = False
    ends: bool = False
    types: tuple[str, ...] = ("int8",)

    def shape(self) -> list[int | str]:
        """Shape of the model's input, free dimensions by name."""
        width = self.width if self.bare else GIVEN
        return [1, *self.free, width] if self.free == ("length",) else [1, width, *self.free]

    def feed(self, sizes: Sequence[int]) -> dict[str, np.ndarray]:
        """Inputs of the model at these sizes of the free dimensions."""
        known = dict(zip(self.free, sizes, strict=True))
        shape = [known.get(size, size) for size in self.shape()]
        return {"x": np.random.default_rng(0).standard_normal(shape).astype(np.float32)}

    def model(self) -> Any:
        """The ONNX model."""
        g = Nodes(0)
        x = "x" if self.bare else self._product(g, "x", GIVEN, self.width)
        begin = len(g.nodes)
        y = self.make(g, x)
        for node in g.nodes[begin:]:
            node.name = node.name if node.name.startswith(OTHER) else LAYER + node.name
        if not self.ends:
            y = self._product(g, y, _width_of(g, y, self), TAKEN)
        return g.model([helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape())], y)

    def _product(self, g: Nodes, x: str, inputs: int, outputs: int) -> str:
        if self.free == ("length",):
            return g.dense(x, inputs, outputs)
        return g.add("Relu", g.add("Conv", x, g.weight(outputs, inputs, *(1 for _ in self.free))))


def _width_of(g: Nodes, result: str, kind: Kind) -> int:
    """Channels of a result, by shape inference."""
    import onnx

    model = onnx.shape_inference.infer_shapes(
        g.model([helper.make_tensor_value_info("x", TensorProto.FLOAT, kind.shape())], result)
    )
    (given,) = model.graph.output
    axis = -1 if kind.free == ("length",) else 1
    return given.type.tensor_type.shape.dim[axis].dim_value or kind.width


def conv(outputs: int, kernel: int, stride: int = 1, groups: int = 1, rank: int = 2) -> Make:
    """A convolution that keeps the size, or halves it, with relu."""

    def make(g: Nodes, x: str) -> str:
        inputs = 64 if groups == 1 else groups
        inputs = 3 if kernel == 7 else inputs
        deep = 64 // groups if groups == 4 else inputs // groups
        weight = g.weight(outputs, deep, *[kernel] * rank)
        pads, strides = [kernel // 2] * 2 * rank, [stride] * rank
        return g.add("Relu", g.add("Conv", x, weight, pads=pads, strides=strides, group=groups))

    return make


def transposed(kernel: int, pads: int, more: int = 0) -> Make:
    """A transposed convolution that doubles the size."""
    return lambda g, x: g.add(
        "ConvTranspose", x, g.weight(64, 32, kernel, kernel), strides=[2, 2], pads=[pads] * 4, output_padding=[more] * 2
    )


def pool(operator: str, kernel: int, stride: int, pads: int = 0) -> Make:
    """A pool of windows."""
    return lambda g, x: g.add(operator, x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pads] * 4)


def resize(mode: str, **attributes: str) -> Make:
    """A resize to twice the size."""

    def make(g: Nodes, x: str) -> str:
        return g.add("Resize", x, "", g.constant(np.float32([1, 1, 2, 2])), mode=mode, **attributes)

    return make


def unary(operator: str, **attributes: object) -> Make:
    """An operator of one input."""
    return lambda g, x: g.add(operator, x, **attributes)


def two(join: Callable[[Nodes, str, str], str]) -> Make:
    """A layer that joins a picture and its maximum pool, so that it is not fused with a product."""

    def make(g: Nodes, x: str) -> str:
        y = pool("MaxPool", 3, 1, 1)(g, x)
        g.nodes[-1].name = OTHER + g.nodes[-1].name
        return join(g, x, y)

    return make


def scaled(operator: str, width: int, **attributes: object) -> Make:
    """A norm or a prelu, with constants of a value a channel."""

    def make(g: Nodes, x: str) -> str:
        values = [g.constant(g.random.uniform(0.1, 1, width).astype(np.float32))]
        if operator == "PRelu":
            values = [g.constant(g.random.uniform(0.1, 1, (width, 1, 1)).astype(np.float32))]
        else:
            values.append(g.constant(np.zeros(width, np.float32)))
        return g.add(operator, x, *values, **attributes)

    return make


def group_norm(g: Nodes, x: str) -> str:
    """As torch exports it: groups of channels as the channels of an instance norm."""
    y = g.add("Reshape", x, g.constant(np.int64([0, 8, -1])))
    y = g.add("InstanceNormalization", y, g.constant(np.ones(8, np.float32)), g.constant(np.zeros(8, np.float32)))
    y = g.add("Reshape", y, g.add("Shape", x))
    return g.add("Mul", y, g.constant(g.random.uniform(0.1, 1, (64, 1, 1)).astype(np.float32)))
