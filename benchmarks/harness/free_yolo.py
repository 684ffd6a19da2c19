"""A detector of any picture in the manner of YOLOv8: C2f blocks with SiLU, pools in a row, two ways up, heads."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from tests.support.models.dynamic_models import Nodes

WIDTHS, OUTPUTS = (16, 32, 64, 128, 160), 24  # channels of each halving; values of each place


def yolo(seed: int = 0) -> Any:
    """images [batch, 3, rows, columns] -> [batch, OUTPUTS, places]: one for each 8 x 8, 16 x 16 and 32 x 32 pixels."""
    g = Nodes(seed)
    x, levels = "images", []
    inputs = 3
    for number, width in enumerate(WIDTHS):
        x = conv(g, x, inputs, width, 3, 2)
        x = c2f(g, x, width, width) if number else x
        inputs = width
        levels.append(x)
    x = pools(g, x, inputs)
    third, fourth, fifth = levels[2], levels[3], x
    up = c2f(g, g.add("Concat", double(g, fifth), fourth, axis=1), WIDTHS[4] + WIDTHS[3], WIDTHS[3])
    small = c2f(g, g.add("Concat", double(g, up), third, axis=1), WIDTHS[3] + WIDTHS[2], WIDTHS[2])
    down = conv(g, small, WIDTHS[2], WIDTHS[2], 3, 2)
    middle = c2f(g, g.add("Concat", down, up, axis=1), WIDTHS[2] + WIDTHS[3], WIDTHS[3])
    down = conv(g, middle, WIDTHS[3], WIDTHS[3], 3, 2)
    large = c2f(g, g.add("Concat", down, fifth, axis=1), WIDTHS[3] + WIDTHS[4], WIDTHS[4])
    heads = []
    for level, width in zip((small, middle, large), WIDTHS[2:], strict=True):
        head = g.add("Conv", conv(g, level, width, 48, 3), g.weight(OUTPUTS, 48, 1, 1))
        heads.append(g.add("Reshape", head, g.constant(np.int64([0, OUTPUTS, -1]))))
    result = g.add("Sigmoid", g.add("Concat", *heads, axis=2))
    given = helper.make_tensor_value_info("images", TensorProto.FLOAT, ["batch", 3, "rows", "columns"])
    return g.model([given], result)


def conv(g: Nodes, x: str, inputs: int, outputs: int, kernel: int, stride: int = 1) -> str:
    """A convolution and SiLU."""
    weight = g.weight(outputs, inputs, kernel, kernel)
    y = g.add("Conv", x, weight, pads=[kernel // 2] * 4, strides=[stride] * 2)
    return g.add("Mul", y, g.add("Sigmoid", y))


def c2f(g: Nodes, x: str, inputs: int, outputs: int) -> str:
    """Halves of the channels; one of them goes through a bottleneck, and all are joined."""
    half = outputs // 2
    x = conv(g, x, inputs, outputs, 1)
    ends = [g.constant(np.int64([end])) for end in (0, half, outputs)]
    axis = g.constant(np.int64([1]))
    first, second = (g.add("Slice", x, *pair, axis) for pair in (ends[:2], ends[1:]))
    deep = conv(g, conv(g, second, half, half, 3), half, half, 3)
    return conv(g, g.add("Concat", first, second, g.add("Add", second, deep), axis=1), 3 * half, outputs, 1)


def pools(g: Nodes, x: str, width: int) -> str:
    """Maximum pools of 5, 9 and 13 pixels, as three of 5 in a row (SPPF)."""
    x = conv(g, x, width, width // 2, 1)
    parts = [x]
    for _ in range(3):
        parts.append(g.add("MaxPool", parts[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
    return conv(g, g.add("Concat", *parts, axis=1), 2 * width, width, 1)


def double(g: Nodes, x: str) -> str:
    """Twice the rows and columns."""
    attributes = {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
    return g.add("Resize", x, "", g.constant(np.float32([1, 1, 2, 2])), **attributes)
