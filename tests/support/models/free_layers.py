"""Layers of free sizes: each a small model whose batch, rows, columns or length are dynamic, and sizes to run it with.

    layer = LAYERS["conv 3x3"]
    feeds = layer.feeds(seed=0, count=20)         # a size of its own for each: 1, less than a vector, primes, ...

A layer without weights stands between two products, so that it computes on codes in an integer model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.support.models.dynamic_models import Nodes

CHANNELS, WIDTH = 12, 24
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73)
Step = Callable[[Nodes, str], str]


@dataclass(frozen=True)
class FreeLayer:
    """A model whose dimensions are free.

    make    gives the model
    least   smallest sizes of dimensions that are not 1
    most    elements of an input
    """

    make: Callable[[], onnx.ModelProto]
    least: Mapping[str, int] = field(default_factory=dict)
    most: int = 60_000

    def dimensions(self) -> list[str]:
        """Names of the free dimensions."""
        shapes = [value.type.tensor_type.shape for value in self.make().graph.input]
        return sorted({dim.dim_param for shape in shapes for dim in shape.dim if dim.dim_param})

    def feeds(self, seed: int, count: int) -> list[dict[str, np.ndarray]]:
        """Normal inputs of random sizes; the first ones are the smallest and those of a vector's width."""
        random, model = np.random.default_rng(seed), self.make()
        return [self._feed(model, random, number) for number in range(count)]

    def smallest(self) -> int:
        """Elements of the largest input where free dimensions are as small as they may be."""
        shapes = [value.type.tensor_type.shape.dim for value in self.make().graph.input]
        sizes = [
            [self.least.get(dim.dim_param, 1) if dim.dim_param else dim.dim_value for dim in dims] for dims in shapes
        ]
        return max(int(np.prod(shape)) for shape in sizes)

    def _feed(self, model: onnx.ModelProto, random: np.random.Generator, number: int) -> dict[str, np.ndarray]:
        assert self.smallest() <= self.most, "no sizes are small enough: this would draw for ever"
        while True:
            sizes: dict[str, int] = {}
            for value in model.graph.input:
                for dim in value.type.tensor_type.shape.dim:
                    if dim.dim_param and dim.dim_param not in sizes:
                        sizes[dim.dim_param] = self._size(dim.dim_param, random, number)
            shapes = {
                value.name: [sizes.get(dim.dim_param, dim.dim_value) for dim in value.type.tensor_type.shape.dim]
                for value in model.graph.input
            }
            if all(np.prod(shape) <= self.most for shape in shapes.values()):
                return {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
            number = 2  # too large: draw again

    def _size(self, name: str, random: np.random.Generator, number: int) -> int:
        least = self.least.get(name, 1)
        if number == 0:
            return least
        if name == "batch":
            return int(random.integers(1, 5))
        return least - 1 + (16 if number == 1 else draw_size(random))


def fix_sizes(layer: FreeLayer, free: Collection[str]) -> FreeLayer:
    """The layer with only these dimensions free; the others have a size that is no multiple of a vector, the largest of
    a few of which the free ones can be several times as large as they must be.
    """
    layers = [replace(layer, make=partial(_fixed_model, layer, free, beyond)) for beyond in (19, 10, 6, 2, 0)]
    return next((one for one in layers if 8 * one.smallest() <= layer.most), layers[-1])


def _fixed_model(layer: FreeLayer, free: Collection[str], beyond: int) -> onnx.ModelProto:
    """The model with other dimensions so much beyond their least size."""
    model = layer.make()
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param and dim.dim_param not in free:
                dim.dim_value = {"batch": 2}.get(dim.dim_param, layer.least.get(dim.dim_param, 1) + beyond)
    del model.graph.value_info[:]
    return model


def draw_size(random: np.random.Generator) -> int:
    """A size from 1: tiny, prime, one beside a multiple of 8, or anything up to 130."""
    kind = random.integers(10)
    if kind < 4:
        return int(random.integers(1, 10))
    if kind < 6:
        return int(random.choice(PRIMES))
    if kind < 9:
        return int(8 * random.integers(1, 9) + random.integers(-1, 2))
    return int(random.integers(1, 131))


def _model(shape: list[Any], step: Step, seed: int = 0) -> onnx.ModelProto:
    g = Nodes(seed)
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    return g.model([given], step(g, "x"))


def _conv(
    kernel: tuple[int, ...], inputs: int, filters: int, *, transposed: bool = False, group: int = 1, **attributes: Any
) -> Step:
    shape = (inputs, filters // group, *kernel) if transposed else (filters, inputs // group, *kernel)

    def step(g: Nodes, x: str) -> str:
        bias = g.constant(g.random.standard_normal(filters).astype(np.float32))
        operator = "ConvTranspose" if transposed else "Conv"
        return g.add("Relu", g.add(operator, x, g.weight(*shape), bias, group=group, **attributes))

    return step


def picture(step: Step, channels: int = 8, **options: Any) -> FreeLayer:
    """Layer of [batch, channels, rows, columns]."""
    return FreeLayer(lambda: _model(["batch", channels, "rows", "columns"], step), **options)


def line(step: Step, channels: int = 8, **options: Any) -> FreeLayer:
    """Layer of [batch, channels, columns]."""
    return FreeLayer(lambda: _model(["batch", channels, "columns"], step), **options)


def volume(step: Step, channels: int = 4, **options: Any) -> FreeLayer:
    """Layer of [batch, channels, planes, rows, columns]."""
    options = {"most": 8_000, **options}
    return FreeLayer(lambda: _model(["batch", channels, "planes", "rows", "columns"], step), **options)


def on_picture(step: Step, outputs: int = CHANNELS, **options: Any) -> FreeLayer:
    """Layer between two convolutions: it takes CHANNELS channels and gives `outputs`."""

    def whole(g: Nodes, x: str) -> str:
        return g.add("Conv", step(g, _conv((1, 1), 8, CHANNELS)(g, x)), g.weight(6, outputs, 1, 1))

    return picture(whole, **options)


def on_words(step: Step, **options: Any) -> FreeLayer:
    """Layer of [batch, words, WIDTH] between two products."""

    def whole(g: Nodes, x: str) -> str:
        return g.dense(step(g, g.dense(x, WIDTH, WIDTH)), WIDTH, 10)

    options = {"most": 12_000, **options}
    return FreeLayer(lambda: _model(["batch", "words", WIDTH], whole), **options)


def _node(operator: str, *constants: Any, outputs: int = 1, **attributes: Any) -> Step:
    """A step of a single node; constants: its further inputs, "" for one that is missing."""

    def step(g: Nodes, x: str) -> str:
        more = [value if isinstance(value, str) else g.constant(value) for value in constants]
        return g.add(operator, x, *more, **attributes)

    return step


def _ones(count: int) -> np.ndarray:
    return np.linspace(0.5, 1.5, count, dtype=np.float32)


def _concat(axis: int) -> Step:
    def step(g: Nodes, x: str) -> str:
        return g.add("Concat", x, g.add("Relu", g.add("Conv", x, g.weight(CHANNELS, CHANNELS, 1, 1))), axis=axis)

    return step


def _places(g: Nodes, x: str) -> str:
    """A picture and its half one behind the other, as a detector joins its heads."""
    half = g.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    flat = g.constant(np.int64([0, CHANNELS, -1]))
    joined = g.add("Concat", *(g.add("Reshape", part, flat) for part in (x, half)), axis=2)
    return g.add("Reshape", joined, g.constant(np.int64([0, CHANNELS, 1, -1])))


def _halves(g: Nodes, x: str) -> str:
    """Rows from the third and columns up to the last but one, by positions from both ends."""
    ends = g.constant(np.int64([2**31, -1]))
    return g.add("Slice", x, g.constant(np.int64([2, 0])), ends, g.constant(np.int64([2, 3])))


def _shuffle(g: Nodes, x: str) -> str:
    """Channels of two groups in turns, by sizes that the model computes."""
    shape = g.add("Shape", x)
    batch, rows, columns = (g.add("Gather", shape, g.constant(np.int64([axis])), axis=0) for axis in (0, 2, 3))
    two = g.constant(np.int64([2, CHANNELS // 2])), g.constant(np.int64([CHANNELS]))
    x = g.add("Reshape", x, g.add("Concat", batch, two[0], rows, columns, axis=0))
    x = g.add("Transpose", x, perm=[0, 2, 1, 3, 4])
    return g.add("Reshape", x, g.add("Concat", batch, two[1], rows, columns, axis=0))


def _up_to_size_of(g: Nodes, x: str) -> str:
    """Half the rows and columns, and a resize back to those of x."""
    shape = g.add("Shape", x)
    half = g.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    channels = g.add("Slice", shape, g.constant(np.int64([0])), g.constant(np.int64([2])))
    sides = g.add("Slice", shape, g.constant(np.int64([2])), g.constant(np.int64([4])))
    sizes = g.add("Concat", channels, sides, axis=0)
    large = g.add("Resize", half, "", "", sizes, mode="linear", coordinate_transformation_mode="asymmetric")
    return g.add("Add", x, large)


def _squeeze_and_excite(g: Nodes, x: str) -> str:
    mean = g.add("GlobalAveragePool", x)
    return g.add("Mul", x, g.add("Sigmoid", g.add("Conv", mean, g.weight(CHANNELS, CHANNELS, 1, 1))))


def _elements(g: Nodes, x: str) -> str:
    """Sums, products, tables and clips, element by element."""
    y = g.add("Mul", g.add("Sigmoid", x), x)
    y = g.add("Add", y, g.add("LeakyRelu", x, alpha=0.1))
    y = g.add("PRelu", y, g.constant(_ones(CHANNELS).reshape(-1, 1, 1) * np.float32(0.2)))
    y = g.add("Clip", y, g.constant(np.float32(-2)), g.constant(np.float32(5)))
    return g.add("HardSwish", g.add("Sub", y, g.constant(_ones(CHANNELS).reshape(1, -1, 1, 1))))


def _attention(g: Nodes, x: str, mask: str = "", others: str = "") -> str:
    """Three heads, with sizes by zeros of a reshape; mask: what is added to the scores; others: keys and values."""
    heads, joined = g.constant(np.int64([0, 0, 3, 8])), g.constant(np.int64([0, 0, WIDTH]))
    q, k, v = (g.add("Reshape", g.dense(of, WIDTH, WIDTH), heads) for of in (x, others or x, others or x))
    q, v = (g.add("Transpose", t, perm=[0, 2, 1, 3]) for t in (q, v))
    scores = g.add("MatMul", q, g.add("Transpose", k, perm=[0, 2, 3, 1]))
    scores = g.add("Mul", scores, g.constant(np.float32(8**-0.5)))
    scores = g.add("Add", scores, mask) if mask else scores
    mixed = g.add("MatMul", g.add("Softmax", scores, axis=-1), v)
    return g.add("Reshape", g.add("Transpose", mixed, perm=[0, 2, 1, 3]), joined)


def _cross_attention() -> onnx.ModelProto:
    """Three heads, words of x to others."""
    g, shapes = Nodes(0), {"x": ["batch", "words", WIDTH], "others": ["batch", "others", WIDTH]}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    return g.model(inputs, g.dense(_attention(g, g.dense("x", WIDTH, WIDTH), others="others"), WIDTH, 10))


def _masked_attention() -> onnx.ModelProto:
    g, shapes = Nodes(0), {"x": ["batch", "words", WIDTH], "mask": ["batch", 1, 1, "words"]}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    return g.model(inputs, g.dense(_attention(g, g.dense("x", WIDTH, WIDTH), "mask"), WIDTH, 10))


def _feed_forward(g: Nodes, x: str) -> str:
    return g.dense(g.add("Mul", g.dense(x, WIDTH, 50), g.constant(_ones(50))), 50, WIDTH)


def _recurrent(operator: str, gates: int) -> Step:
    """Two directions over words of [batch, words, WIDTH]."""

    def step(g: Nodes, x: str) -> str:
        half = WIDTH // 2
        weights = g.weight(2, gates * half, WIDTH), g.weight(2, gates * half, half)
        x = g.add("Transpose", x, perm=[1, 0, 2])
        x = g.add(operator, x, *weights, hidden_size=half, direction="bidirectional")
        x = g.add("Reshape", g.add("Transpose", x, perm=[2, 0, 1, 3]), g.constant(np.int64([0, 0, -1])))
        return x

    return step


def _mean_of_words(g: Nodes, x: str) -> str:
    return g.add("Sub", x, g.add("ReduceMean", x, axes=[1], keepdims=1))


PADS = np.int64([0, 0, 2, 1, 0, 0, 0, 3])
TWICE, ODD = np.float32([1, 1, 2, 2]), np.float32([1, 1, 3, 2])

FAMILIES: dict[str, dict[str, FreeLayer]] = {
    "convolutions": {
        "conv 1x1": picture(_conv((1, 1), 19, 33), 19),
        "conv 3x3": picture(_conv((3, 3), 16, 24, pads=[1] * 4), 16),
        "conv 3x3 stride 2": picture(_conv((3, 3), 8, 17, pads=[1] * 4, strides=[2, 2])),
        "conv 5x5 unpadded": picture(_conv((5, 5), 8, 9), least={"rows": 5, "columns": 5}),
        "conv 7x7 of colours": picture(_conv((7, 7), 3, 16, pads=[3] * 4, strides=[2, 2]), 3),
        "conv 3x3 dilated": picture(_conv((3, 3), 8, 16, pads=[2] * 4, dilations=[2, 2])),
        "conv 3x3 grouped": picture(_conv((3, 3), 16, 32, pads=[1] * 4, group=4), 16),
        "conv 1x7": picture(_conv((1, 7), 8, 8, pads=[0, 3, 0, 3])),
    },
    "depthwise convolutions": {
        "depthwise 3x3": picture(_conv((3, 3), 24, 24, pads=[1] * 4, group=24), 24),
        "depthwise 5x5 stride 2": picture(_conv((5, 5), 16, 16, pads=[2] * 4, strides=[2, 2], group=16), 16),
        "depthwise twice": picture(_conv((3, 3), 8, 16, pads=[1, 0, 1, 2], group=8), 8),
    },
    "transposed convolutions": {
        "transposed 2x2": picture(_conv((2, 2), 16, 12, transposed=True, strides=[2, 2]), 16),
        "transposed 4x4": picture(_conv((4, 4), 8, 16, transposed=True, strides=[2, 2], pads=[1] * 4)),
        "transposed 3x3 depthwise": picture(
            _conv((3, 3), 8, 8, transposed=True, strides=[2, 2], pads=[1] * 4, output_padding=[1, 1], group=8)
        ),
    },
    "convolutions of lines": {
        "conv of lines": line(_conv((5,), 8, 16, pads=[2, 2])),
        "conv of lines, causal": line(_conv((3,), 8, 16, pads=[4, 0], dilations=[2])),
        "depthwise of lines": line(_conv((9,), 16, 16, pads=[4, 4], group=16), 16),
        "transposed of lines": line(_conv((4,), 8, 8, transposed=True, strides=[2], pads=[1, 1])),
    },
    "convolutions of volumes": {
        "conv of volumes": volume(_conv((3, 3, 3), 4, 8, pads=[1] * 6)),
        "depthwise of volumes": volume(_conv((3, 3, 3), 4, 4, pads=[1] * 6, group=4)),
        "transposed of volumes": volume(_conv((2, 2, 2), 4, 6, transposed=True, strides=[2, 2, 2]), most=2_000),
        "transposed of volumes, odd": volume(
            _conv((3, 2, 4), 4, 4, transposed=True, strides=[1, 2, 3], pads=[0, 1, 0, 1, 0, 2], group=2),
            least={"rows": 2}, most=2_000,
        ),
    },
    "pools": {
        "max pool 2x2": on_picture(_node("MaxPool", kernel_shape=[2, 2], strides=[2, 2]), least={"rows": 2, "columns": 2}),
        "max pool 3x3 padded": on_picture(_node("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)),
        "max pool 3x3 ceil": on_picture(_node("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
                                        least={"rows": 3, "columns": 3}),
        "average pool 2x2": on_picture(_node("AveragePool", kernel_shape=[2, 2], strides=[2, 2]),
                                       least={"rows": 2, "columns": 2}),
        "average pool 3x3 padded": on_picture(_node("AveragePool", kernel_shape=[3, 3], pads=[1] * 4)),
        "global average": on_picture(_node("GlobalAveragePool")),
        "global maximum": on_picture(_node("GlobalMaxPool")),
        "squeeze and excite": on_picture(_squeeze_and_excite),
    },
    "resizes": {
        "resize nearest": on_picture(_node("Resize", "", TWICE, mode="nearest", nearest_mode="floor",
                                           coordinate_transformation_mode="asymmetric"), most=20_000),
        "resize nearest by 3": on_picture(_node("Resize", "", ODD, mode="nearest"), most=20_000),
        "resize linear": on_picture(_node("Resize", "", TWICE, mode="linear"), most=20_000),
        "resize linear, corners": on_picture(
            _node("Resize", "", TWICE, mode="linear", coordinate_transformation_mode="align_corners"), most=20_000
        ),
        "resize cubic": on_picture(_node("Resize", "", TWICE, mode="cubic"), most=8_000),
        "resize to a size": on_picture(_up_to_size_of, most=20_000),
    },
    "pads": {
        "pad": on_picture(_node("Pad", PADS)),
        "pad by edges": on_picture(_node("Pad", PADS, mode="edge")),
        "pad by reflection": on_picture(_node("Pad", PADS, mode="reflect")),
        "pad by wrapping": on_picture(_node("Pad", PADS, mode="wrap")),
    },
    "concats, slices, shuffles": {
        "concat of channels": on_picture(_concat(1), 2 * CHANNELS),
        "concat of rows": on_picture(_concat(2)),
        "concat of places": on_picture(_places),
        "slice of channels": on_picture(_node("Slice", *np.int64([[4], [12], [1]])), 8),
        "slice": on_picture(_halves, least={"rows": 3, "columns": 2}),
        "depth to space": on_picture(_node("DepthToSpace", blocksize=2), CHANNELS // 4),
        "channel shuffle": on_picture(_shuffle),
    },
    "norms and softmax of pictures": {
        "instance norm": on_picture(_node("InstanceNormalization", _ones(CHANNELS), _ones(CHANNELS))),
        "softmax of channels": on_picture(_node("Softmax", axis=1)),
    },
    "element by element": {
        "element by element": on_picture(_elements),
    },
    "products of words": {
        "product": on_words(_feed_forward),
    },
    "norms and softmax of words": {
        "layer norm": on_words(_node("LayerNormalization", _ones(WIDTH), _ones(WIDTH), axis=-1)),
        "softmax": on_words(_node("Softmax", axis=-1)),
        "softmax over words": on_words(_node("Softmax", axis=1)),
        "mean over words": on_words(_mean_of_words),
    },
    "gelu": {
        "gelu": on_words(lambda g, x: g.add("Mul", x, g.add("Erf", x))),
    },
    "attention": {
        "attention": on_words(_attention, most=8_000),
        "attention, masked": FreeLayer(_masked_attention, most=8_000),
        "attention to others": FreeLayer(_cross_attention, most=4_000),
    },
    "recurrent layers": {
        "LSTM": on_words(_recurrent("LSTM", 4), most=4_000),
        "GRU": on_words(_recurrent("GRU", 3), most=4_000),
    },
}  # fmt: skip
LAYERS = {name: layer for layers in FAMILIES.values() for name, layer in layers.items()}
