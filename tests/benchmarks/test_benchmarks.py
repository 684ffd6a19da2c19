"""Measures of the benchmarks: errors, ratios, bounds, tables. Nothing is timed here."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest


class Task:
    """Four samples of one value; the model is right where its output is above 0."""

    name, metric, input_name, model_path = "fake", "top1", "x", "none"

    def __init__(self) -> None:
        self.per_sample = np.zeros(0)

    def test_inputs(self, batch: int) -> Iterator[dict[str, np.ndarray]]:
        """1, 2, 3, 4."""
        return ({"x": np.full((batch, 1), value, np.float32)} for value in (1, 2, 3, 4))

    calibration = test_inputs

    def evaluate(self, predict: Any, batch: int) -> float:
        """Share of positive outputs."""
        outputs = np.concatenate([predict(feed)[0] for feed in self.test_inputs(batch)])
        self.per_sample = (outputs[:, 0] > 0).astype(float)
        return float(self.per_sample.mean())


def test_scores_errors_and_ratios(script: Any) -> None:
    """Points, paired standard error and SQNR of two models that disagree on one sample of four."""
    common = script("harness.zoo")
    good = common.evaluate(Task(), lambda feed: [feed["x"]])
    bad = common.evaluate(Task(), lambda feed: [feed["x"] - 1])
    assert (good.score, bad.score) == (100.0, 75.0)
    difference, error = common.paired(bad, good)
    assert difference == -25.0
    assert error == pytest.approx(np.std([-100.0, 0, 0, 0], ddof=1) / 2)
    assert common.sqnr(good, bad) == pytest.approx(10 * np.log10(30 / 4))
    assert common.sqnr(good, good) == np.inf


def test_outputs_are_copied(script: Any) -> None:
    """A model that reuses its buffer does not rewrite what was kept."""
    buffer = np.zeros((1, 1), np.float32)

    def predict(feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        buffer[...] = feed["x"]
        return [buffer]

    np.testing.assert_array_equal(script("harness.zoo").evaluate(Task(), predict).outputs[0].ravel(), [1, 2, 3, 4])


def test_bits_that_differ(script: Any) -> None:
    """Equality of bits: a negative zero differs, equal NaNs do not, another type differs everywhere."""
    differing = script("exact.cases").differing
    a = np.float32([0.0, 1.0, np.nan])
    assert differing(a, a.copy()) == 0
    assert differing(a, np.float32([-0.0, 1.0, np.nan])) == 1
    assert differing(a, a.astype(np.float64)) == 3
    assert differing(a, a[:2]) == 3
    assert differing(np.uint8([1, 2])[::-1], np.uint8([2, 2])) == 1


@pytest.mark.parametrize(("change", "words"), [
    ({}, None),
    ({"difference": -1.5}, "int8 - float -1.50"),
    ({"difference": -1.5, "error": 0.8}, None),
    ({"beside_ort": -0.5}, "onnxruntime int8 -0.50"),
    ({"sqnr": 29.7}, "SQNR 29.70 dB"),
    ({"share": 95.0}, "95.00 %"),
    ({"difference": -0.3, "points": 0.2}, "0.2 points"),
    ({"best_difference": -0.5}, "best peer -0.50 ± 0.10"),
    ({"best_sqnr": 30.4}, "best peer 30.4 dB"),
    ({"share": 85.1, "least_share": 85}, None),
])  # fmt: skip
def test_bounds_of_accuracy(script: Any, change: dict[str, float], words: str | None) -> None:
    """Each bound of the head of accuracy.py, just held and just missed."""
    figures = {
        "task": "t", "difference": -1.0, "error": 0.1, "beside_ort": -0.4, "beside_ort_error": 0.2,
        "sqnr": 29.85, "ort_sqnr": 30.0, "share": 95.1, "points": 1.0, "least_share": 95,
        "best_setting": "p", "best_sqnr": 30.1, "best_difference": -1.4, "best_error": 0.1, **change,
    }  # fmt: skip
    failures = script("accuracy").missed(figures)
    assert len(failures) == (0 if words is None else 1)
    assert words is None or words in failures[0]


def test_bounds_of_the_means(script: Any) -> None:
    """Scores on pictures beside onnxruntime's; differences on all tasks beside the best peers'."""
    picture = {"task": "ppocr_cls", "int8": 90.0, "ort_int8": 90.0, "difference": 0.0, "best_difference": -0.1}
    other = {"task": "vit_cifar10", "int8": 10.0, "ort_int8": 90.0, "difference": 0.0, "best_difference": 0.1}
    missed = script("accuracy").missed_on_mean
    assert not missed([picture, other])
    assert "89.900, 90.000" in missed([{**picture, "int8": 89.9}, other])[0]
    assert "-0.050, 0.000" in missed([picture, {**other, "difference": -0.1}])[0]


def test_bounds_without_data(script: Any) -> None:
    """Exactness in every mode; nearness to float where activations are integers."""
    row = {"task": "t", "mode": "weights 8", "differing": 0, "difference": -9.0, "error": 0.1}
    missed = script("bits").missed
    assert not missed([row, {**row, "mode": "dynamic", "difference": -1.0}])
    assert len(missed([{**row, "differing": 2}, {**row, "mode": "dynamic"}])) == 2


def test_bounds_of_latency(script: Any) -> None:
    """Geometric means over all models; every model beside the peers' int8 and float."""
    missed = script("latency").missed
    row = {"name": "n", "int8_gain": 1.4, "beside_float": 1.01, "float_gain": 1.0, "spread": 0.01}
    assert not missed([row, {**row, "int8_gain": 1.96}, {**row, "int8_gain": 1.0, "spread": 0.0}])
    assert (
        "beside" not in "".join(missed([row]))
        and "a peer's float takes 1.00" in missed([{**row, "beside_float": 1.0}])[0]
    )
    slow = {**row, "int8_gain": 0.96}  # 1 / 0.96 is more than 1.03 + 0.01
    assert "n: int8 gain 0.96, A/A 1.0%" in missed([slow])[0] and "gain 0.960; at least 1.4" in missed([slow])[1]
    assert "float gain 0.990" in missed([{**row, "float_gain": 0.99}])[0]


def test_latency_compares_the_best_peer(script: Any) -> None:
    """The least of the peers that ran; those that did not count for nothing."""
    figures = {
        "name": "n", "level": "", "macs": 2_000_000, "peak_rate": 1e6, "tvmq int8": 4.0, "tvmq int8 again": 4.4,
        "tvmq f32": 10.0,
    }  # fmt: skip
    figures |= {"ort int8": 8.0, "ort f32": 20.0, "ov f32": 15.0, "ov float*": 6.0}
    judged = script("latency").judged(figures)
    expected = {"int8_gain": 2.0, "beside_float": 1.5, "float_gain": 1.5, "spread": 0.1, "share": 0.5, "ceiling": 2.0}
    assert {key: judged[key] for key in expected} == pytest.approx(expected)
    assert script("harness.report").fill("{ov int8:.3f}", judged) == "-"
    # a peer that cannot be limited to a lesser CPU does not count there
    limited = script("latency").judged({**figures, "level": "avx2", "ov int8": 12.0})
    assert (limited["int8_gain"], limited["ort int8"]) == (pytest.approx(3.0), 8.0)


def test_bounds_of_kernels(script: Any) -> None:
    """Bounds at the best level: share of the peak where sums are long, OpenVINO's time for depthwise kernels."""
    kernels = script("kernels")
    deep, thin = "matmul 128x768->768", "depthwise 3x3 s1 28x28x192"

    def row(title: str, share: float, peer: float, level: str = "best", label: str = "4x4 *") -> Any:
        return kernels.Row(title, level, label, 1.0, 1e9, share, 0.1, peer)

    held = [row(deep, 0.9, 1.0), row(deep, 0.5, 1.0, "other"), row(deep, 0.5, 1.0, label="6x4"), row(thin, 0.1, 1.4)]
    assert not kernels.missed(held, "best")
    assert kernels.missed([row(deep, 0.89, 9.0)], "best") == [f"{deep}: 89% of the peak, at least 90% asked"]
    assert kernels.missed([row(thin, 0.9, 1.39)], "best") == [f"{thin}: 1.39 x OpenVINO, at least 1.4 asked"]


def test_bounds_of_the_others(script: Any) -> None:
    """Memory and exactness, held and missed."""
    memory, exactness = (script(name) for name in ("memory", "exactness"))
    runs = [{"task": "t", "peak": 100.0}, {"task": "t", "peak": 104.9}, {"task": "u", "peak": 300.0}]
    assert not memory.missed(runs)
    assert len(memory.missed([*runs, {"task": "t", "peak": 105.1}])) == 1
    row = {"name": "t", "values": 9, "differing": 0, "builds": 6, "islands": 0}
    assert not exactness.missed([row, {**row, "name": "random_1", "islands": 2}], 6)
    broken = [{**row, "differing": 1}, {**row, "builds": 5}, {**row, "islands": 1}]
    assert len(exactness.missed(broken, 6)) == 3


def test_random_graphs_are_one_row(script: Any) -> None:
    """Sums over the graphs; the worst layer is named with its graph."""
    row = {"values": 5, "differing": 0, "builds": 6, "islands": 1, "lsb": 1, "compared": "3 of 4", "worst": "a"}
    rows = [{"name": "task", **row}, {"name": "random_0", **row}, {"name": "random_1", **row, "lsb": 2}]
    task, graphs = script("exactness").shown(rows)
    assert task["name"] == "task"
    assert graphs == {
        "name": "2 random graphs", "values": 10, "differing": 0, "builds": 12, "islands": 2, "lsb": 2,
        "worst": "random_1 a", "compared": "6 of 8",
    }  # fmt: skip


def test_table_and_json(script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Aligned Markdown; the machine beside the figures; the verdict is the exit code."""
    report: ModuleType = script("harness.report")
    report.print_table(["task", "dB"], [["a", "1.5"], ["longer", "10.25"]])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == ["| ------ | ----: |", "| a      |   1.5 |", "| longer | 10.25 |"]
    report.write_result(tmp_path / "deep" / "out.json", {"value": np.float32(1.5)}, {"columns": ["a"], "rows": [["1"]]})
    record = json.loads((tmp_path / "deep" / "out.json").read_text())
    assert record["value"] == 1.5 and record["machine"]["cpu"] and "numpy" in record["versions"]
    assert record["tables"] == [{"columns": ["a"], "rows": [["1"]]}] and {"date", "commit"} <= record.keys()
    report.finish([])
    with pytest.raises(SystemExit) as stop:
        report.finish(["a bound"])
    assert stop.value.code == 1
    assert "FAIL a bound" in capsys.readouterr().out


def test_missing_zoo_and_unknown_task(script: Any, tmp_path: Path, zoo: Path) -> None:
    """Both say what to do."""
    common = script("harness.zoo")
    with pytest.raises(SystemExit, match=r"no zoo at .*--zoo"):
        common.load_zoo(tmp_path, "resnet8_cifar10")
    with pytest.raises(SystemExit, match=r"lacks resnet9; it has .*resnet8_cifar10"):
        common.load_zoo(zoo, "resnet8_cifar10,resnet9")


@pytest.mark.slow
def test_onnxruntime_int8_is_the_known_result(script: Any, zoo: Path, tmp_path: Path) -> None:
    """Batch norm is folded first, ranges are min-max: the SQNR that others have measured for this network.

    Where its sums saturate it loses what the probe says it does.
    """
    common, peers = script("harness.zoo"), script("harness.onnxruntime_peer")
    task = common.load_zoo(zoo, "dscnn_digits")["dscnn_digits"]
    model = Path(task.model_path)
    quantized, notes = peers.int8_model(model, common.Feeds(task), tmp_path)
    again, _ = peers.int8_model(model, common.Feeds(task), tmp_path)
    assert quantized == again and notes == []
    reference = common.evaluate(task, peers.session(model))
    int8 = common.evaluate(task, peers.session(quantized))
    assert reference.score == pytest.approx(91.83, abs=0.01)
    found = common.sqnr(reference, int8)
    assert found < 29.8 if peers.saturates() else found == pytest.approx(30.3, abs=0.5)


def test_torch_models_must_equal_torch_and_the_definition(script: Any) -> None:
    """Differences above the bound, NaN, and values that differ are named."""
    models = script("torch_models")
    row = {"name": "net", "difference": 1e-5, "differing": 0, "values": 10}
    assert models.missed(row) == []
    assert models.missed({**row, "difference": 2e-4}) == ["net: the float module differs from torch by 2.0e-04"]
    assert len(models.missed({**row, "difference": float("nan"), "differing": 3})) == 2
    assert models.missed({**row, "differing": 3}) == ["net: 3 of 10 values differ from the definition"]


def test_shapes_of_networks(script: Any) -> None:
    shapes = script("harness.network_shapes")
    assert len(shapes.network_shapes("resnet50")) == 23 and not shapes.network_shapes("")
    everything = shapes.network_shapes("all")
    assert min(min(conv.out_shape[1:]) for conv in everything.values()) == 7
    assert everything["3x3 s2 14x14x512->512"].out_shape == (1, 7, 7, 512)
    assert everything["depthwise 5x5 s2 56x56x144"].groups == 144
    with pytest.raises(SystemExit, match="no network lenet; there are resnet18"):
        shapes.network_shapes("vgg11,lenet")


def test_bounds_of_common_sizes(script: Any) -> None:
    good = {"name": "net", "sizes": "8", "common": 1.11, "fixed": 1.0, "ratio": 1.11, "equal": True}
    sizes = script("sizes")
    assert sizes.missed([good]) == []
    bad = {**good, "common": 1.2, "ratio": 1.2, "equal": False}
    assert sizes.missed([good, bad]) == ["net 8: common / fixed 1.20", "net 8: results differ"]


def test_bounds_of_free_batches(script: Any) -> None:
    good = {"network": "mlp", "batch": 8, "free": 1.11, "single": 1.0, "equal": True}
    batches = script("batches")
    assert batches.missed([good]) == []
    slow = "mlp 8: 1.200 ms, samples one by one 1.000"
    assert batches.missed([good, {**good, "free": 1.2, "equal": False}]) == [slow, "mlp 8: results differ"]


def test_networks_of_a_free_batch_take_any(script: Any, tmp_path: Path) -> None:
    networks = script("harness.batch_networks").NETWORKS
    for name in ("mlp", "table", "lstm"):
        network = networks[name](name, argparse.Namespace(cache=tmp_path))
        assert network.path.exists() and {len(array) for array in network.feed(3).values()} == {3}


@pytest.mark.slow
def test_code_for_common_sizes_is_measured(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick case: three builds of a text encoder give equal results, their times are there."""
    sizes, options = script("sizes"), argparse.Namespace(quick=True, texts=None, batches="1,8", lengths="64,128")
    monkeypatch.setattr(script("harness.timing"), "BLOCK_SECONDS", 0.001)
    (row,) = [row for case in sizes.cases(options) for row in sizes.rows(case, 1)]
    assert row["equal"] and row["sizes"] == "1 x 8"
    assert row["ratio"] == row["common"] / row["fixed"] and row["any_ratio"] == row["any"] / row["fixed"]
