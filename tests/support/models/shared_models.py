"""Networks whose layers share weights, as ALBERT's do: six weights, used once by each of the layers."""

from __future__ import annotations

import onnx

from tests.support.models.networks import Net

SPELLINGS = ("matmul", "transposed", "copied")


def albert(
    layers: int = 4, hidden: int = 32, heads: int = 2, inner: int = 64, length: int = 8, spelling: str = "matmul"
) -> onnx.ModelProto:
    """Layers of attention and two dense layers over [1, length, hidden], all with the same weights.

    spelling  "matmul": an initializer that all read; "transposed": a Transpose of one in front of each product;
              "copied": an initializer of equal bytes for each of them
    """
    net = Net((1, length, hidden))
    shapes = {"q": (hidden, hidden), "k": (hidden, hidden), "v": (hidden, hidden), "o": (hidden, hidden),
              "up": (hidden, inner), "down": (inner, hidden)}  # fmt: skip
    weights = {name: net.weight(*shape[::-1]).T.copy() for name, shape in shapes.items()}
    biases = {name: net.constant(net.weight(shape[1], 1).reshape(-1) / 8) for name, shape in shapes.items()}
    stored = {name: net.constant(w.T.copy() if spelling == "transposed" else w) for name, w in weights.items()}
    one = net.constant(net.weight(hidden) * 0 + 1), net.constant(net.weight(hidden) * 0)
    split = net.constant([0, length, heads, hidden // heads])
    joined, root = net.constant([0, length, hidden]), net.constant((net.weight(1) * 0 + (hidden // heads) ** -0.5)[0])

    def dense(x: str, name: str) -> str:
        weight = net.constant(weights[name]) if spelling == "copied" else stored[name]
        if spelling == "transposed":
            weight = net.op("Transpose", weight, perm=[1, 0])
        return net.op("Add", net.op("MatMul", x, weight), biases[name])

    def in_heads(x: str, perm: list[int]) -> str:
        return net.op("Transpose", net.op("Reshape", x, split), perm=perm)

    y = "x"
    for _ in range(layers):
        q, v = (in_heads(dense(y, name), [0, 2, 1, 3]) for name in "qv")
        scores = net.op("Mul", net.op("MatMul", q, in_heads(dense(y, "k"), [0, 2, 3, 1])), root)
        mixed = net.op("Transpose", net.op("MatMul", net.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        y = net.op("LayerNormalization", net.op("Add", y, dense(net.op("Reshape", mixed, joined), "o")), *one, axis=-1)
        inside = net.op("Relu", dense(y, "up"))
        y = net.op("LayerNormalization", net.op("Add", y, dense(inside, "down")), *one, axis=-1)
    return net.model(y)
