"""Operators that move codes of a model that is quantized already: they stay on codes, whatever their rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.quantized_models import Maker, results
from tvmq.graph.ledger import get_ledger
from tvmq.passes.import_qdq.pairs import MOVES

# operator, its other inputs, attributes, and the shape that it is given
CASES: dict[str, tuple[str, list[Any], dict[str, Any], tuple[int, ...]]] = {
    "max pool of rank 3": ("MaxPool", [], {"kernel_shape": [2]}, (1, 4, 9)),
    "max pool of rank 4": ("MaxPool", [], {"kernel_shape": [2, 2]}, (1, 4, 5, 6)),
    "max pool of rank 5": ("MaxPool", [], {"kernel_shape": [2, 2, 2]}, (1, 4, 3, 4, 5)),
    "maximum": ("ReduceMax", [], {"axes": [3], "keepdims": 1}, (1, 4, 5, 6)),
    "minimum": ("ReduceMin", [], {"axes": [3], "keepdims": 1}, (1, 4, 5, 6)),
    "tile": ("Tile", [np.int64([1, 1, 2, 1])], {}, (1, 4, 5, 6)),
    "broadcast_to": ("Expand", [np.int64([1, 4, 5, 6])], {}, (1, 4, 5, 1)),
    "take": ("Gather", [np.int64([2, 0, 1])], {"axis": 2}, (1, 4, 5, 6)),
    "elements": ("GatherElements", [np.int64([2, 0, -1, 4] * 4).reshape(1, 4, 4, 1)], {"axis": 2}, (1, 4, 5, 6)),
    "flip": ("Slice", [np.int64([-1]), np.int64([-100]), np.int64([2]), np.int64([-1])], {}, (1, 4, 5, 6)),
}


def moved_codes(operator: str, rest: list[Any], attributes: dict[str, Any], shape: tuple[int, ...]) -> onnx.ModelProto:
    """Quantize, the operator on codes, and a convolution behind a dequantize."""
    maker = Maker()
    numbers = maker.scale(0.04, 3)
    codes = maker.node("QuantizeLinear", [maker.input("x", shape), *numbers])
    moved = maker.node(operator, [codes, *map(maker.constant, rest)], "moved", **attributes)
    weight = maker.weight((6, 4) + (1,) * (len(shape) - 2), 0.01)
    conv = maker.node("Conv", [maker.node("DequantizeLinear", [moved, *numbers]), weight], "conv")
    return maker.model(maker.quantized(conv, 0.2, 3))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_moved_codes_stay_codes(case: tuple) -> None:
    module = tvmq.quantize(*tvmq.from_onnx(moved_codes(*case)))
    assert {entry["precision"] for entry in get_ledger(module).layers.values()} == {"int8"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["max pool of rank 3", "max pool of rank 5"])
def test_pools_of_codes_are_exact(name: str) -> None:
    x = np.random.default_rng(0).standard_normal(CASES[name][3]).astype(np.float32)
    results(moved_codes(*CASES[name]), {"x": x})


def test_every_family_that_moves_is_there() -> None:
    ranks = {f"nn.max_pool{rank}d" for rank in (1, 2, 3)}
    assert ranks | {"max", "min", "tile", "flip", "stack", "broadcast_to", "take", "nn.pad", "image.resize2d"} <= MOVES
    assert not MOVES & {"mean", "add", "nn.avg_pool2d", "tvmq.softmax"}
