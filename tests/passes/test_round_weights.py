"""Rounding by calibration data: exact moments of the integer module, codes that it keeps, and what it is good for."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
import tvm

import tvmq
from tests.passes.stages import calibrated
from tests.support.models.networks import Net, assert_healthy, assert_same, feeds_of, run_onnx, snr
from tests.support.models.shared_models import SPELLINGS, albert
from tvmq import numerics
from tvmq.codegen.compile.evaluators import Runner
from tvmq.codegen.compile.window_sums import WindowSums, sum_windows
from tvmq.codegen.target.cpu import resolve_target
from tvmq.graph.ledger import get_ledger
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import View, const_value, is_const, op_name
from tvmq.passes.calibrate import second_moments as moments_file
from tvmq.passes.calibrate.observed_model import return_intermediates
from tvmq.passes.calibrate.second_moments import second_moments
from tvmq.passes.families.shared_weights import layers_by_weight
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.prepare import prepare
from tvmq.passes.realize import realize
from tvmq.passes.round_weights import choose_rounding, round_weights
from tvmq.reference import Reference
from tvmq.runtime.artifact.code_bytes import CONSTANTS
from tvmq.runtime.artifact.weightless import byte_size

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_compiled_sums_are_those_of_numpy() -> None:
    """Sums of depthwise convolutions with more channels than a vector; views of codes, and several batches."""
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
    found = second_moments(mod, batches, lambda module: Runner(module).run_without_copies, len(FEEDS), summing)
    assert sorted(asked) == [(24, 9), (24, 9)] and len(found) == 4
    for root, one in plain.items():
        assert one.rows == found[root].rows
        for part, other in zip(one.totals(), found[root].totals(), strict=True):
            assert np.array_equal(part, other), root


@pytest.mark.slow
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
    """The mean of the integer layer's sums is that of the float layer on the same input."""
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
            executable = tvmq.build(tvmq.quantize(mod, params, feeds[:16], guard=None))
        outputs = [(run_onnx(model, feed)[0], executable.run(feed)[0]) for feed in feeds[16:]]
        found[way] = snr(*map(np.concatenate, zip(*outputs, strict=True)))
    assert found["calibrated"] > found["nearest"] + 3, found


@pytest.mark.slow
@pytest.mark.parametrize("options, shapes", [
    ({"weight_rounding": "nearest"}, []),
    ({"nbit_weight": 16, "dtype_weight": "int16", "nbit_input": 8}, []),
    ({"rules": [tvmq.Rule("*conv_*", None)]}, [(24, 5)]),
])  # fmt: skip
def test_what_is_left_alone(options: dict[str, object], shapes: list[tuple[int, ...]]) -> None:
    """By option; wide weights; layers in float."""
    with tvmq.qconfig(**options):
        result = tvmq.run_calibration(*tvmq.from_onnx(mixed()), FEEDS)
    assert [one.codes.shape for one in result.roundings.values()] == shapes


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


def test_without_roundings_nothing_changes(mod: tvm.IRModule) -> None:
    assert_same(round_weights(mod, {}), mod)


@pytest.fixture(scope="module")
def shared() -> tvm.IRModule:
    """Two convolutions and two products of one weight each, at other places of the network and in other steps."""
    n = Net((1, 4, 7, 6), seed=5)
    kernel, dense = n.weight(4, 4, 3, 3), n.weight(36, 36)
    y = n.op("Relu", n.conv("x", 4, 4, weight=kernel, strides=[2, 2], pads=[1, 1, 1, 1]))
    y = n.op("Relu", n.conv(y, 4, 4, weight=kernel, pads=[1, 1, 1, 1], bias=False))
    y = n.op("Reshape", n.op("MaxPool", y, kernel_shape=[2, 1]), n.constant([1, 36]))
    y = n.op("Relu", n.op("MatMul", y, n.constant(dense)))
    y = n.op("MatMul", y, n.op("Transpose", n.constant(dense.T.copy()), perm=[1, 0]))
    return calibrated(prepare(*tvmq.from_onnx(n.model(y))))


@pytest.mark.slow
@pytest.mark.parametrize("bias", [True, False])
def test_a_weight_of_several_layers_is_rounded_once_by_all_that_they_read(
    shared: tvm.IRModule, bias: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(moments_file, "layers_by_weight", lambda _, roots: [[root] for root in roots])
        moments = second_moments(shared, batches, evaluator, len(FEEDS))
    roots = list(moments)
    assert layers_by_weight(View(shared), roots) == [roots[:2], roots[2:]]
    joint = second_moments(shared, batches, evaluator, len(FEEDS))
    roundings = choose_rounding(shared, joint, bias=bias)
    assert roundings == choose_rounding(shared, moments, bias=bias)
    assert all(len(one.totals()) == 1 and one.joint is joint[root].joint for root, one in joint.items())
    assert joint[roots[0]].joint is joint[roots[1]].joint is not joint[roots[2]].joint
    alone = {root: choose_rounding(shared, {root: moments[root]}, bias=bias)[root] for root in roots}
    assert any((alone[a].codes != alone[b].codes).any() for a, b in (roots[:2], roots[2:]))
    for pair in (roots[:2], roots[2:]):
        one, two = (roundings[root] for root in pair)
        np.testing.assert_array_equal(one.codes, two.codes)
        assert not bias or (one.shift != two.shift).any()
        # the sum of both errors is what was made small
        errors = {
            name: sum(squared_error(shared, moments, root, found[root].codes, centred=bias) for root in pair)
            for name, found in (("joint", roundings), ("first", dict.fromkeys(pair, alone[pair[0]])),
                                ("second", dict.fromkeys(pair, alone[pair[1]])))
        }  # fmt: skip
        assert errors["joint"] <= 1.05 * min(errors["first"], errors["second"])
    after = round_weights(shared, roundings)
    view = View(after)
    weights = [
        value.args[0] for _, value in view.bindings
        if op_name(value) == "tvmq.simulated_quantize" and value.attrs.kind == "weight"
    ]  # fmt: skip
    assert len(weights) == 4 and len(set(weights)) == 2
    assert choose_rounding(shared, dict(reversed(moments.items())), bias=bias).keys() == roundings.keys()


def squared_error(mod: tvm.IRModule, moments: dict, root: str, codes: np.ndarray, *, centred: bool) -> float:
    """Squared error that rounding adds to the results of a layer, over all of its rows."""
    simulated = View(mod).value[View(mod).value[root].args[1].name]
    scale = const_value(simulated.args[1]).astype(np.float64)
    weight = const_value(simulated.args[0])
    scale = scale.reshape(-1, *[1] * (weight.ndim - 1)) if simulated.attrs.axis == 0 else scale
    error = weight.astype(np.float64) - codes * scale
    error = (error.T if weight.ndim == 2 else error).reshape(error.shape[-1] if weight.ndim == 2 else len(error), -1)
    (matrix,) = moments[root].matrices(centred=centred)
    rows = moments[root].rows * moments[root].scale ** 2
    return float(np.einsum("fi,ij,fj->", error, matrix[0], error)) * rows


@pytest.mark.slow
def test_other_scales_and_other_forms_are_other_weights(shared: tvm.IRModule) -> None:
    """Equal bytes are not enough: what the codes mean must be the same."""
    view = View(shared)
    roots = list(second_moments(shared, batches, evaluator, len(FEEDS)))

    def visit(_rewriter: Rewriter, var: tvm.relax.Var, value: tvm.relax.Expr) -> tvm.relax.Expr | None:
        if var.name != view.value[roots[1]].args[1].name:
            return None
        scale = tvm.relax.const(const_value(value.args[1]) * np.float32(2))
        return tvm.relax.Call(value.op, [value.args[0], scale, value.args[2]], value.attrs, value.ty_args, value.span)

    assert layers_by_weight(View(rewrite(shared, visit)), roots) == [roots[:1], roots[1:2], roots[2:]]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.slow
def test_a_transformer_of_shared_weights_is_smaller_than_its_float_model(spelling: str, tmp_path: Path) -> None:
    """A shared weight is stored once: in the integer module, in the file, and in memory when it is loaded."""
    weights_bytes = 4 * 64 * 64 + 2 * 64 * 128
    # AVX2 alone keeps weights that its 16-bit lanes cannot sum as int16, and such a form is stored beside the codes
    wide = 0 if resolve_target().isa.name in ("amx", "avx512vbmi", "avx512vnni", "avx512vl", "avxvnni") else weights_bytes
    model = albert(layers=3, hidden=64, inner=128, spelling=spelling)
    module, params = tvmq.from_onnx(model)
    integer = tvmq.quantize(module, params, feeds_of(model, 3), guard=None)
    weights = [
        value.args[1] for _, value in View(integer).bindings if op_name(value) == "matmul" and is_const(value.args[1])
    ]
    assert len(weights) == 18 and len(set(weights)) == 6
    exe = tvmq.build(integer)
    exe.save(tmp_path / "m.tvmq")
    loaded = tvmq.load(tmp_path / "m.tvmq")
    large = [value for value in loaded._parts.code._code.constants if byte_size(value) >= 4096]
    assert sum(map(byte_size, large)) < 1.5 * (weights_bytes + wide)
    with zipfile.ZipFile(tmp_path / "m.tvmq") as archive:
        assert archive.getinfo(CONSTANTS).file_size < 3 * 6 * 4 * 4 * 64 + 2 * wide
    feed = feeds_of(model, 1, seed=9)[0]
    assert np.array_equal(loaded.run(feed)[0], exe.run(feed)[0])
    assert tvmq.verify(exe, [feed]).exact
