"""Calibration from a loop of the user."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.support.models.built_modules import build_module
from tests.support.models.networks import Net, feeds_of
from tvmq.errors import CalibrationError, DataError
from tvmq.options.config import QConfig


@pytest.fixture(scope="module")
def model() -> tuple:
    n = Net((2, 3, 8, 8))
    made = n.model(n.conv(n.op("Relu", n.conv("x", 3, 6)), 6, 4))
    return (*tvmq.from_onnx(made), feeds_of(made))


@pytest.mark.slow
@pytest.mark.parametrize("config", [QConfig(), QConfig(calibrate_mode="moving_average", momentum=0.9)])
def test_equal_to_run_calibration(model: tuple, config: QConfig) -> None:
    mod, params, data = model
    obs = tvmq.observe(mod, params, config=config)
    for feed in data:
        obs(feed)
    result, whole = obs.result(), tvmq.run_calibration(mod, params, data, config=config)
    assert result == whole
    assert result.data_hash == whole.data_hash and result.roundings.keys() == whole.roundings.keys()
    for name, rounding in whole.roundings.items():
        np.testing.assert_array_equal(rounding.codes, result.roundings[name].codes)
    quantized = [tvmq.quantize(mod, params, config=config, calibration=one) for one in (result, whole)]
    assert quantized[0].script() == quantized[1].script()


@pytest.mark.slow
def test_more_may_follow_a_result(model: tuple) -> None:
    mod, params, data = model
    obs = tvmq.observe(mod, params)
    obs(data[0]["x"])  # the one input as it is
    first = obs.result()
    obs(data[1])
    assert first == tvmq.run_calibration(mod, params, data[:1])
    assert obs.result() == tvmq.run_calibration(mod, params, data[:2])


@pytest.mark.slow
def test_the_loop_may_use_its_buffer_again(model: tuple) -> None:
    mod, params, data = model
    obs, buffer = tvmq.observe(mod, params), np.zeros_like(data[0]["x"])
    for feed in data[:2]:
        buffer[:] = feed["x"]
        obs(buffer)
    assert obs.result() == tvmq.run_calibration(mod, params, data[:2])


@pytest.mark.slow
def test_inputs_in_order() -> None:
    from tvm import relax

    eye = relax.const(np.eye(4, dtype=np.float32))
    mod = build_module({"a": (2, 4), "b": (2, 4)}, lambda _, a, b: relax.op.matmul(relax.op.add(a, b), eye))
    random = np.random.default_rng(2)
    pairs = [tuple(random.standard_normal((2, 2, 4)).astype(np.float32)) for _ in range(3)]
    obs = tvmq.observe(mod)
    for left, right in pairs:
        obs(left, right)
    assert obs.result() == tvmq.run_calibration(mod, None, pairs)


@pytest.mark.slow
def test_options_are_those_around_observe(model: tuple) -> None:
    mod, params, data = model
    with tvmq.qconfig(calibrate_mode="minmax"):
        obs = tvmq.observe(mod, params)
    obs(data[0])
    assert {tensor.observer for tensor in obs.result().tensors.values()} == {"minmax"}


@pytest.mark.slow
def test_bad_batches_are_refused_at_once(model: tuple) -> None:
    mod, params, data = model
    obs = tvmq.observe(mod, params)
    obs(data[0])
    with pytest.raises(DataError, match=r"batch 1: input 'x' has shape \(2, 2\), the model takes batchx3x8x8"):
        obs(np.zeros((2, 2), np.float32))
    assert obs.result() == tvmq.run_calibration(mod, params, data[:1])


def test_no_data(model: tuple) -> None:
    with pytest.raises(CalibrationError, match="observe: no data yet; feed it at least one batch"):
        tvmq.observe(*model[:2]).result()
