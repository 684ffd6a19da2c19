"""Integer modules with the weights that are hardest on kernels, and inputs that drive their codes to the ends.

Sums of 255 x 127 and 255 x -128 leave narrow lanes, and the ranges in which a kernel's shortcuts are exact, first.
The module stays well defined, as the definition's sums are exact: compiled code must still equal it, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from harness.zoo import Feed

PRODUCTS = ("nn.conv1d", "nn.conv2d", "nn.conv3d", "tvmq.conv_transpose", "matmul")
LOWEST, HIGHEST, FAR = -128, 127, np.float32(1e6)


def saturated(module: Any) -> Any:
    """The module with every int8 weight of a product replaced by extremes: layer by layer another pattern."""
    from tvmq.graph.rewrite import Rewriter
    from tvmq.graph.view import op_name

    rewriter, layer = Rewriter(module), 0
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        value = rewriter.substitute(value)
        if op_name(value) in PRODUCTS and _is_weight(value.args[1]):
            value = _with_weight(value, layer)
            layer += 1
        rewriter.bind(var, rewriter.emit(value, var.name))
    return rewriter.finish()


def _is_weight(expr: Any) -> bool:
    from tvmq.graph.view import dtype_of, is_const

    return is_const(expr) and dtype_of(expr) == "int8"


def _with_weight(call: Any, layer: int) -> Any:
    """The call with extremes for its weight."""
    from tvm import relax

    from tvmq.graph.view import const_value

    weight = pattern(const_value(call.args[1]).shape, layer)
    args = [call.args[0], relax.const(weight, "int8"), *call.args[2:]]
    return relax.Call(call.op, args, call.attrs, call.ty_args, call.span)


def pattern(shape: Sequence[int], number: int) -> np.ndarray:
    """Extremes of int8: all high, all low, one after the other, or drawn.

    >>> pattern((1, 4), 2)
    array([[-128,  127, -128,  127]], dtype=int8)
    """
    size = int(np.prod(shape))
    high = (
        np.ones(size, bool),
        np.zeros(size, bool),
        np.arange(size) % 2 == 1,
        np.random.default_rng(number).integers(0, 2, size).astype(bool),
    )[number % 4]
    return np.where(high, HIGHEST, LOWEST).astype(np.int8).reshape(shape)


def far_inputs(inputs: Sequence[Feed]) -> list[Feed]:
    """The inputs, the first ones replaced by values beyond every code: all high, then one after the other."""

    def far(array: np.ndarray, number: int) -> np.ndarray:
        if array.dtype != np.float32 or number > 1:
            return array
        signs = np.ones(array.size) if number == 0 else np.arange(array.size) % 2 * 2 - 1
        return (FAR * signs).astype(np.float32).reshape(array.shape)

    return [{name: far(array, number) for name, array in feed.items()} for number, feed in enumerate(inputs)]
