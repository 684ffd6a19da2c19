"""Vectors of which only some numbers are known, such as the result of Shape of a dynamic shape.

Before                                     After
    s = Shape(x)      x: (n, 3, 8, 8)          (gone)
    h = Gather(s, 2)                           h = 8
    p = Max(h - 7, 0)                          p = 1

Which numbers of a result are known is found by the operator itself: one that only moves numbers moves a mask in the
same way; of one that computes number by number a result is known where all operands are.

Tests: tests/formats/onnx/importer/test_shape_folding.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import onnx

# operator -> how many of its first inputs are numbers that it moves; all of Concat's
MOVING = {
    "Concat": None, "Expand": 1, "Flatten": 1, "Gather": 1, "Identity": 1, "Reshape": 1, "Slice": 1, "Split": 1,
    "Squeeze": 1, "Tile": 1, "Transpose": 1, "Unsqueeze": 1,
}  # fmt: skip
COMPUTING = frozenset(
    "Abs Add And Cast Ceil Clip Div Equal Floor Greater GreaterOrEqual Less LessOrEqual Max Min Mod Mul Neg Not Or Pow "
    "Relu Round Sign Sqrt Sub Xor".split()
)
Run = Callable[["onnx.NodeProto", Mapping[str, np.ndarray]], "list[np.ndarray] | None"]


@dataclass(frozen=True)
class PartialArray:
    """Numbers and which of them are known; the others are 1, so that nothing is divided by zero."""

    values: np.ndarray
    known: np.ndarray

    @classmethod
    def of_dims(cls, dims: list[Any]) -> PartialArray:
        """Dimensions, of which texts are unknown."""
        known = np.array([isinstance(size, int) for size in dims], bool)
        return cls(np.array([size if isinstance(size, int) else 1 for size in dims], np.int64), known)


def compute_partial(node: onnx.NodeProto, inputs: Mapping[str, PartialArray], run: Run) -> list[PartialArray] | None:
    """The results of a node on numbers of which some are known; None if it neither moves nor computes them singly.

    run   evaluates the node on arrays
    """
    values = run(node, {name: one.values for name, one in inputs.items()})
    known = _known_masks(node, inputs, run)
    if values is None or known is None or len(values) != len(known):
        return None
    if any(one.shape != mask.shape for one, mask in zip(values, known, strict=True)):
        return None
    return [PartialArray(np.where(m, v, v.dtype.type(1)), m) for v, m in zip(values, known, strict=True)]


def _known_masks(node: onnx.NodeProto, inputs: Mapping[str, PartialArray], run: Run) -> list[np.ndarray] | None:
    masks = {name: one.known for name, one in inputs.items()}
    if node.op_type in MOVING:
        moved = list(node.input)[: MOVING[node.op_type]]
        if not all(masks[name].all() for name in node.input if name and name not in moved):
            return None
        feed = {n: masks[n].astype(inputs[n].values.dtype) if n in moved else one.values for n, one in inputs.items()}
        results = run(node, feed)
        return None if results is None else [np.asarray(result).astype(bool) for result in results]
    if node.op_type == "Where":
        condition, a, b = (inputs[name] for name in node.input)
        return [np.asarray(condition.known & np.where(condition.values, a.known, b.known))]
    if node.op_type not in COMPUTING:
        return None
    return [np.logical_and.reduce(np.broadcast_arrays(*(masks[name] for name in node.input if name)))]
