"""Statistics of calibration data: what is watched, what is counted, what is refused; and looking inside a module."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

import tvmq
from tests.passes.stages import annotated
from tests.support.models.networks import block, parse, text_of
from tvmq.errors import CalibrationError
from tvmq.graph.view import View, is_const, op_name
from tvmq.numerics.spec import QuantSpec
from tvmq.passes.calibrate import calibrate
from tvmq.passes.calibrate.collect import collect, samples_of, watched_tensors
from tvmq.passes.calibrate.observed_model import Run, drop_uncalibrated, return_intermediates

X = 'x: R.Tensor((2, 3, 4, 4), "float32")'
W = 'w: R.Tensor((5, 3, 1, 1), "float32")'
WEIGHT = np.random.default_rng(0).standard_normal((5, 3, 1, 1)).astype(np.float32)
NETWORK = annotated(
    block(
        f'{X}, {W}, v: R.Tensor((2, 5, 1, 1), "float32")',
        "c = R.nn.conv2d(x, w)\nr = R.nn.relu(c)\nd = R.nn.conv2d(r, v)",
        '(2, 2, 4, 4), "float32"',
        w=WEIGHT,
        v=np.ones((2, 5, 1, 1), np.float32),
    )
)
BATCHES = [
    ({"x": np.random.default_rng(seed).standard_normal((2, 3, 4, 4)).astype(np.float32)}, 2) for seed in range(3)
]


def run_of(mod: tvm.IRModule) -> Run:
    return tvmq.build(mod).run


def test_watched_tensors_in_order() -> None:
    found = watched_tensors(View(NETWORK))
    assert [(w.name, w.source, w.tensor) for w in found] == [("x_sq", "x", "x"), ("r_sq", "r", "r")]
    assert {w.spec for w in found} == {QuantSpec()}


@pytest.mark.slow
def test_ranges_are_those_of_all_real_samples() -> None:
    """A repeated sample at the end does not count."""
    batches = [*BATCHES[:2], ({"x": np.concatenate([BATCHES[2][0]["x"][:1], 100 * BATCHES[2][0]["x"][1:]])}, 1)]
    advanced: list[int] = []
    found = collect(NETWORK, batches, run_of, advance=advanced.append)
    x = np.concatenate([feed["x"][:count] for feed, count in batches])
    r = np.maximum(np.einsum("nchw,fc->nfhw", x.astype(np.float64), WEIGHT[:, :, 0, 0].astype(np.float64)), 0)
    assert advanced == [2, 2, 1] and list(found) == ["x", "r"]
    assert (found["x"].ranges.low, found["x"].ranges.high) == (x.min(), x.max())
    np.testing.assert_allclose(found["r"].ranges.high, r.max(), rtol=1e-6)
    np.testing.assert_allclose(found["x"].ranges.channel_means, x.astype(np.float64).mean((0, 2, 3)), atol=1e-8)
    np.testing.assert_allclose(found["r"].ranges.channel_means, r.mean((0, 2, 3)), rtol=1e-6)
    assert found["x"].ranges.samples == 5


@pytest.mark.slow
def test_batches_may_be_cut_anywhere() -> None:
    """Equal statistics to the bit, whatever the batch size of the module that runs."""
    one = block(NETWORK_TEXT.format(1), BODY, '(1, 5, 4, 4), "float32"', w=WEIGHT)
    two = block(NETWORK_TEXT.format(2), BODY, '(2, 5, 4, 4), "float32"', w=WEIGHT)
    single = [({"x": feed["x"][i : i + 1]}, 1) for feed, _ in BATCHES for i in range(2)]
    a = collect(annotated(one), single, run_of)["x"]
    b = collect(annotated(two), BATCHES, run_of)["x"]
    assert (a.ranges.low, a.ranges.high) == (b.ranges.low, b.ranges.high)
    np.testing.assert_array_equal(a.ranges.channel_means, b.ranges.channel_means)
    np.testing.assert_array_equal(a.histogram.counts, b.histogram.counts)


NETWORK_TEXT = f'x: R.Tensor(({{}}, 3, 4, 4), "float32"), {W}'
BODY = "c = R.nn.conv2d(x, w)"


def test_no_batches_are_refused() -> None:
    message = "calibrate: 2 tensors need thresholds, first 'x'; the calibration data gave 0 batches. Give a data set"
    with pytest.raises(CalibrationError, match=message):
        collect(NETWORK, [], run_of)


def test_a_module_without_watched_tensors_needs_no_data() -> None:
    assert collect(block(X, "y = R.abs(x)"), [], run_of) == {}


def test_results_without_batch_axis_count_as_one_sample() -> None:
    assert samples_of(np.zeros((4, 3)), 4, 2).shape == (2, 3)
    assert samples_of(np.zeros((5, 3)), 4, 2).shape == (1, 5, 3)
    assert samples_of(np.float32(3), 4, 2).shape == (1,)


def test_taps_return_what_is_inside() -> None:
    mod = parse(text_of(
     'x: R.Tensor((2, 3), "float32")',
     "a = R.abs(x)\nb = R.negative(a)\nc = R.exp(b)",
     result=' -> R.Tensor((2, 3), "float32")',
 ))
    tapped = return_intermediates(mod, ["b", "x", "b"])
    assert [var.name for var, _ in View(tapped).bindings] == ["a", "b"]
    x = np.float32([[1, -2, 3], [4, 5, -6]])
    b, same, again = tvmq.reference.run(tapped, {"x": x})
    np.testing.assert_array_equal(b, -np.abs(x))
    np.testing.assert_array_equal(b, again)
    np.testing.assert_array_equal(same, x)


def test_idle_operators_disappear_and_calibrated_ones_stay() -> None:
    tapped = drop_uncalibrated(return_intermediates(NETWORK, ["r"]))
    ops = [op_name(value) for _, value in View(tapped).bindings]
    assert ops == ["nn.conv2d", "nn.relu"] and is_const(View(tapped).bindings[0][1].args[1])
    calibrated = calibrate(NETWORK, {"x": (-1.0, 1.0), "r": (0.0, 1.0)})
    assert drop_uncalibrated(calibrated).script() == calibrated.script()
