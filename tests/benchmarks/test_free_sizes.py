"""Layers and networks of free sizes: what is measured, and the bounds. Nothing is timed here."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import onnx
import pytest

import tvmq
from tvmq.graph.analysis.limits import size_limits

LAYER = {"name": "conv", "type": "int8", "sizes": "8 x 8", "fixed": 20.0, "ratio": 1.0, "differing": 0}
NETWORK = {
    "network": "yolo", "differing": 0, "free_fixed": 1.1, "our_float": 4.0, "ort_int8": 2.0, "ov_int8": None,
    "ort_float": 3.0, "ov_float": 2.0,
}  # fmt: skip
MEMORY = {"network": "yolo", "early": 100.0, "late": 101.0, "growth": 1.0, "first": 1.1, "second": 1.0}


@pytest.mark.parametrize(("change", "failure"), [
    ({}, None),
    ({"ratio": 1.2}, "conv, int8, 8 x 8: free / fixed 1.20"),
    ({"ratio": 1.2, "fixed": 9.0}, None),
    ({"differing": 3}, "conv, int8, 8 x 8: 3 values differ"),
])  # fmt: skip
def test_bounds_of_layers(script: Any, change: dict[str, Any], failure: str | None) -> None:
    assert script("free_sizes").missed([{**LAYER, **change}]) == ([failure] if failure else [])


@pytest.mark.parametrize(("change", "failure"), [
    ({}, None),
    ({"free_fixed": 1.16}, "yolo: free / fixed 1.16"),
    ({"differing": 1}, "yolo: 1 values differ"),
    ({"ov_float": 0.9}, "yolo: ov float takes 0.90 of our int8"),
    ({"our_float": float("nan")}, "yolo: our float takes nan of our int8"),
])  # fmt: skip
def test_bounds_of_networks(script: Any, change: dict[str, Any], failure: str | None) -> None:
    rows = [{**NETWORK, **change}]
    assert script("free_sizes").missed(rows, Namespace(memory=0)) == ([failure] if failure else [])


@pytest.mark.parametrize(("change", "failure"), [
    ({}, None),
    ({"growth": 6.0, "late": 106.0}, "yolo: memory grows from 100 to 106 MiB"),
    ({"first": 1.3}, "yolo: first runs take 1.300 ms, second ones 1.000"),
])  # fmt: skip
def test_bounds_of_memory(script: Any, change: dict[str, Any], failure: str | None) -> None:
    rows = [{**MEMORY, **change}]
    assert script("free_sizes").missed(rows, Namespace(memory=10)) == ([failure] if failure else [])


def test_what_counts_as_the_layer(script: Any) -> None:
    """The layer and the moves between it and its neighbours; not the products around it, nor the model's ends."""

    def row(seconds: float, kernel: str, *layers: str) -> Any:
        return SimpleNamespace(seconds=seconds, kernels=(kernel,), layers=layers)

    rows = [
        row(1, "shape_func"), row(2, "quantize_to_nhwc", "x"), row(4, "matmul", "/conv_0"),
        row(8, "to_nchw", "/conv_0"), row(16, "pad", "/layer/pad_1"), row(32, "to_nhwc", "/conv_2"),
        row(64, "conv2d", "/conv_2"), row(128, "to_nchw", "/conv_2"),
    ]  # fmt: skip
    exe = SimpleNamespace(profile=lambda feed, repeat: SimpleNamespace(layers=rows, run=300.0))
    found = script("harness.free_calls").measure_layers({"free": exe}, {}, 1, 1)["free"]
    assert (found.layer, found.run, found.kernels) == (8 + 16 + 32, 300.0, ("to_nchw", "pad", "to_nhwc"))


def test_every_kind_is_a_model_of_free_sizes(script: Any) -> None:
    kinds = script("harness.free_kinds").KINDS
    assert len({kind.name for kind in kinds}) == len(kinds) > 30
    for kind in kinds:
        model = kind.model()
        onnx.shape_inference.infer_shapes(model, strict_mode=True)
        assert any(node.name.startswith("/layer") for node in model.graph.node), kind.name
        (given,) = model.graph.input
        assert [dim.dim_param or dim.dim_value for dim in given.type.tensor_type.shape.dim] == kind.shape()


def test_the_yolo_takes_multiples_of_32(script: Any) -> None:
    limits = size_limits(tvmq.from_onnx(script("harness.free_yolo").yolo())[0])
    assert {name: limit.multiple for name, limit in limits.items()} == {"batch": 1, "rows": 32, "columns": 32}


def test_random_sizes_are_always_the_same(script: Any) -> None:
    networks = script("harness.free_networks")
    draw = networks.draw_sizes(32, 64, 96, "rows", "columns")
    network = networks.FreeNetwork("some", None, draw, networks.picture("x", 1))
    assert network.sizes(20) == network.sizes(20) != network.sizes(20, 0)
    assert {size for sizes in network.sizes(20) for size in sizes.values()} == {64, 96}
    assert network.feed({"rows": 9, "columns": 20})["x"].shape == (1, 1, 9, 20)


def test_unknown_networks_are_refused(script: Any) -> None:
    chosen = script("harness.free_networks").chosen_networks
    assert list(chosen(Namespace(networks="yolo,texts", texts=None, words=None))) == ["yolo"]
    assert not list(chosen(Namespace(networks="none")))
    with pytest.raises(SystemExit, match="no network 'yol'; networks are ppocr_detector"):
        list(chosen(Namespace(networks="yol")))


@pytest.mark.slow
def test_quick_run(script: Any, capsys: pytest.CaptureFixture[str]) -> None:
    script("free_sizes").main(["--quick", "--kinds", "max pool 2x2,softmax"])
    assert "| max pool 2x2 | int8 | 14 x 14 |" in " ".join(capsys.readouterr().out.split())


def test_a_network_without_the_zoo_is_left_out(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = script("free_sizes")
    options = Namespace(child="mobilenet_v2", zoo=tmp_path, cache=tmp_path, threads=1, level="", quick=False, kinds="none",
                        networks="mobilenet_v2", memory=0)  # fmt: skip
    row = benchmark.measure_here(options)
    assert row == {"left_out": f"mobilenet_v2 left out: benchmark: no zoo at {tmp_path} (tasks.py is missing); give its "
                               "folder with --zoo"}  # fmt: skip
    monkeypatch.setattr(benchmark, "run_fresh", lambda *_, **__: row)
    assert list(benchmark.measure(options)) == []
