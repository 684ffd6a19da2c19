"""benchmarks/decoder.py on a tiny model: one result in all surroundings, rows as they are printed, bounds."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def options(tmp_path: Path) -> argparse.Namespace:
    return argparse.Namespace(
        model="tiny", cache=tmp_path, quick=True, threads=1, windows=1, length=16, exact="", child="", only="",
        target="", emulate="", parts="figures,logits",
    )  # fmt: skip


@pytest.mark.slow
def test_a_tiny_model(script: Any, options: argparse.Namespace) -> None:
    decoder = script("decoder")
    options.exact = "tvmq W8A8"
    exact = decoder.work(options)
    assert exact["digests"] == 1 and exact["runs"] == 13
    options.target = decoder.SSE4
    assert decoder.work(options)["runs"] == 1
    options.exact, options.target, rows = "", "", {}
    for contestant in ("onnxruntime float", *["OpenVINO float"] * bool(find_spec("openvino")), "tvmq W8A8"):
        options.child = contestant
        rows[contestant] = decoder.work(options)
        assert all(rows[contestant][name] > 0 for name in ("prompt", "single", "share", "file", "perplexity"))
    ratio = rows["tvmq W8A8"]["perplexity"] / rows["onnxruntime float"]["perplexity"]
    assert 0.95 < ratio < 1.05


def test_surroundings(script: Any, options: argparse.Namespace) -> None:
    """All threads, chunks and batches for the first blocks, fewer for the whole model, one for an emulated CPU."""
    decoder = script("decoder")
    options.quick, options.length, options.model = False, 257, "smollm2_cut"
    runs = decoder.surroundings(options)
    assert len([run for run in runs if run[0] == "llvm"]) == 2 * (3 + 3 * 8) and len(set(runs)) == len(runs)
    assert {run[0] for run in runs} == {"llvm", decoder.AVX2, decoder.SSE4}
    options.model = "smollm2"
    runs = decoder.surroundings(options)
    assert {run[2] for run in runs} == set(decoder.CHUNKS) and {run[3] for run in runs} == {1, 2, 3, 8}
    options.target = decoder.AVX2
    assert decoder.surroundings(options) == [(decoder.AVX2, 1, 256, 1)]


def test_rows(script: Any, options: argparse.Namespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Perplexity is set beside float's, hashes of emulated CPUs beside those that are known."""
    decoder = script("decoder")

    def run_fresh(_script: str, *arguments: Any, python: Any = "python") -> dict[str, Any]:
        if "--exact" in arguments:
            digest = "b" if "qemu-x86_64" in python and "IvyBridge" in python else "a"
            return {"digests": 1, "runs": 3, "sha256": [digest]}
        threads, name = arguments[arguments.index("--threads") + 1], arguments[arguments.index("--child") + 1]
        return {"contestant": name, "threads": threads, **({"perplexity": 4.0} if threads == 1 else {})}

    monkeypatch.setattr(decoder, "run_fresh", run_fresh)
    options.model, options.only, options.emulate = "smollm2", "onnxruntime float,tvmq W8A8", "Haswell,IvyBridge"
    rows = list(decoder.measure(options))
    assert [(row["contestant"], row.get("digests"), row.get("relative")) for row in rows] == [
        ("onnxruntime float", None, 1.0),
        ("onnxruntime float", None, None),
        ("tvmq W8A8", None, 1.0),
        ("tvmq W8A8", None, None),
        ("tvmq W8A8", 1, None),
        ("tvmq W8A8, 2 blocks", 1, None),
        ("tvmq W8A8, 2 blocks, emulated Haswell", 1, None),
        ("tvmq W8A8, 2 blocks, emulated IvyBridge", 2, None),
    ]
    options.parts = "logits"
    assert all("digests" in row for row in decoder.measure(options))
    assert decoder.missed(rows, options) == [
        "tvmq W8A8, 2 blocks, emulated IvyBridge: logits depend on their surroundings"
    ]


def test_who_cannot_run_is_left_out(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    contestants = script("language.decoder_contestants")
    assert contestants.why_absent("tvmq W8A8", "tiny") is None
    assert "has a file of smollm2 alone" in contestants.why_absent("llama.cpp Q4_1", "tiny")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "pip install llama-cpp-python" in contestants.why_absent("llama.cpp Q4_1", "smollm2")


def test_bounds(script: Any, options: argparse.Namespace) -> None:
    decoder = script("decoder")
    rows = [
        {"contestant": "llama.cpp Q8_0", "threads": 2, "single": 90.0},
        {"contestant": "tvmq W8A8", "threads": 1, "digests": 2, "relative": 1.5, "single": 80.0, "share": 0.7},
        {"contestant": "tvmq W8A8", "threads": 2, "single": 80.0, "share": 0.9},
        {"contestant": "onnxruntime int8", "threads": 1, "relative": 2, "share": 0.1},
    ]
    options.model = "smollm2"
    assert decoder.missed(rows, options) == [
        "tvmq W8A8: logits depend on their surroundings",
        "tvmq W8A8: perplexity is 1.5000 times that of float",
        "tvmq W8A8, 1 threads: single tokens read 0.70 of the stream",
        "tvmq W8A8, 2 threads: 80.0 tokens/s, llama.cpp Q8_0 has 90.0",
    ]
    options.model = "tiny"
    assert len(decoder.missed(rows, options)) == 1


def test_weights_of_gguf_are_in_the_order_of_transformers(script: Any) -> None:
    """Pairs of a rotation: neighbours in the file, half a head apart in the network."""
    halves_first = script("language.smollm2")._halves_first
    rows = halves_first(np.arange(8, dtype=np.float32)[:, None], 2)
    assert rows.ravel().tolist() == [0, 2, 1, 3, 4, 6, 5, 7]


def test_prose_of_packages(script: Any) -> None:
    text = script("language.package_text").package_text(("typer", "rich", "onnx"))
    assert len(text) > 3000 and "<" not in text
