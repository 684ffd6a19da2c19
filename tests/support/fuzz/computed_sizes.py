"""Models whose shapes are computed from free sizes, as exporters of detectors, readers and transformers write them.

    model = computed_model(seed)                 # x [batch, 4, rows, columns], sometimes a second input

Each of its steps takes and gives a picture of CHANNELS channels and computes sizes on the way: products of two, halves,
multiples of 8, positions from the end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.support.models.dynamic_models import Nodes
from tests.support.random.draws import Draws

CHANNELS = 4


class Sizes(Nodes, Draws):
    """A graph in the making, with integers computed from shapes."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", CHANNELS, "rows", "columns"])]

    def ints(self, *values: int) -> str:
        """An int64 constant of one axis."""
        return self.constant(np.array(values, np.int64))

    def size(self, x: str, axis: int) -> str:
        """Size of an axis, int64 [1]: by Gather or by Slice."""
        shape = self.add("Shape", x)
        if self.chance(0.5):
            return self.add("Gather", shape, self.ints(axis), axis=0)
        return self.add("Slice", shape, self.ints(axis), self.ints(axis + 1))

    def scalar(self, x: str, axis: int) -> str:
        """Size of an axis, int64 []."""
        return self.add("Gather", self.add("Shape", x), self.constant(np.int64(axis)), axis=0)

    def joined(self, *sizes: str) -> str:
        """Sizes as a shape."""
        return self.add("Concat", *sizes, axis=0)

    def half(self, size: str) -> str:
        """Half of a size, at least 1."""
        return self.add("Add", self.add("Div", size, self.ints(2)), self.ints(1 if self.chance(0.7) else 0))

    def conv(self, x: str) -> str:
        """A convolution that keeps the size."""
        return self.add("Conv", x, self.weight(CHANNELS, CHANNELS, 3, 3), pads=[1] * 4)


def pixels_as_words(g: Sizes, x: str) -> str:
    """[batch, rows * columns, channels], a norm or a product, and back by sizes."""
    words = g.add("Reshape", x, g.ints(0, CHANNELS, -1))
    if g.chance(0.3):
        words = g.add("Reshape", x, g.joined(g.size(x, 0), g.ints(CHANNELS), g.add("Mul", g.size(x, 2), g.size(x, 3))))
    words = g.add("Transpose", words, perm=[0, 2, 1])
    if g.chance(0.5):
        words = g.add("LayerNormalization", words, g.weight(CHANNELS), axis=-1)
    if g.chance(0.4):
        scores = g.add("MatMul", words, g.add("Transpose", words, perm=[0, 2, 1]))
        words = g.add("MatMul", g.add("Softmax", scores, axis=-1), words)
    words = g.add("Transpose", g.dense(words, CHANNELS, CHANNELS), perm=[0, 2, 1])
    return g.add("Reshape", words, g.joined(g.size(x, 0), g.ints(CHANNELS), g.size(x, 2), g.size(x, 3)))


def batch_and_rows_together(g: Sizes, x: str) -> str:
    """Rows of all samples as one batch of lines."""
    lines = g.add("Transpose", x, perm=[0, 2, 1, 3])
    lines = g.add("Reshape", lines, g.joined(g.ints(-1), g.ints(CHANNELS), g.size(x, 3)))
    lines = g.add("Conv", lines, g.weight(CHANNELS, CHANNELS, 3), pads=[1, 1])
    lines = g.add("Reshape", lines, g.joined(g.size(x, 0), g.size(x, 2), g.ints(CHANNELS), g.size(x, 3)))
    return g.add("Transpose", lines, perm=[0, 2, 1, 3])


def join(g: Sizes, x: str) -> str:
    """Concat along rows or columns, with itself, a part or its convolution."""
    axis = g.integer(2, 3)
    other = g.pick([lambda: x, lambda: g.conv(x), lambda: cut(g, x)])()
    return g.add("Concat", x, other, axis=axis) if other == x or g.nodes[-1].op_type == "Conv" else other


def cut(g: Sizes, x: str) -> str:
    """A slice of rows or columns, by positions from the end, by a computed half, or by a step."""
    axis = g.integer(2, 3)
    begin, end, step = g.pick([
        (lambda: g.ints(0), lambda: g.ints(-1), 1), (lambda: g.ints(1), lambda: g.ints(2**31), 1),
        (lambda: g.ints(-2), lambda: g.ints(2**31), 1), (lambda: g.ints(0), lambda: g.half(g.size(x, axis)), 1),
        (lambda: g.ints(0), lambda: g.add("Sub", g.size(x, axis), g.ints(1)), 1),
        (lambda: g.add("Div", g.size(x, axis), g.ints(2)), lambda: g.size(x, axis), 1),
        (lambda: g.ints(0), lambda: g.ints(2**31), 2), (lambda: g.ints(-1), lambda: g.ints(-(2**31)), -1),
        (lambda: g.ints(0), lambda: g.ints(3), 1),
    ])  # fmt: skip
    return g.add("Slice", x, begin(), end(), g.ints(axis), g.ints(step))


def positions(g: Sizes, x: str) -> str:
    """A sum with the numbers of the columns, by Range."""
    count = g.scalar(x, 3)
    places = g.add("Range", g.constant(np.int64(0)), count, g.constant(np.int64(1)))
    places = g.add("Mul", g.add("Cast", places, to=TensorProto.FLOAT), g.constant(np.float32(0.03)))
    if g.chance(0.4):
        places = g.add("Div", places, g.add("Cast", count, to=TensorProto.FLOAT))
    return g.add("Add", x, g.add("Sin", places) if g.chance(0.5) else places)


def table_of_positions(g: Sizes, x: str) -> str:
    """A row of a table for each column: at most 40."""
    places = g.add("Range", g.constant(np.int64(0)), g.scalar(x, 3), g.constant(np.int64(1)))
    table = g.constant(g.random.standard_normal((40, CHANNELS)).astype(np.float32))
    rows = g.add("Gather", table, places, axis=0)
    return g.add("Add", x, g.add("Unsqueeze", g.add("Transpose", rows, perm=[1, 0]), g.ints(0, 2)))


def constants(g: Sizes, x: str) -> str:
    """ConstantOfShape or Expand by computed sizes."""
    shape = g.add("Shape", x)
    if g.chance(0.5):
        value = helper.make_tensor("value", TensorProto.FLOAT, [1], [0.25])
        shape = shape if g.chance(0.5) else g.joined(g.size(x, 0), g.ints(1), g.size(x, 2), g.ints(1))
        return g.add("Add", x, g.add("ConstantOfShape", shape, value=value))
    row = g.constant(g.random.standard_normal((1, CHANNELS, 1, 1)).astype(np.float32))
    return g.add("Mul", x, g.add("Expand", row, shape))


def tiles(g: Sizes, x: str) -> str:
    """A mean, repeated as often as there are columns; or the picture twice."""
    if g.chance(0.4):
        return g.add("Tile", x, g.ints(1, 1, *g.pick([(2, 1), (1, 3)])))
    mean = g.add("ReduceMean", x, axes=[3], keepdims=1)
    counts = g.joined(g.ints(1), g.ints(1), g.ints(1), g.size(x, 3))
    return g.add("Sub", x, g.add("Tile", mean, counts))


def resize(g: Sizes, x: str) -> str:
    """To sizes or by factors that are computed: twice, half, one and a half, or back to those of x."""
    rows, columns = g.size(x, 2), g.size(x, 3)
    kind = g.integer(0, 3)
    if kind == 0:
        rows, columns = g.add("Mul", rows, g.ints(2)), g.add("Mul", columns, g.ints(2))
    elif kind == 1:
        rows, columns = g.half(rows), g.half(columns)
    elif kind == 2:
        rows = g.add("Cast", g.add("Floor", g.add("Mul", g.add("Cast", rows, to=1), g.constant(np.float32([1.5])))), to=7)
    else:
        pooled = g.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=g.integer(0, 1))
        sizes = g.add("Shape", x)
        large = g.add("Resize", pooled, "", "", sizes, mode="nearest", coordinate_transformation_mode="asymmetric")
        return g.add("Add", x, large)
    modes = {"mode": "linear"} if g.chance(0.5) else {"mode": "nearest", "nearest_mode": "floor"}
    modes["coordinate_transformation_mode"] = g.pick(["asymmetric", "half_pixel"])
    return g.add("Resize", x, "", "", g.joined(g.size(x, 0), g.ints(CHANNELS), rows, columns), **modes)


def pad(g: Sizes, x: str) -> str:
    """To a multiple of 8, or by one where a size is odd."""
    multiple = g.pick([2, 8])

    def missing(axis: int) -> str:
        rest = g.add("Mod", g.size(x, axis), g.ints(multiple))
        return g.add("Mod", g.add("Sub", g.ints(multiple), rest), g.ints(multiple))

    mode = g.pick(["constant", "constant", "edge"])
    return g.add("Pad", x, g.joined(g.ints(0, 0, 0, 0, 0, 0), missing(2), missing(3)), mode=mode)


def down_and_up(g: Sizes, x: str) -> str:
    """Half the size and back by a transposed convolution, cut to the size of x, beside x."""
    half = g.add("Conv", x, g.weight(8, CHANNELS, 3, 3), strides=[2, 2], pads=[1] * 4)
    wide = g.add("ConvTranspose", half, g.weight(8, CHANNELS, 2, 2), strides=[2, 2])
    ends = g.joined(g.size(x, 2), g.size(x, 3))
    return g.add("Add", x, g.add("Slice", wide, g.ints(0, 0), ends, g.ints(2, 3)))


def patches(g: Sizes, x: str) -> str:
    """Squares of four pixels as channels, by reshapes: sizes must be even."""
    rows, columns = (g.add("Div", g.size(x, axis), g.ints(2)) for axis in (2, 3))
    y = g.add("Reshape", x, g.joined(g.size(x, 0), g.ints(CHANNELS), rows, g.ints(2), columns, g.ints(2)))
    y = g.add("Transpose", y, perm=[0, 1, 3, 5, 2, 4])
    y = g.add("Reshape", y, g.joined(g.size(x, 0), g.ints(4 * CHANNELS), rows, columns))
    return g.add("Conv", y, g.weight(CHANNELS, 4 * CHANNELS, 1, 1))


def reduce_columns(g: Sizes, x: str) -> str:
    """Something over all columns or rows: means, softmax, sums divided by the size."""
    axis = g.integer(2, 3)
    kind = g.integer(0, 4)
    if kind == 0:
        return g.add("Sub", x, g.add("ReduceMean", x, axes=[axis], keepdims=1))
    if kind == 1:
        return g.add("Softmax", x, axis=axis)
    if kind == 2:
        total = g.add("ReduceSum", x, g.ints(axis), keepdims=1)
        return g.add("Mul", x, g.add("Div", total, g.add("Cast", g.size(x, axis), to=TensorProto.FLOAT)))
    if kind == 3:
        return g.add("CumSum", x, g.constant(np.int64(axis)))
    return g.add("Sub", x, g.add("ReduceMax", x, axes=[axis], keepdims=1))


def last_place(g: Sizes, x: str) -> str:
    """The last row or column, beside all."""
    axis = g.integer(2, 3)
    return g.add("Add", x, g.add("Gather", x, g.ints(-1), axis=axis))


def masked(g: Sizes, x: str) -> str:
    """Places beyond the row's number are cut off: a triangle by Range, or by Trilu."""
    rows, columns = (
        g.add("Range", g.constant(np.int64(0)), g.scalar(x, axis), g.constant(np.int64(1))) for axis in (2, 3)
    )
    below = g.add("LessOrEqual", g.add("Unsqueeze", columns, g.ints(0)), g.add("Unsqueeze", rows, g.ints(1)))
    if g.chance(0.3):
        below = g.add("Cast", g.add("Trilu", g.add("Cast", below, to=TensorProto.FLOAT), upper=0), to=TensorProto.BOOL)
    return g.add("Where", below, x, g.constant(np.float32(0)))


def one_number_a_sample(g: Sizes, x: str) -> str:
    """A number of each sample, or its place in the batch, expanded to rows or columns."""
    axis = g.integer(2, 3)
    if g.chance(0.5):
        number = g.add("ReduceMean", x, axes=[1, 2, 3], keepdims=1)
    else:
        places = g.add("Range", g.constant(np.int64(0)), g.scalar(x, 0), g.constant(np.int64(1)))
        number = g.add("Cast", g.add("Unsqueeze", places, g.ints(1, 2, 3)), to=TensorProto.FLOAT)
    sizes = [g.size(x, 0), g.ints(1), g.ints(1), g.ints(1)]
    sizes[axis] = g.size(x, axis)
    return g.add("Add", x, g.add("Expand", number, g.joined(*sizes)))


def every_place(g: Sizes, x: str) -> str:
    """Places of samples and columns, by which all values of a mean are gathered, as exporters write masks."""
    mean = g.add("ReduceMean", x, axes=[1, 2], keepdims=0)
    shape = g.joined(g.size(x, 0), g.ints(1, 1), g.size(x, 3))
    indices = []
    for axis, others in ((0, (1, 2, 3)), (3, (0, 1, 2))):
        places = g.add("Range", g.constant(np.int64(0)), g.scalar(x, axis), g.constant(np.int64(1)))
        places = g.add("Expand", g.add("Unsqueeze", places, g.ints(*others)), shape)
        indices.append(g.add("Unsqueeze", places, g.ints(-1)))
    if g.chance(0.2):
        indices[0] = g.add("Mul", indices[0], g.ints(0))
    return g.add("Mul", x, g.add("GatherND", mean, g.add("Concat", *indices, axis=-1)))


def second_input(g: Sizes, x: str) -> str:
    """Another input with the batch, or the columns, of the first."""
    if len(g.inputs) > 1 or x != "x":
        return g.add("Relu", x)
    shape = g.pick([["batch", CHANNELS, "rows", "columns"], ["batch", 1, 1, "columns"], ["batch", CHANNELS, 1, 1],
                    ["batch", CHANNELS, "rows", "others"]])  # fmt: skip
    g.inputs.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, shape))
    if shape[-1] == "others":
        return g.add("Concat", x, "z", axis=3)
    return g.add(g.pick(["Add", "Mul"]), x, "z")


def layer(g: Sizes, x: str) -> str:
    """A convolution, a pool, or a function."""
    return g.pick([
        lambda: g.conv(x), lambda: g.add("Relu", g.conv(x)), lambda: g.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]),
        lambda: g.add("Conv", x, g.weight(CHANNELS, 1, 3, 3), pads=[1] * 4, group=CHANNELS), lambda: g.add("Sigmoid", x),
        lambda: g.add("AveragePool", x, kernel_shape=[3, 3], pads=[1] * 4),
    ])()  # fmt: skip


STEPS: tuple[Callable[[Sizes, str], str], ...] = (
    pixels_as_words, batch_and_rows_together, join, cut, positions, table_of_positions, constants, tiles, resize, pad,
    down_and_up, patches, reduce_columns, last_place, masked, one_number_a_sample,
    every_place, second_input, layer, layer, layer,
)  # fmt: skip


def computed_model(seed: int) -> onnx.ModelProto:
    """A model of one to four steps, sometimes flattened at the end."""
    g, x = Sizes(seed), "x"
    for _ in range(g.integer(1, 4)):
        x = g.pick(STEPS)(g, x)
    if g.chance(0.2):
        mean = g.add("GlobalAveragePool", x)
        x = g.dense(g.add("Flatten", mean, axis=1), CHANNELS, 3)
    elif g.chance(0.2):
        x = g.add("Reshape", x, g.ints(0, -1))
    return g.model(g.inputs, x)
