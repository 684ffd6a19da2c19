"""Rounding by calibration data: exact moments of the integer module, codes that it keeps, and what it is good for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import onnx
import pytest
import tvm

import tvmq
from tests.models import Net, assert_healthy, assert_same, at_stage, run_onnx, snr
from tests.passes.stages import calibrated
from tvmq import numerics
from tvmq.compile.evaluators import looking
from tvmq.compile.window_sums import WindowSums, sum_windows
from tvmq.errors import StageError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, const_value, is_const, op_name
from tvmq.passes.calibrate import second_moments as moments_file
from tvmq.passes.calibrate.observed_model import return_intermediates
from tvmq.passes.calibrate.second_moments import second_moments
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.prepare import prepare
from tvmq.passes.realize import realize
from tvmq.passes.round_weights import choose_rounding, round_weights
from tvmq.reference import Reference

FEEDS = [{"x": np.random.default_rng(i).uniform(-1, 2, (1, 4, 7, 6)).astype(np.float32)} for i in range(5)]


def mixed() -> onnx.ModelProto:
    """Plain, depthwise and grouped convolutions, one without a bias, and a product behind a pool."""
    n = Net((1, 4, 7, 6), seed=5)
    y = n.op("Relu", n.conv("x", 4, 8, strides=[2, 1], pads=[1, 0, 1, 1]))
    y = n.conv(y, 8, 8, groups=8, bias=False)
    y = n.op("MaxPool", n.op("Relu", n.conv(y, 8, 6, 1, groups=2)), kernel_shape=[2, 2], strides=[2, 2])
    return n.model(n.dense(n.op("Flatten", y), 24, 5))


@pytest.fixture(scope="module")
def mod() -> tvm.IRModule:
    """The network, calibrated by hand."""
    return calibrated(prepare(*tvmq.from_onnx(mixed())))


def batches(feeds: list = FEEDS) -> Iterator[tuple[dict, int]]:
    return ((feed, 1) for feed in feeds)


def evaluator(given: tvm.IRModule):
    return Reference(given).run


def weights_of(integer: tvm.IRModule) -> dict[str, np.ndarray]:
    """{variable: weight} of the convolutions and products of an integer module."""
    return {
        var.name: const_value(value.args[1])
        for var, value in View(integer).bindings
        if op_name(value) in ("nn.conv2d", "matmul") and is_const(value.args[1])
    }


def test_moments_are_those_of_the_sums(mod: tvm.IRModule) -> None:
    """For each layer: weight x mean of what it reads = mean of its integer sums, counted on the integer module."""
    moments = second_moments(mod, batches, evaluator, len(FEEDS))
    integer = fold_constants(realize(mod))
    weights = weights_of(integer)
    assert set(moments) == set(weights) and len(weights) == 4
    run = Reference(return_intermediates(integer, list(weights))).run
    results = [run(feed) for feed in FEEDS]
    zeros = {name: zero_of(integer, name) for name in weights}
    for position, (name, weight) in enumerate(weights.items()):
        product = weight.ndim == 2
        flat = (weight.T if product else weight).astype(np.int64)
        flat = flat.reshape(*moments[name].totals()[0].shape[:1], -1, moments[name].totals()[0].shape[1])
        sums = np.concatenate(
            [np.moveaxis(one[position].reshape(1, len(flat) * flat.shape[1], -1), 1, 2) for one in results], 1
        )
        read = np.einsum("gfk,gk->gf", flat, moments[name].totals()[0]).reshape(-1)
        exact = sums.reshape(-1, sums.shape[-1]).sum(axis=0, dtype=np.int64)
        exact -= moments[name].rows * zeros[name] * flat.reshape(len(exact), -1).sum(axis=1)
        np.testing.assert_array_equal(read, exact)


def zero_of(integer: tvm.IRModule, name: str) -> int:
    """Zero point of what an integer layer reads; realized sums are of plain codes, zero points go into the bias."""
    value = View(integer).value[name].args[0].name
    scales = get_ledger(integer).codes
    return scales[value if value in scales else View(integer).value[value].args[0].name][1]


def test_sums_do_not_depend_on_turns_and_batches(mod: tvm.IRModule, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = second_moments(mod, batches, evaluator, len(FEEDS))
    reads = []
    monkeypatch.setattr(moments_file, "MOST_BYTES", 3000)
    several = second_moments(mod, lambda: reads.append(1) or batches(FEEDS[::-1]), evaluator, len(FEEDS))
    assert len(reads) > 1
    for root, one in whole.items():
        assert one.rows == several[root].rows and len(one.totals()) == len(several[root].totals())
        assert [part.tolist() for part in one.totals()] == [part.tolist() for part in several[root].totals()]


def test_compiled_sums_are_those_of_numpy() -> None:
    """Of depthwise convolutions of more channels than a vector has; codes that are looked at, and several batches."""
    n = Net((1, 4, 7, 6), seed=5)
    y = n.op("Relu", n.conv("x", 4, 24))
    y = n.op("HardSwish", n.conv(y, 24, 24, groups=24, strides=[2, 1], pads=[1, 0, 1, 1]))
    y = n.conv(n.conv(y, 24, 48, 3, groups=24, pads=[1, 1, 1, 1]), 48, 3, 1)
    mod = calibrated(prepare(*tvmq.from_onnx(n.model(y))))
    asked = []

    def summing(channels: int, taps: int, dtype: str) -> WindowSums | None:
        asked.append((channels, taps))
        return sum_windows(channels, taps, dtype)

    plain = second_moments(mod, batches, evaluator, len(FEEDS))
    found = second_moments(mod, batches, looking, len(FEEDS), summing)
    assert sorted(asked) == [(24, 9), (24, 9)] and len(found) == 4
    for root, one in plain.items():
        assert one.rows == found[root].rows
        for part, other in zip(one.totals(), found[root].totals(), strict=True):
            assert np.array_equal(part, other), root


@pytest.mark.parametrize("bias", [True, False])
def test_the_integer_module_has_the_chosen_codes(mod: tvm.IRModule, bias: bool) -> None:
    roundings = choose_rounding(mod, second_moments(mod, batches, evaluator, len(FEEDS)), bias=bias)
    text = mod.script(show_meta=True)
    after = round_weights(mod, roundings)
    assert mod.script(show_meta=True) == text
    assert_healthy(after)
    weights = weights_of(fold_constants(realize(after)))
    nearest = weights_of(fold_constants(realize(mod)))
    for root, before in nearest.items():
        name = root if root in weights else f"{root}_sum"
        np.testing.assert_array_equal(weights[name], roundings[root].codes)
        assert 0 < (weights[name] != before).mean() < 0.7 and np.abs(weights[name] - before.astype(int)).max() < 6
    entries = [entry for entry in get_ledger(after).layers.values() if entry.get("weight_rounding")]
    assert len(entries) == 4 and all(entry["weight_rounding"] == "calibrated" for entry in entries)
    assert all((one.shift is not None) == bias for one in roundings.values())


def test_biases_take_the_mean_error_exactly(mod: tvm.IRModule) -> None:
    """Of the float layer on what the integer layer reads: the mean of its sums moves by nothing."""
    moments = second_moments(mod, batches, evaluator, len(FEEDS))
    roundings = choose_rounding(mod, moments)
    view = View(mod)
    for root, one in roundings.items():
        simulated = view.producer(view.value[root].args[1])
        weight = const_value(simulated.args[0]).astype(np.float64)
        axis = simulated.attrs.axis
        meant = numerics.dequantize(
            one.codes, const_value(simulated.args[1]), const_value(simulated.args[2]), axis=axis
        )
        error = weight - meant
        error = (error.T if weight.ndim == 2 else error).reshape(
            len(moments[root].totals()[0]), -1, moments[root].totals()[0].shape[1]
        )
        means = moments[root].totals()[0] / moments[root].rows * moments[root].scale
        np.testing.assert_allclose(one.shift, np.einsum("gfk,gk->gf", error, means).reshape(-1), rtol=1e-5, atol=1e-7)


@pytest.mark.slow
def test_results_come_nearer_to_float() -> None:
    """With coarse weights, on data that were not calibrated on; smooth inputs, as pictures are."""
    net = Net((1, 3, 16, 16), seed=11)
    y = net.op("Relu", net.conv("x", 3, 16))
    y = net.op("Relu", net.conv(y, 16, 16))
    model = net.model(net.conv(y, 16, 4))
    mod, params = tvmq.from_onnx(model)
    random = np.random.default_rng(0)
    feeds = [{"x": np.cumsum(random.normal(0, 0.5, (1, 3, 16, 16)), 3).astype(np.float32)} for _ in range(24)]
    found = {}
    for way in ("nearest", "calibrated"):
        with tvmq.qconfig(nbit_weight=4, weight_rounding=way):
            executable = tvmq.build(tvmq.quantize(mod, params, feeds[:16]))
        outputs = [(run_onnx(model, feed)[0], executable.run(feed)[0]) for feed in feeds[16:]]
        found[way] = snr(*map(np.concatenate, zip(*outputs, strict=True)))
    assert found["calibrated"] > found["nearest"] + 3, found


def test_nearest_leaves_weights_alone() -> None:
    mod, params = tvmq.from_onnx(mixed())
    with tvmq.qconfig(weight_rounding="nearest"):
        result = tvmq.run_calibration(mod, params, FEEDS)
        integer = tvmq.quantize(mod, params, FEEDS)
    assert result.roundings == {}
    assert not any("weight_rounding" in entry for entry in get_ledger(integer).layers.values())


def test_wide_weights_and_layers_in_float_are_left_alone() -> None:
    mod, params = tvmq.from_onnx(mixed())
    with tvmq.qconfig(nbit_weight=16, dtype_weight="int16", nbit_input=8):
        assert tvmq.run_calibration(mod, params, FEEDS).roundings == {}
    with tvmq.qconfig(rules=[tvmq.Rule("*conv_*", None)]):
        assert [one.codes.shape for one in tvmq.run_calibration(mod, params, FEEDS).roundings.values()] == [(24, 5)]


PROGRAM = """
import sys, tvm, tvmq
from tests.passes.test_round_weights import FEEDS, mixed
module = tvmq.quantize(*tvmq.from_onnx(mixed()), FEEDS)
sys.stdout.write(tvm.ir.save_json(module))
"""


@pytest.mark.slow
def test_the_same_module_for_every_number_of_threads() -> None:
    """Byte for byte, weights included."""
    found = []
    for count in ("1", "3"):
        variables = dict.fromkeys(("TVM_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), count)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env={**os.environ, **variables}, capture_output=True, text=True, check=True
        )
        found.append(done.stdout)
    assert len(found[0]) > 1000 and found[0] == found[1]


def test_other_stages_are_refused(mod: tvm.IRModule) -> None:
    with pytest.raises(StageError, match="round_weights: the module is 'prepared', this pass needs 'calibrated'"):
        round_weights(at_stage(mod, "prepared"), {})
    assert_same(round_weights(mod, {}), mod)
