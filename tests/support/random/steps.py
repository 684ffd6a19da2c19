"""The graph under construction, and the steps of graphs.py: each appends one to four named nodes.

A step takes the graph and its current tensor (NCHW) and returns the next one; None where it does not apply.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.support.random.draws import Draws

MAX_CHANNELS, MAX_SIDE = 20, 32


@dataclass(frozen=True)
class Tensor:
    """A value of the graph; always NCHW between steps."""

    name: str
    shape: tuple[int, ...]

    @property
    def channels(self) -> int:
        """Size of axis 1."""
        return self.shape[1]

    @property
    def side(self) -> int:
        """Shorter side of the picture."""
        return min(self.shape[2:])


class Graph(Draws):
    """The graph so far."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.inputs: list[Tensor] = []
        self.index_inputs: list[tuple[Tensor, int]] = []  # int64, and what they stay below
        self.tensors: list[Tensor] = []  # what a later step may reach back to
        self.conv_weights: list[tuple[str, tuple[int, ...], int]] = []  # name, shape, groups

    def constant(self, array: np.ndarray, name: str) -> str:
        """Initializer with a name made unique."""
        name = f"{name}_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def int64(self, values: Sequence[int], name: str) -> str:
        """Initializer of shapes, axes and the like."""
        return self.constant(np.array(values, np.int64), name)

    def float32(self, values: float | Sequence[float], name: str) -> str:
        """Initializer of literal numbers; a single one is a scalar."""
        return self.constant(np.array(values, np.float32), name)

    def input(self, shape: tuple[int, ...]) -> Tensor:
        """New input of the graph."""
        tensor = Tensor(f"input_{len(self.inputs)}", shape)
        self.inputs.append(tensor)
        self.tensors.append(tensor)
        return tensor

    def index_input(self, shape: tuple[int, ...], limit: int) -> Tensor:
        """New input of whole numbers from 0 to below `limit`; no step reaches back to it."""
        self.index_inputs.append((Tensor(f"index_{len(self.index_inputs)}", shape), limit))
        return self.index_inputs[-1][0]

    def nodes_of(
        self, operator: str, inputs: list[str], shapes: list[tuple[int, ...]], **attributes: Any
    ) -> list[Tensor]:
        """Append a node and return its results."""
        name = f"{operator.lower()}_{len(self.nodes)}"
        results = [Tensor(f"{name}_out{index}", shape) for index, shape in enumerate(shapes)]
        outputs = [tensor.name for tensor in results]
        self.nodes.append(helper.make_node(operator, inputs, outputs, name=f"/{name}", **attributes))
        return results

    def node(self, operator: str, inputs: list[str], shape: tuple[int, ...], **attributes: Any) -> Tensor:
        """Append a node of one result."""
        (result,) = self.nodes_of(operator, inputs, [shape], **attributes)
        self.tensors.append(result)
        return result

    def older(self, fits: Callable[[Tensor], bool]) -> Tensor | None:
        """A random tensor that fits, or None."""
        candidates = [tensor for tensor in self.tensors if fits(tensor)]
        return self.pick(candidates) if candidates else None


Step = Callable[[Graph, Tensor], "Tensor | None"]


def weight_values(graph: Graph, shape: tuple[int, ...], axis: int = 0) -> np.ndarray:
    """Kaiming-normal weights, filters of different strength along `axis`, now and then a filter of zeros."""
    fan_in = math.prod(shape) / shape[axis]
    spread = [1] * len(shape)
    spread[axis] = shape[axis]
    strength = graph.random.lognormal(0.0, 0.5, spread)
    if graph.chance(0.2):
        strength *= graph.random.random(spread) > 0.25
    weights = graph.random.standard_normal(shape) * math.sqrt(2.0 / fan_in) * strength
    return weights.astype(np.float32)


def bias_values(graph: Graph, count: int) -> np.ndarray:
    """Small biases, float32 (count,)."""
    return (0.2 * graph.random.standard_normal(count)).astype(np.float32)


def _conv_weight(graph: Graph, channels: int, kernel: list[int] | None) -> tuple[str, tuple[int, ...], int]:
    """Name, shape and groups of a weight that takes `channels`; sometimes one that another layer has."""
    if graph.chance(0.4):
        shared = [w for w in graph.conv_weights if w[1][1] * w[2] == channels]
        shared = [w for w in shared if kernel is None or list(w[1][2:]) == kernel]
        if shared:
            return graph.pick(shared)
    divisors = [d for d in range(1, channels + 1) if channels % d == 0]
    groups = graph.pick([1, 1, channels, graph.pick(divisors)])
    filters = groups * graph.integer(1, max(1, MAX_CHANNELS // groups))
    if groups == channels and graph.chance(0.7):
        filters = channels
    size = kernel or graph.pick([[1, 1], [3, 3], [3, 3], [5, 5], [1, 3]])
    shape = (filters, channels // groups, *size)
    weight = (graph.constant(weight_values(graph, shape), "weight"), shape, groups)
    graph.conv_weights.append(weight)
    return weight


def _conv(graph: Graph, x: Tensor, *, kernel: list[int] | None = None, plain: bool = False) -> Tensor | None:
    """Convolution; `plain` keeps the size of the picture."""
    weight, shape, groups = _conv_weight(graph, x.channels, kernel)
    dilation = graph.pick([1, 1, 1, 2])
    spans = [(size - 1) * dilation + 1 for size in shape[2:]]
    strides = [1, 1] if plain else graph.pick([[1, 1], [1, 1], [2, 2], [2, 1]])
    if plain or graph.chance(0.5):
        begins = [(span - 1) // 2 for span in spans]
        ends = [span - 1 - begin for span, begin in zip(spans, begins, strict=True)]
    else:
        begins, ends = ([graph.integer(0, span // 2) for span in spans] for _ in range(2))
    padded = [n + b + e for n, b, e in zip(x.shape[2:], begins, ends, strict=True)]
    if any(n < span for n, span in zip(padded, spans, strict=True)):
        return None
    sides = [(n - span) // s + 1 for n, span, s in zip(padded, spans, strides, strict=True)]
    inputs = [x.name, weight]
    if graph.chance(0.6):
        inputs.append(graph.constant(bias_values(graph, shape[0]), "bias"))
    return graph.node(
        "Conv", inputs, (x.shape[0], shape[0], *sides), group=groups, kernel_shape=list(shape[2:]),
        strides=strides, dilations=[dilation] * 2, pads=begins + ends,
    )  # fmt: skip


def _batch_norm(graph: Graph, x: Tensor) -> Tensor:
    """Batch normalization with trained-looking statistics."""
    count = x.channels
    scale = graph.random.uniform(0.5, 1.5, count) * graph.random.choice([1, 1, 1, -1], count)
    if graph.chance(0.2):
        scale[graph.integer(0, count - 1)] = 0.0
    mean, variance = 0.3 * graph.random.standard_normal(count), graph.random.uniform(0.3, 2.0, count)
    arrays = {"scale": scale, "shift": bias_values(graph, count), "mean": mean, "variance": variance}
    names = [graph.constant(array.astype(np.float32), name) for name, array in arrays.items()]
    return graph.node("BatchNormalization", [x.name, *names], x.shape)


def _conv_block(graph: Graph, x: Tensor) -> Tensor | None:
    """Convolution, batch norm, activation."""
    y = _conv(graph, x)
    return None if y is None else _activation(graph, _batch_norm(graph, y))


def _silu(graph: Graph, x: Tensor) -> Tensor:
    """x * sigmoid(x), as exporters write it."""
    gate = graph.node("Sigmoid", [x.name], x.shape)
    return graph.node("Mul", [x.name, gate.name], x.shape)


def _activation(graph: Graph, x: Tensor) -> Tensor:
    """Append one of the activation functions."""
    kind = graph.pick(["Relu", "Relu", "Clip", "LeakyRelu", "Sigmoid", "HardSigmoid", "HardSwish", "silu"])
    if kind == "silu":
        return _silu(graph, x)
    inputs = [x.name]
    attributes: dict[str, float] = {}
    if kind == "Clip":
        inputs += [graph.float32(value, name) for value, name in ((0, "low"), (6, "high"))]
    if kind == "LeakyRelu":
        attributes["alpha"] = graph.pick([0.01, 0.1, 0.3])
    if kind == "HardSigmoid" and graph.chance(0.5):
        attributes["alpha"] = 1.0 / 6.0
    return graph.node(kind, inputs, x.shape, **attributes)


def _add(graph: Graph, x: Tensor) -> Tensor | None:
    """Sum with an older tensor of the same shape, or with itself."""
    other = graph.older(lambda tensor: tensor.shape == x.shape)
    return None if other is None else graph.node("Add", [x.name, other.name], x.shape)


def _residual(graph: Graph, x: Tensor) -> Tensor:
    """x + f(x), f one or two convolutions that keep the shape."""
    shape = (x.channels, x.channels, 3, 3)
    y = x
    for last in (False, True) if graph.chance(0.3) else (True,):
        weight = graph.constant(weight_values(graph, shape), "weight")
        y = graph.node("Conv", [y.name, weight], x.shape, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        if not last:
            y = graph.node("Relu", [y.name], y.shape)
    pair = [x.name, y.name] if graph.chance(0.5) else [y.name, x.name]
    return graph.node("Add", pair, x.shape)


def _multiply(graph: Graph, x: Tensor) -> Tensor | None:
    """Product with an older tensor of the same shape (also itself)."""
    other = graph.older(lambda tensor: tensor.shape == x.shape)
    return None if other is None else graph.node("Mul", [x.name, other.name], x.shape)


def _squeeze_excite(graph: Graph, x: Tensor) -> Tensor:
    """x times a gate of shape (n, c, 1, 1)."""
    shape = (*x.shape[:2], 1, 1)
    pooled = graph.node("GlobalAveragePool", [x.name], shape)
    weight = graph.constant(weight_values(graph, (x.channels, x.channels, 1, 1)), "weight")
    bias = graph.constant(bias_values(graph, x.channels), "bias")
    gate = graph.node("Conv", [pooled.name, weight, bias], shape, kernel_shape=[1, 1])
    gate = graph.node(graph.pick(["Sigmoid", "HardSigmoid"]), [gate.name], shape)
    pair = [x.name, gate.name] if graph.chance(0.7) else [gate.name, x.name]
    return graph.node("Mul", pair, x.shape)


def _concat(graph: Graph, x: Tensor) -> Tensor | None:
    """x beside an older tensor, or beside a 1x1 convolution of itself."""
    if x.channels > MAX_CHANNELS:
        return None
    fits = [t for t in graph.tensors if t.shape[0] == x.shape[0] and t.shape[2:] == x.shape[2:] and t != x]
    other = graph.pick(fits) if fits else _conv(graph, x, kernel=[1, 1], plain=True)
    if other is None or other.channels + x.channels > 2 * MAX_CHANNELS:
        return None
    parts = [x, other] if graph.chance(0.5) else [other, x]
    shape = (x.shape[0], sum(part.channels for part in parts), *x.shape[2:])
    return graph.node("Concat", [part.name for part in parts], shape, axis=1)


def _pool(graph: Graph, x: Tensor) -> Tensor | None:
    """Max or average pooling with a random window; average never counts what rounding up adds."""
    kernel, stride = graph.integer(2, 3), graph.integer(1, 2)
    if x.side < kernel + 1:
        return None
    operator = graph.pick(["MaxPool", "AveragePool"])
    pads = graph.random.integers(0, kernel - 1, 4).tolist() if graph.chance(0.4) else [0] * 4
    attributes: dict[str, Any] = {"ceil_mode": int(not any(pads) and graph.chance(0.3))}
    if operator == "AveragePool":
        attributes["count_include_pad"] = int(any(pads) and graph.chance(0.4))
    sides = []
    for index, side in enumerate(x.shape[2:]):
        steps = (side + pads[index] + pads[index + 2] - kernel) / stride
        sides.append((math.ceil(steps) if attributes["ceil_mode"] else math.floor(steps)) + 1)
        if (sides[-1] - 1) * stride >= side + pads[index]:  # a window wholly in the padding
            return None
    shape = (*x.shape[:2], *sides)
    return graph.node(
        operator, [x.name], shape, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads, **attributes
    )  # fmt: skip


def _reshape(graph: Graph, x: Tensor) -> Tensor:
    """Another NCHW shape of the same elements; the target sometimes says 0 (keep) and -1 (the rest)."""
    n, c, h, w = x.shape
    shape = (n, c // 2, 2 * h, w) if c % 2 == 0 and h < MAX_SIDE else (n, c, w, h)
    target = [0, shape[1], shape[2], -1] if graph.chance(0.5) else list(shape)
    return graph.node("Reshape", [x.name, graph.int64(target, "shape")], shape)


def _transpose(graph: Graph, x: Tensor) -> Tensor | None:
    """Axes but the batch in another order."""
    order = graph.pick([[0, 1, 3, 2], [0, 2, 3, 1], [0, 3, 1, 2]])
    shape = tuple(x.shape[axis] for axis in order)
    return None if shape[1] > MAX_CHANNELS else graph.node("Transpose", [x.name], shape, perm=order)


def _shuffle(graph: Graph, x: Tensor) -> Tensor | None:
    """Channel shuffle: reshape to five axes, swap two, reshape back."""
    n, c, h, w = x.shape
    if c % 2 or c < 4:
        return None
    split = graph.int64([n, 2, c // 2, h, w], "shape")
    y = graph.node("Reshape", [x.name, split], (n, 2, c // 2, h, w))
    y = graph.node("Transpose", [y.name], (n, c // 2, 2, h, w), perm=[0, 2, 1, 3, 4])
    return graph.node("Reshape", [y.name, graph.int64(x.shape, "shape")], x.shape)


def _extra_axis(graph: Graph, x: Tensor) -> Tensor:
    """Unsqueeze, sometimes relu, squeeze."""
    axes = graph.int64([graph.integer(1, 4)], "axes")
    axis = int(numpy_helper.to_array(graph.initializers[-1])[0])
    shape = (*x.shape[:axis], 1, *x.shape[axis:])
    y = graph.node("Unsqueeze", [x.name, axes], shape)
    if graph.chance(0.5):
        y = graph.node("Relu", [y.name], shape)
    return graph.node("Squeeze", [y.name, axes], x.shape)


def _pad(graph: Graph, x: Tensor) -> Tensor | None:
    """Constant padding of the picture, mostly with zeros."""
    if max(x.shape[2:]) >= MAX_SIDE - 3:
        return None
    top, left, bottom, right = graph.random.integers(0, 3, 4).tolist()
    pads = graph.int64([0, 0, top, left, 0, 0, bottom, right], "pads")
    inputs = [x.name, pads]
    if graph.chance(0.5):
        inputs.append(graph.float32(graph.pick([0.0, 0.0, 0.5]), "value"))
    return graph.node("Pad", inputs, (*x.shape[:2], x.shape[2] + top + bottom, x.shape[3] + left + right))


def _slice(graph: Graph, x: Tensor) -> Tensor | None:
    """A part of one axis, sometimes every second element."""
    axis = graph.integer(1, 3)
    size = x.shape[axis]
    if size < 3:
        return None
    start, step = graph.integer(0, 1), graph.integer(1, 2)
    stop = size - graph.integer(0, 1)
    arrays = {"starts": start, "ends": stop if graph.chance(0.7) else 2**31 - 1, "axes": axis, "steps": step}
    names = [graph.int64([value], name) for name, value in arrays.items()]
    shape = list(x.shape)
    shape[axis] = len(range(start, min(arrays["ends"], size), step))
    return graph.node("Slice", [x.name, *names], tuple(shape))


def _split(graph: Graph, x: Tensor) -> Tensor | None:
    """Two or three parts along the channels; one goes on, or all are joined in another order."""
    if x.channels < 3:
        return None
    first = graph.integer(1, x.channels - 2)
    sizes = [first, x.channels - first] if graph.chance(0.5) else [1, first, x.channels - first - 1]
    shapes = [(x.shape[0], size, *x.shape[2:]) for size in sizes]
    parts = graph.nodes_of("Split", [x.name, graph.int64(sizes, "split")], shapes, axis=1)
    if graph.chance(0.4):
        graph.tensors.append(parts[-1])
        return parts[-1]
    graph.tensors.extend(parts)
    return graph.node("Concat", [part.name for part in reversed(parts)], x.shape, axis=1)


def _resize(graph: Graph, x: Tensor) -> Tensor | None:
    """Nearest neighbour, twice the size."""
    if max(x.shape[2:]) > MAX_SIDE // 2:
        return None
    scales = graph.float32([1, 1, 2, 2], "scales")
    shape = (*x.shape[:2], 2 * x.shape[2], 2 * x.shape[3])
    return graph.node(
        "Resize", [x.name, "", scales], shape, mode="nearest", nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )  # fmt: skip


STEPS: list[tuple[int, Step]] = [  # weight, step
    (6, _conv), (6, _conv_block), (3, _residual), (3, _squeeze_excite), (3, _add), (2, _multiply),
    (3, _concat), (5, _activation), (1, _batch_norm), (7, _pool), (2, _reshape), (2, _transpose),
    (1, _shuffle), (1, _extra_axis), (4, _pad), (2, _slice), (2, _split), (2, _resize),
]  # fmt: skip
