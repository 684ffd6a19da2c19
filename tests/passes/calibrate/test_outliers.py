"""Outlier channels: which are found, what is made of them, and that the floats stay what they were."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import tvm

import tvmq
from tests.support.models.networks import Feed, Net, at_stage, block, drive, feeds_of
from tvmq.codegen.compile.evaluators import evaluator
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, op_name
from tvmq.passes.calibrate.outliers import (
    ChannelStatistics,
    OutlierCandidate,
    ProductErrorModel,
    candidates,
    choose,
    find_outliers,
)
from tvmq.passes.prepare import prepare
from tvmq.passes.scale_outliers import scale_outliers

WIDTH, HIDDEN = 32, 64


def transformer(outlier: float, *, norm_first: bool = True) -> tuple[Net, str]:
    """The second half of a transformer's block; channel 3 of its norm and channel 5 of its gelu are large."""
    n = Net((1, 6, WIDTH))
    scale = np.ones(WIDTH, np.float32)
    scale[3] = outlier
    first, second = n.weight(WIDTH, HIDDEN), n.weight(HIDDEN, WIDTH)
    first[3] /= outlier
    first[:, 5] *= outlier
    second[5] /= outlier
    x = normalized(n, "x", scale)
    h = n.op("Add", n.op("MatMul", x, n.constant(first)), n.constant(0.1 * np.ones(HIDDEN, np.float32)))
    gelu = n.op("Mul", h, n.op("Sigmoid", n.op("Mul", h, n.constant(np.float32(1.702)))))
    y = n.op("Add", n.op("MatMul", gelu, n.constant(second)), n.constant(np.zeros(WIDTH, np.float32)))
    last = normalized(n, n.op("Add", "x" if norm_first else x, y), np.ones(WIDTH, np.float32))
    return n, n.op("MatMul", last, n.constant(n.weight(WIDTH, 5)))


def normalized(n: Net, x: str, scale: np.ndarray) -> str:
    return n.op("LayerNormalization", x, n.constant(scale), n.constant(np.zeros(WIDTH, np.float32)), axis=-1)


def prepared(n: Net, output: str) -> tuple[tvm.IRModule, list[Feed]]:
    model = n.model(output)
    mod, params = tvmq.from_onnx(model)
    return prepare(mod, params), feeds_of(model)


def found_in(mod: tvm.IRModule, feeds: Sequence[Feed]) -> dict:
    return find_outliers(mod, lambda: ((feed, 1) for feed in feeds), evaluator)


@pytest.mark.slow
@pytest.mark.parametrize("norm_first", [True, False])
def test_outliers_are_found_and_the_floats_stay(norm_first: bool) -> None:
    mod, feeds = prepared(*transformer(30.0, norm_first=norm_first))
    found = found_in(mod, feeds)
    last = "layernormalization_9"
    kinds = {op_name(View(mod).value[name]): choice for name, choice in found.items() if name != last}
    assert kinds["multiply"] == {"split": [5]}
    factors = kinds["tvmq.layer_norm"]["factors"]
    assert factors["3"] == max(factors.values()) and 8 <= factors["3"] <= 64
    found.pop(last, None)
    tamed = scale_outliers(mod, found)
    tvm.relax.analysis.well_formed(tamed)
    names = [op_name(value) for _, value in View(tamed).bindings]
    # of a block with the norm first, 1 / factors is part of the norm
    assert names.count("matmul") == 2 + 2 + 1 and names.count("multiply") == 2 * 2 + (not norm_first)
    assert len(get_ledger(tamed).notes) == 2 and "1 channel of" in get_ledger(tamed).notes[1]
    for feed in feeds[:2]:
        (before,), (after,) = evaluator(mod)(feed), evaluator(tamed)(feed)
        np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_factors_alone_leave_the_floats_bit_for_bit() -> None:
    mod, feeds = prepared(*transformer(30.0, norm_first=False))
    factors = {name: choice for name, choice in found_in(mod, feeds).items() if "factors" in choice}
    (before,), (after,) = evaluator(mod)(feeds[0]), evaluator(scale_outliers(mod, factors))(feeds[0])
    np.testing.assert_array_equal(after, before)


@pytest.mark.slow
@pytest.mark.parametrize("norm_first", [True, False])
def test_what_they_are_worth(norm_first: bool) -> None:
    n, output = transformer(30.0, norm_first=norm_first)
    plain = drive(n.model(output), least_snr=5, outlier_channels=False)
    tamed = drive(n.model(output), least_snr=35)
    assert tamed.snr[0] > plain.snr[0] + 15
    assert {e["precision"] for e in tamed.ledger.layers.values() if e.get("macs")} == {"int8"}


@pytest.mark.slow
def test_nothing_is_done_where_nothing_stands_out() -> None:
    mod, feeds = prepared(*transformer(1.0))
    assert len(candidates(View(mod))) == 3  # two norms and a gelu are looked at
    assert found_in(mod, feeds) == {}
    assert scale_outliers(mod, {}) is mod and scale_outliers(mod) is mod


@pytest.mark.slow
def test_a_saved_calibration_brings_its_outliers(tmp_path) -> None:
    n, output = transformer(30.0)
    model = n.model(output)
    mod, params = tvmq.from_onnx(model)
    feeds = feeds_of(model)
    tvmq.run_calibration(mod, params, feeds).save(tmp_path / "c.npz")
    calibration = tvmq.CalibrationResult.load(tmp_path / "c.npz")
    assert len(calibration.settings["outliers"]) >= 2
    again = tvmq.quantize(mod, params, calibration=calibration)
    tvm.ir.assert_structural_equal(again, tvmq.quantize(mod, params, feeds, guard=None))


X = 'x: R.Tensor((1, 4, 8), "float32"), w: R.Tensor((8, 8), "float32"), g: R.Tensor((8,), "float32")'
ARRAYS = {"w": np.eye(8, dtype=np.float32), "g": np.ones(8, np.float32)}
NORM = "R.tvmq.layer_norm({}, g, g)"


@pytest.mark.parametrize(("body", "names"), [
    (f"n = {NORM.format('x')}\ny = R.matmul(n, w)", ["n"]),
    (f"n = {NORM.format('x')}\ny = R.add(n, x)", []),
    ("s = R.tvmq.softmax(x)\ny = R.matmul(s, w)", []),
    (f"h = R.matmul(x, w)\nr = R.nn.gelu(h)\nm = R.matmul(r, w)\ns = R.add(m, x)\ny = {NORM.format('s')}", ["r"]),
    (f"h = R.matmul(x, w)\nr = R.nn.gelu(h)\nm = R.matmul(r, w)\ns = R.add(m, r)\ny = {NORM.format('s')}", []),
    (f"h = R.matmul(x, w)\nr = R.nn.gelu(h)\nm = R.matmul(r, w)\ns = R.add(m, h)\ny = {NORM.format('s')}", []),
    ("h = R.matmul(x, w)\nr = R.nn.gelu(h)\nm = R.matmul(r, w)\ny = R.add(m, x)", []),
    (f"r = R.nn.gelu(x)\nm = R.matmul(r, w)\ns = R.add(m, x)\ny = {NORM.format('s')}", []),
])  # fmt: skip
def test_candidates(body: str, names: list[str]) -> None:
    view = View(at_stage(block(X, body, **ARRAYS), "prepared"))
    assert [candidate.name for candidate in candidates(view)] == names


def test_statistics_do_not_depend_on_batches() -> None:
    values = np.random.default_rng(0).integers(-9, 9, (6, 3, 4)).astype(np.float32)
    whole, pieces = ChannelStatistics(), ChannelStatistics()
    whole.update(values)
    for value in values:
        pieces.update(value[None])
    assert whole.count == pieces.count == 18
    for name in ("low", "high", "squares"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(pieces, name))


def test_the_expected_error_is_that_of_rounding() -> None:
    """Against numbers: uniform noise of the steps of tensor and weights."""
    random = np.random.default_rng(1)
    x, weight = random.standard_normal((4000, 16)), random.standard_normal((16, 12))
    x[:, 2] *= 20
    statistics = ChannelStatistics()
    statistics.update(x)
    factors = np.ones(16)
    for factor in (1.0, 16.0):
        factors[2] = factor
        scaled, columns = x / factors, weight * factors[:, None]
        step = (scaled.max() - scaled.min()) / 255
        steps = np.abs(columns).max(axis=0) / 127
        rounded = np.rint(scaled / step) * step @ (np.rint(columns / steps) * steps)
        found = np.square(rounded - x @ weight).sum(axis=1).mean()
        assert ProductErrorModel(statistics, weight).error(factors) == pytest.approx(found, rel=0.35)


def test_a_channel_of_zeros_divides_nothing() -> None:
    view = View(at_stage(block(X, f"n = {NORM.format('x')}\ny = R.matmul(n, w)", **ARRAYS), "prepared"))
    statistics = ChannelStatistics()
    statistics.update(np.zeros((1, 4, 8), np.float32))
    assert choose(view, OutlierCandidate("n", ("y",)), statistics) is None
