"""Running averages in the order of the data: NumPy's numbers and torch's."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.networks import Net
from tvmq.calibration.observers import make_observer
from tvmq.calibration.observers.base import TensorStatistics
from tvmq.calibration.observers.range_statistics import RunningRange
from tvmq.errors import CalibrationError, ConfigError
from tvmq.numerics.spec import QuantSpec
from tvmq.options.config import QConfig

MOMENTA = (0.99, 0.9, 0.3, 0.123456789)


def batches(count: int = 40, size: int = 5) -> list[np.ndarray]:
    random = np.random.default_rng(8)
    return [(random.standard_normal((size, 7)) * random.uniform(0.1, 30)).astype(np.float32) for _ in range(count)]


def looped(data: list[np.ndarray], momentum: float) -> tuple[np.float32, np.float32]:
    """The definition, one value at a time."""
    low, high = data[0].min(), data[0].max()
    for batch in data[1:]:
        low = np.float32(low + np.float32(np.float32(1 - momentum) * np.float32(batch.min() - low)))
        high = np.float32(high + np.float32(np.float32(1 - momentum) * np.float32(batch.max() - high)))
    return low, high


@pytest.mark.parametrize("momentum", MOMENTA)
def test_equal_to_a_loop(momentum: float) -> None:
    running = RunningRange(momentum)
    for batch in batches():
        running.update(batch)
    assert (running.low, running.high) == looped(batches(), momentum)


@pytest.mark.parametrize("momentum", MOMENTA)
def test_equal_to_torch(momentum: float) -> None:
    torch = pytest.importorskip("torch")
    from torch.ao.quantization import MovingAverageMinMaxObserver

    theirs, ours = MovingAverageMinMaxObserver(averaging_constant=1 - momentum), RunningRange(momentum)
    for batch in batches():
        theirs(torch.from_numpy(batch))
        ours.update(batch)
        assert (ours.low, ours.high) == (theirs.min_val.item(), theirs.max_val.item())


def model(size: int) -> onnx.ModelProto:
    n = Net((size, 7))
    return n.model(
        n.op("MatMul", n.op("Relu", n.op("MatMul", "x", n.constant(n.weight(7, 8)))), n.constant(n.weight(8, 2)))
    )


@pytest.mark.slow
@pytest.mark.parametrize("size", [5, 1])
def test_a_calibration_has_these_numbers(size: int) -> None:
    """A model of 5 samples moves once a batch, a model of one sample once a sample."""
    mod, params = tvmq.from_onnx(model(size))
    data = [{"x": batch} for batch in batches(8)]
    config = QConfig(calibrate_mode="moving_average", momentum=0.9)
    result = tvmq.run_calibration(mod, params, data, config=config)
    steps = [batch[i : i + size] for batch in batches(8) for i in range(0, 5, size)]
    assert (result["x"].low, result["x"].high) == looped(steps, 0.9)
    turned = tvmq.run_calibration(mod, params, data[::-1], config=config)
    assert turned.ranges() != result.ranges()
    assert tvmq.verify(tvmq.build(tvmq.quantize(mod, params, calibration=result)), [{"x": batches()[0][:size]}]).exact


@pytest.mark.slow
def test_without_a_momentum_the_order_does_not_matter() -> None:
    mod, params = tvmq.from_onnx(model(5))
    data, config = [{"x": batch} for batch in batches(8)], QConfig(calibrate_mode="moving_average")
    ranges = [tvmq.run_calibration(mod, params, order, config=config).ranges() for order in (data, data[::-1])]
    assert ranges[0] == ranges[1]


def test_what_depends_on_the_order_is_not_merged() -> None:
    parts = [TensorStatistics("x", momentum=0.9), TensorStatistics("x")]
    for first, second in (parts, parts[::-1]):
        with pytest.raises(CalibrationError, match="tensor 'x': running averages depend on the order"):
            first.merge(second)


def test_statistics_without_running_averages_are_refused() -> None:
    statistics = TensorStatistics("x")
    statistics.update(np.float32([[1.0]]))
    with pytest.raises(CalibrationError, match=r"tensor 'x': this observer needs running averages .*momentum"):
        make_observer("moving_average", momentum=0.9).thresholds(statistics, QuantSpec())


def test_no_values() -> None:
    running = RunningRange(0.9)
    running.update(np.zeros((0, 3), np.float32))
    with pytest.raises(CalibrationError, match="saw no values"):
        _ = running.low


@pytest.mark.parametrize("momentum", [0, 1, -0.5, 1.5, float("nan"), True, "0.9"])
def test_impossible_momenta(momentum: object) -> None:
    with pytest.raises(ConfigError, match="'momentum' must be a number between 0 and 1, or None"):
        QConfig(momentum=momentum)


def test_an_observer_checks_its_momentum() -> None:
    with pytest.raises(ConfigError, match="momentum must be above 0 and below 1. Got 1 instead"):
        make_observer("moving_average", momentum=1)
