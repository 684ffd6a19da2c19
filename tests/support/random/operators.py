"""Further steps of graphs.py: functions, constants that vary, choices, reductions, copies."""

from __future__ import annotations

import numpy as np

from tests.support.random.steps import MAX_CHANNELS, MAX_SIDE, Graph, Step, Tensor, bias_values

FUNCTIONS = (
    "Tanh", "Erf", "Softplus", "Elu", "Selu", "Abs", "Neg", "Softsign", "Sin", "mish", "gelu", "root", "log", "square",
)  # fmt: skip


def _scalar(graph: Graph, value: float) -> str:
    return graph.float32(value, "number")


def function(graph: Graph, x: Tensor) -> Tensor:
    """A function of one tensor, of one or several nodes."""
    kind = graph.pick(FUNCTIONS)
    node = lambda operator, *inputs: graph.node(operator, list(inputs), x.shape).name  # noqa: E731
    if kind == "mish":
        return graph.node("Mul", [x.name, node("Tanh", node("Softplus", x.name))], x.shape)
    if kind == "gelu":
        gate = node("Add", node("Erf", node("Div", x.name, _scalar(graph, 2**0.5))), _scalar(graph, 1.0))
        return graph.node("Mul", [node("Mul", x.name, _scalar(graph, 0.5)), gate], x.shape)
    if kind == "root":
        return graph.node("Sqrt", [node("Abs", x.name)], x.shape)
    if kind == "log":
        return graph.node("Log", [node("Add", node("Abs", x.name), _scalar(graph, 1.0))], x.shape)
    if kind == "square":
        return graph.node("Pow", [node("Tanh", x.name), _scalar(graph, 2.0)], x.shape)
    return graph.node(kind, [x.name], x.shape)


def prelu(graph: Graph, x: Tensor) -> Tensor:
    """Slopes for each channel, or one."""
    shape = (x.channels, 1, 1) if graph.chance(0.7) else (1,)
    slopes = graph.random.uniform(-0.3, 1.5, shape).astype(np.float32)
    return graph.node("PRelu", [x.name, graph.constant(slopes, "slope")], x.shape)


def _constant(graph: Graph, x: Tensor) -> str:
    """Numbers around 1 that vary over channels, rows, pixels, or not."""
    n, c, h, w = x.shape
    shape = graph.pick([(c, 1, 1), (1, c, 1, 1), (1,), (h, 1), (w,), (1, c, h, w), (n, 1, 1, 1)])
    values = graph.random.uniform(0.5, 1.5, shape) * graph.random.choice([1.0, 1.0, -1.0], shape)
    return graph.constant(values.astype(np.float32), "constant")


def constants(graph: Graph, x: Tensor) -> Tensor:
    """Append one or two operators of the tensor and constants, on either side."""
    for _ in range(graph.integer(1, 2)):
        operator = graph.pick(["Mul", "Add", "Sub", "Div", "Max", "Min"])
        pair = [x.name, _constant(graph, x)]
        if operator != "Div" and graph.chance(0.3):
            pair.reverse()
        x = graph.node(operator, pair, x.shape)
    return x


def pair(graph: Graph, x: Tensor) -> Tensor | None:
    """Difference, maximum or minimum with an older tensor of the same shape."""
    other = graph.older(lambda tensor: tensor.shape == x.shape and tensor != x)
    operator = graph.pick(["Sub", "Max", "Min"])
    return None if other is None else graph.node(operator, [x.name, other.name], x.shape)


def where(graph: Graph, x: Tensor) -> Tensor | None:
    """x or another tensor (or a number), by a comparison or a constant mask."""
    other = graph.older(lambda tensor: tensor.shape == x.shape and tensor != x)
    kind = graph.pick(["number", "number", "tensor", "mask"])
    if kind == "mask" or other is None:
        mask = graph.constant(graph.random.random((1, x.channels, *x.shape[2:])) > 0.4, "mask")
    else:
        right = _scalar(graph, 0.1) if kind == "number" else other.name
        mask = graph.nodes_of(graph.pick(["Greater", "Less", "GreaterOrEqual"]), [x.name, right], [x.shape])[0].name
    sides = [x.name, other.name if other and graph.chance(0.6) else _scalar(graph, graph.pick([0.0, 0.7]))]
    if graph.chance(0.4):
        sides.reverse()
    return graph.node("Where", [mask, *sides], x.shape)


def reduced(graph: Graph, x: Tensor) -> Tensor:
    """Mean, sum, maximum or minimum over axes, alone or joined with x again."""
    axes = graph.pick([[1], [2], [3], [2, 3], [1, 2, 3]])
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    operator = graph.pick(["ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum"])
    if operator == "ReduceSum":
        y = graph.node(operator, [x.name, graph.int64(axes, "axes")], shape, keepdims=1)
    else:
        y = graph.node(operator, [x.name], shape, axes=axes, keepdims=1)
    if operator == "ReduceSum" or graph.chance(0.2):
        y = graph.node("Tanh", [y.name], shape)
    return graph.node(graph.pick(["Add", "Sub", "Mul"]), [x.name, y.name], x.shape)


def gathered(graph: Graph, x: Tensor) -> Tensor:
    """Gather channels, rows or columns in another order."""
    axis = graph.integer(1, 3)
    count = graph.integer(1, x.shape[axis])
    indices = graph.random.integers(-x.shape[axis], x.shape[axis], count)
    shape = tuple(count if i == axis else size for i, size in enumerate(x.shape))
    return graph.node("Gather", [x.name, graph.int64(indices.tolist(), "indices")], shape, axis=axis)


def repeated(graph: Graph, x: Tensor) -> Tensor | None:
    """Tile along one axis, or one pixel expanded to a picture."""
    axis = graph.integer(1, 3)
    if graph.chance(0.5):
        pooled = graph.node(graph.pick(["GlobalAveragePool", "GlobalMaxPool"]), [x.name], (*x.shape[:2], 1, 1))
        return graph.node("Expand", [pooled.name, graph.int64(x.shape, "shape")], x.shape)
    if x.shape[axis] > (MAX_CHANNELS // 2 if axis == 1 else MAX_SIDE // 2):
        return None
    repeats = [2 if i == axis else 1 for i in range(4)]
    shape = tuple(size * count for size, count in zip(x.shape, repeats, strict=True))
    return graph.node("Tile", [x.name, graph.int64(repeats, "repeats")], shape)


def reversed_axis(graph: Graph, x: Tensor) -> Tensor:
    """An axis backwards, by a slice."""
    axis = graph.integer(1, 3)
    names = [
        graph.int64([value], name) for name, value in (("starts", -1), ("ends", -1000), ("axes", axis), ("steps", -1))
    ]
    return graph.node("Slice", [x.name, *names], x.shape)


def batch_norm_alone(graph: Graph, x: Tensor) -> Tensor:
    """A batch norm and relu in front of a convolution, as dense nets have them."""
    arrays = [graph.random.uniform(0.5, 1.5, x.channels), bias_values(graph, x.channels)]
    arrays += [0.3 * graph.random.standard_normal(x.channels), graph.random.uniform(0.3, 2.0, x.channels)]
    names = [graph.constant(array.astype(np.float32), "statistic") for array in arrays]
    y = graph.node("BatchNormalization", [x.name, *names], x.shape)
    return graph.node("Relu", [y.name], x.shape)


OPERATOR_STEPS: list[tuple[int, Step]] = [  # weight, step
    (24, function), (3, prelu), (5, constants), (4, pair), (13, where), (5, reduced),
    (3, gathered), (6, repeated), (1, reversed_axis), (1, batch_norm_alone),
]  # fmt: skip
