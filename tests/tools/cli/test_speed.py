"""Speed by turns: a ratio of two figures that are shown, or that the machine is too busy; onnxruntime beside."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from tvmq.tools.cli.onnxruntime_peers import onnxruntime_runs
from tvmq.tools.cli.speed import describe_rounds, measure_by_turns, speed_rows

MACHINE = {"threads": 1, "cores": 2, "cpu": "some CPU", "load": 3.5}


@pytest.fixture
def here(here, example):
    np.save(here / "x.npy", example.test[:60])
    return here


@pytest.mark.parametrize(("slowest", "steady"), [(1.0, True), (1.5, True), (1.51, False), (9.7, False)])
def test_rounds_that_differ_by_more_than_half_give_no_ratio(slowest, steady):
    facts = {**describe_rounds({"float": [4e-3, 4e-3], "int8": [1e-3, slowest * 1e-3]}), **MACHINE}
    text = "\n".join(text for _, text in speed_rows(facts))
    assert facts["steady"] == steady and ("4.00x faster (float 4.0 ms, int8 1.0 ms per run" in text) == steady
    assert ("not measurable now, the machine is busy" in text) == (not steady)
    assert steady or ("x faster" not in text and "load 3.5 on 2 cores" in text)


def test_the_ratio_is_that_of_the_figures_beside_it():
    random = np.random.default_rng(0)
    rounds = {name: (base * random.uniform(1, 1.4, 9)).tolist() for name, base in (("float", 5e-3), ("int8", 2e-3))}
    facts = describe_rounds(rounds)
    assert facts["ratio"] == facts["float_seconds"] / facts["int8_seconds"] == min(rounds["float"]) / min(rounds["int8"])


def test_all_run_in_each_round():
    order = []
    contestants = {name: lambda name=name: order.append(name) for name in ("float", "int8", "onnxruntime float")}
    seconds = measure_by_turns(contestants, 1)
    assert {len(times) for times in seconds.values()} == {9} and set(order) == set(contestants)
    turns = [name for name, before in zip(order[1:], order, strict=False) if name != before]
    assert len(turns) >= 3 * 9 and turns[-3:] == list(contestants)


def test_a_model_that_is_quantized_already_is_timed_beside_the_same_file():
    facts = {**describe_rounds({"int8": [3e-3, 2e-3], "onnxruntime, the same file,": [1e-3]}), **MACHINE}
    assert facts["float_seconds"] is None and facts["ratio"] is None and facts["steady"]
    assert [text for _, text in speed_rows(facts)] == [
        "2.0 ms per run, the least of 2 alternating rounds",
        "onnxruntime, the same file, 1.0 ms: tvmq is 2.00x SLOWER",
        "1 thread of 2 cores, some CPU",
    ]


@pytest.mark.slow
def test_onnxruntime_is_beside_where_it_is_installed(cli, here):
    pytest.importorskip("onnxruntime")
    result = cli("quantize", "digits.onnx", "--data", "x.npy", "--calibrate-mode", "minmax", "--json", "-q", "--peers")
    assert result.code == 0, result.err
    speed = json.loads(result.out)["speed"]
    assert "onnxruntime float" in speed["peers"] and speed["peers"]["onnxruntime float"] > 0
    assert ("onnxruntime int8" in speed["peers"]) != ("onnxruntime int8" in speed.get("not_run", {}))
    text = "\n".join(text for _, text in speed_rows({**speed, "steady": True}))
    assert "onnxruntime float " in text and ": int8 is " in text


def test_what_onnxruntime_cannot_run_is_no_error(here, monkeypatch):
    pytest.importorskip("onnxruntime")
    (here / "broken.onnx").write_bytes(b"no model")
    runs, reasons = onnxruntime_runs(here / "broken.onnx", {}, 1, int8=False)
    assert runs == {} and list(reasons) == ["onnxruntime float"]
    runs, reasons = onnxruntime_runs(here / "digits.onnx", {"image": np.zeros((1, 1, 16, 16), np.float32)}, 1, int8=False)
    assert list(runs) == ["onnxruntime float"] and reasons == {}
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert onnxruntime_runs(here / "digits.onnx", {}, 1, int8=True) == ({}, {})
