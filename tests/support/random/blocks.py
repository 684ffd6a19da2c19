"""Further steps of graphs.py: parts of decoders, sequences, volumes and transformers."""

from __future__ import annotations

import math

import numpy as np

from tests.support.random.steps import MAX_CHANNELS, MAX_SIDE, Graph, Step, Tensor, bias_values, weight_values


def transposed(graph: Graph, x: Tensor) -> Tensor | None:
    """Transposed convolution: strides, groups, uneven padding, output padding, dilation."""
    divisors = [d for d in range(1, x.channels + 1) if x.channels % d == 0]
    groups = graph.pick([1, 1, graph.pick(divisors)])
    filters = groups * graph.integer(1, max(1, 8 // groups))
    kernel = graph.pick([[2, 2], [3, 3], [4, 4], [1, 3]])
    strides = graph.pick([[1, 1], [2, 2], [2, 2], [2, 1]])
    dilations = graph.pick([[1, 1], [1, 1], [2, 1]])
    pads = [graph.integer(0, k - 1) for k in kernel] * 2 if graph.chance(0.6) else [0, 1, 0, 0]
    extra = [graph.integer(0, stride - 1) for stride in strides]
    sides = [
        (n - 1) * s + (k - 1) * d + 1 - begin - end + more
        for n, s, k, d, begin, end, more in zip(
            x.shape[2:], strides, kernel, dilations, pads[:2], pads[2:], extra, strict=True
        )
    ]
    if min(sides) < 1 or max(sides) > MAX_SIDE:
        return None
    # strength of its own for each input channel: the fan-in of a pixel is spread over them
    weight = weight_values(graph, (x.channels, filters // groups, *kernel), axis=1)
    inputs = [x.name, graph.constant(weight, "weight")]
    if graph.chance(0.6):
        inputs.append(graph.constant(bias_values(graph, filters), "bias"))
    return graph.node(
        "ConvTranspose", inputs, (x.shape[0], filters, *sides), group=groups, kernel_shape=kernel, strides=strides,
        dilations=dilations, pads=pads, output_padding=extra,
    )  # fmt: skip


def _reshaped(graph: Graph, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    return graph.node("Reshape", [x.name, graph.int64(shape, "shape")], shape)


def line(graph: Graph, x: Tensor) -> Tensor:
    """The picture as a sequence: a 1-D convolution, a pool, and back to a picture of one row."""
    n, c, h, w = x.shape
    y = _reshaped(graph, x, (n, c, h * w))
    groups, length = graph.pick([1, 1, c]), h * w
    filters = groups * graph.integer(1, max(1, MAX_CHANNELS // groups))
    inputs = [y.name, graph.constant(weight_values(graph, (filters, c // groups, 3)), "weight")]
    y = graph.node("Conv", inputs, (n, filters, length), kernel_shape=[3], pads=[1, 1], group=groups)
    if graph.chance(0.7):
        operator = graph.pick(["MaxPool", "AveragePool"])
        stride = max(2, length // MAX_SIDE)
        length = (length - 2) // stride + 1
        y = graph.node(operator, [y.name], (n, filters, length), kernel_shape=[2], strides=[stride])
    return _reshaped(graph, y, (n, filters, 1, length))


def volume(graph: Graph, x: Tensor) -> Tensor | None:
    """Pairs of channels as a third dimension: a 3-D convolution, a pool, and back."""
    n, c, h, w = x.shape
    if c % 2 or min(h, w) < 2:
        return None
    y = _reshaped(graph, x, (n, c // 2, 2, h, w))
    filters = graph.integer(1, 8)
    shape = (filters, c // 2, 2, 3, 3)
    inputs = [y.name, graph.constant(weight_values(graph, shape), "weight")]
    y = graph.node("Conv", inputs, (n, filters, 3, h, w), kernel_shape=[2, 3, 3], pads=[1, 1, 1, 1, 1, 1])
    operator = graph.pick(["MaxPool", "AveragePool"])
    y = graph.node(operator, [y.name], (n, filters, 2, h - 1, w - 1), kernel_shape=[2, 2, 2])
    return _reshaped(graph, y, (n, 2 * filters, h - 1, w - 1))


def attention(graph: Graph, x: Tensor) -> Tensor | None:
    """Channels attend to channels: two products of activations, mostly with a softmax between."""
    n, c, h, w = x.shape
    if h * w > 256 or c < 2:
        return None
    y = _reshaped(graph, x, (n, c, h * w))
    key = graph.node("Transpose", [y.name], (n, h * w, c), perm=[0, 2, 1])
    scores = graph.node("MatMul", [y.name, key.name], (n, c, c))
    if graph.chance(0.7):
        scale = graph.float32(1 / math.sqrt(h * w), "number")
        scores = graph.node("Mul", [scores.name, scale], scores.shape)
        scores = graph.node("Softmax", [scores.name], scores.shape, axis=-1)
    else:
        scores = graph.node("Tanh", [scores.name], scores.shape)
    y = graph.node("MatMul", [scores.name, y.name], y.shape)
    return _reshaped(graph, y, x.shape)


def normalized(graph: Graph, x: Tensor) -> Tensor:
    """Layer, instance, group or rms norm, or log softmax."""
    n, c, h, w = x.shape
    kind = graph.pick(["layer", "instance", "group", "rms", "log softmax"])
    numbers = lambda size: graph.constant(graph.random.uniform(0.5, 1.5, size).astype(np.float32), "scale")  # noqa: E731
    if kind == "layer":
        inputs = [x.name, numbers(w), graph.constant(bias_values(graph, w), "shift")]
        return graph.node("LayerNormalization", inputs, x.shape, axis=-1)
    if kind == "rms":
        square = graph.node("Mul", [x.name, x.name], x.shape)
        mean = graph.node("ReduceMean", [square.name], (n, c, h, 1), axes=[3], keepdims=1)
        root = graph.node("Add", [mean.name, graph.float32(1e-3, "epsilon")], mean.shape)
        root = graph.node("Sqrt", [root.name], mean.shape)
        y = graph.node("Div", [x.name, root.name], x.shape)
        return graph.node("Mul", [y.name, numbers(w)], x.shape)
    if kind == "log softmax":
        return graph.node("LogSoftmax", [x.name], x.shape, axis=1)
    groups = c if kind == "instance" else graph.pick([d for d in range(1, c + 1) if c % d == 0])
    y = x if groups == c else _reshaped(graph, x, (n, groups, c // groups, h * w))
    inputs = [y.name, numbers(groups), graph.constant(bias_values(graph, groups), "shift")]
    y = graph.node("InstanceNormalization", inputs, y.shape)
    return y if groups == c else _reshaped(graph, y, x.shape)


def resampled(graph: Graph, x: Tensor) -> Tensor | None:
    """Bilinear or cubic resize, larger or smaller."""
    factors = graph.pick([(2.0, 2.0), (1.5, 1.5), (0.5, 0.5), (1.0, 2.0)])
    sides = tuple(int(n * f) for n, f in zip(x.shape[2:], factors, strict=True))
    if min(sides) < 1 or max(sides) > MAX_SIDE:
        return None
    scales = graph.float32([1, 1, *factors], "scales")
    mode = graph.pick(["linear", "cubic"])
    return graph.node("Resize", [x.name, "", scales], (*x.shape[:2], *sides), mode=mode)


def blocks(graph: Graph, x: Tensor) -> Tensor | None:
    """Depth to space, or space to depth."""
    n, c, h, w = x.shape
    if c % 4 == 0 and max(h, w) <= MAX_SIDE // 2 and graph.chance(0.6):
        mode = graph.pick(["DCR", "CRD"])
        return graph.node("DepthToSpace", [x.name], (n, c // 4, 2 * h, 2 * w), blocksize=2, mode=mode)
    if h % 2 or w % 2 or c > MAX_CHANNELS // 2:
        return None
    return graph.node("SpaceToDepth", [x.name], (n, 4 * c, h // 2, w // 2), blocksize=2)


def embedded(graph: Graph, x: Tensor) -> Tensor:
    """A row of a table for each row of the picture, chosen by an input of numbers, joined with it."""
    n, _, h, w = x.shape
    table = graph.constant(graph.random.standard_normal((graph.integer(3, 40), w)).astype(np.float32), "table")
    rows = int(graph.initializers[-1].dims[0])
    y = graph.node("Gather", [table, graph.index_input((n, h), rows).name], (n, h, w), axis=0)
    y = graph.node("Unsqueeze", [y.name, graph.int64([1], "axes")], (n, 1, h, w))
    return graph.node(graph.pick(["Add", "Mul"]), [x.name, y.name], x.shape)


BLOCK_STEPS: list[tuple[int, Step]] = [  # weight, step
    (8, transposed), (4, line), (4, volume), (4, attention), (5, normalized), (3, resampled), (9, blocks), (3, embedded),
]  # fmt: skip
