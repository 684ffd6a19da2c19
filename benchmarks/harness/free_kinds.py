"""The kinds of layers of free sizes that benchmarks/free_sizes.py measures."""

from __future__ import annotations

import numpy as np

from harness.free_layers import (
    HEAD,
    HEADS,
    LINES,
    OTHER,
    TEXTS,
    Kind,
    Make,
    conv,
    group_norm,
    pool,
    resize,
    scaled,
    transposed,
    two,
    unary,
)
from tests.support.models.dynamic_models import Nodes

BOTH = ("int8", "float")
WIDTH = HEADS * HEAD


def text(name: str, make: Make, width: int = WIDTH, **more: object) -> Kind:
    """A kind of a text."""
    return Kind(name, make, width, ("length",), TEXTS, **more)  # type: ignore[arg-type]


def line(name: str, make: Make) -> Kind:
    """A kind of a line."""
    return Kind(name, make, 64, ("columns",), LINES)


def squeeze_and_excite(g: Nodes, x: str) -> str:
    """A factor for each channel from the mean of its pixels."""
    mean = g.add("GlobalAveragePool", x)
    return g.add("Mul", x, g.add("HardSigmoid", g.add("Conv", mean, g.weight(64, 64, 1, 1)), alpha=0.2, beta=0.5))


def pad(mode: str) -> Make:
    """Two rows and columns around a picture, which no product takes: it would do the same with its own padding."""

    def make(g: Nodes, x: str) -> str:
        y = pool("MaxPool", 3, 1, 1)(g, g.add("Pad", x, g.constant(np.int64([0, 0, 2, 2, 0, 0, 2, 2])), mode=mode))
        g.nodes[-1].name = OTHER + g.nodes[-1].name
        return y

    return make


def alone(make: Make) -> Make:
    """The layer behind a maximum pool, so that it is no part of the product before it."""
    return two(lambda g, _, y: make(g, y))


def chain(g: Nodes, x: str, y: str) -> str:
    """x / (1 + |sin y|) + y."""
    below = g.add("Add", g.add("Abs", g.add("Sin", y)), g.constant(np.float32(1)))
    return g.add("Add", g.add("Div", x, below), y)


def heads(g: Nodes, x: str, order: tuple[int, ...]) -> str:
    """[1, length, WIDTH] as [1, HEADS, length, HEAD], or its transpose."""
    return g.add("Transpose", g.add("Reshape", x, g.constant(np.int64([0, 0, HEADS, HEAD]))), perm=list(order))


def scores(g: Nodes, x: str) -> str:
    """Products of all words with all words."""
    return g.add("MatMul", heads(g, x, (0, 2, 1, 3)), heads(g, x, (0, 2, 3, 1)))


def attention(g: Nodes, x: str) -> str:
    """Scores, softmax, and the sum of values that it weighs."""
    weights = g.add("Softmax", g.add("Mul", scores(g, x), g.constant(np.float32(HEAD**-0.5))), axis=-1)
    mixed = g.add("Transpose", g.add("MatMul", weights, heads(g, x, (0, 2, 1, 3))), perm=[0, 2, 1, 3])
    return g.add("Reshape", mixed, g.constant(np.int64([0, 0, WIDTH])))


def softmax(g: Nodes, x: str) -> str:
    """Softmax of 64 values of each word."""
    return g.add("Softmax", x, axis=-1)


KINDS = (
    Kind("conv 1x1", conv(64, 1)),
    Kind("conv 3x3", conv(64, 3), types=BOTH),
    Kind("conv 3x3 stride 2", conv(64, 3, 2)),
    Kind("conv 7x7 first", conv(64, 7, 2), 3, bare=True),
    Kind("conv grouped", conv(64, 3, 1, 4)),
    Kind("depthwise 3x3", conv(96, 3, 1, 96), 96, types=BOTH),
    Kind("depthwise 3x3 stride 2", conv(96, 3, 2, 96), 96),
    Kind("depthwise 5x5", conv(96, 5, 1, 96), 96),
    Kind("depthwise 5x5 stride 2", conv(96, 5, 2, 96), 96),
    Kind("transposed 2x2", transposed(2, 0)),
    Kind("transposed 3x3", transposed(3, 1, 1)),
    Kind("transposed 4x4", transposed(4, 1)),
    line("conv 1-D", conv(64, 3, rank=1)),
    line("depthwise 1-D", conv(64, 3, 1, 64, rank=1)),
    Kind("max pool 2x2", pool("MaxPool", 2, 2)),
    Kind("max pool 3x3", pool("MaxPool", 3, 2, 1)),
    Kind("max pool 5x5 stride 1", pool("MaxPool", 5, 1, 2)),
    Kind("average pool 2x2", pool("AveragePool", 2, 2)),
    Kind("average pool 3x3", pool("AveragePool", 3, 1, 1)),
    Kind("global pool", squeeze_and_excite),
    Kind("resize nearest", resize("nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")),
    Kind("resize bilinear", resize("linear", coordinate_transformation_mode="half_pixel")),
    Kind("concat", two(lambda g, x, y: g.add("Concat", x, y, axis=1))),
    Kind("pad", pad("constant")),
    Kind("pad reflect", pad("reflect")),
    Kind("prelu", alone(scaled("PRelu", 64))),
    Kind("hard swish", alone(unary("HardSwish"))),
    Kind("elementwise chain", two(chain), types=("float",)),
    Kind("add", two(lambda g, x, y: g.add("Add", x, y)), types=BOTH),
    Kind("multiply", two(lambda g, x, y: g.add("Mul", x, y))),
    Kind("instance norm", scaled("InstanceNormalization", 64)),
    Kind("group norm", group_norm),
    text("linear", lambda g, x: g.dense(x, WIDTH, 4 * WIDTH), types=BOTH),
    text("layer norm", scaled("LayerNormalization", WIDTH, axis=-1)),
    text("softmax", softmax, 64),
    text("attention", attention, types=BOTH),
    text("attention QK", scores, ends=True),
)
