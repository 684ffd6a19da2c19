"""benchmarks/decoder.py on a tiny model: one result in all surroundings, rows as they are printed, bounds."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def options(tmp_path: Path) -> argparse.Namespace:
    return argparse.Namespace(
        model="tiny", cache=tmp_path, quick=True, threads=1, windows=1, length=16, exact="", child="", only=""
    )


@pytest.mark.slow
def test_a_tiny_model(script: Any, options: argparse.Namespace) -> None:
    decoder = script("decoder")
    options.exact = "tvmq W8A8"
    exact = decoder.work(options)
    assert exact["digests"] == 1 and exact["runs"] == 22
    options.exact, rows = "", {}
    for contestant in ("onnxruntime float", "tvmq W8A8"):
        options.child = contestant
        rows[contestant] = decoder.work(options)
        assert all(rows[contestant][name] > 0 for name in ("prompt", "single", "share", "file", "perplexity"))
    ratio = rows["tvmq W8A8"]["perplexity"] / rows["onnxruntime float"]["perplexity"]
    assert 0.95 < ratio < 1.05


def test_bounds(script: Any, options: argparse.Namespace) -> None:
    decoder = script("decoder")
    rows = [
        {"contestant": "tvmq W8A8", "digests": 2, "relative": 1.5},
        {"contestant": "onnxruntime int8", "relative": 2},
    ]
    options.model = "smollm2"
    assert decoder.missed(rows, options) == [
        "tvmq W8A8: logits depend on their surroundings",
        "tvmq W8A8: perplexity is 1.5000 times that of float",
    ]
    options.model = "tiny"
    assert len(decoder.missed(rows, options)) == 1


def test_weights_of_gguf_are_in_the_order_of_transformers(script: Any) -> None:
    """Pairs of a rotation: neighbours in the file, half a head apart in the network."""
    halves_first = script("language.smollm2")._halves_first
    rows = halves_first(np.arange(8, dtype=np.float32)[:, None], 2)
    assert rows.ravel().tolist() == [0, 2, 1, 3, 4, 6, 5, 7]


def test_prose_of_packages(script: Any) -> None:
    text = script("language.package_text").package_text()
    assert len(text) > 3000 and "<" not in text
