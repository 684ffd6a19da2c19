"""Constants that vary over a tensor: batch norm behind no convolution, positions, quotients; prelu."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.families.roads import CHANNELS, integer_road, start
from tests.passes.stages import calibrated
from tests.support.models.networks import block, drive
from tvmq.errors import StageError
from tvmq.graph.ledger import Ledger, get_ledger, with_ledger
from tvmq.passes.realize import realize


def column(net, low: float = 0.3, high: float = 3.0) -> str:
    """One number for each channel."""
    return net.constant(np.linspace(low, high, CHANNELS, dtype=np.float32).reshape(CHANNELS, 1, 1))


@pytest.mark.slow
def test_each_operator_of_a_tensor_and_constants() -> None:
    n, y = start()
    y = n.op("Add", y, n.conv("x", 3, CHANNELS, 1))  # no convolution that could absorb the constants
    picture = n.constant(n.weight(1, CHANNELS, 9, 8))
    row = n.constant(n.weight(1, 8))
    kinds = [
        n.op("Mul", y, column(n, -1.0)),
        n.op("Add", y, column(n)),
        n.op("Sub", y, column(n)),
        n.op("Sub", column(n), y),
        n.op("Div", y, column(n)),
        n.op("Add", y, picture),
        n.op("Mul", picture, y),
        n.op("Add", row, y),
        n.op("Relu", n.op("Add", n.op("Mul", y, row), picture)),
    ]
    road = integer_road(n, *(n.conv(kind, CHANNELS, 3, 1) for kind in kinds))
    assert road.operators().count("tvmq.scale_shift") == len(kinds)
    assert "permute_dims" not in road.operators() and "nn.relu" not in road.operators()


@pytest.mark.slow
def test_a_batch_norm_behind_a_concat_is_one_operator() -> None:
    n, y = start()
    joined = n.op("Concat", y, n.conv(y, CHANNELS, 3), axis=1)
    y = n.conv(n.op("Relu", n.batch_norm(joined, 9)), 9, 4)
    road = integer_road(n, y)
    names = road.operators()
    assert names.count("tvmq.scale_shift") == 1 and names[names.index("tvmq.scale_shift") + 1] == "nn.pad"


@pytest.mark.slow
def test_a_result_that_grows() -> None:
    """Positions that are added to one row for all."""
    n, y = start()
    pooled = n.op("ReduceMean", y, axes=[2], keepdims=1)
    positions = n.constant(n.weight(1, CHANNELS, 5, 8))
    integer_road(n, n.conv(n.op("Add", pooled, positions), CHANNELS, 3, 1))


@pytest.mark.slow
def test_prelu() -> None:
    n, y = start()
    slopes = n.constant(np.linspace(-0.2, 1.6, CHANNELS, dtype=np.float32).reshape(CHANNELS, 1, 1))
    one = n.constant(np.float32([0.3]))
    road = integer_road(
        n,
        n.conv(n.op("PRelu", y, slopes), CHANNELS, 3, 1),
        n.conv(n.op("PRelu", y, one), CHANNELS, 3, 1),
        n.op(
            "PRelu",
            n.dense(n.op("Flatten", n.op("GlobalAveragePool", y)), CHANNELS, 5),
            n.constant(np.float32([0.1, 0.2, 0, 1, 2])),
        ),
    )
    names = road.operators()
    assert (names.count("tvmq.prelu"), names.count("tvmq.table")) == (2, 1)


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("mode", ["fixed_point", "power_of_two"])
def test_modes(mode: str) -> None:
    n, y = start()
    y = n.op("MaxPool", y, kernel_shape=[1, 1])
    model = n.model(n.conv(n.op("PRelu", n.op("Mul", y, column(n)), column(n, 0.1, 0.5)), CHANNELS, 3, 1))
    drive(model, requantize=mode, least_snr=20.0)


SIGNATURE = (
    'x: R.Tensor((1, 2, 4, 4), "float32"), w: R.Tensor((2, 2, 3, 3), "float32"), '
    'b: R.Tensor((1, 2, 4, 4), "float32"), s: R.Tensor((2,), "float32")'
)
ARRAYS = {"w": np.ones((2, 2, 3, 3), np.float32), "b": np.ones((1, 2, 4, 4), np.float32), "s": np.ones(2, np.float32)}


@pytest.mark.parametrize("body", ["y = R.multiply({}, b)", "y = R.nn.prelu({}, s, axis=1)"])
def test_without_a_scale_it_is_refused(body: str) -> None:
    """The ledger says integer, the module was not annotated there."""
    mod = block(SIGNATURE, "c = R.nn.conv2d(x, w, padding=1)\n" + body.format("c"), **ARRAYS)
    ledger: Ledger = get_ledger(calibrated(mod))
    known = "R.const(0.1, 'float32'), R.const(3, 'int32')"
    start = (
        f"x_sq = R.tvmq.simulated_quantize(x, {known}, kind='input', tensor='x')\n"
        "v = R.tvmq.simulated_quantize(w, R.const(0.1, 'float32'), R.const(0, 'int32'), kind='weight', "
        "tensor='c_weight', dtype='int8', symmetric=True)\nc = R.nn.conv2d(x_sq, v, padding=1)\n"
        f"c_sq = R.tvmq.simulated_quantize(c, {known}, kind='activation', tensor='c')\n"
    )
    with pytest.raises(StageError, match="'y': its result carries no scale"):
        realize(with_ledger(block(SIGNATURE, start + body.format("c_sq"), **ARRAYS), ledger))
