"""Operators that copy codes to another place: take, tile, broadcast, flip, stack, slices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import tvmq
from tests.passes.families.roads import CHANNELS, assert_equal_everywhere, integer_road, start
from tests.passes.stages import realized
from tests.support.models.networks import Net, block, drive, feeds_of
from tvmq.graph.view import View, op_name

ONE = 'x: R.Tensor((1, 2, 4, 4), "float32"), w: R.Tensor((2, 2, 3, 3), "float32")'
WEIGHT = np.random.default_rng(0).standard_normal((2, 2, 3, 3)).astype(np.float32)


@pytest.mark.slow
def test_take_tile_and_broadcast() -> None:
    n, y = start()
    ints = lambda *values: n.constant(np.int64(values))  # noqa: E731
    pooled = n.op("GlobalAveragePool", y)
    road = integer_road(
        n,
        n.conv(n.op("Gather", y, ints(0, 2, 5, 1), axis=1), 4, 3, 1),
        n.conv(n.op("Gather", y, ints(7, -1, 0), axis=2), CHANNELS, 3, 1),
        n.conv(n.op("Tile", y, ints(1, 1, 2, 1)), CHANNELS, 3, 1),
        n.conv(n.op("Tile", y, ints(1, 2, 1, 2)), 2 * CHANNELS, 3, 1),
        n.conv(n.op("Expand", pooled, ints(2, CHANNELS, 3, 4)), CHANNELS, 3, 1),
        n.op("Gather", n.conv(y, CHANNELS, 2), n.constant(np.int64([[1, 0], [1, 1]])), axis=1),
    )
    assert "permute_dims" not in road.operators()


@pytest.mark.slow
def test_slices_with_steps_backwards_and_stack() -> None:
    n, y = start()
    ints = lambda *values: n.constant(np.int64(values))  # noqa: E731
    z = n.conv(y, CHANNELS, CHANNELS)
    axis = ints(2)
    stacked = n.op("Concat", n.op("Unsqueeze", y, axis), n.op("Unsqueeze", z, axis), axis=2)
    integer_road(
        n,
        n.conv(n.op("Slice", y, ints(-1), ints(-100), ints(3), ints(-1)), CHANNELS, 3, 1),
        n.conv(n.op("Slice", y, ints(1, 7), ints(9, 0), ints(2, 3), ints(2, -3)), CHANNELS, 3, 1),
        n.conv(n.op("Reshape", stacked, ints(2, 2 * CHANNELS, 9, 8)), 2 * CHANNELS, 3, 1),
    )


@pytest.mark.slow
def test_indices_that_are_computed() -> None:
    """An embedding of features by the place of the largest one: indices are no activation."""
    n, y = start()
    place = n.op("ArgMax", n.op("ReduceMean", y, axes=[1], keepdims=0), axis=1, keepdims=0)
    data = n.conv(y, CHANNELS, 4, 1)
    first = n.op("Slice", place, *(n.constant(np.int64([v])) for v in (0, 1, 0)))
    index = n.op("Squeeze", first, n.constant(np.int64([0])))
    road = drive(n.model(n.op("Gather", data, index, axis=2)), least_snr=10.0)
    assert road.precision()[next(name for name in road.precision() if "gather" in name)] == "int8"


@pytest.mark.slow
def test_elements_by_index(tmp_path: Path) -> None:
    """Indices of fewer rows than the data, some counted from the end; exported they are one operator of ONNX again."""
    n, y = start()
    first = n.constant(np.int64([0, -1, 5, 2] * CHANNELS * 9).reshape(1, CHANNELS, 9, 4))
    second = n.constant(np.int64([8, -9, 3]).reshape(1, 1, 3, 1))
    model = n.model(
        n.conv(n.op("GatherElements", y, first, axis=3), CHANNELS, 3, 1),
        n.conv(n.op("GatherElements", y, second, axis=2), 1, 3, 1),
    )
    road = drive(model, least_snr=25.0)
    assert {entry["precision"] for entry in road.ledger.layers.values()} == {"int8"}
    assert_equal_everywhere(road.quantized, feeds_of(model)[0])
    tvmq.to_onnx(road.quantized, tmp_path / "moved.onnx")
    operators = [node.op_type for node in onnx.load(tmp_path / "moved.onnx").graph.node]
    assert operators.count("GatherElements") == 2


def test_flip_and_stack_of_relax() -> None:
    body = "c = R.nn.conv2d(x, w, padding=1)\nf = R.flip(c, axis=3)\ns = R.stack((c, f), axis=1)\n"
    body += "r = R.reshape(s, R.shape([2, 2, 4, 4]))\ny = R.nn.max_pool2d(r)"
    mod = realized(block(ONE, body, '(2, 2, 4, 4), "float32"', w=WEIGHT))
    names = [op_name(value) for _, value in View(mod).bindings]
    assert names[-5:] == ["flip", "stack", "reshape", "nn.max_pool2d", "tvmq.dequantize"]


@pytest.mark.slow
def test_padding_with_a_number_that_has_no_code_before() -> None:
    """Beyond the range of the input: the result's range holds it. The other modes repeat codes."""
    n, y = start()
    relu = n.op("MaxPool", n.op("Relu", y), kernel_shape=[1, 1])
    pads = n.constant(np.int64([0, 0, 1, 2, 0, 0, 2, 1]))
    numbers = [n.op("Pad", relu, pads, n.constant(np.float32(value))) for value in (0.5, -3.0, 40.0, 0.0)]
    modes = [n.op("Pad", relu, pads, mode=mode) for mode in ("reflect", "edge")]
    road = integer_road(n, *(n.conv(p, CHANNELS, 3, 1) for p in (*numbers, *modes)), least_snr=15.0)
    assert [e["family"] for e in road.ledger.layers.values()].count("pad") == 3


@pytest.mark.slow
@pytest.mark.parametrize("key", ["split_2", "split_2_0", "split_2_1"])
def test_one_part_of_a_split_stays_float(key: str) -> None:
    """The codes of the whole are split; the part that a rule wants in float is dequantized."""
    net = Net((1, 8, 6, 6))
    one, other = net.ops("Split", net.op("Relu", net.conv("x", 8, 8)), outputs=2, axis=1)
    road = drive(net.model(net.op("Add", net.conv(one, 4, 4), net.op("Relu", other))), rules=[tvmq.Rule(key, None)])
    assert tvmq.explain(road.quantized).ledger.layers[key]["precision"] == "float"
