"""maximum, minimum, where, tensor_scatter; comparisons of two tensors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tvmq
from tests.passes.families.roads import CHANNELS, integer_road, start
from tests.support.models.networks import drive, feeds_of
from tvmq.errors import UnsupportedOpError
from tvmq.graph.ledger import get_ledger


@pytest.mark.slow
def test_maximum_and_minimum_share_one_scale() -> None:
    n, y = start()
    larger = n.op("Max", y, n.conv("x", 3, CHANNELS, 1))
    smaller = n.op("Min", n.conv("x", 3, CHANNELS), n.conv("x", 3, CHANNELS, 1))
    road = integer_road(n, n.conv(larger, CHANNELS, 4, 1), n.conv(smaller, CHANNELS, 4, 1))
    entries = [e for e in road.ledger.layers.values() if e["family"] == "select"]
    assert len(entries) == 2 and all(e["input"] == [e["output"]] * 2 for e in entries)
    assert "tvmq.table" not in road.operators()


@pytest.mark.slow
def test_a_side_that_others_read_may_keep_its_scale() -> None:
    n, y = start()
    z = n.op("MaxPool", n.conv(y, CHANNELS, CHANNELS), kernel_shape=[1, 1])
    integer_road(n, n.op("Max", y, n.op("Mul", z, n.op("Sigmoid", z))), n.conv(y, CHANNELS, 3, 1))


@pytest.mark.slow
def test_where_of_two_tensors_by_masks_of_every_kind() -> None:
    n, y = start()
    z = n.conv(y, CHANNELS, CHANNELS)
    masks = [
        n.constant(n.random.random((1, CHANNELS, 9, 8)) > 0.5),
        n.constant(n.random.random((9, 1)) > 0.5),
        n.op("Greater", y, n.constant(np.float32(0.3))),
        n.op("Less", z, y),
        n.op("GreaterOrEqual", n.op("GlobalAveragePool", y), z),
    ]
    road = integer_road(n, *(n.conv(n.op("Where", mask, y, z), CHANNELS, 3, 1) for mask in masks))
    assert road.operators().count("where") == len(masks)
    assert "tvmq.table" in road.operators()


@pytest.mark.slow
def test_constants_have_codes_of_their_own() -> None:
    """A constant outside of the tensor's range is in that of the result."""
    n, y = start()
    column = n.constant(np.linspace(-4, 4, 9, dtype=np.float32).reshape(9, 1))
    mask = n.constant(n.random.random((1, CHANNELS, 9, 8)) > 0.2)
    relu = n.op("MaxPool", y, kernel_shape=[1, 1])
    integer_road(
        n,
        n.conv(n.op("Max", relu, column), CHANNELS, 3, 1),
        n.conv(n.op("Min", column, relu), CHANNELS, 3, 1),
        n.conv(n.op("Where", mask, relu, n.constant(np.float32(7.5))), CHANNELS, 3, 1),
        n.op("Where", mask, n.constant(np.float32(0)), relu),
    )


@pytest.mark.slow
def test_a_cache_takes_codes_of_new_steps(tmp_path: Path) -> None:
    """A cache that is read, written from an index of each sample on, and attended to, without a float in between."""
    n, y = start((2, 3, 9, 8), opset=24)
    steps = n.op("MaxPool", n.conv(y, CHANNELS, CHANNELS, 1), kernel_shape=[8, 1])
    linear = n.op("TensorScatter", y, steps, n.constant(np.array([7, 0])))
    around = n.op("TensorScatter", linear, steps, n.constant(np.array([8, 3])), mode="circular")
    first = n.op("TensorScatter", around, steps)
    road = integer_road(n, n.conv(first, CHANNELS, 3, 1))
    assert road.operators().count("tvmq.tensor_scatter") == 3
    with pytest.raises(UnsupportedOpError, match="layer '/tensorscatter_.*': tvmq.tensor_scatter"):
        tvmq.to_onnx(road.quantized, tmp_path / "model.onnx")


@pytest.mark.slow
def test_comparisons_of_two_tensors_are_exact_on_codes() -> None:
    n, y = start()
    z = n.op("Relu", n.conv(y, CHANNELS, CHANNELS))
    kinds = ["Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"]
    model = n.model(*(n.op(kind, y, z) for kind in kinds), n.op("Not", n.op("Equal", z, y)))
    mod, params = tvmq.from_onnx(model)
    quantized = tvmq.quantize(mod, params, feeds_of(model), guard=None)
    entry = next(e for e in get_ledger(quantized).layers.values() if e["family"] == "compare")
    assert entry["output"] == "bool, straight from the codes"
    seen: dict[str, np.ndarray] = {}
    feed = feeds_of(model, 1)[0]
    expected = tvmq.reference.run(quantized, feed, watch=seen.__setitem__)
    a, b = (
        (seen[name].astype(np.float64) - side["zero_point"]) * side["scale"]
        for name, side in zip(entry["inputs"], entry["input"], strict=True)
    )
    operators = [np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal]
    for operator, found, compiled in zip(operators, expected, tvmq.build(quantized).run(feed), strict=True):
        np.testing.assert_array_equal(found, operator(a, b))
        np.testing.assert_array_equal(compiled, found)


@pytest.mark.slow
def test_a_stream_stays_float_behind_a_choice() -> None:
    """A mask for a softmax is applied in float."""
    n, y = start()
    mask = n.constant(n.random.random((1, CHANNELS, 9, 8)) > 0.2)
    model = n.model(n.op("Softmax", n.op("Where", mask, y, n.constant(np.float32(-1e9))), axis=-1))
    road = drive(model)
    assert [road.precision()[name] for name in ("/conv_0", "/where_1")] == ["int8", "float"]
