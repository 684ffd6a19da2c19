"""Networks of matrix products: attention, transformers, constants on either side, vectors."""

from __future__ import annotations

import numpy as np

from tests.passes.corner import Corner, Nets, lists_in
from tests.support.models.networks import Net

NETS: Nets = {}
net = lists_in(NETS)


def attention(n: Net, x: str, features: int, heads: int, mask: str | None = None, scale: str = "after") -> str:
    """Self-attention of [1, length, features], written as exporters do."""
    length, width = n.shapes[0][1], features // heads
    shape = n.constant(np.int64([1, length, heads, width]))
    biased = [
        n.op(
            "Add", n.op("MatMul", x, n.constant(n.weight(features, features))), n.constant(n.weight(features, 1)[:, 0])
        )
        for _ in range(3)
    ]
    q, k, v = (n.op("Transpose", n.op("Reshape", y, shape), perm=[0, 2, 1, 3]) for y in biased)
    number = n.constant(np.float32(width**-0.5))
    if scale == "before":
        q = n.op("Mul", q, number)
    scores = n.op("MatMul", q, n.op("Transpose", k, perm=[0, 1, 3, 2]))
    if scale == "after":
        scores = n.op("Div", scores, n.constant(np.float32(width**0.5)))
    if mask:
        scores = n.op("Add", scores, mask)
    mixed = n.op("MatMul", n.op("Softmax", scores, axis=-1), v)
    joined = n.op("Reshape", n.op("Transpose", mixed, perm=[0, 2, 1, 3]), n.constant(np.int64([1, length, features])))
    return n.op("MatMul", joined, n.constant(n.weight(features, features)))


def layer_norm(n: Net, x: str, features: int) -> str:
    scale = n.constant(np.linspace(0.5, 2, features, dtype=np.float32))
    return n.op("LayerNormalization", x, scale, n.constant(np.zeros(features, np.float32)), axis=-1)


@net
def transformer_with_norm_first() -> Corner:
    n = Net((1, 7, 12))
    y = n.op("Add", "x", attention(n, layer_norm(n, "x", 12), 12, 3, scale="before"))
    inner = n.op("MatMul", layer_norm(n, y, 12), n.constant(n.weight(12, 20)))
    half = n.op(
        "Mul",
        n.op("Add", n.op("Erf", n.op("Div", inner, n.constant(np.float32(2**0.5)))), n.constant(np.float32(1))),
        n.constant(np.float32(0.5)),
    )
    gelu = n.op("Mul", inner, half)
    y = n.op("Add", y, n.op("MatMul", gelu, n.constant(n.weight(20, 12))))
    return n, [n.op("MatMul", layer_norm(n, y, 12), n.constant(n.weight(12, 5)))]


@net
def transformer_with_mask() -> Corner:
    n = Net((1, 6, 8))
    mask = n.constant(np.float32([0, 0, 0, 0, -10000, -10000]).reshape(1, 1, 1, 6))
    y = layer_norm(n, n.op("Add", "x", attention(n, "x", 8, 2, mask)), 8)
    return n, [n.op("MatMul", y, n.constant(n.weight(8, 4)))]


@net
def product_with_constant_on_the_left() -> Corner:
    n = Net((2, 5, 6))
    y = n.op("MatMul", n.constant(n.weight(4, 5)), n.op("MatMul", "x", n.constant(n.weight(6, 7))))
    return n, [n.op("MatMul", n.constant(n.weight(2, 3, 4)), y)]


@net
def product_with_a_matrix_for_each_head() -> Corner:
    n = Net((2, 3, 5, 6))
    return n, [n.op("Relu", n.op("MatMul", "x", n.constant(n.weight(3, 6, 4))))]


@net
def product_with_itself() -> Corner:
    n = Net((2, 5, 6))
    y = n.op("MatMul", "x", n.constant(n.weight(6, 6)))
    return n, [n.op("MatMul", n.op("MatMul", y, n.op("Transpose", y, perm=[0, 2, 1])), y)]


@net
def product_of_two_inputs_that_broadcast() -> Corner:
    n = Net((2, 1, 5, 6), (3, 6, 4))
    return n, [n.op("Mul", n.op("MatMul", "x", "x1"), n.constant(np.float32(0.3)))]


@net
def products_of_vectors() -> Corner:
    n = Net((2, 5, 6), (6,))
    y = n.op("MatMul", "x", n.constant(n.weight(6, 6)))
    return n, [
        n.op("MatMul", y, "x1"),
        n.op("MatMul", y, n.constant(n.weight(6))),
        n.op("MatMul", n.constant(n.weight(5)), y),
    ]
