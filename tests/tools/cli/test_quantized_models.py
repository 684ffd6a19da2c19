"""tvmq quantize: models that are quantized already need no data; --onnx writes the integers as ONNX."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.quantized_models import Maker
from tvmq.demo import load_demo


@pytest.mark.slow
def test_a_quantized_model_needs_no_data(cli: Any, tmp_path: Path) -> None:
    """The model's own scales are used, and written again."""
    maker = Maker()
    x = maker.rounded(maker.input("x", (1, 4, 9, 7)), 0.04, 3)
    conv = maker.node("Conv", [x, maker.weight((6, 4, 3, 3), np.float32(0.01))], "conv")
    source, output, again = tmp_path / "m.onnx", tmp_path / "m.tvmq", tmp_path / "again.onnx"
    onnx.save(maker.model(maker.rounded(conv, 0.2, 3), types=["float32"]), source)
    result = cli("quantize", source, "-o", output, "--onnx", again, "-q", "--json")
    assert result.code == 0, result.err
    speed = json.loads(result.out)["speed"]
    assert speed["int8_seconds"] > 0 and speed["float_seconds"] is None
    assert speed["peers"]["onnxruntime, the same file,"] > 0
    feed = {"x": np.random.default_rng(0).standard_normal((1, 4, 9, 7)).astype(np.float32)}
    (first,) = tvmq.load(output).run(feed)
    (second,) = tvmq.reference.run(tvmq.quantize(*tvmq.from_onnx(again)), feed)
    np.testing.assert_array_equal(first, second)


@pytest.mark.slow
def test_scales_made_at_run_time_need_no_data(cli: Any, tmp_path: Path) -> None:
    """--activations dynamic, and none for weights alone."""
    source = tmp_path / "m.onnx"
    source.write_bytes(load_demo().model)
    for mode in ("dynamic", "none"):
        result = cli("quantize", source, "-o", tmp_path / f"{mode}.tvmq", "--activations", mode, "-q")
        assert result.code == 0, result.err
